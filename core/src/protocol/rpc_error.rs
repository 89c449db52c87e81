//! Why a request gets an error of JSON-RPC, and the codes that there are.

use alloc::{boxed::Box, string::String, vec::Vec};

use crate::Json;

pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// Legacy only; the modern era says [`INVALID_PARAMS`].
pub(super) const RESOURCE_NOT_FOUND: i32 = -32002;
pub(super) const HEADER_MISMATCH: i32 = -32020;
pub(super) const UNSUPPORTED_VERSION: i32 = -32022;

/// A JSON-RPC error and its HTTP status.
#[derive(Debug)]
pub(super) struct RpcError {
    pub(super) status: u16,
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Box<Json>>,
    /// A header field that belongs to the status: `WWW-Authenticate`, `Allow`.
    pub(super) field: Option<Box<(&'static str, String)>>,
    /// The whole message, where it is not this error: a result that says the same.
    pub(super) message_body: Option<Vec<u8>>,
}

impl RpcError {
    /// An error with HTTP status 200: with any other, common clients lose the code.
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self::http(200, code, message)
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn http(status: u16, code: i32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), data: None, field: None, message_body: None }
    }

    pub(super) fn with_data(mut self, data: Json) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    pub(super) fn with_field(mut self, name: &'static str, value: String) -> Self {
        self.field = Some(Box::new((name, value)));
        self
    }
}
