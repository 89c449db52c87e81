//! Values as a model sees them.

use millrace_core::{Json, hidden::visible};

/// A value whose texts have no hidden characters.
#[must_use]
pub fn shown(value: Json) -> Json {
    match value {
        Json::String(text) => visible(&text).into(),
        Json::Array(elements) => elements.into_iter().map(shown).collect(),
        Json::Object(members) => members.into_iter().map(|(name, member)| (visible(&name).into_owned(), shown(member))).collect(),
        other => other,
    }
}
