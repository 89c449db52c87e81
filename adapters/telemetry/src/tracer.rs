//! Makes spans of what the pipeline tells of its calls by the port [`Observer`].
//!
//! | of the pipeline | in the trace |
//! |---|---|
//! | a call | a span `METHOD TOOL`, kind server, below the caller's span where it named one |
//! | a stage | a child with the stage's name, kind internal |
//! | a look into the cache | `millrace.cache.hit`, `db.system.name` and `millrace.adapter` of the stage |
//! | an answer of a connector | `db.system.name` and `millrace.adapter` of the stage |
//! | an answer of an API | `http.request.method`, `url.template` and `millrace.adapter` of the stage; of a failure `http.response.status_code` |
//! | a failure | `error.type` and `millrace.stage` of the call; its status is an error unless its caller can mend it |
//!
//! Names of attributes are those of OpenTelemetry's conventions for MCP, GenAI and databases, where
//! they have one; the others begin with `millrace.`. No value of a call is among what the pipeline
//! tells.

use std::{cell::RefCell, rc::Rc};

use millrace_core::{
    app::{Adapter, Statement},
    fault::{Fault, Severity},
    ports::{CallEvent, CallObserver, CallStart, Observer},
};

use crate::{
    names::{ADAPTER, CACHE_HIT, ERROR, HTTP_METHOD, HTTP_STATUS, METHOD, OPERATION, PROTOCOL, STAGE, SYSTEM, TOOL, URL_TEMPLATE},
    span::{Attribute, Parent, Span, is_trace_id},
};

/// The code of a call for a tool that does not exist. Its name is its caller's invention, and is
/// not kept.
pub(crate) const NO_TOOL: &str = "TOOL_NOT_FOUND";
/// The operation of a call, whatever method had it made.
const EXECUTE_TOOL: &str = "execute_tool";
/// How long a text may be that is kept, in bytes.
const LONGEST_TEXT: usize = 512;

/// Takes the spans of an isolate.
pub trait SpanSink {
    /// Whether a call is traced.
    fn samples(&self, trace_id: &str, parent: Option<&Parent>) -> bool;

    /// Nanoseconds since the Unix epoch.
    fn now_ns(&self) -> u64;

    /// A random number other than 0.
    fn new_id(&self) -> u64;

    /// Takes a finished span. A call's own span is the last of its trace here.
    fn keep(&self, span: Span);
}

/// Traces the calls of an isolate.
#[must_use]
pub fn traced(spans: Rc<dyn SpanSink>) -> Rc<dyn Observer> {
    Rc::new(Tracer(spans))
}

/// Traces calls.
#[derive(Clone)]
pub(crate) struct Tracer(pub(crate) Rc<dyn SpanSink>);

impl Observer for Tracer {
    fn began(&self, call: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let id = call.request_id;
        if !is_trace_id(id) {
            return None;
        }
        let parent = call.trace.parent.and_then(Parent::parse);
        if !self.0.samples(id, parent.as_ref()) {
            return None;
        }
        let mut span = Span {
            trace_id: id.to_owned(),
            parent_id: parent.map(|parent| parent.id),
            state: call.trace.state.map(cut).unwrap_or_default(),
            is_call: true,
            ..self.begin()
        };
        set(&mut span, METHOD, Attribute::Text(cut(call.method)));
        set(&mut span, OPERATION, Attribute::Text(EXECUTE_TOOL.to_owned()));
        name(&mut span, call.tool);
        set(&mut span, PROTOCOL, Attribute::Text(cut(call.protocol)));
        Some(Box::new(TracedCall { tracer: self.clone(), spans: RefCell::new(OpenSpans { call: span, stage: None }) }))
    }
}

impl Tracer {
    /// A span that begins now.
    fn begin(&self) -> Span {
        Span { id: self.0.new_id(), start_ns: self.0.now_ns(), ..Span::default() }
    }

    fn end(&self, mut span: Span) {
        span.end_ns = self.0.now_ns().max(span.start_ns);
        self.0.keep(span);
    }
}

/// One call that is traced.
struct TracedCall {
    tracer: Tracer,
    spans: RefCell<OpenSpans>,
}

/// The spans that are open.
#[derive(Default)]
struct OpenSpans {
    call: Span,
    stage: Option<Span>,
}

impl CallObserver for TracedCall {
    fn observe(&self, event: CallEvent<'_>) {
        let mut spans = self.spans.borrow_mut();
        let OpenSpans { call, stage } = &mut *spans;
        match event {
            CallEvent::Forwarded(tool) => name(call, tool),
            CallEvent::StageBegan(of) => {
                *stage = Some(Span {
                    trace_id: call.trace_id.clone(),
                    parent_id: Some(call.id),
                    name: of.as_str().to_owned(),
                    ..self.tracer.begin()
                });
            }
            CallEvent::StageEnded(_) => {
                let ended = stage.take();
                drop(spans);
                if let Some(span) = ended {
                    self.tracer.end(span);
                }
            }
            CallEvent::CacheLookedUp { adapter, hit } => {
                if let Some(stage) = stage {
                    set(stage, CACHE_HIT, Attribute::Truth(hit));
                    asked(stage, adapter);
                }
            }
            CallEvent::ConnectorAnswered { adapter, request, status, .. } => {
                if let Some(stage) = stage {
                    asked(stage, adapter);
                    requested(stage, request, status);
                }
            }
            CallEvent::Failed(fault) => fail(call, fault),
            CallEvent::MiddlewareBegan(_) | CallEvent::MiddlewareEnded(_) | CallEvent::ScriptEnded { .. } | CallEvent::Ended(_) => {}
        }
    }
}

impl Drop for TracedCall {
    /// The call is over, or was given up.
    fn drop(&mut self) {
        let OpenSpans { call, stage } = std::mem::take(self.spans.get_mut());
        if let Some(stage) = stage {
            self.tracer.end(stage);
        }
        self.tracer.end(call);
    }
}

/// Names a call by its method and its tool.
fn name(span: &mut Span, tool: &str) {
    let method = text(span, METHOD).unwrap_or_default().to_owned();
    span.name = format!("{method} {}", cut(tool));
    set(span, TOOL, Attribute::Text(cut(tool)));
}

/// What a stage asked for data. Of several adapters all are named; the system is the first one's.
fn asked(span: &mut Span, adapter: &Adapter) {
    let known = text(span, ADAPTER).map(str::to_owned);
    match known {
        None => {
            let system = system(&adapter.connector);
            if !system.is_empty() {
                set(span, SYSTEM, Attribute::Text(system.to_owned()));
            }
            set(span, ADAPTER, Attribute::Text(cut(&adapter.name)));
        }
        Some(known) if known.split(',').any(|name| name == adapter.name) => {}
        Some(known) => set(span, ADAPTER, Attribute::Text(cut(&format!("{known},{}", adapter.name)))),
    }
}

/// What a stage asked an API. The template has no value of the call.
fn requested(span: &mut Span, request: Option<&Statement>, status: Option<u16>) {
    if let Some((method, path)) = request.and_then(|request| Some((request.http_method()?, request.http_path()?))) {
        set(span, HTTP_METHOD, Attribute::Text(cut(method)));
        set(span, URL_TEMPLATE, Attribute::Text(cut(&path)));
    }
    if let Some(status) = status {
        set(span, HTTP_STATUS, Attribute::Number(status.into()));
    }
}

/// OpenTelemetry's word for the system behind a connector; empty for one that is not a database.
pub(crate) fn system(connector: &str) -> &str {
    millrace_catalogue::find(connector).map_or(connector, |connector| connector.system)
}

fn fail(span: &mut Span, fault: &Fault) {
    set(span, STAGE, Attribute::Text(fault.stage.as_str().to_owned()));
    if fault.severity == Severity::Warning {
        // The result stands.
        return;
    }
    span.failed = !fault.is_of_caller();
    if fault.code == NO_TOOL {
        span.name = text(span, METHOD).unwrap_or_default().to_owned();
        span.attributes.retain(|(name, _)| *name != TOOL);
    }
    set(span, ERROR, Attribute::Text(cut(fault.known_code())));
}

fn text<'s>(span: &'s Span, key: &str) -> Option<&'s str> {
    span.attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(text) if *name == key => Some(text.as_str()),
        _ => None,
    })
}

/// Sets an attribute. The keys are those above, so there are never many.
fn set(span: &mut Span, key: &'static str, value: Attribute) {
    span.attributes.retain(|(other, _)| *other != key);
    span.attributes.push((key, value));
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST_TEXT)].to_owned()
}
