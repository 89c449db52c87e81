//! The drivers: a module each over the core's ports, and no host code.
//!
//! A driver takes a [`Connection`](millrace_core::ports::Connection) and is a
//! [`Connector`](millrace_core::ports::Connector). What needs more than Rust is a Cargo feature, so
//! that a host builds what it can run:
//!
//! | driver | feature | where |
//! |---|---|---|
//! | [`clickhouse`] | `tcp`, on by default: with it a Worker without sockets would be larger | every host: it speaks HTTP |
//! | [`d1`] | | every host: it speaks HTTP, or takes a Worker's binding |
//! | [`dynamodb`] | `tcp`, on by default: its signatures weigh as much as sockets | every host: it speaks HTTP |
//! | [`libsql`] | | every host: it speaks HTTP |
//! | [`mongodb`] | `tcp`, on by default | every host that has a `Dialer` |
//! | [`mysql`] | `tcp`, on by default | every host that has a `Dialer` |
//! | [`neon`] | `tcp`, on by default: it has the language of [`postgres`] | every host: it speaks HTTP |
//! | [`planetscale`] | `tcp`, on by default: it has the language of [`mysql`] | every host: it speaks HTTP |
//! | [`postgres`] | `tcp`, on by default | every host that has a `Dialer` |
//! | [`postgrest`] | `tcp`, on by default: it has the errors of [`postgres`] | every host: it speaks HTTP |
//! | [`rds_data`] | `tcp`, on by default: it has the language of [`postgres`], and the signatures of [`dynamodb`] | every host: it speaks HTTP |
//! | [`redis`] | `tcp`, on by default | every host that has a `Dialer` |
//! | [`upstash`] | `tcp`, on by default: it has the commands of [`redis`] | every host: it speaks HTTP |
//! | [`sqlite`] | `sqlite`, on by default | native hosts: it needs files and a C compiler |
//!
//! What a connector is called and what else is known of it without its driver is in the crate
//! `millrace-catalogue`; [`open()`] finds the driver of a name.
//!
//! [`shared`], `aws_server`, `documents`, `sqlite_text`, `mysql_text`, `postgres_text` and
//! `redis_commands` are what several drivers need.

#[cfg(feature = "tcp")]
mod aws_server;
#[cfg(feature = "tcp")]
pub mod clickhouse;
pub mod d1;
#[cfg(feature = "tcp")]
mod documents;
#[cfg(feature = "tcp")]
pub mod dynamodb;
#[cfg(feature = "tcp")]
pub mod hyperdrive;
pub mod libsql;
#[cfg(feature = "tcp")]
pub mod mongodb;
#[cfg(feature = "tcp")]
pub mod mysql;
#[cfg(feature = "tcp")]
mod mysql_text;
#[cfg(feature = "tcp")]
pub mod neon;
mod open;
#[cfg(feature = "tcp")]
pub mod planetscale;
#[cfg(feature = "tcp")]
pub mod postgres;
#[cfg(feature = "tcp")]
mod postgres_text;
#[cfg(feature = "tcp")]
pub mod postgrest;
#[cfg(feature = "tcp")]
pub mod rds_data;
#[cfg(feature = "tcp")]
pub mod redis;
#[cfg(feature = "tcp")]
mod redis_commands;
pub mod shared;
#[cfg(feature = "tcp")]
mod sockets;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod sqlite_text;
#[cfg(feature = "tcp")]
pub mod upstash;

pub use open::{DriverPorts, open};
#[cfg(feature = "tcp")]
pub use sockets::{Lifetime, Sockets};
