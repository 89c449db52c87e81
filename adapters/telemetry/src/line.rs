//! A line of the log as JSON, the same on every host: `MILLRACE_LOG_FORMAT=json`.
//!
//! `{"time"?, "level", "target", "message", …}`, the fields of the event after these, in their
//! order.

use std::fmt;

use millrace_core::{Json, hidden::is_hidden, ports::Env};
use tracing::{
    Event,
    field::{Field, Visit},
};

/// The variable with the form of lines.
const VARIABLE: &str = "MILLRACE_LOG_FORMAT";

/// The form of the lines of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Format {
    /// What the variable asks for.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn of(env: &dyn Env) -> Result<Self, String> {
        match env.var(VARIABLE).as_ref().map(|value| value.expose().as_str()) {
            None | Some("" | "text") => Ok(Self::Text),
            Some("json") => Ok(Self::Json),
            Some(_) => Err(format!("the variable `{VARIABLE}` may be `text` or `json`")),
        }
    }
}

/// An event as JSON. `time` is what the host's clock says, where the platform does not add it.
#[must_use]
pub fn json(event: &Event<'_>, time: Option<&str>) -> String {
    let mut line = Line { out: String::with_capacity(256), message: None };
    event.record(&mut line);
    let metadata = event.metadata();
    let message = line.message.unwrap_or_default();
    let head = head(metadata.level().as_str(), metadata.target(), &message, time);
    let comma = if line.out.is_empty() { "" } else { "," };
    format!("{{{head}{comma}{}}}", line.out)
}

/// A line of the same form without an event: what a host says whatever is logged.
#[must_use]
pub fn json_of(level: &str, target: &str, message: &str, time: Option<&str>) -> String {
    format!("{{{}}}", head(level, target, message, time))
}

fn head(level: &str, target: &str, message: &str, time: Option<&str>) -> String {
    let mut out = String::with_capacity(message.len() + 128);
    for (name, value) in [("time", time), ("level", Some(level)), ("target", Some(target)), ("message", Some(message))] {
        if let Some(value) = value {
            member(&mut out, name, &quoted(value));
        }
    }
    out
}

struct Line {
    /// The fields, with commas between.
    out: String,
    message: Option<String>,
}

impl Visit for Line {
    fn record_i64(&mut self, field: &Field, value: i64) {
        member(&mut self.out, field.name(), &value.to_string());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        member(&mut self.out, field.name(), &value.to_string());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // Infinities are null.
        member(&mut self.out, field.name(), &Json::from(value).to_string());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        member(&mut self.out, field.name(), if value { "true" } else { "false" });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = Some(value.to_owned());
        } else {
            member(&mut self.out, field.name(), &quoted(value));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

fn member(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push(',');
    }
    out.push_str(&quoted(name));
    out.push(':');
    out.push_str(value);
}

/// A string of JSON that no reader takes for two lines, or for another order of its characters.
fn quoted(text: &str) -> String {
    let quoted = Json::from(text).to_string();
    if !quoted.contains(is_forbidden) {
        return quoted;
    }
    let mut out = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        if is_forbidden(character) {
            // Beyond U+FFFF, JSON has two escapes for a character.
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// What is not plain text: control characters, line ends of Unicode, and what turns or hides the
/// text around it.
fn is_forbidden(character: char) -> bool {
    character.is_control() || is_hidden(character)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{
        Metadata, Subscriber,
        span::{Attributes, Id, Record},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            self.0.lock().unwrap().push(json(event, Some("2026-11-22T00:00:00Z")));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_line_is_one_object_whatever_it_says() {
        const HOSTILE: &str = "x\n\"}{\r\u{2028}\u{85}\u{1b}[2J\u{202e}\u{9b}é";
        let lines = Lines::default();
        tracing::subscriber::with_default(lines.clone(), || {
            let absent = None::<&str>;
            tracing::warn!(target: "millrace::call", tool = HOSTILE, ms = 3_u64, hit = true, share = f64::NAN, absent, shown = %HOSTILE, "{HOSTILE}");
            tracing::info!("plain");
        });
        let lines = lines.0.lock().unwrap();
        assert!(lines.iter().all(|line| !line.contains(is_forbidden)), "{lines:?}");
        let parsed: Vec<Json> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let head = serde_json::json!({
            "time": "2026-11-22T00:00:00Z", "level": "WARN", "target": "millrace::call", "message": HOSTILE, "tool": HOSTILE, "ms": 3,
            "hit": true, "share": null, "shown": HOSTILE,
        });
        assert_eq!(parsed[0], head);
        assert_eq!(parsed[1]["message"], "plain");
    }
}
