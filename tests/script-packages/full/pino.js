import pino from "pino";

export default function () {
  const quiet = pino({ level: "silent", name: "é" });
  quiet.info({ a: 1 }, "not said");
  return [typeof quiet.info, quiet.level, quiet.isLevelEnabled("error"), pino.levels.values.warn, typeof quiet.child({ b: 2 }).error];
}
