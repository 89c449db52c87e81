//! `context`: what a call knows beside its inputs.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{Literal, Piece, ScriptRef, Source};

/// `context` of a tool: what the root, its folders and the tool itself say, merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextSettings {
    /// What each of them adds, the root first. A later one replaces values of the same name.
    pub layers: Vec<ContextLayer>,
    /// `require`: the values without which no call goes on.
    pub require: Vec<String>,
    /// `headers`: the header fields that scripts and placeholders see, in lower case.
    pub headers: Vec<String>,
    /// `timeout`: how long all factories of a call may take, in milliseconds; `None` where the
    /// call's own limit is all.
    pub timeout_ms: Option<u32>,
}

/// What one file adds to the context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextLayer {
    /// `values`, in declared order.
    pub values: Vec<(String, ValueTemplate)>,
    /// `factory`: a script whose result is merged over them.
    pub factory: Option<ScriptRef>,
}

/// The names in `ctx` that are taken: a value or a script cannot set them.
pub const RESERVED_NAMES: [&str; 9] = ["auth", "request", "env", "signal", "log", "progress", "db", "api", "cache"];

/// Names that are never merged into `ctx`, at any depth: in a script they would reach what all
/// objects share.
pub const PROTOTYPE_NAMES: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// A value of JSON with placeholders in its strings, at any depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueTemplate {
    /// The value; `null` where [`Self::placeholders`] has a string.
    pub value: Literal,
    /// What stands at a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) instead.
    pub placeholders: Vec<(String, ValueText)>,
}

/// A string of a [`ValueTemplate`] that has placeholders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ValueText {
    /// Exactly one placeholder, which keeps the type of its value. An absent value is `null`.
    Whole(Source),
    /// Text with placeholders in it, or a variable of the environment.
    Composed(Vec<Piece>),
}

impl ValueTemplate {
    /// A value without placeholders.
    #[must_use]
    pub const fn literal(value: crate::Json) -> Self {
        Self { value: Literal(value), placeholders: Vec::new() }
    }

    /// The value of one placeholder.
    #[must_use]
    pub fn of(source: Source) -> Self {
        Self { value: Literal(crate::Json::Null), placeholders: alloc::vec![(String::new(), ValueText::Whole(source))] }
    }
}

impl fmt::Display for ValueTemplate {
    /// The value as JSON, with its placeholders as their author wrote them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.value.0.clone();
        for (pointer, text) in &self.placeholders {
            if let Some(place) = shown.pointer_mut(pointer) {
                *place = text.to_string().into();
            }
        }
        match &shown {
            crate::Json::String(text) if !self.placeholders.is_empty() => f.write_str(text),
            other => write!(f, "{other}"),
        }
    }
}

impl fmt::Display for ValueText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(source) => write!(f, "{{{{ {source} }}}}"),
            Self::Composed(pieces) => pieces.iter().try_for_each(|piece| match piece {
                Piece::Text(text) => f.write_str(text),
                Piece::Source(source) => write!(f, "{{{{ {source} }}}}"),
                Piece::Env(name) => write!(f, "{{{{ env.{name} }}}}"),
            }),
        }
    }
}

impl ContextSettings {
    /// The scripts that make part of it.
    pub fn factories(&self) -> impl Iterator<Item = &ScriptRef> {
        self.layers.iter().filter_map(|layer| layer.factory.as_ref())
    }

    /// Every value of every layer.
    pub fn values(&self) -> impl Iterator<Item = &(String, ValueTemplate)> {
        self.layers.iter().flat_map(|layer| &layer.values)
    }

    /// Whether a call can fail by it, or runs a script for it: then it is made even where nothing
    /// looks at it.
    #[must_use]
    pub fn must_be_made(&self) -> bool {
        !self.require.is_empty() || self.factories().next().is_some()
    }
}
