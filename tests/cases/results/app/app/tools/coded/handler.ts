import { error } from "millrace";

export default ({ inputs }) => error("It is closed today.", inputs.code);
