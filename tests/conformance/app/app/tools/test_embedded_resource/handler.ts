import { response } from "millrace";

export default function () {
  return response()
    .resource({ uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." })
    .build();
}
