//! Tools whose statements Toolbox has by itself: for the types that a file only names.

use std::sync::LazyLock;

use millrace_bundler::yaml_documents;
use millrace_core::Json;
use serde_json::Map;

/// Statements by type, in the form of a configuration.
static TYPES: LazyLock<Map<String, Json>> = LazyLock::new(|| {
    let documents = [include_str!("prebuilt/postgres.yaml"), include_str!("prebuilt/mysql.yaml")];
    let read = documents.into_iter().filter_map(|text| yaml_documents("prebuilt.yaml", text).ok());
    read.flatten().filter_map(|document| if let Json::Object(types) = document { Some(types) } else { None }).flatten().collect()
});

/// The description, the parameters and the statement of a type.
pub(super) fn find(kind: &str) -> Option<&'static Map<String, Json>> {
    TYPES.get(kind).and_then(Json::as_object)
}

/// The types that have a statement.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static String> {
    TYPES.keys()
}
