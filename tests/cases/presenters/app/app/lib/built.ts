import { response, markdown } from "millrace";

// Data with blocks of its own.
export default ({ inputs }: { inputs: { value: unknown } }) =>
  response(inputs.value)
    .suggest("pay-invoice", "suggested by the handler", { id: "h" })
    .rule("A rule of the handler.")
    .text("A text of the handler.")
    .hint("A hint of the handler.")
    .ui(markdown("A picture of the handler."))
    .structured({ secret: "what a handler sends as structured content is not presented" })
    .build();
