//! `connector: redis` and `connector: upstash` against real servers, and against servers that
//! answer as no real one does.

mod app;
mod commands;
mod faults;
pub(crate) mod hostile;
mod life;
pub(crate) mod login;
mod protocols;
pub(crate) mod replies;
mod shared;
pub(crate) mod support;
mod upstash;
