//! A call as the protocol hands it to the pipeline.

use alloc::string::String;

use crate::pipeline::{
    call::caller::{Caller, Route},
    call::dialogue::Rounds,
    call::scopes::Operation,
};
use crate::{Json, cancel::Cancel, headers::Headers, platform_caller::PlatformCaller, ports::LogLevel};

pub(super) mod admission;
pub(super) mod call_end;
pub(super) mod call_key;
pub(super) mod callable;
pub(super) mod caller;
pub(super) mod chain;
pub(super) mod context;
pub(super) mod dialogue;
pub(super) mod gateway;
pub(super) mod identity;
pub(super) mod names;
pub(super) mod observed;
pub(super) mod pending_sync;
pub(super) mod report;
pub(super) mod run;
pub(super) mod scope;
pub(super) mod scopes;
pub(super) mod secrets;
pub(super) mod told;

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
    /// Where the request came to.
    pub route: Route<'a>,
    /// Header fields of the HTTP request.
    pub headers: &'a Headers,
    /// Whom the platform has let in.
    pub platform_caller: Option<&'a PlatformCaller>,
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
    /// What the call is a part of; nothing else for `tools/call`.
    pub operation: Operation<'a>,
}

impl<'a> Call<'a> {
    /// Who sends it.
    pub(super) const fn caller(&self) -> Caller<'a> {
        let Self { method, request_id, route, headers, platform_caller, protocol, deadline_ms, cancel, .. } = *self;
        Caller { method, request_id, route, headers, platform_caller, protocol, deadline_ms, cancel }
    }
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
