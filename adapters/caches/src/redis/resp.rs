//! One command and its reply in RESP2.

use millrace_core::{Error, ErrorKind, Result, ports::ByteStream};

/// The longest first line of a reply: an error's text.
const LONGEST_LINE_BYTES: usize = 16 << 10;
/// How much is read at once.
const CHUNK_BYTES: usize = 16 << 10;

/// What a server replied.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// `+OK`
    Done,
    /// A value, of `GET`.
    Value(Vec<u8>),
    /// No value.
    Nothing,
    /// An error: its code and its text, which may quote the command.
    Refused(String),
}

/// Sends a command and reads the reply to it, whose value has at most `longest` bytes.
///
/// # Errors
/// [`Unavailable`](ErrorKind::Unavailable) where the connection broke or ended, [`Protocol`](ErrorKind::Protocol) for what is not a reply,
/// [`TooLarge`](ErrorKind::TooLarge). The connection is of no use afterwards.
pub(super) async fn exchange(stream: &mut dyn ByteStream, words: &[&[u8]], longest: usize) -> Result<Reply> {
    stream.write_all(&encoded(words)).await?;
    let (mut received, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Err(Error::new(ErrorKind::Unavailable, "the Redis server closed the connection"));
        }
        received.extend_from_slice(&chunk[..count]);
        if let Some(reply) = read(&received, longest)? {
            return Ok(reply);
        }
    }
}

/// A command: a list of strings, each with its length before it.
fn encoded(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A whole reply; `None` where the rest is still to come.
fn read(received: &[u8], longest: usize) -> Result<Option<Reply>> {
    let Some(end) = received.windows(2).take(LONGEST_LINE_BYTES).position(|two| two == b"\r\n") else {
        // No reply begins otherwise, and lines are short.
        let may_be = received.first().is_none_or(|kind| b"+-$".contains(kind)) && received.len() <= LONGEST_LINE_BYTES;
        return if may_be { Ok(None) } else { Err(no_resp()) };
    };
    let (line, rest) = (&received[..end], &received[end + 2..]);
    let alone = |reply| if rest.is_empty() { Ok(Some(reply)) } else { Err(no_resp()) };
    match line {
        b"+OK" => alone(Reply::Done),
        b"$-1" => alone(Reply::Nothing),
        [b'-', words @ ..] => alone(Reply::Refused(String::from_utf8_lossy(words).into_owned())),
        [b'$', length @ ..] => value(length, rest, longest),
        _ => Err(no_resp()),
    }
}

fn value(length: &[u8], rest: &[u8], longest: usize) -> Result<Option<Reply>> {
    let length: usize = std::str::from_utf8(length).ok().and_then(|length| length.parse().ok()).ok_or_else(no_resp)?;
    if length > longest {
        return Err(Error::new(ErrorKind::TooLarge, "a reply of the Redis server is longer than any stored value"));
    }
    match (rest.get(..length), rest.get(length..)) {
        (Some(value), Some(b"\r\n")) => Ok(Some(Reply::Value(value.to_vec()))),
        (_, None | Some(b"" | b"\r")) => Ok(None),
        _ => Err(no_resp()),
    }
}

fn no_resp() -> Error {
    Error::new(ErrorKind::Protocol, "the Redis server sent a reply that its protocol does not allow")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lists_of_strings_with_their_lengths() {
        let bytes = encoded(&[b"SET", "k\r\n".as_bytes(), b"\0\xff"]);
        assert_eq!(bytes, b"*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$2\r\n\0\xff\r\n");
    }

    #[test]
    fn replies_are_read_when_they_are_whole() {
        let cases = [
            (&b"+OK\r\n"[..], Reply::Done),
            (b"$-1\r\n", Reply::Nothing),
            (b"$0\r\n\r\n", Reply::Value(Vec::new())),
            (b"$4\r\n\0\r\n\xff\r\n", Reply::Value(b"\0\r\n\xff".to_vec())),
            (b"-NOAUTH Authentication required.\r\n", Reply::Refused("NOAUTH Authentication required.".to_owned())),
        ];
        for (bytes, expected) in cases {
            for cut in 1..bytes.len() {
                assert_eq!(read(&bytes[..cut], 10), Ok(None), "{bytes:?} cut at {cut}");
            }
            assert_eq!(read(bytes, 10), Ok(Some(expected)));
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let endless = [b'-'; 20_000];
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"+PONG\r\n",
            b":1\r\n",
            b"*0\r\n",
            b"$x\r\n",
            b"$-5\r\n",
            b"+OK\r\n+OK\r\n",
            b"$2\r\nabc\r\n",
            b"$2\r\nab\r\n+OK\r\n",
            &endless,
        ] {
            assert_eq!(read(bytes, 10).unwrap_err().kind, ErrorKind::Protocol, "{:?}", &bytes[..bytes.len().min(30)]);
        }
        assert_eq!(read(b"$11\r\n", 10).unwrap_err().kind, ErrorKind::TooLarge);
    }
}
