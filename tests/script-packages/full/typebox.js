import { Type, FormatRegistry } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { TypeCompiler } from "@sinclair/typebox/compiler";

export default function () {
  const schema = Type.Object({ a: Type.String({ minLength: 2 }), n: Type.Optional(Type.Integer({ minimum: 0 })), t: Type.Array(Type.Union([Type.Literal("x"), Type.Literal("y")])), d: Type.String({ default: "é" }) });
  FormatRegistry.Set("even", text => text.length % 2 === 0);
  const compiled = TypeCompiler.Compile(schema);
  return [schema, compiled.Check({ a: "ab", t: ["x"], d: "" }), [...compiled.Errors({ a: "a", n: -1, t: ["z"] })].map(error => [error.path, error.message]), Value.Default(schema, { t: [] }), Value.Convert(schema, { a: 12, n: "3", t: [] }), Value.Create(schema), Value.Diff({ a: 1 }, { a: 2, b: 3 }), Value.Hash({ a: 1 }), Value.Check(Type.String({ format: "even" }), "abc")];
}
