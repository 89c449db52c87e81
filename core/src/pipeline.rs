//! The thirteen stages of `tools/call`, in order.
//!
//! ```text
//! request ─ protocol ─▶ 1 resolve ─▶ 2 authenticate ─▶ 3 context ─▶ 4 signal ─▶ 5 map input ─▶ 6 validate
//!                                                                                               │
//! response ◀─ 13 serialize ◀─ 12 sync ◀─ 11 present ◀─ 10 map output ◀─ 9 execute ◀─ 8 guard ◀─ 7 middleware
//! ```
//!
//! A stage is a file in `stages`; [`Stage`] has their names and their order, and [`stage`] says
//! which of them a tool has. Any stage may end the call; nothing after it runs. Authentication
//! comes before any other script of the app, so no code of the app runs for a caller that is not
//! let in.

use alloc::boxed::Box;
use core::pin::pin;

use crate::{
    Json,
    app::{Access, Tool},
    cancel::Cancel,
    fault::FaultResult,
    ports::{CallOutcome, RunningCall},
};

mod call;
mod content;
mod isolate;
mod once;
mod operator;
mod rounds;
mod script;
mod session;
pub mod stage;
mod stages;
mod tenant;

pub use call::callable::Callable;
pub use call::caller::{Caller, Route};
pub use call::dialogue::Rounds;
pub use call::scopes::{Operation, of_app as scopes_of_app, of_tool as scopes_of_tool};
pub use call::{Call, Listener, Trace};
pub(crate) use content::result::EMPTY;
pub use content::result::{ContentBlock, InputRequired, ToolResult};
pub use isolate::runtime::Pipeline;
pub use operator::query_plan::{PlanQuestion, StatementPlan};
pub use stage::Stage;

use call::call_end::{CallEnd, CallFailure};
use call::report::{CallReport, Subject};
use call::run::Run;
use call::secrets::CallSecrets;
use call::told::told;
use call::{gateway, names, observed};
use isolate::database;
use operator::{description, query_plan, rehearsal};
use stages::guard::Passed;
use stages::middleware::Ended;
use stages::signal::Signal;
use stages::{authenticate, execute, guard, make_context, map_input, map_output, middleware, present, resolve, serialize, sync, validate};

/// How long a database or a tool has to answer `/readyz`, in milliseconds: whoever asks waits no
/// longer.
const MOST_READY_MS: u32 = 5_000;

/// What `/readyz` says of a tool that it does not call: the app does not have it, it has `auth`, or
/// it does something else than a statement that reads.
const NOT_PROBED: &str = "NOT_PROBED";

impl Pipeline {
    /// Runs one call through the stages.
    ///
    /// # Errors
    /// A fault that must be a JSON-RPC error: an unknown tool, a refused caller, or any fault of a
    /// tool with `errors.style: protocol`. Every other fault is a [`ToolResult`] with `is_error`.
    pub async fn call(&self, call: Call<'_>) -> FaultResult<ToolResult> {
        self.run(call, serialize::failure, sync::announced).await
    }

    /// Runs one call whose result becomes part of something else: a prompt, a resource, a
    /// completion.
    ///
    /// # Errors
    /// Every failure, whatever the tool's `errors.style`, and the failures that its script
    /// returned: there is nothing that a model could mend.
    pub async fn fetch(&self, call: Call<'_>) -> FaultResult<ToolResult> {
        self.run(call, serialize::fetched, |_, result| result).await
    }

    async fn run(
        &self,
        call: Call<'_>,
        rendered: fn(&Tool, CallFailure) -> FaultResult<ToolResult>,
        announced: fn(&Run<'_>, ToolResult) -> ToolResult,
    ) -> FaultResult<ToolResult> {
        let report = CallReport::begin(self, &call);
        let (headers, listener) = (call.headers, call.listener);
        let subject = Subject { tool: call.tool, request_id: call.request_id, method: call.method };
        let call = match gateway::forward(self, call, &report).await {
            Ok(call) => call,
            Err((gateway, why)) => {
                let why = CallSecrets::of(&self.secrets, headers, None).strike_failed(why);
                report.failed(self, subject, &why);
                return rendered(gateway, why);
            }
        };
        let (mut run, inputs) = match resolve::resolve(self, call, &report) {
            Ok(resolved) => resolved,
            Err(fault) => {
                let why = CallFailure::Fault(fault);
                report.failed(self, Subject { tool: &names::shown(subject.tool), ..subject }, &why);
                let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = why;
                return Err(fault);
            }
        };
        self.deployment.refresh(Some(run.signal.deadline_ms())).await;
        let running = RunningCall { tool: &run.tool.name, request_id: run.request_id, deadline_ms: run.signal.deadline_ms() };
        // Pinned here: a future that is handed on is stored once more by each function that takes
        // it.
        let end = observed::observed(self.ports.observer.as_deref(), running, pin!(stages(&mut run, inputs, listener))).await;
        // Others of this isolate may ask from here on.
        let went_well = sync::went_well(&end);
        sync::settle(&run, went_well).await;
        let (subject, end) = (
            run.subject(),
            match end {
                Err(CallEnd::Asks) => rounds::required(&run).map(|asks| (asks, CallOutcome::Asked)).map_err(CallFailure::from),
                Ok(result) => Ok((result, CallOutcome::Succeeded)),
                Err(CallEnd::Failed(why)) => Err(why),
            },
        );
        // Whatever says why a call failed passes here, on its way to the caller and to the log.
        let said = |why| run.secrets().strike_failed(told(&run, why));
        let end = end.map_err(said);
        let ended = match &end {
            Ok((_, outcome)) => Ended::well(&run, *outcome),
            Err(why) => Ended::failed(&run, why),
        };
        let is_observed = run.chain.seen.borrow().is_some();
        let withheld = if is_observed { Box::pin(middleware::observe(&run, ended)).await } else { None };
        sync::settle(&run, went_well).await;
        match withheld.map_or(end, |fault| Err(said(fault.into()))) {
            Ok((result, outcome)) => {
                report.ended(self, subject, outcome);
                let result = once::marked(&run, result);
                Ok(if outcome == CallOutcome::Succeeded { announced(&run, result) } else { result })
            }
            Err(why) => {
                report.failed(self, subject, &why);
                let result = once::marked(&run, rendered(run.tool, why)?);
                Ok(if went_well { announced(&run, result) } else { result })
            }
        }
    }

    /// Lets a database look at the statement of the tool with this index, without running it, and
    /// make the table that the tool's `idempotency` needs; for `millrace check --connect`. `None`
    /// where the tool has no statement, or one that no database explains.
    ///
    /// # Errors
    /// What the database says, or [`Configuration`](crate::ErrorKind::Configuration).
    pub async fn rehearse(&self, tool: usize) -> Option<crate::Result<()>> {
        let tool = self.app.tools.get(tool)?;
        self.deployment.refresh(None).await;
        Some(rehearsal::rehearse(self, tool).await?.map_err(|error| self.secrets.strike_error(error)))
    }

    /// What the statement of the tool with this index returns, as its database describes it without
    /// running it; for `millrace check --connect`. `None` where the tool has no statement, where
    /// its database describes none, and where its columns depend on the call.
    ///
    /// # Errors
    /// As [`rehearse`](Self::rehearse).
    pub async fn describe(&self, tool: usize) -> Option<crate::Result<alloc::vec::Vec<crate::ports::Column>>> {
        let tool = self.app.tools.get(tool)?;
        self.deployment.refresh(None).await;
        Some(description::describe(self, tool).await?.map_err(|error| self.secrets.strike_error(error)))
    }

    /// How the databases of the tool with this index would run its statements, without running
    /// them; for `millrace check --connect`.
    pub async fn plans(&self, tool: usize, question: PlanQuestion) -> alloc::vec::Vec<StatementPlan> {
        let Some(tool) = self.app.tools.get(tool) else { return alloc::vec::Vec::new() };
        self.deployment.refresh(None).await;
        let mut plans = query_plan::plans(self, tool, question).await;
        for plan in &mut plans {
            plan.rows = plan.rows.clone().map_err(|error| self.secrets.strike_error(error));
        }
        plans
    }

    /// Lets an adapter's database answer a question of the operator's, which reads; for
    /// `millrace check --connect`.
    ///
    /// # Errors
    /// As [`ping`](Self::ping).
    pub async fn look_up(&self, adapter: usize, text: &str, values: &[crate::value::Value]) -> crate::Result<crate::value::Rows> {
        self.deployment.refresh(None).await;
        rehearsal::look_up(self, adapter, text, values).await.map_err(|error| self.secrets.strike_error(error))
    }

    /// Whether an adapter's database answers, or the first one of several, or has answered within
    /// the last second; for `/readyz`. The number behind that of the last adapter is that of the
    /// store of counters and records.
    ///
    /// # Errors
    /// The kinds of the errors of [`ping`](Self::ping), and those of the store.
    pub(crate) async fn is_ready(&self, adapter: usize) -> Result<(), crate::ErrorKind> {
        let ask = async {
            let is_store = adapter == self.app.adapters.len();
            let answer = if is_store { self.ping_store().await } else { self.ping_databases(adapter, 1, MOST_READY_MS).await };
            answer.map_err(|error| error.kind)
        };
        self.pings.answer(adapter, &*self.ports.clock, ask).await
    }

    /// Whether a tool answers that reads and that anybody may call, or has answered within the last
    /// second; for `/readyz`. It is called as any other, without inputs, and with the caller's
    /// header fields.
    ///
    /// # Errors
    /// The code of its fault, or [`NOT_PROBED`].
    pub(crate) async fn tool_is_ready(&self, mut call: Call<'_>) -> Result<(), alloc::string::String> {
        let found = self.app.tools.iter().position(|tool| tool.name == call.tool && tool.auth.is_none());
        let found = found.filter(|index| self.app.tools[*index].execute.access().is_some_and(Access::reads));
        let Some(index) = found else { return Err(NOT_PROBED.into()) };
        let ask = async {
            let latest = self.ports.clock.now_ms().saturating_add(MOST_READY_MS.into());
            call.deadline_ms = Some(call.deadline_ms.map_or(latest, |deadline| deadline.min(latest)));
            self.fetch(call).await.map(drop).map_err(|fault| fault.code.clone())
        };
        self.tool_pings.answer(index, &*self.ports.clock, ask).await
    }

    /// Whether these header fields have a key that the app takes from callers of a tool.
    pub(crate) fn knows_key(&self, headers: &crate::headers::Headers) -> bool {
        authenticate::knows_key(self, headers)
    }

    /// Checks that an adapter's database answers, or the first one of several.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for an adapter that the app does not have
    /// or whose variables are not set; else whatever the connector reports.
    pub async fn ping(&self, adapter: usize) -> crate::Result<()> {
        self.ping_databases(adapter, 1, u32::MAX).await
    }

    /// Checks that every database of an adapter answers, one after the other; for
    /// `millrace check --connect`, and to make databases that do not exist yet.
    ///
    /// # Errors
    /// As [`ping`](Self::ping), of the first one that does not.
    pub async fn ping_all(&self, adapter: usize) -> crate::Result<()> {
        self.ping_databases(adapter, usize::MAX, u32::MAX).await
    }

    async fn ping_store(&self) -> crate::Result<()> {
        let cancel = Cancel::new();
        let signal = Signal::new(&*self.ports.clock, &cancel, None, MOST_READY_MS);
        let answer = signal.race(self.ports.state.get("ready:store")).await;
        answer.map_or_else(|_| Err(crate::Error::new(crate::ErrorKind::TimedOut, "the store did not answer")), |answer| answer.map(drop))
    }

    async fn ping_databases(&self, adapter: usize, most: usize, limit_ms: u32) -> crate::Result<()> {
        let deadline_ms = (limit_ms < u32::MAX).then(|| self.ports.clock.now_ms().saturating_add(limit_ms.into()));
        self.deployment.refresh(deadline_ms).await;
        let databases = self.app.adapters.get(adapter).map_or_else(|| [None].to_vec(), database::all);
        for database in databases.into_iter().take(most) {
            let answer = self.connections.ping(&*self.ports.clock, adapter, database, limit_ms).await;
            answer.map_err(|error| self.secrets.strike_error(database::named(error, database)))?;
        }
        Ok(())
    }
}

/// The stages from *authenticate* on.
async fn stages<'a>(run: &mut Run<'a>, mut inputs: Json, listener: Option<&'a dyn Listener>) -> Result<ToolResult, CallEnd> {
    if let Some(auth) = &run.tool.auth {
        if let Some(was_asked) = run.operation.was_asked {
            was_asked.set(true);
        }
        run.auth = run.at(Stage::Authenticate, authenticate::call(run, auth)).await?;
    }
    run.listener = listener;
    run.dialogue = rounds::begin(run, &inputs)?;
    if Stage::Context.applies(run.tool) {
        run.context = run.at(Stage::Context, make_context::make_context(run)).await?;
    }
    inputs = match &run.tool.map_input {
        None => run.at(Stage::Validate, validate::validate(run, inputs)).await?,
        Some(mapper) => {
            let sent = inputs.clone();
            let mapped = run.at(Stage::MapInput, map_input::map_input(run, mapper, inputs)).await?;
            run.at(Stage::Validate, map_input::validate_mapped(run, mapper, mapped, sent)).await?
        }
    };
    let asked = present::asked(run, &mut inputs);
    if Stage::Middleware.applies(run.tool) {
        run.context = run.at(Stage::Middleware, middleware::middleware(run, &inputs)).await?;
    }
    let mut passed = match Stage::Guard.applies(run.tool) {
        true => run.at(Stage::Guard, guard::guard(run, &inputs)).await?,
        false => Passed::default(),
    };
    run.once = passed.once.take();
    let mut outcome = match passed.kept.take() {
        Some(kept) => kept,
        None => {
            if middleware::has_first_entries(run) {
                // Boxed, as it is needed by few calls and would be part of all.
                Box::pin(middleware::begin(run)).await?;
            }
            run.at(Stage::Execute, pin!(execute::execute(run, &mut inputs))).await?
        }
    };
    if Stage::MapOutput.applies(run.tool) {
        outcome = run.at(Stage::MapOutput, map_output::map_output(run, &inputs, outcome)).await?;
    }
    if Stage::Present.applies(run.tool) {
        outcome = run.at(Stage::Present, present::present(run, asked, outcome)).await?;
    }
    run.chain.keep_result(|| outcome.shown());
    if Stage::Sync.applies(run.tool) {
        run.at(Stage::Sync, sync::sync(run)).await?;
    }
    run.at(Stage::Serialize, serialize::success(run, outcome)).await
}
