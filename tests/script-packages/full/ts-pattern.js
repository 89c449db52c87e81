import { isMatching, match, NonExhaustiveError, P } from "ts-pattern";

export default function () {
  const say = value => match(value)
    .with({ type: "user", name: P.string.startsWith("Zo").select() }, name => `user ${name}`).with({ items: P.array({ n: P.number.gt(2).select("n") }) }, ({ n }) => n).with([P._, P.union("x", "y")], ([, letter]) => letter)
    .with(P.instanceOf(Date), date => date.getTime()).with(P.nullish, () => "nothing").with({ tag: P.not("a") }, () => "not a").with(P.when(n => n > 10), () => "big").otherwise(() => "else");
  const caught = (() => { try { match({ a: "é" }).with({ a: 1 }, () => 1).exhaustive(); } catch (error) { return [error instanceof NonExhaustiveError, error.message]; } })();
  return [{ type: "user", name: "Zoë" }, { items: [{ n: 3 }, { n: 4 }] }, [1, "y"], new Date(5), null, { tag: "b" }, 11, "?"].map(say).concat([isMatching({ a: P.bigint }, { a: 1n }), caught]);
}
