import { createId, getConstants, init, isCuid } from "@paralleldrive/cuid2";

export default function () {
  const short = init({ length: 10, random: () => 0.5 });
  return [createId().length, isCuid(createId()), isCuid("X!"), short().length, createId() !== createId(), /^[a-z][0-9a-z]+$/.test(createId()), getConstants().defaultLength];
}
