//! The endpoint as a client sees it: requests in, status, code and body out.
#![allow(missing_docs, unreachable_pub, reason = "nobody else sees these items")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "what fakes and helpers cannot do fails the test")]

mod batch;
mod fakes;
mod feature_tool;
mod features;
mod malformed;
mod matrix;
mod mirrored;
mod rounds;
mod sign_in;
mod streams;
