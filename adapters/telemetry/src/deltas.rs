//! What is measured, added up until it is sent: a [`Meter`] without threads, for a Worker.
//!
//! A batch says what came since the one before. One that could not be sent is added to the next, so
//! nothing is lost while a collector is down, and what is kept is bounded by the number of series,
//! of which there are at most [`MOST_SERIES`].

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Write as _,
    rc::Rc,
};

use millrace_core::{
    Json, Result,
    ports::{Clock, HttpClient, WaitUntil},
};

use crate::{
    metrics::{Label, LabelValue, Meter, Metric, MetricKind},
    otlp,
    point::{Exemplar, Point},
    post::{SendTurn, post},
    settings::{Destination, MetricSettings},
};

/// How many series are kept. The values of further ones are counted by a series with the label
/// `otel.metric.overflow`, as the specification has it.
pub const MOST_SERIES: usize = 2000;
/// The longest time between an answer and the batch with its numbers, in milliseconds: a Worker may
/// go on for 30 seconds after an answer.
const MOST_INTERVAL_MS: u64 = 5_000;
/// How long a turn of sending may go on, in milliseconds, for the same reason.
const TURN_MS: u64 = 29_000;

/// A series: the labels as OTLP's JSON, in the order of their metric.
type SeriesKey = (Metric, String);

/// What is kept until it is sent.
pub(crate) struct Deltas {
    to: Destination,
    resource: Vec<(String, String)>,
    interval_ms: u64,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    wait_until: Rc<dyn WaitUntil>,
    now_ns: fn() -> u64,
    series: RefCell<BTreeMap<SeriesKey, Point>>,
    /// Since when they count, in nanoseconds since the Unix epoch.
    since_ns: Cell<u64>,
    /// By when the batch that is under way has made place for another; 0 where there is none.
    sends_until_ms: Rc<Cell<u64>>,
    /// For [`Meter::settled`], which has to hand itself on.
    own: std::rc::Weak<Self>,
}

impl Deltas {
    pub(crate) fn new(
        settings: &MetricSettings,
        resource: &[(String, String)],
        http: Rc<dyn HttpClient>,
        clock: Rc<dyn Clock>,
        wait_until: Rc<dyn WaitUntil>,
        now_ns: fn() -> u64,
    ) -> Option<Rc<Self>> {
        let to = settings.to.clone()?;
        Some(Rc::new_cyclic(|own| Self {
            to,
            resource: resource.to_vec(),
            interval_ms: settings.interval_ms.min(MOST_INTERVAL_MS),
            http,
            clock,
            wait_until,
            now_ns,
            series: RefCell::default(),
            since_ns: Cell::new(now_ns()),
            sends_until_ms: Rc::default(),
            own: own.clone(),
        }))
    }

    /// Adds to a series what came of it.
    fn keep(&self, mut key: SeriesKey, point: Point) {
        let mut series = self.series.borrow_mut();
        if series.len() >= MOST_SERIES && !series.contains_key(&key) {
            key.1 = written(&[("otel.metric.overflow", LabelValue::Truth(true))]);
        }
        match series.get_mut(&key) {
            Some(known) => known.merge(point),
            None => {
                series.insert(key, point);
            }
        }
    }

    /// Sends batches until nothing came while the one before was under way: whoever measures then
    /// relies on this turn. One that may not last that long makes way before its last batch.
    async fn send(&self, turn: SendTurn) {
        let round_ms = self.interval_ms.saturating_add(self.to.timeout_ms);
        let last_ms = self.clock.now_ms().saturating_add(TURN_MS).saturating_sub(round_ms);
        let mut turn = Some(turn);
        while let Some(current) = &turn {
            let began_ms = self.clock.now_ms();
            current.goes_on_until(began_ms.saturating_add(round_ms));
            self.clock.sleep(self.interval_ms).await;
            if self.clock.now_ms().saturating_add(self.to.timeout_ms) > last_ms {
                turn = None;
            }
            let (since_ns, now_ns) = (self.since_ns.replace((self.now_ns)()), (self.now_ns)());
            let batch = self.series.take();
            if batch.is_empty() {
                return;
            }
            if let Err(error) = self.post(&batch, since_ns, now_ns).await {
                tracing::warn!(%error, detail = error.source, "metrics cannot be exported now; they go with the next batch");
                self.since_ns.set(since_ns);
                batch.into_iter().for_each(|(key, point)| self.keep(key, point));
                return;
            }
            if self.series.borrow().is_empty() {
                return;
            }
        }
    }

    async fn post(&self, batch: &BTreeMap<SeriesKey, Point>, since_ns: u64, now_ns: u64) -> Result<()> {
        post(&*self.http, &self.to, self.clock.now_ms(), otlp::metrics(&self.resource, batch, since_ns, now_ns), "metrics").await
    }
}

impl Meter for Deltas {
    fn add(&self, metric: Metric, by: i64, labels: &[Label<'_>]) {
        self.keep((metric, written(labels)), Point::Sum(by));
    }

    fn record(&self, metric: Metric, value: f64, labels: &[Label<'_>], trace_id: &str) {
        let MetricKind::Histogram(bounds) = metric.description().kind else { return };
        let mut buckets = vec![0; bounds.len() + 1];
        let place = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        if let Some(bucket) = buckets.get_mut(place) {
            *bucket = 1;
        }
        let exemplar = (trace_id.len() == 32).then(|| Exemplar { value, trace_id: trace_id.to_owned(), at_ns: (self.now_ns)() });
        self.keep((metric, written(labels)), Point::Histogram { count: 1, sum: value, min: value, max: value, buckets, exemplar });
    }

    fn settled(&self) {
        let now_ms = self.clock.now_ms();
        if now_ms < self.sends_until_ms.get() {
            return;
        }
        let Some(own) = self.own.upgrade() else { return };
        let turn = SendTurn::of(&self.sends_until_ms);
        turn.goes_on_until(now_ms.saturating_add(self.interval_ms).saturating_add(self.to.timeout_ms));
        self.wait_until.wait_until(Box::pin(async move { own.send(turn).await }));
    }
}

/// Labels as OTLP's JSON.
fn written(labels: &[Label<'_>]) -> String {
    let mut out = String::new();
    for (name, value) in labels {
        // Writing to a string does not fail.
        let _ = match value {
            LabelValue::Text(text) => write!(out, ",{{\"key\":\"{name}\",\"value\":{{\"stringValue\":{}}}}}", Json::from(*text)),
            LabelValue::Number(number) => write!(out, ",{{\"key\":\"{name}\",\"value\":{{\"intValue\":\"{number}\"}}}}"),
            LabelValue::Truth(truth) => write!(out, ",{{\"key\":\"{name}\",\"value\":{{\"boolValue\":{truth}}}}}"),
        };
    }
    if out.is_empty() { out } else { out.split_off(1) }
}
