//! The protocol of Redis, for the connector and the cache: where a server is, a login, and commands with their replies in
//! [RESP2](https://redis.io/docs/latest/develop/reference/protocol-spec/), over the core's port
//! [`Dialer`](millrace_core::ports::Dialer).
//!
//! What a reply means, and what becomes of an error that the server replies with, is for the crate that sent the command.

mod address;
mod connect;
mod exchange;
mod reply;

pub use address::RedisAddress;
pub use connect::{LoginError, connect, is_silent};
pub use exchange::exchange;
pub use reply::{Limits, Reply, ReplyReader};
