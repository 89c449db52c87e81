//! The body of a response, and the event stream that it can be.
//!
//! A call starts as any other. Where it is over before it said anything, its answer is one JSON object; the first notification makes the
//! response an event stream: the call's notifications, its answer, the end. Nothing else depends on time, so the same call gives the same
//! bytes on a host that streams and on one that collects.
//!
//! Each event is `event: message`, one `data` line and an empty line; see the
//! [Streamable HTTP transport](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports).

use alloc::{rc::Rc, vec::Vec};
use core::{
    fmt,
    future::poll_fn,
    mem,
    task::{Context, Poll},
};

use super::{Response, encode::MessageReply, http, notifications::Outbox, sse::frame};
use crate::{cancel::Cancel, headers::Headers, ports::LocalFuture};

/// The body of a [`Response`].
#[derive(Debug)]
pub enum ResponseBody {
    /// All of it.
    Whole(Vec<u8>),
    /// Server-sent events. A host that can stream sends each as it comes; any other [collects](Self::collect) them.
    Events(EventStream),
}

impl ResponseBody {
    /// All of the body; of an event stream, once the call is over.
    pub async fn collect(self) -> Vec<u8> {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Events(mut events) => {
                let mut all = Vec::new();
                while let Some(event) = events.next().await {
                    all.extend_from_slice(&event);
                }
                all
            }
        }
    }
}

impl From<Vec<u8>> for ResponseBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes)
    }
}

/// The events of one call. The call goes on only while it is polled: it is the host's to poll it even where its client reads slowly.
/// What nobody has taken yet is bounded: 256 KiB of notifications and the answer. Dropped before its end, it ends the call.
pub struct EventStream {
    outbox: Rc<Outbox>,
    state: State,
    cancel: Cancel,
}

enum State {
    /// The call is on its way.
    Running(LocalFuture<'static, MessageReply>),
    /// It is over; its answer is the last event.
    Over(Vec<u8>),
    Ended,
}

impl EventStream {
    /// The next event, as bytes to send; `None` after the last.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        if let Some(event) = self.outbox.take() {
            return Poll::Ready(Some(event));
        }
        if let State::Running(call) = &mut self.state {
            match call.as_mut().poll(context) {
                Poll::Ready(answer) => self.state = State::Over(answer.body),
                Poll::Pending => return self.outbox.take().map_or(Poll::Pending, |event| Poll::Ready(Some(event))),
            }
            if let Some(event) = self.outbox.take() {
                return Poll::Ready(Some(event));
            }
        }
        match mem::replace(&mut self.state, State::Ended) {
            State::Over(answer) => Poll::Ready(Some(frame(&answer))),
            State::Running(_) | State::Ended => Poll::Ready(None),
        }
    }

    /// The next event, as bytes to send; `None` after the last.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        poll_fn(|context| self.poll_next(context)).await
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        if matches!(self.state, State::Running(_)) {
            self.cancel.trip();
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}

/// Runs a call until it is over or has said something, and answers accordingly.
pub(super) async fn reply(mut call: LocalFuture<'static, MessageReply>, outbox: Rc<Outbox>, cancel: Cancel) -> Response {
    let over = poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if outbox.has_spoken() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    });
    let state = match over.await {
        Some(answer) if !outbox.has_spoken() => return http::reply(answer),
        Some(answer) => State::Over(answer.body),
        None => State::Running(call),
    };
    let headers = [("content-type", "text/event-stream"), ("x-accel-buffering", "no")];
    let body = ResponseBody::Events(EventStream { outbox, state, cancel });
    Response { status: 200, headers: headers.into_iter().collect::<Headers>(), body }
}
