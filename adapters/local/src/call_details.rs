//! What the log of `dev` says of a call that failed, and how long each stage of a call took, for
//! the page from which the call was made.
//!
//! A fault has words for its caller, and others for the operator: where a script threw, what the
//! database said. A request of the page is answered like that of any client, and the second kind
//! goes with the answer, with the times of the stages: in a header field, or as an event after the
//! last one. The times of all other calls go to the [`CallLog`].

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::{
    ports::{CallEvent, CallObserver, CallOutcome, CallStart, Observer},
    protocol::{Response, ResponseBody},
};
use serde_json::{Value as Json, json};

use crate::call_log::CallLog;

/// The header field.
const FIELD: &str = "x-millrace-details";
/// The most that is sent of the log, in bytes.
const MAX_LOG_BYTES: usize = 8 << 10;
/// The most calls of one request that are sent, and the most steps of a call.
const MAX_CALLS: usize = 16;
const MAX_STEPS: usize = 100;

/// The details of one request's calls.
struct RequestDetails {
    began: Instant,
    log: RefCell<Vec<String>>,
    calls: RefCell<Vec<Json>>,
}

/// Listens to the calls of an isolate, and keeps the details of those that the page made.
pub(crate) struct CallDetails {
    /// Where the others are kept.
    others: CallLog,
    /// The request that the isolate works on, where it is the page's.
    current: RefCell<Option<Rc<RequestDetails>>>,
}

impl CallDetails {
    /// `others` gets the calls of other clients.
    pub(crate) fn new(others: CallLog) -> Self {
        Self { others, current: RefCell::default() }
    }

    /// What the page learns from elsewhere: [`CallLog::for_page`].
    pub(crate) fn elsewhere(&self) -> Json {
        self.others.for_page()
    }

    /// Has a request answered, and adds the details of its calls to the answer.
    pub(crate) async fn with_details(&self, answer: impl Future<Output = Response>) -> Response {
        let details = Rc::new(RequestDetails { began: Instant::now(), log: RefCell::default(), calls: RefCell::default() });
        let mut answer = pin!(answer);
        let mut response = poll_fn(|context| {
            // The isolate may turn to another request between two polls.
            let _entered = Entered::new(self, &details);
            answer.as_mut().poll(context)
        })
        .await;
        match &mut response.body {
            ResponseBody::Whole(_) => {
                if let Some(json) = details.taken() {
                    response.headers.append(FIELD, BASE64_STANDARD.encode(json.to_string()));
                }
            }
            ResponseBody::Events(events) => {
                events.followed_by(move || {
                    Some(format!("event: details\ndata: {}\n\n", json!({ "details": details.taken()? })).into_bytes())
                });
            }
        }
        response
    }
}

impl RequestDetails {
    /// `{ "log", "calls": [{ "tool", "at", "us", "steps": [{ "name", "isEntry", "at", "us" }] }] }`,
    /// times in microseconds; `None` where the request called nothing.
    fn taken(&self) -> Option<Json> {
        let mut log = self.log.take().join("\n");
        log.truncate(log.floor_char_boundary(MAX_LOG_BYTES));
        let calls = self.calls.take();
        (!log.is_empty() || !calls.is_empty()).then(|| json!({ "log": log, "calls": calls }))
    }
}

impl Observer for CallDetails {
    fn began(&self, start: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let destination = match &*self.current.borrow() {
            Some(request) => Destination::Page(Rc::clone(request)),
            None => Destination::Others(self.others.clone(), start.method.to_owned()),
        };
        let now = Instant::now();
        let call = ObservedCall {
            tool: start.tool.to_owned(),
            began: now,
            stage_began: Cell::new(now),
            entry_began: Cell::new(now),
            steps: RefCell::default(),
            destination,
        };
        Some(Box::new(call))
    }
}

/// One call.
struct ObservedCall {
    tool: String,
    began: Instant,
    stage_began: Cell<Instant>,
    entry_began: Cell<Instant>,
    steps: RefCell<Vec<Json>>,
    destination: Destination,
}

/// Who gets the details of a call.
enum Destination {
    /// The request of the page.
    Page(Rc<RequestDetails>),
    /// The list of the calls of others; with the method that was asked for.
    Others(CallLog, String),
}

impl ObservedCall {
    fn step_ended(&self, name: &str, is_entry: bool, began: Instant) {
        let mut steps = self.steps.borrow_mut();
        if steps.len() < MAX_STEPS {
            let (at, us) = (microseconds(self.began, began), microseconds(began, Instant::now()));
            steps.push(json!({ "name": name, "isEntry": is_entry, "at": at, "us": us }));
        }
    }
}

impl ObservedCall {
    fn ended(&self, outcome: CallOutcome) {
        let us = microseconds(self.began, Instant::now());
        match &self.destination {
            Destination::Page(request) => {
                let mut calls = request.calls.borrow_mut();
                if calls.len() < MAX_CALLS {
                    let at = microseconds(request.began, self.began);
                    calls.push(json!({ "tool": self.tool, "at": at, "us": us, "steps": self.steps.take() }));
                }
            }
            Destination::Others(log, method) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let call = json!({ "method": method, "tool": self.tool, "outcome": outcome.as_str(), "us": us });
                log.add(u64::try_from(now.as_millis()).unwrap_or_default(), &call, &self.steps.take());
            }
        }
    }
}

impl CallObserver for ObservedCall {
    fn observe(&self, event: CallEvent<'_>) {
        match event {
            CallEvent::StageBegan(_) => self.stage_began.set(Instant::now()),
            CallEvent::StageEnded(stage) => self.step_ended(stage.as_str(), false, self.stage_began.get()),
            CallEvent::MiddlewareBegan(_) => self.entry_began.set(Instant::now()),
            CallEvent::MiddlewareEnded(entry) => self.step_ended(&entry.place, true, self.entry_began.get()),
            CallEvent::Failed(fault) => {
                if let Destination::Page(request) = &self.destination {
                    request.log.borrow_mut().extend(fault.log.clone());
                }
            }
            CallEvent::Ended(outcome) => self.ended(outcome),
            CallEvent::Forwarded(_)
            | CallEvent::CacheLookedUp { .. }
            | CallEvent::ConnectorAnswered { .. }
            | CallEvent::ScriptEnded { .. } => {}
        }
    }
}

fn microseconds(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap_or(u64::MAX)
}

/// While it lives, calls that begin are of its request.
struct Entered<'a>(&'a CallDetails);

impl<'a> Entered<'a> {
    fn new(details: &'a CallDetails, request: &Rc<RequestDetails>) -> Self {
        details.current.replace(Some(Rc::clone(request)));
        Self(details)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.current.replace(None);
    }
}
