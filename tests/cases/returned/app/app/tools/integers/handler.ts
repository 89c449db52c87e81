export default async ({ inputs }: any, ctx: any) => {
  const kinds = [typeof inputs.id, ...inputs.list.map((n: unknown) => typeof n)];
  const texts = [String(inputs.id), `${inputs.deep?.n}`, JSON.stringify(inputs)];
  return { kinds, texts, inputs };
};
