import { code, list, markdown, response, table } from "millrace";

const CASES = {
  lookalike: () => response().ui({ kind: "markdown", value: "x" } as any),
  nothing: () => response().ui(undefined as any),
  width: () => response().ui(markdown("x"), { width: "wide" as any }),
  priority: () => response().ui(markdown("x"), { priority: "high" as any }),
  language: () => response().ui(code("sql\n```", "x")),
  cells: () => response().ui(table(["a", "b"], [[1]])),
  columns: () => response().ui(table([], [])),
  items: () => response().ui(list("x" as any)),
};
export default ({ inputs }) => CASES[inputs.case as keyof typeof CASES]().build();
