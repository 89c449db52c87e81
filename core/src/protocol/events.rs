//! Whether an answer is one JSON object or an event stream.
//!
//! A call starts as any other. Where it is over before it said anything, its answer is one JSON
//! object; the first notification makes the response an event stream: the call's notifications, its
//! answer, the end. Nothing else depends on time, so the same call gives the same bytes on a host
//! that streams and on one that collects.
//!
//! Each event is `event: message`, one `data` line and an empty line; see the [Streamable HTTP
//! transport](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports).

use alloc::rc::Rc;
use core::{future::poll_fn, task::Poll};

use super::{
    encode::MessageReply,
    event_stream::{EventStream, State},
    http,
    notifications::Outbox,
    response::{Response, ResponseBody},
};
use crate::{cancel::Cancel, headers::Headers, ports::LocalFuture};

/// Runs a call until it is over or has said something, and answers accordingly.
pub(super) async fn reply(call: LocalFuture<'static, MessageReply>, outbox: Rc<Outbox>, cancel: Cancel) -> Response {
    let events = match run(call, outbox, cancel).await {
        Ok(answer) => return http::reply(answer),
        Err(events) => events,
    };
    let headers = [("content-type", "text/event-stream"), ("x-accel-buffering", "no")];
    Response { status: 200, headers: headers.into_iter().collect::<Headers>(), body: ResponseBody::Events(events) }
}

/// Runs a call until it is over or has said something.
///
/// # Errors
/// It has said something: the rest is a stream.
pub(super) async fn run(
    mut call: LocalFuture<'static, MessageReply>,
    outbox: Rc<Outbox>,
    cancel: Cancel,
) -> Result<MessageReply, EventStream> {
    let over = poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if outbox.has_spoken() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    });
    let state = match over.await {
        Some(answer) if !outbox.has_spoken() => return Ok(answer),
        Some(answer) => State::Over(answer.body),
        None => State::Running(call),
    };
    Err(EventStream { outbox, state, cancel, last: None })
}
