export default function () { throw new Error("no mapping"); }
