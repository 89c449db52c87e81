export default (payload: any) => payload.inputs.n;
