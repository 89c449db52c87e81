// Makes modules/: for each module of Node one module of ECMAScript, from packages of npm (package-lock.json) and what is in sources/. What
// Node has and they have not are functions that say so when they are called. `node build.mjs FOLDER` writes into that folder.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { pack } from './pack.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = process.argv[2];
const names = JSON.parse(readFileSync(`${here}names.json`, 'utf8'));
const ABSENT = 'node:#absent';
const fileOf = name => name.replace('/', '_');
const sourceOf = name => `${here}sources/${fileOf(name)}.mjs`;

// What is wrong for scripts in the sources of packages, or slow in them: the engine has it built in. A text that is not there is a mistake.
const patches = {
  // The engine has no `Atomics`.
  // A stack here has the calls alone.
  'node-inspect-extracted/dist/inspect.js': [
    ['"Atomics","JSON"', '"JSON"', 1],
    ['if("string"==typeof n)return n;', 'if("string"==typeof n){const head=Error.prototype.toString.call(e);return n.startsWith(head)?n:`${head}\\n${n}`.trimEnd()}', 1],
  ],
  'querystring-es3/decode.js': [
    ["'use strict';", 'const decoded = text => { try { return decodeURIComponent(text) } catch { return bytesOf(text) } };\nconst bytesOf = text => text.replace(/(?:%[0-9a-f]{2})+/gi, run => new TextDecoder().decode(Uint8Array.from(run.slice(1).split("%"), byte => parseInt(byte, 16))));', 1],
    ['decodeURIComponent(kstr)', 'decoded(kstr)', 1],
    ['decodeURIComponent(vstr)', 'decoded(vstr)', 1],
  ],
  'querystring-es3/encode.js': [
    ["case 'number':", "case 'bigint':\n      return String(v);\n\n    case 'number':", 1],
  ],
  'buffer/index.js': [
    ["case 'base64':", "case 'base64':\n      case 'base64url':", 4],
    ['return base64Slice(this, start, end)', "return base64Slice(this, start, end, encoding)", 1],
    ['function base64Slice (buf, start, end) {', "function base64Slice (buf, start, end, encoding) { return plain(buf, start, end).toBase64(encoding.toLowerCase() === 'base64url' ? { alphabet: 'base64url', omitPadding: true } : undefined)", 1],
    ['function utf8Slice (buf, start, end) {', 'function utf8Slice (buf, start, end) { return decoder.decode(plain(buf, start, end))', 1],
    ['function hexSlice (buf, start, end) {', 'function hexSlice (buf, start, end) { return plain(buf, start || 0, end).toHex()', 1],
    ['function utf8ToBytes (string, units) {', `const decoder = new TextDecoder('utf-8', { ignoreBOM: true }), encoder = new TextEncoder()
const plain = (buf, start, end) => new Uint8Array(buf.buffer, buf.byteOffset, buf.length).subarray(start, end)
function utf8ToBytes (string, units) {
  const whole = encoder.encode(string)
  if (!(units < whole.length)) return whole
  let end = units
  while (end > 0 && (whole[end] & 0xc0) === 0x80) end--
  return whole.subarray(0, end)`, 1],
    ['function blitBuffer (src, dst, offset, length) {', `function blitBuffer (src, dst, offset, length) {
  if (src instanceof Uint8Array) {
    const count = Math.max(0, Math.min(length, src.length, dst.length - offset))
    Uint8Array.prototype.set.call(dst, src.subarray(0, count), offset)
    return count
  }`, 1],
  ],
};
// What packages carry for engines that lack it.
const bound = `const at = name => name.split('.').reduce((object, key) => object[key === 'prototype' ? key : key.replace(/^%|%$/g, '')], globalThis);
module.exports = name => { const found = at(name.replace(/^%|%$/g, '')); return typeof found === 'function' ? Function.prototype.call.bind(found) : found };`;
const native = {
  'abort-controller': 'module.exports = { AbortController, AbortSignal };',
  'call-bind/callBound': bound,
  'call-bound': bound,
  'is-arguments': `module.exports = value => Object.prototype.toString.call(value) === '[object Arguments]';`,
  'is-generator-function': `const made = Object.getPrototypeOf(function* () {}); module.exports = value => typeof value === 'function' && Object.getPrototypeOf(value) === made;`,
  'is-nan': 'module.exports = Number.isNaN;',
  'is-typed-array': 'module.exports = value => ArrayBuffer.isView(value) && !(value instanceof DataView);',
  'object-is': 'module.exports = Object.is;',
  'object-is/polyfill': 'module.exports = () => Object.is;',
  'object.assign/polyfill': 'module.exports = () => Object.assign;',
  'which-typed-array': `const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
    module.exports = value => (typeof value === 'object' && value !== null && Reflect.apply(get, value, [])) || false;`,
};
const patched = {
  name: 'patched',
  setup(build) {
    for (const [path, changes] of Object.entries(patches)) {
      build.onLoad({ filter: new RegExp(`node_modules/${path.replaceAll('/', '\\/').replaceAll('.', '\\.')}$`) }, ({ path: file }) => {
        let contents = readFileSync(file, 'utf8');
        for (const [from, to, count] of changes) {
          const found = contents.split(from).length - 1;
          if (found !== count) throw new Error(`${path} has ${from} ${found} times, and not ${count} times`);
          contents = contents.replaceAll(from, () => to);
        }
        return { contents, loader: 'js' };
      });
    }
  },
};
let current;
// The modules import each other; none is twice in a program.
const linked = {
  name: 'linked',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
    build.onResolve({ filter: /^[a-z_]+\/?$/ }, ({ path, kind, importer }) => {
      const name = path.replace(/\/$/, '');
      if (name === 'qs') return { path: 'querystring', namespace: 'required' };
      if (!(name in names) || name === current || importer.startsWith(`${here}sources/`)) return undefined;
      if (kind === 'require-call') return { path: name, namespace: 'required' };
      return { path: `node:${name}`, external: true, sideEffects: false };
    });
    build.onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({ contents: `import all from 'node:${path}'; module.exports = all;` }));
    build.onResolve({ filter: /./ }, ({ path }) => (Object.hasOwn(native, path) ? { path, namespace: 'native' } : undefined));
    build.onLoad({ filter: /./, namespace: 'native' }, ({ path }) => ({ contents: native[path] }));
  },
};
const options = {
  bundle: true, format: 'esm', platform: 'browser', mainFields: ['module', 'main'], target: 'es2023', charset: 'utf8', legalComments: 'none', write: false, metafile: true,
  minifyWhitespace: true, minifySyntax: true, keepNames: true, absWorkingDir: here, plugins: [patched, linked], inject: [`${here}globals.mjs`], define: { global: 'globalThis' },
  logLevel: 'error',
};

const shown = (member, path) => {
  if (member === null) return `$absent(${JSON.stringify(path)})`;
  if (Array.isArray(member)) return JSON.stringify(member[0]);
  return `{${Object.entries(member).map(([name, inner]) => `${name}:${shown(inner, `${path}.${name}`)}`).join(',')}}`;
};
const missingOf = (name, has) => Object.entries(names[name]).filter(([member]) => !has.has(member) && member !== 'default');
const head = name => `import absent from ${JSON.stringify(ABSENT)};const $absent=absent(${JSON.stringify(name.replace('node:', ''))},"$HELP");`;
const isReserved = word => ['constants', 'default', 'delete', 'export', 'import'].indexOf(word) > 0;
const stubs = (missing, all = '') =>
  missing.filter(([member]) => !isReserved(member)).map(([member, kind]) => `export const ${member}=${all && `${all}.${member}??`}${shown(kind, member)};`).join('');

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const used = new Set();
const table = [];
const texts = pack();
const keep = (name, isGiven, missing, text) => {
  const absent = missing.filter(([, kind]) => kind === null).map(([member]) => JSON.stringify(member));
  table.push(`    Builtin { name: ${JSON.stringify(name.replace('node:', ''))}, needs_prefix: ${name.startsWith('node:')}, is_given: ${isGiven}, absent: &[${absent.join(', ')}], text: ${texts.add(text)} },\n`);
};
for (const name of Object.keys(names)) {
  if (!existsSync(sourceOf(name))) {
    const missing = missingOf(name, new Set()).filter(([member]) => !isReserved(member));
    keep(name, false, missing, `${head(name)}${stubs(missing)}export default{${missing.map(([member]) => member).join(',')}};\n`);
    continue;
  }
  current = name;
  const first = await esbuild.build({ ...options, entryPoints: [sourceOf(name)] });
  const has = new Set(Object.values(first.metafile.outputs)[0].exports);
  const missing = missingOf(name, has);
  const own = [...has].filter(member => member !== 'default').sort();
  const all = [...own, ...missing.map(([member]) => member)];
  const path = JSON.stringify(`./sources/${fileOf(name)}.mjs`);
  const joined = has.has('default')
    ? `import all from ${path};for(const[name,absent]of Object.entries({${missing.map(([member]) => member).join(',')}}))name in all||(all[name]=absent);export default all;`
    : `import{${own.join(',')}}from ${path};export default{${all.join(',')}};`;
  const contents = `${missing.length > 0 ? head(name) : ''}${stubs(missing, has.has('default') ? 'all' : '')}export*from ${path};${joined}`;
  const made = await esbuild.build({ ...options, stdin: { contents, resolveDir: here, sourcefile: 'module.mjs' } });
  for (const input of Object.keys(made.metafile.inputs)) used.add(/node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(input)?.[1]);
  keep(name, true, missing, made.outputFiles[0].text);
}
keep('#absent', true, [], readFileSync(`${here}sources/absent.mjs`, 'utf8'));
texts.write(out);
writeFileSync(`${out}/table.rs`, `[\n${table.join('')}]\n`);

// The licences of everything that went in.
used.delete(undefined);
const licences = [...used].sort().map(name => {
  const folder = [`${here}node_modules/${name}`, `${here}node_modules/url/node_modules/${name}`].find(path => existsSync(path));
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const texts = readdirSync(folder).filter(entry => /^(licen[cs]e|copying)/i.test(entry)).sort();
  const text = texts.map(entry => readFileSync(`${folder}/${entry}`, 'utf8').trim()).join('\n\n') || license;
  return `## ${name} ${version} (${license})\n\n${text.replace(/^/gm, '    ').replace(/ +$/gm, '')}\n`;
});
writeFileSync(`${out}/LICENSES.md`, `# Licences of the modules of Node\n\n${licences.join('\n')}`);
