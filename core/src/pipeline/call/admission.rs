//! Who asks, where no tool is called: for the app as a whole, for a prompt or a resource with
//! `require_scope`, and for a list of what can be called.
//!
//! The plugin runs as in stage *authenticate*, with the limits of a tool that has it, and is told
//! of no tool.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde_json::Map;

use crate::pipeline::{
    call::call_end::{CallEnd, CallFailure},
    call::callable::Callable,
    call::caller::Caller,
    call::dialogue::Rounds,
    call::names::shown,
    call::observed::observed,
    call::report::{CallReport, Subject},
    call::run::{NO_TOOL, Run, Work},
    call::scopes::Operation,
    call::told::told,
    call::{Call, Trace},
    isolate::runtime::Pipeline,
    stage::Stage,
    stages::authenticate,
    stages::middleware,
    stages::resolve,
};
use crate::{
    Json,
    app::{Auth, ErrorStyle, Errors, Execute, Limits, SearchIndex, SignIn, Tool},
    fault::{Fault, FaultResult, Refusal, Remedy},
    headers::Headers,
    ports::RunningCall,
};

impl Pipeline {
    /// Lets a caller have a prompt or a resource, or not. `name` is for the log.
    ///
    /// # Errors
    /// Those of stage *authenticate*, and `FORBIDDEN` where a scope is missing.
    pub async fn admit(&self, caller: Caller<'_>, name: &str, operation: Operation<'_>) -> FaultResult<()> {
        let Some(scopes) = operation.scopes else { return Ok(()) };
        let Some(auth) = &self.app.feature_auth else { return Err(authenticate::refused("the bundle has no `auth` for it")) };
        let gate = gate(name, auth, Limits::DEFAULT);
        let report = CallReport::unobserved(self);
        let run = begin(self, caller, &gate, operation, &report);
        let outcome = match ask(&run, auth).await {
            Ok(principal) => middleware::require_scope(&run, Stage::Authenticate, principal.as_ref(), scopes).map_err(CallFailure::from),
            Err(why) => Err(why),
        };
        outcome.map_err(|why| {
            let why = run.secrets().strike_failed(told(&run, why));
            report.failed(self, Subject { tool: name, request_id: caller.request_id, method: caller.method }, &why);
            let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = why;
            fault
        })
    }

    /// The principal that an `auth` finds. What is not the caller's fault is logged. `like` is a
    /// tool that has this `auth`.
    ///
    /// # Errors
    /// It refuses the caller, or cannot tell.
    pub(in crate::pipeline) async fn identify(&self, caller: Caller<'_>, auth: &Auth, like: Option<&Tool>) -> FaultResult<Option<Json>> {
        // Anybody can send any method.
        let method = shown(caller.method);
        let asker = Caller { method: &method, ..caller };
        let gate =
            gate(&method, auth, like.map_or(Limits::DEFAULT, |tool| Limits { rate: None, concurrency: None, ..tool.limits.clone() }));
        let report = CallReport::unobserved(self);
        let run = begin(self, asker, &gate, Operation::default(), &report);
        let why = match ask(&run, auth).await {
            Ok(principal) => return Ok(principal),
            Err(why) => run.secrets().strike_failed(told(&run, why)),
        };
        if matches!(&why, CallFailure::Fault(fault) | CallFailure::Reply(fault) if fault.remedy != Remedy::Caller) {
            self.refuse(caller, &why);
        }
        let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = why;
        Err(fault)
    }

    /// Those who can tell who calls the app, each with a tool that asks it.
    pub(in crate::pipeline) fn entrances(&self) -> impl Iterator<Item = (&Auth, Option<&Tool>)> {
        let of_tools = || {
            let tools = self.app.authorization.entrances.iter().filter_map(|place| self.app.tools.get(*place as usize));
            tools.filter_map(|tool| Some((tool.auth.as_ref()?, Some(tool))))
        };
        let of_features = self.app.feature_auth.as_ref().filter(|auth| auth.tells_callers());
        let of_features = of_features.filter(|auth| !of_tools().any(|(known, _)| known == *auth)).map(|auth| (auth, None));
        of_tools().chain(of_features)
    }

    /// Whether a request that calls nothing with an `auth` of its own needs a look at its caller
    /// before it is answered.
    #[must_use]
    pub fn asks_at_the_entrance(&self, headers: &Headers) -> bool {
        self.app.authorization.sign_in == SignIn::Required
            || authenticate::sends_credentials(headers, self.entrances().map(|(auth, _)| auth))
    }

    /// Tells the log of a caller that was not let in.
    fn refuse(&self, caller: Caller<'_>, why: &CallFailure) {
        let method = shown(caller.method);
        let subject = Subject { tool: &method, request_id: caller.request_id, method: &method };
        CallReport::unobserved(self).failed(self, subject, why);
    }
}

impl<'a> Callable<'a> {
    /// Lets a caller into the app, or not: one of its plugins has to know it. Nobody is refused at
    /// what is open because no plugin could tell.
    ///
    /// # Errors
    /// That of the plugin which says most about the caller, with the scopes of the whole app.
    pub async fn enter(&self) -> FaultResult<()> {
        let pipeline: &'a Pipeline = self.pipeline;
        let authorization = &pipeline.app.authorization;
        let is_required = authorization.sign_in == SignIn::Required;
        let mut refused: Option<Box<Fault>> = None;
        for (auth, like) in pipeline.entrances() {
            let fault = match self.ask(auth, like).await {
                Ok(None) if is_required => authenticate::nobody(),
                Ok(_) => return Ok(()),
                Err(fault) => fault,
            };
            let is_plain = matches!(fault.refusal, Some(Refusal::Unauthorized)) && fault.remedy == Remedy::Caller;
            if !is_plain && !is_required {
                return Ok(());
            }
            if refused.is_none() || !is_plain {
                refused = Some(fault);
            }
        }
        let Some(mut fault) = refused else { return Ok(()) };
        let mut scopes = authorization.scopes.clone();
        match &fault.refusal {
            Some(Refusal::Unauthorized) => fault.scopes = scopes,
            Some(Refusal::Forbidden(missing)) if !missing.is_empty() => {
                let others: Vec<String> = missing.iter().filter(|scope| !scopes.contains(scope)).cloned().collect();
                scopes.extend(others);
                fault.scopes = scopes;
            }
            _ => {}
        }
        let why = CallFailure::Fault(fault);
        // What the operator has to mend is in the log already.
        if matches!(&why, CallFailure::Fault(fault) if fault.remedy == Remedy::Caller) {
            pipeline.refuse(self.caller, &why);
        }
        let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = why;
        Err(fault)
    }
}

/// Stands where the pipeline has a tool.
fn gate(name: &str, auth: &Auth, limits: Limits) -> Tool {
    let errors = Errors { style: ErrorStyle::Protocol, expose: false, on: Vec::new() };
    Tool { auth: Some(auth.clone()), errors, limits, ..Tool::new(name, Execute::Search(SearchIndex::default())) }
}

fn begin<'a>(pipeline: &'a Pipeline, caller: Caller<'a>, gate: &'a Tool, operation: Operation<'a>, report: &'a CallReport) -> Run<'a> {
    let call = Call {
        method: caller.method,
        tool: &gate.name,
        arguments: Map::new(),
        request_id: caller.request_id,
        trace: Trace::default(),
        route: caller.route,
        headers: caller.headers,
        platform_caller: caller.platform_caller,
        protocol: caller.protocol,
        deadline_ms: caller.deadline_ms,
        cancel: caller.cancel,
        listener: None,
        rounds: Rounds::default(),
        operation,
    };
    const NOTHING: &SearchIndex = &SearchIndex { words: Vec::new() };
    resolve::begin(pipeline, &call, report, NO_TOOL, gate, Work::Search(NOTHING))
}

async fn ask(run: &Run<'_>, auth: &Auth) -> Result<Option<Json>, CallFailure> {
    run.pipeline.deployment.refresh(Some(run.signal.deadline_ms())).await;
    let running = RunningCall { tool: &run.tool.name, request_id: run.request_id, deadline_ms: run.signal.deadline_ms() };
    let authenticated = run.at(Stage::Authenticate, authenticate::authenticate(run, auth));
    match observed(run.pipeline.ports.observer.as_deref(), running, authenticated).await {
        Ok(principal) => Ok(principal),
        Err(CallEnd::Failed(why)) => Err(why),
        // A plugin that asks has been refused as wrong.
        Err(CallEnd::Asks) => Err(authenticate::refused("the plugin asks its caller").into()),
    }
}
