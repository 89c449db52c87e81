//! Blocks that a handler builds with `response()`, as its text shows them.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::table::Construct;

/// Every block that a client may drop: where the method is named, and why. `has_data`: the tool
/// declares structured content.
pub(super) fn find(script: &str, has_data: bool) -> Vec<(Range<usize>, Construct)> {
    static METHOD: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\.\s*(text|image|audio|resource|resourceLink|ui|hint|rule|suggest)\s*\(").ok());
    let Some(method) = METHOD.as_ref() else { return Vec::new() };
    // Only who imports `response` builds blocks; the methods have names that others have, too.
    if !script.contains("response(") || !(script.contains("\"millrace\"") || script.contains("'millrace'")) {
        return Vec::new();
    }
    let has_data = has_data || script.contains(".structured(");
    let mut found = Vec::new();
    for captures in method.captures_iter(script) {
        let Some(name) = captures.get(1) else { continue };
        let line = script[..name.start()].rfind('\n').map_or(0, |at| at + 1);
        let before = script[line..name.start()].trim_start();
        // `(await answer.text())` and a comment build nothing.
        let is_reading = name.as_str() == "text" && script[name.end()..].trim_start_matches(['(', ' ']).starts_with(')');
        if before.starts_with("//") || before.starts_with('*') || is_reading {
            continue;
        }
        match name.as_str() {
            "audio" => found.push((name.range(), Construct::Audio)),
            "resource" | "resourceLink" => found.push((name.range(), Construct::EmbeddedResource)),
            _ => {}
        }
        if has_data {
            found.push((name.range(), Construct::BesideData));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_where_a_result_is_built() {
        let script = "import { response } from \"millrace\";\nexport default async () => {\n  const read = await (await fetch(u)).text();\n  \
                      // .audio(x)\n  return response({ read }).image(read, \"image/png\").audio(read, \"audio/wav\")\n    .resourceLink({});\n};\n";
        let constructs = |has_data| find(script, has_data).into_iter().map(|(_, construct)| construct).collect::<Vec<_>>();
        assert_eq!(constructs(false), [Construct::Audio, Construct::EmbeddedResource]);
        let (beside, audio, embedded) = (Construct::BesideData, Construct::Audio, Construct::EmbeddedResource);
        assert_eq!(constructs(true), [beside, audio, beside, embedded, beside]);
        assert_eq!(find(&script.replace("\"millrace\"", "\"other\""), true), []);
    }
}
