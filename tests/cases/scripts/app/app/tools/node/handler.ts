import { createHash, createHmac } from "node:crypto";
import EventEmitter from "events";
import { join } from "path";
import * as querystring from "node:querystring";
import { inspect } from "node:util";

export default function (_: unknown, ctx: any) {
  const emitter = new EventEmitter();
  const heard: number[] = [];
  emitter.on("said", (value: number) => heard.push(value));
  emitter.emit("said", 1);
  return {
    buffer: Buffer.from("aGVsbG8", "base64url").toString("hex"),
    hash: createHash("sha256").update("abc").digest("hex").slice(0, 8),
    hmac: createHmac("sha1", "k").update("abc").digest("base64"),
    heard,
    path: join("/a", "../b"),
    query: querystring.parse("a=1&a=2"),
    inspected: inspect({ a: [1], m: new Map([["k", 1]]) }),
    env: [process.env.SHOWN, process.env.HIDDEN === undefined, process.env.NOT_SET === undefined, Object.keys(process.env)],
  };
}
