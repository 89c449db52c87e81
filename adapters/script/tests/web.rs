//! The web platform as Node has it: the same small programs run here and there.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use millrace_core::ports::Returned;
use serde_json::Value as Json;

use crate::support::{Setup, node, program};

/// Bodies of functions. Each returns JSON; what is thrown is compared by its name.
const PROGRAMS: &[&str] = &[
    // URL
    "const u = new URL('http://a.b/?x=1'); const s = u.searchParams; u.search = '?y=2'; s.append('z', '1'); return [u.href, u.searchParams === s, s.get('x')]",
    "const u = new URL('http://a.b/?x=1'); const s = u.searchParams; u.href = 'http://c/?q=%zz&q=2#h'; s.sort(); return [u.href, s.getAll('q'), u.searchParams === s]",
    "const u = new URL('http://a.b/?x=1#h'); const s = u.searchParams; u.hash = ''; u.port = '81'; s.delete('x'); return [u.href, u.search, s.size]",
    "const u = new URL('http://a.b/p?x=1'); u.searchParams.delete('x', '2'); u.searchParams.set('k', 'a b&c=é?'); return [u.href, [...u.searchParams]]",
    "const u = new URL('http://a.b/?'); u.searchParams.append('', ''); const one = u.href; u.search = ''; return [one, u.href, u.searchParams.toString()]",
    "const u = new URL('../b?x=1#h', 'https://u:p@example.com:8443/a/c'); return [u.href, u.origin, u.host, u.username, u.password, u.pathname, JSON.stringify(u)]",
    "return ['http://a b/', 'x', '//k', 'http://[::1', ''].map(t => { try { return new URL(t).href } catch (e) { return [e.name, e.code] } })",
    "const u = new URL('http://a/'); u.hash = ''; u.search = ''; u.host = 'c:81'; u.port = ''; u.protocol = 'https'; u.pathname = 'x y'; u.host = '//'; return [u.href, `${u}`]",
    "return [URL.canParse('x'), URL.canParse('x', 'http://a/'), new URL('\\ud800', 'http://a/').href]",
    "return new URL()",
    "return new URL(Symbol('s'))",
    // URLSearchParams
    "const s = new URLSearchParams('a=1&b=2&c=3&d=4'); const seen = []; for (const [k] of s) { seen.push(k); s.delete(k) } return [seen, `${s}`]",
    "const s = new URLSearchParams('a=1&b=2'); const seen = []; s.forEach((v, k) => { seen.push(k); if (seen.length < 4) s.append(`${k}${v}`, '9') }); return [seen, `${s}`]",
    "const s = new URLSearchParams('?a=1&a=2&b=%zz&c=+&=x&d&&%E9=1'); return [`${s}`, [...s.keys()], [...s.values()], s.size, s.has('a', '2'), s.get('n')]",
    "return [{ a: [1, 2], b: undefined }, [['a', 1], ['a', null]], new Map([['k', 'v']]), new URLSearchParams('x=1'), undefined, null, 5, '??a=1'].map(i => `${new URLSearchParams(i)}`)",
    "return [[['a']], [['a', 'b', 'c']], ['ab'], [1], { [Symbol.iterator]: 1 }].map(i => { try { return `${new URLSearchParams(i)}` } catch (e) { return e.name } })",
    "const s = new URLSearchParams({ '\\ud800': 'a', '\\ufffd': 'b' }); s.append('x', '\\udfff'); return [[...s], s.get('x') === '\\ufffd', `${s}`]",
    "const s = new URLSearchParams('b=1&a=2&b=0&\\ud83d\\ude00=x&\\uffff=y'); s.sort(); return [...s]",
    "const s = new URLSearchParams('a=1&a=2&b=3&a=4'); s.set('a', 'x'); s.set('n', 'y'); return [`${s}`, [...s.entries()], s.has('a', undefined), s.get('b')]",
    "return ['append', 'set', 'get', 'has', 'delete', 'getAll'].map(m => { try { return new URLSearchParams('a=1')[m]() } catch (e) { return e.name } })",
    "new URLSearchParams('a=1').forEach(1)",
    "return [Object.prototype.toString.call(new URLSearchParams()), URLSearchParams.prototype[Symbol.iterator] === URLSearchParams.prototype.entries]",
    // TextDecoder, TextEncoder
    "return [[0xed, 0xa0, 0x80], [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], [65, 0xf0, 0x9f, 0x98], [0xf0, 0x9f, 0x98, 65], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5], [0xe2, 0x82], [0xc3, 0xc3, 0xa9], [0x80, 0x80], [0xf0, 0x80], [0xef, 0xbb], [0xfe, 0xff], [0xe1, 0x80, 0xe2, 0xf0, 0x91, 0x92, 0xf1, 0xbf, 0x41]].map(b => new TextDecoder().decode(new Uint8Array(b)))",
    "let seed = 7; const next = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n; const firsts = [0x41, 0x7f, 0x80, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff, 0x8f, 0x90, 0x9f, 0xa0, 0xbb]; const all = []; for (let i = 0; i < 1500; i++) { const bytes = Uint8Array.from({ length: next(12) }, () => firsts[next(firsts.length)]); all.push(new TextDecoder().decode(bytes)); let fatal = 'fine'; try { new TextDecoder('utf-8', { fatal: true }).decode(bytes) } catch (e) { fatal = e.name } all.push(fatal) } return all",
    "let seed = 3; const next = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n; const firsts = [0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xe2, 0x82, 0xac, 0xed, 0xef, 0xbb, 0xbf, 0xf0, 0x9f, 0x98, 0x80, 0xf4]; const all = []; for (let i = 0; i < 400; i++) { const d = new TextDecoder('utf-8', { ignoreBOM: i % 2 === 1 }); let text = ''; for (let k = next(4); k >= 0; k--) text += d.decode(Uint8Array.from({ length: next(5) }, () => firsts[next(firsts.length)]), { stream: k > 0 }); all.push(text) } return all",
    "const d = new TextDecoder(); return [[0xe2], [0x82, 0xac], [0xf0, 0x9f], [0x98], [0x80, 65]].map(b => d.decode(new Uint8Array(b), { stream: true })).concat(d.decode())",
    "const d = new TextDecoder(); return [[0xef], [0xbb], [0xbf, 65], [0xef, 0xbb, 0xbf, 66]].map(b => d.decode(new Uint8Array(b), { stream: true })).concat(d.decode(), d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 67])))",
    "const d = new TextDecoder('utf-8', { ignoreBOM: true }); return [d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])).length, d.ignoreBOM, d.fatal, d.encoding]",
    "const d = new TextDecoder('utf-8', { fatal: true }); const r = [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true })]; try { d.decode() } catch (e) { r.push(e.name) } return r",
    "return [' UTF-8 ', 'utf8', 'unicode-1-1-utf-8', 'x-unicode20utf8'].map(l => new TextDecoder(l).encoding)",
    "return new TextDecoder('nonsense')",
    "const b = new Uint8Array([0, 104, 105, 0]).buffer; return [new TextDecoder().decode(new DataView(b, 1, 2)), new TextDecoder().decode(b).length, new TextDecoder().decode(new Uint16Array(b)).length]",
    "return new TextDecoder().decode('text')",
    "return [...new TextEncoder().encode('\\ud800é\\udfff😀')].concat([...new TextEncoder().encode()], new TextEncoder().encoding)",
    "return ['aé€', 'x😀', '\\ud800y', 'abcdef'].map(t => { const u = new Uint8Array(4); const r = new TextEncoder().encodeInto(t, u); return [r.read, r.written, ...u] })",
    // Event, EventTarget, AbortSignal
    "const t = new EventTarget(); const l = []; const f = e => l.push([e.type, e.target === t, e.currentTarget === t, e.eventPhase, e.isTrusted]); t.addEventListener('x', f); t.addEventListener('x', f); const e = new Event('x'); return [t.dispatchEvent(e), l, e.currentTarget, e.eventPhase, e.target === t]",
    "const t = new EventTarget(); const l = []; t.addEventListener('x', { handleEvent(e) { l.push(this !== undefined, e.type) } }, { once: true }); t.addEventListener('x', e => { l.push(1); e.stopImmediatePropagation() }); t.addEventListener('x', () => l.push(2)); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); return l",
    "const t = new EventTarget(); t.addEventListener('x', e => e.preventDefault()); const a = new Event('x', { cancelable: true }); const b = new Event('x'); return [t.dispatchEvent(a), a.defaultPrevented, t.dispatchEvent(b), b.defaultPrevented, a.returnValue, a.bubbles]",
    "const t = new EventTarget(); const l = []; const b = () => l.push('b'); t.addEventListener('x', () => { l.push('a'); t.removeEventListener('x', b); t.addEventListener('x', () => l.push('c')) }); t.addEventListener('x', b); t.dispatchEvent(new Event('x')); return l",
    "const t = new EventTarget(); const c = new AbortController(); const l = []; t.addEventListener('x', () => l.push(1), { signal: c.signal }); t.dispatchEvent(new Event('x')); c.abort(); t.dispatchEvent(new Event('x')); return l",
    "class Mine extends EventTarget { say() { return this.dispatchEvent(new Event('said')) } } const m = new Mine(); let n = 0; m.addEventListener('said', () => n++); m.say(); return [n, `${new Event('x')}`, `${m}`]",
    "return new Event()",
    "new EventTarget().dispatchEvent({ type: 'x' })",
    "const c = new AbortController(); const l = []; c.signal.addEventListener('abort', () => l.push(1)); c.signal.onabort = () => l.push('on'); c.signal.addEventListener('abort', () => l.push(2)); c.abort(); c.abort(); return l",
    "const c = new AbortController(); const l = []; c.signal.onabort = () => l.push('a'); c.signal.addEventListener('abort', () => l.push(1)); c.signal.onabort = () => l.push('b'); c.abort(); return [l, typeof c.signal.onabort]",
    "const c = new AbortController(); const l = []; const b = () => l.push('b'); c.signal.addEventListener('abort', () => { l.push('a'); c.signal.removeEventListener('abort', b) }); c.signal.addEventListener('abort', b); c.abort(); return l",
    "const c = new AbortController(); c.abort(); const d = new AbortController(); d.abort(5); const { reason } = c.signal; return [reason.name, reason.message, reason.code, reason instanceof DOMException, d.signal.reason, AbortSignal.abort().reason.name, AbortSignal.abort(null).reason]",
    "const c = new AbortController(); const s = AbortSignal.any([c.signal, new AbortController().signal]); const l = []; s.onabort = () => l.push(s.reason); c.abort('r'); return [s.aborted, l, AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason]",
    "const s = AbortSignal.timeout(5); const before = s.aborted; await new Promise(r => s.addEventListener('abort', r)); return [before, s.aborted, s.reason.name, s.reason.message, s.reason.code]",
    "const c = new AbortController(); c.signal.throwIfAborted(); c.abort(new RangeError('x')); c.signal.throwIfAborted()",
    "const c = new AbortController(); let e; c.signal.onabort = x => { e = x }; c.abort(); return [e instanceof Event, e.type, e.target === c.signal, e.isTrusted, c.signal instanceof EventTarget]",
    "return new AbortSignal()",
    "return AbortSignal.timeout(-1)",
    "return AbortSignal.any([1])",
    // Headers
    "const h = new Headers({ 'X-A': '1' }); h.append('x-a', ' 2\\t'); h.append('Set-Cookie', 'a'); h.append('set-cookie', 'b'); return [[...h], h.get('set-cookie'), h.getSetCookie(), h.has('X-a'), h.get('n')]",
    "const h = new Headers([['b', '1'], ['a', '2'], ['c', '3']]); const l = []; for (const [k] of h) { l.push(k); h.delete(k) } return [l, [...h.keys()]]",
    "return ['é', 'ÿ', '\\u0100', 'a\\nb', 'a\\0b', '\\n a \\r', ''].map(v => { try { const h = new Headers(); h.set('x', v); return h.get('x') } catch (e) { return e.name } })",
    "return ['', 'a b', 'é', 'a:', 'X_y', '{'].map(n => { try { return [...new Headers([[n, '1']]).keys()] } catch (e) { return e.name } })",
    "return [null, 'text', 5, [['a']], [['a', 'b', 'c']], ['ab'], new Map([['k', 'v']]), new Headers({ q: '1' }), undefined].map(i => { try { return [...new Headers(i)] } catch (e) { return e.name } })",
    "const h = new Headers(); h.set('b', '1'); h.append('b', '2'); h.set('b', '3'); h.set('a', 4); const l = []; h.forEach((v, k, o) => l.push([k, v, o === h])); return [l, Object.fromEntries(h), `${h}`]",
    "return ['append', 'set', 'get', 'has', 'delete'].map(m => { try { return new Headers()[m]('a') ?? null } catch (e) { return e.name } })",
    // Request
    "return ['post', 'patch', 'PATCH', 'Get', 'query', 'a b', 'CONNECT', 'trace', ''].map(method => { try { return new Request('http://a/', { method }).method } catch (e) { return e.name } })",
    "const a = new Request('http://a/', { method: 'POST', body: 'x' }); const b = new Request(a); return [a.bodyUsed, b.bodyUsed, await b.text(), b.bodyUsed, b.headers.get('content-type')]",
    "const a = new Request('http://a/', { method: 'POST', body: 'x' }); await a.text(); return new Request(a)",
    "const a = new Request('http://a/', { method: 'POST', body: 'x' }); const c = a.clone(); const r = [a.bodyUsed, await c.text(), a.bodyUsed, c.bodyUsed, await a.text()]; try { a.clone() } catch (e) { r.push(e.name) } return r",
    "const a = new Request('http://a/', { method: 'POST', body: 'x' }); const b = new Request(a, { body: 'y' }); return [a.bodyUsed, await b.text(), await a.text()]",
    "const c = new AbortController(); const r = new Request('http://a/', { signal: c.signal }); const s = r.signal; c.abort('why'); return [s instanceof AbortSignal, s === c.signal, s.aborted, s.reason, new Request(r).signal.aborted, new Request('http://a/').signal.aborted]",
    "return [new Request('http://a/', { signal: null }).signal.aborted, new Request('http://a/#h').url, new Request(new URL('http://a/b?c')).url]",
    "return [{ signal: {} }, { signal: 1 }, { redirect: 'x' }, { body: 'x' }, { method: 'HEAD', body: '' }, 5, null, undefined].map(i => { try { return new Request('http://a/', i).method } catch (e) { return e.name } })",
    "return ['http://u:p@a/', 'x', ''].map(u => { try { return new Request(u).url } catch (e) { return e.name } })",
    "const r = new Request('http://a/', { method: 'PUT', body: new URLSearchParams('a=1'), headers: { 'X-A': 'b' } }); return [[...r.headers], await r.text(), r.redirect, `${r}`]",
    "const r = new Request('http://a/', { method: 'PUT', body: new Uint8Array([123, 125]) }); return [r.headers.get('content-type'), await r.json(), r.bodyUsed]",
    // Response
    "return [100, 101, 199, 200, 204, 205, 304, 599, 600, 0, '201', NaN, -1].map(status => { try { return new Response(null, { status }).status } catch (e) { return e.name } })",
    "return [200, 204, 205, 304].map(status => { try { return new Response('', { status }).status } catch (e) { return e.name } })",
    "return ['ok', 'a\\nb', 'é', '\\u0100', ''].map(statusText => { try { return new Response('', { statusText }).statusText } catch (e) { return e.name } })",
    "const r = new Response('x', { status: 201, headers: { a: 'b' } }); const c = r.clone(); return [r.ok, await r.text(), await c.text(), r.bodyUsed, r.type, [...c.headers], c.status, r.url, r.redirected]",
    "const r = new Response('x'); await r.text(); await r.text()",
    "const r = new Response(); return [await r.text(), r.bodyUsed, await r.text(), r.status, r.statusText]",
    "const r = Response.json({ a: 1 }, { status: 202, headers: { b: 'c' } }); return [r.status, [...r.headers], await r.json()]",
    "return Response.json(undefined)",
    "await new Response('nope').json()",
    "const r = Response.error(); return [r.type, r.status, r.ok, [...r.headers]]",
    "return [301, 302, 307, 200].map(s => { try { const r = Response.redirect('http://a/b', s); return [r.status, r.headers.get('location')] } catch (e) { return e.name } })",
    "return [await new Response(new Uint8Array([0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80])).text(), (await new Response('é').arrayBuffer()).byteLength, await new Response(new Uint8Array([0xef, 0xbb, 0xbf, 49])).json()]",
    // structuredClone
    "const r = structuredClone({ d: new Date(5), m: new Map([[1, { x: 1 }]]), s: new Set([1]), e: null, u: undefined, l: [1, , 3], b: Object(5n), n: Object(1), r: /x/gi }); return [r.d.getTime(), r.m.get(1), [...r.s], r.e, 'u' in r, r.l.length, 1 in r.l, typeof r.b, typeof r.n, `${r.r}`]",
    "const t = (v, o) => { try { structuredClone(v, o); return 'fine' } catch (e) { return [e.name, e.code] } }; return [t(new Proxy({}, {})), t([new Proxy([], {})]), t(Object(Symbol())), t(Symbol()), t(() => 1), t({ a() {} }), t(new WeakMap()), t(Promise.resolve()), t(new WeakRef({})), t((function* () {})()), t([].values()), t(new Map().keys()), t((function () { return arguments })(1)), t(1), t(Math), t(class {})]",
    "const b = new ArrayBuffer(8); new Uint8Array(b)[1] = 7; const c = structuredClone({ b, v: new Uint8Array(b, 1, 2) }, { transfer: [b] }); return [b.byteLength, c.b.byteLength, c.v.buffer === c.b, [...c.v]]",
    "const b = new ArrayBuffer(8); const t = (v, o) => { try { structuredClone(v, o); return 'fine' } catch (e) { return e.name } }; return [t(b, { transfer: [b, b] }), b.byteLength, t(() => 1, { transfer: [b] }), b.byteLength, t(1, { transfer: [b] }), b.byteLength, t(b), t(1, { transfer: 1 }), t(1, null), t(1, 5)]",
    "const b = new ArrayBuffer(8); const o = structuredClone([new Uint8Array(b, 2, 3), new Uint16Array(b), new DataView(b, 1)]); return [o[0].byteOffset, o[0].length, o[0].buffer === o[1].buffer, o[2].byteOffset, o[2].byteLength, o[2].buffer === o[1].buffer]",
    "const a = {}; a.a = a; a.l = [a]; const b = structuredClone(a); return [b.a === b, b.l[0] === b, b !== a]",
    "class Mine { x = 1; #y = 2 } const m = structuredClone(new Mine()); const l = structuredClone(Object.assign([1], { k: 2 })); return [m.constructor === Object, m, Array.isArray(l), l.k, structuredClone(Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } }))]",
    "const e = structuredClone(new TypeError('x', { cause: { c: 1 } })); class Own extends Error { name = 'Own'; extra = 1 } const o = structuredClone(new Own('y')); return [e instanceof TypeError, e.name, e.message, e.cause, Object.keys(e), o.name, o.message, o.extra ?? null, o instanceof Own, typeof e.stack]",
    "return structuredClone()",
    "return [structuredClone({ get a() { return 1 } }), structuredClone('x'), structuredClone(5n) === 5n, Number.isNaN(structuredClone(NaN)), Object.is(structuredClone(-0), -0)]",
    // timers and the rest
    "const l = []; setTimeout(() => l.push('t0'), 0); queueMicrotask(() => l.push('m')); Promise.resolve().then(() => l.push('p')); l.push('s'); await new Promise(r => setTimeout(r, 20)); return l",
    "const l = []; setTimeout((...v) => l.push(...v), 2, 'a', 'b'); setTimeout(() => l.push('c'), 1); clearTimeout(setTimeout(() => l.push('never'), 1)); await new Promise(r => setTimeout(r, 40)); return l",
    "let n = 0; await new Promise(r => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r() } }, 1) }); clearTimeout(undefined); clearTimeout({}); return n",
    "setTimeout('text', 1)",
    "queueMicrotask()",
    "return [btoa('é'), atob('6Q=='), atob(' YQ = = ')]",
    "btoa('\\u0100')",
    "return atob('a')",
    "crypto.getRandomValues(new Float64Array(1))",
    "crypto.getRandomValues(new Uint8Array(65537))",
    "const now = performance.now(); return [now >= 0 && now < 600000, performance.timeOrigin > 1e12, Object.prototype.toString.call(performance), Math.abs(performance.timeOrigin + now - Date.now()) < 600000]",
    "return [() => Array.prototype.toSorted.call({ length: 2 ** 32 }), () => 'x'.repeat(2 ** 30)].map(f => { try { f(); return 'fine' } catch (e) { return e.name } })",
    "return [[3, 1, 2].toSorted(), [1, 2].toReversed(), [1, 2, 3].toSpliced(1, 1, 9), [1, 2].with(0, 5), [].toSorted.length, [].with.name, Object.keys([].with), Array.prototype.toSorted.call({ length: 2, 0: 'b', 1: 'a' })]",
];

/// What Node says of each: JSON, or the name of what was thrown.
fn by_node(programs: &[String]) -> Vec<Json> {
    let list = Json::from(programs);
    let text = format!(
        "const keep = setInterval(() => {{}}, 1000);
        (async () => {{
            const all = [];
            for (const program of {list}) {{
                try {{ all.push({{ value: (await (0, eval)(`(${{program}})`)()) ?? null }}) }} catch (e) {{ all.push({{ threw: e.name }}) }}
            }}
            require('fs').writeSync(1, JSON.stringify(all));
            clearInterval(keep);
        }})();"
    );
    let mut node =
        Command::new(node()).env("TZ", "UTC").arg("--no-warnings").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_web_platform_is_that_of_node() {
    let functions: Vec<String> = PROGRAMS.iter().map(|body| format!("async () => {{ {body} }}")).collect();
    // The name of what is thrown crosses as a value: a fault has only its message.
    let caught = |function: &String| {
        program(&format!(
            "async () => {{ try {{ return {{ value: (await ({function})()) ?? null }} }} catch (e) {{ return {{ threw: e.name }} }} }}"
        ))
    };
    let programs: Vec<String> = functions.iter().map(caught).collect();
    let mut setup = Setup::new(&programs.iter().map(String::as_str).collect::<Vec<_>>());
    setup.limits.loops = 60_000_000;
    setup.host.now_ms.set(1_790_000_000_000);
    setup.limits.output_bytes = 1 << 20;
    let mut different = Vec::new();
    for (index, expected) in by_node(&functions).iter().enumerate() {
        let outcome = setup.call(index, Json::Null);
        if outcome != Ok(Returned::Value(expected.clone())) {
            let short = |text: String| text.chars().take(1200).collect::<String>();
            different.push(format!(
                "{}\n  node: {}\n  here: {}",
                PROGRAMS[index],
                short(expected.to_string()),
                short(format!("{outcome:?}"))
            ));
        }
    }
    assert!(different.is_empty(), "{} of {} differ:\n{}", different.len(), PROGRAMS.len(), different.join("\n"));
}
