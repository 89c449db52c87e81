//! How long each stage of a call took.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tracing::{Subscriber, span};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

/// The pipeline's spans: one a call, and below it one a stage.
const TARGET: &str = "millrace::pipeline";

/// Measures the pipeline's spans. Clones share what they measured.
#[derive(Clone, Default)]
pub(crate) struct Timings(Arc<Mutex<Vec<Timing>>>);

/// One span: its name and how long it was open.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) name: &'static str,
    pub(crate) duration: Duration,
}

struct Opened(Instant);

impl Timings {
    /// What was measured, in the order in which it ended.
    pub(crate) fn taken(&self) -> Vec<Timing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Timings {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        if attributes.metadata().target() != TARGET {
            return;
        }
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Opened(Instant::now()));
        }
    }

    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(duration) = span.extensions().get::<Opened>().map(|opened| opened.0.elapsed()) else { return };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Timing { name: span.name(), duration });
    }
}
