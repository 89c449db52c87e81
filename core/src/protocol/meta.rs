//! Members of `_meta` that MCP reserves, and the words of one.

/// The caller's revision of MCP.
pub(super) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the caller's client can do.
pub(super) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The caller's client: its name and version.
pub(super) const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// The least level of log messages that the caller wants.
pub(super) const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The levels of `logging/setLevel` and of [`META_LOG_LEVEL`], from the least on.
pub(super) const LOG_LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
