//! The language of a file, by its name.

use std::path::Path;

use oxc::span::SourceType;

/// What the parser has to expect of a file.
pub(super) fn source_type(path: &Path) -> SourceType {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("ts" | "mts" | "cts") => SourceType::ts(),
        Some("tsx") => SourceType::tsx(),
        Some("jsx") => SourceType::jsx(),
        _ => SourceType::mjs(),
    }
}
