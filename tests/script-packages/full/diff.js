import { applyPatch, createTwoFilesPatch, diffChars, diffJson, diffLines, diffWords, parsePatch } from "diff";

export default function () {
  const [before, after] = ["one\ntwo\nthree\n", "one\n2\nthree\nfoür\n"];
  const patch = createTwoFilesPatch("a.txt", "b.txt", before, after, "old", "new");
  const short = parts => parts.map(part => (part.added ? "+" : part.removed ? "-" : " ") + part.value);
  return [patch, applyPatch(before, patch), short(diffChars("kitten", "sitting")), short(diffWords("a fast fox", "a slow fox, é")), short(diffLines(before, after)), short(diffJson({ a: 1, b: 2 }, { b: 2, a: 3 })), parsePatch(patch)[0].hunks.length];
}
