//! What the hosts share that run on an operating system: isolates, an HTTP/1.1 server over them,
//! and the ports of the core.
//!
//! An **isolate** is one thread with its own app, script engine, connections and in-memory cache.
//! Nothing of the core is shared between isolates, so nothing of it is locked. In the order of the
//! data:
//!
//! - [`listener`]: one socket; hands each connection to the isolate with the fewest.
//! - `shared`: one socket, several processes with an isolate each, which accept by themselves;
//!   `board`: what each says of itself. Unix only.
//! - [`isolate`]: the thread, its runtime, the handler that it answers with and how that is
//!   replaced.
//! - [`server_tls`]: the certificate of a server that speaks TLS, and how that is replaced.
//! - [`http`]: hyper's requests and responses ↔ the core's, the limits of a connection, what
//!   happens at a panic.
//! - [`lines`]: one client on standard input and output instead of HTTP, as the isolate sees it.
//! - [`ports`]: everything an isolate gives the core; the modules after it are one port each.
//!   [`cache`] and [`state`]: which one a variable chose.
//! - [`probe`]: requests that look at a server somebody else runs.
//! - [`logging`]: log lines on standard error; [`telemetry`]: traces to a collector.

#[cfg(unix)]
pub mod board;
pub mod cache;
mod client_stream;
pub mod clock;
mod connection_slot;
pub mod connectors;
mod decoding;
pub mod dialer;
mod disconnected;
pub mod env;
pub mod folder;
pub mod http;
pub mod http_client;
pub mod isolate;
mod ledger;
pub mod lines;
pub mod listener;
pub mod logging;
pub mod names;
mod outgoing;
pub mod ports;
pub mod probe;
pub mod random;
pub mod secrets;
pub mod server_tls;
#[cfg(unix)]
pub mod shared_listener;
pub mod signatures;
pub mod state;
pub mod telemetry;
mod tls;
pub mod wait_until;

pub use millrace_caches::memory as memory_cache;
