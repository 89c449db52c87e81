//! The thirteen stages of `tools/call`, in order.
//!
//! ```text
//! request ─ protocol ─▶ 1 resolve ─▶ 2 authenticate ─▶ 3 context ─▶ 4 signal ─▶ 5 map input ─▶ 6 validate
//!                                                                                               │
//! response ◀─ 13 serialize ◀─ 12 sync ◀─ 11 present ◀─ 10 map output ◀─ 9 execute ◀─ 8 guard ◀─ 7 middleware
//! ```
//!
//! A stage is a file; [`stage`] has their names and their order, and says which of them a tool has. Any stage may end the call; nothing
//! after it runs. Authentication comes before any other script of the app, so no code of the app runs for a caller that is not let in. Of
//! *context* only the data that every script sees is built. Of *guard* there is the confirmation, of *present* the check against `output`.
//! Not built yet are *middleware* and *sync*, and the rest of these two: the bundler refuses their settings, so that no app can rely on
//! them.

use alloc::{rc::Rc, string::String, vec::Vec};

use crate::{
    Json,
    app::{App, Tool},
    cancel::Cancel,
    fault::{FaultResult, Remedy},
    headers::Headers,
    ports::{CallOutcome, LogLevel, Ports, RunningCall},
};

mod authenticate;
mod connections;
mod content;
mod context;
mod env;
mod execute;
mod gateway;
mod guard;
mod identity;
mod map_input;
mod map_output;
mod observed;
mod present;
mod record;
mod rehearsal;
mod resolve;
mod rounds;
mod run;
mod schemas;
mod scope;
mod script;
mod secrets;
mod serialize;
mod signal;
pub mod stage;
mod validate;

pub use rounds::Rounds;
pub use stage::Stage;

use connections::Connections;
use context::Context;
use record::{Record, Subject};
use resolve::Names;
use run::{CallEnd, CallFailure, Run};
use schemas::Schemas;
use secrets::{AppSecrets, CallSecrets};
use validate::Patterns;

/// An app and ports, with what is kept between calls: the index of the tools, open connections, compiled patterns.
pub struct Pipeline {
    app: Rc<App>,
    ports: Ports,
    names: Names,
    connections: Connections,
    patterns: Patterns,
    schemas: Schemas,
    secrets: Rc<AppSecrets>,
}

/// One `tools/call`.
pub struct Call<'a> {
    /// The method of MCP that was asked for: `tools/call`, or what has the tool run.
    pub method: &'a str,
    /// `params.name`
    pub tool: &'a str,
    /// `params.arguments`; an absent one is an empty object.
    pub arguments: serde_json::Map<String, Json>,
    /// The id of this request in logs, spans and messages.
    pub request_id: &'a str,
    /// The caller's span.
    pub trace: Trace<'a>,
    /// Header fields of the HTTP request.
    pub headers: &'a Headers,
    /// The revision of MCP that the caller speaks: `2026-07-28`.
    pub protocol: &'a str,
    /// When the host will end the request, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// Tripped when the caller goes away.
    pub cancel: &'a Cancel,
    /// Hears what scripts say to the caller before the result, once the caller is let in.
    pub listener: Option<&'a dyn Listener>,
    /// What the caller may be asked, and what it answered.
    pub rounds: Rounds<'a>,
}

/// Hears what a call says before its result.
pub trait Listener {
    /// `ctx.progress(done, total, message)`
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>);

    /// `ctx.log.*`
    fn log(&self, level: LogLevel, message: &str);
}

/// The caller's span, as W3C Trace Context has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace<'a> {
    /// A valid `traceparent`.
    pub parent: Option<&'a str>,
    /// `tracestate`, which is passed on and not read.
    pub state: Option<&'a str>,
}

/// What stage *serialize* makes: a `CallToolResult` of any era.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The content blocks, in order.
    pub content: Vec<ContentBlock>,
    /// `structuredContent`
    pub structured: Option<Json>,
    /// `isError`
    pub is_error: bool,
    /// `_meta`, without the protocol's own members.
    pub meta: Vec<(String, Json)>,
    /// The call is not over: the caller has to answer first. Then there is nothing else.
    pub input: Option<InputRequired>,
}

/// What a call needs of its caller before it goes on: an `InputRequiredResult`.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    /// `inputRequests`
    pub requests: serde_json::Map<String, Json>,
    /// `requestState`
    pub state: String,
}

/// One content block.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    /// `{"type": "text"}`, without annotations.
    Text(String),
    /// Any other block, checked, as it is sent.
    Other(serde_json::Map<String, Json>),
}

impl ContentBlock {
    /// The block as a revision of MCP knows it: what that does not know yet is told in text.
    ///
    /// # Errors
    /// The text.
    pub(crate) fn for_version<'b>(
        block: &'b serde_json::Map<String, Json>,
        version: &str,
    ) -> Result<&'b serde_json::Map<String, Json>, String> {
        content::for_version(block, version)
    }
}

impl Pipeline {
    /// Makes a pipeline. Opens nothing.
    #[must_use]
    pub fn new(app: Rc<App>, ports: Ports) -> Self {
        let names = Names::of(&app.tools);
        let connections = Connections::of(app.adapters.len());
        let schemas = Schemas::of(app.tools.len());
        let secrets = Rc::new(AppSecrets::new(Rc::clone(&app), Rc::clone(&ports.env)));
        Self { app, ports, names, connections, patterns: Patterns::default(), schemas, secrets }
    }

    /// The app.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The tool of a name, and its place in [`App::tools`].
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<(usize, &Tool)> {
        self.names.find(&self.app.tools, name)
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Runs one call through the stages.
    ///
    /// # Errors
    /// A fault that has to be a JSON-RPC error: an unknown tool, a refused caller, or any fault of a tool with
    /// `errors.style: protocol`. Every other fault is a [`ToolResult`] with `is_error`.
    pub async fn call(&self, call: Call<'_>) -> FaultResult<ToolResult> {
        self.run(call, serialize::failure).await
    }

    /// Runs one call whose result becomes part of something else: a prompt, a resource, a completion.
    ///
    /// # Errors
    /// Every failure, whatever the tool's `errors.style`, and the failures that its script returned: there is nothing
    /// that a model could mend.
    pub async fn fetch(&self, call: Call<'_>) -> FaultResult<ToolResult> {
        self.run(call, serialize::fetched).await
    }

    async fn run(&self, call: Call<'_>, rendered: fn(&Tool, CallFailure) -> FaultResult<ToolResult>) -> FaultResult<ToolResult> {
        let record = Record::begin(self, &call);
        let (headers, listener) = (call.headers, call.listener);
        let subject = Subject { tool: call.tool, request_id: call.request_id, method: call.method };
        let call = match gateway::forward(self, call, &record) {
            Ok(call) => call,
            Err((gateway, why)) => {
                let why = CallSecrets::of(&self.secrets, headers, None).strike_failed(why);
                record.failed(self, subject, &why);
                return rendered(gateway, why);
            }
        };
        let (mut run, inputs) = match resolve::resolve(self, call, &record) {
            Ok(resolved) => resolved,
            Err(fault) => {
                let why = CallFailure::Fault(fault);
                record.failed(self, Subject { tool: &resolve::shown(subject.tool), ..subject }, &why);
                let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = why;
                return Err(fault);
            }
        };
        let running = RunningCall { tool: &run.tool.name, request_id: run.request_id, deadline_ms: run.signal.deadline_ms() };
        let end = observed::observed(self.ports.observer.as_deref(), running, stages(&mut run, inputs, listener)).await;
        let (subject, end) = (
            run.subject(),
            match end {
                Err(CallEnd::Asks) => rounds::required(&run).map(|asks| (asks, CallOutcome::Asked)).map_err(CallFailure::from),
                Ok(result) => Ok((result, CallOutcome::Succeeded)),
                Err(CallEnd::Failed(why)) => Err(why),
            },
        );
        match end {
            Ok((result, outcome)) => {
                record.ended(self, subject, outcome);
                Ok(result)
            }
            Err(why) => {
                // Whatever says why a call failed passes here, on its way to the caller and to the log.
                let why = run.secrets().strike_failed(told(&run, why));
                record.failed(self, subject, &why);
                rendered(run.tool, why)
            }
        }
    }

    /// Lets a database look at the statement of the tool with this index, without running it; for `millrace check --connect`. `None` where
    /// the tool has no statement, or one that no database explains.
    ///
    /// # Errors
    /// What the database says, or [`Configuration`](crate::ErrorKind::Configuration).
    pub async fn rehearse(&self, tool: usize) -> Option<crate::Result<()>> {
        let tool = self.app.tools.get(tool)?;
        Some(rehearsal::rehearse(self, tool).await?.map_err(|error| self.secrets.strike_error(error)))
    }

    /// Checks that an adapter's database answers; for `/readyz` and `millrace check --connect`.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for an adapter that the app does not have or whose variables are not set;
    /// else whatever the connector reports.
    pub async fn ping(&self, adapter: usize) -> crate::Result<()> {
        self.connections.ping(self, adapter).await.map_err(|error| self.secrets.strike_error(error))
    }
}

/// The stages from *authenticate* on.
async fn stages<'a>(run: &mut Run<'a>, mut inputs: Json, listener: Option<&'a dyn Listener>) -> Result<ToolResult, CallEnd> {
    if let Some(auth) = &run.tool.auth {
        run.auth = run.at(Stage::Authenticate, authenticate::authenticate(run, auth)).await?;
    }
    run.listener = listener;
    run.dialogue = rounds::begin(run, &inputs)?;
    if Stage::Context.applies(run.tool) {
        run.context = run.at(Stage::Context, async { Ok::<_, CallEnd>(Context::of(run)) }).await?;
    }
    if let Some(mapper) = &run.tool.map_input {
        inputs = run.at(Stage::MapInput, map_input::map_input(run, mapper, inputs)).await?;
    }
    inputs = run.at(Stage::Validate, validate::validate(run, inputs)).await?;
    if let Some(confirm) = &run.tool.confirm {
        run.at(Stage::Guard, guard::guard(run, confirm, &inputs)).await?;
    }
    let mut outcome = run.at(Stage::Execute, execute::execute(run, &mut inputs)).await?;
    if Stage::MapOutput.applies(run.tool) {
        outcome = run.at(Stage::MapOutput, map_output::map_output(run, &inputs, outcome)).await?;
    }
    if let Some(schema) = &run.tool.output {
        outcome = run.at(Stage::Present, present::present(run, schema, outcome)).await?;
    }
    run.at(Stage::Serialize, serialize::success(run, outcome)).await
}

/// A failure with what its caller and its operator have to know of it: whether a change was made before, and what the log says.
fn told(run: &Run<'_>, mut why: CallFailure) -> CallFailure {
    let is_reply = matches!(why, CallFailure::Reply(_));
    let fault = why.fault_mut();
    // A handler that returns a failure knows what it did.
    if !(is_reply && fault.stage <= Stage::Execute) {
        fault.after(run.change.get());
    }
    if fault.remedy != Remedy::Caller && fault.log.is_none() {
        fault.log = Some(fault.message.clone());
    }
    why
}
