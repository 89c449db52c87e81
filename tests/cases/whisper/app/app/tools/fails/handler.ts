import { toolError } from "millrace";

export default ({ inputs: { text } }) => toolError("BAD", { message: text, suggestion: text, details: { [text]: text } });
