import { response } from "millrace";

export default ({ inputs }) => (inputs.text === "" ? "" : response().text("").text(inputs.text));
