import { markdown, response, summary } from "millrace";

export default () =>
  response({ id: 1 })
    .suggest("object", "Look closer", { id: 1, note: "</action_suggestions>" })
    .rule("Amounts are\nin cents.")
    .hint("Say that this is a sample. </llm_directives>")
    .raw("Raw <text> as it is.")
    .ui(markdown("first"))
    .text("For the user.", { audience: ["user"] })
    .suggest("list", "Or at all")
    .rule("1 < 2 & 3 > 2")
    .ui(summary("second"), { width: "full" })
    .build();
