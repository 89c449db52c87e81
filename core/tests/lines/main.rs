//! The lines of the log: one for each finished call, each with its tool and its request id, and
//! never a value. A binary of its own: whether a line is wanted is remembered by the whole process,
//! so tests in other threads would disturb this one.
#![allow(missing_docs, unreachable_pub, dead_code, reason = "nobody else sees these items, and few of the fakes are needed")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "what fakes and helpers cannot do fails the test")]
#![allow(clippy::type_complexity, clippy::result_large_err, reason = "as in the other tests of the pipeline")]

#[path = "../pipeline/fakes.rs"]
mod fakes;
#[path = "../protocol/fakes.rs"]
mod wire;

use std::{
    fmt::{self, Write as _},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use millrace_core::{
    Error, ErrorKind,
    app::{
        ApiKey, ApiKeys, App, Auth, Authorization, Cache, CacheScope, Concurrency, EnvPart, EnvTemplate, ErrorRule, ExpectedKey, InputKind,
        ItemLimit, Middleware, MiddlewareAction, OnMismatch, Part, Presenter, PresenterRule, RateLimit, SignIn, Template, TextFormat, Tool,
        UnknownFields,
    },
    expression::{Comparison, Expression, Quantifier, Step},
    pipeline::Pipeline,
    ports::{Entered, LocalFuture, Places, Ports, Reply, Returned, ScriptFault, Thrown, ToolErrorReply},
    value::Value,
};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use fakes::*;

/// Writes everything down.
#[derive(Clone, Default)]
struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
    next: Arc<AtomicU64>,
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Recorder {
    fn line(&self, what: &str, fields: impl FnOnce(&mut Fields<'_>)) {
        let mut line = what.to_owned();
        fields(&mut Fields(&mut line));
        self.lines.lock().unwrap().push(line);
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.line("SPAN", |fields| span.record(fields));
        Id::from_u64(self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.line("record", |fields| values.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.line(event.metadata().level().as_str(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Recorder {
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

/// A tool that checks a key, reads with a variable in its statement, and caches for its caller.
fn cached_tool() -> Tool {
    let key = ApiKey {
        name: "svc".into(),
        expected: ExpectedKey::Value(EnvTemplate(vec![EnvPart::Env("KEY".into())])),
        scopes: vec![],
        roles: vec![],
    };
    Tool {
        auth: Some(Auth::ApiKey(ApiKeys { keys: vec![key], scopes: vec![] })),
        inputs: vec![input("q", InputKind::String)],
        cache: Some(Cache { ttl_s: 9, scope: CacheScope::Principal, key: None }),
        ..query_tool(vec![Part::Env("SCHEMA".into()), bind("q", InputKind::String)])
    }
}

fn thrown(message: &str) -> Result<Returned, ScriptFault> {
    Err(ScriptFault::Thrown(Thrown { message: message.into(), stack: Some("    at f (handler.ts:3:7)".into()), reply: None, cause: None }))
}

#[test]
fn every_finished_call_is_one_line() {
    let recorder = Recorder::default();
    let world = World::new();
    world.set_env("KEY", "k-hidden");
    world.set_env("SCHEMA", "env-hidden");
    world.answer_rows(rows(&["c"], vec![vec![Value::Text("row-hidden".into())]]));
    let with = With { headers: [("x-api-key", "k-hidden"), ("cookie", "c-hidden")].into_iter().collect(), ..With::default() };
    let pipeline = pipeline(&world, cached_tool());
    let input = || json!({"q": "input-hidden"});
    // Of a call, what is logged: the line of its end, and what else there is.
    let lines = |work: &dyn Fn()| {
        tracing::subscriber::with_default(recorder.clone(), work);
        let lines = recorder.taken();
        assert!(lines.iter().all(|line| !line.contains("hidden")), "{lines:#?}");
        assert!(lines.iter().all(|line| line.contains(" tool=\"") && line.contains(" request_id=\"req-1\"")), "{lines:#?}");
        let (mut ends, others): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.contains("message=call f"));
        assert_eq!(ends.len(), 1, "{ends:#?}");
        (ends.remove(0), others)
    };
    let called = |with: &With| {
        let _ = call(&pipeline, input(), with);
    };
    let (end, others) = lines(&|| called(&with));
    assert_eq!(end, "INFO message=call finished tool=\"t\" outcome=\"ok\" ms=0 cache=\"miss\" request_id=\"req-1\"");
    assert_eq!(others, ["DEBUG message=query tool=\"t\" request_id=\"req-1\" connector=\"fake\" adapter=\"main\""]);
    world.finish_later();
    let (end, others) = lines(&|| called(&with));
    assert_eq!(end, "INFO message=call finished tool=\"t\" outcome=\"ok\" ms=0 cache=\"hit\" request_id=\"req-1\"");
    assert!(others.is_empty(), "{others:#?}");
    let (end, _) = lines(&|| called(&With::default()));
    let refused = "INFO message=call finished tool=\"t\" outcome=\"error\" code=\"UNAUTHORIZED\" stage=\"authenticate\" ms=0";
    assert_eq!(end, format!("{refused} request_id=\"req-1\" detail=\"no key was sent\""));
    let (end, _) = lines(&|| drop(call_named(&pipeline, "x\ny", json!({}), &with)));
    assert!(
        end.starts_with("INFO message=call finished tool=\"x\u{fffd}y\" outcome=\"error\" code=\"TOOL_NOT_FOUND\" stage=\"resolve\""),
        "{end}"
    );
    let (end, _) = lines(&|| drop(call(&pipeline, json!({}), &with)));
    assert!(end.starts_with("INFO") && end.contains("code=\"VALIDATION_ERROR\" stage=\"validate\"") && !end.contains("detail"), "{end}");

    // Who can mend it decides the level.
    world.cached.borrow_mut().clear();
    for (kind, level) in [
        (ErrorKind::Busy, "WARN message=call failed"),
        (ErrorKind::Unavailable, "WARN message=call failed"),
        (ErrorKind::Syntax, "WARN message=call failed"),
        (ErrorKind::Constraint, "INFO message=call finished"),
        (ErrorKind::TooLarge, "INFO message=call finished"),
    ] {
        world.answer_error(Error::new(kind, "the database said no").with_source("SQLITE_WORDS"));
        let (end, _) = lines(&|| called(&with));
        assert!(end.starts_with(level) && end.ends_with("detail=\"SQLITE_WORDS\""), "{kind:?}: {end}");
    }
    let scripted = self::pipeline(&world, script_tool());
    let reply = |code: &str| Ok(Returned::Reply(Reply::ToolError(ToolErrorReply { code: code.into(), ..ToolErrorReply::default() })));
    let table = [
        (
            thrown("no stock"),
            "WARN message=call failed",
            "SCRIPT_ERROR",
            "detail=\"handler.ts#default threw: no stock; at f (handler.ts:3:7)\"",
        ),
        (Err(ScriptFault::NeverSettles), "WARN message=call failed", "SCRIPT_NEVER_SETTLES", "nothing can settle.\""),
        (Err(ScriptFault::NotJson("a function".into())), "WARN message=call failed", "SCRIPT_RESULT", "detail=\"a function\""),
        (reply("SOLD_OUT"), "INFO message=call finished", "SOLD_OUT", "request_id=\"req-1\""),
        (Ok(Returned::Reply(Reply::Error("no".into()))), "INFO message=call finished", "ERROR", "request_id=\"req-1\""),
    ];
    for (answer, level, code, rest) in table {
        world.answer_script(answer);
        let (end, _) = lines(&|| drop(call(&scripted, json!({}), &with)));
        let expected = format!("{level} tool=\"t\" outcome=\"error\" code=\"{code}\" stage=\"execute\" ms=0");
        assert!(end.starts_with(&expected) && end.ends_with(rest), "{end}");
    }
    // It passes by itself, and is its caller's doing.
    let mut limited = script_tool();
    limited.limits.rate = Some(RateLimit { max: 1, window_s: 60, key: None });
    let limited = self::pipeline(&world, limited);
    drop(call(&limited, json!({}), &with));
    let (end, _) = lines(&|| drop(call(&limited, json!({}), &with)));
    assert!(end.starts_with("INFO message=call finished") && end.contains("code=\"RATE_LIMITED\" stage=\"guard\""), "{end}");
    // One after the other: see above.
    conditions_without_steps();
    stores_that_fail();
}

/// What work logs, without the lines of the ends of calls.
fn others(work: impl FnOnce()) -> Vec<String> {
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), work);
    recorder.taken().into_iter().filter(|line| !line.contains("message=call f")).collect()
}

/// `list.all(a, list.all(b, a == b))`, which holds of a list of the same elements, and takes as
/// many steps as the square of its length.
fn squared(list: &[&str]) -> Expression {
    let path = |steps: &[&str]| Box::new(Expression::Path(steps.iter().map(|name| Step::Member((*name).into())).collect()));
    let same = Expression::Compare(Comparison::Equal, path(&["a"]), path(&["b"]));
    let inner = Expression::Each(Quantifier::All, path(list), "b".into(), Box::new(same));
    Expression::Each(Quantifier::All, path(list), "a".into(), Box::new(inner))
}

/// A condition that is given up does not hold, and the log says which one.
fn conditions_without_steps() {
    let line = |key: &str, code: &str| {
        format!(
            "WARN message=a condition needs more steps than an evaluation may make, so it does not hold tool=\"t\" request_id=\"req-1\" key=\"{key}\"{code}"
        )
    };
    let world = World::new();
    let results = |count: usize| *world.on_script.borrow_mut() = Some(Box::new(move |_| Some(Ok(Returned::Value(json!(vec![1; count]))))));
    let rule = ErrorRule { when: squared(&["results"]), code: "SAME".into(), message: Template(vec![]), suggestion: None, actions: vec![] };
    let mut fails = script_tool();
    fails.errors.on = vec![rule];
    let fails = pipeline(&world, fails);
    results(10);
    assert!(others(|| assert!(call(&fails, json!({}), &With::default()).unwrap().is_error)).is_empty());
    results(1_200);
    let said = others(|| assert!(!call(&fails, json!({}), &With::default()).unwrap().is_error));
    assert_eq!(said, [line("errors.on", " code=\"SAME\"")]);

    let presenter = Presenter {
        name: "p".into(),
        items: None,
        fields: vec![],
        unknown: UnknownFields::Keep,
        on_mismatch: OnMismatch::default(),
        limit: None::<ItemLimit>,
        redact: vec![],
        rules: vec![],
        rules_max: 1,
        // They share their steps, and are told of once.
        collection_rules: vec![PresenterRule { when: Some(squared(&["items"])), text: Template(vec![]), per_item: false }; 2],
        ui: vec![],
        actions: vec![],
        select: false,
        format: TextFormat::default(),
        structured: false,
    };
    *world.on_script.borrow_mut() = Some(Box::new(|_| Some(Ok(Returned::Value(json!(vec![json!({"n": 1}); 1_200]))))));
    let mut app = app(vec![Tool { returns: Some(0), ..script_tool() }]);
    app.presenters = vec![presenter];
    let presents = Pipeline::new(std::rc::Rc::new(app), world.ports());
    assert_eq!(others(|| drop(call(&presents, json!({}), &With::default()).unwrap())), [line("returns", "")]);

    let when = squared(&["inputs", "list"]);
    let require = MiddlewareAction::Require { when, code: "NOT_SAME".into(), message: Template(vec![]) };
    let middleware = vec![Middleware { place: String::new(), action: require }];
    let requires = pipeline(&world, Tool { middleware, inputs: vec![input("list", InputKind::Json)], ..script_tool() });
    let called =
        |list: &serde_json::Value| others(|| assert!(call(&requires, json!({ "list": list }), &With::default()).unwrap().is_error));
    assert_eq!(called(&json!(vec![1; 1_200])), [line("require", " code=\"NOT_SAME\"")]);
    // What does not hold for another reason has no line.
    assert!(called(&json!([1, 2])).is_empty() && called(&json!("text")).is_empty());
}

/// A store that gives no places.
struct NoPlaces;

impl Places for NoPlaces {
    fn enter<'a>(&'a self, _: &'a str, _: u32, _: u32, _: u64) -> LocalFuture<'a, millrace_core::Result<Entered>> {
        Box::pin(std::future::ready(Err(Error::new(ErrorKind::Unavailable, "the places are away"))))
    }

    fn advance<'a>(&'a self, _: &'a str, _: u32, _: i64) -> LocalFuture<'a, millrace_core::Result<Entered>> {
        Box::pin(std::future::ready(Err(Error::new(ErrorKind::Unavailable, "the places are away"))))
    }

    fn leave(&self, _: i64) {}
}

/// What a store fails at is told once in ten seconds, and one thing does not silence the other.
fn stores_that_fail() {
    let world = World::new();
    let mut tool = script_tool();
    tool.limits.concurrency = Some(Concurrency { max: 9, queue: 0, wait_ms: 1_000 });
    tool.limits.rate = Some(RateLimit { max: 100, window_s: 60, key: None });
    let ports = Ports { places: Some(std::rc::Rc::new(NoPlaces)), ..world.ports() };
    let pipeline = Pipeline::new(std::rc::Rc::new(app(vec![tool])), ports);
    world.state_fails.set(true);
    let calls = |count: usize| {
        let lines = others(|| (0..count).for_each(|_| assert!(!call(&pipeline, json!({}), &With::default()).unwrap().is_error)));
        let of = |what: &str| lines.iter().filter(|line| line.starts_with(&format!("WARN message=calls cannot {what}"))).count();
        (of("be counted in the store"), of("take places in the store"), lines.len())
    };
    assert_eq!(calls(3), (1, 1, 2));
    world.now_ms.set(world.now_ms.get() + 9_999);
    assert_eq!(calls(1), (0, 0, 0));
    world.now_ms.set(world.now_ms.get() + 1);
    assert_eq!(calls(2), (1, 1, 2), "also where calls went on failing meanwhile");
}

/// Anybody can send any method: what is told of one who was not let in is cut.
#[test]
fn a_refused_method_is_cut() {
    let recorder = Recorder::default();
    let app = wire::shop();
    let locked = app.tools.iter().position(|tool| tool.auth.is_some()).unwrap();
    let entrances = vec![u32::try_from(locked).unwrap()];
    let authorization = Authorization { sign_in: SignIn::Required, entrances, ..Authorization::default() };
    let endpoint = wire::endpoint(App { authorization, ..app });
    let method = "m".repeat(3_000);
    tracing::subscriber::with_default(recorder.clone(), || {
        assert_eq!(wire::Ask::legacy(&method, json!({})).send(&endpoint).status, 401);
    });
    let lines = recorder.taken();
    let shown = format!("{}…", &method[..64]);
    let is_told = |line: &&String| line.contains(&format!("tool=\"{shown}\"")) && line.contains(&format!("method=\"{shown}\""));
    assert_eq!(lines.iter().filter(is_told).count(), 1, "{lines:?}");
    assert!(lines.iter().all(|line| line.len() < 600), "{lines:?}");
}

#[test]
fn a_client_that_deviates_is_one_line() {
    let recorder = Recorder::default();
    let endpoint = wire::endpoint(wire::shop());
    let lines = |asks: &[wire::Ask]| {
        tracing::subscriber::with_default(recorder.clone(), || {
            for ask in asks {
                let seen = ask.send(&endpoint);
                assert_eq!(seen.status, 200, "{}", seen.text);
            }
        });
        recorder.taken()
    };
    let named = |name: &str| {
        let info = json!({ "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" } });
        wire::Ask::modern("tools/list", json!({ "_meta": info }))
    };
    let other = |name: &str| named(name).set("mcp-protocol-version", "2025-11-25");
    assert_eq!(lines(&[named("one")]), [""; 0]);
    let expected = |client: &str| {
        format!(
            "INFO message=a client names one revision of MCP in `MCP-Protocol-Version` and another in its messages; the messages decide client=\"{client}\" \
             in_header=\"2025-11-25\" in_message=\"2026-07-28\""
        )
    };
    assert_eq!(lines(&[other("one"), other("one"), other("two"), other("one")]), [expected("one"), expected("two")]);
    let legacy = wire::Ask::legacy("tools/list", json!({})).with("mcp-protocol-version", "2026-07-28").with("user-agent", "three/1.2 (x)");
    let found = lines(&[legacy.clone(), legacy]);
    assert!(found.len() == 1 && found[0].contains("client=\"three\" in_header=\"2026-07-28\""), "{found:?}");
    let found = lines(&[named("claude-code").without("mcp-method"), named("claude-code").without("mcp-method")]);
    assert!(found.len() == 1 && found[0].contains("client=\"claude-code\""), "{found:?}");
    // A name is what a caller says: it is cut, and there are not more of them than an operator
    // reads.
    let long = "n".repeat(1000);
    assert_eq!(lines(&[other(&long)]), [expected(&long[..64])]);
    let many: Vec<wire::Ask> = (0..100).map(|number| other(&format!("client {number}"))).collect();
    assert_eq!(lines(&many).len(), 32 - 5);
    assert_eq!(lines(&[other("another")]), [""; 0]);
}
