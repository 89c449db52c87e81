import EventEmitter from "eventemitter3";

export default function () {
  const emitter = new EventEmitter();
  const heard = [];
  emitter.on("a", (...values) => heard.push(["on", ...values]));
  emitter.once("a", function (value) { heard.push(["once", value, this.tag]); }, { tag: "é" });
  const symbol = Symbol("s");
  emitter.on(symbol, () => heard.push("symbol"));
  return [emitter.emit("a", 1, 2), emitter.emit("a", 3), emitter.emit("none"), emitter.emit(symbol), heard, emitter.listenerCount("a"), emitter.eventNames().length, emitter.removeAllListeners("a").listenerCount("a")];
}
