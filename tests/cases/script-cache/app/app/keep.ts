export default async ({ inputs }: any, ctx: any) => {
  const had = await ctx.cache.get(inputs.key);
  if (inputs.value !== undefined) await ctx.cache.put(inputs.key, inputs.value, { ttl: inputs.ttl });
  return { had: had === undefined ? "nothing" : had, has: await ctx.cache.get(inputs.key) };
};

const tried = async (work: () => Promise<unknown>) => {
  try {
    await work();
    return "kept";
  } catch (error: any) {
    return `${error.name}: ${error.message}`;
  }
};
export const limits = async ({ inputs }: any, ctx: any) => {
  const put = (key: any, value: any, options: any = { ttl: 1 }) => tried(async () => ctx.cache.put(key, value, options));
  if (inputs.what === "uses") {
    let last = "";
    for (let i = 0; i < 101; i++) last = await tried(() => ctx.cache.get("key"));
    return last;
  }
  if (inputs.what === "bytes") {
    const long = "x".repeat(262_142);
    const said = [await put("k", long + "x")];
    for (let i = 0; i < 17; i++) said.push(await put("k", long));
    return said.filter((text) => text !== "kept");
  }
  return [
    await put("", 1),
    await put("x".repeat(1001), 1),
    await put(1, 1),
    await put("k", undefined),
    await put("k", () => 1),
    await put("k", 1, null),
    await put("k", 1, { ttl: 0 }),
    await put("k", 1, { ttl: 1.5 }),
    await put("k", 1, { ttl: NaN }),
    await put("k", 1, { ttl: 31_536_001 }),
    await put("é".repeat(500), { a: [1, null, "x"] }),
    Object.isFrozen(ctx.cache),
  ];
};
