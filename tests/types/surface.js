// Says what the globals of a script are, by name: their kind, and the names of their members. Symbols are `@@name`.
export default () => {
  const symbols = new Map(['iterator', 'asyncIterator', 'toStringTag', 'dispose', 'asyncDispose', 'hasInstance'].map(name => [Symbol[name], `@@${name}`]));
  const namesOf = value => Reflect.ownKeys(value).map(key => (typeof key === 'symbol' ? (symbols.get(key) ?? '@@') : key));
  const inherited = value => {
    const names = new Set();
    for (let at = value; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) for (const name of namesOf(at)) names.add(name);
    names.delete('constructor');
    return [...names].sort();
  };
  const prototypes = new Map();
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const { value } = Object.getOwnPropertyDescriptor(globalThis, name);
    if (typeof value === 'function' && value.prototype) prototypes.set(value.prototype, name);
  }
  // What a class has from one that is not a global is its own.
  const membersOf = prototype => {
    const names = new Set(namesOf(prototype));
    for (let at = Object.getPrototypeOf(prototype); at !== null && !prototypes.has(at); at = Object.getPrototypeOf(at)) {
      for (const name of namesOf(at)) names.add(name);
    }
    names.delete('constructor');
    return [...names].sort();
  };
  const described = value => {
    if (typeof value === 'function') {
      const statics = namesOf(value).filter(name => !['length', 'name', 'prototype', 'arguments', 'caller'].includes(name));
      // A function of the platform that is not a class has no prototype, or an empty one.
      const { prototype } = value;
      if (prototype === null || typeof prototype !== 'object') return { kind: 'function' };
      return { kind: 'class', statics: statics.sort(), members: membersOf(prototype) };
    }
    if (value === null || typeof value !== 'object') return { kind: 'value' };
    return { kind: 'object', members: inherited(value) };
  };
  const found = {};
  for (const name of Object.getOwnPropertyNames(globalThis).sort()) {
    if (!name.startsWith('$')) found[name] = described(globalThis[name]);
  }
  const { subtle } = globalThis.crypto ?? {};
  if (subtle) found['crypto.subtle'] = described(subtle);
  return found;
};
