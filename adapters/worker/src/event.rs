//! One request: what the entry module hands over ↔ the core's request and response.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    future::Future as _,
    task::{self, Poll, Waker},
};

use js_sys::{Array, Function, Promise, Uint8Array, futures::future_to_promise};
use millrace_core::{
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, EventStream, Request, Response, ResponseBody},
};
use wasm_bindgen::prelude::*;
use worker::{Env, worker_sys::Context};

use crate::{current, glue, isolate};

/// How many different header fields of answers are kept.
const KNOWN_HEADERS: usize = 16;

thread_local! {
    /// The requests in flight, by the number that the entry module gave them.
    static IN_FLIGHT: RefCell<BTreeMap<u32, Cancel>> = const { RefCell::new(BTreeMap::new()) };
    /// Answers that are streams, until somebody listens.
    static STREAMS: RefCell<BTreeMap<u32, (EventStream, InFlight)>> = const { RefCell::new(BTreeMap::new()) };
    /// `Headers` by their lines.
    static HEADERS: RefCell<Vec<(String, JsValue)>> = const { RefCell::new(Vec::new()) };
}

/// The longest body of a request, in bytes; the entry module stops reading past it.
#[wasm_bindgen]
#[must_use]
pub fn body_limit() -> u32 {
    isolate::limit()
}

/// Answers a request. `target` is its path, with the query. The request's `body` is `undefined`
/// where it is too long.
///
/// What comes back is the platform's `Response`; or, where it is a stream, `[status, headers]`, and
/// [`pump`] takes its events out. What needs nothing of the outside comes back as it is, anything
/// else as a promise.
///
/// # Errors
/// The isolate has no app.
#[wasm_bindgen]
pub fn handle(
    number: u32,
    method: String,
    target: &str,
    header_lines: String,
    body: Option<Vec<u8>>,
    env: Env,
    context: Context,
) -> Result<JsValue, JsError> {
    let endpoint = isolate::endpoint(&env).ok_or_else(|| JsError::new("the isolate has no app"))?;
    let call = InFlight::begin(number);
    let headers = fields(&header_lines);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        // The platform writes it, whatever the client sends.
        peer: headers.first("cf-connecting-ip").map(Into::into),
        headers,
        body: body.map_or(Body::TooLarge, Body::Whole),
        deadline_ms: None,
        cancel: call.cancel(),
        platform_caller: None,
        checks_host: false,
        is_tls: false,
        is_local: false,
    };
    let mut answer = Box::pin(async move { respond(number, call, current::within(number, context, endpoint.handle(request)).await) });
    // A promise costs more than many a call. Whoever was asked by this poll is asked again by the
    // promise's own.
    match answer.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Ok(answer),
        Poll::Pending => Ok(future_to_promise(async { Ok(answer.await) }).into()),
    }
}

fn respond(number: u32, call: InFlight, response: Response) -> JsValue {
    let headers = headers(glue::lines(response.headers.iter()));
    match response.body {
        ResponseBody::Whole(bytes) if bytes.is_empty() => glue::respond(response.status, &headers, &JsValue::NULL),
        ResponseBody::Whole(bytes) => glue::respond(response.status, &headers, &Uint8Array::from(bytes.as_slice())),
        ResponseBody::Events(stream) => {
            STREAMS.with_borrow_mut(|streams| streams.insert(number, (stream, call)));
            Array::of2(&JsValue::from(response.status), &headers).into()
        }
    }
}

/// The platform's `Headers`: the same ones again for the same lines, for an app's answers have few
/// different ones.
fn headers(lines: String) -> JsValue {
    HEADERS.with_borrow_mut(|known| {
        if let Some((_, headers)) = known.iter().find(|(of, _)| *of == lines) {
            return headers.clone();
        }
        let headers = glue::fields(&lines);
        if known.len() == KNOWN_HEADERS {
            known.clear();
        }
        known.push((lines, headers.clone()));
        headers
    })
}

/// Runs the call of a request whose answer is a stream to its end, and hands each event to `send`.
/// It does not wait for the reader: what may be left unread is bounded by the core.
#[wasm_bindgen]
pub fn pump(number: u32, context: Context, send: Function) -> Promise {
    let stream = STREAMS.with_borrow_mut(|streams| streams.remove(&number));
    future_to_promise(current::within(number, context, async move {
        let Some((mut stream, call)) = stream else { return Ok(JsValue::UNDEFINED) };
        while let Some(event) = stream.next().await {
            // A stream that was closed takes nothing any more; the call has been told.
            drop(send.call1(&JsValue::UNDEFINED, &Uint8Array::from(event.as_slice())));
        }
        drop(call);
        Ok(JsValue::UNDEFINED)
    }))
}

/// Says that the client of a request went away.
#[wasm_bindgen]
pub fn cancel(number: u32) {
    let cancel = IN_FLIGHT.with_borrow(|calls| calls.get(&number).cloned());
    if let Some(cancel) = cancel {
        cancel.trip();
    }
}

fn fields(lines: &str) -> Headers {
    let mut headers = Headers::new();
    let mut lines = lines.split('\n');
    while let (Some(name), Some(value)) = (lines.next(), lines.next()) {
        headers.append(name, value);
    }
    headers
}

/// A request in flight; forgotten when dropped.
struct InFlight(u32, Cancel);

impl InFlight {
    fn begin(number: u32) -> Self {
        let cancel = Cancel::new();
        IN_FLIGHT.with_borrow_mut(|calls| calls.insert(number, cancel.clone()));
        Self(number, cancel)
    }

    fn cancel(&self) -> Cancel {
        self.1.clone()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        IN_FLIGHT.with_borrow_mut(|calls| calls.remove(&self.0));
    }
}
