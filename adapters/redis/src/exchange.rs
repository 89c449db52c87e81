//! Commands and their replies.

use millrace_core::{Error, ErrorKind, Result, ports::ByteStream};

use crate::{Limits, Protocol, Reply, ReplyReader};

/// How much is read at once.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;

/// The replies to commands that were sent together.
pub(crate) struct Replies<'a> {
    stream: &'a mut dyn ByteStream,
    reader: ReplyReader,
    chunk: Vec<u8>,
}

impl<'a> Replies<'a> {
    /// Sends commands; each has a reply within the limits.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) where the connection broke.
    pub(crate) async fn to(stream: &'a mut dyn ByteStream, commands: &[&[&[u8]]], protocol: Protocol, limits: Limits) -> Result<Self> {
        stream.write_all(&encoded(commands)).await?;
        Ok(Self { stream, reader: ReplyReader::new(protocol, limits), chunk: vec![0; CHUNK_BYTES] })
    }

    /// The next reply.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) where the connection broke or ended, else as
    /// [`ReplyReader::take`].
    pub(crate) async fn next(&mut self) -> Result<Reply> {
        loop {
            if let Some(reply) = self.reader.reply()? {
                return Ok(reply);
            }
            self.read().await?;
        }
    }

    /// Makes sure that nothing came behind the last reply. A push that began is read to its end.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub(crate) async fn end(mut self) -> Result<()> {
        while !self.reader.ended()? {
            self.read().await?;
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<()> {
        let count = self.stream.read(&mut self.chunk).await?;
        if count == 0 {
            return Err(Error::new(ErrorKind::Unavailable, "the Redis server closed the connection"));
        }
        self.reader.feed(&self.chunk[..count]);
        Ok(())
    }
}

fn encoded(commands: &[&[&[u8]]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for words in commands {
        put_command(&mut bytes, words);
    }
    bytes
}

/// Appends a command: a list of strings, each with its length before it.
pub(crate) fn put_command(bytes: &mut Vec<u8>, words: &[&[u8]]) {
    put_length(bytes, b'*', words.len());
    for word in words {
        put_length(bytes, b'$', word.len());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
}

fn put_length(bytes: &mut Vec<u8>, kind: u8, length: usize) {
    bytes.push(kind);
    bytes.extend_from_slice(length.to_string().as_bytes());
    bytes.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lists_of_strings_with_their_lengths() {
        let bytes = encoded(&[&[b"SET", "k\r\n".as_bytes(), b"\0\xff"]]);
        assert_eq!(bytes, b"*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$2\r\n\0\xff\r\n");
    }
}
