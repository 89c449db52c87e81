//! The core of Millrace: the pipeline of a tool call, the MCP endpoint around it, and the ports it
//! reaches the outside through.
//!
//! The core is a function. A compiled [`app::App`], a [`protocol::Request`] and [`ports::Ports`] go
//! in, a [`protocol::Response`] comes out. It reads no clock, no socket, no file and no variable:
//! what can is a port.
//!
//! The modules, in the order of the data:
//!
//! - [`app`]: the compiled app and its bundle encoding. Holding an `App` means that every check of
//!   the bundler passed.
//! - [`ports`]: what a host implements, one trait a file.
//! - [`protocol`]: bytes ↔ typed MCP requests and results.
//! - [`pipeline`]: the thirteen stages of `tools/call`.
//! - [`schema`]: values against JSON Schema.
//! - [`fault`]: the one error of the pipeline, and its renderings.
//! - [`endpoint`]: an app and ports, ready to answer requests.
//!
//! Beside them are small readers that drivers and hosts share: [`headers`], [`url`]; and
//! [`public_address`], which judges where a request may go. What is said about a call passes
//! [`redaction`], and what is logged [`one_line`]; what a model reads of data, [`hidden`].
#![no_std]

extern crate alloc;

pub mod app;
pub mod audit_chain;
pub mod cancel;
pub mod endpoint;
pub mod error;
pub mod expression;
pub mod fault;
pub mod fetch_url;
pub mod formats;
pub mod headers;
pub mod hex;
pub mod hidden;
mod literal;
pub mod one_line;
mod pattern;
pub mod pipeline;
pub mod platform_caller;
pub mod ports;
pub mod protocol;
pub mod public_address;
pub mod redaction;
pub mod schema;
pub mod secret;
mod sort;
mod stage;
mod strict;
pub mod toon;
pub mod url;
pub mod value;

pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, ErrorParts, Result};
pub use pipeline::{PlanQuestion, StatementPlan};

/// A JSON value as `serde_json` holds it, members in the order they came.
pub use serde_json::Value as Json;
