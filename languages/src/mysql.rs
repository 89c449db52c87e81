//! MySQL's SQL: MySQL and MariaDB.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
};

use millrace_core::app::ParamStyle;

#[cfg(feature = "parser")]
use crate::Resolution;
use crate::{
    Facts, Judge, Lists, Rights,
    facts::{About, doubled},
    lex::{self, Kind},
    tokens::Tokens,
    words::Words,
};

mod judge;
mod lexicon;
#[cfg(feature = "parser")]
mod plan;
pub mod token;

use judge::refusal;
pub use judge::{Judged, asks_for_inserted, judge};
pub use lexicon::MySql;

/// Words that MySQL or MariaDB does not take as the name of a table or column everywhere.
const RESERVED: Words = Words::of(include_str!("mysql/reserved.txt"));

/// What is true of it.
pub const FACTS: Facts = Facts {
    name: "MySQL",
    style: ParamStyle::Question,
    max_values: 65_535,
    lex: lex::cut::<MySql>,
    #[cfg(feature = "parser")]
    parser: &sqlparser::dialect::MySqlDialect {},
    has_backslashes: true,
    unescape,
    unquoted: doubled,
    typed_literal: |word| {
        [("DATE", "DATE"), ("TIME", "TIME(6)"), ("TIMESTAMP", "DATETIME(6)")]
            .into_iter()
            .find_map(|(name, cast)| name.eq_ignore_ascii_case(word).then_some(cast))
    },
    instead_of_typed_literals: None,
    has_zoned_literals: false,
    has_introducers: true,
    instead_of_text_document: "build it with `json_object('key', {{ inputs.x }})` or `json_array(…)`, which escape it",
    advised_quote: '`',
    folds_names: false,
    keeps_capitals: true,
    ignores_capitals: false,
    takes_names_for_texts: false,
    reserved: RESERVED,
    lists: Lists::Spread,
    has_bracketed_lists: false,
    finds_types: false,
    parameter_type: |_| "text",
    declares_types: false,
    empty: |_, _| "SELECT NULL FROM DUAL WHERE FALSE".to_owned(),
    fusing_signs: &["@", ":"],
    why_not_textual: None,
    judge: Judge::Parser,
    surely_reads,
    has_merge: false,
    refusal,
    takes_no_values: |word, _| word == "ALTER",
    spelling,
    blank: " ",
    parts_dashes: true,
    judges_tenants: false,
    takes_audit_rows: true,
    explains_inserts: true,
    rights: Some(&RIGHTS),
    tables_with_column: "SELECT DISTINCT table_name FROM information_schema.columns WHERE column_name = ? AND table_schema = DATABASE() ORDER BY 1",
    #[cfg(feature = "parser")]
    plans: Some(&plan::PLANS),
    last_number: None,
    has_uniform_transactions: false,
    counts_by_wrapping: false,
    text_type: "CHAR",
    like: "LIKE",
    like_letters: 100,
    computes_limits: false,
    returns_rows: false,
    has_unsigned_numbers: true,
    has_nan: false,
    has_times: true,
    tells_types: false,
    makes_documents: false,
    #[cfg(feature = "parser")]
    resolution: Resolution {
        tables_keep_case: true,
        is_everybodys,
        aliases_in_expressions: true,
        has_select_modifiers: true,
        writes_several: true,
        returning_inserts: true,
        locks_whole_rows: true,
        words_of_grant: ["UPDATE", "DELETE", "DROP"],
        ..Resolution::PLAIN
    },
};

#[cfg(feature = "parser")]
fn is_everybodys(schema: Option<&str>, name: &str) -> bool {
    schema.map_or(name.eq_ignore_ascii_case("dual"), |schema| schema == "information_schema")
}

/// How a server is asked and told about rights.
static RIGHTS: Rights = Rights {
    questions: &[(COLUMNS, About::Columns), (ROUTINES, About::FoldedRoutines), (VERSION, About::Version)],
    folds_names: true,
    common_schema: None,
    has_schema_rights: false,
    has_engines: false,
    has_open_functions: false,
    has_closed_routines: true,
    is_made_up_table: is_sequence,
    is_of_adapters_database: false,
    account_noun: "the account",
    account,
    quoted: |name| format!("`{}`", name.replace('`', "``")),
    before_columns: " ",
};

const COLUMNS: &str = "SELECT table_schema, table_name, column_name, CAST(table_schema = DATABASE() AS CHAR), '1', '0', \
     CAST(column_key = 'PRI' AS CHAR), NULL, NULL FROM information_schema.columns WHERE JSON_CONTAINS(?, JSON_QUOTE(table_name)) \
     ORDER BY table_schema, table_name, ordinal_position";
const ROUTINES: &str = "SELECT routine_schema, routine_name, NULL, CAST(routine_type = 'PROCEDURE' AS CHAR), '0', '0', \
     CAST(security_type = 'DEFINER' AS CHAR), '1' FROM information_schema.routines WHERE JSON_CONTAINS(?, JSON_QUOTE(LOWER(routine_name))) \
     ORDER BY routine_schema, routine_name";
const VERSION: &str = "SELECT VERSION(), ?";

/// `app`, `app@localhost`
fn account(name: &str) -> String {
    let text = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
    match name.rsplit_once('@') {
        Some((user, host)) => format!("{}@{}", text(user), text(host)),
        None => format!("{}@'%'", text(name)),
    }
}

/// `seq_1_to_10` of MariaDB is a table that is there once it is named.
fn is_sequence(table: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((from, rest)) = table.strip_prefix("seq_").and_then(|rest| rest.split_once("_to_")) else { return false };
    let (to, step) = rest.split_once("_step_").map_or((rest, None), |(to, step)| (to, Some(step)));
    is_number(from) && is_number(to) && step.is_none_or(is_number)
}

/// <https://dev.mysql.com/doc/refman/8.4/en/string-literals.html>
fn unescape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest.get(1..)?.chars().next().filter(|&c| c != '\0')?;
    let unescaped = match escaped {
        '0' => "\0".to_owned(),
        'b' => "\u{8}".to_owned(),
        'n' => "\n".to_owned(),
        'r' => "\r".to_owned(),
        't' => "\t".to_owned(),
        'Z' => "\u{1a}".to_owned(),
        // They stay escaped, for LIKE.
        '%' | '_' => format!("\\{escaped}"),
        other => other.to_string(),
    };
    Some((unescaped, 1 + escaped.len_utf8()))
}

fn surely_reads(tokens: &Tokens<'_>, first: usize) -> bool {
    if tokens.is_any_word(Some(first), &["SHOW", "HELP"]) {
        return true;
    }
    tokens.is_any_word(Some(first), &["DESCRIBE", "DESC"]) && is_name(tokens)
}

/// Whether a name follows, and no statement: `DESCRIBE orders`.
fn is_name(tokens: &Tokens<'_>) -> bool {
    !tokens.significant().any(|token| tokens.is_any_word(Some(token), &["SELECT", "WITH", "ANALYZE", "TABLE"]) || tokens.writes(token))
}

/// The units of an interval that the parser does not know.
const UNITS: [&str; 11] = [
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];

/// Forms that the parser does not know, in one that it knows and that says the same.
fn spelling(tokens: &Tokens<'_>, at: usize) -> Option<&'static str> {
    match tokens.kind(at) {
        Some(Kind::Word) => {}
        // `\N` is `NULL`.
        Some(Kind::Sign(b'\\')) => return null_follows(tokens, at).then_some(" "),
        // `!a` binds as tightly as `-a`.
        Some(Kind::Sign(b'!')) => return (!tokens.is_sign(Some(at + 1), b'=')).then_some(" - "),
        _ => return None,
    }
    let is = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    let (this, before, after) = (Some(at), tokens.before(at), tokens.after(at));
    let earlier = before.and_then(|before| tokens.before(before));
    if before.is_none() && is(this, "TABLE") {
        return Some("SELECT * FROM");
    }
    if tokens.is_sign(before, b'.') {
        return None;
    }
    if at > 0 && tokens.is_sign(Some(at - 1), b'\\') && null_follows(tokens, at - 1) {
        return Some("NULL");
    }
    let word = tokens.text(at).to_ascii_uppercase();
    let is_value = before.is_some_and(|before| {
        matches!(tokens.kind(before), Some(Kind::Literal { .. } | Kind::Number | Kind::Mark | Kind::Sign(b')'))) || is(earlier, "INTERVAL")
    });
    let is_extracted = tokens.is_sign(before, b'(') && is(earlier, "EXTRACT");
    match word.as_str() {
        unit if UNITS.contains(&unit) && (is_value || is_extracted) => Some("DAY"),
        "EXTENDED" | "PARTITIONS" if before.is_some_and(|before| tokens.before(before).is_none()) && is(before, "EXPLAIN") => Some(" "),
        "MOD" if before.is_some_and(|before| ends_operand(tokens, before)) && !ends_item(tokens, after) => Some("%"),
        "TRAILING" if is(after, "FROM") => Some("TRAILING ' '"),
        "LEADING" if is(after, "FROM") => Some("LEADING ' '"),
        "BOTH" if is(after, "FROM") => Some("BOTH ' '"),
        "SOUNDS" if is(after, "LIKE") => Some(" "),
        "USING" if tokens.is_of_call(at, "CHAR") => Some(","),
        _ if is(before, "USING") && tokens.is_of_call(at, "CHAR") => Some("'x'"),
        "CHARACTER" if is(after, "SET") && (tokens.is_of_call(at, "CAST") || tokens.is_of_call(at, "CONVERT")) => Some(" "),
        "SET" if is(before, "CHARACTER") => (tokens.is_of_call(at, "CAST") || tokens.is_of_call(at, "CONVERT")).then_some(" "),
        _ if is(before, "SET") && is(earlier, "CHARACTER") => {
            (tokens.is_of_call(at, "CAST") || tokens.is_of_call(at, "CONVERT")).then_some(" ")
        }
        _ => None,
    }
}

/// Whether MySQL's `\N` begins here.
fn null_follows(tokens: &Tokens<'_>, at: usize) -> bool {
    tokens.kind(at + 1) == Some(&Kind::Word) && tokens.text(at + 1) == "N"
}

/// Whether a value ends with a token: an operator may follow.
fn ends_operand(tokens: &Tokens<'_>, at: usize) -> bool {
    match tokens.kind(at) {
        Some(Kind::Number | Kind::Literal { .. } | Kind::Quoted | Kind::Mark | Kind::Sign(b')')) => true,
        Some(Kind::Word) => {
            !tokens.is_any_word(Some(at), &["SELECT", "DISTINCT", "ALL", "WHERE", "AND", "OR", "NOT", "BY", "ON", "WHEN", "THEN", "ELSE"])
        }
        _ => false,
    }
}

/// Whether an item of a list ends before a token, so that the word before it is a name.
fn ends_item(tokens: &Tokens<'_>, after: Option<usize>) -> bool {
    after.is_none() || tokens.is_word(after, "FROM") || [b',', b')', b';'].into_iter().any(|sign| tokens.is_sign(after, sign))
}
