import { requireInput } from "millrace";

const wrong = {
  nothing: undefined,
  none: {},
  method: { a: { method: "tools/list" } },
  params: { a: { method: "roots/list", params: 7 } },
  message: { a: { method: "elicitation/create", params: {} } },
  url: { a: { method: "elicitation/create", params: { mode: "url", message: "x", url: "https://x" } } },
};
export default ({ inputs }) => requireInput(wrong[inputs.which]);
