//! What is told of a call while it goes on and when it is over: to the port
//! [`Observer`](crate::ports::Observer), and to the log, which gets one line for each finished
//! call.

use alloc::boxed::Box;
use core::{cell::Cell, future::Future};

use crate::pipeline::{call::Call, call::call_end::CallFailure, call::names::shown, isolate::runtime::Pipeline, stage::Stage};
use crate::{
    app::Adapter,
    fault::{Change, Fault},
    ports::{CallEvent, CallObserver, CallOutcome, CallStart},
};

/// The target of the lines of finished calls.
const TARGET: &str = "millrace::call";
/// The method that goes without saying.
const TOOLS_CALL: &str = "tools/call";

/// The report of one call.
pub(in crate::pipeline) struct CallReport {
    observer: Option<Box<dyn CallObserver>>,
    /// Whether the cache had the result, where it was asked.
    hit: Cell<Option<bool>>,
    /// When the call began, in milliseconds since the Unix epoch.
    pub(in crate::pipeline) began_ms: u64,
}

/// Who calls what: the fields that each line about a call has.
#[derive(Clone, Copy)]
pub(in crate::pipeline) struct Subject<'a> {
    /// The tool, by its name in the app; else what its caller asked for.
    pub(in crate::pipeline) tool: &'a str,
    pub(in crate::pipeline) request_id: &'a str,
    pub(in crate::pipeline) method: &'a str,
}

impl CallReport {
    pub(in crate::pipeline) fn begin(pipeline: &Pipeline, call: &Call<'_>) -> Self {
        let start = |observer: &dyn crate::ports::Observer| {
            let tool = &*shown(call.tool);
            observer.began(&CallStart {
                method: call.method,
                tool,
                protocol: call.protocol,
                request_id: call.request_id,
                trace: call.trace,
            })
        };
        let observer = pipeline.ports.observer.as_deref().and_then(start);
        Self { observer, hit: Cell::new(None), began_ms: pipeline.ports.clock.now_ms() }
    }

    /// The report of what is no call of a tool.
    pub(in crate::pipeline) fn unobserved(pipeline: &Pipeline) -> Self {
        Self { observer: None, hit: Cell::new(None), began_ms: pipeline.ports.clock.now_ms() }
    }

    /// Tells the observer, where there is one.
    pub(in crate::pipeline) fn tell(&self, event: CallEvent<'_>) {
        if let Some(observer) = &self.observer {
            observer.observe(event);
        }
    }

    /// The observer's clock; 0 where nobody measures.
    pub(in crate::pipeline) fn now_ns(&self) -> u64 {
        self.observer.as_ref().map_or(0, |observer| observer.now_ns())
    }

    /// The cache was asked in place of an adapter.
    pub(in crate::pipeline) fn looked_up(&self, adapter: &Adapter, hit: bool) {
        self.hit.set(Some(hit));
        self.tell(CallEvent::CacheLookedUp { adapter, hit });
    }

    /// The cache was asked in place of a handler.
    pub(in crate::pipeline) fn looked_up_handler(&self, hit: bool) {
        self.hit.set(Some(hit));
    }

    /// Runs a stage.
    pub(in crate::pipeline) async fn stage<T>(&self, stage: Stage, work: impl Future<Output = T>) -> T {
        self.tell(CallEvent::StageBegan(stage));
        let outcome = work.await;
        self.tell(CallEvent::StageEnded(stage));
        outcome
    }

    /// Runs a stage that waits for nothing.
    pub(in crate::pipeline) fn stage_now<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        self.tell(CallEvent::StageBegan(stage));
        let outcome = work();
        self.tell(CallEvent::StageEnded(stage));
        outcome
    }

    /// The call is over and did not fail.
    pub(in crate::pipeline) fn ended(&self, pipeline: &Pipeline, subject: Subject<'_>, outcome: CallOutcome) {
        self.tell(CallEvent::Ended(outcome));
        if tracing::enabled!(target: TARGET, tracing::Level::INFO) {
            let (Subject { tool, request_id, .. }, method, cache) = (subject, subject.method(), self.cache());
            let (outcome, ms) = (outcome.as_str(), self.elapsed_ms(pipeline));
            tracing::info!(target: TARGET, tool, outcome, ms, cache, method, request_id, "call finished");
        }
    }

    /// The call is over and failed. Its fault has lost its secrets already.
    pub(in crate::pipeline) fn failed(&self, pipeline: &Pipeline, subject: Subject<'_>, failed: &CallFailure) {
        let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = failed;
        let outcome = CallOutcome::of(fault);
        self.tell(CallEvent::Failed(fault));
        self.tell(CallEvent::Ended(outcome));
        // What the caller can mend is nobody else's business: anybody can make such a failure.
        match fault.is_for_operator() {
            false => {
                if tracing::enabled!(target: TARGET, tracing::Level::INFO) {
                    let line = Line::of(self, pipeline, subject, fault, outcome);
                    let Line { tool, outcome, code, stage, ms, cache, method, request_id, change_made, detail } = line;
                    tracing::info!(
                     target: TARGET, tool, outcome, code, stage, change_made, ms, cache, method, request_id, detail, "call finished"
                    );
                }
            }
            true => {
                if tracing::enabled!(target: TARGET, tracing::Level::WARN) {
                    let line = Line::of(self, pipeline, subject, fault, outcome);
                    let Line { tool, outcome, code, stage, ms, cache, method, request_id, change_made, detail } = line;
                    tracing::warn!(
                     target: TARGET, tool, outcome, code, stage, change_made, ms, cache, method, request_id, detail, "call failed"
                    );
                }
            }
        }
    }

    fn elapsed_ms(&self, pipeline: &Pipeline) -> u64 {
        pipeline.ports.clock.now_ms().saturating_sub(self.began_ms)
    }

    fn cache(&self) -> Option<&'static str> {
        self.hit.get().map(|hit| if hit { "hit" } else { "miss" })
    }
}

impl<'a> Subject<'a> {
    /// The method, where it is worth a word.
    fn method(self) -> Option<&'a str> {
        Some(self.method).filter(|method| *method != TOOLS_CALL)
    }
}

/// The fields of a line about a failed call.
struct Line<'a> {
    tool: &'a str,
    outcome: &'static str,
    code: &'a str,
    stage: &'static str,
    ms: u64,
    cache: Option<&'static str>,
    method: Option<&'a str>,
    request_id: &'a str,
    change_made: Option<&'static str>,
    detail: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(report: &CallReport, pipeline: &Pipeline, subject: Subject<'a>, fault: &'a Fault, outcome: CallOutcome) -> Self {
        Self {
            tool: subject.tool,
            outcome: outcome.as_str(),
            code: &fault.code,
            stage: fault.stage.as_str(),
            ms: report.elapsed_ms(pipeline),
            cache: report.cache(),
            method: subject.method(),
            request_id: subject.request_id,
            change_made: (fault.change != Change::None).then_some("yes"),
            detail: fault.log.as_deref(),
        }
    }
}
