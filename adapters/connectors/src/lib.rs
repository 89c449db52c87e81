//! The drivers: one file each over the core's ports, and no host code.
//!
//! A driver takes a [`Connection`](millrace_core::ports::Connection) and is a
//! [`Connector`](millrace_core::ports::Connector). Each is a Cargo feature, so that a host builds the ones that it can run:
//!
//! | driver | feature | where |
//! |---|---|---|
//! | [`sqlite`] | `sqlite`, on by default | native hosts: it needs files and a C compiler |

#[cfg(feature = "sqlite")]
pub mod sqlite;
