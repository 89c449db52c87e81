import * as z from "zod/mini";

export default function () {
  const schema = z.object({ q: z.string().check(z.minLength(2), z.regex(/^\p{L}+$/u)), n: z._default(z.number(), 3), d: z.optional(z.coerce.date()) });
  return [schema.parse({ q: "äb", d: "2024-02-29" }), schema.safeParse({ q: "1" }).error.issues.map(issue => [issue.path, issue.code]), z.safeParse(z.union([z.string(), z.number()]), true).success, z.parse(z.extend(schema, { x: z.literal("y") }), { q: "ab", x: "y" })];
}
