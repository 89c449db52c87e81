// Writes the declarations of the globals that scripts have and that TypeScript's libraries of the language do not declare: what its library for
// workers says of them, without the names and members that the script engine does not have.
//
//   node globals.mjs LIBRARIES PARSER SURFACE [NAME…]
//
// LIBRARIES is the folder of TypeScript's `lib.*.d.ts`, PARSER the module of rolldown that reads TypeScript, SURFACE what `surface.js` said in the
// engine; the names are the libraries of the language, as `lib` of tsconfig.json has them. Prints an object: `text`, the declarations; `unknown`,
// globals that no library knows; `absent`, globals of the language's libraries that the engine does not have.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [libraries, parser, surfaceFile, ...languages] = process.argv.slice(2);
const { parseAst } = await import(pathToFileURL(parser));
const surface = JSON.parse(readFileSync(surfaceFile, "utf8"));

// What no library says, or says of other platforms.
const OWN = {
  clearInterval: "declare function clearInterval(id: number | undefined): void;",
  clearTimeout: "declare function clearTimeout(id: number | undefined): void;",
  clearImmediate: "declare function clearImmediate(id: number | undefined): void;",
  global: "declare var global: typeof globalThis;",
  InternalError: "interface InternalError extends Error {}\ndeclare var InternalError: ErrorConstructor;",
  process:
    "declare var process: {\n  /** The variables that the app lists under `env`, and `NODE_ENV`. */\n  readonly env: { readonly [name: string]: string | undefined };\n  readonly [name: string]: any;\n};",
  self: "declare var self: typeof globalThis;",
  setImmediate: "declare function setImmediate<Args extends any[]>(run: (...args: Args) => void, ...args: Args): number;",
  setInterval: "declare function setInterval<Args extends any[]>(run: (...args: Args) => void, ms?: number, ...args: Args): number;",
  setTimeout: "declare function setTimeout<Args extends any[]>(run: (...args: Args) => void, ms?: number, ...args: Args): number;",
};
// Objects that are the value of an interface's name in lower case, or of another one.
const INSTANCES = { "crypto.subtle": "SubtleCrypto" };
/** The name that a statement declares. */
const nameOf = node => node.id?.name ?? node.declarations?.[0]?.id?.name;

/** The statements of a library and of those that it refers to, by name. */
function read(library, found = new Map(), seen = new Set()) {
  if (seen.has(library)) return found;
  seen.add(library);
  const text = readFileSync(join(libraries, `lib.${library}.d.ts`), "utf8");
  for (const [, other] of text.matchAll(/^\/\/\/ <reference lib="(.*)"/gm)) read(other, found, seen);
  const add = node => {
    // What a library that is a module says of the globals.
    if (node.type === "TSModuleDeclaration" && node.kind === "global") return node.body.body.forEach(add);
    const name = nameOf(node);
    if (name) found.set(name, [...(found.get(name) ?? []), { node, text }]);
  };
  parseAst(text, { lang: "dts" }).body.forEach(add);
  return found;
}
const isValue = ({ node }) => node.type === "VariableDeclaration" || node.type === "TSDeclareFunction" || node.type === "TSModuleDeclaration";
const isInterface = ({ node }) => node.type === "TSInterfaceDeclaration";

const language = new Map();
for (const name of languages) read(name.toLowerCase(), language);
const isOfLanguage = name => language.get(name)?.some(isValue) ?? false;
const worker = new Map();
for (const name of ["webworker", "webworker.iterable", "webworker.asynciterable"]) {
  if (existsSync(join(libraries, `lib.${name}.d.ts`))) read(name, worker, new Set(languages.map(name => name.toLowerCase())));
}
const inWorker = name => worker.get(name) ?? [];
// A class of the platform that scripts do not have.
const isAbsent = name => !language.has(name) && !(name in surface) && !instances.has(name) && inWorker(name).some(isValue);

// The interfaces whose members are those of an object, such as `Console`.
const instances = new Map();
for (const [name, described] of Object.entries(surface)) {
  if (described.kind !== "object") continue;
  const type = inWorker(name).find(isValue)?.node.declarations?.[0]?.id.typeAnnotation?.typeAnnotation;
  const named = INSTANCES[name] ?? (type?.type === "TSTypeReference" ? type.typeName.name : undefined);
  if (named) instances.set(named, described.members);
}

/** Calls `see` for a node and what is in it, from the outside in, unless it returns false. */
function walk(node, see) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) return node.forEach(inner => walk(inner, see));
  if (typeof node.type === "string" && see(node) === false) return;
  for (const key of Object.keys(node)) if (key !== "type") walk(node[key], see);
}
const refersTo = node => (node.type === "TSTypeReference" ? node.typeName.name : undefined);
/** The text of a node, without the parts of unions that are classes that scripts do not have. */
function render(node, text) {
  const edits = [];
  walk(node, inner => {
    if (inner.type !== "TSUnionType") return true;
    const kept = inner.types.filter(type => !isAbsent(refersTo(type)));
    if (kept.length === inner.types.length || kept.length === 0) return true;
    edits.push([inner.start, inner.end, kept.map(type => render(type, text)).join(" | ")]);
    return false;
  });
  let out = "";
  let at = node.start;
  for (const [start, end, replacement] of edits) {
    out += text.slice(at, start) + replacement;
    at = end;
  }
  return (out + text.slice(at, node.end)).replace(/\/\*\*[^]*?\*\/\s*/g, "");
}

const wanted = new Set();
const done = new Set();
const parts = [];
/** The text of a node, and what it refers to is wanted, too. */
const want = (node, text) => {
  walk(node, inner => {
    const name = refersTo(inner) ?? (inner.type === "TSTypeQuery" ? inner.exprName.name : undefined);
    if (name && worker.has(name) && !language.has(name)) wanted.add(name);
    if (inner.type !== "TSUnionType") return true;
    const kept = inner.types.filter(type => !isAbsent(refersTo(type)));
    for (const type of kept.length > 0 ? kept : inner.types) want(type, text);
    return false;
  });
  return render(node, text);
};
const keyOf = member => {
  const { key } = member;
  if (!key) return undefined;
  if (key.type === "MemberExpression") return `@@${key.property.name}`;
  return key.name ?? key.value;
};
const membersOf = name => {
  const found = inWorker(name).filter(isInterface);
  const own = found.flatMap(({ node, text }) => node.body.body.map(member => ({ member, text })));
  const keys = new Set(own.map(({ member }) => keyOf(member)));
  // What it takes over from interfaces that are no classes of scripts is its own, unless it says it itself.
  const parents = found.flatMap(({ node, text }) => node.extends.map(parent => ({ parent, text })));
  const taken = parents
    .filter(({ parent }) => !(parent.expression.name in surface) && !language.has(parent.expression.name))
    .flatMap(({ parent, text }) => {
      const parameters = inWorker(parent.expression.name).find(isInterface)?.node.typeParameters?.params ?? [];
      const given = parameters.map((parameter, index) => [parameter.name.name, parent.typeArguments?.params[index]]);
      const named = given.filter(([, type]) => type).map(([name, type]) => [new RegExp(`\\b${name}\\b`, "g"), text.slice(type.start, type.end)]);
      return membersOf(parent.expression.name).map(taken => ({ ...taken, named: [...(taken.named ?? []), ...named] }));
    });
  return [...own, ...taken.filter(({ member }) => !keys.has(keyOf(member)))];
};
/** An interface with the members that are there; all of them, where it is nothing but a type. */
function declareInterface(name, has) {
  const found = inWorker(name).filter(isInterface);
  if (found.length === 0) return;
  const { node, text } = found[0];
  const isThere = ({ member }) => has === undefined || keyOf(member) === undefined || has(keyOf(member));
  const own = has === undefined ? found.flatMap(({ node, text }) => node.body.body.map(member => ({ member, text }))) : membersOf(name);
  const filled = (text, named = []) => named.reduce((text, [name, type]) => text.replace(name, type), text);
  const kept = own.filter(isThere).map(({ member, text, named }) => `  ${filled(want(member, text), named).trim().replace(/;?$/, ";")}\n`);
  // An object may lack what its interface takes over in the standard, as `performance` does that is no target of events.
  const hasAll = parent => !instances.has(name) || surface[parent].members.every(key => has(key));
  const supers = node.extends.filter(
    ({ expression }) => has === undefined || language.has(expression.name) || (expression.name in surface && hasAll(expression.name)),
  );
  const parameters = node.typeParameters ? want(node.typeParameters, text) : "";
  for (const { expression, typeArguments } of supers) {
    if (worker.has(expression.name) && !language.has(expression.name)) wanted.add(expression.name);
    if (typeArguments) want(typeArguments, text);
  }
  const heads = supers.map(item => text.slice(item.start, item.end)).join(", ");
  parts.push(`interface ${name}${parameters}${heads ? ` extends ${heads}` : ""} {\n${[...new Set(kept)].join("")}}\n`);
}

const unknown = [];
for (const name of Object.keys(surface)) {
  const described = surface[name];
  if (name in OWN) {
    parts.push(`${OWN[name]}\n`);
    continue;
  }
  if (name.includes(".") || isOfLanguage(name)) continue;
  const value = inWorker(name).find(isValue);
  if (!value) {
    if (!["Infinity", "NaN", "undefined", "globalThis"].includes(name)) unknown.push(name);
    continue;
  }
  done.add(name);
  if (value.node.type === "TSDeclareFunction") {
    for (const { node, text } of inWorker(name).filter(({ node }) => node.type === "TSDeclareFunction")) parts.push(`${want(node, text)}\n`);
    continue;
  }
  const { id } = value.node.declarations[0];
  const type = id.typeAnnotation.typeAnnotation;
  if (described.kind === "class") {
    const members = new Set(described.members);
    declareInterface(name, key => members.has(key));
    const statics = new Set([...described.statics, "prototype"]);
    const kept = type.members.filter(member => keyOf(member) === undefined || statics.has(keyOf(member)));
    parts.push(`declare var ${name}: {\n${kept.map(member => `  ${want(member, value.text).trim().replace(/;?$/, ";")}\n`).join("")}};\n`);
  } else {
    parts.push(`declare var ${name}: ${want(type, value.text)};\n`);
  }
}
for (let more = true; more; ) {
  more = false;
  for (const name of [...wanted].sort()) {
    if (done.has(name)) continue;
    done.add(name);
    more = true;
    const members = instances.get(name);
    if (inWorker(name).some(isInterface)) declareInterface(name, members && (key => members.includes(key)));
    for (const { node, text } of inWorker(name).filter(({ node }) => node.type === "TSTypeAliasDeclaration")) parts.push(`${want(node, text)}\n`);
  }
}

const absent = [...language].filter(([name, nodes]) => nodes.some(isValue) && !(name in surface)).map(([name]) => name);
const lacking = {};
for (const [name, described] of Object.entries(surface)) {
  if (!isOfLanguage(name) || !described.members) continue;
  const declared = new Set((language.get(name) ?? []).filter(isInterface).flatMap(({ node }) => node.body.body.map(keyOf)).filter(Boolean));
  const gone = [...declared].filter(key => !described.members.includes(key) && !key.startsWith("@@"));
  if (gone.length > 0) lacking[name] = gone;
}
process.stdout.write(JSON.stringify({ text: parts.join(""), unknown, absent, lacking }));
