//! What the log of `dev` says of a call that failed, for the page from which the call was made.
//!
//! A fault has words for its caller, and others for the operator: where a script threw, what the database said. A request of the
//! page is answered like that of any client, and the second kind goes with the answer: in a header field, or as an event after the last one.

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::{
    ports::{CallEvent, CallObserver, CallStart, Observer},
    protocol::{Response, ResponseBody},
};
use serde_json::json;

/// The header field.
const FIELD: &str = "x-millrace-details";
/// The most that is sent of one request, in bytes.
const MOST: usize = 8 << 10;

/// The details of one request's faults.
type Slot = Rc<RefCell<Vec<String>>>;

/// Listens to the calls of an isolate, and keeps the details of those that the page made.
#[derive(Default)]
pub(crate) struct FaultDetails {
    /// The request that the isolate works on, where it is the page's.
    current: RefCell<Option<Slot>>,
}

impl FaultDetails {
    /// Has a request answered, and adds to the answer what the log says of its faults.
    pub(crate) async fn with_details(&self, answer: impl Future<Output = Response>) -> Response {
        let slot = Slot::default();
        let mut answer = pin!(answer);
        let mut response = poll_fn(|context| {
            // The isolate may turn to another request between two polls.
            let _entered = Entered::new(self, &slot);
            answer.as_mut().poll(context)
        })
        .await;
        match &mut response.body {
            ResponseBody::Whole(_) => {
                if let Some(text) = text_of(&slot) {
                    response.headers.append(FIELD, BASE64_STANDARD.encode(text));
                }
            }
            ResponseBody::Events(events) => {
                events
                    .followed_by(move || Some(format!("event: details\ndata: {}\n\n", json!({ "details": text_of(&slot)? })).into_bytes()));
            }
        }
        response
    }
}

impl Observer for FaultDetails {
    fn began(&self, _: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let slot = self.current.borrow().clone()?;
        Some(Box::new(Details(slot)))
    }
}

/// The details of one call.
struct Details(Slot);

impl CallObserver for Details {
    fn observe(&self, event: CallEvent<'_>) {
        if let CallEvent::Failed(fault) = event
            && let Some(log) = &fault.log
        {
            self.0.borrow_mut().push(log.clone());
        }
    }
}

/// While it lives, calls that begin are of its request.
struct Entered<'a>(&'a FaultDetails);

impl<'a> Entered<'a> {
    fn new(details: &'a FaultDetails, slot: &Slot) -> Self {
        details.current.replace(Some(Rc::clone(slot)));
        Self(details)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.current.replace(None);
    }
}

fn text_of(slot: &Slot) -> Option<String> {
    let texts = slot.borrow();
    let mut text = texts.join("\n");
    text.truncate(text.floor_char_boundary(MOST));
    (!text.is_empty()).then_some(text)
}
