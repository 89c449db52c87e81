//! Keeps the finished spans of an isolate and sends them.
//!
//! When a call's own span has finished, the port [`WaitUntil`] gets the work of sending. One request is under way at a time; what finishes
//! meanwhile goes with the next. So a busy isolate sends few and large requests by itself. A collector that is slow or down costs memory up to
//! [`MOST_SPANS`] and no call anything: what does not fit is dropped and counted, what could not be sent is dropped and logged, and after a failure
//! nothing is sent for [`REST_MS`].

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, HttpClient, HttpRequest, Ports, Random, WaitUntil},
};

use crate::{
    otlp,
    settings::Settings,
    span::{Parent, Span},
};

/// How many finished spans are kept until they are sent.
pub const MOST_SPANS: usize = 2048;
/// How many spans go with one request.
const BATCH: usize = 512;
/// How long a collector that failed is left alone, in milliseconds.
pub const REST_MS: u64 = 5000;
/// The longest answer of a collector that is read.
const LONGEST_ANSWER: usize = 64 << 10;

thread_local! {
    static KEPT: RefCell<Option<Rc<Kept>>> = const { RefCell::new(None) };
}

/// Has this thread collect from now on, in place of whatever it collected before; with `None` it stops. `http` sends, in place of the client of
/// `ports`; `now_ns` tells the nanoseconds since the Unix epoch.
pub fn collect(settings: Option<Settings>, http: Rc<dyn HttpClient>, ports: &Ports, now_ns: fn() -> u64) {
    KEPT.set(settings.map(|settings| {
        Rc::new(Kept {
            settings,
            http,
            clock: ports.clock.clone(),
            random: ports.random.clone(),
            wait_until: ports.wait_until.clone(),
            now_ns,
            finished: RefCell::default(),
            dropped: Cell::new(0),
            is_sending: Rc::default(),
            rests_until_ms: Cell::new(0),
        })
    }));
}

/// What a thread that collects keeps.
pub(crate) struct Kept {
    settings: Settings,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    wait_until: Rc<dyn WaitUntil>,
    now_ns: fn() -> u64,
    finished: RefCell<Vec<Span>>,
    dropped: Cell<usize>,
    is_sending: Rc<Cell<bool>>,
    rests_until_ms: Cell<u64>,
}

impl Kept {
    /// Runs something where this thread collects.
    pub(crate) fn with<T>(work: impl FnOnce(&Rc<Self>) -> T) -> Option<T> {
        // A span may close while the thread ends.
        let kept = KEPT.try_with(|kept| kept.borrow().clone()).ok().flatten()?;
        Some(work(&kept))
    }

    pub(crate) fn samples(&self, trace_id: &str, parent: Option<&Parent>) -> bool {
        self.settings.samples(trace_id, parent)
    }

    pub(crate) fn now_ns(&self) -> u64 {
        (self.now_ns)()
    }

    /// A random number other than 0.
    pub(crate) fn new_id(&self) -> u64 {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        u64::from_le_bytes(bytes).max(1)
    }

    /// Keeps a finished span. A call's own span is the last of its trace here: then what is kept gets sent.
    pub(crate) fn keep(self: &Rc<Self>, span: Span) {
        let is_last = span.is_call;
        {
            let mut finished = self.finished.borrow_mut();
            if finished.len() < MOST_SPANS {
                finished.push(span);
            } else {
                self.dropped.set(self.dropped.get() + 1);
            }
        }
        if is_last && !self.is_sending.replace(true) {
            let (kept, sending) = (self.clone(), Sending(self.is_sending.clone()));
            self.wait_until.wait_until(Box::pin(async move {
                let _sending = sending;
                kept.send_all().await;
            }));
        }
    }

    async fn send_all(&self) {
        loop {
            let batch: Vec<Span> = {
                let mut finished = self.finished.borrow_mut();
                let count = finished.len().min(BATCH);
                finished.drain(..count).collect()
            };
            if batch.is_empty() {
                return;
            }
            if self.clock.now_ms() < self.rests_until_ms.get() {
                self.dropped.set(self.dropped.get() + batch.len());
            } else if let Err(error) = self.send(&batch).await {
                self.rests_until_ms.set(self.clock.now_ms().saturating_add(REST_MS));
                let dropped = batch.len() + self.dropped.take();
                tracing::warn!(%error, detail = error.source, dropped, "traces cannot be exported");
            }
        }
    }

    async fn send(&self, spans: &[Span]) -> Result<()> {
        let mut headers = self.settings.headers.clone();
        headers.append("content-type", "application/json");
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.settings.url.clone(),
            headers,
            body: otlp::request(&self.settings.resource, spans),
            deadline_ms: self.clock.now_ms().saturating_add(self.settings.timeout_ms),
            max_response_bytes: LONGEST_ANSWER,
        };
        match self.http.send(request).await?.status {
            200..300 => Ok(()),
            status => Err(Error::new(ErrorKind::Unavailable, format!("the collector of traces answered with status {status}"))),
        }
    }
}

/// One request under way; over, by whatever way, when it is dropped.
struct Sending(Rc<Cell<bool>>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
