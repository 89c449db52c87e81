import { Cause, Duration, Effect, Exit, Option, pipe, Schedule, Schema, Stream } from "effect";

export default async function () {
  const User = Schema.Struct({ id: Schema.NumberFromString, name: Schema.NonEmptyString });
  let tries = 0;
  const flaky = Effect.suspend(() => (++tries < 3 ? Effect.fail(new Error("é")) : Effect.succeed(tries)));
  const exit = await Effect.runPromiseExit(Effect.fail("nö"));
  return [
    Effect.runSync(pipe(Effect.succeed(1), Effect.map(n => n + 1), Effect.flatMap(n => Effect.succeed(n * 10)))), await Effect.runPromise(Effect.retry(flaky, Schedule.recurs(5))), Schema.decodeUnknownSync(User)({ id: "7", name: "x" }), (() => { try { Schema.decodeUnknownSync(User)({ id: 1 }); } catch (error) { return error.message; } })(),
    Exit.isFailure(exit), Cause.squash(exit.cause), await Effect.runPromise(Effect.gen(function* () { const [a, b] = yield* Effect.all([Effect.succeed(1), Effect.promise(async () => 2)], { concurrency: 2 }); yield* Effect.sleep("1 millis"); return a + b; })), Option.getOrElse(Option.fromNullishOr(null), () => "none"), Duration.toMillis("2 minutes"), [...(await Effect.runPromise(Stream.runCollect(Stream.take(Stream.iterate(1, n => n * 2), 4))))],
  ];
}
