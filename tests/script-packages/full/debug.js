import debug from "debug";

export default function () {
  const heard = [];
  debug.enable("app:*,-app:quiet");
  const log = debug("app:db");
  log.log = (...values) => heard.push(values.some(value => String(value).includes("hello")));
  log("hello %s %d %j", "é", 4, { a: 1 });
  debug("app:quiet")("never");
  return [log.enabled, debug("app:quiet").enabled, debug("other").enabled, heard, log.extend("x").namespace, debug.disable()];
}
