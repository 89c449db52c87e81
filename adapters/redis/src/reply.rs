//! Replies: what a server sends, read piece by piece.

use millrace_core::{Error, ErrorKind, Result};

/// The longest line: the text of an error, or a number.
const LONGEST_LINE_BYTES: usize = 64 << 10;
/// How deep lists may be nested. The replies of Redis' own commands need 5.
const MAX_DEPTH: usize = 32;
/// What an element counts towards the limit, whatever it holds: about what it takes in memory.
const ELEMENT_BYTES: usize = 32;
/// From how many bytes on what was read is given back.
const KEPT_BYTES: usize = 64 << 10;

/// What a server replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Nil,
    /// A number.
    Integer(i64),
    /// A word of the server's own: `OK`.
    Status(String),
    /// A value, of any bytes.
    Bulk(Vec<u8>),
    /// An error: its code and its text, which may quote the command.
    Error(String),
    /// Several.
    List(Vec<Self>),
}

/// How much a reply may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its values together, in bytes; each element counts 32 more. A word or an error within a list is a value, too.
    pub bytes: usize,
    /// Whether it may be a list.
    pub lists: bool,
}

/// Reads one reply, however its bytes are cut.
#[derive(Debug)]
pub struct ReplyReader {
    received: Vec<u8>,
    /// Before it, everything is read.
    start: usize,
    /// Before it, no line ends.
    searched: usize,
    /// The lists that are open, and how many elements each still needs.
    open: Vec<(usize, Vec<Reply>)>,
    most_bytes: usize,
    left_bytes: usize,
    lists: bool,
}

/// The next of what is sent.
enum Item {
    Whole(Reply),
    ListOf(usize),
}

impl ReplyReader {
    /// Begins to read.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self {
            received: Vec::new(),
            start: 0,
            searched: 0,
            open: Vec::new(),
            most_bytes: limits.bytes,
            left_bytes: limits.bytes,
            lists: limits.lists,
        }
    }

    /// Takes what came; a whole reply, or `None` where the rest is still to come.
    ///
    /// # Errors
    /// [`Protocol`](ErrorKind::Protocol) for what is not a reply, or more than one; [`TooLarge`](ErrorKind::TooLarge).
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<Reply>> {
        self.received.extend_from_slice(bytes);
        while let Some(item) = self.item()? {
            let mut done = match item {
                Item::ListOf(0) => Reply::List(Vec::new()),
                Item::ListOf(_) if self.open.len() >= MAX_DEPTH => {
                    let message = format!("the Redis server sent a reply with more than {MAX_DEPTH} lists inside each other");
                    return Err(Error::new(ErrorKind::Protocol, message));
                }
                // Nothing is reserved: so far the server has only said that it sends so many.
                Item::ListOf(count) => {
                    self.open.push((count, Vec::new()));
                    continue;
                }
                Item::Whole(reply) => reply,
            };
            loop {
                let Some((left, list)) = self.open.last_mut() else {
                    let is_alone = self.start == self.received.len();
                    return if is_alone { Ok(Some(done)) } else { Err(no_reply()) };
                };
                list.push(done);
                *left -= 1;
                if *left > 0 {
                    break;
                }
                let (_, list) = self.open.pop().unwrap_or_default();
                done = Reply::List(list);
            }
        }
        if self.start >= KEPT_BYTES {
            self.received.drain(..self.start);
            (self.searched, self.start) = (self.searched - self.start, 0);
        }
        Ok(None)
    }

    /// The next item, where all of it has come.
    fn item(&mut self) -> Result<Option<Item>> {
        let Some(&kind) = self.received.get(self.start) else { return Ok(None) };
        if !b"+-:$*".contains(&kind) {
            return Err(no_reply());
        }
        let from = self.searched.max(self.start);
        let Some(found) = self.received[from..].windows(2).position(|two| two == b"\r\n") else {
            // The last byte may be the first half of a line's end.
            self.searched = self.received.len().saturating_sub(1).max(self.start);
            let is_short = self.received.len() - self.start <= LONGEST_LINE_BYTES;
            return if is_short { Ok(None) } else { Err(no_reply()) };
        };
        let end = from + found;
        let (line, rest) = (&self.received[self.start + 1..end], end + 2);
        if line.len() > LONGEST_LINE_BYTES {
            return Err(no_reply());
        }
        let (reply, next) = match kind {
            b'+' => (Reply::Status(text(line)), rest),
            b'-' => (Reply::Error(text(line)), rest),
            b':' => (Reply::Integer(number(line).ok_or_else(no_reply)?), rest),
            _ if line == b"-1" => (Reply::Nil, rest),
            b'$' => {
                let length = usize::try_from(number(line).ok_or_else(no_reply)?).map_err(|_| no_reply())?;
                if length > self.left_bytes {
                    return Err(self.too_large());
                }
                match (self.received.get(rest..rest + length), self.received.get(rest + length..)) {
                    (Some(value), Some([b'\r', b'\n', ..])) => (Reply::Bulk(value.to_vec()), rest + length + 2),
                    (_, None | Some([] | [b'\r'])) => {
                        // The line is read again when there is more; it is short.
                        self.searched = end;
                        return Ok(None);
                    }
                    _ => return Err(no_reply()),
                }
            }
            _ if !self.lists => {
                return Err(Error::new(ErrorKind::Protocol, "the Redis server sent the reply to another command"));
            }
            _ => {
                let count = usize::try_from(number(line).ok_or_else(no_reply)?).map_err(|_| no_reply())?;
                if count.saturating_mul(ELEMENT_BYTES) > self.left_bytes {
                    return Err(self.too_large());
                }
                (self.start, self.searched) = (rest, rest);
                self.left_bytes -= count * ELEMENT_BYTES;
                return Ok(Some(Item::ListOf(count)));
            }
        };
        let bytes = match &reply {
            Reply::Bulk(value) => value.len(),
            // One alone is bounded by the length of a line.
            Reply::Status(text) | Reply::Error(text) if !self.open.is_empty() => text.len(),
            _ => 0,
        };
        self.left_bytes = self.left_bytes.checked_sub(bytes).ok_or_else(|| self.too_large())?;
        (self.start, self.searched) = (next, next);
        Ok(Some(Item::Whole(reply)))
    }

    fn too_large(&self) -> Error {
        Error::new(ErrorKind::TooLarge, format!("the reply of the Redis server has more than {} bytes", self.most_bytes))
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

/// A number as the protocol writes it: digits, and a sign where it is negative.
fn number(line: &[u8]) -> Option<i64> {
    let digits = line.strip_prefix(b"-").unwrap_or(line);
    let is_plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_plain.then(|| std::str::from_utf8(line).ok()?.parse().ok()).flatten()
}

fn no_reply() -> Error {
    Error::new(ErrorKind::Protocol, "the Redis server sent a reply that its protocol does not allow")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], limit: usize) -> Result<Option<Reply>> {
        ReplyReader::new(Limits { bytes: limit, lists: true }).take(bytes)
    }

    fn bulk(text: &[u8]) -> Reply {
        Reply::Bulk(text.to_vec())
    }

    #[test]
    fn replies_are_read_when_they_are_whole() {
        let cases = [
            (&b"+OK\r\n"[..], Reply::Status("OK".into())),
            (b"$-1\r\n", Reply::Nil),
            (b"*-1\r\n", Reply::Nil),
            (b"$0\r\n\r\n", bulk(b"")),
            (b"$4\r\n\0\r\n\xff\r\n", bulk(b"\0\r\n\xff")),
            (b":-9223372036854775808\r\n", Reply::Integer(i64::MIN)),
            (b"*0\r\n", Reply::List(vec![])),
            (
                b"*4\r\n$1\r\na\r\n*2\r\n:1\r\n*0\r\n$-1\r\n-ERR no\r\n",
                Reply::List(vec![
                    bulk(b"a"),
                    Reply::List(vec![Reply::Integer(1), Reply::List(vec![])]),
                    Reply::Nil,
                    Reply::Error("ERR no".into()),
                ]),
            ),
            (b"-NOAUTH Authentication required.\r\n", Reply::Error("NOAUTH Authentication required.".into())),
        ];
        for (bytes, expected) in cases {
            for cut in 0..bytes.len() {
                assert_eq!(read(&bytes[..cut], 1000), Ok(None), "{bytes:?} cut at {cut}");
            }
            assert_eq!(read(bytes, 1000), Ok(Some(expected.clone())));
            let mut reader = ReplyReader::new(Limits { bytes: 1000, lists: true });
            let (last, before) = bytes.split_last().unwrap();
            assert!(before.iter().all(|byte| reader.take(&[*byte]) == Ok(None)), "{bytes:?}");
            assert_eq!(reader.take(&[*last]), Ok(Some(expected)), "byte by byte");
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let endless = [b'-'; 70_000];
        let deep = b"*1\r\n".repeat(MAX_DEPTH + 1);
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"_\r\n",
            b"%1\r\n",
            b"$x\r\n",
            b"$-5\r\n",
            b"$+5\r\n",
            b"*-2\r\n",
            b":\r\n",
            b":9223372036854775808\r\n",
            b":1.5\r\n",
            b"+OK\r\n+OK\r\n",
            b"$2\r\nabc\r\n",
            b"$2\r\nab\r\n+OK\r\n",
            b"*1\r\n:1\r\n:2\r\n",
            &endless,
            &deep,
        ] {
            assert_eq!(read(bytes, 1 << 20).unwrap_err().kind, ErrorKind::Protocol, "{:?}", &bytes[..bytes.len().min(30)]);
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_comes() {
        for bytes in [
            &b"$101\r\n"[..],
            b"*4\r\n",
            b"*1000000000000\r\n",
            b"*2\r\n$20\r\naaaaaaaaaaaaaaaaaaaa\r\n$17\r\n",
            b"*2\r\n+twenty bytes of a word\r\n-ERR and the rest\r\n",
        ] {
            let error = read(bytes, 100).unwrap_err();
            assert_eq!(
                (error.kind, error.message.as_str()),
                (ErrorKind::TooLarge, "the reply of the Redis server has more than 100 bytes")
            );
        }
        assert_eq!(read(b"*2\r\n$20\r\naaaaaaaaaaaaaaaaaaaa\r\n$16\r\n", 100), Ok(None));
    }

    #[test]
    fn lines_within_lists_count_and_one_alone_does_not() {
        let line = "x".repeat(LONGEST_LINE_BYTES);
        for mark in ["+", "-"] {
            let bytes = format!("*40\r\n{}", format!("{mark}{line}\r\n").repeat(17));
            assert_eq!(read(bytes.as_bytes(), 1 << 20).unwrap_err().kind, ErrorKind::TooLarge, "{mark}");
            assert!(matches!(read(format!("{mark}{line}\r\n").as_bytes(), 0), Ok(Some(_))), "{mark}");
        }
        // What is no UTF-8 takes three times as much.
        let bytes = [b"*2\r\n+".as_slice(), &[0xff; 20], b"\r\n"].concat();
        assert_eq!(read(&bytes, 100).unwrap_err().kind, ErrorKind::TooLarge);
    }

    #[test]
    fn a_list_is_refused_before_it_comes_where_none_may_come() {
        let mut reader = ReplyReader::new(Limits { bytes: 1 << 20, lists: false });
        assert_eq!(reader.take(b"*1000\r\n").unwrap_err().kind, ErrorKind::Protocol);
        assert_eq!(ReplyReader::new(Limits { bytes: 9, lists: false }).take(b"*-1\r\n"), Ok(Some(Reply::Nil)));
    }

    #[test]
    fn a_long_reply_in_small_pieces_is_read_in_time() {
        let mut bytes = b"*40000\r\n".to_vec();
        for _ in 0..40_000 {
            bytes.extend_from_slice(b"$40\r\n0123456789012345678901234567890123456789\r\n");
        }
        let mut reader = ReplyReader::new(Limits { bytes: 16 << 20, lists: true });
        let mut found = None;
        for piece in bytes.chunks(7) {
            assert!(found.is_none());
            found = reader.take(piece).unwrap();
            assert!(reader.received.len() <= KEPT_BYTES + 100, "what was read is given back");
        }
        assert!(matches!(found, Some(Reply::List(list)) if list.len() == 40_000));
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let cut = cut.min(bytes.len());
            let mut reader = ReplyReader::new(Limits { bytes: 1000, lists: true });
            if reader.take(&bytes[..cut]) == Ok(None) {
                let _ = reader.take(&bytes[cut..]);
            }
        }
    }
}
