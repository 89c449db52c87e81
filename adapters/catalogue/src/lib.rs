//! The connectors, as data: what the bundler and the hosts know of each without its driver.
//!
//! A connector is a row of [`CONNECTORS`]. Whoever asks about one (which options it has, where it
//! runs, what a Worker needs for it) reads its row, so that nothing but the row, the driver, its
//! tests and its documentation is written for another connector.
#![no_std]

mod row;
mod rows;

pub use millrace_languages::Language;
pub use row::{Binding, BindingKind, Connector, Host, NO_HYPERDRIVE, Transactions, WorkerPart, names_hyperdrive};
pub use rows::*;

/// The options of every connector.
pub const COMMON_OPTIONS: [&str; 3] = ["timeout", "max_rows", "read_only"];

/// The connector of a name, as `connector:` of an adapter has it.
#[must_use]
pub fn find(name: &str) -> Option<&'static Connector> {
    CONNECTORS.iter().copied().find(|connector| connector.name == name)
}

/// The connectors that a host can have.
pub fn on(host: Host) -> impl Iterator<Item = &'static Connector> {
    CONNECTORS.iter().copied().filter(move |connector| connector.hosts.contains(&host))
}
