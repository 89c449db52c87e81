// From @oxc-project/runtime 0.158.0 (MIT), and that from TypeScript (Apache-2.0).
function __decorateParam(paramIndex, decorator) {
  return function (target, key) {
    decorator(target, key, paramIndex);
  };
}

export { __decorateParam as default };
