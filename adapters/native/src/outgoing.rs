//! The body of a response on its way out: bytes, or the events of a call as they come.
//!
//! A call whose answer is a stream runs on as a task of its own, so that a client that reads
//! slowly, or not at all, never holds it up: what waits to be read is bounded by the core. A client
//! that goes away drops the body, which cancels the call.
//!
//! Every part of a body counts in the connection's account until it was written, or dropped with
//! the connection.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

use futures_util::FutureExt as _;
use hyper::body::{Body, Buf, Bytes, Frame, SizeHint};
use millrace_core::protocol::{EventStream, ResponseBody};
use tokio::sync::mpsc;

use crate::{
    connection_slot::ConnectionSlot,
    disconnected::DisconnectedCalls,
    ledger::{Account, Hold},
};

/// From this length on, in bytes, a body is kept without room to spare.
const SHRUNK: usize = 64 << 10;

/// The body of a response.
pub(crate) enum Outgoing {
    /// All of it, until it is taken.
    Whole(Part),
    /// Events, as they come.
    Events(Events),
}

pub(crate) struct Events(mpsc::UnboundedReceiver<Result<Part, StreamAbort>>);

/// A part of a body, and the memory that it takes.
#[derive(Default)]
pub(crate) struct Part {
    bytes: Bytes,
    _hold: Option<Hold>,
}

/// The stream ends without an answer, and its connection with it.
#[derive(Debug)]
pub(crate) enum StreamAbort {
    /// The call panicked.
    Panic,
    /// The connections of the isolate hold too much.
    Full,
}

impl Part {
    /// A part of a body. `None` where the connections of the isolate hold too much already.
    fn of(bytes: Bytes, account: &Rc<Account>) -> Option<Self> {
        let hold = account.take(bytes.len())?;
        Some(Self { bytes, _hold: Some(hold) })
    }
}

impl Buf for Part {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}

impl Outgoing {
    /// Has to be called on an isolate: a stream starts a task. `None` where the connections of the
    /// isolate hold too much for a whole body.
    pub(crate) fn new(
        body: ResponseBody,
        account: &Rc<Account>,
        slot: &Rc<ConnectionSlot>,
        disconnected: &Rc<DisconnectedCalls>,
    ) -> Option<Self> {
        match body {
            ResponseBody::Whole(mut bytes) => {
                // What was reserved and not needed would not be counted.
                if bytes.len() >= SHRUNK {
                    bytes.shrink_to_fit();
                }
                Part::of(bytes.into(), account).map(Self::Whole)
            }
            ResponseBody::Events(stream) => {
                let (sender, events) = mpsc::unbounded_channel();
                let (account, slot, of_call) = (account.clone(), slot.clone(), disconnected.clone());
                disconnected.spawn(async move {
                    if let Some(stream) = drive(stream, sender, account).await {
                        of_call.finish(&slot, stream.finish());
                    }
                });
                Some(Self::Events(Events(events)))
            }
        }
    }

    /// A body of some bytes, which are not counted.
    pub(crate) fn short(bytes: Vec<u8>) -> Self {
        Self::Whole(Part { bytes: bytes.into(), _hold: None })
    }
}

/// Sends events as they come. Gives the stream back where nobody takes the rest of it.
async fn drive(
    mut stream: EventStream,
    sender: mpsc::UnboundedSender<Result<Part, StreamAbort>>,
    account: Rc<Account>,
) -> Option<EventStream> {
    let all = async {
        loop {
            let event = tokio::select! {
                biased;
                () = sender.closed() => return true,
                event = stream.next() => event,
            };
            let Some(event) = event else { return false };
            let part = Part::of(event.into(), &account).ok_or(StreamAbort::Full);
            let is_full = part.is_err();
            drop(sender.send(part));
            if is_full {
                tracing::warn!("an event stream is ended: the connections hold too much unread data");
                return true;
            }
        }
    };
    match AssertUnwindSafe(all).catch_unwind().await {
        Ok(is_cut) => is_cut.then_some(stream),
        // What panicked is in the log: the panic hook has the place.
        Err(_) => {
            drop(sender.send(Err(StreamAbort::Panic)));
            None
        }
    }
}

impl Body for Outgoing {
    type Data = Part;
    type Error = StreamAbort;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Part>, StreamAbort>>> {
        match self.get_mut() {
            Self::Whole(part) if !part.has_remaining() => Poll::Ready(None),
            Self::Whole(part) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(part))))),
            Self::Events(events) => {
                let event = ready!(events.0.poll_recv(context));
                Poll::Ready(event.map(|event| event.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(part) if !part.has_remaining())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(part) => SizeHint::with_exact(part.remaining() as u64),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Display for StreamAbort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panic => "the call ended without an answer",
            Self::Full => "the connections hold too much unread data",
        })
    }
}

impl std::error::Error for StreamAbort {}
