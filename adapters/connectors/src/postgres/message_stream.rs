//! Messages over a stream of bytes.

use std::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use bytes::BytesMut;
use millrace_core::{Error, ErrorKind, ports::ByteStream};
use postgres_protocol::message::backend::{DATA_ROW_TAG, Message};

/// Room for one reading, in bytes.
const CHUNK: usize = 16 << 10;
/// The length of a message's tag and length.
const HEAD: usize = 5;

/// A connection's bytes as messages.
pub(super) struct Wire {
    stream: Box<dyn ByteStream>,
    received: BytesMut,
    chunk: Box<[u8]>,
}

/// Why there is no next message.
#[derive(Debug)]
pub(super) enum ReceiveError {
    /// The connection broke; nobody knows what the server got.
    Broken(Error),
    /// A row is longer than the limit.
    LongRow,
}

impl Wire {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> Self {
        Self { stream, received: BytesMut::new(), chunk: vec![0; CHUNK].into_boxed_slice() }
    }

    /// Sends bytes.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stream.write_all(bytes).await.map_err(broken)
    }

    /// The next message. A row may have `limit` bytes, and so may what is not a row.
    pub(super) async fn next(&mut self, limit: usize) -> Result<Message, ReceiveError> {
        loop {
            if let Some(message) = self.take(limit)? {
                return Ok(message);
            }
            match self.stream.read(&mut self.chunk).await {
                Ok(0) => return Err(ReceiveError::Broken(ended())),
                Ok(count) => self.received.extend_from_slice(self.chunk.get(..count).unwrap_or_default()),
                Err(error) => return Err(ReceiveError::Broken(broken(error))),
            }
        }
    }

    /// Whether the server has said nothing since the last message: what it says then is its
    /// farewell.
    pub(super) async fn is_quiet(&mut self) -> bool {
        // One turn of the host's loop, so that it sees what has arrived.
        let mut turned = false;
        poll_fn(|context| {
            if std::mem::replace(&mut turned, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        self.received.is_empty() && self.stream.poll_read(&mut Context::from_waker(Waker::noop()), &mut self.chunk).is_pending()
    }

    /// Says that nothing more comes.
    pub(super) async fn shutdown(&mut self) {
        // The connection is gone either way.
        drop(poll_fn(|context| self.stream.poll_shutdown(context)).await);
    }

    fn take(&mut self, limit: usize) -> Result<Option<Message>, ReceiveError> {
        let head: Option<[u8; HEAD]> = self.received.get(..HEAD).and_then(|head| head.try_into().ok());
        if let Some([tag, length @ ..]) = head
            && u32::from_be_bytes(length) as usize > limit
        {
            return Err(if tag == DATA_ROW_TAG { ReceiveError::LongRow } else { ReceiveError::Broken(unknown("a message is too long")) });
        }
        Message::parse(&mut self.received).map_err(|error| ReceiveError::Broken(unknown(&error.to_string())))
    }
}

/// What is not a message of PostgreSQL's.
pub(super) fn unknown(what: &str) -> Error {
    Error::new(ErrorKind::Protocol, "PostgreSQL sent a message that is not understood").with_source(what)
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "PostgreSQL closed the connection")
}

fn broken(error: Error) -> Error {
    error.with_message("the connection to PostgreSQL was lost")
}
