//! Statements for an adapter with a `tenant`: which of them could cross tenants, and where that is
//! said.
//!
//! In the statements of the tables, `{T}` is the claim, `{X}` an input, and what stands between `«`
//! and `»` is what a problem points at.

use std::{collections::BTreeSet, ops::Range};

use millrace_bundler::statement::{Dialect, TenantRule, TenantTables, compile_for_tenant};
use millrace_core::{
    Json,
    app::{Input, InputKind, Literal, Root, Source},
};
use millrace_test_kit::made;

mod app;
mod forms;
mod hostile;
mod removed;

use Dialect::{Postgres, Sqlite};

pub(crate) fn input(name: &str, allowed: &[&str]) -> Input {
    let allowed = allowed.iter().map(|word| Literal(Json::String((*word).to_owned()))).collect();
    Input { allowed, ..made::input(name, InputKind::String) }
}

fn inputs() -> Vec<Input> {
    vec![
        input("x", &[]),
        input("safe", &["countries", "currencies"]),
        input("table", &["countries", "orders"]),
        input("column", &["org_id", "id"]),
        input("word", &["AND", "OR"]),
        input("direction", &["ASC", "DESC"]),
        input("many", &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q"]),
    ]
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The rule of an adapter whose tables are listed.
pub(crate) fn listed() -> TenantRule {
    TenantRule {
        claim: Source { root: Root::Auth, path: vec!["claims".into(), "org".into()] },
        column: "org_id".into(),
        tables: TenantTables::Listed(set(&["orders", "items", "docs", "Sales"])),
        functions: set(&["own_total"]),
    }
}

/// The rule of one that lists what is everyone's.
fn all_but() -> TenantRule {
    TenantRule { tables: TenantTables::AllBut(set(&["countries", "currencies"])), ..listed() }
}

/// A statement without its marks, and what they mark.
fn unmarked(text: &str) -> (String, Vec<Range<usize>>) {
    let text = text.replace("{T}", "{{ auth.claims.org }}").replace("{X}", "{{ inputs.x }}");
    let (mut plain, mut marks, mut start) = (String::new(), Vec::new(), 0);
    for c in text.chars() {
        match c {
            '«' => start = plain.len(),
            '»' => marks.push(start..plain.len()),
            c => plain.push(c),
        }
    }
    (plain, marks)
}

/// The problems of a statement, each as its place and its message.
pub(crate) fn problems(text: &str, dialect: Dialect, rule: &TenantRule) -> Vec<(Range<usize>, String)> {
    match compile_for_tenant(text, dialect, &inputs(), rule) {
        Ok(_) => Vec::new(),
        Err(problems) => problems
            .into_iter()
            .map(|problem| {
                assert!(problem.help.is_some_and(|help| help.ends_with('.') || help.contains('`')), "{text}: no help");
                (problem.range, problem.message)
            })
            .collect(),
    }
}

fn accepted(dialect: Dialect, rule: &TenantRule, statements: &[&str]) {
    let mut wrong = String::new();
    for text in statements {
        let (plain, _) = unmarked(text);
        let found = problems(&plain, dialect, rule);
        if !found.is_empty() {
            wrong.push_str(&format!("{plain}: {found:?}\n"));
        }
    }
    assert_eq!(wrong, "", "{dialect:?}");
}

/// Statements that are refused at their marks, with a message that has these words.
fn refused(dialect: Dialect, rule: &TenantRule, statements: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, words) in statements {
        let (plain, marks) = unmarked(text);
        let found = problems(&plain, dialect, rule);
        let ranges: Vec<Range<usize>> = found.iter().map(|(range, _)| range.clone()).collect();
        let is_right =
            !found.is_empty() && (marks.is_empty() || ranges == marks) && found.iter().any(|(_, message)| message.contains(words));
        if !is_right {
            let places: Vec<&str> = ranges.into_iter().map(|range| &plain[range]).collect();
            wrong.push_str(&format!("{plain}: {places:?}, and not {marks:?} and {words:?}: {found:?}\n"));
        }
    }
    assert_eq!(wrong, "", "{dialect:?}");
}
