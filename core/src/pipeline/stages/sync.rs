//! Stage 12, *sync*: what a call has changed makes cached results stale, and is announced to the
//! caller.
//!
//! Where the call goes well this is a stage; a call that ends in any other way passes here, too,
//! and so does one that is dropped: what it changed, or may have changed, makes results stale as
//! well. Only a call that went well, with a warning or without, announces something. Nothing here
//! fails a call.

use alloc::{boxed::Box, rc::Rc, string::String, vec::Vec};

use serde_json::json;

use crate::pipeline::{
    call::call_end::{CallEnd, CallFailure},
    call::report::Subject,
    call::run::{Run, TARGET},
    call::secrets::AppSecrets,
    content::blocks,
    content::length::json_length,
    content::result::{ContentBlock, ToolResult},
    isolate::epochs::{self, Begun, Epochs},
    isolate::runtime::Pipeline,
};
use crate::{
    Error, Json,
    app::{App, EpochWrites, ToolSync},
    fault::{Change, FaultResult, Severity, Stage},
    ports::Ports,
};

/// The member of `_meta` that says what is stale.
const INVALIDATED: &str = "millrace/invalidated";

/// The stage, of a call that has gone well so far.
///
/// # Errors
/// None.
pub(in crate::pipeline) async fn sync(run: &Run<'_>) -> FaultResult<()> {
    settle(run, true).await;
    Ok(())
}

/// Notes what a call has changed since the last time. `went_well`: it did what its tool is for.
pub(in crate::pipeline) async fn settle(run: &Run<'_>, went_well: bool) {
    if let Some(begun) = begin(run, went_well) {
        let (pipeline, Subject { tool, request_id, .. }) = (run.pipeline, run.subject());
        if let Err(error) = epochs::tell(&pipeline.app, &pipeline.ports, &pipeline.epochs, &begun).await {
            log(pipeline.secrets.strike_error(error), tool, request_id);
        }
    }
}

/// Notes it for this isolate; what is left is to tell others.
fn begin(run: &Run<'_>, went_well: bool) -> Option<Begun> {
    let (sync, pending) = (run.tool.sync.as_ref()?, &run.sync);
    let unanswered = run.unanswered_writes.get() + pending.open_requests.get();
    let is_open = unanswered > pending.unanswered.replace(unanswered);
    let mut writes: Vec<&EpochWrites> = Vec::new();
    if (went_well && !pending.is_noted.get()) || is_open || (!pending.is_noted.get() && may_have_changed(run)) {
        pending.is_noted.set(true);
        writes.push(&sync.writes);
    }
    for adapter in pending.adapters.take() {
        writes.extend(of_script(sync, adapter));
    }
    run.pipeline.epochs.begin(&run.pipeline.ports, writes, is_open.then(|| run.signal.deadline_ms()))
}

fn of_script(sync: &ToolSync, adapter: u32) -> Option<&EpochWrites> {
    sync.script_writes.iter().find(|(other, _)| *other == adapter).map(|(_, writes)| writes)
}

fn may_have_changed(run: &Run<'_>) -> bool {
    run.change.get() != Change::None || run.unanswered_writes.get() > 0 || run.unsafe_requests.get() > 0
}

/// Whether a failure is a warning about something that was done.
pub(in crate::pipeline) fn is_warning(why: &CallFailure) -> bool {
    matches!(why, CallFailure::Reply(fault) if fault.severity == Severity::Warning && fault.stage >= Stage::Execute)
}

/// Whether a call went well, as far as is known before its failure is rendered.
pub(in crate::pipeline) fn went_well(end: &Result<ToolResult, CallEnd>) -> bool {
    match end {
        Ok(_) => true,
        Err(CallEnd::Failed(why)) => is_warning(why),
        Err(CallEnd::Asks) => false,
    }
}

/// The result with what is announced, before everything else.
pub(in crate::pipeline) fn announced(run: &Run<'_>, mut result: ToolResult) -> ToolResult {
    if let Some((block, meta)) = announcement(run) {
        result.content.insert(0, block);
        result.meta.push((INVALIDATED.into(), meta));
    }
    result
}

/// How many bytes of `limits.output` that takes.
pub(in crate::pipeline) fn announced_bytes(run: &Run<'_>) -> FaultResult<usize> {
    match announcement(run) {
        Some((ContentBlock::Other(block), meta)) => Ok(json_length(&block)? + json_length(&meta)?),
        _ => Ok(0),
    }
}

fn announcement(run: &Run<'_>) -> Option<(ContentBlock, Json)> {
    let announced = run.tool.sync.as_ref()?.announces.as_ref()?;
    let block = blocks::invalidation(&announced.cause, &announced.domains);
    Some((block, json!({ "cause": announced.cause, "domains": announced.domains })))
}

/// A call that is dropped has no time left to tell anyone: that happens after it.
impl Drop for Run<'_> {
    fn drop(&mut self) {
        if let Some(begun) = begin(self, false) {
            let later = LaterSync::of(self.pipeline, self.subject());
            self.pipeline.ports.wait_until.wait_until(Box::pin(async move { later.tell(begun).await }));
        }
    }
}

/// Whoever writes after the call is over.
pub(in crate::pipeline) struct LaterSync {
    app: Rc<App>,
    ports: Ports,
    epochs: Rc<Epochs>,
    secrets: Rc<AppSecrets>,
    tool: String,
    request_id: String,
}

impl LaterSync {
    pub(in crate::pipeline) fn of(pipeline: &Pipeline, subject: Subject<'_>) -> Self {
        Self {
            app: Rc::clone(&pipeline.app),
            ports: pipeline.ports.clone(),
            epochs: Rc::clone(&pipeline.epochs),
            secrets: Rc::clone(&pipeline.secrets),
            tool: subject.tool.into(),
            request_id: subject.request_id.into(),
        }
    }

    /// Notes a write, and tells the store. `deadline_ms` as for [`Epochs::begin`].
    pub(in crate::pipeline) async fn wrote(&self, writes: &EpochWrites, deadline_ms: Option<u64>) {
        if let Some(begun) = self.epochs.begin(&self.ports, [writes], deadline_ms) {
            self.tell(begun).await;
        }
    }

    async fn tell(&self, begun: Begun) {
        if let Err(error) = epochs::tell(&self.app, &self.ports, &self.epochs, &begun).await {
            log(self.secrets.strike_error(error), &self.tool, &self.request_id);
        }
    }
}

fn log(error: Error, tool: &str, request_id: &str) {
    tracing::warn!(
        target: TARGET, tool, request_id, %error, detail = error.source,
        "the store was not told of a change; until it is, other isolates may answer from results that were cached before it"
    );
}
