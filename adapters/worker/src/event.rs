//! One request: what the entry module hands over ↔ the core's request and response.

use std::{cell::RefCell, collections::BTreeMap};

use js_sys::{Array, Function, Promise, Uint8Array, futures::future_to_promise};
use millrace_core::{
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, EventStream, Request, ResponseBody},
};
use wasm_bindgen::prelude::*;
use worker::{Env, worker_sys::Context};

use crate::{glue, isolate, wait_until};

thread_local! {
    /// The requests in flight, by the number that the entry module gave them.
    static IN_FLIGHT: RefCell<BTreeMap<u32, Cancel>> = const { RefCell::new(BTreeMap::new()) };
    /// Answers that are streams, until somebody listens.
    static STREAMS: RefCell<BTreeMap<u32, (EventStream, InFlight)>> = const { RefCell::new(BTreeMap::new()) };
}

/// The longest body of a request, in bytes; the entry module stops reading past it.
#[wasm_bindgen]
#[must_use]
pub fn body_limit() -> u32 {
    isolate::limit()
}

/// Answers a request: a promise of `[status, header lines, body]`. The request's `body` is `undefined` where it is too long; the
/// answer's, where it is a stream, which [`pump`] takes out.
///
/// # Errors
/// The isolate has no app.
#[wasm_bindgen]
pub fn handle(
    number: u32,
    method: String,
    path: String,
    header_lines: String,
    body: Option<Vec<u8>>,
    env: Env,
    context: Context,
) -> Result<Promise, JsError> {
    let endpoint = isolate::endpoint(&env).ok_or_else(|| JsError::new("the isolate has no app"))?;
    let call = InFlight::begin(number);
    let request = Request {
        method,
        path,
        headers: fields(&header_lines),
        body: body.map_or(Body::TooLarge, Body::Whole),
        deadline_ms: None,
        cancel: call.cancel(),
        loopback_only: false,
    };
    Ok(future_to_promise(async move {
        let response = wait_until::within(context, endpoint.handle(request)).await;
        let lines = JsValue::from_str(&glue::lines(response.headers.iter()));
        let body = match response.body {
            ResponseBody::Whole(bytes) => Uint8Array::from(bytes.as_slice()).into(),
            ResponseBody::Events(stream) => {
                STREAMS.with_borrow_mut(|streams| streams.insert(number, (stream, call)));
                JsValue::UNDEFINED
            }
        };
        Ok(Array::of3(&JsValue::from(response.status), &lines, &body).into())
    }))
}

/// Runs the call of a request whose answer is a stream to its end, and hands each event to `send`. It does not wait for the reader:
/// what may be left unread is bounded by the core.
#[wasm_bindgen]
pub fn pump(number: u32, context: Context, send: Function) -> Promise {
    let stream = STREAMS.with_borrow_mut(|streams| streams.remove(&number));
    future_to_promise(wait_until::within(context, async move {
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
