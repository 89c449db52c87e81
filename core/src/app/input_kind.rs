//! The types of inputs.

use serde::{Deserialize, Serialize};

/// `inputs.*.type`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the words of the app format")]
pub enum InputKind {
    String,
    Int,
    Float,
    Boolean,
    Datetime,
    Date,
    Uuid,
    Array,
    Object,
    Json,
}

impl InputKind {
    /// The word of the app format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Datetime => "datetime",
            Self::Date => "date",
            Self::Uuid => "uuid",
            Self::Array => "array",
            Self::Object => "object",
            Self::Json => "json",
        }
    }
}
