// `node toon.mjs FILE`: the reference implementation of TOON, on lines of `{"value": …, "text": …}`. Each text must read back as its value,
// and be what the reference writes, unless the value has a form that later versions of TOON write in another way. Prints
// `{"values": n, "same": n, "wrong": [line]}`.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { decode, encode } from "@toon-format/toon";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// An empty list, an object of objects, a list of objects that hold objects; and text with a blank at an end: not every one is quoted.
function isNewer(value) {
  if (typeof value === "string") return /^[\p{White_Space}\ufeff]|[\p{White_Space}\ufeff]$/u.test(value);
  if (Array.isArray(value)) {
    const nested = value.length > 0 && value.every((row) => isObject(row) && Object.values(row).some(isObject));
    return value.length === 0 || nested || value.some(isNewer);
  }
  if (!isObject(value)) return false;
  const members = Object.entries(value);
  return (members.length > 0 && members.every(([, member]) => isObject(member))) || members.some(([, member]) => isNewer(member));
}

const lines = readFileSync(process.argv[2], "utf8").trimEnd().split("\n");
const wrong = [];
let same = 0;
for (const line of lines) {
  const { value, text } = JSON.parse(line);
  let read;
  try {
    read = decode(text);
  } catch (error) {
    read = String(error);
  }
  if (!isDeepStrictEqual(read, value)) wrong.push({ value, text, read });
  const reference = encode(value, { delimiter: "|" });
  if (reference === text) same += 1;
  else if (!isNewer(value)) wrong.push({ value, text, reference });
}
console.log(JSON.stringify({ values: lines.length, same, wrong: wrong.slice(0, 5) }));
