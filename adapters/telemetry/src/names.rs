//! Names of attributes: OpenTelemetry's, by its own crate, and ours.
#![expect(
    deprecated,
    reason = "the conventions for GenAI and MCP moved to a repository of their own, which has no crate; the names are the same"
)]

use opentelemetry_semantic_conventions::{attribute, metric};

pub(crate) const METHOD: &str = attribute::MCP_METHOD_NAME;
pub(crate) const PROTOCOL: &str = attribute::MCP_PROTOCOL_VERSION;
pub(crate) const OPERATION: &str = attribute::GEN_AI_OPERATION_NAME;
pub(crate) const TOOL: &str = attribute::GEN_AI_TOOL_NAME;
pub(crate) const ERROR: &str = attribute::ERROR_TYPE;
pub(crate) const HTTP_METHOD: &str = attribute::HTTP_REQUEST_METHOD;
pub(crate) const HTTP_STATUS: &str = attribute::HTTP_RESPONSE_STATUS_CODE;
pub(crate) const URL_TEMPLATE: &str = attribute::URL_TEMPLATE;
pub(crate) const HTTP_ROUTE: &str = attribute::HTTP_ROUTE;
pub(crate) const SYSTEM: &str = attribute::DB_SYSTEM_NAME;
pub(crate) const CACHE_HIT: &str = "millrace.cache.hit";
pub(crate) const ADAPTER: &str = "millrace.adapter";
pub(crate) const STAGE: &str = "millrace.stage";
pub(crate) const OUTCOME: &str = "millrace.outcome";
pub(crate) const SCRIPT: &str = "millrace.script";
pub(crate) const OPERATION_DURATION: &str = metric::MCP_SERVER_OPERATION_DURATION;
pub(crate) const POOL: &str = attribute::DB_CLIENT_CONNECTION_POOL_NAME;
pub(crate) const POOL_STATE: &str = attribute::DB_CLIENT_CONNECTION_STATE;
/// The number of an isolate.
pub(crate) const ISOLATE: &str = "isolate";
