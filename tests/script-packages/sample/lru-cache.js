import { LRUCache } from "lru-cache";

export default async function () {
  const gone = [];
  const cache = new LRUCache({ max: 2, dispose: (value, key, reason) => gone.push([key, value, reason]) });
  cache.set("a", 1).set("b", 2);
  cache.get("a");
  cache.set("c", { é: 3 });
  const sized = new LRUCache({ maxSize: 5, sizeCalculation: text => text.length, ttl: 3, allowStale: false });
  sized.set("x", "abc").set("y", "def");
  const before = [sized.has("x"), sized.get("y"), sized.calculatedSize];
  await new Promise(done => setTimeout(done, 30));
  const fetching = new LRUCache({ max: 5, fetchMethod: async key => key + "!" });
  return [[...cache.entries()], gone, before, sized.has("y"), await fetching.fetch("k"), cache.dump().length, cache.peek("b") ?? null, (() => { try { new LRUCache({}); } catch (error) { return error.message; } })()];
}
