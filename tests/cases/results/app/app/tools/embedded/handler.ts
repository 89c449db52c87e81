import { response } from "millrace";

export default () =>
  response()
    .resource({ uri: "test://text", mimeType: "text/plain", text: "the text" })
    .resource({ uri: "test://bytes", blob: new Uint8Array([1, 2, 3]).buffer }, { meta: { "example.com/n": 1 } })
    .build();
