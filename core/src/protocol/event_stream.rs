//! The event stream that the body of a response can be.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{
    fmt,
    future::poll_fn,
    mem,
    task::{Context, Poll},
};

use super::{encode::MessageReply, notifications::Outbox};
use crate::{cancel::Cancel, ports::LocalFuture};

/// The events of one call: server-sent events over HTTP, bare messages over a
/// [`Connection`](super::Connection). The call goes on only while it is polled: it is the host's to
/// poll it even where its client reads slowly. What nobody has taken yet is bounded: 256 KiB of
/// notifications and the answer. Dropped before its end, it drops the call where it is;
/// [`finish`](Self::finish) lets it come to its end.
pub struct EventStream {
    pub(super) outbox: Rc<Outbox>,
    pub(super) state: State,
    pub(super) cancel: Cancel,
    /// What a host adds at the end.
    pub(super) last: Option<Box<dyn FnOnce() -> Option<Vec<u8>>>>,
}

/// How far the call is.
pub(super) enum State {
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
            State::Over(answer) => Poll::Ready(Some(self.outbox.framed(answer))),
            State::Running(_) | State::Ended => Poll::Ready(self.last.take().and_then(|last| last())),
        }
    }

    /// Says that the client disconnected, and waits for the end of the call, so that whatever
    /// observes it is told. Nobody gets its events.
    pub async fn finish(mut self) {
        self.cancel.trip();
        while self.next().await.is_some() {}
    }

    /// Has another event follow the answer of the call, where there is one then: bytes to send.
    pub fn followed_by(&mut self, last: impl FnOnce() -> Option<Vec<u8>> + 'static) {
        self.last = Some(Box::new(last));
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
