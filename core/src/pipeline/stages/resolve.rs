//! Stage 1, *resolve*: the name in `tools/call` → the compiled tool. Exact match, in constant time.

use alloc::{boxed::Box, format};
use core::cell::{Cell, OnceCell, RefCell};

use crate::pipeline::{
    call::Call,
    call::chain::Chain,
    call::context::Context,
    call::dialogue::Dialogue,
    call::names::shown,
    call::pending_sync::PendingSync,
    call::report::CallReport,
    call::run::{Run, Work},
    isolate::runtime::Pipeline,
    stages::signal::Signal,
};
use crate::{
    Json,
    app::Tool,
    expression::MOST_STEPS,
    fault::{Change, Fault, FaultResult, Stage},
    ports::CallStore,
};

/// Finds the tool and begins the call; gives back the arguments for the next stage.
///
/// # Errors
/// `TOOL_NOT_FOUND`.
pub(in crate::pipeline) fn resolve<'a>(pipeline: &'a Pipeline, call: Call<'a>, report: &'a CallReport) -> FaultResult<(Run<'a>, Json)> {
    let found = report.stage_now(Stage::Resolve, || {
        pipeline.tool(call.tool).and_then(|(place, tool)| Some((place, tool, Work::of(&pipeline.app, tool)?)))
    });
    let Some((place, tool, work)) = found else {
        let message = format!("tool '{}' not found", shown(call.tool));
        return Err(Box::new(Fault::new(Stage::Resolve, "TOOL_NOT_FOUND", message)));
    };
    let run = begin(pipeline, &call, report, place, tool, work);
    Ok((run, Json::Object(call.arguments)))
}

/// Begins a call.
pub(in crate::pipeline) fn begin<'a>(
    pipeline: &'a Pipeline,
    call: &Call<'a>,
    report: &'a CallReport,
    place: usize,
    tool: &'a Tool,
    work: Work<'a>,
) -> Run<'a> {
    let signal = Signal::since(report.began_ms, &*pipeline.ports.clock, call.cancel, call.deadline_ms, tool.limits.timeout_ms);
    Run {
        pipeline,
        tool,
        place,
        work,
        request_id: call.request_id,
        method: call.method,
        route: call.route,
        headers: call.headers,
        platform_caller: call.platform_caller,
        protocol: call.protocol,
        operation: call.operation,
        signal,
        auth: None,
        token: OnceCell::new(),
        listener: None,
        rounds: call.rounds,
        dialogue: Dialogue::default(),
        asked: RefCell::default(),
        context: Context::NONE,
        chain: Chain::default(),
        requests: Cell::new(0),
        store: CallStore::default(),
        once: None,
        replayed: Cell::new(false),
        truncated: Cell::new(None),
        passed: Cell::new(0),
        unsafe_requests: Cell::new(0),
        rows: Cell::new(None),
        cache_uses: Cell::new((0, 0)),
        asks_who_calls: Cell::new(false),
        report,
        change: Cell::new(Change::None),
        unanswered_writes: Cell::new(0),
        steps_left: Cell::new(MOST_STEPS),
        sync: PendingSync::default(),
        secrets: OnceCell::new(),
    }
}
