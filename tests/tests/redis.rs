//! `connector: redis` and `connector: upstash` against real servers, and against servers that answer as no real one does.

mod app;
mod commands;
mod hostile;
mod life;
mod login;
pub(crate) mod replies;
pub(crate) mod support;
mod upstash;
