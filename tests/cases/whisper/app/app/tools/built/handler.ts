import { list, markdown, response, table } from "millrace";

export default ({ inputs: { text } }) =>
  response({ [text]: text })
    .text(text)
    .resource({ uri: "note://x", mimeType: "text/plain", text })
    .ui(markdown(text), { title: text })
    .ui(table([text], [[text]]))
    .ui(list([text]))
    .hint(text)
    .rule(text)
    .suggest("said", text, { text })
    .meta({ note: text })
    .build();
