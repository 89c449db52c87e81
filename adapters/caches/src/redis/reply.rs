//! What the cache takes from a reply: its commands have no others.

use millrace_core::{Error, ErrorKind, Result};
use millrace_redis as redis;

/// What a server replied.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// `OK`
    Done,
    /// A value.
    Value(Vec<u8>),
    /// No value.
    Nothing,
    /// An error: its code and its text, which may quote the command.
    Refused(String),
}

impl Reply {
    /// Takes a reply.
    ///
    /// # Errors
    /// [`Protocol`](ErrorKind::Protocol) for a list or a number.
    pub(super) fn of(reply: redis::Reply) -> Result<Self> {
        match reply {
            redis::Reply::Status(word) if word == "OK" => Ok(Self::Done),
            redis::Reply::Bulk(value) => Ok(Self::Value(value)),
            redis::Reply::Nil => Ok(Self::Nothing),
            redis::Reply::Error(words) => Ok(Self::Refused(words)),
            redis::Reply::Status(_) | redis::Reply::Integer(_) | redis::Reply::List(_) => {
                Err(Error::new(ErrorKind::Protocol, "the Redis server sent the reply to another command"))
            }
        }
    }
}
