//! What the Worker's adapter does beyond the corpus, in real workerd: one app, `tests/worker/app`, with stand-ins in the way of its
//! bindings.

#[path = "worker_ports/d1.rs"]
mod d1;
#[path = "worker_ports/disconnect.rs"]
mod disconnect;
#[path = "worker_ports/far.rs"]
mod far;
#[path = "worker_ports/fetch.rs"]
mod fetch;
#[path = "worker_ports/kit.rs"]
mod kit;
#[path = "worker_ports/kv.rs"]
mod kv;
#[path = "worker_ports/requests.rs"]
mod requests;
