use alloc::{boxed::Box, rc::Rc, vec::Vec};

use crate::{
    ErrorKind,
    app::{Adapter, Middleware, Statement},
    fault::{Fault, Severity},
    pipeline::{Stage, Trace},
};

/// The target of audit lines, which an app asks for: no level of the log leaves them out, but `off`
/// and what names this target do.
pub const AUDIT_TARGET: &str = "millrace::audit";

/// A call as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningCall<'a> {
    /// The tool, by its name in the app.
    pub tool: &'a str,
    /// The id of the request in logs, spans and messages.
    pub request_id: &'a str,
    /// When the call must end, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
}

/// A call that begins.
#[derive(Clone, Copy, Debug)]
pub struct CallStart<'a> {
    /// The method that was asked for: `tools/call`, `prompts/get`, …
    pub method: &'a str,
    /// The name of the tool as its caller wrote it, cut and without control characters. The app may
    /// have no such tool.
    pub tool: &'a str,
    /// The revision of MCP that the caller speaks.
    pub protocol: &'a str,
    /// The id of the request in logs, spans and messages.
    pub request_id: &'a str,
    /// The caller's span.
    pub trace: Trace<'a>,
}

/// What happens in a call. Only names that the app itself has are told, and no value: neither of
/// inputs nor of results.
#[derive(Clone, Copy, Debug)]
pub enum CallEvent<'a> {
    /// The gateway makes it the call of this tool.
    Forwarded(&'a str),
    /// A stage begins.
    StageBegan(Stage),
    /// The stage is over, whatever came of it. A call that is dropped has no end of its stage.
    StageEnded(Stage),
    /// An entry of the middleware begins.
    MiddlewareBegan(&'a Middleware),
    /// It is over, whatever came of it.
    MiddlewareEnded(&'a Middleware),
    /// The cache was asked in place of an adapter.
    CacheLookedUp {
        /// The adapter.
        adapter: &'a Adapter,
        /// Whether the cache had the result.
        hit: bool,
    },
    /// A connector answered a statement, the tool's own or a script's.
    ConnectorAnswered {
        /// Its adapter.
        adapter: &'a Adapter,
        /// How long it took, by [`CallObserver::now_ns`].
        took_ns: u64,
        /// How it failed, where it did.
        error: Option<ErrorKind>,
        /// The tool's own request, where it was one of HTTP.
        request: Option<&'a Statement>,
        /// What the API answered with, where the request failed with an answer.
        status: Option<u16>,
    },
    /// A script ended, whatever came of it: its path in the app.
    ScriptEnded {
        /// The path of the script.
        script: &'a str,
        /// How long it took, with what it waited for, by [`CallObserver::now_ns`].
        took_ns: u64,
        /// How much memory the scripts of the call had at the most by then, in bytes, beyond what
        /// every call begins with. `None` where the engine does not say, and of a script that was
        /// interrupted.
        memory_bytes: Option<u64>,
    },
    /// The call failed, or ends with a failure that a script returned. Comes once, before the end.
    Failed(&'a Fault),
    /// The call is over.
    Ended(CallOutcome),
}

/// The names of all stages that an observer can be told of, in their order.
pub fn stage_names() -> impl Iterator<Item = &'static str> {
    Stage::ALL.into_iter().map(Stage::as_str)
}

/// An HTTP request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandledRequest<'a> {
    /// The request's method, as it came.
    pub method: &'a str,
    /// Which of the app's own paths was asked for; `None` where it is none of them.
    pub route: Option<&'a str>,
    /// The status of the answer.
    pub status: u16,
    /// How long it took until the answer's header was there, by [`Observer::now_ns`].
    pub took_ns: u64,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// With a result.
    Succeeded,
    /// With a result and a warning of its script.
    Warned,
    /// It failed.
    Failed,
    /// With a question to its caller.
    Asked,
}

impl CallOutcome {
    /// How a call ended that has this fault.
    #[must_use]
    pub const fn of(fault: &Fault) -> Self {
        if matches!(fault.severity, Severity::Warning) { Self::Warned } else { Self::Failed }
    }

    /// The word in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "ok",
            Self::Warned => "warning",
            Self::Failed => "error",
            Self::Asked => "input_required",
        }
    }
}

/// Is told of the calls of an isolate: which one it works on, so that a host can say of one that is
/// stuck, or that died, what it was doing; and what happens in each, for traces, times and numbers.
///
/// An isolate works on one call at a time. Between [`entered`](Self::entered) and
/// [`left`](Self::left) the isolate is in the hands of that call; a call that waits for the outside
/// is left, and entered again when it goes on. All of these are called often: they must be cheap,
/// and they must not panic.
pub trait Observer {
    /// The isolate goes on with this call. Its caller has not been let in yet where this is the
    /// first time.
    fn entered(&self, _call: &RunningCall<'_>) {}

    /// The isolate has left the call: it waits, is over, was dropped or panicked.
    fn left(&self, _call: &RunningCall<'_>) {}

    /// A call begins. What comes back hears of the rest of it; `None` where nobody wants to know.
    fn began(&self, _call: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        None
    }

    /// An HTTP request was answered, whether it had a call or not.
    fn handled(&self, _request: &HandledRequest<'_>) {}

    /// The clock that durations are measured by, in nanoseconds since some moment. 0, the default:
    /// nobody wants to know them.
    fn now_ns(&self) -> u64 {
        0
    }
}

/// Is told what happens in one call. Dropped when the call is over; before [`CallEvent::Ended`]
/// where the call was given up.
pub trait CallObserver {
    /// Something happened.
    fn observe(&self, event: CallEvent<'_>);

    /// As [`Observer::now_ns`].
    fn now_ns(&self) -> u64 {
        0
    }
}

/// Several observers as one; `None` of none.
#[must_use]
pub fn observers(all: impl IntoIterator<Item = Option<Rc<dyn Observer>>>) -> Option<Rc<dyn Observer>> {
    let mut all: Vec<Rc<dyn Observer>> = all.into_iter().flatten().collect();
    if all.len() > 1 { Some(Rc::new(ObserverList(all))) } else { all.pop() }
}

struct ObserverList<T>(Vec<T>);

impl Observer for ObserverList<Rc<dyn Observer>> {
    fn entered(&self, call: &RunningCall<'_>) {
        self.0.iter().for_each(|observer| observer.entered(call));
    }

    fn left(&self, call: &RunningCall<'_>) {
        self.0.iter().for_each(|observer| observer.left(call));
    }

    fn began(&self, call: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let mut all: Vec<Box<dyn CallObserver>> = self.0.iter().filter_map(|observer| observer.began(call)).collect();
        if all.len() > 1 { Some(Box::new(ObserverList(all))) } else { all.pop() }
    }

    fn handled(&self, request: &HandledRequest<'_>) {
        self.0.iter().for_each(|observer| observer.handled(request));
    }

    fn now_ns(&self) -> u64 {
        self.0.iter().map(|observer| observer.now_ns()).find(|now_ns| *now_ns > 0).unwrap_or_default()
    }
}

impl CallObserver for ObserverList<Box<dyn CallObserver>> {
    fn observe(&self, event: CallEvent<'_>) {
        self.0.iter().for_each(|observer| observer.observe(event));
    }

    fn now_ns(&self) -> u64 {
        self.0.iter().map(|observer| observer.now_ns()).find(|now_ns| *now_ns > 0).unwrap_or_default()
    }
}
