//! A small app, ports that do nothing by themselves, and a way to ask.

use std::rc::Rc;
use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Endpoint, Error, ErrorKind, Json, Result,
    app::{
        Adapter, ApiKey, ApiKeys, App, Argument, Auth, Content, EnvPart, EnvTemplate, ErrorStyle, Execute, ExpectedKey, Input, InputKind,
        Limits, Prompt, PromptContent, PromptMessage, Resource, Root, Script, ScriptLimits, ScriptRef, Server, Source, Template,
        TemplatePart, Tool, UriPattern,
    },
    cancel::Cancel,
    headers::Headers,
    ports::{
        Connection, Connector, Connectors, Invocation, LocalFuture, LogLevel, LogReader, Ports, Query, Reply, Returned, ScriptEngine,
        ScriptFault, Thrown, ToolErrorReply,
    },
    protocol::{Body, Request, ResponseBody},
    value::Rows,
};
use millrace_test_kit::{Inert, made};
use serde_json::json;

pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A key of 32 bytes.
const KEYS: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

struct Fake;

impl Connectors for Fake {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        if connection.connector == "none" {
            return Err(Error::new(ErrorKind::Configuration, "hunter2").with_source("hunter2"));
        }
        Ok(Rc::new(FakeConnector { up: connection.connector == "up" }))
    }
}

struct FakeConnector {
    up: bool,
}

impl Connector for FakeConnector {
    fn query<'a>(&'a self, _: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async { Ok(Rows::default()) })
    }

    fn ping(&self, _: u64) -> LocalFuture<'_, Result<()>> {
        let answer = if self.up { Ok(()) } else { Err(Error::new(ErrorKind::Unavailable, "hunter2").with_source("hunter2")) };
        Box::pin(async { answer })
    }
}

impl ScriptEngine for Fake {
    fn call<'a>(&'a self, invocation: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        let answer = match invocation.export {
            "ask" | "twice" | "sample" | "everything" => return Box::pin(ask(invocation)),
            "speak" | "flood" | "stall" => return Box::pin(speak(invocation)),
            "echo" => Ok(Returned::Value(invocation.payload["inputs"].clone())),
            "request" => Ok(Returned::Value(invocation.ctx["request"].clone())),
            "rows" => Ok(Returned::Value((0..250).map(|id| json!({ "id": id, "in": invocation.payload["inputs"] })).collect())),
            "inputs" => Ok(Returned::Value(json!([invocation.payload["inputs"].to_string()]))),
            "base64" => Ok(Returned::Value("AP8=".into())),
            "gone" => Ok(Returned::Reply(Reply::ToolError(ToolErrorReply { code: "NOT_FOUND".into(), ..ToolErrorReply::default() }))),
            _ => Err(ScriptFault::Thrown(Thrown { message: "out of stock".into(), stack: None, cause: None, reply: None })),
        };
        Box::pin(async { answer })
    }
}

/// A script that asks its caller.
async fn ask(invocation: Invocation<'_>) -> Result<Returned, ScriptFault> {
    let elicit = |field: &str| {
        let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
        json!({"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}})
    };
    let sample = json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}});
    let rounds = match invocation.export {
        "ask" => vec![json!({"name": elicit("name")})],
        "twice" => vec![json!({"first": elicit("name")}), json!({"second": elicit("name")})],
        "sample" => vec![json!({"model": sample})],
        _ => vec![json!({"a": elicit("name"), "b": sample, "c": {"method": "roots/list", "params": {}}})],
    };
    let mut all = vec![];
    for requests in rounds {
        match invocation.host.require_input(requests) {
            Ok(Some(answers)) => all.push(answers),
            Ok(None) => {
                return Err(ScriptFault::Thrown(Thrown {
                    message: String::new(),
                    stack: None,
                    cause: None,
                    reply: Some(Reply::InputRequired),
                }));
            }
            Err(error) => {
                return Err(ScriptFault::Thrown(Thrown { message: error.into_parts().message, stack: None, cause: None, reply: None }));
            }
        }
    }
    Ok(Returned::Value(Json::Array(all)))
}

/// A script that talks.
async fn speak(invocation: Invocation<'_>) -> Result<Returned, ScriptFault> {
    let host = invocation.host;
    // What is for the operator reaches nobody else.
    host.log(LogReader::Operator, LogLevel::Error, "hunter2");
    host.progress(1.0, Some(3.0), Some("line\none"));
    match invocation.export {
        "flood" => (2..5000).for_each(|number| {
            host.log(LogReader::Caller, LogLevel::Info, &"ä".repeat(5000));
            host.progress(f64::from(number), None, None);
        }),
        "stall" => invocation.cancel.tripped().await,
        _ => {
            for (done, level, line) in
                [(2.0, LogLevel::Debug, "a"), (2.0, LogLevel::Info, "b"), (1.5, LogLevel::Warn, "c"), (2.5, LogLevel::Error, "d")]
            {
                yield_once().await;
                host.progress(done, None, None);
                host.log(LogReader::Caller, level, line);
            }
        }
    }
    Ok(Returned::Value(json!("done")))
}

/// Waits for one turn.
async fn yield_once() {
    let mut waited = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

pub(crate) fn ports() -> Ports {
    let inert = Inert { now_ms: 1_800_000_000_000, random: 0xab, env: &[("MILLRACE_STATE_KEY", KEYS)] };
    Ports { connectors: Rc::new(Fake), scripts: Rc::new(Fake), ..inert.ports() }
}

pub(crate) fn endpoint(app: App) -> Endpoint {
    Endpoint::new(app, ports())
}

/// An app without anything.
pub(crate) fn empty_app() -> App {
    App {
        version: "1.2.0".into(),
        server: Server {
            port: 8080,
            port_variable: None,
            path: "/mcp".into(),
            hosts: vec!["mcp.example.com".into()],
            cors_origins: vec!["https://chat.example.com".into(), "http://Tools.example.com:8081".into()],
            body_limit: 4096,
        },
        scripts: vec![Script { path: "tool.ts".into(), program: String::new(), map: None, loads_without_clock: false }],
        logs: true,
        ..made::app("shop")
    }
}

/// An app with some of everything.
pub(crate) fn shop() -> App {
    let mut echo = tool("echo", "echo");
    echo.inputs = vec![
        Input { header: Some("Region".into()), ..input("region", InputKind::String) },
        Input { header: Some("Count".into()), ..input("count", InputKind::Int) },
        Input { header: Some("Flag".into()), ..input("flag", InputKind::Boolean) },
        Input { fields: vec![Input { header: Some("Zip".into()), ..input("zip", InputKind::String) }], ..input("to", InputKind::Object) },
    ];
    let mut fail_result = tool("fail", "throw");
    fail_result.errors.style = ErrorStyle::Result;
    let mut fail_protocol = tool("fail-hard", "throw");
    fail_protocol.errors.style = ErrorStyle::Protocol;
    let mut locked = tool("locked", "echo");
    let expected = ExpectedKey::Value(EnvTemplate(vec![EnvPart::Text("open sesame".into())]));
    locked.auth =
        Some(Auth::ApiKey(ApiKeys { keys: vec![ApiKey { name: "key".into(), expected, scopes: vec![], roles: vec![] }], scopes: vec![] }));
    App {
        instructions: Some("Amounts are in cents.".into()),
        tools: vec![echo, fail_result, fail_protocol, locked, tool("request", "request")],
        prompts: vec![prompt()],
        resources: vec![
            resource("docs://logo", "image/png", Content::Blob(vec![0xff, 0xd8, 0x00])),
            resource("docs://manual", "text/markdown", text("# Manual")),
            resource("docs://orders/{id}", "text/plain", template("order ", "id")),
            resource("docs://orders/{id}/lines", "text/plain", template("lines of ", "id")),
            resource("docs://orders/new", "text/plain", text("a form")),
        ],
        ..empty_app()
    }
}

pub(crate) fn tool(name: &str, export: &str) -> Tool {
    let script = ScriptLimits { loops: 1, memory_bytes: 1 << 20, output_bytes: 1 << 20 };
    Tool {
        descriptor: json!({"name": name, "description": "A tool", "inputSchema": {"type": "object"}}).to_string(),
        limits: Limits { timeout_ms: 1000, script, ..Limits::DEFAULT },
        ..Tool::new(name, Execute::Script(ScriptRef { script: 0, export: export.into() }))
    }
}

pub(crate) fn input(name: &str, kind: InputKind) -> Input {
    Input { optional: true, nullable: true, ..made::input(name, kind) }
}

pub(crate) fn adapter(name: &str, connector: &str) -> Adapter {
    Adapter { timeout_ms: 1000, max_rows: 10, ..made::adapter(name, connector, "postgres://u:hunter2@h/d") }
}

pub(crate) fn text(text: &str) -> Content {
    Content::Text(Template(vec![TemplatePart::Text(text.into())]))
}

pub(crate) fn template(before: &str, argument: &str) -> Content {
    Content::Text(Template(vec![TemplatePart::Text(before.into()), placeholder(argument)]))
}

pub(crate) fn placeholder(argument: &str) -> TemplatePart {
    TemplatePart::Source(Source { root: Root::Arguments, path: vec![argument.into()] })
}

fn prompt() -> Prompt {
    let tones: Vec<String> = (0..150).map(|tone| format!("warm-{tone}")).chain(["cold".to_string()]).collect();
    Prompt {
        name: "greet".into(),
        descriptor: r#"{"name":"greet"}"#.into(),
        description: Some("Greets".into()),
        arguments: vec![
            Argument { name: "name".into(), required: true, completion: vec![], complete: None },
            Argument { name: "tone".into(), required: false, completion: tones, complete: None },
        ],
        messages: vec![
            PromptMessage {
                role: "user".into(),
                content: PromptContent::Text(Template(vec![TemplatePart::Text("Greet ".into()), placeholder("name")])),
            },
            PromptMessage {
                role: "assistant".into(),
                content: PromptContent::Text(Template(vec![placeholder("tone"), TemplatePart::Text("!".into())])),
            },
        ],
        scopes: None,
    }
}

/// `uri` may have one variable, `{id}`.
pub(crate) fn resource(uri: &str, mime_type: &str, content: Content) -> Resource {
    let literals: Vec<String> = uri.split("{id}").map(ToString::to_string).collect();
    let variables = vec!["id".to_string(); literals.len() - 1];
    let member = if variables.is_empty() { "uri" } else { "uriTemplate" };
    let arguments = variables.iter().map(|name| Argument {
        name: name.clone(),
        required: true,
        completion: vec!["1".into(), "12".into()],
        complete: None,
    });
    Resource {
        descriptor: json!({ member: uri, "name": uri }).to_string(),
        arguments: arguments.collect(),
        uri: UriPattern { literals, variables, reserved: None },
        mime_type: mime_type.into(),
        content,
        scopes: None,
    }
}

/// A request to be.
#[derive(Clone)]
pub(crate) struct Ask(pub(crate) Request);

/// What came back.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) text: String,
    /// `null` where the body is empty.
    pub(crate) body: Json,
}

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self(Request {
            method: method.into(),
            path: path.into(),
            query: String::new(),
            headers: Headers::new(),
            body: Body::Whole(vec![]),
            deadline_ms: None,
            cancel: Cancel::new(),
            peer: None,
            platform_caller: None,
            checks_host: false,
            is_tls: false,
            is_local: false,
        })
    }

    /// A `POST` of that body with the fields that every client sends.
    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        let ask = Self::new("POST", "/mcp").with("content-type", "application/json").with("accept", "application/json, text/event-stream");
        ask.body(body)
    }

    pub(crate) fn legacy(method: &str, params: Json) -> Self {
        Self::post(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
    }

    /// A complete modern request; `_meta` and the mirrored fields are added.
    pub(crate) fn modern(method: &str, mut params: Json) -> Self {
        if let Some(params) = params.as_object_mut() {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            meta[META_VERSION] = "2026-07-28".into();
            if meta.get(META_CAPABILITIES).is_none() {
                meta[META_CAPABILITIES] = json!({});
            }
        }
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        let name = name.map(ToString::to_string);
        let mut ask = Self::legacy(method, params).with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
        if let Some(name) = name {
            ask = ask.with("mcp-name", &name);
        }
        ask
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.headers.append(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.headers = self.0.headers.iter().filter(|(known, _)| *known != name).collect();
        self
    }

    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        self.0.path = path.into();
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.0.body = Body::Whole(body.into());
        self
    }

    pub(crate) fn loopback(mut self, host: &str) -> Self {
        self.0.checks_host = true;
        self.set("host", host)
    }

    /// From a program of the machine that serves.
    pub(crate) fn on_this_machine(mut self) -> Self {
        self.0.is_local = true;
        self.set("host", "127.0.0.1:8080")
    }

    pub(crate) fn over_tls(mut self) -> Self {
        self.0.is_tls = true;
        self
    }

    /// Sends it. Every future of these tests is ready at the first poll.
    pub(crate) fn send(&self, endpoint: &Endpoint) -> Seen {
        let answer = pin!(endpoint.handle(self.0.clone()));
        let Poll::Ready(response) = answer.poll(&mut Context::from_waker(Waker::noop())) else { panic!("the endpoint waits") };
        let text = String::from_utf8(whole(response.body)).unwrap();
        let body = if text.is_empty() { Json::Null } else { serde_json::from_str(&text).unwrap() };
        let is_json = response.headers.first("content-type") == Some("application/json");
        assert!(is_json || text.is_empty(), "a body without a type: {text}");
        Seen { status: response.status, headers: response.headers, text, body }
    }
}

fn whole(body: ResponseBody) -> Vec<u8> {
    match body {
        ResponseBody::Whole(bytes) => bytes,
        ResponseBody::Events(_) => panic!("an event stream"),
    }
}

impl Seen {
    /// The code of the error.
    pub(crate) fn code(&self) -> Option<i64> {
        self.body["error"]["code"].as_i64()
    }
}
