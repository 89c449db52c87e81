//! SQLite's SQL: SQLite, libSQL, D1.

use alloc::borrow::ToOwned as _;

use millrace_core::app::ParamStyle;

#[cfg(feature = "parser")]
use crate::Resolution;
use crate::{
    Facts, Judge, Lists,
    facts::doubled,
    lex::{self, Kind},
    postgres,
    tokens::Tokens,
    words::RESERVED,
};

mod judge;
mod lexicon;
#[cfg(feature = "parser")]
mod plan;
pub mod pragma;
pub mod token;

pub use judge::{Judged, judge};
pub use lexicon::Sqlite;

/// What is true of it.
pub const FACTS: Facts = Facts {
    name: "SQLite",
    style: ParamStyle::NumberedQuestion,
    max_values: 32_766,
    lex: lex::cut::<Sqlite>,
    #[cfg(feature = "parser")]
    parser: &sqlparser::dialect::SQLiteDialect {},
    has_backslashes: false,
    // It has none.
    unescape: postgres::unescape,
    unquoted: doubled,
    typed_literal: |_| None,
    instead_of_typed_literals: Some("use a function: `date({{ inputs.day }})`, `datetime('now', '+' || {{ inputs.n }} || ' days')`"),
    has_zoned_literals: false,
    has_introducers: false,
    instead_of_text_document: "build it with `json_object('key', {{ inputs.x }})` or `json_array(…)`, which escape it",
    advised_quote: '"',
    folds_names: false,
    keeps_capitals: true,
    ignores_capitals: true,
    takes_names_for_texts: true,
    reserved: RESERVED,
    lists: Lists::Spread,
    has_bracketed_lists: false,
    finds_types: false,
    parameter_type: |_| "text",
    declares_types: false,
    empty: |_, _| "SELECT NULL WHERE 0".to_owned(),
    fusing_signs: &["@", ":"],
    why_not_textual: None,
    judge: Judge::Parser,
    surely_reads,
    has_merge: true,
    refusal: |text, _| judge(text).err(),
    takes_no_values: |word, _| ["ALTER", "PRAGMA"].contains(&word),
    spelling,
    blank: " ",
    parts_dashes: false,
    judges_tenants: true,
    takes_audit_rows: true,
    explains_inserts: true,
    rights: None,
    tables_with_column: "SELECT s.name FROM sqlite_master AS s, pragma_table_xinfo(s.name) AS c WHERE s.type IN ('table', 'view') AND lower(c.name) = ?1 ORDER BY 1",
    #[cfg(feature = "parser")]
    plans: Some(&plan::PLANS),
    last_number: Some("last_insert_rowid"),
    has_uniform_transactions: false,
    counts_by_wrapping: false,
    text_type: "text",
    like: "LIKE",
    like_letters: 48,
    computes_limits: true,
    returns_rows: true,
    has_unsigned_numbers: false,
    has_nan: false,
    has_times: false,
    tells_types: false,
    makes_documents: true,
    #[cfg(feature = "parser")]
    resolution: Resolution {
        system_prefix: "sqlite_",
        using_takes_the_leftmost: true,
        conflict_knows_the_row: true,
        calls_tables: true,
        functions_see_tables: false,
        ..Resolution::PLAIN
    },
};

/// In SQLite no clause of a query writes.
fn surely_reads(tokens: &Tokens<'_>, first: usize) -> bool {
    if tokens.is_word(Some(first), "EXPLAIN") {
        return true;
    }
    if tokens.is_word(Some(first), "PRAGMA") {
        return asks_a_pragma(tokens, first);
    }
    selects(tokens, first)
}

/// The name of a `PRAGMA`, and whether it is a mere question.
fn asks_a_pragma(tokens: &Tokens<'_>, first: usize) -> bool {
    let Some(mut name) = tokens.after(first) else { return false };
    if let Some(dot) = tokens.after(name).filter(|&dot| tokens.is_sign(Some(dot), b'.')) {
        let Some(last) = tokens.after(dot) else { return false };
        name = last;
    }
    let has_value = tokens.after(name).is_some_and(|next| !tokens.is_sign(Some(next), b';'));
    pragma::is_question(tokens.text(name).trim_matches(['"', '`', '[', ']', '\'']), has_value)
}

/// Whether SQLite's query begins here: `SELECT`, `VALUES`, or one of them after common table
/// expressions.
fn selects(tokens: &Tokens<'_>, first: usize) -> bool {
    const VERBS: &[&str] = &["SELECT", "VALUES"];
    if tokens.is_any_word(Some(first), VERBS) {
        return true;
    }
    if !tokens.is_word(Some(first), "WITH") {
        return false;
    }
    let mut depth = 0_usize;
    for token in tokens.significant().filter(|&token| token > first) {
        match tokens.kind(token) {
            Some(Kind::Sign(b'(')) => depth += 1,
            Some(Kind::Sign(b')')) => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // The name of an expression may be a verb, too.
            Some(Kind::Word) if tokens.is_word(tokens.after(token), "AS") => {}
            Some(Kind::Word) if tokens.is_any_word(Some(token), VERBS) => return true,
            Some(Kind::Word) if tokens.writes(token) => return false,
            Some(Kind::Mark) => return false,
            _ => {}
        }
    }
    false
}

/// Forms that the parser does not know, in one that it knows and that says the same.
fn spelling(tokens: &Tokens<'_>, at: usize) -> Option<&'static str> {
    if tokens.kind(at) != Some(&Kind::Word) {
        return None;
    }
    let is = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    // SQLite's `IS` compares any two values.
    let compares = |operand: Option<usize>| {
        operand.is_some() && !tokens.is_any_word(operand, &["NOT", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"])
    };
    let (this, before, after) = (Some(at), tokens.before(at), tokens.after(at));
    let earlier = before.and_then(|before| tokens.before(before));
    if is(this, "ISNULL") {
        return Some("IS NULL");
    }
    // `INDEXED BY name` and `NOT INDEXED` after a table.
    let hint = (is(this, "INDEXED") && (is(after, "BY") || is(before, "NOT")))
        || (is(this, "NOT") && is(after, "INDEXED"))
        || (is(this, "BY") && is(before, "INDEXED"))
        || (is(before, "BY") && is(earlier, "INDEXED"));
    if hint || (is(this, "NOT") && is(before, "IS") && compares(after)) {
        return Some(" ");
    }
    // `AS NOT MATERIALIZED (`
    let is_cte = is(this, "MATERIALIZED") && (is(before, "AS") || is(before, "NOT") && is(earlier, "AS"));
    if is_cte && tokens.is_sign(after, b'(') || is(this, "NOT") && is(before, "AS") && is(after, "MATERIALIZED") {
        return Some(" ");
    }
    if tokens.is_any_word(this, &["GLOB", "MATCH", "REGEXP"]) && is(before, "NOT") {
        return Some("LIKE");
    }
    if !is(this, "IS") {
        return None;
    }
    if compares(after) {
        return Some("IS NOT DISTINCT FROM");
    }
    let negated = is(after, "NOT") && compares(after.and_then(|not| tokens.after(not)));
    negated.then_some("IS DISTINCT FROM")
}
