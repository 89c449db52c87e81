import { customAlphabet, nanoid } from "nanoid-latest";

export default function () {
  return [nanoid().length, nanoid(7).length, customAlphabet("a", 5)(), nanoid() !== nanoid()];
}
