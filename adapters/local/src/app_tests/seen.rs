//! What is seen of the call of a test beside its answer: the audit entries that it leaves, its
//! spans, and which parts of the app ran.

use std::{
    cell::RefCell,
    mem,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

use millrace_core::{
    Json,
    ports::{AUDIT_TARGET, Clock as _, Observer, observers},
};
use millrace_native::clock::SystemClock;
use millrace_telemetry::{
    line,
    span::{Attribute, Parent, Span, SpanIds},
    tracer::{self, SpanSink},
};
use serde_json::{Map, json};
use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber, dispatcher,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::Interest,
};

use super::{coverage::Ran, outside::RepeatedRandom};

/// The most audit entries and spans that are kept of a call.
const MOST: usize = 1_000;
/// What a line of the log says that is an entry, and no link of a chain alone.
const ENTRY: &str = "audit";
/// What ids of spans are made from: nobody compares them.
const SEED: u64 = 1;

/// What is seen of one call.
#[derive(Clone, Default)]
pub(super) struct Seen {
    spans: Rc<RefCell<Vec<Span>>>,
    pub(super) ran: Ran,
}

impl Seen {
    /// What the core tells of its calls.
    pub(super) fn observer(&self) -> Option<Rc<dyn Observer>> {
        let spans = KeptSpans { spans: self.spans.clone(), ids: SpanIds::default(), random: RepeatedRandom::of(SEED) };
        let ran: Rc<dyn Observer> = Rc::new(self.ran.clone());
        observers([Some(tracer::traced(Rc::new(spans))), Some(ran)])
    }

    /// The spans so far, in the order in which they ended.
    pub(super) fn spans(&self) -> Vec<Json> {
        let spans = self.spans.borrow();
        let parent = |span: &Span| {
            let of = spans.iter().find(|other| span.trace_id == other.trace_id && span.parent_id == Some(other.id))?;
            Some(of.name.clone())
        };
        spans.iter().map(|span| span_json(span, parent(span))).collect()
    }
}

fn span_json(span: &Span, parent: Option<String>) -> Json {
    let value = |attribute: &Attribute| match attribute {
        Attribute::Text(text) => Json::from(text.as_str()),
        Attribute::Truth(truth) => Json::from(*truth),
        Attribute::Number(number) => Json::from(*number),
    };
    let attributes: Map<String, Json> = span.attributes.iter().map(|(name, attribute)| ((*name).to_owned(), value(attribute))).collect();
    json!({
        "name": span.name,
        "kind": if span.is_call { "server" } else { "internal" },
        "parent": parent,
        "failed": span.failed,
        "attributes": attributes,
    })
}

/// Keeps spans in the order in which they end.
struct KeptSpans {
    spans: Rc<RefCell<Vec<Span>>>,
    ids: SpanIds,
    random: RepeatedRandom,
}

impl SpanSink for KeptSpans {
    fn samples(&self, _: &str, _: Option<&Parent>) -> bool {
        true
    }

    fn now_ns(&self) -> u64 {
        SystemClock.now_ms().saturating_mul(1_000_000)
    }

    fn new_id(&self) -> u64 {
        self.ids.next(&self.random)
    }

    fn keep(&self, span: Span) {
        let mut spans = self.spans.borrow_mut();
        if spans.len() < MOST {
            spans.push(span);
        }
    }
}

/// The audit entries of the calls of one thread. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct AuditEntries(Arc<Mutex<Vec<Json>>>);

impl AuditEntries {
    /// Keeps the entries of this thread until the guard is dropped. The log goes on as before.
    pub(crate) fn keep(&self) -> dispatcher::DefaultGuard {
        let log = dispatcher::get_default(Clone::clone);
        let level = LevelFilter::current().max(LevelFilter::INFO);
        dispatcher::set_default(&Dispatch::new(Keeping { entries: self.clone(), log, level }))
    }

    /// The entries since they were last taken.
    pub(crate) fn take(&self) -> Vec<Json> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, event: &Event<'_>) {
        let Ok(Json::Object(mut line)) = serde_json::from_str(&line::json(event, None)) else { return };
        if line.get("message").and_then(Json::as_str) != Some(ENTRY) {
            return;
        }
        line.retain(|name, _| !matches!(name.as_str(), "level" | "target" | "message"));
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() < MOST {
            entries.push(line.into());
        }
    }
}

/// Keeps audit entries, and hands everything on to the log of the process.
struct Keeping {
    entries: AuditEntries,
    log: Dispatch,
    level: LevelFilter,
}

impl Subscriber for Keeping {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.log.register_callsite(metadata);
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_audit(metadata) || self.log.enabled(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.log.new_span(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.log.record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.log.record_follows_from(span, follows);
    }

    fn event(&self, event: &Event<'_>) {
        if is_audit(event.metadata()) {
            self.entries.add(event);
        }
        if self.log.enabled(event.metadata()) {
            self.log.event(event);
        }
    }

    fn enter(&self, span: &Id) {
        self.log.enter(span);
    }

    fn exit(&self, span: &Id) {
        self.log.exit(span);
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.log.clone_span(span)
    }

    fn try_close(&self, span: Id) -> bool {
        self.log.try_close(span)
    }
}

fn is_audit(metadata: &Metadata<'_>) -> bool {
    metadata.target() == AUDIT_TARGET && *metadata.level() <= Level::INFO
}
