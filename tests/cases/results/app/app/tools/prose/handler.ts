import { response } from "millrace";

export default () => response("In words: forty-two.").structured({ sum: 42 }).build();
