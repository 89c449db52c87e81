export default async function (payload: any) { return { pair: payload.inputs.pair, tool: payload.tool, rate: 1.08 }; }
