import { z } from "zod";

export default function () {
  const order = z.object({ id: z.string().min(1), qty: z.coerce.number().int().positive(), email: z.email().optional(), at: z.iso.datetime().optional(), tags: z.array(z.string()).default([]), kind: z.discriminatedUnion("type", [z.object({ type: z.literal("a"), n: z.bigint() }), z.object({ type: z.literal("b") })]).optional() }).strict();
  const bad = order.safeParse({ id: "", qty: "-1.5", email: "x@", at: "2024-02-30T00:00:00Z", tags: [1], kind: { type: "c" }, extra: true });
  const tree = z.object({ name: z.string(), get children() { return z.array(tree); } });
  return [order.parse({ id: "é", qty: "2", kind: { type: "b" } }), bad.error.issues.map(issue => [issue.path.join("."), issue.code, issue.message]), z.prettifyError(bad.error), z.flattenError(bad.error), tree.parse({ name: "r", children: [{ name: "c", children: [] }] }), z.toJSONSchema(order, { unrepresentable: "any" }), z.string().transform(text => text.length).pipe(z.number().max(3)).safeParse("four").success];
}
