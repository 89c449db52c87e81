//! Tabs that separate a key from its value: YAML takes them, and the parser does not where the
//! value begins with a letter.

use std::borrow::Cow;

use saphyr_parser::Parser;

/// What the parser says of such a tab. It then stands at the value.
const REJECTED: &str = "':' must be followed by a valid YAML whitespace";

/// The most tabs of a file: each is a look at all of it.
const MAX_TABS: usize = 1000;

/// The text with spaces for these tabs, every character at its place.
pub(super) fn spaced(text: &str) -> Cow<'_, str> {
    let mut spaced = Cow::Borrowed(text);
    if !text.contains(":\t") {
        return spaced;
    }
    for _ in 0..MAX_TABS {
        let error = Parser::new_from_str(&spaced).find_map(Result::err);
        let Some(at) = error.filter(|error| error.info() == REJECTED).map(|error| error.marker().index()) else { break };
        let at = spaced.char_indices().nth(at).map_or(spaced.len(), |(byte, _)| byte);
        let (before, value) = spaced.split_at(at);
        // The indentation of a list is spaces only.
        let is_list = value.strip_prefix('-').is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n']) || rest.is_empty());
        let start = before.trim_end_matches('\t').len();
        if is_list || start == at {
            break;
        }
        spaced.to_mut().replace_range(start..at, &" ".repeat(at - start));
    }
    spaced
}
