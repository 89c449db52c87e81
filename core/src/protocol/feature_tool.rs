//! Tools behind prompts, resources and completions: the call that such a tool gets, and what its
//! failure becomes.
//!
//! The whole pipeline runs, authentication included. A failure is a JSON-RPC error, since there is
//! no tool result that could carry it: a refused caller as in `tools/call`, inputs that do not fit
//! −32602, everything else −32603; `data` has the fault's fields.

use alloc::string::String;

use serde_json::Map;

use super::{
    exchange::Exchange,
    prompts::fill,
    rpc_error::{INTERNAL_ERROR, INVALID_PARAMS, RpcError},
};
use crate::{
    Json,
    app::{InputSource, ToolUse},
    fault::{Fault, FaultResult, Stage},
    pipeline::{Call, Caller, Operation, Rounds, Route, ToolResult},
};

impl Exchange<'_> {
    /// Runs the tool of a prompt or a resource. `value` knows the arguments.
    pub(super) async fn use_tool<'v>(
        &self,
        used: &ToolUse,
        value: impl Fn(&str) -> Option<&'v str> + Copy,
        rounds: Rounds<'_>,
        operation: Operation<'_>,
    ) -> FaultResult<ToolResult> {
        let mut inputs = Map::new();
        for (name, given) in &used.inputs {
            let input = match given {
                InputSource::Argument(argument) => value(argument).map(Json::from),
                InputSource::Text(template) => Some(fill(template, value).into()),
                InputSource::Literal(literal) => Some(literal.0.clone()),
            };
            if let Some(input) = input {
                inputs.insert(name.clone(), input);
            }
        }
        self.fetch(used.tool, inputs, rounds, operation).await
    }

    /// Runs a tool whose result becomes part of an answer; it may be that the tool asks its caller
    /// first.
    pub(super) async fn fetch(
        &self,
        tool: u32,
        arguments: Map<String, Json>,
        rounds: Rounds<'_>,
        operation: Operation<'_>,
    ) -> FaultResult<ToolResult> {
        let call = Call {
            method: self.method,
            // The bundler lets no index past the end through.
            tool: self.app().tools.get(tool as usize).map_or("", |tool| &tool.name),
            arguments,
            request_id: self.request_id(),
            trace: self.trace.borrowed(),
            route: self.route(),
            headers: &self.request.headers,
            platform_caller: self.request.platform_caller.as_ref(),
            protocol: self.selected.version,
            deadline_ms: self.request.deadline_ms,
            cancel: &self.request.cancel,
            listener: self.beside.listener,
            rounds,
            operation,
        };
        self.protocol.pipeline.fetch(call).await
    }

    /// Lets the caller have a prompt or a resource, or not. `name` is for the log.
    pub(super) async fn admit(&self, name: &str, operation: Operation<'_>) -> Result<(), RpcError> {
        if operation.scopes.is_none() {
            return Ok(());
        }
        self.protocol.pipeline.admit(self.caller(), name, operation).await.map_err(|fault| self.failed(&fault))
    }

    /// Where the request came to.
    pub(super) fn route(&self) -> Route<'_> {
        Route { path: &self.request.path, peer: self.request.peer.as_deref() }
    }

    /// Who sends the request.
    pub(super) fn caller(&self) -> Caller<'_> {
        Caller {
            method: self.method,
            request_id: self.request_id(),
            route: self.route(),
            headers: &self.request.headers,
            platform_caller: self.request.platform_caller.as_ref(),
            protocol: self.selected.version,
            deadline_ms: self.request.deadline_ms,
            cancel: &self.request.cancel,
        }
    }

    /// What a failed tool becomes.
    pub(super) fn failed(&self, fault: &Fault) -> RpcError {
        let failure = self.failure(fault);
        match fault.stage {
            _ if fault.refusal.is_some() => failure,
            Stage::Validate => RpcError { code: INVALID_PARAMS, ..failure },
            _ => RpcError { code: INTERNAL_ERROR, ..failure },
        }
    }
}
