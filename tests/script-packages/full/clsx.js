import clsx from "clsx";

export default function () {
  return [clsx("a", { b: 1, c: 0, "é-x": true }, ["d", [null, { e: () => {} }]], undefined, 5, NaN), clsx(), clsx([[]]), clsx(true && "x", false && "y")];
}
