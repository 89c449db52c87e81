//! The classes of changes, and how values are shown in what is said of them.

use serde::Serialize;

/// How many characters of a text are repeated.
const SHOWN: usize = 60;

/// What a change means for callers, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeClass {
    /// Every caller goes on as before.
    Compatible,
    /// Callers go on, and models see other words, so that they may do something else.
    Seen,
    /// A caller that relies on what was there can fail.
    Breaks,
}

impl ChangeClass {
    /// Its word: `compatible`, `seen`, `breaks`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compatible => "compatible",
            Self::Seen => "seen",
            Self::Breaks => "breaks",
        }
    }
}

/// A text in quotes, short.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
