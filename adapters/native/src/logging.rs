//! Log lines on standard error.

use std::{
    fmt::{self as text, Write as _},
    io::{self, IsTerminal as _},
};

use millrace_core::{one_line::OneLine, ports::AUDIT_TARGET};
pub use millrace_telemetry::Format;
use millrace_telemetry::line;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::{
    Layer,
    field::RecordFields,
    filter::{FilterExt as _, Targets, filter_fn},
    fmt::{
        self, FmtContext,
        format::{FormatEvent, FormatFields, Writer},
        time::{FormatTime as _, SystemTime},
    },
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::{SubscriberInitExt as _, TryInitError},
};

use crate::telemetry::log_lines;

/// What is logged: a level (`off`, `error`, `warn`, `info`, `debug`, `trace`), or levels by target
/// (`warn,millrace_core=debug`). Audit lines, which an app asks for, are logged at every level but
/// `off`, unless their target is named.
///
/// # Errors
/// A sentence that says what is allowed.
pub fn filter(text: &str) -> Result<Targets, String> {
    // A bare word that is not a level would be taken for a target, and log everything of nothing.
    let bare_words_are_levels = text.split(',').all(|part| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok());
    let parsed: Option<Targets> = bare_words_are_levels.then(|| text.parse().ok()).flatten();
    let says_of_audits = text.trim().eq_ignore_ascii_case("off") || text.split(',').any(|part| part.trim().starts_with(AUDIT_TARGET));
    let parsed = parsed.map(|targets| if says_of_audits { targets } else { targets.with_target(AUDIT_TARGET, LevelFilter::INFO) });
    parsed.ok_or_else(|| {
        format!("`{text}` is not a log level; use `error`, `warn`, `info`, `debug` or `trace`, or `target=level` with commas between")
    })
}

/// Sends log lines to standard error, and panics to the log.
///
/// # Errors
/// Something else of this process has taken over logging before.
pub fn init(filter: Targets, format: Format) -> Result<(), TryInitError> {
    std::panic::set_hook(Box::new(log_panic));
    match format {
        Format::Text => tracing_subscriber::registry().with(exported(filter.clone())).with(text(filter)).try_init(),
        Format::Json => tracing_subscriber::registry().with(exported(filter.clone())).with(json(filter)).try_init(),
    }
}

/// A line as JSON that is written whatever is logged: what a server says of itself.
#[must_use]
pub fn json_line(level: &str, target: &str, message: &str) -> String {
    let mut time = String::new();
    // Writing to a string cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    line::json_of(level, target, message, Some(&time))
}

/// Whether standard error may be coloured: it is a terminal, and `NO_COLOR` is not set.
#[must_use]
pub fn colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn text<S>(targets: Targets) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fmt::layer().fmt_fields(Fields).with_writer(io::stderr).with_ansi(colours()).with_filter(events(targets))
}

/// The same lines for a collector, where the deployment names one.
fn exported<S>(targets: Targets) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    log_lines::layer(events(targets))
}

fn json<S>(targets: Targets) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fmt::layer().event_format(JsonLines).with_writer(io::stderr).with_filter(events(targets))
}

/// Lines say themselves what they are about: spans are not needed for it, and would cost something.
fn events<S>(targets: Targets) -> impl tracing_subscriber::layer::Filter<S> {
    targets.and(filter_fn(|metadata: &Metadata<'_>| !metadata.is_span()))
}

/// Writes an event as `millrace-telemetry` does on every host.
struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> text::Result {
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        writeln!(writer, "{}", line::json(event, Some(&time)))
    }
}

/// Writes fields as `tracing-subscriber` does, each on the line of its event whatever is in it.
struct Fields;

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> text::Result {
        let mut line = Line { writer, is_empty: true, outcome: Ok(()) };
        fields.record(&mut line);
        line.outcome
    }
}

struct Line<'w> {
    writer: Writer<'w>,
    is_empty: bool,
    outcome: text::Result,
}

impl Line<'_> {
    fn write(&mut self, field: &Field, value: text::Arguments<'_>) -> text::Result {
        if !std::mem::take(&mut self.is_empty) {
            self.writer.write_char(' ')?;
        }
        match field.name() {
            "message" => {}
            name if self.writer.has_ansi_escapes() => write!(self.writer, "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m")?,
            name => write!(self.writer, "{name}=")?,
        }
        OneLine(&mut self.writer).write_fmt(value)
    }
}

impl Visit for Line<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            return self.record_debug(field, &format_args!("{value}"));
        }
        self.record_debug(field, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn text::Debug) {
        if self.outcome.is_ok() {
            self.outcome = self.write(field, format_args!("{value:?}"));
        }
    }
}

/// A panic's message may hold a caller's values: only its place is logged, and the message where
/// somebody debugs.
fn log_panic(info: &std::panic::PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a panic: this is a bug in Millrace; the request is answered with an internal error");
    if let Some(message) = info.payload_as_str() {
        tracing::debug!(message, "the panic's message");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Everything that is written, as a writer of log lines.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_one_line_whatever_it_says() {
        const HOSTILE: &str = "x\n2026-01-01T00:00:00Z ERROR forged: y\r\u{2028}\u{2029}\u{85}\u{b}\u{c}\u{1b}[2J\u{202e}\u{9b}";
        for (ansi, escapes) in [(false, 0), (true, 1)] {
            let written = Written::default();
            let writer = written.clone();
            let layer = fmt::layer().fmt_fields(Fields).with_writer(move || writer.clone()).with_ansi(ansi);
            tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
                let span = tracing::info_span!("call", tool = %HOSTILE, quoted = HOSTILE, later = tracing::field::Empty);
                span.record("later", tracing::field::display(HOSTILE));
                let _entered = span.enter();
                tracing::info!(text = HOSTILE, error = %HOSTILE, "{HOSTILE}");
                tracing::info!(message = HOSTILE);
                tracing::warn!(number = 1, truth = true, absent = None::<&str>, text = "a \"b\"", "plain");
            });
            let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            let lines: Vec<&str> = text.split_terminator('\n').collect();
            assert_eq!(lines.len(), 3, "{text}");
            for line in &lines {
                assert!(!line.contains(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{9b}', '\u{2028}', '\u{2029}', '\u{202e}']), "{line}");
                assert_eq!(line.contains('\u{1b}'), escapes > 0, "{line}");
                assert!(!line.contains("\u{1b}[2J") && line.contains("\\n2026-01-01T00:00:00Z ERROR forged"), "{line}");
            }
            if !ansi {
                assert!(lines[2].ends_with(r#"plain number=1 truth=true text="a \"b\"""#), "{}", lines[2]);
            }
        }
    }

    #[test]
    fn audit_lines_are_logged_unless_they_are_named() {
        use tracing::Level;
        for (filter, expected) in [
            ("warn", true),
            ("error", true),
            ("off", false),
            ("OFF", false),
            ("warn,millrace::audit=off", false),
            ("millrace::audit=warn", false),
            ("debug,hyper=off", true),
        ] {
            let targets = super::filter(filter).unwrap();
            assert_eq!(targets.would_enable(AUDIT_TARGET, &Level::INFO), expected, "{filter}");
            assert!(!targets.would_enable(AUDIT_TARGET, &Level::DEBUG) || expected && filter.starts_with("debug"), "{filter}");
        }
        assert!(!super::filter("warn").unwrap().would_enable("millrace::call", &Level::INFO));
    }

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
