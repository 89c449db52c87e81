//! The result of a call, before the protocol writes it.

use alloc::{format, string::String, vec, vec::Vec};

use crate::pipeline::content::json_text::text_of;
use crate::{
    Json,
    fault::{Fault, Severity},
    hidden,
};

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
    /// The call is not over: the caller must answer first. Then there is nothing else.
    pub input: Option<InputRequired>,
}

/// The member of `_meta` with the fields of a fault.
const ERROR_META: &str = "millrace/error";

impl ToolResult {
    /// The result of a call of `tool` that ended with a fault.
    pub(crate) fn failed(tool: &str, fault: &Fault) -> Self {
        let (mut text, mut meta) = (fault.envelope(tool), fault.meta());
        hidden::reveal(&mut text);
        hidden::reveal_json(&mut meta, &[]);
        Self {
            content: vec![ContentBlock::Text(text)],
            is_error: fault.severity != Severity::Warning,
            meta: vec![(ERROR_META.into(), meta)],
            ..Self::default()
        }
    }

    /// Whether the first block is the structured content as text.
    pub(crate) fn is_doubled(&self) -> bool {
        match (&self.structured, self.content.first()) {
            (Some(structured), Some(ContentBlock::Text(text))) => *text == text_of(structured),
            _ => false,
        }
    }
}

/// What a call needs of its caller before it goes on: an `InputRequiredResult`.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    /// `inputRequests`
    pub requests: serde_json::Map<String, Json>,
    /// `requestState`
    pub state: String,
}

/// What stands for a text that is empty: the APIs of some models refuse one.
pub(crate) const EMPTY: &str = "(empty)";

/// One content block.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    /// `{"type": "text"}`, without annotations.
    Text(String),
    /// Any other block, checked, as it is sent.
    Other(serde_json::Map<String, Json>),
}

impl ContentBlock {
    /// The block as a revision of MCP knows it. What it does not know yet becomes text, so that its
    /// clients still read the reply.
    ///
    /// # Errors
    /// The text.
    pub(crate) fn for_version<'b>(
        block: &'b serde_json::Map<String, Json>,
        version: &str,
    ) -> Result<&'b serde_json::Map<String, Json>, String> {
        let member = |name: &str| block.get(name).map(text_of).unwrap_or_default();
        match block.get("type").and_then(Json::as_str) {
            Some("resource_link") if version < "2025-06-18" => Err(format!("{}: {}", member("name"), member("uri"))),
            Some("audio") if version < "2025-03-26" => Err(format!("(audio, {})", member("mimeType"))),
            _ => Ok(block),
        }
    }
}
