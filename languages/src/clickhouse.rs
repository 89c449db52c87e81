//! Statements of ClickHouse: what connector `clickhouse` does not send, and which values a
//! statement names.
//!
//! A statement is judged when the app is bundled, with its placeholders in, and again before it is
//! sent. Grammar:
//! <https://clickhouse.com/docs/sql-reference/syntax>.

mod facts;
mod judge;

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use core::{fmt, ops::Range};

pub use facts::{ClickHouse, FACTS};
pub use judge::{judge, judge_masked};

use crate::lex::Unread;

/// Settings that the connector sends with each statement, so that none of its limits and no form of
/// its answers is the statement's to say.
const SENT: [&str; 12] = [
    "cancel_http_readonly_queries_on_client_close",
    "date_time_output_format",
    "default_format",
    "http_write_exception_in_output_format",
    "max_execution_time",
    "max_result_bytes",
    "max_result_rows",
    "readonly",
    "result_overflow_mode",
    "timeout_overflow_mode",
    "wait_end_of_query",
    "http_wait_end_of_query",
];
/// How the names of others begin.
const SENT_FAMILIES: [&str; 2] = ["output_format_", "format_"];

/// Functions that read files, run programs or ask other servers, by how their names begin, in lower
/// case. Where to, their arguments say.
const ELSEWHERE: [&str; 38] = [
    "ai",
    "arrowflight",
    "arrowstream",
    "azureblobstorage",
    "bigquery",
    "catboostevaluate",
    "cluster",
    "cosn",
    "deltalake",
    "dictget",
    "dictionary",
    "executable",
    "file",
    "gcs",
    "hascolumnintable",
    "hdfs",
    "hudi",
    "iceberg",
    "jdbc",
    "joinget",
    "loop",
    "merge",
    "mongodb",
    "mysql",
    "odbc",
    "oss",
    "paimon",
    "postgresql",
    "prometheus",
    "python",
    "redis",
    "remote",
    "s3",
    "sqlite",
    "timeseries",
    "url",
    "viewifpermitted",
    "ytsaurus",
];
/// How the names of functions of another meaning begin.
const NOT_ELSEWHERE: [&str; 2] = ["urlh", "urlp"];
/// Functions of another meaning whose names begin so.
const NOT_ELSEWHERE_WHOLE: [&str; 3] = ["filesystemavailable", "filesystemcapacity", "filesystemunreserved"];

/// Statements that need a session, which a request has not.
const OF_A_SESSION: [&str; 5] = ["BEGIN", "COMMIT", "ROLLBACK", "SET", "USE"];

/// With which words a statement begins that only reads.
const READS: [&str; 9] = ["DESC", "DESCRIBE", "EXISTS", "EXPLAIN", "FROM", "SELECT", "SHOW", "VALUES", "WITH"];
/// What no statement has that only reads.
const WRITES: [&str; 4] = ["DELETE", "INSERT", "INTO", "UPDATE"];

/// What is known of a statement that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged<'a> {
    /// It only reads. What cannot be told counts as a write.
    pub reads: bool,
    /// It is an `EXPLAIN`.
    pub explains: bool,
    /// It is an `INSERT`.
    pub inserts: bool,
    /// The values that it names, in order: `{p1:Int64}`.
    pub parameters: Vec<Parameter<'a>>,
}

/// A value that a statement names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type, as written.
    pub kind: &'a str,
    /// The bytes of the type in the statement.
    pub range: Range<usize>,
}

impl Parameter<'_> {
    /// The number of `p1`, from 1.
    #[must_use]
    pub fn number(&self) -> Option<usize> {
        let digits = self.name.strip_prefix('p').filter(|digits| !digits.starts_with(['0', '+']))?;
        digits.parse().ok()
    }
}

/// Why a statement is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What is wrong.
    pub what: What,
    /// Where, as bytes of the statement.
    pub range: Range<usize>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// There is none.
    Nothing,
    /// A literal, a name or a comment has no end.
    Unclosed(&'static str),
    /// A second statement.
    Second,
    /// `PARALLEL WITH …`
    Parallel,
    /// A statement that needs a session.
    OfSession(String),
    /// `FORMAT …`
    Format,
    /// `INTO OUTFILE …`
    ToFile,
    /// `WITH TOTALS`
    Totals,
    /// `SETTINGS`: a setting that the connector sends.
    Setting(String),
    /// `SETTINGS`: a value of the call.
    SettingValue(String),
    /// A value of the call decides what a function reads, and from where.
    Elsewhere(String),
    /// A name that the statement gives to an expression decides what a function reads, and the
    /// statement has values.
    Alias(String, String),
    /// `eval`, which runs text as a statement, in a statement with values.
    Eval,
    /// `{name:Identifier}`
    Identifier(String),
    /// A curly quote outside of a literal.
    Curly,
    /// It cannot be cut.
    Unread(Unread),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("the query contains no statement"),
            Self::Unclosed(what) => write!(f, "a {what} of the statement is not closed"),
            Self::Second => f.write_str("the query contains more than one statement"),
            Self::OfSession(word) => {
                write!(f, "connector `clickhouse` does not run `{word}`: each of its requests is a session of its own")
            }
            Self::Parallel => f.write_str("`PARALLEL WITH` begins another statement, and a query is one"),
            Self::Format => f.write_str("the statement has a `FORMAT`, and connector `clickhouse` reads answers in its own"),
            Self::ToFile => f.write_str("`INTO OUTFILE` is carried out by ClickHouse's own client, not by its server"),
            Self::Totals => f.write_str("`WITH TOTALS` has rows that are not sent in the format of connector `clickhouse`"),
            Self::Setting(name) => write!(f, "connector `clickhouse` sends the setting `{name}` itself"),
            Self::SettingValue(name) => write!(f, "the setting `{name}` is a value of the call"),
            Self::Elsewhere(name) => {
                write!(f, "a value of the call is among the arguments of `{name}`, which decide what is read, and from where")
            }
            Self::Alias(alias, name) => write!(
                f,
                "`{alias}` is among the arguments of `{name}`, which decide what is read, and from where; the statement, which has values of the \
                 call, also makes it an alias"
            ),
            Self::Eval => f.write_str("`eval` runs text as a statement, and the statement has values of the call"),
            Self::Unread(unread) => f.write_str(&unread.of_statement()),
            Self::Curly => f.write_str("the statement has a curly quote outside of a literal"),
            Self::Identifier(name) => write!(f, "`{{{name}:Identifier}}` would make a value the name of a table or a column"),
        }
    }
}

impl What {
    /// Whether there is not exactly one statement.
    #[must_use]
    pub const fn is_of_form(&self) -> bool {
        matches!(self, Self::Nothing | Self::Unclosed(_) | Self::Second)
    }

    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Cow<'static, str> {
        match self {
            Self::Nothing => "write one statement".into(),
            Self::Unclosed(_) => "close it; a quote inside a literal is written twice".into(),
            Self::Second | Self::Parallel => "a tool runs one statement; make one tool for each".into(),
            Self::OfSession(word) if word == "SET" => "write `SETTINGS name = value` at the end of the statement".into(),
            Self::OfSession(word) if word == "USE" => {
                "name the database in the connection string, or before the table: `shop.orders`".into()
            }
            Self::OfSession(_) => "remove it: connector `clickhouse` has no transactions".into(),
            Self::Format => "remove it; for `INSERT`, write `VALUES ({{ inputs.x }}, …)`".into(),
            Self::ToFile => "remove it".into(),
            Self::Totals => "write `WITH ROLLUP`, or `GROUPING SETS`, which have the totals as rows".into(),
            Self::Setting(name) if name.starts_with("max_") || name.ends_with("_overflow_mode") => {
                "remove it: the limits are the adapter's options `timeout` and `max_rows`".into()
            }
            Self::Setting(name) if name == "readonly" => "remove it: use the adapter's option `read_only`".into(),
            Self::Setting(_) => "remove it".into(),
            Self::SettingValue(_) => "write the value out, or make one tool for each".into(),
            Self::Elsewhere(_) => "write the arguments out, and put the condition with the value into `WHERE`".into(),
            Self::Alias(..) => "write the argument out".into(),
            Self::Eval => "write the expression out".into(),
            Self::Unread(unread) => unread.help().into(),
            Self::Curly => "write `'` around a text, and `\"` around a name".into(),
            Self::Identifier(_) => "write the name out; a tool's statement can choose with `{{ inputs.name | ident }}`".into(),
        }
    }
}

/// Whether a setting is the connector's.
fn is_sent(name: &str) -> bool {
    SENT.contains(&name) || SENT_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Whether a function reads from elsewhere.
fn reads_elsewhere(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    begins(&ELSEWHERE) && !begins(&NOT_ELSEWHERE) && !NOT_ELSEWHERE_WHOLE.contains(&name.as_str())
}

/// A statement's text as far as a message shows it.
fn shown(text: &str) -> String {
    if text.chars().count() > 40 { format!("{}…", text.chars().take(39).collect::<String>()) } else { text.to_string() }
}

#[cfg(test)]
mod tests;
