//! Hostile scripts: each tries to leave something behind; the probe that follows must see a
//! pristine world.

use millrace_core::ports::Returned;
use serde_json::{Value as Json, json};

use crate::support::{Setup, block_on, program};

/// Looks at everything a predecessor could have left. Returns what it found.
const PROBE: &str = r#"() => {
  const found = [];
  const check = (name, fine) => { let ok = false; try { ok = fine() } catch (e) { ok = false; name += ': ' + e } if (!ok) found.push(name) };
  const pristine = (name, object, count) => check(name, () => Reflect.ownKeys(object).length === count);
  check('globals', () => !Reflect.ownKeys(globalThis).some(k => String(k).includes('evil')));
  check('evil', () => typeof evil === 'undefined' && typeof evil2 === 'undefined');
  for (const [name, object] of Object.entries({ Object, Array, String, Number, Boolean, Symbol, Date, RegExp, Promise, Map, Set, WeakMap,
      WeakSet, Error, TypeError, Function, URL, Headers, Response, AbortController, TextEncoder, ArrayBuffer, Uint8Array, Iterator, Proxy })) {
    check(name + ' keys', () => !Reflect.ownKeys(object).some(k => String(k).includes('evil')));
    if (object.prototype) check(name + '.prototype keys', () => !Reflect.ownKeys(object.prototype).some(k => String(k).includes('evil') || k === '0'));
  }
  for (const [name, object] of Object.entries({ Math, JSON, Reflect, console, crypto })) {
    check(name, () => !Reflect.ownKeys(object).some(k => String(k).includes('evil')));
  }
  check('plain object', () => { for (const k in {}) return false; return ({}).evil === undefined && ({}).toString() === '[object Object]' });
  check('array', () => [].evil === undefined && [][0] === undefined && [1, 2].map(x => x * 2).join() === '2,4' && [].length === 0);
  check('push', () => { const a = []; a.push(1); return a.length === 1 && a[0] === 1 });
  check('iteration', () => [...[1, 2], ...'ab', ...new Set([3])].length === 5);
  check('function', () => (() => 1).evil === undefined && (function () { return this }).call(5) === 5);
  check('generator', () => { function* g() { yield 1 } return g().evil === undefined && g().next().value === 1 });
  check('string', () => 'x'.evil === undefined && ' x '.trim() === 'x' && 'a-b'.split('-').length === 2);
  check('number', () => (5).evil === undefined && Number.prototype.toString.call(255, 16) === 'ff');
  check('regexp', () => { const r = /a/g; return r.lastIndex === 0 && r.test('a') && r.evil === undefined });
  check('date', () => new Date(0).getTime() === 0 && new Date(0).toISOString() === '1970-01-01T00:00:00.000Z');
  check('json', () => JSON.stringify({ a: 1 }) === '{"a":1}' && JSON.parse('[1]')[0] === 1);
  check('math', () => Math.max(1, 2) === 2 && Math.random() < 1 && Math.random() >= 0);
  check('error', () => new Error('m').message === 'm' && new Error('m').evil === undefined && new TypeError('t').name === 'TypeError');
  check('extensible', () => [globalThis, Object.prototype, Array.prototype, Function.prototype, Promise, Map.prototype].every(Object.isExtensible));
  check('prototypes', () => Object.getPrototypeOf(Object.prototype) === null && Object.getPrototypeOf(Array.prototype) === Object.prototype
    && Object.getPrototypeOf(globalThis) === Object.prototype && Object.getPrototypeOf(TypeError) === Error);
  check('order', () => Reflect.ownKeys(Boolean.prototype).join() === 'constructor,toString,valueOf'
    || Reflect.ownKeys(Boolean.prototype).length === 3);
  check('then', () => typeof Promise.prototype.then === 'function' && Promise.prototype.then.name === 'then');
  check('symbols', () => Symbol.iterator in [] && Object.getOwnPropertySymbols(Object.prototype).length === 0);
  check('fetch', () => fetch.name === 'fetch' && fetch.evil === undefined);
  check('undefined', () => undefined === void 0 && NaN !== NaN);
  check('private', () => { class C { #evil; static has(o) { return #evil in o } }
    return ![Array.prototype, Object.prototype, globalThis, Math, fetch, host].some(o => C.has(o)) });
  check('host', () => Object.isFrozen(host) && Object.keys(host).join() === 'success,error,required,toolError,anonymous,requireInput,response,elicit,sample,listRoots,code,echarts,json,list,markdown,mermaid,summary,table');
  check('inner functions', () => { const map = Array.prototype.map; let seen; Array.prototype.map = function (f) { seen = f; return [] };
    console.log(1); Array.prototype.map = map; return seen === undefined });
  check('inner expressions', () => { const test = RegExp.prototype.test; let seen; RegExp.prototype.test = function (text) { seen ??= this; return test.call(this, text) };
    new Headers({ a: '1' }); RegExp.prototype.test = test; return seen.evil === undefined && seen.lastIndex === 0 });
  check('template', () => { const t = (s => s)`a${1}b`; return t.evil === undefined && Object.isFrozen(t) });
  return found;
}"#;

/// Each is the body of the hostile handler. `host` and `ctx` are in scope; `leak` is a module
/// variable.
const HOSTILE: &[&str] = &[
    // Globals
    "globalThis.evil = 1",
    "Object.defineProperty(globalThis, 'evil', { get() { throw 1 }, configurable: true })",
    "Object.defineProperty(globalThis, 'evil', { value: 1 })",
    "Object.defineProperty(globalThis, 'evil', { get() { while (true); }, enumerable: true })",
    "globalThis[Symbol('evil')] = 1",
    "globalThis[0] = 'evil'; globalThis[4294967294] = 'evil'",
    "globalThis.Array = class evil {}",
    "globalThis.Object = null; globalThis.Function = null",
    "delete globalThis.Map",
    "delete globalThis.fetch; globalThis.fetch = () => 'evil'",
    "globalThis.fetch = new Proxy(fetch, { apply: () => 'evil', get: () => 'evil' })",
    "Object.setPrototypeOf(globalThis, { evil: 1 })",
    "Object.setPrototypeOf(globalThis, new Proxy({}, { get() { return 'evil' }, has() { return true } }))",
    "Object.freeze(globalThis)",
    "Object.preventExtensions(globalThis)",
    "for (const k of Reflect.ownKeys(globalThis)) try { delete globalThis[k] } catch {}",
    "globalThis.globalThis = { evil: 1 }",
    "globalThis.console = { log() {} }; console.evil = 1",
    "console.evil = 1; console.log = () => {}",
    // Prototypes
    "Array.prototype.evil = 1",
    "Array.prototype[0] = 'evil'",
    "Array.prototype.length = 7",
    "Array.prototype.map = () => 'evil'",
    "Array.prototype.push = function () { return 'evil' }",
    "Array.prototype[Symbol.iterator] = function* () { yield 'evil' }",
    "Object.prototype.evil = 1",
    "Object.prototype.toString = () => 'evil'",
    "Object.prototype.toJSON = () => 'evil'",
    "Object.prototype.then = function (r) { r('evil') }",
    "Object.defineProperty(Object.prototype, 'evil', { get() { return 1 }, set() { throw 1 }, configurable: false })",
    "Object.prototype.__proto__ = null; Object.prototype.get = 1; Object.prototype.writable = false",
    "delete Object.prototype.hasOwnProperty",
    "delete Boolean.prototype.toString; Boolean.prototype.toString = Boolean.prototype.valueOf",
    "Object.freeze(Object.prototype); Object.freeze(Array.prototype)",
    "Object.setPrototypeOf(Array.prototype, { evil: 1 })",
    "Object.setPrototypeOf(Function.prototype, { evil: 1 })",
    "Function.prototype.call = () => 'evil'; Function.prototype.evil = 1",
    "String.prototype.trim = () => 'evil'; String.prototype.evil = 1",
    "Number.prototype.toString = () => 'evil'; Number.prototype.evil = 1",
    "RegExp.prototype.exec = () => null; RegExp.prototype.evil = 1; Object.defineProperty(RegExp.prototype, 'flags', { get: () => 'evil' })",
    "Date.prototype.getTime = () => 'evil'; Date.now = () => 'evil'",
    "Error.prototype.evil = 1; Error.prototype.name = 'evil'; TypeError.prototype.name = 'evil'",
    "Error.prepareStackTrace = () => 'evil'; Error.stackTraceLimit = 0; Error.evil = 1",
    "Promise.prototype.then = () => 'evil'",
    "Promise.prototype.then.evil = 1",
    "Promise.resolve = () => 'evil'; Promise.evil = 1",
    "Object.defineProperty(Promise, Symbol.species, { get: () => class evil {} })",
    "Object.defineProperty(Array, Symbol.species, { value: class evil {} })",
    "Map.prototype.get = () => 'evil'; Set.prototype.evil = 1",
    "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true })",
    "Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())).evil = 1",
    "Object.getPrototypeOf(function* () {}).prototype.evil = 1",
    "Object.getPrototypeOf((function* () {})()).next = () => 'evil'",
    "Object.getPrototypeOf(async () => {}).evil = 1",
    "Object.getPrototypeOf(async function* () {}).prototype.evil = 1",
    "Object.getPrototypeOf(Uint8Array).evil = 1; Uint8Array.prototype.evil = 1",
    "Math.max = () => 'evil'; Math.random = () => 7; JSON.stringify = () => 'evil'; Reflect.evil = 1",
    "JSON.parse.evil = 1",
    "Object.defineProperty(Array.prototype.map, 'name', { value: 'evil' })",
    "URL.prototype.evil = 1; Headers.prototype.get = () => 'evil'; Response.evil = 1",
    "crypto.evil = 1; crypto.randomUUID = () => 'evil'",
    "crypto.subtle.digest = () => 'evil'",
    "Array.prototype.map = function (f) { f.evil = 1; return [] }; console.log(1)",
    "RegExp.prototype.test = function () { this.evil = 1; this.lastIndex = 3; return true }; new Headers({ a: '1' })",
    // What crosses the border
    "host.evil = 1",
    "host.success = () => 'evil'",
    "ctx.evil = 1",
    "ctx.log.info = () => 'evil'",
    "Object.setPrototypeOf(ctx.log, { evil: 1 })",
    "ctx.signal.evil = 1; ctx.request.headers.evil = 1",
    "Object.getPrototypeOf(ctx).evil = 1",
    "leak = 'evil'; leak2.evil = 1",
    "$millrace_border.evil = 1; $millrace_checkpoint.evil = 1",
    "$millrace_border('evil'); $millrace_border = 1",
    // Code from strings
    "(0, eval)('var evil = 1; let evil2 = 2')",
    "eval('globalThis.evil = 1')",
    "Function('globalThis.evil = 1')()",
    "(async () => {}).constructor('globalThis.evil = 1')()",
    "(function* () {}).constructor('globalThis.evil = 1')().next()",
    // Later
    "Promise.resolve().then(() => {}).then(() => {}).then(() => { globalThis.evil = 1; Array.prototype.evil = 1 })",
    "setTimeout(() => { globalThis.evil = 1 }, 1)",
    "setInterval(() => { globalThis.evil = 1 }, 1)",
    "queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => { globalThis.evil = 1 })))",
    "fetch('http://never/').then(() => { globalThis.evil = 1 })",
    "(async () => { for (;;) { await null; Array.prototype.evil = 1 } })()",
    "new FinalizationRegistry(() => { globalThis.evil = 1 }).register({}, 1); globalThis.evil = new WeakRef({})",
    "const g = (function* () { try { yield 1 } finally { globalThis.evil = 1 } })(); g.next(); leak = g",
    "new AbortController().signal.addEventListener('abort', () => { globalThis.evil = 1 }); AbortSignal.timeout(1)",
    // Hidden marks
    "class B { constructor(o) { return o } } class C extends B { #evil = 1 } new C(Array.prototype); new C(globalThis)",
    "class B { constructor(o) { return o } } class C extends B { #evil = 1 } new C(Math); new C(fetch); new C(host)",
    "class B { constructor(o) { return o } } class C extends B { #evil() {} } new C(Object.prototype)",
    "(s => { try { s.evil = 1 } catch {} try { s.raw.evil = 1 } catch {} })`a${1}b`",
    "class B { constructor(o) { return o } } class C extends B { #evil = 1 } new C((s => s)`t`)",
    "const r = /a/g; r.lastIndex = 5; r.evil = 1",
    "Symbol.for('evil'); Symbol.prototype.evil = 1",
    // In a disguise
    "const m = (x => x)(Math); m.evil = 1; m.max = () => 'evil'",
    "const m = (x => x)(Math); try { m.evil = 1 } catch {} const j = (x => x)(JSON); try { j.stringify = () => 'evil' } catch {}",
    "const { assign } = (x => x)(Object); assign(Array['proto' + 'type'], { evil: 1, map: () => 'evil' })",
    "const p = 'prototype'; Object[p].evil = 1; String[p].trim = () => 'evil'",
    "[]['__pro' + 'to__'].push = () => 'evil'; ({})['constructor'].evil = 1",
    "[]['__pro' + 'to__'].push(1); Array.from.call(Object, [1])",
    "[].constructor.evil = 1; (async () => {}).constructor.evil = 1",
    "delete [].constructor.from; const a = (x => x)(Array); delete a.isArray; delete ''.constructor['proto' + 'type'].trim",
    "const m = (x => x)(Math); await fetch('http://x/'); m.evil = 1",
    // And then it fails
    "globalThis.evil = 1; throw new Error('x')",
    "Array.prototype.evil = 1; return { f() {} }",
    "Object.prototype.evil = 1; while (true);",
    "Object.prototype.evil = 1; (function f() { f() })()",
    "Object.prototype.evil = 1; await new Promise(() => {})",
    "Object.prototype.evil = 1; await fetch('http://never/')",
    "Object.prototype.evil = 1; return 'x'.repeat(200000)",
    "Object.prototype.toJSON = () => { globalThis.evil = 1; return 'evil' }; return {}",
    "return { toJSON() { globalThis.evil = 1; Array.prototype.map = null; return 1 } }",
    "return new Proxy({}, { ownKeys() { globalThis.evil = 1; return ['a'] }, get() { Array.prototype.evil = 1; return undefined } })",
    "const e = {}; Object.defineProperty(e, 'message', { get() { globalThis.evil = 1; return 'm' } }); throw e",
];

#[test]
fn a_hostile_script_leaves_nothing_behind() {
    let clean = Ok(Returned::Value(json!([])));
    for hostile in HOSTILE {
        let hostile_program =
            format!("async (host) => {{ let leak; const leak2 = {{}}; return {{ default: async ({{}}, ctx) => {{ {hostile} }} }} }}");
        // In a script of its own, and in the same one.
        let both = format!(
            "async (host) => {{ let leak; const leak2 = {{}}; return {{ default: async (payload, ctx) => {{ if (payload) {{ {hostile} }} else return ({PROBE})() }} }} }}"
        );
        let setup = Setup::new(&[&hostile_program, &program(PROBE), &both]);
        assert_eq!(setup.call(1, Json::Null), clean, "before {hostile}");
        for (hostile_script, probe) in [(0, 1), (2, 2), (2, 1)] {
            let outcome = setup.call(hostile_script, json!({}));
            assert_eq!(setup.call(probe, Json::Null), clean, "after {hostile} ({outcome:?}), probe {probe}");
        }
    }
}

#[test]
fn what_a_script_changes_works_within_the_call() {
    let cases = [
        ("() => { globalThis.mine = 1; return mine }", json!(1)),
        ("() => { Array.prototype.sum = function () { return this.reduce((a, b) => a + b, 0) }; return [1, 2].sum() }", json!(3)),
        ("() => { globalThis.fetch = () => 'mock'; return fetch('x') }", json!("mock")),
        ("() => { Promise.try2 = f => Promise.resolve(f()); return Promise.try2(() => 5) }", json!(5)),
        (
            "() => { class MyError extends Error { constructor(m) { super(m); this.name = 'MyError' } } return new MyError('m').name }",
            json!("MyError"),
        ),
        ("() => { const o = {}; o.toString = () => 's'; o.constructor = 1; return `${o}${o.constructor}` }", json!("s1")),
        ("() => { function F() {} F.prototype.constructor = 1; F.prototype.toString = () => 'f'; return `${new F()}` }", json!("f")),
        ("() => { String.prototype.trim = () => 'patched'; return ' x '.trim() }", json!("patched")),
    ];
    for (function, expected) in cases {
        let setup = Setup::new(&[&program(function), &program(PROBE)]);
        for _ in 0..2 {
            assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(expected.clone())), "{function}");
            assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!([]))), "after {function}");
        }
    }
}

#[test]
fn words_that_objects_inherit_are_words_like_any_other() {
    let words = r#"({ inputs }) => {
      const counts = {};
      for (const word of inputs.words) counts[word] = typeof counts[word] === 'number' ? counts[word] + 1 : 1;
      return Object.entries(counts).map(entry => entry.join(' ')).join();
    }"#;
    let setup = Setup::new(&[&program(words), &program(PROBE)]);
    let payload = json!({"inputs": {"words": ["a", "constructor", "toString", "valueOf", "a", "hasOwnProperty", "toString"]}});
    assert_eq!(setup.call(0, payload), Ok(Returned::Value(json!("a 2,constructor 1,toString 2,valueOf 1,hasOwnProperty 1"))));
    assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!([]))));
}

#[test]
fn what_a_library_does_to_built_ins_works() {
    let to_json = "() => { BigInt.prototype.toJSON = function () { return `mine ${this}` }; return JSON.stringify({ n: 1n }) }";
    let setup = Setup::new(&[&program(to_json), &program("() => JSON.stringify({ n: 1n })")]);
    for _ in 0..2 {
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!(r#"{"n":"mine 1"}"#))));
        assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!(r#"{"n":1}"#))), "the next call has none of it");
    }
}

#[test]
fn module_variables_are_fresh_in_every_call() {
    let setup = Setup::new(&[
        "async (host) => { let n = 0; const seen = []; return { default: () => { seen.push(1); return [++n, seen.length] } } }",
    ]);
    for _ in 0..3 {
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!([1, 1]))));
    }
    // Not even around the function that the program evaluates to.
    let setup =
        Setup::new(&["(() => { let n = 0; return function f() { f.n = (f.n ?? 0) + 1; n++; return { default: () => [n, f.n] } } })()"]);
    for _ in 0..3 {
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!([1, 1]))));
    }
    assert_eq!(setup.engine.instances_made(), 1);
}

#[test]
fn calls_that_interleave_do_not_meet() {
    let handler = "async ({ inputs }) => { globalThis.mine = inputs.n; Array.prototype.mine = inputs.n; await fetch('http://x/'); return [mine, [].mine] }";
    let setup = Setup::new(&[&program(handler)]);
    let payloads: Vec<Json> = (0..20).map(|n| json!({"inputs": {"n": n}})).collect();
    let results = block_on(futures_util::future::join_all(payloads.iter().map(|payload| setup.start(0, payload))));
    for (n, result) in results.into_iter().enumerate() {
        assert_eq!(result, Ok(Returned::Value(json!([n, n]))));
    }
}

#[test]
fn a_reply_of_an_earlier_call_is_none() {
    // Frozen, empty, and gone: what looks like a reply is data.
    let setup = Setup::new(&[&program("() => host.error('no')"), &program("() => Object.freeze({})")]);
    assert!(matches!(setup.call(0, Json::Null), Ok(Returned::Reply(_))));
    assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!({}))));
}
