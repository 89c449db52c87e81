//! A layer that hears of the pipeline's spans, for hosts with the registry of `tracing-subscriber`: it has the ids, and knows who is below
//! whom.

use tracing::{Event, Subscriber, span};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use crate::open;

/// The layer. It keeps nothing on a thread that does not [`collect`](crate::collect).
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        if open::is_of_pipeline(attributes.metadata()) {
            let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.id().into_u64());
            open::open(id.into_u64(), parent, attributes);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if open::is_of_pipeline(event.metadata())
            && let Some(current) = context.event_span(event)
        {
            open::note(current.id().into_u64(), event);
        }
    }

    fn on_close(&self, id: span::Id, _: Context<'_, S>) {
        // The registry counts the handles.
        open::release(id.into_u64());
    }
}
