import * as yaml from "js-yaml";

export default function () {
  const text = "a: &x [1, 2.5, 0x1F, .inf]\nb: *x\nc: |\n  líne\n  two\nd: 2024-02-29\ne: !!str 5\nf: ~\n? g h\n: {i: yes, j: 'it''s'}\n";
  const error = (() => { try { yaml.load("a: [1, 2\nb: }"); } catch (caught) { return [caught.name, caught.reason, caught.mark?.line]; } })();
  const { a, b, ...rest } = yaml.load(text);
  return [a.map(String), a === b, rest, yaml.dump({ z: [1, { y: "a: b" }], multi: "one\ntwo\n", date: new Date(0), long: "x ".repeat(60), n: null, s: "012" }, { sortKeys: true, lineWidth: 40 }), error];
}
