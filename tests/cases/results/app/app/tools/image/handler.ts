import { response } from "millrace";

export default function () {
  return response().image(new Uint8Array([0x89, 0x50, 0x4e, 0x47]), "image/png", { audience: ["user"], priority: 0.5 }).build();
}
