import toml from "toml";

export default function () {
  const error = (() => { try { toml.parse("a = 1\nb = ="); } catch (caught) { return [caught.name, caught.message]; } })();
  return [toml.parse('title = "Ä"\n[owner]\nborn = 1979-05-27T07:32:00Z\n[[p]]\nx = 1.5\n[[p]]\nx = -2\n[a.b]\nl = ["x", "\\u00e9"]\nb = true\nm = """\none\ntwo"""'), error];
}
