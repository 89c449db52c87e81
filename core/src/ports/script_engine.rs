use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::{any::Any, cell::RefCell};

use super::{HttpRequest, HttpResponse, LocalFuture};
use crate::{
    Json, Result,
    app::{Script, ScriptLimits},
    cancel::Cancel,
    value::{Rows, Value},
};

/// What the scripts of one call share: a place where the engine leaves what it wants to find again
/// at the next of them.
#[derive(Default)]
pub struct CallStore(RefCell<Option<Box<dyn Any>>>);

impl CallStore {
    /// What was left there, if it is of this type.
    pub fn take<T: Any>(&self) -> Option<Box<T>> {
        let mut held = self.0.borrow_mut();
        match held.take()?.downcast() {
            Ok(found) => Some(found),
            Err(other) => {
                *held = Some(other);
                None
            }
        }
    }

    /// Leaves something, in place of what was left before. It is dropped when the call ends.
    pub fn put<T: Any>(&self, value: Box<T>) {
        self.0.replace(Some(value));
    }
}

/// One call of one exported function.
pub struct Invocation<'a> {
    /// All scripts of the app, `App::scripts`: the engine evaluates them once. They are the same
    /// for every call of an engine.
    pub scripts: &'a [Script],
    /// The script's place among them.
    pub index: usize,
    /// The script.
    pub script: &'a Script,
    /// The export to call: `default` or a name.
    pub export: &'a str,
    /// The first argument.
    pub payload: &'a Json,
    /// The data of the second argument, `ctx`:
    /// `{ auth?, request: { id, headers, protocol }, env }`, and what the context stage made. The
    /// engine adds the functions (`log`, `progress`, `db`, `cache`, `signal`) and freezes the
    /// whole.
    pub ctx: &'a Json,
    /// What the scripts of the call share.
    pub store: &'a CallStore,
    /// What the script may use up.
    pub limits: ScriptLimits,
    /// When the call must end, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// Tripped when the caller went away.
    pub cancel: &'a Cancel,
    /// What the script may ask of the outside.
    pub host: &'a dyn ScriptHost,
}

/// The level of a script's log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// `console.debug`, `ctx.log.debug`
    Debug,
    /// `console.log`, `console.info`, `ctx.log.info`
    Info,
    /// `console.warn`, `ctx.log.warn`
    Warn,
    /// `console.error`, `ctx.log.error`
    Error,
}

/// Who reads a script's log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogReader {
    /// `console.*`: the operator alone. Authors write there what no caller should see.
    Operator,
    /// `ctx.log.*`: the operator, and the caller where it asks for log lines.
    Caller,
}

/// What `fetch` does with a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirect {
    /// `redirect: "follow"`
    #[default]
    Follow,
    /// `redirect: "error"`: it fails.
    Error,
    /// `redirect: "manual"`: the redirect itself is the answer.
    Manual,
}

/// What `fetch` gave.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The response.
    pub response: HttpResponse,
    /// Whose response it is: the last URL that was asked, without a fragment.
    pub url: String,
    /// Whether that is another one than the script's.
    pub redirected: bool,
}

/// What a script may ask of the outside. Implemented by the core, so that allow-lists and limits
/// hold on every host.
pub trait ScriptHost {
    /// `fetch`. The core checks the allow-list, does with redirects what was asked, within that
    /// list, and limits size, time and number.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) for a host that is not allowed and a redirect that may
    /// not be followed; else as [`HttpClient`](super::HttpClient).
    fn fetch(&self, request: HttpRequest, redirect: Redirect) -> LocalFuture<'_, Result<Fetched>>;

    /// `ctx.db(adapter).query(sql, params)`.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for an unknown adapter; else as
    /// [`Connector`](super::Connector).
    fn query<'a>(&'a self, adapter: &'a str, text: &'a str, params: Vec<Value>) -> LocalFuture<'a, Result<Rows>>;

    /// `ctx.api(adapter).get(path, …)` and the like: `document` is the request as JSON, with `$1` and
    /// so on where its values stand. The answer is in [`Rows::document`].
    ///
    /// # Errors
    /// As [`query`](Self::query).
    fn request<'a>(&'a self, adapter: &'a str, document: &'a str, values: Vec<Value>) -> LocalFuture<'a, Result<Rows>>;

    /// `ctx.cache.get(key)`: what was put there, unless it is gone.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) past a limit of the call. A failing cache is none: it
    /// has nothing.
    fn cache_get<'a>(&'a self, _key: &'a str) -> LocalFuture<'a, Result<Option<Json>>> {
        Box::pin(async { Ok(None) })
    }

    /// `ctx.cache.put(key, value, { ttl })`.
    ///
    /// # Errors
    /// As [`cache_get`](Self::cache_get).
    fn cache_put<'a>(&'a self, _key: &'a str, _value: Json, _ttl_s: f64) -> LocalFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// The names that have to be in `ctx.env`: reading one that is not there throws an error that
    /// names it.
    fn required_variables(&self) -> &[String] {
        &[]
    }

    /// The script is over: how much memory the scripts of its call had at the most, in bytes,
    /// beyond what every call begins with.
    fn took_memory(&self, _bytes: u64) {}

    /// `console.*` and `ctx.log.*`.
    fn log(&self, to: LogReader, level: LogLevel, message: &str);

    /// `ctx.progress(done, total, message)`.
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>);

    /// `requireInput(requests)`: the answers by key, or `None` where some are missing. Then the
    /// engine ends the script with [`Reply::InputRequired`].
    ///
    /// # Errors
    /// [`Syntax`](crate::ErrorKind::Syntax) for invalid requests.
    fn require_input(&self, requests: Json) -> Result<Option<Json>>;

    /// Milliseconds since the Unix epoch, for `Date`.
    fn now_ms(&self) -> u64;

    /// A pause, for timers.
    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()>;

    /// Randomness, for `crypto` and `Math.random`.
    fn random(&self, buffer: &mut [u8]);
}

impl Reply {
    /// What the log is told where nothing else becomes of it.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Success(_) | Self::Content(_) | Self::Anonymous(_) => String::from("a result was thrown; return it instead"),
            Self::InputRequired => String::from("it asks its caller"),
            Self::Error(message) => message.clone(),
            Self::Required(field) => format!("`{field}` is required"),
            Self::ToolError(ToolErrorReply { code, message: Some(message), .. }) => format!("{code}: {message}"),
            Self::ToolError(ToolErrorReply { code, .. }) => code.clone(),
        }
    }
}

/// What a script returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// `undefined`: no value.
    Undefined,
    /// A JSON value.
    Value(Json),
    /// A tagged object made with `success`, `error`, `required`, `toolError`, `response` or
    /// `anonymous` of `"millrace"`.
    Reply(Reply),
}

/// A tagged reply; never guessed from a value's shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// `success(data)`
    Success(Json),
    /// `response(data)`, with or without `build()`:
    /// `{ data?, content: [block], structured?, meta? }`. The core checks it.
    Content(Json),
    /// `anonymous({ scopes?, roles? })` of an authentication plugin: a caller without a name, on
    /// purpose. The core checks the members.
    Anonymous(Json),
    /// `requireInput(requests)` that must wait for its caller.
    InputRequired,
    /// `error(message)`
    Error(String),
    /// `required(field)`
    Required(String),
    /// `toolError(code, options)`
    ToolError(ToolErrorReply),
}

/// The options of `toolError(code, options)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolErrorReply {
    /// The machine-readable code, such as `NOT_FOUND`.
    pub code: String,
    /// What happened; the code where it is absent.
    pub message: Option<String>,
    /// What to do about it.
    pub suggestion: Option<String>,
    /// Tools that help.
    pub available_actions: Vec<String>,
    /// Further facts, in order.
    pub details: Vec<(String, String)>,
    /// `warning`, `error` or `critical`.
    pub severity: Option<String>,
    /// When to try again.
    pub retry_after_s: Option<u64>,
}

/// What a script threw.
#[derive(Clone, Debug, PartialEq)]
pub struct Thrown {
    /// The thrown error's message, or the thrown string, or a description of what else was thrown.
    pub message: String,
    /// The stack, for the log.
    pub stack: Option<String>,
    /// What the outside said, where it was an error of the host: a database's own words. For the
    /// log.
    pub cause: Option<Box<str>>,
    /// The tagged reply, where one was thrown instead of returned.
    pub reply: Option<Reply>,
}

/// Why a script gave no value.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptFault {
    /// It threw, or its promise was rejected, or it returned an error.
    Thrown(Thrown),
    /// It left something behind that nothing waits for: a query, a request, a rejected promise. The
    /// engine says so, not the script.
    LeftBehind(Thrown),
    /// It used up a limit; the text names the limit, its value and the setting.
    Limit(String),
    /// There was no memory left for it: other calls have what there is.
    Busy,
    /// Its deadline passed.
    TimedOut,
    /// The caller went away.
    Cancelled,
    /// It returned something that is not JSON, see [`script_value`](super::script_value). The text
    /// says what and where.
    NotJson(String),
    /// Its promise can never settle: nothing is left that could settle it.
    NeverSettles,
    /// It has no such export, or does not compile.
    Broken(String),
}

/// Runs the app's scripts.
///
/// Nothing that one call does may be seen by another: globals, prototypes, module variables. The
/// scripts of one call, which have the same [`Invocation::store`] and run one after the other,
/// share all of these. The engine starts at its first use.
pub trait ScriptEngine {
    /// Calls an exported function and waits for its promise.
    ///
    /// # Errors
    /// A [`ScriptFault`]; the next call on the same engine works whatever happened in this one.
    fn call<'a>(&'a self, invocation: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>>;

    /// Evaluates the scripts of an app. Called by hosts while nothing else is to be done; without
    /// it the first call waits for it.
    fn prepare(&self, _scripts: &[Script]) {}
}
