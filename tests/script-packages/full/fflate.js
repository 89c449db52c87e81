import { compressSync, decompressSync, gzipSync, strFromU8, strToU8, unzipSync, unzlibSync, zipSync, zlibSync, Unzip, UnzipInflate } from "fflate";

export default function () {
  const text = strToU8("hellö ".repeat(20));
  const zip = zipSync({ "a.txt": [text, { mtime: "1/1/2000" }], dir: { "ü.bin": [new Uint8Array([1, 2]), { level: 0, mtime: "1/1/2000" }] } });
  const names = [];
  const unzip = new Unzip(file => names.push(file.name));
  unzip.register(UnzipInflate);
  unzip.push(zip, true);
  const caught = (() => { try { unzlibSync(new Uint8Array([1, 2, 3])); } catch (error) { return [error.code, error.message]; } })();
  return [strFromU8(unzlibSync(zlibSync(text))).length, Object.keys(unzipSync(zip)), zip.length, names, [...compressSync(text, { mtime: 0 })].length, strFromU8(decompressSync(gzipSync(text))) === strFromU8(text), caught];
}
