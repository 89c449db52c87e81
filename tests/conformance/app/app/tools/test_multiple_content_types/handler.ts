import { response } from "millrace";
import { red } from "../../lib/media";

export default function () {
  return response()
    .text("Multiple content types test:")
    .image(red, "image/png")
    .resource({ uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' })
    .build();
}
