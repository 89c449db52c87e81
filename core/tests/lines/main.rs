//! The lines of the log: one for each finished call, each with its tool and its request id, and never a value. A binary of its own: whether
//! a line is wanted is remembered by the whole process, so tests in other threads would disturb this one.
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
    app::{ApiKey, ApiKeys, Auth, Cache, CacheScope, EnvPart, EnvTemplate, ExpectedKey, InputKind, Part, Tool},
    ports::{Reply, Returned, ScriptFault, Thrown, ToolErrorReply},
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
        cache: Some(Cache { ttl_s: 9, scope: CacheScope::Principal }),
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
    // A name is what a caller says: it is cut, and there are not more of them than an operator reads.
    let long = "n".repeat(1000);
    assert_eq!(lines(&[other(&long)]), [expected(&long[..64])]);
    let many: Vec<wire::Ask> = (0..100).map(|number| other(&format!("client {number}"))).collect();
    assert_eq!(lines(&many).len(), 32 - 5);
    assert_eq!(lines(&[other("another")]), [""; 0]);
}
