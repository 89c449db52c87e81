import { listRoots, requireInput } from "millrace";

export default function (_, ctx) {
  if (!ctx.request.capabilities.includes("roots")) return { guessed: true, can: ctx.request.capabilities };
  return requireInput({ roots: listRoots() }).roots;
}
