//! What `tracing` hears: log lines to the console of the Worker. And panics.

use std::{
    cell::{Cell, RefCell},
    fmt::{self, Write as _},
    panic::PanicHookInfo,
};

use js_sys::Function;
use millrace_core::{
    one_line::{OneLine, one_line},
    ports::{AUDIT_TARGET, Env as _},
};
use millrace_telemetry::{Format, line};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use wasm_bindgen::prelude::*;

use crate::env::Variables;

/// The variable with the level: `error`, `warn`, `info`, `debug`, `trace`.
const LEVEL: &str = "MILLRACE_LOG";

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(line: &str);
    #[wasm_bindgen(js_namespace = console, js_name = warn)]
    fn console_warn(line: &str);
    #[wasm_bindgen(js_namespace = console, js_name = log)]
    fn console_log(line: &str);
    #[wasm_bindgen(js_namespace = console, js_name = debug)]
    fn console_debug(line: &str);
}

thread_local! {
    static MOST: Cell<Level> = const { Cell::new(Level::INFO) };
    static FORMAT: Cell<Format> = const { Cell::new(Format::Text) };
    static DIED: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sends log lines to the console. A panic is logged by its place and told to `died`.
pub(crate) fn init(died: Function) {
    DIED.set(Some(died));
    std::panic::set_hook(Box::new(log_panic));
    // It fails where it was done before, which is as good.
    drop(tracing::subscriber::set_global_default(Console));
}

/// Takes level and form of the lines from the variables.
pub(crate) fn configure(variables: &Variables) {
    match Format::of(variables) {
        Ok(format) => FORMAT.set(format),
        Err(problem) => console_warn(&problem),
    }
    let Some(wanted) = variables.var(LEVEL) else { return };
    match wanted.expose().parse() {
        Ok(level) => MOST.set(level),
        Err(_) => console_warn(&format!("`{LEVEL}` is not a log level; use `error`, `warn`, `info`, `debug` or `trace`")),
    }
}

/// A panic's message may hold a caller's values: only its place is logged, and the message where
/// somebody debugs.
fn log_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    console_error(&format!("a panic: this is a bug in Millrace; a new instance is started place={place}"));
    if MOST.get() >= Level::DEBUG {
        console_debug(&one_line(info.payload_as_str().unwrap_or_default()));
    }
    if let Some(died) = DIED.take() {
        drop(died.call0(&JsValue::UNDEFINED));
    }
}

/// Lines without spans.
struct Console;

/// Whether an event is to be a line. Audit lines, which an app asks for, are at every level.
fn is_shown(metadata: &Metadata<'_>) -> bool {
    let is_audit = || *metadata.level() == Level::INFO && metadata.target() == AUDIT_TARGET;
    !metadata.is_span() && (*metadata.level() <= MOST.get() || is_audit())
}

impl Subscriber for Console {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_shown(metadata)
    }

    /// No span is enabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let text = match FORMAT.get() {
            Format::Json => line::json(event, None),
            Format::Text => {
                let mut line = Line::default();
                event.record(&mut line);
                format!("{}: {}{}", event.metadata().target(), line.message, line.fields)
            }
        };
        match *event.metadata().level() {
            Level::ERROR => console_error(&text),
            Level::WARN => console_warn(&text),
            Level::INFO => console_log(&text),
            _ => console_debug(&text),
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(OneLine(&mut self.message), "{value:?}"),
            name => write!(OneLine(&mut self.fields), " {name}={value:?}"),
        };
    }
}
