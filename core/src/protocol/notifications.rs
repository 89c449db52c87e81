//! What a call says before its result: `notifications/progress` and `notifications/message`, held
//! for the one who reads them.
//!
//! An [`Outbox`] is made for a `tools/call` whose tool runs a script and whose caller both accepts
//! an event stream, as every connection does, and wants to hear something: it sent a
//! `progressToken`, it named a log level (modern), or it is of the legacy era, where log lines from
//! `info` on are sent. What goes in are a script's `ctx.progress` and `ctx.log`; what comes out are
//! server-sent events or bare messages, in order.
//!
//! Progress must rise: what does not is left out. A script can say more than anybody reads, so
//! number and size are bounded; what is beyond is left out, too, and a debug line says so once. See
//! the specification's pages on
//! [progress](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress)
//! and
//! [logging](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging).

use alloc::{
    collections::VecDeque,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::{Cell, RefCell};

use super::{
    encode,
    era::{Era, Selected},
    json_rpc::Call,
    meta::{LOG_LEVELS, META_LOG_LEVEL},
    rpc_error::RpcError,
    sse::{self, accepts_events},
};
use crate::{
    Json,
    app::{Execute, Tool},
    headers::Headers,
    hidden::visible,
    pipeline::{Listener, Pipeline},
    ports::LogLevel,
};

/// The most notifications of one call.
const MAX_NOTIFICATIONS: usize = 1000;
/// The most bytes of notifications of one call, as they are sent.
const MAX_BYTES: usize = 256 << 10;
/// The most bytes of one text in a notification; a longer one is cut.
const MAX_TEXT: usize = 8 << 10;
/// The legacy level where none was asked for. Over HTTP none can be: there is no session to keep it
/// in.
const LEGACY_LEVEL: usize = 1;

/// The notifications of one call.
pub(super) struct Outbox {
    /// `progressToken`, as JSON text.
    token: Option<String>,
    /// The least level that is sent, as a place in [`LOG_LEVELS`].
    level: Option<usize>,
    tool: String,
    framing: Framing,
    frames: RefCell<VecDeque<Vec<u8>>>,
    has_spoken: Cell<bool>,
    progress: Cell<f64>,
    sent: Cell<usize>,
    sent_bytes: Cell<usize>,
    is_full: Cell<bool>,
}

/// The form of a message on its way.
#[derive(Clone, Copy)]
enum Framing {
    /// An event of an event stream.
    Event,
    /// The message and nothing else.
    Bare,
}

/// Who hears what a call says.
#[derive(Clone, Copy)]
pub(super) enum Hearer<'a> {
    /// A request of HTTP with these header fields.
    Request(&'a Headers),
    /// A connection with this level, if any: a place in [`LOG_LEVELS`].
    Connection(Option<usize>),
}

impl Outbox {
    /// `None` where nothing can be said to this caller, so that its answer is JSON.
    pub(super) fn of(pipeline: &Pipeline, call: &Call, selected: Selected, hearer: Hearer<'_>) -> Option<Self> {
        if call.method != "tools/call" {
            return None;
        }
        let (framing, legacy_level) = match hearer {
            Hearer::Request(headers) if accepts_events(headers) => (Framing::Event, LEGACY_LEVEL),
            Hearer::Request(_) => return None,
            Hearer::Connection(level) => (Framing::Bare, level.unwrap_or(LEGACY_LEVEL)),
        };
        let name = call.params.object()?.get("name")?.as_str()?;
        let (_, tool) = pipeline.tool(name).filter(|(_, tool)| runs_script(tool))?;
        let meta = call.params.meta();
        let token = progress_token(meta).ok().flatten();
        let level = match selected.era {
            Era::Modern => meta
                .and_then(|meta| meta.get(META_LOG_LEVEL)?.as_str())
                .and_then(|level| LOG_LEVELS.iter().position(|known| *known == level)),
            Era::Legacy => Some(legacy_level),
        };
        (token.is_some() || level.is_some()).then(|| Self { token, level, ..Self::silent(tool.name.clone(), framing) })
    }

    /// For the questions of a call on a connection that says nothing else.
    pub(super) fn for_questions() -> Self {
        Self::silent(String::new(), Framing::Bare)
    }

    fn silent(tool: String, framing: Framing) -> Self {
        Self {
            token: None,
            level: None,
            tool,
            framing,
            frames: RefCell::default(),
            has_spoken: Cell::new(false),
            progress: Cell::new(f64::NEG_INFINITY),
            sent: Cell::new(0),
            sent_bytes: Cell::new(0),
            is_full: Cell::new(false),
        }
    }

    /// Sends a question. How many there are is limited by whoever asks.
    pub(super) fn ask(&self, question: Vec<u8>) {
        self.has_spoken.set(true);
        self.frames.borrow_mut().push_back(self.framed(question));
    }

    /// Whether anything was ever said.
    pub(super) fn has_spoken(&self) -> bool {
        self.has_spoken.get()
    }

    /// The oldest event that was not taken yet.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        self.frames.borrow_mut().pop_front()
    }

    /// A message in the form in which it is sent.
    pub(super) fn framed(&self, message: Vec<u8>) -> Vec<u8> {
        match self.framing {
            Framing::Event => sse::frame(&message),
            Framing::Bare => message,
        }
    }

    fn put(&self, message: Vec<u8>) {
        if self.is_full.get() {
            return;
        }
        let (sent, sent_bytes) = (self.sent.get() + 1, self.sent_bytes.get() + message.len());
        if sent > MAX_NOTIFICATIONS || sent_bytes > MAX_BYTES {
            // What would still fit is left out, too: a gap in the middle would mislead.
            self.is_full.set(true);
            return tracing::debug!(tool = self.tool, "a call's notifications reached their limit; further ones are dropped");
        }
        self.sent.set(sent);
        self.sent_bytes.set(sent_bytes);
        self.has_spoken.set(true);
        self.frames.borrow_mut().push_back(self.framed(message));
    }
}

impl Listener for Outbox {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.token else { return };
        if !done.is_finite() || done <= self.progress.get() {
            return;
        }
        self.progress.set(done);
        let mut out = begin("notifications/progress");
        out.extend_from_slice(br#""progressToken":"#);
        out.extend_from_slice(token.as_bytes());
        out.extend_from_slice(br#","progress":"#);
        number(&mut out, done);
        if let Some(total) = total.filter(|total| total.is_finite()) {
            out.extend_from_slice(br#","total":"#);
            number(&mut out, total);
        }
        if let Some(message) = message {
            out.extend_from_slice(br#","message":"#);
            encode::string(&mut out, &visible(cut(message)));
        }
        out.extend_from_slice(b"}}");
        self.put(out);
    }

    fn log(&self, level: LogLevel, message: &str) {
        let word = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warning",
            LogLevel::Error => "error",
        };
        let place = LOG_LEVELS.iter().position(|known| *known == word);
        if self.level.is_none() || place < self.level {
            return;
        }
        let mut out = begin("notifications/message");
        out.extend_from_slice(br#""level":""#);
        out.extend_from_slice(word.as_bytes());
        out.extend_from_slice(br#"","logger":"#);
        encode::string(&mut out, &self.tool);
        out.extend_from_slice(br#","data":"#);
        encode::string(&mut out, &visible(cut(message)));
        out.extend_from_slice(b"}}");
        self.put(out);
    }
}

/// `params._meta.progressToken`, as JSON text.
///
/// # Errors
/// −32602 for what is neither a string nor an integer.
pub(super) fn progress_token(meta: Option<&Json>) -> Result<Option<String>, RpcError> {
    match meta.and_then(|meta| meta.get("progressToken")) {
        None | Some(Json::Null) => Ok(None),
        Some(token @ Json::String(_)) => Ok(Some(token.to_string())),
        Some(Json::Number(token)) if !token.is_f64() => Ok(Some(token.to_string())),
        Some(_) => Err(RpcError::invalid_params("Invalid params: `progressToken` must be a string or an integer")),
    }
}

fn runs_script(tool: &Tool) -> bool {
    matches!(tool.execute, Execute::Script(_) | Execute::Forward) || tool.map_input.is_some() || tool.map_output.is_some()
}

fn begin(method: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":{"#);
    out
}

/// A finite number; a whole one without a fraction.
fn number(out: &mut Vec<u8>, value: f64) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.abs() <= EXACT && value % 1.0 == 0.0 {
        // In range and whole, hence without loss.
        #[expect(clippy::cast_possible_truncation)]
        let whole = value as i64;
        encode::json(out, &whole);
    } else {
        encode::json(out, &value);
    }
}

fn cut(text: &str) -> &str {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
