//! The drivers: one file each over the core's ports, and no host code.
//!
//! A driver takes a [`Connection`](millrace_core::ports::Connection) and is a
//! [`Connector`](millrace_core::ports::Connector). What needs more than Rust is a Cargo feature, so that a host builds what it can run:
//!
//! | driver | feature | where |
//! |---|---|---|
//! | [`d1`] | | every host: it speaks HTTP, or takes a Worker's binding |
//! | [`libsql`] | | every host: it speaks HTTP |
//! | [`postgres`] | `tcp`, on by default | every host that has a `Dialer` |
//! | [`sqlite`] | `sqlite`, on by default | native hosts: it needs files and a C compiler |
//!
//! What a connector is called and what else is known of it without its driver is in the crate `millrace-catalogue`; [`open()`] finds the driver
//! of a name.
//!
//! [`shared`] and `sqlite_text` are what several drivers need.
//!
//! Beside them are the caches, each a [`KvCache`](millrace_core::ports::KvCache):
//!
//! | cache | feature | where |
//! |---|---|---|
//! | [`memory_cache`] | `memory-cache`, on by default | every host |
//! | `dynamodb_cache` | `dynamodb-cache` | native hosts |
//! | `redis_cache` | `redis-cache` | native hosts |
//! | `tiered_cache`: memory in front of another | `tiered-cache` | native hosts |

pub mod d1;
#[cfg(feature = "dynamodb-cache")]
pub mod dynamodb_cache;
pub mod libsql;
#[cfg(feature = "memory-cache")]
pub mod memory_cache;
mod open;
#[cfg(feature = "tcp")]
pub mod postgres;
#[cfg(feature = "redis-cache")]
pub mod redis_cache;
pub mod shared;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod sqlite_text;
#[cfg(feature = "tiered-cache")]
pub mod tiered_cache;

#[cfg(feature = "tcp")]
pub use open::Sockets;
pub use open::{DriverPorts, open};
