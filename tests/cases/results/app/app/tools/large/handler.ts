import { response } from "millrace";

export default () => response().image(new Uint8Array(1024), "image/png").build();
