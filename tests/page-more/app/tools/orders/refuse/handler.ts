import { toolError } from "millrace";

export default () => toolError("OUT_OF_STOCK", { message: "Nothing is left of `tea`.", suggestion: "Order coffee." });
