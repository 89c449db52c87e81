import { values } from "./values";
export default ({ inputs }: any) => values[inputs.kind]();
