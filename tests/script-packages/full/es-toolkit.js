import { camelCase, chunk, cloneDeep, debounce, deburr, delay, groupBy, isEqual, kebabCase, memoize, merge, omit, orderBy, range, retry, snakeCase, sumBy, timeout, TimeoutError, uniqBy, words, zip } from "es-toolkit";
import { get, set, template } from "es-toolkit/compat";

export default async function () {
  let tries = 0;
  const late = await timeout(2).catch(error => error instanceof TimeoutError);
  await delay(1);
  return [camelCase("Foo bär-baz"), chunk([1, 2, 3], 2), cloneDeep(new Map([[1, { a: new Date(0) }]])).get(1), deburr("déjà"), groupBy([1.2, 1.5, 2], Math.floor), isEqual(new Set([1]), new Set([1])), kebabCase("fooBAR"), merge({ a: [1] }, { a: [2, 3] }), omit({ a: 1, b: 2 }, ["a"]), orderBy([{ a: 1 }, { a: 2 }], ["a"], ["desc"]), range(3), await retry(async () => { if (++tries < 3) throw new Error("x"); return tries; }, { retries: 5 }), snakeCase("fooBar"), sumBy([{ a: 1 }], row => row.a), uniqBy([1, 1.5], Math.floor), words("fooBar 12"), zip([1], ["a"]), late, get({ a: [{ b: 1 }] }, "a[0].b"), set({}, "x.y", 1), template("<%= a %>!")({ a: 1 }), typeof debounce(() => 1, 1), memoize(n => n * 2)(3)];
}
