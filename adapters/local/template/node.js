// Lets tests under Node import handlers: where the package `millrace` is not installed, `script.js` beside this file stands for it.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "millrace") return next(specifier, context);
    try {
      return next(specifier, context);
    } catch {
      return { url: new URL("./script.js", import.meta.url).href, shortCircuit: true };
    }
  },
});
