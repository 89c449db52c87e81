// The least that a prelude can be. What the tests want to see of the border is a function of `native` here.
(native => {
  const programs = new Map();
  const open = new Map();
  let result, isEntered;
  globalThis.ask = (kind, value, bytes) =>
    new Promise((resolve, reject) => open.set(native.ask(kind, JSON.stringify(value), bytes), { resolve, reject }));
  globalThis.native = native;
  return {
    load(meta, value) {
      programs.set(meta.path, value);
    },
    enter(message, bytes) {
      isEntered = true;
      const program = message.eval === undefined ? programs.get(message.path) : (0, eval)(message.eval);
      Promise.resolve(program(message.input, bytes)).then(
        value => (result = { value }),
        error => (result = { error: String(error) }),
      );
    },
    settle(id, isAnswer, value, bytes) {
      const { resolve, reject } = open.get(id);
      open.delete(id);
      if (isAnswer) resolve(bytes === undefined ? value : [value, bytes]);
      else reject(value);
    },
    poll() {
      if (!isEntered) return 'loaded';
      if (!result) return undefined;
      const { value } = result;
      const unhandled = native.unhandled();
      if (unhandled !== undefined) return JSON.stringify({ unhandled: typeof unhandled === 'object' ? String(unhandled[0]) : unhandled });
      return JSON.stringify(result.error === undefined ? { value } : { error: result.error });
    },
  };
})
