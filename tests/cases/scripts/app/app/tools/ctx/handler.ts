export default (payload: any, ctx: any) => {
  const tried: string[] = [];
  for (const change of [() => { ctx.x = 1; }, () => { ctx.env.SHOWN = "changed"; }, () => { ctx.request.id = ""; }]) {
    try { change(); tried.push("changed"); } catch (error) { tried.push((error as Error).name); }
  }
  return { keys: Object.keys(payload).sort(), tool: payload.tool, env: ctx.env, protocol: ctx.request.protocol, headers: ctx.request.headers, id: typeof ctx.request.id, tried, process: typeof (globalThis as any).process };
};
