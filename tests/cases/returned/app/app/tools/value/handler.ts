import { values } from "../../lib/values";
export default ({ inputs }: any) => {
  const value = values[inputs.kind]();
  return inputs.within ? { list: [0, { "a b": value }] } : value;
};
