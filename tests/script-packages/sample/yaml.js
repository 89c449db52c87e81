import { Document, parse, parseAllDocuments, parseDocument, stringify, YAMLParseError } from "yaml";

export default function () {
  const document = parseDocument("# head\na: 1 # one\nb: [x, &n y, *n]\n");
  document.setIn(["c", "d"], ["é", 2n, new Date(0)]);
  const error = (() => { try { parse("a: [1\nb: 2"); } catch (caught) { return [caught instanceof YAMLParseError, caught.code, caught.linePos, caught.message]; } })();
  return [
    parse("a: 0x1F\nb: |-\n  líne\n  two\nc: {d: ~, e: 'it''s'}\nf: 2024-02-29\n? g h\n: >\n  folded\n  text\n"), String(document), stringify({ n: null, s: "yes", m: "a\nb\n", long: "word ".repeat(30), nested: { l: [{ a: 1 }, []] } }), parseAllDocuments("a: 1\n---\nb: 2\n").map(d => d.toJS()),
    error, parse("big: 12345678901234567890", { intAsBigInt: true }).big.toString(), String(new Document([1, "x"])), parse("<<: {a: 1}\nb: 2", { merge: true }),
  ];
}
