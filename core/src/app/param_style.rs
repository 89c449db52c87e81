//! How a connector takes values, and what follows from that.

use alloc::string::String;
use core::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Statements that not every database explains.
const NOT_EXPLAINED: [&str; 24] = [
    "ALTER", "ANALYZE", "CALL", "CLUSTER", "COMMENT", "COPY", "CREATE", "DO", "DROP", "EXPLAIN", "GRANT", "LISTEN", "LOCK", "MERGE",
    "NOTIFY", "PRAGMA", "REFRESH", "REINDEX", "RESET", "REVOKE", "SET", "SHOW", "TRUNCATE", "VACUUM",
];
/// Those that ClickHouse neither explains nor reads the syntax of; they only read.
const NOT_EXPLAINED_BY_CLICKHOUSE: [&str; 5] = ["DESC", "DESCRIBE", "EXISTS", "EXPLAIN", "SHOW"];

/// How a connector writes placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamStyle {
    /// `?1`, `?2`: SQLite, libSQL, D1
    NumberedQuestion,
    /// `$1`, `$2`: PostgreSQL
    NumberedDollar,
    /// `?`: MySQL
    Question,
    /// None: each part is one argument of a command, or several where a list is spread. Redis,
    /// Upstash
    Arguments,
    /// None: values are leaves of a document. MongoDB, PostgREST
    Document,
    /// `p1`, `p2`, in braces and with a type that are the statement's text, `{p1:Int64}`:
    /// ClickHouse
    Name,
    /// `?`, and names between `"`: DynamoDB. A list is written out as it is, each value once: equal
    /// keys are refused there.
    PartiQl,
}

/// The form in which a connector takes what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A text with placeholders.
    Text,
    /// A list of arguments.
    Arguments,
    /// A document.
    Document,
}

impl ParamStyle {
    /// The form of what is run.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::Arguments => Form::Arguments,
            Self::Document => Form::Document,
            Self::NumberedQuestion | Self::NumberedDollar | Self::Question | Self::Name | Self::PartiQl => Form::Text,
        }
    }

    /// Appends the `number`th placeholder, from 1, to a text.
    pub fn push_placeholder(self, text: &mut String, number: usize) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::NumberedQuestion => write!(text, "?{number}"),
            Self::NumberedDollar => write!(text, "${number}"),
            // Its braces and its type are text around it.
            Self::Name => write!(text, "p{number}"),
            Self::Question | Self::PartiQl => text.write_char('?'),
            // What is shown of a command or a document.
            Self::Arguments | Self::Document => write!(text, "<{number}>"),
        };
    }

    /// Whether its databases end a text at a NUL character.
    #[must_use]
    pub const fn ends_texts_at_nul(self) -> bool {
        matches!(self, Self::NumberedQuestion | Self::NumberedDollar | Self::Question)
    }

    /// Whether a list has to be written out with each value once, and has one at least.
    #[must_use]
    pub const fn has_lists_of_keys(self) -> bool {
        matches!(self, Self::PartiQl)
    }

    /// Whether the type of a value decides about the type of a column that is made of it.
    #[must_use]
    pub const fn types_columns_by_values(self) -> bool {
        matches!(self, Self::NumberedDollar)
    }

    /// Whether only a transaction may ask for the number that an earlier statement was given.
    #[must_use]
    pub const fn has_numbers_of_transactions(self) -> bool {
        matches!(self, Self::Question)
    }

    /// Whether its databases refuse what writes where they are told that a statement only reads.
    #[must_use]
    pub const fn is_held_to_reading(self) -> bool {
        matches!(self, Self::NumberedDollar | Self::Question)
    }

    /// What explains a statement, which runs nothing; `None` where nothing does.
    #[must_use]
    pub const fn explains(self, writes: bool) -> Option<&'static str> {
        match self {
            // It explains what reads; of anything else it reads the syntax.
            Self::Name if writes => Some("EXPLAIN AST "),
            Self::NumberedQuestion | Self::NumberedDollar | Self::Question | Self::Name => Some("EXPLAIN "),
            Self::Arguments | Self::Document | Self::PartiQl => None,
        }
    }

    /// Whether its databases explain a statement.
    #[must_use]
    pub fn is_explained(self, text: &str) -> bool {
        let first = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let first = first.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let others: &[&str] = if matches!(self, Self::Name) { &NOT_EXPLAINED_BY_CLICKHOUSE } else { &NOT_EXPLAINED };
        // A word that is misspelt is what the database should see.
        !first.is_empty() && !others.iter().any(|word| word.eq_ignore_ascii_case(first))
    }

    /// A name as its databases quote it, each part between dots of its own. `None` where a part is
    /// empty or has a NUL character.
    #[must_use]
    pub fn identifier(self, name: &str) -> Option<String> {
        let mut quoted = String::new();
        for part in name.split('.') {
            if part.is_empty() || part.contains('\0') {
                return None;
            }
            if !quoted.is_empty() {
                quoted.push('.');
            }
            self.push_quoted(&mut quoted, part);
        }
        Some(quoted)
    }

    /// A name that may have dots in it, quoted as a whole.
    #[must_use]
    pub fn quoted(self, name: &str) -> String {
        let mut quoted = String::with_capacity(name.len() + 2);
        self.push_quoted(&mut quoted, name);
        quoted
    }

    fn push_quoted(self, text: &mut String, name: &str) {
        let quote = if matches!(self, Self::Question | Self::Name) { '`' } else { '"' };
        // ClickHouse has escapes in names, too.
        let doubled = |character| character == quote || character == '\\' && self == Self::Name;
        text.push(quote);
        for character in name.chars() {
            text.extend(core::iter::repeat_n(character, if doubled(character) { 2 } else { 1 }));
        }
        text.push(quote);
    }
}
