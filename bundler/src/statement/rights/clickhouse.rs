//! What the walk has to know of ClickHouse alone: statements that the parser does not take as they
//! are written, functions that read by the names of tables, functions in `FROM`, and columns that
//! are read in part.
//!
//! What is said here of rights is what ClickHouse's engine, version 26.9, demands.

use std::ops::Range;

use millrace_languages::clickhouse::judge;
use millrace_languages::lex::{Kind, Token};

use super::model::{Privilege, Rights};
use crate::statement::{
    Dialect,
    resolved::{Named, named_in},
};

/// What stands for a value that can be a text, which may be empty.
pub(in crate::statement) const TEXT: &str = "\u{e000}";

/// Functions of ClickHouse that need no right, in lower case and sorted: those of the engine,
/// without those that [`resolved`](super::super::resolved) looks at by itself, and without those
/// that need a right of their own.
const FUNCTIONS: &str = include_str!("clickhouse_functions.txt");
/// What can stand behind the name of an aggregate function.
const COMBINATORS: [&str; 15] = [
    "simplestate",
    "ordefault",
    "distinct",
    "resample",
    "foreach",
    "argmax",
    "argmin",
    "ornull",
    "tuple",
    "merge",
    "state",
    "array",
    "null",
    "map",
    "if",
];
/// Functions in `FROM` that need no right.
pub(in crate::statement) const FREE_TABLES: [&str; 8] =
    ["generate_series", "generaterandom", "generateseries", "null", "numbers", "numbers_mt", "primes", "values"];
/// Those that need the right to make temporary tables.
pub(in crate::statement) const TEMPORARY_TABLES: [&str; 4] = ["dictionary", "format", "zeros", "zeros_mt"];
/// Those that read elsewhere, and the source that the right is for.
pub(in crate::statement) const SOURCES: [(&str, &str); 14] = [
    ("azureblobstorage", "AZURE"),
    ("file", "FILE"),
    ("gcs", "S3"),
    ("hdfs", "HDFS"),
    ("jdbc", "JDBC"),
    ("mongodb", "MONGO"),
    ("mysql", "MYSQL"),
    ("odbc", "ODBC"),
    ("postgresql", "POSTGRES"),
    ("redis", "REDIS"),
    ("remote", "REMOTE"),
    ("s3", "S3"),
    ("sqlite", "SQLITE"),
    ("url", "URL"),
];
/// Tables of `system` that everybody may read, whatever the server is set to.
const EVERYBODYS: [&str; 20] = [
    "aggregate_function_combinators",
    "collations",
    "columns",
    "contributors",
    "current_roles",
    "data_type_families",
    "database_engines",
    "databases",
    "enabled_roles",
    "formats",
    "functions",
    "licenses",
    "one",
    "privileges",
    "quota_usage",
    "settings",
    "table_engines",
    "table_functions",
    "tables",
    "time_zones",
];
/// What follows a table that is read with `FINAL`.
const AFTER_FINAL: [&str; 26] = [
    "ALL",
    "ANTI",
    "ANY",
    "ARRAY",
    "ASOF",
    "CROSS",
    "EXCEPT",
    "FULL",
    "GLOBAL",
    "GROUP",
    "HAVING",
    "INNER",
    "INTERSECT",
    "JOIN",
    "LEFT",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "PREWHERE",
    "QUALIFY",
    "RIGHT",
    "SAMPLE",
    "SEMI",
    "SETTINGS",
    "UNION",
    "WHERE",
];

/// Behind which `FINAL` is a name.
const BEFORE_A_NAME: [&str; 16] =
    ["AND", "AS", "BETWEEN", "BY", "DISTINCT", "FROM", "HAVING", "IN", "JOIN", "LIKE", "NOT", "ON", "OR", "PREWHERE", "SELECT", "WHERE"];

/// A statement as the parser takes it, or what it needs where no parser is wanted.
pub(super) enum Prepared {
    /// Its text. `is_mutation`: it is an `ALTER TABLE … UPDATE`, written as an `UPDATE`.
    Text { text: String, is_mutation: bool },
    /// What it needs.
    Rights(Rights),
}

/// Whether everybody may read a table.
pub(in crate::statement) fn is_everybodys(table: &Named) -> bool {
    table.schema.as_deref() == Some("system") && EVERYBODYS.binary_search(&table.name.as_str()).is_ok()
}

/// Whether a function is the server's own and needs no right, as far as its name says.
pub(super) fn is_known(name: &str) -> bool {
    let is_listed = |name: &str| FUNCTIONS.lines().any(|known| known == name);
    let mut rest = name.to_ascii_lowercase();
    loop {
        if is_listed(&rest) {
            return true;
        }
        let Some(shorter) = COMBINATORS.iter().find_map(|combinator| rest.strip_suffix(combinator)) else { return false };
        rest = shorter.to_owned();
    }
}

/// Whether a function of the server's own needs a right, or asks another server.
pub fn needs_more(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["addressto", "ai", "catboost", "demangle"].iter().any(|start| name.starts_with(start)) || name == "file"
}

/// The tokens of a statement that say something.
struct Words<'t> {
    text: &'t str,
    tokens: Vec<&'t Token>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str, tokens: &'t [Token]) -> Self {
        let tokens = tokens.iter().filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment { .. })).collect();
        Self { text, tokens }
    }

    /// A word without quotes.
    fn word(&self, at: usize) -> Option<&'t str> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| &self.text[token.range.clone()])
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.word(at).is_some_and(|found| found.eq_ignore_ascii_case(word))
    }

    fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    /// The name of a table, `t` or `d.t`, and what comes behind it.
    fn name(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let is_name = |at: usize| self.tokens.get(at).is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
        let end = if is_name(at) && self.is_sign(at + 1, b'.') && is_name(at + 2) { at + 2 } else { at };
        is_name(at).then(|| (self.tokens[at].range.start..self.tokens[end].range.end, end + 1))
    }

    /// The only table of a statement, behind which there is nothing.
    fn only(&self, at: usize) -> Option<Named> {
        let (range, next) = self.name(at)?;
        let is_end = self.tokens.len() == next || (self.is_sign(next, b';') && self.tokens.len() == next + 1);
        named_in(&self.text[range], Dialect::ClickHouse).filter(|_| is_end)
    }

    /// Whether a word is the `FINAL` behind a table in `FROM`.
    fn is_final(&self, at: usize) -> bool {
        let is_behind = at > 0 && (matches!(self.tokens[at - 1].kind, Kind::Word | Kind::Quoted) || self.is_sign(at - 1, b')'));
        let is_before = at + 1 == self.tokens.len()
            || self.is_any(at + 1, &AFTER_FINAL)
            || [b')', b',', b';'].iter().any(|sign| self.is_sign(at + 1, *sign));
        self.is(at, "FINAL") && is_behind && is_before && !self.is_any(at - 1, &BEFORE_A_NAME)
    }

    /// Whether a word says how rows of a join are matched, which changes no right, and which the
    /// parser takes for a name.
    fn is_strictness(&self, at: usize) -> bool {
        let is_first = self.is_any(at + 1, &["JOIN", "INNER", "LEFT", "RIGHT", "FULL"]);
        let is_second = at > 0 && self.is_any(at - 1, &["INNER", "LEFT", "RIGHT", "FULL"]) && self.is_any(at + 1, &["JOIN", "OUTER"]);
        (self.is_any(at, &["ANY", "ALL", "ASOF"]) && (is_first || is_second))
            || (self.is(at, "GLOBAL") && self.is_any(at + 1, &["IN", "NOT"]))
    }

    /// What comes behind `SETTINGS` and its pairs, which need no right and stand where the parser
    /// does not always take them.
    fn behind_settings(&self, at: usize) -> Option<usize> {
        let is_pair = |at: usize| self.word(at).is_some() && self.is_sign(at + 1, b'=');
        if !self.is(at, "SETTINGS") || !is_pair(at + 1) {
            return None;
        }
        let mut next = at + 1;
        loop {
            let value = if self.is_sign(next + 2, b'-') { next + 3 } else { next + 2 };
            let is_plain = matches!(self.tokens.get(value)?.kind, Kind::Word | Kind::Number | Kind::Literal { .. });
            let is_last = !(self.is_sign(value + 1, b',') && is_pair(value + 2));
            match (is_plain, is_last) {
                (false, _) => return None,
                (true, true) => return Some(value + 1),
                (true, false) => next = value + 2,
            }
        }
    }
}

/// A statement that needs one right of one table, which may not be understood.
fn needs(table: Option<Named>, privilege: &'static str) -> Rights {
    let Some(table) = table else { return Rights::unclear("the name of a table is not written out, or is not understood") };
    let mut rights = Rights::default();
    rights.need(&table, Privilege::Other(privilege)).all = true;
    rights
}

/// The rights of a statement that its first words decide.
fn of_first_words(text: &str, words: &Words<'_>, first: &str) -> Option<Rights> {
    let behind = |at: usize, word: &str, words_of_it: usize| if words.is(at, word) { at + words_of_it } else { at };
    let rights = match first {
        "DESC" | "DESCRIBE" => {
            let at = behind(1, "TABLE", 1);
            if words.is_sign(at, b'(') {
                return None;
            }
            needs(words.only(at), "SHOW COLUMNS")
        }
        "EXISTS" if words.is_any(1, &["TABLE", "VIEW"]) => needs(words.only(2), "SHOW TABLES"),
        "EXISTS" if !words.is_any(1, &["TEMPORARY", "DICTIONARY", "DATABASE"]) => needs(words.only(1), "SHOW TABLES"),
        "SHOW" if words.is(1, "CREATE") && !words.is_any(2, &["DICTIONARY", "DATABASE", "TEMPORARY"]) => {
            let at = if words.is_any(2, &["TABLE", "VIEW"]) { 3 } else { 2 };
            needs(words.only(at), "SHOW COLUMNS")
        }
        "SHOW" => Rights::unclear("it shows only what its user may see: grant that by hand"),
        "OPTIMIZE" => {
            let table = words.name(2).and_then(|(range, _)| named_in(&text[range], Dialect::ClickHouse));
            needs(table.filter(|_| words.is(1, "TABLE")), "OPTIMIZE")
        }
        "TRUNCATE" => needs(words.only(behind(behind(1, "TABLE", 1), "IF", 2)), "TRUNCATE"),
        _ => return None,
    };
    Some(rights)
}

/// What of a statement the parser is shown.
#[derive(Default)]
struct Shown {
    /// Where its text begins.
    start: usize,
    is_mutation: bool,
    /// What stands for some words.
    instead: Vec<(usize, &'static str)>,
}

impl Shown {
    fn of(words: &Words<'_>, first: &str) -> Result<Self, &'static str> {
        match first {
            "DESC" | "DESCRIBE" => Ok(Self { start: if words.is(1, "TABLE") { 2 } else { 1 }, ..Self::default() }),
            "EXPLAIN" => {
                let queries = ["SELECT", "WITH", "INSERT", "FROM"];
                let is_query = |at: &usize| words.is_any(*at, &queries) || words.is_sign(*at, b'(');
                let start = (1..words.tokens.len()).find(is_query).ok_or("what is explained is not understood")?;
                Ok(Self { start, ..Self::default() })
            }
            "ALTER" if words.is(1, "TABLE") => {
                let (_, next) = words.name(2).ok_or("the name of a table is not written out, or is not understood")?;
                if words.is(next, "DELETE") {
                    Ok(Self { instead: vec![(0, "DELETE"), (1, "FROM"), (next, "")], ..Self::default() })
                } else if words.is(next, "UPDATE") {
                    Ok(Self { is_mutation: true, instead: vec![(0, "UPDATE"), (1, ""), (next, "SET")], ..Self::default() })
                } else {
                    Err("what `ALTER …` needs: grant it by hand")
                }
            }
            _ => Ok(Self::default()),
        }
    }
}

/// Makes of a statement of ClickHouse one that the parser takes.
pub(super) fn prepare(text: &str, tokens: &[Token]) -> Prepared {
    let unclear = |why: &str| Prepared::Rights(Rights::unclear(why));
    let Ok(judged) = judge(text) else { return unclear("connector `clickhouse` does not send it") };
    let words = Words::new(text, tokens);
    let first = words.word(0).unwrap_or_default().to_ascii_uppercase();
    if let Some(rights) = of_first_words(text, &words, &first) {
        return Prepared::Rights(rights);
    }
    let Shown { start, is_mutation, instead } = match Shown::of(&words, &first) {
        Ok(shown) => shown,
        Err(why) => return unclear(why),
    };
    let mut out = String::with_capacity(text.len());
    let mut settings_until = 0;
    for at in start..words.tokens.len() {
        settings_until = words.behind_settings(at).unwrap_or(settings_until);
        if at < settings_until {
            out.push(' ');
            continue;
        }
        let token = words.tokens[at];
        let range = token.range.clone();
        let piece = match instead.iter().find(|(of, _)| *of == at) {
            Some((_, piece)) => (*piece).to_owned(),
            None if token.kind == Kind::Word && (words.is_final(at) || words.is_strictness(at)) => String::new(),
            None if token.kind == Kind::Parameter => {
                let kind = judged.parameters.iter().find(|parameter| range.contains(&parameter.range.start)).map_or("", |found| found.kind);
                if kind.contains("String") { format!("'{TEXT}'") } else { "?".to_owned() }
            }
            None => text[range].to_owned(),
        };
        // Signs such as `::` and `->` stay together.
        let is_apart = at > start && words.tokens[at - 1].range.end < token.range.start;
        if is_apart || piece.is_empty() {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    Prepared::Text { text: out, is_mutation }
}

/// The right to look something up in a dictionary.
pub const DICTIONARY: &str = "dictGet";

/// Why the name after `IN` is not understood.
pub(in crate::statement) const IN_A_NAME: &str = "whether the name after `IN` is that of a table: write `IN (SELECT … FROM …)`";
