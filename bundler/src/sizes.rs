//! How long the answers of an app can be, as data.

/// How long an app's answers can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// `tools/list`: what clients get from 2026-07-28 on, and what they get before.
    pub lists: Vec<ListSize>,
    /// Whether the app has a `budget`: its author wants to know.
    pub has_budget: bool,
    /// The tools by name. `execute`, which answers as other tools do, is not among them.
    pub answers: Vec<AnswerSize>,
}

/// How long `tools/list` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSize {
    /// The newest revision of MCP whose clients get it.
    pub revision: &'static str,
    /// Bytes of the entries.
    pub bytes: u64,
}

/// How long the answers of a tool can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerSize {
    /// The tool's name.
    pub tool: String,
    /// The file that says what the tool gives, below the app's folder.
    pub file: String,
    /// Bytes, as `limits.output` counts them: the text, and the structured content where there is
    /// any.
    pub bytes: u64,
    /// Why it can be as long as `limits.output`: "`[].note` has no `maxLength`". `None` where its
    /// own schema allows less.
    pub open: Option<String>,
}

/// How many tokens so many bytes are, roughly.
#[must_use]
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}
