// Talks to a server of Upstash's REST API with the vendor's own client: `node upstash.mjs CLIENT URL TOKEN`. Prints what it found, as JSON.
import { pathToFileURL } from "node:url";

const [, , client, url, token] = process.argv;
const { Redis } = await import(pathToFileURL(`${client}/nodejs.mjs`));
const settings = { enableAutoPipelining: false, automaticDeserialization: false, enableTelemetry: false, retry: false };
const redis = new Redis({ url, token, ...settings });
const failure = async (promise) => promise.then(() => "no error", (error) => error.message);

const text = "o'neil; -- \\ \t \r\n 🙂 \u0000 9007199254740993";
const found = {
  set: await redis.set("client", text),
  get: (await redis.get("client")) === text,
  nothing: await redis.get("nothing"),
  ok: [await redis.set("ok", "OK"), await redis.get("ok")],
  type: await redis.type("client"),
  ping: await redis.ping(),
  incr: await redis.incr("n"),
  list: [await redis.rpush("l", "a", "b"), await redis.lrange("l", 0, -1)],
  hash: [await redis.hset("h", { a: "1", b: "2" }), await redis.hgetall("h")],
  score: [await redis.zadd("z", { score: 1.5, member: "m" }), await redis.zscore("z", "m")],
  scan: await redis.sscan("s", 0),
  wrongType: await failure(redis.incr("l")),
  wrongToken: await failure(new Redis({ url, token: `${token}x`, ...settings }).get("client")),
};
console.log(JSON.stringify(found));
