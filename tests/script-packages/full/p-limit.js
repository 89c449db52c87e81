import pLimit from "p-limit";

export default async function () {
  const limit = pLimit(2);
  let running = 0, most = 0;
  const work = n => limit(async () => { most = Math.max(most, ++running); await new Promise(done => setTimeout(done, 2)); running--; return n * 2; });
  const results = await Promise.all([1, 2, 3, 4].map(work));
  const failed = await limit(async () => { throw new TypeError("é"); }).catch(error => String(error));
  return [results, most, limit.activeCount, limit.pendingCount, failed, await limit.map([1, 2], async n => n + 1), (() => { try { pLimit(0); } catch (error) { return error.message; } })()];
}
