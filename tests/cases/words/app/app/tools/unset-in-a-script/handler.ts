export default ({ inputs }: any, ctx: any) =>
  inputs.required ? `Bearer ${ctx.env.UNSET_LISTED}` : [ctx.env.UNSET_OPTIONAL ?? "nothing", "UNSET_OPTIONAL" in ctx.env, Object.keys({ ...ctx.env })];
