import mime, { Mime } from "mime";

export default function () {
  const own = new Mime({ "text/x-é": ["éx", "e2"] });
  const caught = (() => { try { own.define({ "text/y": ["e2"] }); } catch (error) { return error.constructor.name; } })();
  return [["a.json", "dir/b.tar.gz", "UPPER.TXT", "noext", ".md", "c.woff2"].map(name => mime.getType(name)), mime.getExtension("text/html; charset=utf8"), [...mime.getAllExtensions("image/jpeg")], own.getType("x.E2"), caught];
}
