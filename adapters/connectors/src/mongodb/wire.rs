//! Messages: a header of 16 bytes and one document,
//! [OP_MSG](https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg).

use millrace_core::{Error, ErrorKind, ports::ByteStream};

use super::bson::{self, Bson, DecodeError, Members};

const OP_MSG: i32 = 2013;
const HEADER: usize = 16;
/// The header, the flags and the kind of the one section.
const BEFORE_DOCUMENT: usize = HEADER + 4 + 1;
/// The longest message of MongoDB, in bytes.
const LONGEST: usize = 48_000_000;
/// Four bytes of a checksum follow.
const CHECKSUM_PRESENT: u32 = 1;
/// Flags that a reader must understand.
const REQUIRED: u32 = 0xffff;
/// The most values of the replies to a command, over all of its batches.
pub(super) const MAX_VALUES: usize = 1 << 19;
const CHUNK_BYTES: usize = 16 << 10;

/// A connection.
pub(super) struct Wire {
    stream: Box<dyn ByteStream>,
    last: i32,
    /// The reply to the last command was read to its end, whatever was in it.
    pub(super) is_in_step: bool,
}

impl Wire {
    pub(super) const fn new(stream: Box<dyn ByteStream>) -> Self {
        Self { stream, last: 0, is_in_step: true }
    }

    pub(super) fn stream(&mut self) -> &mut dyn ByteStream {
        &mut *self.stream
    }

    /// Sends a command and reads the reply; `most` is how many bytes it may have, and `room` how
    /// many values, from which its own are taken.
    ///
    /// # Errors
    /// [`Syntax`](ErrorKind::Syntax) for a document that cannot be sent, before anything is;
    /// [`TooLarge`](ErrorKind::TooLarge) for one that is too long, or such a reply;
    /// [`Unavailable`](ErrorKind::Unavailable) where the connection broke;
    /// [`Protocol`](ErrorKind::Protocol) for what is no reply. The connection is of no use then,
    /// unless it is in step.
    pub(super) async fn command(&mut self, members: &[(String, Bson)], most: usize, room: &mut usize) -> Result<Members, Error> {
        let mut message = vec![0; BEFORE_DOCUMENT];
        bson::encode(members, &mut message).map_err(|why| Error::new(ErrorKind::Syntax, format!("the document cannot be sent: {why}")))?;
        if message.len() > LONGEST {
            return Err(Error::new(ErrorKind::TooLarge, "the document is longer than MongoDB takes"));
        }
        self.last = self.last.wrapping_add(1);
        let length = i32::try_from(message.len()).unwrap_or(i32::MAX);
        for (place, number) in [length, self.last, 0, OP_MSG].into_iter().enumerate() {
            message[place * 4..place * 4 + 4].copy_from_slice(&number.to_le_bytes());
        }
        self.is_in_step = false;
        self.stream.write_all(&message).await?;
        self.reply(most.min(LONGEST), room).await
    }

    async fn reply(&mut self, most: usize, room: &mut usize) -> Result<Members, Error> {
        let mut bytes = Vec::new();
        self.fill(&mut bytes, HEADER).await?;
        let number = |bytes: &[u8], place: usize| bytes.get(place..place + 4).and_then(|four| four.try_into().ok()).map(i32::from_le_bytes);
        let length = number(&bytes, 0).and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
        if number(&bytes, 8) != Some(self.last) || number(&bytes, 12) != Some(OP_MSG) || length < BEFORE_DOCUMENT {
            return Err(strange("what MongoDB sent is not a reply to the command"));
        }
        if length > most.saturating_add(BEFORE_DOCUMENT) {
            return Err(Error::new(ErrorKind::TooLarge, format!("the reply of MongoDB has more than {most} bytes")));
        }
        self.fill(&mut bytes, length).await?;
        let flags = u32::from_le_bytes(bytes.get(16..20).and_then(|four| four.try_into().ok()).unwrap_or([0xff; 4]));
        let end = length.saturating_sub(if flags & CHECKSUM_PRESENT == 0 { 0 } else { 4 });
        let body = bytes.get(BEFORE_DOCUMENT..end).filter(|_| flags & REQUIRED & !CHECKSUM_PRESENT == 0 && bytes.get(20) == Some(&0));
        let body = body.ok_or_else(|| strange("MongoDB sent a message of an unknown form"))?;
        bson::decode(body, room)
            .map_err(|error| match error {
                DecodeError::Invalid(why) => strange("MongoDB sent a damaged document").with_source(why),
                DecodeError::TooMany => {
                    self.is_in_step = true;
                    Error::new(ErrorKind::TooLarge, format!("the result has more than {MAX_VALUES} values"))
                }
            })
            .inspect(|_| self.is_in_step = true)
    }

    /// Reads until there are so many bytes. Room is made as they come, whatever was announced.
    async fn fill(&mut self, bytes: &mut Vec<u8>, count: usize) -> Result<(), Error> {
        let mut chunk = vec![0; CHUNK_BYTES];
        while bytes.len() < count {
            let wanted = (count - bytes.len()).min(CHUNK_BYTES);
            let read = self.stream.read(&mut chunk[..wanted]).await?;
            if read == 0 {
                return Err(Error::new(ErrorKind::Unavailable, "MongoDB closed the connection"));
            }
            bytes.extend_from_slice(&chunk[..read]);
        }
        Ok(())
    }
}

fn strange(message: &str) -> Error {
    Error::new(ErrorKind::Protocol, message)
}
