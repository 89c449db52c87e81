//! The protocol of Redis, for the connector and the cache: where a server is, a login, and commands
//! with their replies in [RESP2 and
//! RESP3](https://redis.io/docs/latest/develop/reference/protocol-spec/), over the core's port
//! [`Dialer`](millrace_core::ports::Dialer).
//!
//! A reply is the same in both versions: one of RESP3 is read as what the server has for a client
//! of RESP2. Only some commands reply with lists that are nested otherwise; who sends them takes
//! both.
//!
//! What a reply means, and what becomes of an error that the server replies with, is for the crate
//! that sent the command.

mod address;
mod connect;
mod exchange;
mod reply;
mod shared_link;

pub use address::{RedisAddress, Version};
pub use connect::{KnownServer, Link, LoginError, REDIS_SERVER, Use, connect, is_silent};
pub use reply::{Limits, Protocol, Reply, ReplyReader};
pub use shared_link::{SharedFailure, SharedLink};
