//! Replies: what a server sends, read piece by piece.
//!
//! RESP3 has types that RESP2 has not. A reply of RESP3 is read as the one that the server would
//! have sent to a client of RESP2: a map is its keys and values in turn, a set is a list, a number
//! with a fraction is its text, and true is 1. So nobody behind this reader can tell the two apart,
//! except where a command replies with other lists; [`Reply`] has what both have.
//!
//! | in RESP3 | is read as |
//! |---|---|
//! | `_` | nothing |
//! | `#t`, `#f` | 1, 0 |
//! | `,1.5`, `(3492890328409238509324850943850943825024385` | a value: the number's text |
//! | `=15 txt:Some string` | a value, without `txt:` |
//! | `!21 SYNTAX invalid syntax` | an error |
//! | `%`, `~` | a list |
//! | `\|`: attributes of what follows | nothing; they are skipped |
//! | `>`: a push | nothing; it is skipped before and after a reply, and within one it is wrong |
//! | `$?`, `*?`, `%?`, `~?`: streamed | an error, because no server sends them |

use millrace_core::{Error, ErrorKind, Result};

/// The longest line: the text of an error, or a number.
const LONGEST_LINE_BYTES: usize = 64 << 10;
/// How deep lists may be nested. The replies of Redis' own commands need 5.
const MAX_DEPTH: usize = 32;
/// What an element counts towards the limit, whatever it holds: about what it takes in memory.
const ELEMENT_BYTES: usize = 32;
/// How much may be skipped before and in one reply, counted as values are.
const SKIPPED_BYTES: usize = 64 << 10;
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

/// The version of the protocol that a connection speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// What every server speaks at first.
    #[default]
    Resp2,
    /// What `HELLO 3` asks for.
    Resp3,
}

/// How much a reply may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its values together, in bytes; each element counts 32 more. A word or an error within a list
    /// is a value, too. A list of two or more within another counts by its elements alone, so that
    /// pairs are worth the same, apart or one after the other.
    pub bytes: usize,
    /// Whether it may be a list.
    pub lists: bool,
}

/// Reads replies, however their bytes are cut.
#[derive(Debug)]
pub struct ReplyReader {
    received: Vec<u8>,
    /// Before it, everything is read.
    start: usize,
    /// Before it, no line ends.
    searched: usize,
    /// The lists that are open.
    open: Vec<Open>,
    /// How many of them are skipped.
    skipping: usize,
    left_bytes: usize,
    left_skipped: usize,
    limits: Limits,
    protocol: Protocol,
    /// Whether no other reply may come.
    is_over: bool,
    /// The reply that [`take`](Self::take) has.
    taken: Option<Reply>,
}

/// A list whose end has not come.
#[derive(Debug)]
struct Open {
    /// How many elements it still needs.
    left: usize,
    elements: Vec<Reply>,
    is_skipped: bool,
}

/// The next of what is sent.
enum Item {
    Whole(Reply),
    ListOf { count: usize, is_skipped: bool },
}

impl ReplyReader {
    /// Begins to read.
    #[must_use]
    pub const fn new(protocol: Protocol, limits: Limits) -> Self {
        Self {
            received: Vec::new(),
            start: 0,
            searched: 0,
            open: Vec::new(),
            skipping: 0,
            left_bytes: limits.bytes,
            left_skipped: SKIPPED_BYTES,
            limits,
            protocol,
            is_over: false,
            taken: None,
        }
    }

    /// Takes what came; a whole reply, or `None` where the rest is still to come.
    ///
    /// # Errors
    /// [`Protocol`](ErrorKind::Protocol) for what is not a reply, or more than one;
    /// [`TooLarge`](ErrorKind::TooLarge).
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<Reply>> {
        self.feed(bytes);
        if self.taken.is_none() {
            self.taken = self.reply()?;
        }
        Ok(if self.taken.is_some() && self.ended()? { self.taken.take() } else { None })
    }

    /// The next reply is one within these limits, unless it has begun.
    pub(crate) const fn expect(&mut self, limits: Limits) {
        if self.open.is_empty() {
            (self.limits, self.left_bytes) = (limits, limits.bytes);
        }
    }

    /// Adds what came.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// Whether nothing came after the last reply but pushes, and each is whole.
    ///
    /// # Errors
    /// [`Protocol`](ErrorKind::Protocol) where another reply began.
    pub(crate) fn ended(&mut self) -> Result<bool> {
        self.is_over = true;
        let outcome = self.reply();
        self.is_over = false;
        outcome?;
        Ok(self.open.is_empty() && self.start == self.received.len())
    }

    /// The next reply, where all of it has come.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(crate) fn reply(&mut self) -> Result<Option<Reply>> {
        while let Some(item) = self.item()? {
            let mut done = match item {
                Item::ListOf { count: 0, is_skipped: false } => Reply::List(Vec::new()),
                Item::ListOf { count: 0, .. } => continue,
                Item::ListOf { .. } if self.open.len() >= MAX_DEPTH => {
                    let message = format!("the Redis server sent a reply with more than {MAX_DEPTH} lists inside each other");
                    return Err(Error::new(ErrorKind::Protocol, message));
                }
                // Nothing is reserved: so far the server has only said that it sends so many.
                Item::ListOf { count, is_skipped } => {
                    self.skipping += usize::from(is_skipped);
                    self.open.push(Open { left: count, elements: Vec::new(), is_skipped });
                    continue;
                }
                Item::Whole(reply) => reply,
            };
            loop {
                let Some(Open { left, elements, is_skipped }) = self.open.last_mut() else {
                    (self.left_bytes, self.left_skipped) = (self.limits.bytes, SKIPPED_BYTES);
                    return Ok(Some(done));
                };
                if self.skipping == 0 {
                    elements.push(done);
                }
                *left -= 1;
                if *left > 0 {
                    break;
                }
                let (is_skipped, elements) = (*is_skipped, std::mem::take(elements));
                self.open.pop();
                if is_skipped {
                    self.skipping -= 1;
                    break;
                }
                done = Reply::List(elements);
            }
        }
        if self.start == self.received.len() {
            self.received.clear();
            (self.searched, self.start) = (0, 0);
        } else if self.start >= KEPT_BYTES {
            self.received.drain(..self.start);
            (self.searched, self.start) = (self.searched - self.start, 0);
        }
        Ok(None)
    }

    /// The next item, where all of it has come.
    fn item(&mut self) -> Result<Option<Item>> {
        let Some(&kind) = self.received.get(self.start) else { return Ok(None) };
        let is_known = b"+-:$*".contains(&kind) || (self.protocol == Protocol::Resp3 && b"_,#(!=%~|>".contains(&kind));
        let is_outside = self.open.is_empty();
        if !is_known || (kind == b'>' && !is_outside) || (self.is_over && is_outside && kind != b'>') {
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
        if line == b"?" && b"$*%~".contains(&kind) && self.protocol == Protocol::Resp3 {
            return Err(Error::new(ErrorKind::Protocol, "the Redis server sent a streamed reply, which is not supported"));
        }
        let (reply, next) = match kind {
            b'+' => (Reply::Status(text(line)), rest),
            b'-' => (Reply::Error(text(line)), rest),
            b':' => (Reply::Integer(number(line.strip_prefix(b"+").filter(|line| !line.starts_with(b"-")).unwrap_or(line))?), rest),
            b'_' if line.is_empty() => (Reply::Nil, rest),
            b'#' if line == b"t" => (Reply::Integer(1), rest),
            b'#' if line == b"f" => (Reply::Integer(0), rest),
            b',' if is_double(line) => (Reply::Bulk(line.strip_prefix(b"+").unwrap_or(line).to_vec()), rest),
            b'(' if is_whole(unsigned(line)) => (Reply::Bulk(line.strip_prefix(b"+").unwrap_or(line).to_vec()), rest),
            b'_' | b'#' | b',' | b'(' => return Err(no_reply()),
            b'$' | b'*' if line == b"-1" => (Reply::Nil, rest),
            b'$' | b'!' | b'=' => {
                let length = length(line)?;
                // An error alone is bounded as a line is.
                let most = if kind == b'!' && is_outside { LONGEST_LINE_BYTES } else { self.left() };
                // What a verbatim text begins with is no part of it.
                if length.saturating_sub(if kind == b'=' { 4 } else { 0 }) > most {
                    return Err(self.too_large());
                }
                let Some([value @ .., b'\r', b'\n']) = self.received.get(rest..rest + length + 2) else {
                    let ending = self.received.get(rest + length..).unwrap_or_default();
                    if ending.len() >= 2 || ending.first().is_some_and(|byte| *byte != b'\r') {
                        return Err(no_reply());
                    }
                    // The line is read again when there is more; it is short.
                    self.searched = end;
                    return Ok(None);
                };
                let reply = match (kind, value) {
                    (b'!', words) => Reply::Error(text(words)),
                    (b'=', [_, _, _, b':', value @ ..]) => Reply::Bulk(value.to_vec()),
                    (b'=', _) => return Err(no_reply()),
                    _ => Reply::Bulk(value.to_vec()),
                };
                (reply, rest + length + 2)
            }
            _ => return self.list(kind, length(line)?, rest).map(Some),
        };
        let bytes = match &reply {
            Reply::Bulk(value) => value.len(),
            // One alone is bounded by the length of a line.
            Reply::Status(text) | Reply::Error(text) if !is_outside => text.len(),
            _ => 0,
        };
        self.count(bytes)?;
        (self.start, self.searched) = (next, next);
        Ok(Some(Item::Whole(reply)))
    }

    /// The beginning of a list of this kind, before which everything is read.
    fn list(&mut self, kind: u8, length: usize, next: usize) -> Result<Item> {
        let is_skipped = b"|>".contains(&kind);
        if !self.limits.lists && !is_skipped && self.skipping == 0 {
            return Err(Error::new(ErrorKind::Protocol, "the Redis server sent the reply to another command"));
        }
        if kind == b'>' && length == 0 {
            return Err(no_reply());
        }
        let count = if b"%|".contains(&kind) { length.saturating_mul(2) } else { length };
        let bytes = count.saturating_mul(ELEMENT_BYTES);
        match is_skipped {
            // Each counts, also where it holds nothing.
            true => self.left_skipped = self.left_skipped.checked_sub(bytes.saturating_add(ELEMENT_BYTES)).ok_or_else(no_reply)?,
            // It was counted as an element of the list that it is in.
            false if count >= 2 && !self.open.is_empty() => self.count(bytes - ELEMENT_BYTES)?,
            false => self.count(bytes)?,
        }
        (self.start, self.searched) = (next, next);
        Ok(Item::ListOf { count, is_skipped })
    }

    /// How many bytes may still come of what is being read.
    const fn left(&self) -> usize {
        if self.skipping > 0 { self.left_skipped } else { self.left_bytes }
    }

    /// Counts bytes towards the limit of what is being read.
    fn count(&mut self, bytes: usize) -> Result<()> {
        let left = self.left().checked_sub(bytes).ok_or_else(|| self.too_large())?;
        *(if self.skipping > 0 { &mut self.left_skipped } else { &mut self.left_bytes }) = left;
        Ok(())
    }

    fn too_large(&self) -> Error {
        if self.skipping > 0 {
            return no_reply();
        }
        Error::new(ErrorKind::TooLarge, format!("the reply of the Redis server has more than {} bytes", self.limits.bytes))
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

/// A number as the protocol writes it: digits, and a sign where it is negative.
fn number(line: &[u8]) -> Result<i64> {
    let is_plain = is_whole(line.strip_prefix(b"-").unwrap_or(line));
    is_plain.then(|| std::str::from_utf8(line).ok()?.parse().ok()).flatten().ok_or_else(no_reply)
}

fn length(line: &[u8]) -> Result<usize> {
    usize::try_from(number(line)?).map_err(|_| no_reply())
}

fn unsigned(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"-").or_else(|| line.strip_prefix(b"+")).unwrap_or(line)
}

fn is_whole(digits: &[u8]) -> bool {
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a line is a number with a fraction and an exponent, as far as it has them, or one of
/// those that are none.
fn is_double(line: &[u8]) -> bool {
    let line = unsigned(line);
    if matches!(line, b"inf" | b"nan") {
        return true;
    }
    let (mantissa, exponent) = cut(line, b"eE");
    let (whole, fraction) = cut(mantissa, b".");
    is_whole(whole) && fraction.is_none_or(is_whole) && exponent.is_none_or(|digits| is_whole(unsigned(digits)))
}

/// What is before the first of these bytes, and what is behind it.
fn cut<'a>(line: &'a [u8], at: &[u8]) -> (&'a [u8], Option<&'a [u8]>) {
    match line.iter().position(|byte| at.contains(byte)) {
        Some(place) => (&line[..place], Some(&line[place + 1..])),
        None => (line, None),
    }
}

fn no_reply() -> Error {
    Error::new(ErrorKind::Protocol, "the Redis server sent a reply that its protocol does not allow")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], limit: usize) -> Result<Option<Reply>> {
        ReplyReader::new(Protocol::Resp2, Limits { bytes: limit, lists: true }).take(bytes)
    }

    fn read3(bytes: &[u8], limit: usize) -> Result<Option<Reply>> {
        ReplyReader::new(Protocol::Resp3, Limits { bytes: limit, lists: true }).take(bytes)
    }

    /// A reply that is whole at its last byte, and not before.
    fn is_read_however_it_is_cut(protocol: Protocol, bytes: &[u8], expected: &Reply) {
        let reader = || ReplyReader::new(protocol, Limits { bytes: 1000, lists: true });
        for cut in 0..bytes.len() {
            assert_eq!(reader().take(&bytes[..cut]), Ok(None), "{bytes:?} cut at {cut}");
        }
        assert_eq!(reader().take(bytes), Ok(Some(expected.clone())), "{bytes:?}");
        let (mut reader, (last, before)) = (reader(), bytes.split_last().unwrap());
        assert!(before.iter().all(|byte| reader.take(&[*byte]) == Ok(None)), "{bytes:?}");
        assert_eq!(reader.take(&[*last]), Ok(Some(expected.clone())), "byte by byte");
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
            is_read_however_it_is_cut(Protocol::Resp2, bytes, &expected);
            is_read_however_it_is_cut(Protocol::Resp3, bytes, &expected);
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
        let mut reader = ReplyReader::new(Protocol::Resp2, Limits { bytes: 1 << 20, lists: false });
        assert_eq!(reader.take(b"*1000\r\n").unwrap_err().kind, ErrorKind::Protocol);
        assert_eq!(ReplyReader::new(Protocol::Resp2, Limits { bytes: 9, lists: false }).take(b"*-1\r\n"), Ok(Some(Reply::Nil)));
    }

    #[test]
    fn a_long_reply_in_small_pieces_is_read_in_time() {
        let mut bytes = b"*40000\r\n".to_vec();
        for _ in 0..40_000 {
            bytes.extend_from_slice(b"$40\r\n0123456789012345678901234567890123456789\r\n");
        }
        let mut reader = ReplyReader::new(Protocol::Resp2, Limits { bytes: 16 << 20, lists: true });
        let mut found = None;
        for piece in bytes.chunks(7) {
            assert!(found.is_none());
            found = reader.take(piece).unwrap();
            assert!(reader.received.len() <= KEPT_BYTES + 100, "what was read is given back");
        }
        assert!(matches!(found, Some(Reply::List(list)) if list.len() == 40_000));
    }

    #[test]
    fn replies_of_resp3_are_those_of_resp2() {
        let list = Reply::List;
        let cases = [
            (&b"_\r\n"[..], Reply::Nil),
            (b"#t\r\n", Reply::Integer(1)),
            (b"#f\r\n", Reply::Integer(0)),
            (b":+7\r\n", Reply::Integer(7)),
            (b",1.5\r\n", bulk(b"1.5")),
            (b",10\r\n", bulk(b"10")),
            (b",-1.5E-300\r\n", bulk(b"-1.5E-300")),
            (b",+1e+30\r\n", bulk(b"1e+30")),
            (b",inf\r\n", bulk(b"inf")),
            (b",-inf\r\n", bulk(b"-inf")),
            (b",nan\r\n", bulk(b"nan")),
            (b",-nan\r\n", bulk(b"-nan")),
            (b"(-3492890328409238509324850943850943825024385\r\n", bulk(b"-3492890328409238509324850943850943825024385")),
            (b"=15\r\ntxt:Some string\r\n", bulk(b"Some string")),
            (b"=4\r\nmkd:\r\n", bulk(b"")),
            (b"!23\r\nSYNTAX invalid\r\nsyntax\n\r\n", Reply::Error("SYNTAX invalid\r\nsyntax\n".into())),
            (b"$-1\r\n", Reply::Nil),
            (b"*-1\r\n", Reply::Nil),
            (b"~0\r\n", list(vec![])),
            (b"%0\r\n", list(vec![])),
            (b"~2\r\n+a\r\n:1\r\n", list(vec![Reply::Status("a".into()), Reply::Integer(1)])),
            (b"%2\r\n$1\r\na\r\n#t\r\n%1\r\n+b\r\n_\r\n*0\r\n", {
                list(vec![bulk(b"a"), Reply::Integer(1), list(vec![Reply::Status("b".into()), Reply::Nil]), list(vec![])])
            }),
            (b"|1\r\n+ttl\r\n%1\r\n+a\r\n*2\r\n:1\r\n|1\r\n+x\r\n+y\r\n:2\r\n*3\r\n:1\r\n|1\r\n+x\r\n_\r\n:2\r\n|0\r\n:3\r\n", {
                list(vec![Reply::Integer(1), Reply::Integer(2), Reply::Integer(3)])
            }),
            (b">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n>1\r\n+x\r\n:1\r\n", Reply::Integer(1)),
        ];
        for (bytes, expected) in cases {
            is_read_however_it_is_cut(Protocol::Resp3, bytes, &expected);
        }
    }

    #[test]
    fn a_push_behind_a_reply_is_read_to_its_end() {
        let bytes = b":1\r\n>2\r\n+message\r\n$3\r\nabc\r\n";
        for cut in 5..bytes.len() {
            let mut reader = ReplyReader::new(Protocol::Resp3, Limits { bytes: 9, lists: false });
            assert_eq!(reader.take(&bytes[..cut]), Ok(None), "{cut}");
            assert_eq!(reader.take(&bytes[cut..]), Ok(Some(Reply::Integer(1))), "{cut}");
        }
        assert_eq!(read3(b":1\r\n>1\r\n+x\r\n:2\r\n", 9).unwrap_err().kind, ErrorKind::Protocol, "another reply behind it");
    }

    #[test]
    fn what_is_no_reply_of_resp3_is_an_error() {
        let deep = [b"|1\r\n+x\r\n".as_slice(), &b"%1\r\n+x\r\n".repeat(MAX_DEPTH)].concat();
        let endless_attributes = b"|1\r\n+x\r\n+y\r\n".repeat(2000);
        let endless_pushes = b">1\r\n+x\r\n".repeat(2000);
        let no_attributes = b"|0\r\n".repeat(3000);
        for bytes in [
            &b"_x\r\n"[..],
            b"#\r\n",
            b"#true\r\n",
            b",\r\n",
            b",.5\r\n",
            b",1.\r\n",
            b",1e\r\n",
            b",1e1.5\r\n",
            b",--1\r\n",
            b",infinity\r\n",
            b",0x10\r\n",
            b"(\r\n",
            b"(1.5\r\n",
            b"(1e5\r\n",
            b":+-5\r\n",
            b"=3\r\ntxt\r\n",
            b"=4\r\ntxt \r\n",
            b"!3\r\nabcd\r\n",
            b"!-1\r\n",
            b"%-1\r\n",
            b"~-1\r\n",
            b"|-1\r\n",
            b">-1\r\n",
            b">0\r\n",
            b"!70000\r\n",
            b"*1\r\n>1\r\n+x\r\n",
            b"|1\r\n>1\r\n+x\r\n",
            b"_\r\n_\r\n",
            b":1\r\n|1\r\n+a\r\n+b\r\n",
            b".\r\n",
            b";4\r\n",
            b"|1\r\n$70000\r\n",
            b">40000\r\n",
            &deep,
            &endless_attributes,
            &endless_pushes,
            &no_attributes,
        ] {
            let error = read3(bytes, 1 << 20).map(|_| String::from_utf8_lossy(bytes).into_owned()).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Protocol | ErrorKind::TooLarge), "{error:?}");
        }
        for bytes in [b"$?\r\n", b"*?\r\n", b"%?\r\n", b"~?\r\n"] {
            assert_eq!(read3(bytes, 1000).unwrap_err().message, "the Redis server sent a streamed reply, which is not supported");
            assert_ne!(read(bytes, 1000).unwrap_err().message, "the Redis server sent a streamed reply, which is not supported");
        }
    }

    #[test]
    fn limits_are_the_same_for_both() {
        // Pairs in lists of their own, one after the other, and as a map.
        let nested = b"*2\r\n*2\r\n$1\r\na\r\n,1\r\n*2\r\n$1\r\nb\r\n,2\r\n";
        let flat = b"*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n";
        let map = b"%2\r\n$1\r\na\r\n=5\r\ntxt:1\r\n$1\r\nb\r\n(2\r\n";
        for bytes in [&nested[..], flat, map] {
            assert!(matches!(read3(bytes, 4 * ELEMENT_BYTES + 4), Ok(Some(_))), "{bytes:?}");
            assert_eq!(read3(bytes, 4 * ELEMENT_BYTES + 3).unwrap_err().kind, ErrorKind::TooLarge, "{bytes:?}");
        }
        for bytes in [&b"%16\r\n"[..], b"~33\r\n", b"%9223372036854775807\r\n", b"=1005\r\n", b"*1\r\n!969\r\n"] {
            assert_eq!(read3(bytes, 1000).unwrap_err().kind, ErrorKind::TooLarge, "{bytes:?}");
        }
        for list in [&b"%1\r\n"[..], b"~1\r\n", b"*1\r\n"] {
            let mut reader = ReplyReader::new(Protocol::Resp3, Limits { bytes: 1 << 20, lists: false });
            assert_eq!(reader.take(list).unwrap_err().kind, ErrorKind::Protocol);
        }
        let skipped = b"|1\r\n+a\r\n*1\r\n:1\r\n_\r\n";
        assert_eq!(ReplyReader::new(Protocol::Resp3, Limits { bytes: 0, lists: false }).take(skipped), Ok(Some(Reply::Nil)));
    }

    /// A reply and its bytes: every type, with attributes here and there.
    fn typed() -> impl Strategy<Value = (Reply, Vec<u8>)> {
        let line = |mark: &str, text: String| format!("{mark}{text}\r\n").into_bytes();
        let blob = |mark: &str, bytes: &[u8]| [format!("{mark}{}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        let bytes = || proptest::collection::vec(any::<u8>(), 0..20);
        let leaf = prop_oneof![
            Just((Reply::Nil, b"_\r\n".to_vec())),
            any::<bool>().prop_map(|is| (Reply::Integer(is.into()), format!("#{}\r\n", if is { 't' } else { 'f' }).into_bytes())),
            any::<i64>().prop_map(move |number| (Reply::Integer(number), line(":", number.to_string()))),
            any::<f64>().prop_map(move |number| {
                let text = number.to_string().to_ascii_lowercase();
                (Reply::Bulk(text.clone().into_bytes()), line(",", text))
            }),
            any::<i128>().prop_map(move |number| (Reply::Bulk(number.to_string().into_bytes()), line("(", number.to_string()))),
            "[a-z ]{0,9}".prop_map(move |text| (Reply::Status(text.clone()), line("+", text))),
            "[a-z ]{0,9}".prop_map(move |text| (Reply::Error(text.clone()), line("-", text))),
            "[a-z\r\n]{0,9}".prop_map(move |text| (Reply::Error(text.clone()), blob("!", text.as_bytes()))),
            bytes().prop_map(move |bytes| (Reply::Bulk(bytes.clone()), blob("$", &bytes))),
            bytes().prop_map(move |bytes| (Reply::Bulk(bytes.clone()), blob("=", &[b"txt:".as_slice(), &bytes].concat()))),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            (proptest::collection::vec(inner.clone(), 0..6), 0..3_u8, proptest::option::weighted(0.2, (inner.clone(), inner))).prop_map(
                |(mut elements, kind, attribute)| {
                    if kind == 2 && elements.len() % 2 == 1 {
                        elements.pop();
                    }
                    let (mark, count) = match kind {
                        0 => ('*', elements.len()),
                        1 => ('~', elements.len()),
                        _ => ('%', elements.len() / 2),
                    };
                    let (replies, parts): (Vec<_>, Vec<_>) = elements.into_iter().unzip();
                    let attribute = attribute.map(|((_, key), (_, value))| [b"|1\r\n".to_vec(), key, value].concat()).unwrap_or_default();
                    (Reply::List(replies), [attribute, format!("{mark}{count}\r\n").into_bytes(), parts.concat()].concat())
                },
            )
        })
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let cut = cut.min(bytes.len());
            for protocol in [Protocol::Resp2, Protocol::Resp3] {
                let mut reader = ReplyReader::new(protocol, Limits { bytes: 1000, lists: true });
                if reader.take(&bytes[..cut]) == Ok(None) {
                    let _ = reader.take(&bytes[cut..]);
                }
            }
        }

        #[test]
        fn what_looks_like_a_reply_does_no_harm(
            parts in proptest::collection::vec(("[-+:$*_,#(!=%~|>.;]", "[0-9?tf-]{0,3}", "[a-z:]{0,4}"), 0..40),
        ) {
            let bytes: Vec<u8> = parts.iter().flat_map(|(mark, line, more)| format!("{mark}{line}\r\n{more}").into_bytes()).collect();
            for protocol in [Protocol::Resp2, Protocol::Resp3] {
                let mut reader = ReplyReader::new(protocol, Limits { bytes: 1000, lists: true });
                let whole = reader.take(&bytes);
                let mut reader = ReplyReader::new(protocol, Limits { bytes: 1000, lists: true });
                let mut pieces = Ok(None);
                for byte in &bytes {
                    pieces = reader.take(&[*byte]);
                    if pieces != Ok(None) {
                        break;
                    }
                }
                // A second reply is noticed only with the first one's last byte.
                prop_assert!(pieces == whole || whole.is_err() , "{whole:?} {pieces:?}");
            }
        }

        #[test]
        fn every_type_is_read_however_it_is_cut((expected, bytes) in typed(), cuts in proptest::collection::vec(0_usize..400, 0..4)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len().saturating_sub(1))).collect();
            cuts.sort_unstable();
            let mut reader = ReplyReader::new(Protocol::Resp3, Limits { bytes: 1 << 20, lists: true });
            let mut from = 0;
            for cut in cuts {
                prop_assert_eq!(reader.take(&bytes[from..cut]), Ok(None));
                from = cut;
            }
            prop_assert_eq!(reader.take(&bytes[from..]), Ok(Some(expected)));
        }

        #[test]
        fn a_spoilt_reply_does_no_harm((_, mut bytes) in typed(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            *at.get_mut(&mut bytes) = byte;
            let mut reader = ReplyReader::new(Protocol::Resp3, Limits { bytes: 1 << 20, lists: true });
            let _ = reader.take(&bytes);
            prop_assert!(reader.open.len() <= MAX_DEPTH);
        }
    }
}
