// Each goes on for ever.
const scripts: Record<string, () => unknown> = {
  'for': async () => { for (;;); },
  'while': async () => { while (true); },
  'do': async () => { do ; while (true) },
  'await': async () => { for (;;) await null },
  'never-settles-in-time': async () => { await new Promise((done) => setTimeout(done, 60000)) },
};

export default ({ inputs }) => scripts[inputs.script]();
