//! An outside in memory: every port, with a record of what was asked of it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::{Future, pending, poll_fn},
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::Access,
    ports::{
        CallRecord, Claims, Clock, Command, Connection, Connector, Connectors, Counted, Env, Exactness, HttpClient, HttpRequest,
        HttpResponse, Invocation, KvCache, LocalFuture, Ports, Query, Random, RecordedWrite, Returned, ScriptEngine, ScriptFault,
        ScriptHost, StateStore, TokenPolicy, TokenRefusal, TokenVerifier, WaitUntil,
    },
    secret::Secret,
    value::{Rows, Value},
};

/// The moment at which every test begins.
pub const NOW_MS: u64 = 1_000_000;

/// Runs a future to its end. A future that makes no progress in many polls fails the test.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("the future never ends")
}

/// One statement as the connector saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedQuery {
    /// The statement.
    pub text: String,
    /// Its values.
    pub params: Vec<Value>,
    /// Whether it may write.
    pub access: Access,
    /// When it must be over, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// The most rows of the answer.
    pub max_rows: usize,
}

/// What a fake does when it is asked; `None` is never to answer.
pub type Answer<T> = Option<T>;
type OnQuery = dyn Fn(&RecordedQuery) -> Answer<Result<Rows>>;
type OnHttp = dyn Fn(&HttpRequest) -> Answer<Result<HttpResponse>>;
type OnScript = dyn Fn(RecordedScriptCall) -> Answer<Result<Returned, ScriptFault>>;
type OnToken = dyn Fn(&str, &TokenPolicy<'_>) -> Answer<Result<Rc<Claims>, TokenRefusal>>;
type OnHost = dyn for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json>;

/// One call of a script as the engine saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedScriptCall {
    /// The script's path.
    pub path: String,
    /// The function.
    pub export: String,
    /// What it was called with.
    pub payload: Json,
    /// The data of `ctx`.
    pub ctx: Json,
    /// When it must be over, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
}

/// The outside of a pipeline: what was asked of it, and how it answers.
#[derive(Default)]
pub struct World {
    /// What the clock says.
    pub now_ms: Cell<u64>,
    /// How long was slept, each time.
    pub sleeps: RefCell<Vec<u64>>,
    /// The environment variables.
    pub env: RefCell<BTreeMap<String, String>>,
    /// The connections that were opened.
    pub opened: RefCell<Vec<Connection>>,
    /// The queries.
    pub asked: RefCell<Vec<RecordedQuery>>,
    /// Answers queries; no rows without it.
    pub on_query: RefCell<Option<Box<OnQuery>>>,
    /// What is known of writes with a record, by the record's key.
    pub written: RefCell<BTreeMap<String, RecordedWrite>>,
    /// The calls of scripts.
    pub seen: RefCell<Vec<RecordedScriptCall>>,
    /// Answers calls of scripts; `undefined` without it.
    pub on_script: RefCell<Option<Box<OnScript>>>,
    /// Runs in place of a script, with its host, and answers its calls where
    /// [`on_script`](Self::on_script) does not.
    pub on_host: RefCell<Option<Rc<OnHost>>>,
    /// Answers for tokens; nobody without it.
    pub on_token: RefCell<Option<Box<OnToken>>>,
    /// The HTTP requests.
    pub sent: RefCell<Vec<HttpRequest>>,
    /// Answers HTTP requests; nobody without it.
    pub on_http: RefCell<Option<Box<OnHttp>>>,
    /// The entries of the cache, with their time to live in seconds.
    pub cached: RefCell<BTreeMap<String, (Vec<u8>, u32)>>,
    /// Whether the cache fails.
    pub cache_fails: Cell<bool>,
    /// The counters, with the end of their time in milliseconds since the Unix epoch.
    pub counters: RefCell<BTreeMap<String, (i64, u64)>>,
    /// The records, likewise.
    pub records: RefCell<BTreeMap<String, (Vec<u8>, u64)>>,
    /// Whether the store of counters and records fails.
    pub state_fails: Cell<bool>,
    /// Who agrees by that store; one isolate without it.
    pub exactness: Cell<Option<Exactness>>,
    /// The process that the store knows to run.
    pub holder: RefCell<Option<String>>,
    /// The longest record that the store takes in place of another.
    pub longest_record: Cell<Option<usize>>,
    /// How often randomness was drawn since `exactness` was set.
    pub drawn: Cell<u8>,
    /// What was put off until after the response.
    pub later: RefCell<Vec<LocalFuture<'static, ()>>>,
}

struct Fake(Rc<World>);

impl World {
    /// A world at [`NOW_MS`].
    #[must_use]
    pub fn new() -> Rc<Self> {
        Rc::new(Self { now_ms: Cell::new(NOW_MS), ..Self::default() })
    }

    /// Its ports.
    #[must_use]
    pub fn ports(self: &Rc<Self>) -> Ports {
        let fake = || Rc::new(Fake(Rc::clone(self)));
        Ports {
            http: fake(),
            connectors: fake(),
            cache: fake(),
            state: fake(),
            places: None,
            tokens: fake(),
            scripts: fake(),
            clock: fake(),
            random: fake(),
            env: fake(),
            secrets: None,
            wait_until: fake(),
            observer: None,
        }
    }

    /// Answers every query with these rows.
    pub fn answer_rows(&self, rows: Rows) {
        *self.on_query.borrow_mut() = Some(Box::new(move |_| Some(Ok(rows.clone()))));
    }

    /// Fails every query.
    pub fn answer_error(&self, error: Error) {
        *self.on_query.borrow_mut() = Some(Box::new(move |_| Some(Err(error.clone()))));
    }

    /// Answers every call of a script.
    pub fn answer_script(&self, answer: Result<Returned, ScriptFault>) {
        *self.on_script.borrow_mut() = Some(Box::new(move |_| Some(answer.clone())));
    }

    /// Sets a variable.
    pub fn set_env(&self, name: &str, value: &str) {
        self.env.borrow_mut().insert(name.into(), value.into());
    }

    /// Does what was put off until after the response.
    pub fn finish_later(&self) -> usize {
        let tasks = self.later.take();
        let count = tasks.len();
        tasks.into_iter().for_each(block_on);
        count
    }
}

impl Clock for Fake {
    fn now_ms(&self) -> u64 {
        self.0.now_ms.get()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        let world = Rc::clone(&self.0);
        world.sleeps.borrow_mut().push(duration_ms);
        let mut polls = 0;
        Box::pin(poll_fn(move |_| {
            polls += 1;
            if polls < 3 {
                return Poll::Pending;
            }
            world.now_ms.set(world.now_ms.get() + duration_ms);
            Poll::Ready(())
        }))
    }
}

impl Env for Fake {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        self.0.env.borrow().get(name).cloned().map(Secret::new)
    }
}

impl Random for Fake {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(7);
        // Isolates that agree by a store must not draw the same.
        if let (Some(_), Some(first)) = (self.0.exactness.get(), buffer.first_mut()) {
            *first = self.0.drawn.get();
            self.0.drawn.set(first.wrapping_add(1));
        }
    }
}

impl WaitUntil for Fake {
    fn wait_until(&self, task: LocalFuture<'static, ()>) {
        self.0.later.borrow_mut().push(task);
    }
}

impl KvCache for Fake {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            if self.0.cache_fails.get() {
                return Err(Error::new(ErrorKind::Unavailable, "the cache is away"));
            }
            Ok(self.0.cached.borrow().get(key).map(|(value, _)| value.clone()))
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.0.cache_fails.get() {
                return Err(Error::new(ErrorKind::Unavailable, "the cache is away"));
            }
            self.0.cached.borrow_mut().insert(key.into(), (value, ttl_s));
            Ok(())
        })
    }
}

impl Fake {
    /// The world, where its store of counters and records works. What has expired is gone.
    fn state(&self) -> Result<&World> {
        if self.0.state_fails.get() {
            return Err(Error::new(ErrorKind::Unavailable, "the state is away"));
        }
        let now_ms = self.0.now_ms.get();
        self.0.counters.borrow_mut().retain(|_, (_, expires_ms)| *expires_ms > now_ms);
        self.0.records.borrow_mut().retain(|_, (_, expires_ms)| *expires_ms > now_ms);
        Ok(&self.0)
    }

    fn expiry(&self, ttl_s: u32) -> u64 {
        self.0.now_ms.get() + u64::from(ttl_s) * 1000
    }
}

impl StateStore for Fake {
    fn add<'a>(&'a self, key: &'a str, _owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(async move {
            let mut counters = self.state()?.counters.borrow_mut();
            let before = counters.get(key).map_or(0, |(total, _)| *total);
            if before + by > most {
                return Ok(Counted { added: false, total: before });
            }
            counters.entry(key.into()).or_insert((0, self.expiry(ttl_s))).0 += by;
            Ok(Counted { added: true, total: before + by })
        })
    }

    fn put_if_absent<'a>(
        &'a self,
        key: &'a str,
        _owner: &'a [u8],
        value: &'a [u8],
        ttl_s: u32,
    ) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            let mut records = self.state()?.records.borrow_mut();
            if let Some((there, _)) = records.get(key) {
                return Ok(Some(there.clone()));
            }
            records.insert(key.into(), (value.to_vec(), self.expiry(ttl_s)));
            Ok(None)
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move { Ok(self.state()?.records.borrow().get(key).map(|(value, _)| value.clone())) })
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.0.longest_record.get().is_some_and(|longest| value.len() > longest) {
                return Err(Error::new(ErrorKind::Busy, "the store is full"));
            }
            self.state()?.records.borrow_mut().insert(key.into(), (value.to_vec(), self.expiry(ttl_s)));
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.state()?.records.borrow_mut().remove(key);
            self.0.counters.borrow_mut().remove(key);
            Ok(())
        })
    }

    fn holder(&self) -> Result<Option<String>> {
        Ok(self.0.holder.borrow().clone())
    }

    fn may_run(&self, holder: &str) -> bool {
        self.0.holder.borrow().as_deref() == Some(holder)
    }

    fn exactness(&self) -> Exactness {
        self.0.exactness.get().unwrap_or(Exactness::Isolate)
    }
}

impl Connectors for Fake {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        if connection.connector == "absent" {
            return Err(Error::new(ErrorKind::Configuration, "this host has no connector `absent`"));
        }
        self.0.opened.borrow_mut().push(connection);
        Ok(Rc::new(Fake(Rc::clone(&self.0))))
    }
}

impl Connector for Fake {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        let Query { command, access, deadline_ms, max_rows, .. } = query;
        let (text, params) = match command {
            // Its values are where they stand.
            Command::Document(members) => (format!("{members:?}"), Vec::new()),
            command => command.statement("fake").map(|(text, params)| (text.into(), params.to_vec())).unwrap(),
        };
        let asked = RecordedQuery { text, params, access, deadline_ms, max_rows };
        self.0.asked.borrow_mut().push(asked.clone());
        let answer = self.0.on_query.borrow().as_ref().map_or(Some(Ok(Rows::default())), |answer| answer(&asked));
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move {
            if let Some(known) = self.0.written.borrow().get(record.key) {
                return Ok(known.clone());
            }
            let rows = self.query(query).await?;
            self.0.written.borrow_mut().insert(record.key.into(), RecordedWrite::MadeBefore(rows.clone()));
            Ok(RecordedWrite::Made(rows))
        })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { if deadline_ms > NOW_MS { Ok(()) } else { Err(Error::new(ErrorKind::TimedOut, "late")) } })
    }
}

impl TokenVerifier for Fake {
    fn verify<'a>(&'a self, token: &'a str, policy: TokenPolicy<'a>, _: u64) -> LocalFuture<'a, Result<Rc<Claims>, TokenRefusal>> {
        let answer = self.0.on_token.borrow().as_ref().and_then(|answer| answer(token, &policy));
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

impl HttpClient for Fake {
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>> {
        let answer = self.0.on_http.borrow().as_ref().and_then(|answer| answer(&request));
        self.0.sent.borrow_mut().push(request);
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

impl ScriptEngine for Fake {
    fn call<'a>(&'a self, invocation: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        let Invocation { script, export, payload, ctx, deadline_ms, host, .. } = invocation;
        let seen = RecordedScriptCall {
            path: script.path.clone(),
            export: export.into(),
            payload: payload.clone(),
            ctx: ctx.clone(),
            deadline_ms,
        };
        self.0.seen.borrow_mut().push(seen.clone());
        Box::pin(async move {
            let on_host = self.0.on_host.borrow().clone();
            if let Some(on_host) = on_host {
                let value = on_host(host).await;
                if self.0.on_script.borrow().is_none() {
                    return Ok(Returned::Value(value));
                }
            }
            let answer = self.0.on_script.borrow().as_ref().map_or(Some(Ok(Returned::Undefined)), |answer| answer(seen));
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}
