import { response } from "millrace";

export default () => response().text("nothing to structure").build();
