import { response } from "millrace";
import { silence } from "../../lib/media";

export default function () {
  return response().audio(silence, "audio/wav").build();
}
