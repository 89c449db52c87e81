import { err, errAsync, fromThrowable, ok, okAsync, Result, ResultAsync } from "neverthrow";

export default async function () {
  const parse = fromThrowable(JSON.parse, error => error.name);
  return [ok(1).map(n => n + 1).unwrapOr(0), parse("{").match(() => "ok", name => name), parse("[1]").isOk(), Result.combine([ok(1), ok(2)])._unsafeUnwrap(), err("é").orElse(text => ok(text + "!"))._unsafeUnwrap(), await okAsync(2).andThen(n => errAsync(n * 2)).match(() => 0, n => n), await ResultAsync.fromPromise(Promise.reject(new Error("x")), error => error.message).unwrapOr("none"), Result.combineWithAllErrors([err("a"), ok(1), err("b")])._unsafeUnwrapErr()];
}
