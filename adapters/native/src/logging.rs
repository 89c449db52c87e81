//! Log lines on standard error.

use std::io::{self, IsTerminal as _};

use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry,
    filter::{FilterExt as _, Targets, filter_fn},
    fmt,
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::{SubscriberInitExt as _, TryInitError},
};

/// What is logged: a level (`off`, `error`, `warn`, `info`, `debug`, `trace`), or levels by target (`warn,millrace_core=debug`).
///
/// # Errors
/// A sentence that says what is allowed.
pub fn filter(text: &str) -> Result<Targets, String> {
    // A bare word that is no level would be taken for a target, and log everything of nothing.
    let bare_words_are_levels = text.split(',').all(|part| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok());
    let parsed = bare_words_are_levels.then(|| text.parse().ok()).flatten();
    parsed.ok_or_else(|| {
        format!("`{text}` is no log level; use `error`, `warn`, `info`, `debug` or `trace`, or `target=level` with commas between")
    })
}

/// Sends log lines to standard error, and panics to the log.
///
/// `extra` sees every span of the pipeline, whatever the filter says.
///
/// # Errors
/// Something else of this process has taken over logging before.
pub fn init(filter: Targets, extra: Option<Box<dyn Layer<Registry> + Send + Sync>>) -> Result<(), TryInitError> {
    std::panic::set_hook(Box::new(log_panic));
    tracing_subscriber::registry().with(extra).with(lines(filter)).try_init()
}

/// Whether standard error may be coloured: it is a terminal, and `NO_COLOR` is not set.
#[must_use]
pub fn colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn lines<S>(targets: Targets) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    // Spans cost something at every stage of every call; a line shows them only where somebody looks closely.
    let debugging = targets.iter().map(|(_, level)| level).chain(targets.default_level()).max() >= Some(LevelFilter::DEBUG);
    let wanted = targets.and(filter_fn(move |metadata: &Metadata<'_>| metadata.is_event() || debugging));
    fmt::layer().with_writer(io::stderr).with_ansi(colours()).with_filter(wanted)
}

/// A panic's message may hold a caller's values: only its place is logged, and the message where somebody debugs.
fn log_panic(info: &std::panic::PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a panic: this is a bug of Millrace; the request is answered with an internal error");
    if let Some(message) = info.payload_as_str() {
        tracing::debug!(message, "the panic's message");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_levels_by_target() {
        for good in ["info", "off", "WARN", "warn,millrace_core=debug", "hyper=trace"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for bad in ["loud", "warn,loud", "millrace=loud", "info;debug"] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }
}
