//! Scripts that ask for too much: each ends as a fault, within its deadline and its memory, and the
//! next call works.
#![allow(clippy::panic, reason = "tests")]

use std::{
    sync::{
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use millrace_core::ports::{Returned, ScriptFault};
use serde_json::json;

use crate::support::{Setup, program};

/// What a call has that its time ends.
const SHORT_MS: u64 = 250;

/// What a call has that something else ends, however slow the machine.
const LONG_MS: u64 = 40_000;

/// What a script that holds its thread for ever is given. Nothing here measures speed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The end of a script: a limit, or its time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Limit,
    /// It does not end by itself: a limit or the deadline, whichever comes first.
    Stopped,
    /// It is long and has an end: it may reach it, be stopped, or meet a limit.
    Bounded,
    /// An exception that it could have caught.
    Thrown,
    /// It works.
    Value,
}
use End::{Bounded, Limit, Stopped, Thrown, Value};

/// `n` is what a caller sends: 2^29 unless the script takes another.
const SCRIPTS: &[(End, &str)] = &[
    // Texts
    (Limit, "return 'x'.repeat(n).length"),
    (Limit, "for (;;) 'x'.repeat(n)"),
    (Limit, "return 'x'.padEnd(2 ** 31).length"),
    (Limit, "return 'x'.padStart(n, 'ab').length"),
    (Limit, "let s = 'x'; for (;;) s += s"),
    (Limit, "let s = 'xy'; while (true) { s = s + s }"),
    (
        Limit,
        "let s = 'xy'; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; s += s; return s.length",
    ),
    (Limit, "let s = 'xy'; for (;;) s = `${s}${s}`"),
    (Limit, "let s = 'xy'; for (;;) s = s.concat(s, s)"),
    (Limit, "let s = 'xy'; for (;;) s = [s, s].join('')"),
    (Limit, "return 'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e6)).length"),
    (Stopped, "return 'a'.repeat(1e6).replace(/a/g, 'b'.repeat(1e6)).length"),
    (Limit, "return 'a'.repeat(1e6).replace('a', \"$'\".repeat(1e5)).length"),
    (Limit, "return 'a'.repeat(1e5).replace(/a/g, \"$'$`\").length"),
    (Limit, "let s = 'ß'; for (;;) { s = s.toUpperCase(); s += s }"),
    (Limit, "return '\\ufdfa'.repeat(2e6).normalize('NFKD').length"),
    (Limit, "return encodeURIComponent('é'.repeat(1e7)).length"),
    (Limit, "return [...'x'.repeat(1e7)].length"),
    (Limit, "return 'x'.repeat(1e7).split('').length"),
    (Limit, "return Array.from('x'.repeat(1e7)).length"),
    (Limit, "return Object.keys('x'.repeat(1e7)).length"),
    (Limit, "return Object.assign({}, 'x'.repeat(1e7)).length"),
    (Bounded, "return { ...'x'.repeat(1e7) }.length"),
    (Limit, "return String.raw({ raw: { length: 2 ** 53 } }, 1)"),
    (Limit, "return 'a'.repeat(1e6).indexOf('a'.repeat(5e5) + 'b')"),
    (Value, "return 'a'.repeat(1e6).lastIndexOf('b' + 'a'.repeat(5e5))"),
    (Limit, "return ('€' + 'a'.repeat(1e6)).includes('a'.repeat(5e5) + 'b')"),
    (Value, "return 'ab,'.repeat(50000).split(',').length"),
    (Value, "return ('é€,'.repeat(50000)).split(',').join(';').split(';').length"),
    (Value, "return 'ab,'.repeat(50000).replaceAll(',', ';').length"),
    // Lists
    (Limit, "return (new Array(1e9) + '').length"),
    (Limit, "return (new Array(2 ** 28) + '').length"),
    (Limit, "return Array(4e9).join('ab').length"),
    (Limit, "return new Array(1e9).fill(0).length"),
    (Limit, "return new Array(n).fill().map(() => 1).length"),
    (Limit, "return Array.from({ length: 2 ** 32 - 1 }).length"),
    (Limit, "return Array.from({ length: n }, () => 1).length"),
    (Limit, "return [].indexOf.call({ length: 2 ** 53 }, 1)"),
    (Limit, "return [].includes.call({ length: n }, 1)"),
    (Limit, "return [].lastIndexOf.call({ length: n }, 1)"),
    (Limit, "return [].reverse.call({ length: 2 ** 53 })"),
    (Limit, "return [].sort.call({ length: 2 ** 32 })"),
    (Limit, "return [].copyWithin.call({ length: 2 ** 53 }, 0, 1)"),
    (Limit, "return new Array(n).reduce((a, b) => a, 1)"),
    (Limit, "return new Array(2 ** 32 - 1).concat([1]).length"),
    (Limit, "return new Array(2 ** 31).slice().length"),
    (Thrown, "return new Array(2 ** 31).toSorted().length"),
    (Limit, "const a = []; a.length = n; return a.shift()"),
    (Limit, "const a = []; a.length = n; return a.unshift(1)"),
    (Limit, "return [...new Array(n)].length"),
    (Limit, "return Math.max(...new Array(n))"),
    (Limit, "const [a, ...rest] = new Array(n); return rest.length"),
    (Limit, "return new Set(new Array(n)).size"),
    (Limit, "for (const a of new Array(n)); return 1"),
    (Bounded, "return String(Math.max.apply(null, { length: 2 ** 32 }))"),
    (Bounded, "return String(Reflect.apply(Math.max, null, { length: 2 ** 40 }))"),
    (Limit, "const a = []; for (;;) a.push({ a })"),
    (Limit, "const s = new Set(); for (let i = 0; ; i++) s.add(i)"),
    (Limit, "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])"),
    (Limit, "let a = [1]; for (;;) a = [...a, ...a]"),
    (Limit, "let a = [1]; for (;;) a = a.concat(a)"),
    (Thrown, "let a = [1]; for (;;) a.push(...a)"),
    (Stopped, "let a = [1, 2]; for (let i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity).length"),
    (Stopped, "let a = [1, 2]; for (let i = 0; i < 40; i++) a = [a, a]; return String(a).length"),
    (Stopped, "let a = {}; for (let i = 0; i < 40; i++) a = { a, b: a }; return JSON.stringify(a).length"),
    (Bounded, "return Array.from({ length: 1e6 }, (_, i) => -i).sort().length"),
    (Bounded, "return Array.from({ length: 1e6 }, (_, i) => -i).sort((a, b) => a - b).length"),
    // Bytes
    (Limit, "return new ArrayBuffer(1e9).byteLength"),
    (Limit, "return new Uint8Array(n).length"),
    (Limit, "const all = []; for (;;) all.push(new Uint8Array(1e6))"),
    (Bounded, "return new Uint8Array(5e7).fill(1)[0]"),
    (Bounded, "return new Uint8Array(5e7).sort()[0]"),
    (Bounded, "return new Uint8Array(5e7).indexOf(1)"),
    (Bounded, "return new TextDecoder().decode(new Uint8Array(5e7)).length"),
    (Bounded, "return new URLSearchParams('a&'.repeat(5e6)).size"),
    // Numbers
    (Thrown, "return String(2n ** 10000000n).length"),
    (Limit, "const o = { length: 3n }; for (let i = 0; i < 40; i++) o.length *= o.length; return 1"),
    (Limit, "const Math = { f: x => x }; let o = 3n; for (let i = 0; i < 40; i++) o = Math.f(o) * Math.f(o); return 1"),
    (Limit, "const o = { length: 'ab' }; for (let i = 0; i < 40; i++) { o.length += o.length; o.length += o.length } return 1"),
    (Thrown, "return String(2n ** BigInt(n)).length"),
    (Thrown, "return String(1n << 100000000n).length"),
    (Limit, "let b = 3n; for (;;) b *= b"),
    (Limit, "let b = 3n; for (;;) b = b * b"),
    (Limit, "let b = 3n; for (;;) b **= 3n"),
    (Limit, "let o = { b: 3n }; for (;;) o.b **= 3n"),
    (Thrown, "let b = 3n; for (;;) b <<= b"),
    (Thrown, "return BigInt.asUintN(2 ** 40, -1n) > 0n"),
    (Thrown, "return BigInt('9'.repeat(1e6)) > 0n"),
    // Depth
    (Limit, "let o = {}; for (let i = 0; i < 20000; i++) o = { o }; return JSON.stringify(o).length"),
    (Limit, "let o = []; for (let i = 0; i < 100000; i++) o = [o]; return JSON.stringify(o).length"),
    (Value, "let o = {}; for (let i = 0; i < 5000; i++) o = { o }; let d = 0; for (let c = structuredClone(o); c; c = c.o) d++; return d"),
    (Limit, "let o = []; for (let i = 0; i < 100000; i++) o = [o]; return o.flat(Infinity).length"),
    (Value, "let o = {}; for (let i = 0; i < 20000; i++) o = { o }; console.log(o); console.dir(o); return 1"),
    (Value, "let o = null; for (let i = 0; i < 150000; i++) o = { o }; return 1"),
    (Limit, "let o = []; for (let i = 0; i < 20000; i++) o = [o]; return String(o).length"),
    (Limit, "let o = []; for (let i = 0; i < 20000; i++) o = [o]; return o.toLocaleString().length"),
    (Limit, "let o = []; for (let i = 0; i < 20000; i++) o = [o]; return `${o}`.length"),
    (Stopped, "let o = {}; for (let i = 0; i < 20000; i++) o = { get o2() { return this.o }, o }; return JSON.stringify(o)"),
    (Limit, "let i = [1].values(); for (let k = 0; k < 20000; k++) i = i.map(x => x); return i.next().value"),
    (Limit, "let i = [1].values(); for (let k = 0; k < 20000; k++) i = i.take(9); return i.next().value"),
    (
        Limit,
        "let i = { next() { return { done: true } } }; for (let k = 0; k < 20000; k++) i = Iterator.from({ next: i.next.bind(i) }); return i.next().done",
    ),
    (Limit, "let p = {}; for (let i = 0; i < 50000; i++) p = new Proxy(p, {}); return p.a"),
    (Bounded, "let p = {}; for (let i = 0; i < 5000; i++) p = new Proxy(p, {}); return p.a"),
    (Bounded, "let p = {}; for (let i = 0; i < 5000; i++) p = new Proxy({}, p); return p.a"),
    (Limit, "const t = {}; const p = new Proxy(t, {}); Object.setPrototypeOf(t, p); return p.a"),
    (Stopped, "const t = {}; const p = new Proxy(t, {}); Object.setPrototypeOf(t, p); return p instanceof Array"),
    (
        Limit,
        "JSON.parse('[1,2]', function (k, v) { if (k === '0') { let o = []; for (let i = 0; i < 20000; i++) o = [o]; this[1] = o; } return v })",
    ),
    (Thrown, "const { call } = Function.prototype; return call.call(...new Array(100000).fill(call))"),
    (Thrown, "const { call } = Function.prototype; return Reflect.apply(call, call, new Array(100000).fill(call))"),
    (Limit, "let f = () => 1; for (let i = 0; i < 100000; i++) f = f.bind(null); return f()"),
    (Limit, "(function f() { f() })()"),
    (Limit, "const o = { toJSON() { return JSON.stringify(o) } }; return JSON.stringify(o)"),
    (Limit, "const o = { toString() { return String(o) } }; return String(o)"),
    (Limit, "const a = []; const b = [a]; a.push(b); return String(a)"),
    (Limit, "return Date.prototype.toJSON.call({ toISOString: Date.prototype.toJSON })"),
    (Limit, "return Array.prototype.toString.call({ join: Array.prototype.toString })"),
    (Limit, "return Object.prototype.toLocaleString.call({ toString: Object.prototype.toLocaleString })"),
    (Limit, "return Promise.prototype.catch.call({ then: Promise.prototype.catch })"),
    (Limit, "return String({ toString: String.prototype.trim })"),
    (Limit, "[1].forEach(function f() { [1].forEach(f) })"),
    (Limit, "'a'.replace(/a/, function f() { return 'a'.replace(/a/, f) })"),
    (Limit, "return JSON.parse('['.repeat(1e6))"),
    (Thrown, "return new RegExp('('.repeat(50000)).source"),
    // Time
    (Stopped, "for (;;);"),
    (Stopped, "while (true);"),
    (Stopped, "for (;;) await null"),
    (Stopped, "await null; for (;;);"),
    (Stopped, "await null; for (const a of (function* () { for (;;) yield 1 })());"),
    (Stopped, "[...(function* () { for (;;) yield 1 })()]"),
    (Stopped, "[1, 2].sort(() => { for (;;); })"),
    (Stopped, "const t = {}; const p = new Proxy(t, { getPrototypeOf: () => p }); return p instanceof Array"),
    (Stopped, "for (;;) new Array(1e6).fill(0)"),
    (Stopped, "for (;;) 'x'.repeat(1e6).split('')"),
    (Stopped, "for (;;) new Array(1e6).indexOf(1)"),
    (Stopped, "for (let i = 0; ; i++) Symbol.for('x'.repeat(1000) + i)"),
    // What the host computes
    (
        Limit,
        "const s = crypto.subtle; const k = await s.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']); for (;;) await s.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(8), iterations: 1e5 }, k, 256)",
    ),
    (
        Limit,
        "for (;;) await crypto.subtle.generateKey({ name: 'RSA-PSS', modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['sign'])",
    ),
    (Stopped, "for (;;) await crypto.subtle.digest('SHA-512', new Uint8Array(1e6))"),
    (Limit, "const l = []; for (;;) l.push(new Blob(['x'.repeat(1e6)]))"),
    (Stopped, "const s = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e5)) } }); return await new Response(s).text()"),
];

fn handler(body: &str) -> String {
    program(&format!("async ({{ inputs: {{ n }} }}, ctx) => {{ {body} }}"))
}

fn fits(end: End, outcome: &Result<Returned, ScriptFault>) -> bool {
    match end {
        Limit => matches!(outcome, Err(ScriptFault::Limit(_))),
        Stopped => matches!(outcome, Err(ScriptFault::Limit(_) | ScriptFault::TimedOut)),
        Bounded => matches!(outcome, Err(ScriptFault::Limit(_) | ScriptFault::TimedOut) | Ok(_)),
        Thrown => matches!(outcome, Err(ScriptFault::Thrown(_))),
        Value => matches!(outcome, Ok(Returned::Value(_))),
    }
}

/// Runs a script on a thread of its own. Gives what is wrong with its end.
fn wrong_end(end: End, body: &'static str) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(16 << 20).name(body.chars().take(60).collect()).spawn(move || {
        let setup = Setup::new(&[&handler(body), &program("() => 'alive'")]);
        setup.host.started.set(Some(Instant::now()));
        let outcome = crate::support::block_on(setup.start_until(
            0,
            &json!({"inputs": {"n": 1_u64 << 29}}),
            if matches!(end, Stopped | Bounded) { SHORT_MS } else { LONG_MS },
        ));
        setup.host.started.set(Some(Instant::now()));
        let next = setup.call(1, json!({}));
        let fine = fits(end, &outcome) && next == Ok(Returned::Value(json!("alive")));
        let _ = sender.send((!fine).then(|| format!("{end:?} expected: {outcome:?}, then {next:?}")));
    });
    let told = match receiver.recv_timeout(PATIENCE) {
        Ok(told) => told,
        Err(mpsc::RecvTimeoutError::Timeout) => Some("holds its thread".to_owned()),
        Err(mpsc::RecvTimeoutError::Disconnected) => Some(format!("panics: {:?}", thread.map(thread::JoinHandle::join))),
    };
    told.map(|told| format!("{body}\n    {told}"))
}

#[test]
fn a_script_that_asks_for_too_much_ends_by_itself() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let chosen: Vec<_> = SCRIPTS.iter().copied().filter(|(_, body)| body.contains(&only)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some((end, body)) = chosen.get(next.fetch_add(1, Relaxed)) {
            wrong.extend(wrong_end(*end, body));
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), chosen.len(), wrong.join("\n"));
}
