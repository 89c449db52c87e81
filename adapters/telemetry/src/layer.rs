//! Listens to the pipeline's spans and keeps what may be told of them.
//!
//! | of the pipeline | in the trace |
//! |---|---|
//! | a span `tools/call` | a span `tools/call NAME`, kind server, below the caller's span where it named one |
//! | a span of a stage | a child with the stage's name, kind internal |
//! | field `tool`, `protocol` | `gen_ai.tool.name`, `mcp.protocol.version` |
//! | field `hit` of an event | `millrace.cache.hit` of the stage |
//! | fields `connector`, `adapter` of an event | `db.system.name`, `millrace.adapter` of the stage |
//! | fields `stage`, `code` of an event | `millrace.stage`, `error.type` of the call; its status is an error where the event is a warning, as for faults that the caller cannot mend |
//!
//! Every other field, all messages and every span of others are left alone. The names are those of OpenTelemetry's conventions for MCP, GenAI and
//! databases, where they have one.

use std::fmt;

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

use crate::{
    exporter::Kept,
    span::{Attribute, Parent, Span},
};

/// The target of the pipeline's spans and events.
const TARGET: &str = "millrace::pipeline";
/// The name of a call's own span.
const CALL: &str = "tools/call";
/// The code of a call for a tool that does not exist. Its name is its caller's invention, and is not kept.
const NO_TOOL: &str = "TOOL_NOT_FOUND";
/// How long a text may be that is kept, in bytes.
const LONGEST_TEXT: usize = 512;

/// The layer. It keeps nothing on a thread that does not [`collect`](crate::collect).
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let metadata = attributes.metadata();
        if metadata.target() != TARGET {
            return;
        }
        let Some(new) = context.span(id) else { return };
        let opened = if metadata.name() == CALL {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            match new.parent() {
                // A tool that calls another.
                Some(outer) => stage(&outer, CALL).map(|span| named(span, fields)),
                None => call(fields),
            }
        } else {
            new.parent().and_then(|parent| stage(&parent, metadata.name()))
        };
        if let Some(span) = opened {
            new.extensions_mut().insert(span);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() != TARGET {
            return;
        }
        let Some(current) = context.event_span(event) else { return };
        if current.extensions().get::<Span>().is_none() {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        annotate(&current, &mut fields);
        if fields.code.is_some()
            && let Some(call) = current.scope().find(|span| span.name() == CALL)
            && let Some(span) = call.extensions_mut().get_mut::<Span>()
        {
            fail(span, fields, *event.metadata().level() <= Level::WARN);
        }
    }

    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        let Some(closed) = context.span(&id) else { return };
        let Some(mut span) = closed.extensions_mut().remove::<Span>() else { return };
        Kept::with(|kept| {
            span.end_ns = kept.now_ns().max(span.start_ns);
            kept.keep(span);
        });
    }
}

/// The span of a call; `None` where nobody collects, or the call is not sampled.
fn call(mut fields: Fields) -> Option<Span> {
    let trace_id = fields.request_id.take().filter(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let parent = fields.traceparent.as_deref().and_then(Parent::parse);
    Kept::with(|kept| {
        if !kept.samples(&trace_id, parent.as_ref()) {
            return None;
        }
        let span = Span {
            trace_id,
            id: kept.new_id(),
            parent_id: parent.map(|parent| parent.id),
            state: fields.tracestate.take().unwrap_or_default(),
            name: String::new(),
            is_call: true,
            start_ns: kept.now_ns(),
            end_ns: 0,
            attributes: Vec::new(),
            failed: false,
        };
        Some(named(span, fields))
    })?
}

/// The span of a call with its name and what it is.
fn named(mut span: Span, fields: Fields) -> Span {
    let tool = fields.tool.unwrap_or_default();
    span.name = format!("{CALL} {tool}");
    span.attributes.push(("mcp.method.name", Attribute::Text(CALL.to_owned())));
    span.attributes.push(("gen_ai.operation.name", Attribute::Text("execute_tool".to_owned())));
    span.attributes.push(("gen_ai.tool.name", Attribute::Text(tool)));
    span.attributes.extend(fields.protocol.map(|version| ("mcp.protocol.version", Attribute::Text(version))));
    span
}

fn stage<S: for<'a> LookupSpan<'a>>(parent: &SpanRef<'_, S>, name: &str) -> Option<Span> {
    let extensions = parent.extensions();
    let parent = extensions.get::<Span>()?;
    Kept::with(|kept| Span {
        trace_id: parent.trace_id.clone(),
        id: kept.new_id(),
        parent_id: Some(parent.id),
        state: String::new(),
        name: name.to_owned(),
        is_call: false,
        start_ns: kept.now_ns(),
        end_ns: 0,
        attributes: Vec::new(),
        failed: false,
    })
}

/// What an event says of the stage in which it happens.
fn annotate<S: for<'a> LookupSpan<'a>>(current: &SpanRef<'_, S>, fields: &mut Fields) {
    let mut extensions = current.extensions_mut();
    let Some(span) = extensions.get_mut::<Span>() else { return };
    set(span, "millrace.cache.hit", fields.hit.take().map(Attribute::Truth));
    set(span, "db.system.name", fields.connector.take().map(Attribute::Text));
    set(span, "millrace.adapter", fields.adapter.take().map(Attribute::Text));
}

fn fail(span: &mut Span, fields: Fields, failed: bool) {
    span.failed |= failed;
    if fields.code.as_deref() == Some(NO_TOOL) {
        CALL.clone_into(&mut span.name);
        span.attributes.retain(|(name, _)| *name != "gen_ai.tool.name");
    }
    set(span, "error.type", fields.code.map(Attribute::Text));
    set(span, "millrace.stage", fields.stage.map(Attribute::Text));
}

/// Sets an attribute, or leaves it as it is. The keys are those above, so there are never many.
fn set(span: &mut Span, key: &'static str, value: Option<Attribute>) {
    let Some(value) = value else { return };
    span.attributes.retain(|(other, _)| *other != key);
    span.attributes.push((key, value));
}

/// The fields that are looked at.
#[derive(Default)]
struct Fields {
    tool: Option<String>,
    protocol: Option<String>,
    request_id: Option<String>,
    traceparent: Option<String>,
    tracestate: Option<String>,
    hit: Option<bool>,
    connector: Option<String>,
    adapter: Option<String>,
    stage: Option<String>,
    code: Option<String>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        let place = match field.name() {
            "tool" => &mut self.tool,
            "protocol" => &mut self.protocol,
            "request_id" => &mut self.request_id,
            "traceparent" => &mut self.traceparent,
            "tracestate" => &mut self.tracestate,
            "connector" => &mut self.connector,
            "adapter" => &mut self.adapter,
            "stage" => &mut self.stage,
            "code" => &mut self.code,
            _ => return,
        };
        let end = value.floor_char_boundary(LONGEST_TEXT);
        *place = Some(value[..end].to_owned());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == "hit" {
            self.hit = Some(value);
        }
    }

    /// What is shown with `%` comes here; of these only the tool's name is kept.
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "tool" {
            self.record_str(field, &format!("{value:?}"));
        }
    }
}
