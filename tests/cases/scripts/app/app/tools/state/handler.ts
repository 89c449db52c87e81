let calls = 0;
export default () => {
  calls += 1;
  const seen = [(globalThis as any).left, (Array.prototype as any).left, (Object.prototype as any).left].map((left) => left ?? null).concat(Math.max(1, 2));
  (globalThis as any).left = 1; (Array.prototype as any).left = 2; (Object.prototype as any).left = 3; Math.max = () => 99;
  return { calls, seen, now: [(globalThis as any).left, ([] as any).left, ({} as any).left, Math.max(1, 2)] };
};
