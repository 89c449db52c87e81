import { camelCase, cloneDeep, debounce, difference, flow, invert, isPlainObject, kebabCase, merge, omit, pick, throttle, uniqBy, zipObject } from "lodash-es";

export default async function () {
  let calls = 0;
  const slow = debounce(() => ++calls, 2);
  slow(); slow();
  await new Promise(done => setTimeout(done, 30));
  return [camelCase("Ünï code-text"), kebabCase("fooBarBAZ"), merge({ a: [{ b: 1 }] }, { a: [{ c: 2 }] }), omit({ a: 1, b: 2 }, "a"), pick({ a: 1, b: 2 }, ["b"]), uniqBy([1.1, 1.9, 2.1], Math.floor), difference([1, 2, 3], [2]), flow([x => x + 1, x => x * 2])(3), zipObject(["a", "b"], [1, 2]), invert({ x: "y" }), isPlainObject(new Date()), cloneDeep([/x/gi])[0].flags, throttle(() => 5, 10)(), calls];
}
