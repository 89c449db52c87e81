export default (payload: any) => ({ a: Number(payload.inputs.a) + 1 });
