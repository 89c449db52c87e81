import type { Handler } from "millrace";

const greet: Handler<"greet"> = ({ inputs }) => ({ greeting: `Hello, ${inputs.name}!`, letters: inputs.name.length });
export default greet;
