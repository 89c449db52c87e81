// What a module of Node has and scripts have not. It is a function that can be called, made an object with, and extended.
export default (module, help) => name => {
  const absent = function () {
    throw new Error(`\`${name}\` of Node's module \`${module}\` is not available in scripts: ${help}`);
  };
  return Object.defineProperty(absent, 'name', { value: name.slice(name.lastIndexOf('.') + 1) });
};
