import { values } from "../../lib/values";
export default ({ results }: any) => values[results]();
