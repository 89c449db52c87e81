//! Spans and events: one span a call, one child a stage, and never a value. A binary of its own: whether a span is wanted is
//! remembered by the whole process, so tests in other threads would disturb this one.
#![allow(missing_docs, unreachable_pub, dead_code, reason = "nobody else sees these items, and few of the fakes are needed")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "what fakes and helpers cannot do fails the test")]
#![allow(clippy::type_complexity, clippy::result_large_err, reason = "as in the other tests of the pipeline")]

#[path = "../pipeline/fakes.rs"]
mod fakes;

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
        self.line(span.metadata().name(), |fields| span.record(fields));
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

#[test]
fn a_call_is_a_span_with_a_child_for_each_stage() {
    let recorder = Recorder::default();
    let world = World::new();
    world.set_env("KEY", "k-hidden");
    world.set_env("SCHEMA", "env-hidden");
    let key = ApiKey {
        name: "svc".into(),
        expected: ExpectedKey::Value(EnvTemplate(vec![EnvPart::Env("KEY".into())])),
        scopes: vec![],
        roles: vec![],
    };
    let parts = vec![Part::Env("SCHEMA".into()), bind("q", InputKind::String)];
    let tool = Tool {
        auth: Some(Auth::ApiKey(ApiKeys { keys: vec![key], scopes: vec![] })),
        inputs: vec![input("q", InputKind::String)],
        cache: Some(Cache { ttl_s: 9, scope: CacheScope::Principal }),
        ..query_tool(parts)
    };
    world.answer_rows(rows(&["c"], vec![vec![Value::Text("row-hidden".into())]]));
    let with = With { headers: [("x-api-key", "k-hidden"), ("cookie", "c-hidden")].into_iter().collect(), ..With::default() };
    let pipeline = pipeline(&world, tool);
    tracing::subscriber::with_default(recorder.clone(), || {
        call(&pipeline, json!({"q": "input-hidden"}), &with).unwrap();
        world.finish_later();
        call(&pipeline, json!({"q": "input-hidden"}), &with).unwrap();
        call(&pipeline, json!({"q": "input-hidden"}), &With::default()).unwrap_err();
        world.cached.borrow_mut().clear();
        world.answer_error(Error::new(ErrorKind::Busy, "the database is locked").with_source("SQLITE_BUSY"));
        call(&pipeline, json!({"q": "input-hidden"}), &with).unwrap();
    });
    let lines = recorder.lines.lock().unwrap().join("\n");
    assert!(!lines.contains("hidden"), "{lines}");
    let stages = "tools/call tool=t protocol=\"2026-07-28\" request_id=\"req-1\"\nresolve\nauthenticate\nvalidate\nexecute\nDEBUG message=cache hit=";
    assert!(lines.starts_with(&format!("{stages}false\nDEBUG")), "{lines}");
    assert!(lines.contains(&format!("{stages}true\nserialize\n")), "{lines}");
    assert!(lines.contains("message=query connector=\"fake\" adapter=\"main\"\nserialize\n"), "{lines}");
    assert!(
        lines.contains("INFO message=caller refused stage=\"authenticate\" code=\"UNAUTHORIZED\" detail=\"no key was sent\""),
        "{lines}"
    );
    assert!(lines.ends_with("WARN message=call failed stage=\"execute\" code=\"DATABASE_BUSY\" detail=\"SQLITE_BUSY\""), "{lines}");
}
