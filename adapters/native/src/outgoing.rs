//! The body of a response on its way out: bytes, or the events of a call as they come.
//!
//! A call whose answer is a stream runs on as a task of its own, so that a client that reads slowly, or not at all, never holds it up:
//! what waits to be read is bounded by the core. A client that goes away drops the body, and with it the task and the call.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::FutureExt as _;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use millrace_core::protocol::{EventStream, ResponseBody};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, spawn_local},
};

/// The body of a response.
pub(crate) enum Outgoing {
    /// All of it, until it is taken.
    Whole(Bytes),
    /// Events, as they come.
    Events(Events),
}

pub(crate) struct Events {
    events: mpsc::UnboundedReceiver<Result<Bytes, BrokenOff>>,
    call: JoinHandle<()>,
}

/// The call panicked: the stream ends without an answer, and its connection with it.
#[derive(Debug)]
pub(crate) struct BrokenOff;

impl Outgoing {
    /// Has to be called on an isolate: a stream starts a task.
    pub(crate) fn new(body: ResponseBody) -> Self {
        match body {
            ResponseBody::Whole(bytes) => Self::Whole(bytes.into()),
            ResponseBody::Events(stream) => {
                let (sender, events) = mpsc::unbounded_channel();
                Self::Events(Events { events, call: spawn_local(drive(stream, sender)) })
            }
        }
    }
}

async fn drive(mut stream: EventStream, sender: mpsc::UnboundedSender<Result<Bytes, BrokenOff>>) {
    let all = async {
        while let Some(event) = stream.next().await {
            // A body that is gone has ended this task already.
            drop(sender.send(Ok(event.into())));
        }
    };
    // What panicked is in the log: the panic hook has the place.
    if AssertUnwindSafe(all).catch_unwind().await.is_err() {
        drop(sender.send(Err(BrokenOff)));
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.call.abort();
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Events(events) => {
                let event = ready!(events.events.poll_recv(context));
                Poll::Ready(event.map(|event| event.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call ended without an answer")
    }
}

impl std::error::Error for BrokenOff {}
