import { Buffer } from "buffer/index.js";

export default function () {
  const bytes = Buffer.from("Grüße 👋");
  return [bytes.toString("base64"), Buffer.from("aGk=", "base64").toString(), bytes.length, bytes.slice(0, 3).toString("hex"), Buffer.concat([Buffer.from([1]), Buffer.alloc(2)]).readUInt16BE(0), bytes.equals(Buffer.from("Grüße 👋")), Buffer.byteLength("é"), bytes.indexOf("e"), JSON.stringify(Buffer.from("a")), Buffer.from("ÿ", "latin1")[0], Buffer.isBuffer(bytes)];
}
