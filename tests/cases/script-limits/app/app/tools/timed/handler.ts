// Each goes on for ever.
const scripts: Record<string, () => unknown> = {
  'for': async () => { for (;;); },
  'while': async () => { while (true); },
  'do': async () => { do ; while (true) },
  'await': async () => { for (;;) await null },
  'behind-an-await': async () => { await null; for (;;); },
  'a-generator': async () => { await null; for (const a of (function* () { for (;;) yield 1 })()); },
  'spread-of-a-generator': async () => { return [...(function* () { while (true) yield; })()].length },
  'in-a-comparison': async () => { [1, 2].sort(() => { for (;;); }) },
  'prototypes-that-go-round': async () => { const t = {}; const p = new Proxy(t, { getPrototypeOf: () => p }); return p instanceof Array },
  'never-settles-in-time': async () => { await new Promise((done) => setTimeout(done, 60000)) },
};

export default ({ inputs }) => scripts[inputs.script]();
