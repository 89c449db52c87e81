import * as v from "valibot";

export default async function () {
  const user = v.object({ name: v.pipe(v.string(), v.trim(), v.minLength(2, "too short")), email: v.pipe(v.string(), v.email()), age: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 18), kind: v.variant("type", [v.object({ type: v.literal("a"), n: v.number() }), v.object({ type: v.literal("b") })]) });
  const bad = v.safeParse(user, { name: "é", email: "x@", age: 1.5, kind: { type: "c" } });
  const when = v.pipe(v.string(), v.isoDate(), v.transform(text => new Date(text)));
  const later = await v.safeParseAsync(v.pipeAsync(v.string(), v.checkAsync(async text => text === "ok", "not ok")), "no");
  return [v.parse(user, { name: " Zoë ", email: "a@b.co", kind: { type: "a", n: 1 } }), bad.issues.map(issue => [v.getDotPath(issue), issue.message]), v.flatten(bad.issues), v.parse(when, "2024-02-29"), later.issues[0].message, v.is(v.picklist(["a"]), "b")];
}
