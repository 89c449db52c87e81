// From @oxc-project/runtime 0.158.0 (MIT), and that from TypeScript (Apache-2.0).
function __decorateMetadata(k, v) {
  if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
}

export { __decorateMetadata as default };
