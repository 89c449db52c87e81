//! The Cloudflare Worker: fetch event ↔ core.
//!
//! The runtime holds no app. The entry module (`entry.mjs`) hands over the bundle when the isolate
//! starts (`start`), then each request (`handle`). What the core asks of the outside is one file a
//! port. JavaScript does what is JavaScript's: reading a body up to its limit, `fetch`, and the
//! call of D1 (`glue.js`); each crosses the border once in and once out.
//!
//! Between requests an isolate keeps its decoded app, ready script engine, cache, and what waits to
//! be sent to a collector of traces; nothing else of a request.
//!
//! # What differs from the other hosts
//! The clock moves only with input and output, and between slices of a script. Behind an `await`, a
//! script that only computes is ended by its loop limit, and by the platform's CPU limit. `Headers`
//! of the platform join repeated fields with a comma, so a field that stands twice cannot be told
//! from a list.
#![cfg(target_arch = "wasm32")]

mod cache;
mod clock;
mod connectors;
mod current;
mod d1;
#[cfg(feature = "databases")]
mod dialer;
mod env;
mod event;
mod glue;
mod http_client;
#[cfg(feature = "databases")]
mod hyperdrive;
mod isolate;
mod logging;
mod random;
mod scripts;
mod secrets;
mod signatures;
mod state;
mod telemetry;
mod timer;
mod wait_until;

pub use event::{body_limit, cancel, handle, pump};
pub use isolate::start;
