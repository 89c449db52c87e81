//! One call on its way: what every stage after *resolve* may look at.

use alloc::string::String;
use core::{
    cell::{Cell, OnceCell, RefCell},
    future::Future,
};

use serde_json::{Map, json};

use crate::pipeline::{
    call::Listener,
    call::call_end::CallEnd,
    call::call_key::CallKey,
    call::caller::{Caller, Route},
    call::chain::Chain,
    call::context::Context,
    call::dialogue::{Dialogue, Rounds},
    call::identity::Identity,
    call::pending_sync::PendingSync,
    call::report::{CallReport, Subject},
    call::scopes::Operation,
    call::secrets::CallSecrets,
    isolate::deployment::Deployment,
    isolate::runtime::Pipeline,
    stages::signal::{Interruption, Signal},
};
use crate::{
    Error, ErrorKind, Json, Result,
    app::{Access, Adapter, App, Execute, ScriptRef, SearchIndex, Statement, Tool},
    expression::{Expression, Roots},
    fault::{Change, Fault, Stage},
    headers::Headers,
    platform_caller::PlatformCaller,
    ports::{CallEvent, CallStore},
    secret::Secret,
    value::Rows,
};

/// The target of the pipeline's events.
pub(in crate::pipeline) const TARGET: &str = "millrace::pipeline";

/// What to do after a time-out of a tool that writes.
pub(in crate::pipeline) const CHECK_FIRST: &str =
    "Check first whether the change was made, which is not known; if it was not, calling the tool again later may help.";

/// What to do after a failure of a tool that writes, and that never does so twice for the same
/// call.
pub(in crate::pipeline) const SAFE_TO_REPEAT: &str =
    "Calling the tool again with the same inputs is safe: a change that was made is not made a second time.";

/// The recovery line of a validation error.
pub(in crate::pipeline) const RECOVERY: &str = "Fix the fields above and call the tool again. Do not explain the error.";

/// The place where no tool is called; see [`gate`](crate::pipeline::call::admission).
pub(in crate::pipeline) const NO_TOOL: usize = usize::MAX;

/// One call. `'a` outlives it.
pub(in crate::pipeline) struct Run<'a> {
    pub(in crate::pipeline) pipeline: &'a Pipeline,
    pub(in crate::pipeline) tool: &'a Tool,
    /// The tool's place in [`App::tools`](crate::app::App::tools), or [`NO_TOOL`].
    pub(in crate::pipeline) place: usize,
    pub(in crate::pipeline) work: Work<'a>,
    pub(in crate::pipeline) request_id: &'a str,
    pub(in crate::pipeline) method: &'a str,
    pub(in crate::pipeline) route: Route<'a>,
    pub(in crate::pipeline) headers: &'a Headers,
    /// Whom the platform has let in.
    pub(in crate::pipeline) platform_caller: Option<&'a PlatformCaller>,
    pub(in crate::pipeline) protocol: &'a str,
    /// What the call is a part of.
    pub(in crate::pipeline) operation: Operation<'a>,
    pub(in crate::pipeline) signal: Signal<'a>,
    /// The principal; `None` before stage *authenticate*, and for callers that nobody named.
    pub(in crate::pipeline) auth: Option<Json>,
    /// The token by which the caller was let in, where it was one.
    pub(in crate::pipeline) token: OnceCell<Secret<String>>,
    /// Hears what scripts say to the caller; nobody before stage *authenticate* is over.
    pub(in crate::pipeline) listener: Option<&'a dyn Listener>,
    /// What the caller may be asked, and what it answered.
    pub(in crate::pipeline) rounds: Rounds<'a>,
    /// The answers of this and of earlier rounds; none before stage *authenticate* is over.
    pub(in crate::pipeline) dialogue: Dialogue,
    /// What the call asks its caller, where it ends with that.
    pub(in crate::pipeline) asked: RefCell<Map<String, Json>>,
    /// What scripts and placeholders see; nothing before stage *context* is over.
    pub(in crate::pipeline) context: Context,
    /// How far the middleware has come.
    pub(in crate::pipeline) chain: Chain,
    /// How many HTTP requests the call's scripts have sent.
    pub(in crate::pipeline) requests: Cell<u32>,
    /// What the call's scripts share.
    pub(in crate::pipeline) store: CallStore,
    /// What makes the call the same as another one; `None` for a tool without `idempotency`, and
    /// before stage *guard*.
    pub(in crate::pipeline) once: Option<CallKey>,
    /// Whether the answer is an earlier call's.
    pub(in crate::pipeline) replayed: Cell<bool>,
    /// How many rows were read where the database has more of them, and the tool has the rest left
    /// out.
    pub(in crate::pipeline) truncated: Cell<Option<usize>>,
    /// How many items the caller passes over, by the input of a cursor.
    pub(in crate::pipeline) passed: Cell<u64>,
    /// How many HTTP requests that may have changed something the call's scripts have sent.
    pub(in crate::pipeline) unsafe_requests: Cell<u32>,
    /// How many times the call's scripts have used `ctx.cache`, and how many bytes they have put
    /// there.
    pub(in crate::pipeline) cache_uses: Cell<(u32, usize)>,
    /// A plugin finds out who is calling.
    pub(in crate::pipeline) asks_who_calls: Cell<bool>,
    /// What is told of the call.
    pub(in crate::pipeline) report: &'a CallReport,
    /// What the call has changed so far.
    pub(in crate::pipeline) change: Cell<Change>,
    /// How many statements that may change something were sent and have no answer that says whether
    /// they did.
    pub(in crate::pipeline) unanswered_writes: Cell<u32>,
    /// How many rows databases, or the cache in their place, gave the call, and how many they
    /// changed and did not give; `None` where none was asked.
    pub(in crate::pipeline) rows: Cell<Option<u64>>,
    /// How many steps the conditions of the presenter may still make, all together.
    pub(in crate::pipeline) steps_left: Cell<usize>,
    /// What of its changes is still to be noted.
    pub(in crate::pipeline) sync: PendingSync,
    /// Made when something is said: most calls that go well say nothing.
    pub(in crate::pipeline) secrets: OnceCell<CallSecrets>,
}

/// What stage *execute* does: the tool's [`Execute`], apart from the gateway, whose calls are
/// another tool's by then.
#[derive(Clone, Copy)]
pub(in crate::pipeline) enum Work<'a> {
    /// Statements, in a transaction if there are several.
    Database {
        adapter: &'a Adapter,
        /// The adapter's place in the app.
        place: usize,
        execute: &'a Execute,
    },
    Script(&'a ScriptRef),
    Search(&'a SearchIndex),
}

impl<'a> Work<'a> {
    /// `None` for the gateway.
    pub(in crate::pipeline) fn of(app: &'a App, tool: &'a Tool) -> Option<Self> {
        match &tool.execute {
            execute @ (Execute::Statement { adapter, .. } | Execute::Transaction { adapter, .. }) => {
                let place = *adapter as usize;
                Some(Self::Database { adapter: app.adapters.get(place)?, place, execute })
            }
            Execute::Script(handler) => Some(Self::Script(handler)),
            Execute::Search(index) => Some(Self::Search(index)),
            Execute::Forward => None,
        }
    }
}

/// A question to a connector. Given up, it is told of as one that was answered so: out of time
/// where the call is, and else as cancelled, because the caller went away or a script waited for
/// something else, as with `Promise.race`.
pub(in crate::pipeline) struct Question<'q> {
    report: &'q CallReport,
    deployment: &'q Deployment,
    signal: &'q Signal<'q>,
    adapter: &'q Adapter,
    request: Option<&'q Statement>,
    began_ns: u64,
    is_answered: bool,
}

impl<'q> Question<'q> {
    /// The same with the tool's own request, where it is one of HTTP.
    pub(in crate::pipeline) fn of_request(mut self, request: Option<&'q Statement>) -> Self {
        self.request = request;
        self
    }

    /// Notes the answer. A secret that may be the reason of a failure is read again.
    pub(in crate::pipeline) fn answered<T>(mut self, answer: &Result<T>) {
        self.is_answered = true;
        let failure = answer.as_ref().err();
        let error = failure.map(|error| error.kind);
        self.tell(error, failure.and_then(Error::status));
        if matches!(error, Some(ErrorKind::Denied | ErrorKind::Configuration | ErrorKind::Unavailable)) {
            self.deployment.doubt();
        }
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            let error = match self.signal.check() {
                Err(Interruption::TimedOut(_)) => ErrorKind::TimedOut,
                Ok(()) | Err(Interruption::Cancelled) => ErrorKind::Cancelled,
            };
            self.tell(Some(error), None);
        }
    }
}

impl Question<'_> {
    fn tell(&self, error: Option<ErrorKind>, status: Option<u16>) {
        let took_ns = self.report.now_ns().saturating_sub(self.began_ns);
        self.report.tell(CallEvent::ConnectorAnswered { adapter: self.adapter, took_ns, error, request: self.request, status });
    }
}

impl<'a> Run<'a> {
    /// An adapter is asked something.
    pub(in crate::pipeline) fn asks<'q>(&'q self, adapter: &'q Adapter) -> Question<'q> {
        Question {
            report: self.report,
            deployment: &self.pipeline.deployment,
            signal: &self.signal,
            adapter,
            request: None,
            began_ns: self.report.now_ns(),
            is_answered: false,
        }
    }

    /// Whether a condition holds. One that needs more steps than are `left` does not, and a line of
    /// the log says so, with the key that it stands under and the code of its failure.
    pub(in crate::pipeline) fn holds(
        &self,
        when: &Expression,
        roots: &Roots<'_>,
        left: &Cell<usize>,
        key: &str,
        code: Option<&str>,
    ) -> bool {
        let had_steps = left.get() > 0;
        let holds = when.holds_within(roots, &self.pipeline.patterns, left);
        if !holds && had_steps && left.get() == 0 {
            let Subject { tool, request_id, .. } = self.subject();
            tracing::warn!(
                target: TARGET, tool, request_id, key, code,
                "a condition needs more steps than an evaluation may make, so it does not hold"
            );
        }
        holds
    }

    /// Runs a stage, unless the call is over already.
    pub(in crate::pipeline) async fn at<T, E: Into<CallEnd>>(
        &self,
        stage: Stage,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CallEnd> {
        let may_have_written = || stage > Stage::Execute && self.may_write() && !self.only_reads();
        self.signal.check().map_err(|why| self.interrupted(why, Stage::Signal, may_have_written()))?;
        self.report.stage(stage, work).await.map_err(Into::into)
    }

    /// The fault of a call that had to end. `changed` says that the tool may have changed something
    /// already.
    pub(in crate::pipeline) fn interrupted(&self, why: Interruption, stage: Stage, changed: bool) -> Fault {
        let fault = why.fault(stage);
        match why {
            Interruption::TimedOut(_) if changed => fault.suggesting(self.after_unknown()),
            _ => fault,
        }
    }

    /// What the call's statements did to its databases; for audits. `None`: nothing, as far as is
    /// known.
    pub(in crate::pipeline) fn change_made(&self) -> Option<&'static str> {
        match (self.change.get(), self.unanswered_writes.get()) {
            // An earlier call made it.
            _ if self.replayed.get() => None,
            (Change::None, 0) => None,
            (Change::None, _) => Some("unknown"),
            (Change::Some | Change::Made | Change::Recorded | Change::Kept, _) => Some("yes"),
        }
    }

    /// A statement that may change something is sent.
    pub(in crate::pipeline) fn write_sent(&self) {
        self.unanswered_writes.set(self.unanswered_writes.get() + 1);
    }

    /// The answer to it: where it is one that leaves open whether the statement was carried out,
    /// that stays open. Whether it is one.
    pub(in crate::pipeline) fn write_answered<T>(&self, answer: &Result<T>) -> bool {
        let is_open = answer.as_ref().is_err_and(|error| {
            matches!(
                error.kind,
                ErrorKind::TimedOut | ErrorKind::Unavailable | ErrorKind::Cancelled | ErrorKind::TooLarge | ErrorKind::Protocol
            )
        });
        if !is_open {
            self.unanswered_writes.set(self.unanswered_writes.get().saturating_sub(1));
        }
        is_open
    }

    /// A database has answered.
    pub(in crate::pipeline) fn count_rows(&self, rows: &Rows) {
        let count = u64::try_from(rows.count()).unwrap_or(u64::MAX);
        self.rows.set(Some(self.rows.get().unwrap_or(0).saturating_add(count).saturating_add(rows.affected)));
    }

    /// What to do where nobody knows whether the change was made.
    pub(in crate::pipeline) const fn after_unknown(&self) -> &'static str {
        match (&self.once, &self.work) {
            (Some(_), Work::Database { .. }) => SAFE_TO_REPEAT,
            _ => CHECK_FIRST,
        }
    }

    /// Whether the tool may change something, as far as is known before it does.
    pub(in crate::pipeline) fn may_write(&self) -> bool {
        match self.work {
            Work::Database { execute, .. } => execute.access() == Some(Access::Write),
            Work::Script(_) => true,
            Work::Search(_) => false,
        }
    }

    /// Whether the tool promises its callers that it only reads, as one with `kind: query` does.
    /// Takes a look at its description: for calls that fail.
    pub(in crate::pipeline) fn only_reads(&self) -> bool {
        let described: Json = serde_json::from_str(&self.tool.descriptor).unwrap_or_default();
        described["annotations"]["readOnlyHint"] == true
    }

    /// The fields of a line about this call.
    pub(in crate::pipeline) fn subject(&self) -> Subject<'a> {
        Subject { tool: &self.tool.name, request_id: self.request_id, method: self.method }
    }

    /// The context as far as it is known: the principal is in it only after stage *authenticate*.
    pub(in crate::pipeline) fn new_context(&self) -> Context {
        let Route { path, peer } = self.route;
        let mut request = json!({
            "id": self.request_id,
            "method": self.method,
            "headers": listed(self.headers, &self.tool.context.headers),
            "protocol": self.protocol,
            "capabilities": self.rounds.kinds(),
        });
        let known = [("path", Some(path).filter(|path| !path.is_empty())), ("peer", peer)];
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| request[name] = value.into());
        Context::of(self.pipeline, request, self.auth.as_ref())
    }

    /// Who calls, until the call's own deadline.
    pub(in crate::pipeline) fn caller(&self) -> Caller<'a> {
        let Self { method, request_id, route, headers, platform_caller, protocol, .. } = *self;
        let (deadline_ms, cancel) = (Some(self.signal.deadline_ms()), self.signal.cancel());
        Caller { method, request_id, route, headers, platform_caller, protocol, deadline_ms, cancel }
    }

    /// What tells this caller from others.
    pub(in crate::pipeline) fn identity(&self) -> Identity {
        Identity::of(self.auth.as_ref())
    }

    /// What must not be in any text that leaves, a result apart.
    pub(in crate::pipeline) fn secrets(&self) -> &CallSecrets {
        self.secrets.get_or_init(|| CallSecrets::of(&self.pipeline.secrets, self.headers, Some(self.tool)))
    }
}

/// The listed header fields that were sent; the values of one that was sent several times are
/// joined.
fn listed(headers: &Headers, listed: &[String]) -> Map<String, Json> {
    let sent = |name: &String| {
        let joined = headers.all(name).map(String::from).reduce(|joined, value| joined + ", " + &value)?;
        Some((name.clone(), joined.into()))
    };
    listed.iter().filter_map(sent).collect()
}

/// The fault of a variable that is not set.
pub(in crate::pipeline) fn missing_variable(name: &str, stage: Stage) -> Fault {
    let message = alloc::format!("The environment variable `{name}` is not set.");
    Fault::new(stage, "CONFIGURATION", message).by_operator()
}
