import * as pako from "pako";

export default function () {
  const text = "hellö ".repeat(20);
  const packed = pako.deflate(text);
  const caught = (() => { try { pako.inflate(new Uint8Array([1, 2, 3])); } catch (error) { return String(error); } })();
  const stream = new pako.Inflate({ to: "string" });
  stream.push(packed.subarray(0, 10), false);
  stream.push(packed.subarray(10), true);
  return [pako.inflate(packed, { to: "string" }) === text, [...packed], pako.ungzip(pako.gzip(text), { to: "string" }).length, stream.result === text, caught, [...pako.inflateRaw(pako.deflateRaw("x"))]];
}
