// Judges the prose of pages: `node prose.mjs FILE…`. Prints what is to be written anew, and fails if that is anything; with `--scores`, prints
// how each page reads. MILLRACE_JUDGES is the folder of `tests/site/package.json`, installed.
//
// The style is `textlint.json`, which textlint reads. How easy a page reads is Flesch's measure: sentences are those of `sentence-splitter`,
// syllables those of `syllable`, and the formula is that of `flesch`. Tables, headings and blocks of code are no prose; a name in code is one
// word of one syllable, because nobody spells it.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.env.MILLRACE_JUDGES, "judges.js"));
const { parse } = require("@textlint/markdown-to-ast");
const { split } = require("sentence-splitter");
const { syllable } = require("syllable");
const { flesch } = require("flesch");

// Flesch's measure of plain English is 60 and more; newspapers have about 50.
const EASE = 50;
const MEDIAN = 17;
const LONGEST = 40;

const text = (node) => {
  if (node.type === "Str") return node.value;
  if (node.type === "Code") return "code";
  if (node.type === "Break") return " ";
  if (["Image", "Html", "HtmlBlock"].includes(node.type)) return "";
  return (node.children ?? []).map(text).join("");
};

function paragraphs(node, found = []) {
  if (node.type === "Paragraph") found.push({ line: node.loc.start.line, said: text(node).replace(/\s+/g, " ").trim() });
  else if (!["Table", "Header", "CodeBlock"].includes(node.type)) (node.children ?? []).forEach((child) => paragraphs(child, found));
  return found;
}

function sentences(file) {
  const found = [];
  for (const { line, said } of paragraphs(parse(readFileSync(file, "utf8")))) {
    for (const { type, raw } of split(said)) {
      const words = raw.match(/[\p{L}\p{N}][\p{L}\p{N}'’.,:/-]*/gu) ?? [];
      if (type === "Sentence" && words.length > 0) found.push({ line, raw, words });
    }
  }
  return found;
}

function score(file) {
  const all = sentences(file);
  const words = all.flatMap((sentence) => sentence.words);
  const syllables = words.reduce((sum, word) => sum + Math.max(1, syllable(word)), 0);
  const lengths = all.map((sentence) => sentence.words.length).sort((one, other) => one - other);
  const ease = flesch({ sentence: all.length, word: words.length, syllable: syllables });
  return { all, ease, median: lengths[lengths.length >> 1], longest: lengths.at(-1), words: words.length };
}

function reads(file) {
  const { all, ease, median } = score(file);
  const long = all.filter((sentence) => sentence.words.length > LONGEST);
  return [
    ...(ease < EASE ? [`${file}: reads with an ease of ${ease.toFixed(1)}; ${EASE} is the least`] : []),
    ...(median > MEDIAN ? [`${file}: half of the sentences have ${median} words or more; ${MEDIAN} is the most`] : []),
    ...long.map(({ line, words, raw }) => `${file}:${line}: a sentence has ${words.length} words, and ${LONGEST} is the most: ${raw}`),
  ];
}

async function style(files) {
  const { createLinter, loadTextlintrc } = require("textlint");
  const descriptor = await loadTextlintrc({ configFilePath: join(import.meta.dirname, "textlint.json"), node_modulesDir: join(process.env.MILLRACE_JUDGES, "node_modules") });
  const results = await createLinter({ descriptor }).lintFiles(files);
  return results.flatMap(({ filePath, messages }) => messages.map(({ line, ruleId, message }) => `${filePath}:${line}: ${ruleId}: ${message}`));
}

const files = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
if (process.argv.includes("--scores")) {
  const rows = files.map((file) => ({ file, ...score(file) })).sort((one, other) => one.ease - other.ease);
  for (const { file, ease, median, longest, words } of rows)
    console.log(`${ease.toFixed(1).padStart(5)}  median ${median}  longest ${longest}  words ${words}  ${file}`);
} else {
  const found = [...files.flatMap(reads), ...(await style(files))];
  for (const one of found) console.log(one);
  process.exit(found.length > 0 ? 1 : 0);
}
