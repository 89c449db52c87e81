//! One command and its reply.

use millrace_core::{Error, ErrorKind, Result, ports::ByteStream};

use crate::{Limits, Reply, ReplyReader};

/// How much is read at once.
const CHUNK_BYTES: usize = 16 << 10;

/// Sends a command and reads the reply to it.
///
/// # Errors
/// [`Unavailable`](ErrorKind::Unavailable) where the connection broke or ended, else as [`ReplyReader::take`]. The connection is of no use
/// afterwards, and nobody knows whether the command was carried out.
pub async fn exchange(stream: &mut dyn ByteStream, words: &[&[u8]], limits: Limits) -> Result<Reply> {
    stream.write_all(&encoded(words)).await?;
    let (mut reader, mut chunk) = (ReplyReader::new(limits), vec![0; CHUNK_BYTES]);
    loop {
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Err(Error::new(ErrorKind::Unavailable, "the Redis server closed the connection"));
        }
        if let Some(reply) = reader.take(&chunk[..count])? {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lists_of_strings_with_their_lengths() {
        let bytes = encoded(&[b"SET", "k\r\n".as_bytes(), b"\0\xff"]);
        assert_eq!(bytes, b"*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$2\r\n\0\xff\r\n");
    }
}
