//! The border, the limits and the memory of instances.
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use millrace_engine::{Fault, Frame, Host, Image, Instance, Limits, Loader, Message, Step};

const LIMITS: Limits = Limits { fuel: 20_000_000, memory_bytes: 64 << 20 };

#[derive(Default)]
struct Recorder {
    said: RefCell<Vec<(i32, Message)>>,
    seed: Cell<u8>,
}

impl Host for Recorder {
    fn say(&self, kind: i32, message: Message) -> Option<Message> {
        self.said.borrow_mut().push((kind, message.clone()));
        match kind {
            1 => None,
            2 => Some(Message { head: message.head, tail: None }),
            3 => Some(Message { head: String::from("[1]"), tail: message.tail.map(|tail| tail.into_iter().rev().collect()) }),
            _ => Some(Message { head: String::from("no json"), tail: None }),
        }
    }

    fn clock_ms(&self) -> f64 {
        1_700_000_000_123.0
    }

    fn random(&self, bytes: &mut [u8]) {
        for byte in bytes {
            self.seed.set(self.seed.get().wrapping_add(1));
            *byte = self.seed.get();
        }
    }
}

/// Runs what waits for nothing but its turn.
fn block<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

fn loader() -> Loader {
    let base = Image::base(include_str!("prelude.js"), Limits { fuel: u64::MAX, ..LIMITS }, &Recorder::default());
    Loader::on(&base.unwrap(), LIMITS).unwrap()
}

/// An image with one script, a function of `input` and `bytes`.
fn image(function: &str) -> Arc<Image> {
    let mut loader = loader();
    let loaded = loader.script(r#"{"path":"a.ts"}"#, function, &Recorder::default());
    assert_eq!(loaded, done("loaded"));
    loader.into_image().unwrap()
}

fn call(instance: &mut Instance, input: &str) -> Result<Step, Fault> {
    let message = format!(r#"{{"path":"a.ts","input":{input}}}"#);
    block(instance.call(Frame::text(&message), LIMITS, &Recorder::default()))
}

/// Calls what a piece of source evaluates to.
fn run(instance: &mut Instance, source: &str, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
    let escaped: String = source.chars().flat_map(|c| if c == '"' || c == '\\' { vec!['\\', c] } else { vec![c] }).collect();
    block(instance.call(Frame::text(&format!(r#"{{"eval":"() => {{ {escaped} }}"}}"#)), limits, host))
}

fn done(text: &str) -> Result<Step, Fault> {
    Ok(Step::Done(text.into()))
}

#[test]
fn a_call_answers_and_leaves_nothing() {
    let image = image("input => { globalThis.seen = (globalThis.seen ?? 0) + 1; Array.prototype.mine = 1; return [seen, input] }");
    let mut instances = [Instance::new(&image).unwrap(), Instance::new(&image).unwrap()];
    for round in 0..50 {
        for instance in &mut instances {
            assert_eq!(call(instance, &format!("{{\"n\":{round}}}")), done(&format!(r#"{{"value":[1,{{"n":{round}}}]}}"#)));
        }
    }
    let secret =
        "const found = []; for (const name of ['seen', 'mine']) if (name in globalThis || name in []) found.push(name); return found";
    assert_eq!(run(&mut instances[0], secret, LIMITS, &Recorder::default()), done(r#"{"value":[]}"#));
}

#[test]
fn the_same_call_takes_the_same_fuel() {
    let image =
        image("input => { const all = []; for (let i = 0; i < input; i++) all.push(String(i)); return all.sort().join('').length }");
    let mut used = Vec::new();
    for _ in 0..2 {
        let mut instance = Instance::new(&image).unwrap();
        for _ in 0..3 {
            assert_eq!(call(&mut instance, "1000"), done(r#"{"value":2890}"#));
            used.push(LIMITS.fuel.cast_signed() - instance.fuel());
            // Whatever was there before.
            assert_eq!(run(&mut instance, "for (;;);", LIMITS, &Recorder::default()), Err(Fault::Fuel));
        }
    }
    assert!(used.iter().all(|units| *units == used[0] && *units > 10_000), "{used:?}");
}

#[test]
fn answers_reach_their_questions_only() {
    let image = image(
        "async (input, bytes) => { const first = ask(7, { n: input }, bytes); const second = ask(8, 'x'); try { return [await second, await first] } catch (error) { return error } }",
    );
    let host = Recorder::default();
    let mut instance = Instance::new(&image).unwrap();
    let start = |instance: &mut Instance| {
        let message = Frame { head: r#"{"path":"a.ts","input":5}"#, tail: Some(&[1, 0, 255]) };
        assert_eq!(block(instance.call(message, LIMITS, &host)), Ok(Step::Waits));
        let asks = instance.asks();
        assert_eq!(asks.iter().map(|ask| (ask.kind, ask.message.head.as_str())).collect::<Vec<_>>(), [(7, r#"{"n":5}"#), (8, "\"x\"")]);
        assert_eq!((asks[0].message.tail.as_deref(), &asks[1].message.tail), (Some(&[1, 0, 255][..]), &None));
        assert!(instance.asks().is_empty());
        [asks[0].ticket, asks[1].ticket]
    };
    let [old, _] = start(&mut instance);
    let [first, second] = start(&mut instance);
    assert_eq!(old.id(), first.id(), "the image has the same number");
    assert_eq!(block(instance.settle(old, true, Frame::text("\"late\""), &host)), Ok(Step::Late));
    assert_eq!(block(instance.settle(first, true, Frame { head: "1", tail: Some(b"ab") }, &host)), Ok(Step::Waits));
    assert_eq!(block(instance.settle(second, true, Frame::text("{\"b\":2}"), &host)), done(r#"{"value":[{"b":2},[1,{"0":97,"1":98}]]}"#));
    // A refusal.
    let [_, second] = start(&mut instance);
    assert_eq!(block(instance.settle(second, false, Frame::text("{\"code\":\"E\"}"), &host)), done(r#"{"value":{"code":"E"}}"#));
    instance.restore().unwrap();
    assert_eq!(block(instance.settle(second, true, Frame::text("1"), &host)), Ok(Step::Late));
}

#[test]
fn fuel_is_carried_across_waiting() {
    let image = image("async input => { for (;;) { await ask(1, null); for (let i = 0; i < 100000; i++); } }");
    let host = Recorder::default();
    let mut instance = Instance::new(&image).unwrap();
    let mut step = call(&mut instance, "1");
    let mut rounds = 0;
    while step == Ok(Step::Waits) {
        let ticket = instance.asks()[0].ticket;
        step = block(instance.settle(ticket, true, Frame::text("null"), &host));
        rounds += 1;
    }
    assert_eq!(step, Err(Fault::Fuel));
    assert!((2..300).contains(&rounds), "{rounds}");
}

#[test]
fn the_host_is_asked_for_what_is_real() {
    let mut instance = Instance::new(&image("() => 1")).unwrap();
    let host = Recorder::default();
    assert_eq!(
        run(&mut instance, "return [Date.now(), new Date().toISOString()]", LIMITS, &host),
        done(r#"{"value":[1700000000123,"2023-11-14T22:13:20.123Z"]}"#)
    );
    let random = "const bytes = new Uint8Array(3); native.random(bytes); return [...bytes, native.fraction() < 1]";
    assert_eq!(run(&mut instance, random, LIMITS, &host), done(r#"{"value":[1,2,3,true]}"#));
    let say = "return [native.say(1, 'é'), native.say(2, '[2]'), native.say(3, '', new Uint8Array([1, 2]))]";
    assert_eq!(run(&mut instance, say, LIMITS, &host), done(r#"{"value":[null,[2],[[1],{"0":2,"1":1}]]}"#));
    assert_eq!(host.said.borrow()[0], (1, Message { head: "é".into(), tail: None }));
    assert!(matches!(run(&mut instance, "native.say(9, '')", LIMITS, &host), Ok(Step::Threw(text)) if text.contains("SyntaxError")));
    let classes = "return [new Map, [], {}, new Date, Object.setPrototypeOf(new Set, null), new Proxy({}, {}), new Error, 1].map(v => native.class_of(v) ?? null)";
    assert_eq!(run(&mut instance, classes, LIMITS, &host), done(r#"{"value":["Map","Array","Object","Date","Set","Proxy","Error",null]}"#));
    assert_eq!(run(&mut instance, "return [...native.encode('é😀')]", LIMITS, &host), done(r#"{"value":[195,169,240,159,152,128]}"#));
}

#[test]
fn what_nobody_handles_is_known() {
    let mut instance = Instance::new(&image("() => 1")).unwrap();
    let host = Recorder::default();
    for (source, expected) in [
        ("Promise.reject(new Error('a')); Promise.reject(2)", r#"{"unhandled":"Error: a"}"#),
        ("const p = Promise.reject(1); p.catch(() => {})", "{}"),
        ("const all = []; for (let i = 0; i < 100; i++) all.push(Promise.reject(i)); all.forEach(p => p.catch(() => {}))", "{}"),
        (
            "const all = []; for (let i = 0; i < 30000; i++) all.push(Promise.reject(i)); all.slice(0, 1).forEach(p => p.catch(() => {}))",
            r#"{"unhandled":"1"}"#,
        ),
    ] {
        assert_eq!(run(&mut instance, source, LIMITS, &host), done(expected), "{source}");
    }
}

#[test]
fn exceptions_are_told() {
    let mut instance = Instance::new(&image("() => 1")).unwrap();
    let host = Recorder::default();
    let limits = Limits { memory_bytes: 2 << 20, ..LIMITS };
    let escaping = |instance: &mut Instance, source: &str| match run(instance, source, limits, &host) {
        Ok(Step::Threw(text)) => text,
        other => panic!("{source}: {other:?}"),
    };
    let told = escaping(&mut instance, "throw new TypeError('é')");
    assert!(told.starts_with(r#"{"message":"TypeError: é","stack":"    at "#), "{told}");
    assert_eq!(escaping(&mut instance, "throw 'text'"), r#"{"message":"text"}"#);
    assert!(
        escaping(&mut instance, "(function f() { f() })()")
            .starts_with(r#"{"message":"RangeError: Maximum call stack size exceeded","limit":"stack""#)
    );
    assert!(escaping(&mut instance, "const a = []; for (;;) a.push({})").contains(r#""limit":"memory""#));
    // Within the script they are exceptions like any other.
    assert_eq!(
        run(&mut instance, "let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return [e.name, n > 1000] }", LIMITS, &host),
        done(r#"{"value":["RangeError",true]}"#)
    );
}

#[test]
fn scripts_are_evaluated_into_one_image_and_what_was_is_discarded() {
    let mut loader = loader();
    let host = Recorder::default();
    let script = |loader: &mut Loader, source: &str| loader.script(r#"{"path":"a.ts"}"#, source, &host);
    assert_eq!(script(&mut loader, "ask(1, 1); globalThis.gone = 1; () => 1"), done("loaded"));
    assert_eq!(loader.asks().len(), 1);
    let threw = script(&mut loader, "globalThis.gone = 1; throw new Error('no')");
    assert!(matches!(threw, Ok(Step::Threw(text)) if text.starts_with(r#"{"message":"Error: no","#)));
    assert!(matches!(script(&mut loader, "(a b)"), Ok(Step::Threw(text)) if text.starts_with(r#"{"message":"SyntaxError"#)));
    assert_eq!(script(&mut loader, "for (;;);"), Err(Fault::Fuel));
    loader.discard().unwrap();
    assert_eq!(script(&mut loader, "globalThis.kept = 1; () => [typeof gone, kept]"), done("loaded"));
    assert_eq!(script(&mut loader, "kept++; () => [typeof gone, kept]"), done("loaded"));
    let image = loader.into_image().unwrap();
    assert_eq!(call(&mut Instance::new(&image).unwrap(), "1"), done(r#"{"value":["undefined",2]}"#));
}

#[test]
fn scripts_of_a_call_share_an_instance() {
    let image = image("input => { globalThis.n = (globalThis.n ?? 0) + input; return n }");
    let mut instance = Instance::new(&image).unwrap();
    let host = Recorder::default();
    let message = Frame::text(r#"{"path":"a.ts","input":1}"#);
    for value in 1..4 {
        instance.begin(LIMITS).unwrap();
        assert_eq!(block(instance.go_on(message, LIMITS, &host)), done(&format!("{{\"value\":{value}}}")));
    }
    // What is left to be done reaches nobody, and has an end.
    let left = |instance: &mut Instance, body: &str| {
        instance.restore().unwrap();
        instance.begin(LIMITS).unwrap();
        let text = format!(r#"{{"eval":"() => {{ {body}; throw 1 }}"}}"#);
        drop(block(instance.go_on(Frame::text(&text), LIMITS, &host)));
        let ticket = instance.asks().first().map(|ask| ask.ticket);
        let is_done = block(instance.drain(&host));
        instance.begin(LIMITS).unwrap();
        (is_done, ticket.map(|ticket| block(instance.settle(ticket, true, Frame::text("1"), &host))))
    };
    assert_eq!(left(&mut instance, "ask(1, 1)"), (true, Some(Ok(Step::Late))));
    assert_eq!(left(&mut instance, "(async () => { for (;;) await 1 })()"), (false, None));
    assert_eq!(left(&mut instance, "Promise.resolve().then(() => { for (;;); })"), (false, None));
    instance.restore().unwrap();
    assert_eq!(call(&mut instance, "1"), done(r#"{"value":1}"#));
}

#[test]
fn a_script_that_is_not_kept_is_evaluated_for_a_call() {
    let host = Recorder::default();
    let mut instance = Instance::new(&loader().into_image().unwrap()).unwrap();
    for _ in 0..2 {
        let script = Frame { head: r#"{"path":"a.ts"}"#, tail: Some(b"globalThis.n = (globalThis.n ?? 0) + 1; () => [n, Date.now()]") };
        instance.restore().unwrap();
        instance.begin(LIMITS).unwrap();
        assert_eq!(block(instance.evaluate(script, LIMITS, &host)), done("loaded"));
        let step = block(instance.go_on(Frame::text(r#"{"path":"a.ts"}"#), LIMITS, &host));
        assert_eq!(step, done(r#"{"value":[1,1700000000123]}"#));
        assert!(instance.fuel() < LIMITS.fuel.cast_signed() - 100);
    }
}

#[test]
fn memory_is_limited_and_given_back() {
    let image = image("() => 1");
    let mut instance = Instance::new(&image).unwrap();
    let host = Recorder::default();
    let limits = Limits { fuel: 200_000_000, memory_bytes: 8 << 20 };
    let caught = |source: &str| format!("try {{ {source} }} catch (error) {{ return String(error) }}");
    for source in ["const a = []; for (;;) a.push([])", "new ArrayBuffer(9e6)", "const a = []; for (;;) a.push(new Uint8Array(100000))"] {
        assert_eq!(run(&mut instance, &caught(source), limits, &host), done(r#"{"value":"InternalError: out of memory"}"#), "{source}");
        assert!(instance.top().unwrap() <= image.bytes().len() + limits.memory_bytes, "{source}");
    }
    assert_eq!(run(&mut instance, "return new ArrayBuffer(9e6).byteLength", LIMITS, &host), done(r#"{"value":9000000}"#));
    // What a call has filled is empty for the next one, whichever way it is put back.
    for megabytes in [1, 5, 40] {
        let fill = format!("globalThis.secret = new Uint8Array({megabytes}e6).fill(42); return secret.length");
        assert_eq!(run(&mut instance, &fill, LIMITS, &host), done(&format!(r#"{{"value":{megabytes}000000}}"#)));
        let look = format!("let n = 0; for (let i = 0; i < {}; i++) n += new Uint8Array(100000).indexOf(42) + 1; return n", megabytes * 10);
        assert_eq!(run(&mut instance, &look, Limits { fuel: u64::MAX, ..LIMITS }, &host), done(r#"{"value":0}"#), "{megabytes} MB");
        instance.restore().unwrap();
        assert!(
            instance.top().unwrap() == image.bytes().len().max(instance.top().unwrap() / (64 << 10) * (64 << 10))
                || instance.top().unwrap() <= image.bytes().len()
        );
    }
    // A message that does not fit.
    let long = format!("{{\"path\":\"a.ts\",\"input\":\"{}\"}}", "x".repeat(9 << 20));
    let full = block(instance.call(Frame::text(&long), limits, &host));
    assert!(matches!(&full, Err(Fault::Memory)), "{full:?}");
    let long = format!("{{\"path\":\"a.ts\",\"input\":\"{}\"}}", "x".repeat(5 << 20));
    assert!(
        matches!(block(instance.call(Frame::text(&long), limits, &host)), Ok(Step::Threw(text)) if text.contains("\"limit\":\"memory\""))
    );
    assert_eq!(call(&mut instance, "1"), done(r#"{"value":1}"#));
}

#[test]
fn the_instance_survives_whatever_a_script_does() {
    let image = image("input => input + 1");
    let mut instance = Instance::new(&image).unwrap();
    let host = Recorder::default();
    for source in [
        "for (;;);",
        "const f = () => { try { f() } finally { f() } }; f()",
        "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        "return JSON.parse('['.repeat(1e6))",
        "let o = {}; for (let i = 0; i < 20000; i++) o = { o }; return JSON.stringify(o).length",
        "return Array(4e9).join('ab')",
        "return 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
        "return String((1n << 500000n) - 1n).length",
        "const w = new Uint8Array(4e7); for (;;) w.copyWithin(1, 0)",
        "const a = []; for (;;) { try { for (;;) a.push(new Array(1000).fill(1)) } catch {} }",
        "return (async () => { for (;;) await null })()",
        "return new Promise(() => {})",
    ] {
        let started = Instant::now();
        let outcome = run(&mut instance, source, LIMITS, &host);
        assert!(started.elapsed() < Duration::from_secs(10), "{source}: {:?}", started.elapsed());
        assert_eq!(call(&mut instance, "4"), done(r#"{"value":5}"#), "after {source} ({outcome:?})");
    }
    assert_eq!(run(&mut instance, "for (;;);", LIMITS, &host), Err(Fault::Fuel));
    assert!(instance.fuel() < 0);
    let deep = run(&mut instance, "return JSON.parse('['.repeat(1e6))", LIMITS, &host);
    assert!(matches!(&deep, Ok(Step::Threw(text)) if text.contains("\"limit\":\"stack\"")), "{deep:?}");
}

#[test]
fn each_round_of_a_loop_has_variables_of_its_own() {
    let mut instance = Instance::new(&image("() => 1")).unwrap();
    for (source, value) in [
        ("const f = []; for (let i = 0; i < 3; i++) { f.push(() => i); continue } return f.map(f => f())", "[0,1,2]"),
        ("const f = []; for (let i = 0; i < 3; i++) { f.push(() => i); if (i === 1) continue; i += 0 } return f.map(f => f())", "[0,1,2]"),
        ("const f = []; for (let i = 0; i < 3;) { f.push(() => i); i++; continue } return f.map(f => f())", "[1,2,3]"),
        ("const f = []; for (let i = 0; ; i++) { if (i > 2) break; f.push(() => i); continue } return f.map(f => f())", "[0,1,2]"),
        ("const f = []; for (let i = 0; ;) { f.push(() => i); if (++i > 2) break; continue } return f.map(f => f())", "[1,2,3]"),
        (
            "const f = []; a: for (let i = 0; i < 2; i++) for (let j = 0; j < 2; j++) { f.push(() => [i, j]); continue a } return f.map(f => f())",
            "[[0,0],[1,0]]",
        ),
        (
            "const f = []; a: for (let i = 0; i < 3; i++) { try { f.push(() => i); continue a } finally { f.push(() => -i) } } return f.map(f => f())",
            "[0,0,1,-1,2,-2]",
        ),
        (
            "const f = []; for (let i = 0; i < 3; i++) { for (const k of [1]) { f.push(() => i + k); continue } } return f.map(f => f())",
            "[1,2,3]",
        ),
        ("const f = []; for (const i of [1, 2, 3]) { f.push(() => i); continue } return f.map(f => f())", "[1,2,3]"),
        ("const f = []; for (let i in { a: 1, b: 2 }) { f.push(() => i); continue } return f.map(f => f())", r#"["a","b"]"#),
        ("const f = []; let n = 0; while (n < 2) { let i = n++; f.push(() => i); continue } return f.map(f => f())", "[0,1]"),
        ("const f = []; let n = 0; do { let i = n++; f.push(() => i); continue } while (n < 2); return f.map(f => f())", "[0,1]"),
        ("return eval('const f = []; for (let i = 0; i < 2; i++) { f.push(() => i); continue } f.map(f => f())')", "[0,1]"),
    ] {
        assert_eq!(run(&mut instance, source, LIMITS, &Recorder::default()), done(&format!("{{\"value\":{value}}}")), "{source}");
    }
}

#[test]
fn what_the_host_does_is_work_of_the_script() {
    let mut instance = Instance::new(&image("() => 1")).unwrap();
    let host = Recorder::default();
    for source in [
        "for (;;) Math.random()",
        "for (;;) Date.now()",
        "for (;;) performance.now()",
        "for (;;) native.say(2, '1')",
        "const b = new Uint8Array(1e6); for (;;) native.say(1, '1', b)",
        "const b = new Uint8Array(65536); for (;;) native.random(b)",
    ] {
        assert_eq!(run(&mut instance, source, LIMITS, &host), Err(Fault::Fuel), "{source}");
        let said = host.said.take();
        assert!(said.len() < 40_000, "{source}: {}", said.len());
        let bytes: usize = said.iter().map(|(_, message)| message.tail.as_ref().map_or(0, Vec::len)).sum();
        assert!(bytes < 20_000_000, "{source}: {bytes}");
    }
}

/// Lets a call go on for so many turns.
struct Turns {
    left: Cell<usize>,
    taken: Cell<usize>,
}

impl Host for Turns {
    fn say(&self, _: i32, _: Message) -> Option<Message> {
        None
    }

    fn clock_ms(&self) -> f64 {
        0.0
    }

    fn random(&self, _: &mut [u8]) {}

    fn pause(&self) -> Pin<Box<dyn Future<Output = bool> + '_>> {
        Box::pin(async {
            self.taken.set(self.taken.get() + 1);
            let mut is_late = false;
            // As a host does: others first.
            poll_fn(|_| if std::mem::replace(&mut is_late, true) { Poll::Ready(()) } else { Poll::Pending }).await;
            self.left.set(self.left.get().saturating_sub(1));
            self.left.get() > 0
        })
    }
}

#[test]
fn others_have_their_turn_and_a_host_ends_what_it_wants() {
    let image = image("input => { globalThis.n = (globalThis.n ?? 0) + input; return n }");
    let host = Turns { left: Cell::new(1000), taken: Cell::new(0) };
    let source = Frame::text(r#"{"eval":"() => { let n = 0; for (let i = 0; i < 500000; i++) n += i; return n }"}"#);
    let (mut one, mut other) = (Instance::new(&image).unwrap(), Instance::new(&image).unwrap());
    {
        // Two calls in turn on one thread.
        let mut first = pin!(one.call(source, LIMITS, &host));
        let mut second = pin!(other.call(source, LIMITS, &host));
        let mut context = Context::from_waker(Waker::noop());
        let (mut is_first_done, mut is_second_done, mut rounds) = (false, false, 0);
        while !is_first_done || !is_second_done {
            rounds += 1;
            if !is_first_done && let Poll::Ready(step) = first.as_mut().poll(&mut context) {
                assert_eq!(step, done(r#"{"value":124999750000}"#));
                is_first_done = true;
            }
            if !is_second_done && let Poll::Ready(step) = second.as_mut().poll(&mut context) {
                assert_eq!(step, done(r#"{"value":124999750000}"#));
                is_second_done = true;
            }
        }
        assert!(rounds > 4, "{rounds}");
    }
    // The turns take nothing of the fuel.
    let alone = Turns { left: Cell::new(1000), taken: Cell::new(0) };
    let before = one.fuel();
    assert_eq!(block(one.call(source, LIMITS, &alone)), done(r#"{"value":124999750000}"#));
    assert_eq!(one.fuel(), before);
    assert_eq!(alone.taken.get() * 2, host.taken.get());
    // Stopped by its host, and given up in the middle.
    let host = Turns { left: Cell::new(3), taken: Cell::new(0) };
    assert_eq!(block(one.call(source, LIMITS, &host)), Err(Fault::Stopped));
    assert_eq!(host.taken.get(), 3);
    {
        let host = Turns { left: Cell::new(1000), taken: Cell::new(0) };
        let mut given_up = pin!(one.call(source, LIMITS, &host));
        assert!(given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(call(&mut one, "1"), done(r#"{"value":1}"#));
}

#[test]
fn a_call_ends_at_the_same_unit_however_often_it_pauses() {
    let image = image("() => 1");
    let mut instance = Instance::new(&image).unwrap();
    let count = |instance: &mut Instance, fuel: u64| {
        let host = Recorder::default();
        let source = "for (let i = 0; ; i++) { if (i % 1000 === 0) native.say(1, String(i)) }";
        assert_eq!(run(instance, source, Limits { fuel, ..LIMITS }, &host), Err(Fault::Fuel));
        (host.said.borrow().last().map(|(_, message)| message.head.clone()), instance.fuel())
    };
    for fuel in [999_999, 1_000_000, 1_000_001, 2_500_000] {
        let first = count(&mut instance, fuel);
        assert!(first.1 < 0);
        assert_eq!(count(&mut instance, fuel), first);
    }
}

#[test]
fn instances_are_used_from_any_thread() {
    let image = image("input => { globalThis.n = (globalThis.n ?? 0) + input; return n }");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let image = &image;
            std::thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, move || {
                    let mut instance = Instance::new(image).unwrap();
                    for round in 0..20 {
                        assert_eq!(call(&mut instance, &round.to_string()), done(&format!(r#"{{"value":{round}}}"#)));
                        let deep = run(
                            &mut instance,
                            "let n = 0; const f = x => { n++; return [x].map(f) }; try { f(1) } catch {} return n > 500",
                            LIMITS,
                            &Recorder::default(),
                        );
                        assert_eq!(deep, done(r#"{"value":true}"#));
                    }
                })
                .unwrap();
        }
    });
}
