//! The drivers: a module each over the core's ports, and no host code.
//!
//! A driver takes a [`Connection`](millrace_core::ports::Connection) and is a
//! [`Connector`](millrace_core::ports::Connector). Three sets of them are Cargo features, so that a
//! host builds what it can run and an upload of a Worker has what its app needs:
//!
//! | feature | drivers | where they run |
//! |---|---|---|
//! | always | [`d1`], [`libsql`] | every host: they speak HTTP, or take a Worker's binding |
//! | `databases`, on by default | all others but [`sqlite`] | every host, with a `Dialer` where they do not speak HTTP |
//! | `sqlite`, on by default | [`sqlite`] | native hosts: it needs files and a C compiler |
//!
//! What a connector is called and what else is known of it without its driver is in the crate
//! `millrace-catalogue`; [`open()`] finds the driver of a name.
//!
//! [`pools`] says how full the pools of connections are.
//!
//! [`shared`], `aws_server`, `documents`, `sqlite_text`, `mysql_text`, `postgres_text` and
//! `redis_commands` are what several drivers need.

#[cfg(feature = "databases")]
mod aws_server;
#[cfg(feature = "databases")]
pub mod clickhouse;
pub mod d1;
#[cfg(feature = "databases")]
mod documents;
#[cfg(feature = "databases")]
pub mod dynamodb;
#[cfg(feature = "databases")]
pub mod http;
#[cfg(feature = "databases")]
pub mod hyperdrive;
pub mod libsql;
#[cfg(feature = "databases")]
pub mod mongodb;
#[cfg(feature = "databases")]
pub mod mysql;
#[cfg(feature = "databases")]
mod mysql_text;
#[cfg(feature = "databases")]
pub mod neon;
mod open;
#[cfg(feature = "databases")]
pub mod planetscale;
#[cfg(feature = "databases")]
pub mod pools;
#[cfg(feature = "databases")]
pub mod postgres;
#[cfg(feature = "databases")]
mod postgres_text;
#[cfg(feature = "databases")]
pub mod postgrest;
#[cfg(feature = "databases")]
pub mod rds_data;
#[cfg(feature = "databases")]
pub mod redis;
#[cfg(feature = "databases")]
mod redis_commands;
pub mod shared;
#[cfg(feature = "databases")]
mod sockets;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod sqlite_text;
#[cfg(feature = "databases")]
pub mod upstash;

pub use open::{DriverPorts, open};
#[cfg(feature = "databases")]
pub use sockets::{Lifetime, Sockets};
