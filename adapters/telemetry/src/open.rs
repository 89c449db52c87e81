//! The pipeline's spans while they are open, and what may be told of them.
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
//! Every other field, all messages and every span of others are left alone. The names are those of OpenTelemetry's conventions for MCP,
//! GenAI and databases, where they have one.

use std::{cell::RefCell, fmt};

use tracing::{
    Event, Level, Metadata,
    field::{Field, Visit},
    span::Attributes,
};

use crate::{
    exporter::{Kept, MOST_SPANS},
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
/// How long a span is surely kept while it is open, in nanoseconds: ten minutes.
const LONGEST_NS: u64 = 600_000_000_000;

thread_local! {
    static OPEN: RefCell<AllOpen> = const { RefCell::new(AllOpen { ids: Vec::new(), spans: Vec::new() }) };
}

/// The open spans that are traced. There are few at a time, the inmost of them among the last: so they are looked for from the end.
struct AllOpen {
    /// Their ids in `tracing`.
    ids: Vec<u64>,
    spans: Vec<Open>,
}

/// An open span.
struct Open {
    span: Span,
    /// The nearest span of a call, from here outwards.
    call: u64,
    /// How many hold it.
    handles: usize,
}

impl AllOpen {
    fn place(&self, id: u64) -> Option<usize> {
        self.ids.iter().rposition(|other| *other == id)
    }

    fn get(&mut self, id: u64) -> Option<&mut Open> {
        let place = self.place(id)?;
        self.spans.get_mut(place)
    }

    fn remove(&mut self, place: usize) -> Open {
        self.ids.swap_remove(place);
        self.spans.swap_remove(place)
    }

    /// Forgets what has been open for too long. Where a platform ended a request without a word, its spans never close.
    fn forget_before(&mut self, start_ns: u64) {
        for place in (0..self.spans.len()).rev() {
            if self.spans.get(place).is_some_and(|open| open.span.start_ns < start_ns) {
                self.remove(place);
            }
        }
    }
}

/// Whether spans and events of a place in the code are looked at.
pub(crate) fn is_of_pipeline(metadata: &Metadata<'_>) -> bool {
    metadata.target() == TARGET
}

/// Takes note of a new span, which has one handle. `false` where it is not traced: nobody collects, its call is not sampled, or it is not
/// the pipeline's.
pub(crate) fn open(id: u64, parent: Option<u64>, attributes: &Attributes<'_>) -> bool {
    is_of_pipeline(attributes.metadata()) && Kept::with(|kept| opened(kept, id, parent, attributes)).flatten().is_some()
}

fn opened(kept: &Kept, id: u64, parent: Option<u64>, attributes: &Attributes<'_>) -> Option<()> {
    let name = attributes.metadata().name();
    let is_call = name == CALL;
    let mut fields = Fields::default();
    if is_call {
        attributes.record(&mut fields);
    }
    let mut span = Span::default();
    let mut call = id;
    match parent {
        // A stage, or a tool that another one calls.
        Some(parent) => OPEN.with_borrow_mut(|all| {
            let outer = all.get(parent)?;
            span.trace_id.clone_from(&outer.span.trace_id);
            span.parent_id = Some(outer.span.id);
            if !is_call {
                call = outer.call;
            }
            Some(())
        })?,
        None if is_call => {
            span.trace_id = fields.request_id.take().filter(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            let parent = fields.traceparent.as_deref().and_then(Parent::parse);
            if !kept.samples(&span.trace_id, parent.as_ref()) {
                return None;
            }
            span.parent_id = parent.map(|parent| parent.id);
            span.state = fields.tracestate.take().unwrap_or_default();
            span.is_call = true;
        }
        None => return None,
    }
    span.id = kept.new_id();
    span.start_ns = kept.now_ns();
    if is_call {
        describe(&mut span, fields);
    } else {
        name.clone_into(&mut span.name);
    }
    OPEN.with_borrow_mut(|all| {
        if all.ids.len() >= MOST_SPANS {
            all.forget_before(span.start_ns.saturating_sub(LONGEST_NS));
        }
        if all.ids.len() >= MOST_SPANS {
            return None;
        }
        all.ids.push(id);
        all.spans.push(Open { span, call, handles: 1 });
        Some(())
    })
}

/// Takes note of what happens within a span.
pub(crate) fn note(current: u64, event: &Event<'_>) {
    if !is_of_pipeline(event.metadata()) || OPEN.with_borrow(|all| all.place(current)).is_none() {
        return;
    }
    let mut fields = Fields::default();
    event.record(&mut fields);
    OPEN.with_borrow_mut(|all| {
        let Some(open) = all.get(current) else { return };
        annotate(&mut open.span, &mut fields);
        let call = open.call;
        if fields.code.is_some()
            && let Some(call) = all.get(call)
        {
            fail(&mut call.span, fields, *event.metadata().level() <= Level::WARN);
        }
    });
}

/// Counts one more handle of a span.
pub(crate) fn hold(id: u64) {
    OPEN.with_borrow_mut(|all| {
        if let Some(open) = all.get(id) {
            open.handles += 1;
        }
    });
}

/// Takes back a handle of a span; whether it was the last. Then the span has ended, and goes on to the collector.
pub(crate) fn release(id: u64) -> bool {
    // A span may close while the thread ends.
    let ended = OPEN.try_with(|all| {
        let mut all = all.borrow_mut();
        let place = all.place(id)?;
        let open = all.spans.get_mut(place)?;
        open.handles -= 1;
        if open.handles == 0 { Some(all.remove(place).span) } else { None }
    });
    let Some(mut span) = ended.ok().flatten() else { return false };
    Kept::with(|kept| {
        span.end_ns = kept.now_ns().max(span.start_ns);
        kept.keep(span);
    });
    true
}

/// Says what a call is.
fn describe(span: &mut Span, fields: Fields) {
    let tool = fields.tool.unwrap_or_default();
    span.name = format!("{CALL} {tool}");
    set(span, "mcp.method.name", Some(Attribute::Text(CALL.to_owned())));
    set(span, "gen_ai.operation.name", Some(Attribute::Text("execute_tool".to_owned())));
    set(span, "gen_ai.tool.name", Some(Attribute::Text(tool)));
    set(span, "mcp.protocol.version", fields.protocol.map(Attribute::Text));
}

/// What an event says of the stage in which it happens.
fn annotate(span: &mut Span, fields: &mut Fields) {
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
