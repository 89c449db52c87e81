//! A cache, and counters and records, in a Redis server, or one that speaks its protocol (Valkey,
//! ElastiCache), for hosts whose memory does not last.
//!
//! In goes a key and a value, out comes the value while its time is not over, which the server
//! keeps: `GET` and `SET … EX`, under `millrace:` and the key, in RESP3 or RESP2 over the port
//! [`Dialer`].
//!
//! A connection is logged in once and used again. Before that it is looked at: one that the server
//! has closed, or on which something came that nobody asked for, is thrown away. One that breaks
//! under a command that may be sent twice is replaced once. A call that is given up takes its
//! connection along. The cache in front ([`tiered`](crate::tiered)) bounds how long a command
//! takes.
//!
//! # What it refuses
//!
//! A value beyond 4 MiB is not stored, and a line at level `debug` says so. A cluster that sends
//! clients elsewhere (`MOVED`) is an error.
//!
//! Protocol: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

mod redis_error;
mod reply;
mod state;

use std::{cell::RefCell, rc::Rc};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Dialer, KvCache, LocalFuture},
};
use millrace_redis::{KnownServer, Limits, Link, LoginError, Use, connect};

pub use millrace_redis::RedisAddress;
use reply::Reply;

/// The longest value, in bytes.
const LARGEST_VALUE_BYTES: usize = 4 << 20;
/// How long connecting and the TLS handshake may take, in milliseconds.
const CONNECT_MS: u64 = 1000;
/// How many connections are kept for later; several calls of an isolate may be under way at once.
const MOST_IDLE: usize = 4;
/// Before every key: a database may be shared with something else.
const PREFIX: &str = "millrace:";

/// Whether a command may be sent a second time where nobody knows what became of the first.
#[derive(Clone, Copy)]
enum Repeat {
    Allowed,
    Never,
}

/// A database of a server as a cache, and as a store of counters and records.
pub struct RedisStore {
    address: RedisAddress,
    dialer: Rc<dyn Dialer>,
    clock: Rc<dyn Clock>,
    known: KnownServer,
    idle: RefCell<Vec<Link>>,
}

impl RedisStore {
    /// Makes a cache; connects at the first command.
    #[must_use]
    pub fn new(address: RedisAddress, dialer: Rc<dyn Dialer>, clock: Rc<dyn Clock>) -> Self {
        Self { address, dialer, clock, known: KnownServer::default(), idle: RefCell::default() }
    }

    /// Sends a command and reads its reply.
    async fn command(&self, words: &[&[u8]], repeat: Repeat) -> Result<Reply> {
        if let Some(link) = self.still_open().await {
            match self.exchange(link, words).await {
                // The server may have closed it a moment ago.
                Err(error) if error.kind == ErrorKind::Unavailable && matches!(repeat, Repeat::Allowed) => {}
                outcome => return outcome,
            }
        }
        let link = self.connect().await?;
        self.exchange(link, words).await
    }

    /// Sends a command, and keeps the connection where a reply came.
    async fn exchange(&self, mut link: Link, words: &[&[u8]]) -> Result<Reply> {
        let reply = Reply::of(link.exchange(words, Limits { bytes: LARGEST_VALUE_BYTES, lists: false }).await?)?;
        let mut idle = self.idle.borrow_mut();
        if idle.len() < MOST_IDLE {
            idle.push(link);
        }
        Ok(reply)
    }

    /// A connection that was used before and on which the server is silent, as it must be.
    async fn still_open(&self) -> Option<Link> {
        loop {
            let mut link = self.idle.borrow_mut().pop()?;
            if link.is_silent().await {
                return Some(link);
            }
        }
    }

    async fn connect(&self) -> Result<Link> {
        let deadline_ms = self.clock.now_ms().saturating_add(CONNECT_MS);
        connect(&self.address, &self.known, Use::Many, &*self.dialer, deadline_ms).await.map_err(|error| match error {
            LoginError::Failed(error) => error,
            LoginError::Refused(words) => redis_error::of(&self.address.name(), &words),
        })
    }

    /// Takes a reply that must be `OK`.
    fn done(&self, reply: &Reply) -> Result<()> {
        match reply {
            Reply::Done => Ok(()),
            Reply::Refused(words) => Err(redis_error::of(&self.address.name(), words)),
            Reply::Value(_) | Reply::Nothing => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> Error {
        Error::new(ErrorKind::Protocol, format!("{} sent the reply to another command", self.address.name()))
    }
}

impl KvCache for RedisStore {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            match self.command(&[b"GET", format!("{PREFIX}{key}").as_bytes()], Repeat::Allowed).await? {
                Reply::Value(value) => Ok(Some(value)),
                Reply::Nothing => Ok(None),
                Reply::Refused(words) => Err(redis_error::of(&self.address.name(), &words)),
                Reply::Done => Err(self.unexpected()),
            }
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if value.len() > LARGEST_VALUE_BYTES {
                tracing::debug!(bytes = value.len(), limit = LARGEST_VALUE_BYTES, "a result is too large and is not stored in Redis");
                return Ok(());
            }
            let (key, ttl_s) = (format!("{PREFIX}{key}"), ttl_s.max(1).to_string());
            let reply = self.command(&[b"SET", key.as_bytes(), &value, b"EX", ttl_s.as_bytes()], Repeat::Allowed).await?;
            self.done(&reply)
        })
    }
}
