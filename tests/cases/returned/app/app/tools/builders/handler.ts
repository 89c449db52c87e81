import { json, response, success } from "millrace";
const kinds: Record<string, () => unknown> = {
  built: () => response({ id: 1 }).hint("x").build(),
  unbuilt: () => response({ id: 1 }).hint("x"),
  later: async () => response({ id: 1 }).hint("x"),
  thrown: () => { throw response({ id: 1 }); },
  within: () => ({ a: response({ id: 1 }) }),
  wrapped: () => success(response({ id: 1 })),
  ui: () => [json(1)],
};
export default ({ inputs }: any) => kinds[inputs.kind]();
