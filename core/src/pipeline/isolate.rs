//! What the calls of an isolate share.

pub(super) mod audit_log;
pub(super) mod connections;
pub(super) mod database;
pub(super) mod deployment;
pub(super) mod epochs;
pub(super) mod gates;
pub(super) mod pings;
pub(super) mod runtime;
pub(super) mod schemas;
mod turns;
pub(super) mod window;
