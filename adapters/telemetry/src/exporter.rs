//! Keeps the finished spans of an isolate and sends them.
//!
//! When a call's own span has finished, the port [`WaitUntil`] gets the work of sending. One
//! request is under way at a time; what finishes meanwhile goes with the next. So a busy isolate
//! sends few and large requests by itself. A collector that is slow or down costs memory up to
//! [`MOST_SPANS`] and no call anything: what does not fit is dropped and counted, what could not be
//! sent is dropped and logged, and after a failure nothing is sent for [`REST_MS`].
//!
//! Who sends does it in the name of one request, with the spans of others among its own. A platform
//! may allow a request only so much, or end its work without a word. So a turn is short, and one
//! that is not over when it should be counts for nothing.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use millrace_core::{
    Result,
    ports::{Clock, HttpClient, Random, WaitUntil},
};

use crate::{
    otlp,
    post::{SendTurn, post},
    settings::TraceSettings,
    span::{Parent, Span, SpanIds},
    tracer::SpanSink,
};

/// How many finished spans are kept until they are sent.
pub const MOST_SPANS: usize = 2048;
/// How many spans go with one request.
const BATCH: usize = 512;
/// How long a collector that failed is left alone, in milliseconds.
pub const REST_MS: u64 = 5000;
/// How long a turn of sending begins requests as it likes, in milliseconds. The one that began last
/// and one more may follow: all is over within the 30 seconds for which a Worker may go on after
/// its answer.
const TURN_MS: u64 = 2000;
/// How many requests a turn has: they count among the 50 that a Worker's request may send.
const TURN_REQUESTS: usize = 4;

/// What an isolate that traces keeps.
pub(crate) struct TracerState {
    settings: TraceSettings,
    resource: Vec<(String, String)>,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    ids: SpanIds,
    wait_until: Rc<dyn WaitUntil>,
    now_ns: fn() -> u64,
    pub(crate) finished: RefCell<Vec<Span>>,
    dropped: Cell<usize>,
    /// By when the turn that is under way has made place for another; 0 where there is none.
    sends_until_ms: Rc<Cell<u64>>,
    rests_until_ms: Cell<u64>,
    /// For the work of sending, which holds on to it.
    own: std::rc::Weak<Self>,
}

impl TracerState {
    pub(crate) fn new(
        settings: TraceSettings,
        resource: &[(String, String)],
        http: Rc<dyn HttpClient>,
        clock: Rc<dyn Clock>,
        random: Rc<dyn Random>,
        wait_until: Rc<dyn WaitUntil>,
        now_ns: fn() -> u64,
    ) -> Rc<Self> {
        Rc::new_cyclic(|own| Self {
            settings,
            resource: resource.to_vec(),
            http,
            clock,
            random,
            ids: SpanIds::default(),
            wait_until,
            now_ns,
            finished: RefCell::default(),
            dropped: Cell::new(0),
            sends_until_ms: Rc::default(),
            rests_until_ms: Cell::new(0),
            own: own.clone(),
        })
    }

    /// Has what is kept sent, unless somebody is at it.
    fn have_sent(&self) {
        let now_ms = self.clock.now_ms();
        if now_ms < self.rests_until_ms.get() {
            self.dropped.set(self.dropped.get() + self.finished.take().len());
        } else if now_ms >= self.sends_until_ms.get() {
            // The last but one of its requests may begin at the end of the time and take as long as
            // any.
            let Some(kept) = self.own.upgrade() else { return };
            let turn = SendTurn::of(&self.sends_until_ms);
            turn.goes_on_until(now_ms.saturating_add(TURN_MS).saturating_add(self.settings.to.timeout_ms));
            self.wait_until.wait_until(Box::pin(async move { kept.send_all(turn).await }));
        }
    }

    async fn send_all(&self, turn: SendTurn) {
        // The answer goes first, and calls that end together are sent together.
        self.clock.sleep(0).await;
        let last_ms = self.clock.now_ms().saturating_add(TURN_MS);
        let mut turn = Some(turn);
        for left in (0..TURN_REQUESTS).rev() {
            if left == 0 || self.clock.now_ms() >= last_ms {
                // Whoever finishes from here on is no longer sent by this turn.
                turn = None;
            }
            let batch: Vec<Span> = {
                let mut finished = self.finished.borrow_mut();
                let count = finished.len().min(BATCH);
                finished.drain(..count).collect()
            };
            if batch.is_empty() {
                return;
            }
            if let Err(error) = self.send(&batch).await {
                self.rests_until_ms.set(self.clock.now_ms().saturating_add(REST_MS));
                let dropped = batch.len() + self.finished.take().len() + self.dropped.take();
                tracing::warn!(%error, detail = error.source, dropped, "traces cannot be exported");
                return;
            }
            if turn.is_none() {
                return;
            }
        }
    }

    async fn send(&self, spans: &[Span]) -> Result<()> {
        post(&*self.http, &self.settings.to, self.clock.now_ms(), otlp::request(&self.resource, spans), "traces").await
    }
}

impl SpanSink for TracerState {
    fn samples(&self, trace_id: &str, parent: Option<&Parent>) -> bool {
        self.settings.samples(trace_id, parent)
    }

    fn now_ns(&self) -> u64 {
        (self.now_ns)()
    }

    fn new_id(&self) -> u64 {
        self.ids.next(&*self.random)
    }

    /// After a call's own span, what is kept gets sent.
    fn keep(&self, span: Span) {
        let is_last = span.is_call;
        {
            let mut finished = self.finished.borrow_mut();
            if finished.len() < MOST_SPANS {
                finished.push(span);
            } else {
                self.dropped.set(self.dropped.get() + 1);
            }
        }
        if is_last {
            self.have_sent();
        }
    }
}
