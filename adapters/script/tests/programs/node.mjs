// Runs the programs of this folder in Node, and those that generate.mjs makes: prints `[{ name, source, result }]`. The files are lists of
// bodies of async functions, each below a line `// # NAME`, or of whole modules, below `// ## NAME`.
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { generate } from './generate.mjs';
import show from './show.js';

process.removeAllListeners('warning').on('warning', () => {});
const here = new URL('.', import.meta.url);
const programs = [];
for (const file of readdirSync(here).filter(name => /^list-.*\.[jt]s$/.test(name)).sort()) {
  const parts = readFileSync(new URL(file, here), 'utf8').split(/^(\/\/ ##? .*)$/m).slice(1);
  for (let at = 0; at < parts.length; at += 2) {
    const [, marks, name] = /^\/\/ (##?) (.*)$/.exec(parts[at]);
    const source = marks === '##' ? parts[at + 1] : `export default async () => {${parts[at + 1]}};\n`;
    programs.push({ name: `${file.slice(5, -3)}/${name}`, isTyped: file.endsWith('.ts'), source });
  }
}
programs.push(...generate());
const names = new Set(programs.map(({ name }) => name));
if (names.size < programs.length) throw new Error('two programs have the same name');

for (const program of programs) {
  try {
    const plain = program.isTyped ? stripTypeScriptTypes(program.source, { mode: 'transform' }) : program.source;
    const { default: run } = await import(`data:text/javascript,${encodeURIComponent(plain)}`);
    program.result = show(await run());
  } catch (error) {
    program.result = `throws ${show(error)}`;
  }
}
process.stdout.write(JSON.stringify(programs));
