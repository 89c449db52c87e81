import { values } from "../../lib/values";
export default ({ inputs }: any) => {
  const { kind, own, ...rest } = inputs;
  if (own !== undefined) return { ...rest, n: own };
  return kind === undefined ? rest : values[kind]();
};
