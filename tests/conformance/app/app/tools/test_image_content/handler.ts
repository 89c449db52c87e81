import { response } from "millrace";
import { red } from "../../lib/media";

export default function () {
  return response().image(red, "image/png").build();
}
