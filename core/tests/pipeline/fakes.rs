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
    app::{
        Access, Adapter, App, BatchLimits, Bind, EnvPart, EnvTemplate, ErrorStyle, Errors, Execute, Input, InputKind, Limits, ParamStyle,
        Part, Root, Script, ScriptLimits, ScriptRef, Server, Source, Statement, Tool,
    },
    cancel::Cancel,
    fault::FaultResult,
    headers::Headers,
    pipeline::{Call, ContentBlock, Pipeline, ToolResult},
    ports::{
        Clock, Connection, Connector, Connectors, Env, HttpClient, HttpRequest, HttpResponse, Invocation, KvCache, LocalFuture, Ports,
        Query, Random, Returned, ScriptEngine, ScriptFault, ScriptHost, WaitUntil,
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
pub struct Asked {
    pub text: String,
    pub params: Vec<Value>,
    pub access: Access,
    pub deadline_ms: u64,
    pub max_rows: usize,
}

/// What a fake does when it is asked; `None` is never to answer.
pub type Answer<T> = Option<T>;
type OnScript = dyn Fn(Seen) -> Answer<Result<Returned, ScriptFault>>;
type OnHost = dyn for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json>;

/// One call of a script as the engine saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub path: String,
    pub export: String,
    pub payload: Json,
    pub ctx: Json,
    pub deadline_ms: u64,
}

#[derive(Default)]
pub struct World {
    pub now_ms: Cell<u64>,
    pub sleeps: RefCell<Vec<u64>>,
    pub env: RefCell<BTreeMap<String, String>>,
    pub opened: RefCell<Vec<Connection>>,
    pub asked: RefCell<Vec<Asked>>,
    pub on_query: RefCell<Option<Box<dyn Fn(&Asked) -> Answer<Result<Rows>>>>>,
    pub seen: RefCell<Vec<Seen>>,
    pub on_script: RefCell<Option<Box<OnScript>>>,
    pub on_host: RefCell<Option<Rc<OnHost>>>,
    pub sent: RefCell<Vec<HttpRequest>>,
    pub on_http: RefCell<Option<Box<dyn Fn(&HttpRequest) -> Answer<Result<HttpResponse>>>>>,
    pub cached: RefCell<BTreeMap<String, (Vec<u8>, u32)>>,
    pub cache_fails: Cell<bool>,
    pub later: RefCell<Vec<LocalFuture<'static, ()>>>,
}

struct Fake(Rc<World>);

impl World {
    pub fn new() -> Rc<Self> {
        Rc::new(Self { now_ms: Cell::new(NOW_MS), ..Self::default() })
    }

    pub fn ports(self: &Rc<Self>) -> Ports {
        let fake = || Rc::new(Fake(Rc::clone(self)));
        Ports {
            http: fake(),
            connectors: fake(),
            cache: fake(),
            scripts: fake(),
            clock: fake(),
            random: fake(),
            env: fake(),
            wait_until: fake(),
            observer: None,
        }
    }

    pub fn answer_rows(&self, rows: Rows) {
        *self.on_query.borrow_mut() = Some(Box::new(move |_| Some(Ok(rows.clone()))));
    }

    pub fn answer_error(&self, error: Error) {
        *self.on_query.borrow_mut() = Some(Box::new(move |_| Some(Err(error.clone()))));
    }

    pub fn answer_script(&self, answer: Result<Returned, ScriptFault>) {
        *self.on_script.borrow_mut() = Some(Box::new(move |_| Some(answer.clone())));
    }

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
        let (text, params) = command.statement("fake").unwrap();
        let asked = Asked { text: text.into(), params: params.to_vec(), access, deadline_ms, max_rows };
        self.0.asked.borrow_mut().push(asked.clone());
        let answer = self.0.on_query.borrow().as_ref().map_or(Some(Ok(Rows::default())), |answer| answer(&asked));
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { if deadline_ms > NOW_MS { Ok(()) } else { Err(Error::new(ErrorKind::TimedOut, "late")) } })
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
        let seen = Seen { path: script.path.clone(), export: export.into(), payload: payload.clone(), ctx: ctx.clone(), deadline_ms };
        self.0.seen.borrow_mut().push(seen.clone());
        Box::pin(async move {
            let on_host = self.0.on_host.borrow().clone();
            if let Some(on_host) = on_host {
                return Ok(Returned::Value(on_host(host).await));
            }
            let answer = self.0.on_script.borrow().as_ref().map_or(Some(Ok(Returned::Undefined)), |answer| answer(seen));
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

/// An app with one adapter `main` and the scripts that its tools name by number.
pub fn app(tools: Vec<Tool>) -> App {
    let adapter = Adapter {
        name: "main".into(),
        connector: "fake".into(),
        connection_string: EnvTemplate(vec![EnvPart::Text("fake://".into())]),
        options: vec![],
        timeout_ms: 2_000,
        max_rows: 100,
        read_only: false,
        seed: None,
    };
    App {
        name: "shop".into(),
        version: "1".into(),
        instructions: None,
        server: Server { port: 0, path: "/mcp".into(), cors_origins: vec![], hosts: vec![], body_limit: 1 << 20 },
        batch: BatchLimits::default(),
        env: vec![],
        fetch_allow: vec![],
        telemetry: true,
        adapters: vec![adapter],
        scripts: ["handler.ts", "input.ts", "output.ts", "auth.ts"]
            .map(|path| Script { path: path.into(), program: String::new(), changes_built_ins: false, map: None })
            .into(),
        tools,
        prompts: vec![],
        resources: vec![],
    }
}

pub const HANDLER: u32 = 0;
pub const MAP_INPUT: u32 = 1;
pub const MAP_OUTPUT: u32 = 2;
pub const PLUGIN: u32 = 3;

pub fn script(script: u32) -> ScriptRef {
    ScriptRef { script, export: "default".into() }
}

pub fn tool(name: &str, execute: Execute) -> Tool {
    Tool {
        name: name.into(),
        path: name.into(),
        descriptor: "{}".into(),
        listed: true,
        auth: None,
        inputs: vec![],
        map_input: None,
        execute,
        map_output: None,
        cache: None,
        errors: Errors { style: ErrorStyle::Result, expose: false, on: vec![] },
        limits: Limits {
            timeout_ms: 5_000,
            output_bytes: 1 << 18,
            script: ScriptLimits { loops: 1_000_000, recursion: 400, memory_bytes: 1 << 20, output_bytes: 1 << 20 },
        },
        results_as_rows: false,
        input_schema: None,
        confirm: None,
        output: None,
    }
}

/// A tool with a handler.
pub fn script_tool() -> Tool {
    tool("t", Execute::Script(script(HANDLER)))
}

/// A tool that reads with a statement of these parts.
pub fn query_tool(parts: Vec<Part>) -> Tool {
    tool("t", Execute::Statement { adapter: 0, statement: statement(parts, ParamStyle::NumberedQuestion, Access::Read) })
}

/// A tool with a finished statement.
pub fn select_tool() -> Tool {
    query_tool(vec![Part::Text("SELECT 1".into())])
}

pub fn statement(parts: Vec<Part>, style: ParamStyle, access: Access) -> Statement {
    Statement { style, parts, text: None, access, max_values: 100 }
}

pub fn input(name: &str, kind: InputKind) -> Input {
    Input {
        name: name.into(),
        kind,
        optional: false,
        nullable: false,
        default: None,
        allowed: vec![],
        min: None,
        max: None,
        pattern: None,
        format: None,
        items: None,
        fields: vec![],
        header: None,
    }
}

pub fn source(root: Root, path: &str) -> Source {
    Source { root, path: path.split('.').filter(|step| !step.is_empty()).map(Into::into).collect() }
}

pub fn bind(path: &str, kind: InputKind) -> Part {
    Part::Bind(Bind::Value { source: source(Root::Inputs, path), kind: Some(kind) })
}

/// How a call is made, apart from its tool and arguments.
#[derive(Default)]
pub struct With {
    pub headers: Headers,
    pub deadline_ms: Option<u64>,
    pub cancel: Cancel,
}

/// Calls the tool `t`.
pub fn call(pipeline: &Pipeline, arguments: Json, with: &With) -> FaultResult<ToolResult> {
    call_named(pipeline, "t", arguments, with)
}

pub fn call_named(pipeline: &Pipeline, tool: &str, arguments: Json, with: &With) -> FaultResult<ToolResult> {
    let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
    block_on(pipeline.call(Call {
        method: "tools/call",
        tool,
        arguments,
        request_id: "req-1",
        trace: Default::default(),
        headers: &with.headers,
        protocol: "2026-07-28",
        deadline_ms: with.deadline_ms,
        cancel: &with.cancel,
        listener: None,
        rounds: Default::default(),
    }))
}

/// A pipeline of one tool.
pub fn pipeline(world: &Rc<World>, tool: Tool) -> Pipeline {
    Pipeline::new(Rc::new(app(vec![tool])), world.ports())
}

/// Calls a tool once in a world.
pub fn run(world: &Rc<World>, tool: Tool, arguments: Json) -> FaultResult<ToolResult> {
    call(&pipeline(world, tool), arguments, &With::default())
}

/// The text of a result, with `!` in front where it is an error.
pub fn text(result: &ToolResult) -> String {
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("one block, not {result:?}") };
    if result.is_error { format!("!{text}") } else { text.clone() }
}

/// The typed fields of a failed result.
pub fn meta(result: &ToolResult) -> &Json {
    let [(name, meta)] = result.meta.as_slice() else { panic!("one member of _meta, not {result:?}") };
    assert_eq!(name, "millrace/error");
    meta
}

pub fn rows(columns: &[&str], rows: Vec<Vec<Value>>) -> Rows {
    Rows { columns: columns.iter().map(|name| (*name).to_string()).collect(), rows, affected: 0 }
}
