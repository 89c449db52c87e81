//! What the Worker's adapter does beyond the corpus, in real workerd: one app, `tests/worker/app`,
//! with stand-ins in the way of its bindings.

mod d1;
mod disconnect;
mod fetch;
mod http_databases;
pub(crate) mod kit;
mod kv;
mod requests;
