const list = Array.from({ length: 12500 }, (_, index) => index);
const deep = (levels: number) => { let inner: unknown = []; for (let n = 0; n < levels; n++) inner = [inner]; return inner; };
const kinds: Record<string, () => unknown> = {
  whole: () => list,
  deep: () => deep(20000),
  sparse: () => new Array(4e9),
  hole: () => [1, , 3],
  nan: () => NaN,
  map: () => ({ a: new Map() }),
  promise: () => Promise.resolve(1),
};
export default async ({ inputs }: any, ctx: any) => {
  const [row] = await ctx.db("main").query("SELECT count(*) AS n FROM json_each(?1)", [kinds[inputs.kind]()]);
  return row.n;
};
