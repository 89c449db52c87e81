const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
export default async () => {
  const order: string[] = [];
  setTimeout(() => order.push("timer 2"), 2);
  queueMicrotask(() => order.push("microtask"));
  await null;
  order.push("after await");
  await pause(10);
  const all = await Promise.all([1, 2, 3].map(async (n) => { await pause(4 - n); return n * 2; }));
  return { order, all };
};
