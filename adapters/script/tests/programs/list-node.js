// ## buffer
import { Buffer } from 'node:buffer';
export default () => [
    () => Buffer.from("aGk","base64url").toString(),
    () => Buffer.from([1,2,250]).toString("base64url"),
    () => Buffer.from("héé€😀").toString("latin1"),
    () => Buffer.from("héé€😀").toString("hex"),
    () => Buffer.from("zz","hex").length,
    () => Buffer.from("a€").slice(0,3).toString(),
    () => [...Buffer.from([255,254,65])].join()+Buffer.from([255,254,65]).toString(),
    () => Buffer.concat([Buffer.from("a"),Buffer.from("b")]).toString(),
    () => Buffer.byteLength("€","utf8")+Buffer.byteLength("aGk=","base64")+Buffer.byteLength("aGk","base64url"),
    () => Buffer.alloc(5,"ab").toString(),
    () => Buffer.compare(Buffer.from("a"),Buffer.from("b")),
    () => Buffer.from("abc").equals(Buffer.from("abc")),
    () => Buffer.from("abcabc").indexOf("ca"),
    () => Buffer.from("abcabc").lastIndexOf("bc"),
    () => Buffer.from("abc").includes("z"),
    () => JSON.stringify(Buffer.from("hi")),
    () => Buffer.from("0102","hex").readUInt16BE(0),
    () => (()=>{const b=Buffer.alloc(8);b.writeDoubleLE(1.5);return [...b]})(),
    () => (()=>{const b=Buffer.alloc(8);b.writeBigInt64BE(-5n);return b.readBigInt64BE()})(),
    () => Buffer.from(new Uint16Array([1,256])),
    () => Buffer.from("abc").subarray(1).toString(),
    () => Buffer.from("abc").write("€€",1),
    () => (()=>{const b=Buffer.alloc(4);const n=b.write("€€",0);return [n,b.toString("hex")]})(),
    () => Buffer.from("YWJj").toString("utf16le"),
    () => Buffer.from("ab","utf16le").toString("hex"),
    () => Buffer.from("abc").fill("x").toString(),
    () => Buffer.from("\uFEFFa").toString().length,
    () => Buffer.from("abc").map(x=>x+1).toString(),
    () => Buffer.from("abc").toString("ascii",1,2),
    () => Buffer.from("a b+/_-=","base64").toString("hex"),
    () => Buffer.from([1,2,3]).readUIntBE(0,3),
    () => Buffer.from("ÿ","binary")[0],
    () => Buffer.from("abc") instanceof Uint8Array,
    () => Buffer.from("test").toLocaleString(),
    () => Buffer.from("abcdef").copy(Buffer.alloc(3),0,1),
    () => Buffer.from("a").toString("base64"),
    () => Buffer.from("abc").at(-1),
    () => Buffer.from(new ArrayBuffer(4),1,2).length,
    () => Buffer.of(1,2).length,
    () => Buffer.from("abc").slice(-2).toString(),
    () => Buffer.from("00ff","hex").toString("hex",1),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## util
import util from 'util';
export default () => [
    () => util.format("%s %d %i %j %o %%","a",1.5,2.7,{a:1},[1],"x"),
    () => util.inspect(new Set([1])),
    () => util.inspect(new (class Foo{a=1})()),
    () => util.inspect("x".repeat(200)),
    () => util.inspect([..."a".repeat(120)]),
    () => util.isDeepStrictEqual({a:[1]},{a:[1]}),
    () => util.types.isRegExp(/x/)+util.types.isDate(new Date())+util.types.isPromise(Promise.resolve())+util.types.isUint8Array(new Uint8Array()),
    () => util.types.isMap(new Map()),
    () => util.inspect(Object.create(null)),
    () => util.inspect({a:{b:{c:{d:1}}}}),
    () => util.inspect({a:{b:{c:{d:1}}}},{depth:0}),
    () => util.inspect(new Proxy({},{})),
    () => util.inspect(12345678901n),
    () => util.inspect(-0),
    () => util.inspect(Symbol("x")),
    () => util.inspect(new Uint8Array(3)),
    () => util.inspect([,1]),
    () => util.format("a",{b:1}),
    () => util.stripVTControlCharacters("\u001b[31mx\u001b[39m"),
    () => util.types.isGeneratorFunction(function*(){}),
    () => util.types.isAsyncFunction(async()=>{}),
    () => util.types.isArgumentsObject((function(){return arguments})()),
    () => util.inspect(()=>{}),
    () => util.toUSVString("\ud800"),
    () => util.inspect({get a(){return 1}}),
    () => util.inspect("a\nb"),
    () => util.isArray([]),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## assert
import assert from 'node:assert';
export default () => [
    () => assert.equal(1,2),
    () => assert.strictEqual(1,2),
    () => assert.deepStrictEqual({a:1},{a:2}),
    () => assert.ok(false,"m"),
    () => assert.throws(()=>{throw new TypeError("x")},TypeError),
    () => assert.throws(()=>{}),
    () => assert.deepEqual([1,"2"],[1,2]),
    () => assert.notStrictEqual(1,1),
    () => assert.match("a",/b/),
    () => assert.strict.equal(1,"1"),
    () => assert.fail(),
    () => assert.fail("m"),
    () => assert.ifError(null),
    () => assert.doesNotThrow(()=>1),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## querystring
import * as qs from 'querystring';
export default () => [
    () => qs.parse("a=1&b=2&a=3&c&d=%20+"),
    () => qs.stringify({a:[1,2],b:"x y",c:true,d:null,e:""}),
    () => qs.escape("a b'()!*"),
    () => qs.unescape("%zz%41"),
    () => qs.parse("a:1;b:2",";",":"),
    () => qs.stringify({a:NaN,b:1n}),
    () => qs.parse("a=%FF"),
    () => qs.parse(""),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## url
import url from 'node:url';
export default () => [
    () => url.parse("http://u:p@host.com:8080/p/a?q=1#h"),
    () => url.parse("/a?b=c",true).query,
    () => url.format({protocol:"http",host:"a.com",pathname:"/x",query:{a:1}}),
    () => url.resolve("http://a.com/b/c","../d"),
    () => url.fileURLToPath("file:///a%20b/c"),
    () => url.pathToFileURL("/a b/c#").href,
    () => url.domainToASCII("español.com"),
    () => url.urlToHttpOptions(new URL("http://u:p@a.com:81/x?y")).auth,
    () => url.format(new URL("http://a.com/x?y#z"),{fragment:false}),
    () => url.parse("//host/x",false,true).host,
    () => url.parse("javascript:alert(1)").href,
    () => url.domainToUnicode("xn--espaol-zwa.com"),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## path
import path from 'path';
export default () => [
    () => path.join("/a","..","b","./c"),
    () => path.resolve("/a","b","../c"),
    () => path.basename("/x/y.txt",".txt"),
    () => path.parse("/home/u/f.txt"),
    () => path.relative("/a/b","/a/c/d"),
    () => path.extname(".x"),
    () => path.normalize("a//b/../c/"),
    () => path.isAbsolute("a"),
    () => path.sep+path.delimiter,
    () => path.posix.join("a","b"),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## crypto
import crypto from 'crypto';
export default () => [
    () => ["md5","sha1","sha224","sha256","sha384","sha512","sha512-256","ripemd160","sha3-256","blake2b512","RSA-SHA256","SHA256"].map(a=>crypto.createHash(a).update("abc").digest("hex")),
    () => crypto.createHmac("sha256","k").update("abc").update(Buffer.from("d")).digest("base64"),
    () => crypto.createHash("sha256").update("é","latin1").digest("base64url"),
    () => crypto.timingSafeEqual(Buffer.from("a"),Buffer.from("a")),
    () => crypto.timingSafeEqual(Buffer.from("a"),Buffer.from("ab")),
    () => crypto.pbkdf2Sync("p","s",10,20,"sha256").toString("hex"),
    () => Buffer.from(crypto.hkdfSync("sha256","k","s","i",16)).toString("hex"),
    () => (()=>{const h=crypto.createHash("sha1");h.digest();h.update("x")})(),
    () => crypto.randomBytes(5).length,
    () => crypto.randomUUID().length,
    () => crypto.createSecretKey(Buffer.from("k")).type,
    () => crypto.createHash("sha1").update("a").copy().update("b").digest("hex"),
    () => crypto.createHmac("sha1",crypto.createSecretKey(Buffer.from("k"))).update("x").digest("hex"),
    () => crypto.randomInt(5)<5,
    () => crypto.createHash("sha256").update("x").digest().toString("hex"),
  ].map(each => { try { return each() ?? null } catch (e) { return [e.name, e.code, String(e.message).split('\n')[0]] } });
// ## buffer-without-import
export default () => [Buffer.from('hi').toString('base64'), Buffer.isBuffer(new Uint8Array(1)), Buffer.from('a') instanceof Uint8Array];
// ## events
import EventEmitter, { once, on, errorMonitor, getEventListeners } from 'node:events';
import { EventEmitter as Same } from 'events';
class Mine extends EventEmitter {}
export default async () => {
  const log = [];
  const mine = new Mine();
  mine.on('x', v => log.push(['on', v]));
  mine.prependListener('x', v => log.push(['first', v]));
  mine.once('x', v => log.push(['once', v]));
  log.push(mine.emit('x', 1), mine.emit('x', 2), mine.emit('y'), mine.listenerCount('x'), mine.eventNames());
  mine.on(errorMonitor, e => log.push(['monitor', e.message]));
  try { mine.emit('error', new Error('bad')) } catch (e) { log.push(e.message) }
  queueMicrotask(() => mine.emit('z', 5, 6));
  log.push(await once(mine, 'z'), getEventListeners(mine, 'x').length, Same === EventEmitter);
  setTimeout(() => { mine.emit('n', 1); mine.emit('n', 2) }, 1);
  for await (const [v] of on(mine, 'n')) { log.push(v); if (v === 2) break }
  return log;
};
// ## string-decoder
import { StringDecoder } from 'node:string_decoder';
export default () => {
  const d = new StringDecoder('utf8'), b = new StringDecoder('base64');
  return [d.write(Buffer.from([0xe2, 0x82])), d.write(Buffer.from([0xac])), d.end(Buffer.from([0xe2])), b.write(Buffer.from('ab')), b.end()];
};
// ## timers
import { setTimeout as wait, setImmediate as soon } from 'node:timers/promises';
import { promisify, callbackify } from 'node:util';
export default async () => {
  const log = [];
  process.nextTick(v => log.push(v), 'tick');
  log.push(await wait(1, 'waited'), await soon('soon'), await promisify((a, done) => done(null, a + 1))(1));
  await new Promise(done => callbackify(async () => 7)((e, v) => { log.push(e, v); done() }));
  return log;
};
// ## streams
import { Readable, Transform, pipeline } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
export default async () => {
  const log = [];
  for await (const chunk of Readable.from(['a', 'b'])) log.push(chunk);
  const upper = new Transform({ transform(chunk, _, done) { done(null, String(chunk).toUpperCase()) } });
  const parts = [];
  await piped(Readable.from(['x', 'y']), upper, async function (source) { for await (const c of source) parts.push(String(c)) });
  return [log, parts, typeof pipeline];
};
// ## punycode-and-types
import types from 'node:util/types';
export default () => [types.isDate(new Date()), types.isMap(new Set())];
// ## machine
import os from 'node:os';
import { isatty } from 'tty';
import { isMap, isRegExp } from 'util/types';
export default () => [os.EOL, os.platform(), os.type(), os.endianness(), typeof os.hostname(), typeof os.cpus().length, isatty(999), isMap(new Map()), isRegExp({})];
// ## names-of-classes
import assert from 'node:assert';
import { EventEmitter } from 'node:events';
import stream from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
export default () => [Buffer, EventEmitter, stream, stream.Readable, stream.Transform, stream.PassThrough, StringDecoder, assert.AssertionError].map(made => made.name);
// ## errors-inspected
import { format, inspect } from 'node:util';
const first = text => text.split('\n')[0];
class Odd extends TypeError { name = 'Odd' }
export default () => [new Error('a'), new TypeError('b'), new RangeError(''), new Odd('c')].map(error => first(inspect(error)).replace(/^Odd: c.*/, 'Odd: c'))
  .concat(first(format('%s', new Error('d'))), first(format('failed:', new Error('e'))));
// ## promisified-timers
import { promisify } from 'node:util';
export default async () => [await promisify(setTimeout)(1, 'v'), await promisify(setImmediate)('w')];
// ## variables-deleted
export default () => {
  process.env.ADDED = 1;
  const before = [process.env.ADDED, 'ADDED' in process.env];
  return [...before, delete process.env.ADDED, process.env.ADDED, 'ADDED' in process.env, delete process.env.NONE];
};
