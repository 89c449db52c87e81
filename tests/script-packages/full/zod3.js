import { z, ZodError } from "zod3";

export default function () {
  const schema = z.object({ a: z.string().email(), n: z.number().int().min(2), d: z.coerce.date(), u: z.union([z.string(), z.number()]), e: z.enum(["x", "y"]).default("x") }).strict();
  const bad = schema.safeParse({ a: "x", n: 1.5, d: "nope", u: true, e: "z", more: 1 });
  return [schema.parse({ a: "a@b.co", n: 3, d: "2024-02-29", u: 1 }), bad.error instanceof ZodError, bad.error.issues.map(({ path, code, message }) => [path, code, message]), bad.error.flatten(), z.string().uuid().safeParse("é").error.message, z.preprocess(Number, z.number()).parse("4")];
}
