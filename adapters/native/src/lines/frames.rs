//! Lines and messages as bytes between two processes: a length, a letter, the number of a line, the
//! content.
//!
//! The numbers are 32 bits each, little endian. Both ends are the same program, so that nothing
//! else is read than what was written here.

use std::io;

use millrace_core::protocol::Body;

use super::{FromIsolate, ToIsolate};

/// Length, letter and number.
const HEAD: usize = 9;
/// How much is read at a time, in bytes.
const READ: usize = 64 << 10;

const AGREED: u8 = b'a';
const LINE: u8 = b'l';
const TOO_LONG: u8 = b't';
const MESSAGE: u8 = b'm';
const OVER: u8 = b'o';
const FAILED: u8 = b'f';

/// Appends a line, or `None` for one that is too long.
pub fn encode_line(out: &mut Vec<u8>, number: u32, line: Option<&[u8]>) {
    match line {
        Some(line) => encode(out, LINE, number, line),
        None => encode(out, TOO_LONG, number, &[]),
    }
}

/// Appends what the client agreed on with an isolate before.
pub fn encode_agreed(out: &mut Vec<u8>, agreed: &[u8]) {
    encode(out, AGREED, 0, agreed);
}

/// Appends what an isolate gives.
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has isolates that are processes"))]
pub(super) fn encode_message(out: &mut Vec<u8>, message: &FromIsolate) {
    match message {
        FromIsolate::Agreed(agreed) => encode(out, AGREED, 0, agreed),
        FromIsolate::Message(message) => encode(out, MESSAGE, 0, message),
        FromIsolate::Over(number, answer) => encode(out, OVER, *number, answer),
        FromIsolate::Failed(number) => encode(out, FAILED, *number, &[]),
    }
}

fn encode(out: &mut Vec<u8>, letter: u8, number: u32, content: &[u8]) {
    out.reserve(HEAD + content.len());
    // A message has less than 4 GiB: lines and answers have limits far below.
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.push(letter);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(content);
}

/// Takes frames out of bytes that come in pieces.
#[derive(Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
    /// Everything before it is taken.
    start: usize,
}

impl FrameReader {
    /// Where the next bytes go: to be appended.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.reserve(READ);
        &mut self.bytes
    }

    /// The next message of an isolate, where all of it is there.
    ///
    /// # Errors
    /// The other side wrote something else.
    pub fn message(&mut self) -> io::Result<Option<FromIsolate>> {
        let frame = |(letter, number, content): (u8, u32, &[u8])| {
            Some(match letter {
                AGREED => FromIsolate::Agreed(content.to_vec()),
                MESSAGE => FromIsolate::Message(content.to_vec()),
                OVER => FromIsolate::Over(number, content.to_vec()),
                FAILED => FromIsolate::Failed(number),
                _ => return None,
            })
        };
        self.frame(frame)
    }

    /// The next line for an isolate, where all of it is there.
    ///
    /// # Errors
    /// The other side wrote something else.
    pub fn line(&mut self) -> io::Result<Option<ToIsolate>> {
        let frame = |(letter, number, content): (u8, u32, &[u8])| {
            Some(match letter {
                AGREED => ToIsolate::Agreed(content.to_vec()),
                LINE => ToIsolate::Line(number, Body::Whole(content.to_vec())),
                TOO_LONG => ToIsolate::Line(number, Body::TooLarge),
                _ => return None,
            })
        };
        self.frame(frame)
    }

    fn frame<T>(&mut self, read: impl FnOnce((u8, u32, &[u8])) -> Option<T>) -> io::Result<Option<T>> {
        let rest = &self.bytes[self.start..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let Some((letter, rest)) = rest.split_first() else { return Ok(None) };
        let Some((number, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        let Some(content) = rest.get(..length) else { return Ok(None) };
        let frame = read((*letter, u32::from_le_bytes(*number), content)).ok_or_else(|| io::Error::other("an unknown frame"))?;
        self.start += HEAD + length;
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_whatever_pieces_they_come_in() {
        let lines = [
            ToIsolate::Agreed(b"{}".to_vec()),
            ToIsolate::Line(7, Body::Whole(b"{\"id\":1}".to_vec())),
            ToIsolate::Line(u32::MAX, Body::TooLarge),
            ToIsolate::Line(8, Body::Whole(vec![b'x'; 100_000])),
        ];
        let messages =
            [FromIsolate::Agreed(vec![]), FromIsolate::Message(b"m".to_vec()), FromIsolate::Over(9, vec![]), FromIsolate::Failed(1)];
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for line in &lines {
            match line {
                ToIsolate::Agreed(agreed) => encode_agreed(&mut to, agreed),
                ToIsolate::Line(number, Body::Whole(line)) => encode_line(&mut to, *number, Some(line)),
                ToIsolate::Line(number, Body::TooLarge) => encode_line(&mut to, *number, None),
            }
        }
        messages.iter().for_each(|message| encode_message(&mut from, message));
        for size in [1, 3, 9, 10, 4096, 1 << 20] {
            let (mut reader, mut found) = (FrameReader::default(), Vec::new());
            for piece in to.chunks(size) {
                reader.room().extend_from_slice(piece);
                found.extend(std::iter::from_fn(|| reader.line().unwrap()));
            }
            assert_eq!(found, lines, "{size}");
            let (mut reader, mut found) = (FrameReader::default(), Vec::new());
            for piece in from.chunks(size) {
                reader.room().extend_from_slice(piece);
                found.extend(std::iter::from_fn(|| reader.message().unwrap()));
            }
            assert_eq!(found, messages, "{size}");
        }
        let mut reader = FrameReader::default();
        reader.room().extend_from_slice(b"POST / HTTP/1.1\r\n");
        assert!(reader.line().is_ok_and(|line| line.is_none()) || reader.line().is_err());
    }
}
