//! The language server: the protocol by which editors ask what the bundler knows of an app.
//!
//! One thread answers, and reads nothing but the texts that are open and what the last run of the
//! bundler found; another one runs the bundler, a moment after the last change. So an answer never
//! waits for an app, however large, but for its first run.

mod analysis;
mod answers;
mod apps;
mod documents;
mod queue;
mod server;
mod uris;
mod wire;

pub(crate) use server::serve;
