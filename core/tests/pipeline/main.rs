//! The pipeline with an outside in memory: what each stage does, what it asks of the ports, and how
//! it fails.
#![allow(missing_docs, unreachable_pub, reason = "nobody else sees these items")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "what fakes and helpers cannot do fails the test")]
#![allow(clippy::type_complexity, clippy::result_large_err, reason = "tables of cases name their types once")]

mod authenticate;
mod cache;
mod change;
mod credentials;
mod execute;
mod fakes;
mod faults;
mod freshness;
mod guards;
mod host;
mod http;
mod observer;
mod once;
mod results;
mod secrets;
mod signal;
mod stored_secrets;
mod validate;
