import { parse, stringify, TomlDate, TomlError } from "smol-toml";

export default function () {
  const parsed = parse('title = "Ä \\u00e9"\nbig = 9007199254740991\n[owner]\nborn = 1979-05-27T07:32:00Z\nday = 2024-02-29\n[[points]]\nx = 1.5\n[[points]]\nx = -2\n[a."b c"]\nl = [[1, 2], ["x"]]\nm = """\none\\\n  two"""');
  const error = (() => { try { parse("a = 1\nb = [1, 2"); } catch (caught) { return [caught instanceof TomlError, caught.line, caught.message.split("\n")[0]]; } })();
  return [parsed, stringify({ a: 1, t: { x: [1.5, "é"], d: new Date(0) }, l: [{ n: 1 }, { n: 2 }] }), error, parsed.owner.day instanceof TomlDate, parsed.owner.day.isDate()];
}
