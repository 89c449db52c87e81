import { response } from "millrace";

export default ({ inputs }) => response("done").suggest(inputs.tool, "Try it", inputs.args).build();
