/// A call as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningCall<'a> {
    /// The tool, by its name in the app.
    pub tool: &'a str,
    /// The id of the request in logs, spans and messages.
    pub request_id: &'a str,
    /// When the call has to end, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
}

/// Is told which call an isolate works on, so that a host can say of one that is stuck, or that died, what it was doing.
///
/// An isolate works on one call at a time. Between [`entered`](Self::entered) and [`left`](Self::left) the isolate is in the hands of that
/// call; a call that waits for the outside is left, and entered again when it goes on. Both are called often: they have to be cheap, and
/// they must not panic.
pub trait Observer {
    /// The isolate goes on with this call. Its caller has not been let in yet where this is the first time.
    fn entered(&self, call: &RunningCall<'_>);

    /// The isolate has left the call: it waits, is over, was dropped or panicked.
    fn left(&self, call: &RunningCall<'_>);
}
