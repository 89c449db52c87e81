//! Packets over a stream of bytes, and what stands in one.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html>

use std::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use bytes::{Buf as _, Bytes, BytesMut};
use millrace_core::{Error, ErrorKind, ports::ByteStream};

/// Room for one reading, in bytes.
const CHUNK: usize = 16 << 10;
/// The length of a packet's length and number.
const HEAD: usize = 4;
/// A part of this length is followed by another one, which may be empty.
const FULL: usize = 0xff_ffff;

/// A connection's bytes as packets.
pub(super) struct Packets {
    stream: Box<dyn ByteStream>,
    received: BytesMut,
    /// What has come of a packet of several parts.
    parts: BytesMut,
    chunk: Box<[u8]>,
    /// The number of the next part, in either direction.
    number: u8,
}

/// Why there is no next packet.
#[derive(Debug)]
pub(super) enum ReceiveError {
    /// The connection broke; nobody knows what the server got.
    Broken(Error),
    /// The packet is longer than the limit.
    TooLong,
}

impl Packets {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> Self {
        Self { stream, received: BytesMut::new(), parts: BytesMut::new(), chunk: vec![0; CHUNK].into_boxed_slice(), number: 0 }
    }

    /// The stream, for TLS: whatever came with the last packet would be taken for words of the
    /// server.
    ///
    /// # Errors
    /// [`Protocol`](ErrorKind::Protocol) where something came.
    pub(super) fn into_stream(self) -> Result<Box<dyn ByteStream>, Error> {
        if self.received.is_empty() { Ok(self.stream) } else { Err(unknown("words before TLS")) }
    }

    /// Goes on over another stream, within the same exchange.
    pub(super) fn over(stream: Box<dyn ByteStream>, number: u8) -> Self {
        Self { number, ..Self::new(stream) }
    }

    /// Sends a packet that begins an exchange.
    pub(super) async fn command(&mut self, payload: &[u8]) -> Result<(), Error> {
        self.number = 0;
        self.send(payload).await
    }

    /// Sends a packet within an exchange.
    pub(super) async fn send(&mut self, payload: &[u8]) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(payload.len() + HEAD * (payload.len() / FULL + 1));
        let mut rest = payload;
        loop {
            let (part, after) = rest.split_at(rest.len().min(FULL));
            bytes.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
            bytes.push(self.number);
            bytes.extend_from_slice(part);
            self.number = self.number.wrapping_add(1);
            rest = after;
            if part.len() < FULL {
                break;
            }
        }
        self.stream.write_all(&bytes).await.map_err(broken)
    }

    /// The next packet, of at most `limit` bytes.
    pub(super) async fn next(&mut self, limit: usize) -> Result<Bytes, ReceiveError> {
        loop {
            if let Some(packet) = self.take(limit)? {
                return Ok(packet);
            }
            match self.stream.read(&mut self.chunk).await {
                Ok(0) => return Err(ReceiveError::Broken(ended())),
                Ok(count) => self.received.extend_from_slice(self.chunk.get(..count).unwrap_or_default()),
                Err(error) => return Err(ReceiveError::Broken(broken(error))),
            }
        }
    }

    fn take(&mut self, limit: usize) -> Result<Option<Bytes>, ReceiveError> {
        while let Some([a, b, c, number]) = self.received.get(..HEAD).and_then(|head| <[u8; HEAD]>::try_from(head).ok()) {
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            if number != self.number {
                return Err(ReceiveError::Broken(unknown("a packet out of order")));
            }
            if self.parts.len().saturating_add(length) > limit {
                return Err(ReceiveError::TooLong);
            }
            if self.received.len() < HEAD + length {
                break;
            }
            self.received.advance(HEAD);
            let part = self.received.split_to(length);
            self.number = self.number.wrapping_add(1);
            if length < FULL && self.parts.is_empty() {
                return Ok(Some(part.freeze()));
            }
            self.parts.extend_from_slice(&part);
            if length < FULL {
                return Ok(Some(self.parts.split().freeze()));
            }
        }
        Ok(None)
    }

    /// Whether the server has said nothing since the last packet: what it says then is its
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
}

/// Reads a packet from its beginning. `None`: it ends too early, or holds what cannot be there.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of one to nine bytes.
    pub(super) fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ 0..=0xfa => Some(small.into()),
            0xfc => self.u16().map(Into::into),
            0xfd => self.array().map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]).into()),
            0xfe => self.array().map(u64::from_le_bytes),
            0xfb | 0xff => None,
        }
    }

    /// Bytes with their number before them.
    pub(super) fn counted(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?;
        self.bytes(count.try_into().ok()?)
    }

    /// Bytes up to a NUL, which is passed over, or to the end.
    pub(super) fn terminated(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (bytes, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        bytes
    }
}

/// Appends a number of one to nine bytes.
pub(super) fn put_number(buffer: &mut Vec<u8>, number: u64) {
    match number {
        0..=0xfa => buffer.push(number as u8),
        0xfb..=0xffff => {
            buffer.push(0xfc);
            buffer.extend_from_slice(&(number as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            buffer.push(0xfd);
            buffer.extend_from_slice(&number.to_le_bytes()[..3]);
        }
        _ => {
            buffer.push(0xfe);
            buffer.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Appends bytes with their number before them.
pub(super) fn put_counted(buffer: &mut Vec<u8>, bytes: &[u8]) {
    put_number(buffer, bytes.len() as u64);
    buffer.extend_from_slice(bytes);
}

/// What is not a packet of MySQL's.
pub(super) fn unknown(what: &str) -> Error {
    Error::new(ErrorKind::Protocol, "MySQL sent a packet that is not understood").with_source(what)
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "MySQL closed the connection")
}

fn broken(error: Error) -> Error {
    error.with_message("the connection to MySQL was lost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for number in [0, 0xfa, 0xfb, 0xff, 0x100, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            bytes.push(7);
            let mut reader = Reader(&bytes);
            assert_eq!((reader.number(), reader.0), (Some(number), &[7][..]), "{number}");
        }
        for broken in [&[][..], &[0xfb], &[0xff], &[0xfc, 1], &[0xfd, 1, 2], &[0xfe, 1, 2, 3, 4, 5, 6, 7]] {
            assert_eq!(Reader(broken).number(), None, "{broken:?}");
        }
        assert_eq!(Reader(&[3, 1, 2]).counted(), None);
        assert_eq!(Reader(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 0]).counted(), None);
        let mut texts = Reader(b"a\0b");
        assert_eq!((texts.terminated(), texts.terminated(), texts.terminated()), (&b"a"[..], &b"b"[..], &b""[..]));
    }
}
