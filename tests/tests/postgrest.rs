//! `connector: postgrest` against the real PostgREST over a real PostgreSQL server, and against
//! servers that answer as no real one does.

mod app;
mod build;
mod hostile;
pub(crate) mod life;
mod peer;
mod support;
