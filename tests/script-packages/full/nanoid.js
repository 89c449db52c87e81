import { customAlphabet, customRandom, nanoid, urlAlphabet } from "nanoid";

export default function () {
  const fixed = customRandom("abcdef", 10, size => new Uint8Array(size).map((_, i) => i * 37));
  return [nanoid().length, nanoid(7).length, /^[\w-]{21}$/.test(nanoid()), nanoid() !== nanoid(), /^[01]{12}$/.test(customAlphabet("01", 12)()), fixed(), urlAlphabet.length];
}
