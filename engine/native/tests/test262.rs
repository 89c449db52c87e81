//! A sample of test262, the tests of ECMAScript, as strict scripts.
//!
//! `test262/sample.tar.gz` holds it, with the licence: 3,000 synchronous and 400 asynchronous files
//! of commit be13516f, those below `annexB`, `built-ins` and `language` whose paths have the least
//! SHA-256. Left out before that: what has the flag `noStrict`, `raw` or `module`, needs `import`,
//! a second realm or another agent, and the features Atomics, SharedArrayBuffer, Temporal,
//! ShadowRealm, decorators, `import defer`, source phases and Intl. `test262/exceptions.txt` names
//! those that fail, each with its reason; one that passes fails this test.
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    io::Read as _,
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    thread,
    time::Instant,
};

use millrace_engine::{Frame, Host, Image, Instance, Limits, Loader, Message, Step};

const LIMITS: Limits = Limits { fuel: 1_000_000_000, memory_bytes: 256 << 20 };

/// A script whose `meta` says `test` is one, and ends by itself or, where it says `async`, by what
/// it prints.
const PRELUDE: &str = "native => {
  let meta, printed;
  globalThis.print = text => void (printed ??= String(text));
  globalThis.$262 = { global: globalThis, gc() {}, detachArrayBuffer: buffer => void buffer.transfer() };
  return {
    load(given) { meta = given },
    enter() {},
    settle() {},
    poll(isBusy) { return isBusy ? false : meta.async ? printed : 'Test262:AsyncTestComplete' },
  };
}";

/// Runs what waits for nothing but its turn.
fn block<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

struct Clock(Instant);

impl Host for Clock {
    fn say(&self, _: i32, _: Message) -> Option<Message> {
        None
    }

    fn clock_ms(&self) -> f64 {
        1_700_000_000_123.0 + self.0.elapsed().as_secs_f64() * 1e3
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(4);
    }
}

/// What a test says of itself.
#[derive(Debug, Default)]
struct Meta {
    is_async: bool,
    includes: Vec<String>,
    /// The name of what it throws.
    throws: Option<String>,
}

impl Meta {
    fn of(source: &str) -> Self {
        let text = source.split_once("/*---").and_then(|(_, rest)| rest.split_once("---*/")).map_or("", |(text, _)| text);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let list = |key: &str| -> Vec<String> {
            let Some(at) = lines.iter().position(|line| line.starts_with(key)) else { return Vec::new() };
            let items = match lines[at][key.len()..].trim() {
                "" => lines[at + 1..].iter().map_while(|line| line.strip_prefix("- ")).collect(),
                list => list.trim_matches(['[', ']']).split(',').collect::<Vec<_>>(),
            };
            items.into_iter().map(|item| item.trim().into()).collect()
        };
        let is_negative = lines.contains(&"negative:");
        Self {
            is_async: list("flags:").iter().any(|flag| flag == "async"),
            includes: list("includes:"),
            throws: is_negative.then(|| list("type:").concat()),
        }
    }
}

fn sample() -> BTreeMap<String, String> {
    let packed = &include_bytes!("test262/sample.tar.gz")[..];
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(path, String::from_utf8(bytes).unwrap());
    }
    files
}

/// Why a test fails.
fn run(instance: &mut Instance, files: &BTreeMap<String, String>, path: &str, host: &Clock) -> Result<(), String> {
    let source = &files[path];
    let meta = Meta::of(source);
    instance.restore().unwrap();
    instance.begin(LIMITS).unwrap();
    for include in &meta.includes {
        let script = Frame { head: r#"{"path":"harness"}"#, tail: Some(files[&format!("harness/{include}")].as_bytes()) };
        let step = block(instance.evaluate(script, LIMITS, host));
        if !matches!(step, Ok(Step::Done(_))) {
            return Err(format!("{include}: {step:?}"));
        }
    }
    let head = format!(r#"{{"path":"test","async":{}}}"#, meta.is_async);
    let step = block(instance.evaluate(Frame { head: &head, tail: Some(source.as_bytes()) }, LIMITS, host));
    match (step, meta.throws) {
        (Ok(Step::Done(text)), None) if text == "Test262:AsyncTestComplete" => Ok(()),
        (Ok(Step::Threw(told)), Some(name)) if told.starts_with(&format!(r#"{{"message":"{name}"#)) => Ok(()),
        (Ok(Step::Waits), _) => Err("it never ends".into()),
        (step, None) => Err(format!("{step:?}")),
        (step, Some(name)) => Err(format!("{name} expected: {step:?}")),
    }
}

#[test]
fn test262_passes_but_for_the_exceptions() {
    let files = sample();
    let host = Clock(Instant::now());
    let base = Image::base(PRELUDE, LIMITS, &host).unwrap();
    let mut loader = Loader::on(&base, LIMITS).unwrap();
    for include in ["assert.js", "sta.js", "doneprintHandle.js"] {
        let loaded = loader.script(r#"{"path":"harness"}"#, &files[&format!("harness/{include}")], &host);
        assert!(matches!(loaded, Ok(Step::Done(_))), "{include}: {loaded:?}");
    }
    let image: Arc<Image> = loader.into_image().unwrap();
    let tests: Vec<&String> = files.keys().filter(|path| path.starts_with("test/")).collect();
    let next = Mutex::new(tests.iter());
    let failures = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut instance = Instance::new(&image).unwrap();
                loop {
                    let Some(path) = next.lock().unwrap().next() else { break };
                    if let Err(reason) = run(&mut instance, &files, path, &host) {
                        failures.lock().unwrap().insert(path.as_str(), reason);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let mut rates = Vec::new();
    for (kind, is_async) in [("synchronous", false), ("asynchronous", true)] {
        let of_kind: Vec<&&String> = tests.iter().filter(|path| Meta::of(&files[**path]).is_async == is_async).collect();
        let passed = of_kind.iter().filter(|path| !failures.contains_key(path.as_str())).count();
        println!("{kind}: {passed} of {}", of_kind.len());
        rates.push(passed as f64 / of_kind.len() as f64);
    }
    let listed: BTreeSet<&str> = include_str!("test262/exceptions.txt")
        .lines()
        .filter(|line| line.starts_with("test/"))
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("without a reason: {line}")).0)
        .collect();
    let unlisted: Vec<_> = failures.iter().filter(|(path, _)| !listed.contains(*path)).collect();
    for (path, reason) in &unlisted {
        println!("{path}: {}", reason.chars().take(300).collect::<String>());
    }
    let stale: Vec<_> = listed.iter().filter(|path| !failures.contains_key(**path)).collect();
    assert!(unlisted.is_empty() && stale.is_empty(), "{} fail that are not listed; listed, and they pass: {stale:?}", unlisted.len());
    assert!(tests.len() >= 3_000 && rates[0] >= 0.99 && rates[1] >= 0.92, "{rates:?}");
}
