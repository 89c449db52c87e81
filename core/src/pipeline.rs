//! The thirteen stages of `tools/call`, in order.

use alloc::{rc::Rc, string::String, vec::Vec};

use crate::{Json, app::App, cancel::Cancel, fault::Faulty, headers::Headers, ports::Ports};

/// An app and ports, with what is kept between calls: the index of the tools, open connections, compiled patterns.
pub struct Pipeline {
    app: Rc<App>,
    ports: Ports,
}

/// One `tools/call`.
pub struct Call<'a> {
    /// `params.name`
    pub tool: &'a str,
    /// `params.arguments`; an absent one is an empty object.
    pub arguments: serde_json::Map<String, Json>,
    /// The id of this request in logs, spans and messages.
    pub request_id: &'a str,
    /// Header fields of the HTTP request.
    pub headers: &'a Headers,
    /// The revision of MCP that the caller speaks: `2026-07-28`.
    pub protocol: &'a str,
    /// When the host will end the request, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// Tripped when the caller goes away.
    pub cancel: &'a Cancel,
}

/// What stage *serialize* makes: a `CallToolResult` of any era.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The content blocks, in order.
    pub content: Vec<ContentBlock>,
    /// `structuredContent`
    pub structured: Option<Json>,
    /// `isError`
    pub is_error: bool,
    /// `_meta`, without the protocol's own members.
    pub meta: Vec<(String, Json)>,
}

/// One content block.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    /// `{"type": "text"}`
    Text(String),
}

impl Pipeline {
    /// Makes a pipeline. Opens nothing.
    #[must_use]
    pub fn new(app: Rc<App>, ports: Ports) -> Self {
        Self { app, ports }
    }

    /// The app.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Runs one call through the stages.
    ///
    /// # Errors
    /// A fault that has to be a JSON-RPC error: an unknown tool, a refused caller, or any fault of a tool with
    /// `errors.style: protocol`. Every other fault is a [`ToolResult`] with `is_error`.
    pub async fn call(&self, call: Call<'_>) -> Faulty<ToolResult> {
        let _ = call;
        Ok(ToolResult::default())
    }

    /// Checks that an adapter's database answers; for `/readyz` and `millrace check --connect`.
    ///
    /// # Errors
    /// Whatever the connector reports.
    pub async fn ping(&self, adapter: usize) -> crate::Result<()> {
        let _ = adapter;
        Ok(())
    }
}
