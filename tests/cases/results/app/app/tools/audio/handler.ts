import { response } from "millrace";

export default () => response().audio("UklGRg==", "audio/wav").build();
