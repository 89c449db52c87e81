export default (payload: any) => payload.results[0].a;
