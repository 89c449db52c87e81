//! What a tool did, on its way to its caller.

use alloc::boxed::Box;

use crate::pipeline::content::AuthoredContent;
use crate::{Json, value::Rows};

/// What the tool did, before and after stage *map output*.
#[derive(Debug)]
pub(in crate::pipeline) enum ToolOutput {
    /// Rows as the connector gave them: written without a detour where nobody looks at them.
    Rows(Rows),
    /// Any other value.
    Value(Json),
    /// A result that a script built.
    Content(Box<AuthoredContent>),
}

impl ToolOutput {
    /// What a connector gave; a document is a value like any other.
    pub(in crate::pipeline) fn of_rows(mut rows: Rows) -> Self {
        match rows.document.take() {
            Some(document) => Self::Value(document),
            None => Self::Rows(rows),
        }
    }

    /// As a result with blocks: the data is the first one.
    pub(in crate::pipeline) fn into_content(self) -> Box<AuthoredContent> {
        let data = match self {
            Self::Content(content) => return content,
            Self::Value(value) => value,
            Self::Rows(rows) => serde_json::to_value(rows.json()).unwrap_or_default(),
        };
        Box::new(AuthoredContent { data: Some(data), ..AuthoredContent::default() })
    }

    /// The data, for those that only look at it.
    pub(in crate::pipeline) fn shown(&self) -> Json {
        match self {
            Self::Rows(rows) => serde_json::to_value(rows.json()).unwrap_or_default(),
            Self::Value(value) => value.clone(),
            // What was presented is structured content.
            Self::Content(content) => content.data.clone().or_else(|| content.structured.clone()).unwrap_or_default(),
        }
    }
}
