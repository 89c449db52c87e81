//! Whether a statement keeps to the caller's tenant: every table with the tenant's column is
//! restricted to the caller's claim wherever the statement names it, and every row that it writes
//! gets the claim.
//!
//! The resolved statement is judged, once for every name and keyword that a caller can choose. What
//! is not understood is refused: the judgement never says that a statement keeps to the tenant
//! because it saw nothing.

use std::ops::Range;

use millrace_core::app::{Bind, Part, Piece, Source};

use super::{
    dialect::Dialect,
    lower::{Fragment, LoweredStatement, texts_of},
    probe,
    problem::error,
    resolved::{Known, resolve},
    shown::{self, Location},
    tokens::Tokens,
};
use crate::Problem;

mod analyzer;
mod block;
mod rule;
mod script;
mod written;

use analyzer::{Analyzer, Finding};
use rule::OPT_OUT;
pub use rule::{TenantRule, TenantTables};
pub(crate) use script::judge_script;

/// The most statements that callers can make of one by choosing names and keywords.
const MAX_CHOICES: usize = 256;

/// Why a statement could cross tenants, in order. Empty: it keeps to the caller's.
pub(super) fn check(tokens: &Tokens<'_>, lowered: &LoweredStatement, dialect: Dialect, rule: &TenantRule) -> Vec<Problem> {
    let fragments = &lowered.fragments;
    let whole = tokens.all.first().map_or(0, |token| token.range.start)..tokens.all.last().map_or(0, |token| token.range.end);
    let whole = tokens.masked.place(whole);
    if let Some(raw) = fragments.iter().position(|fragment| matches!(fragment, Fragment::Env(_))) {
        let message = "the build cannot tell whether the statement keeps to the caller's tenant: the text of a variable can be anything";
        let help = format!("Write the text out, {OPT_OUT}.");
        return vec![error(place_of(tokens, lowered, raw).unwrap_or(whole), message.to_owned(), &help)];
    }
    if let Some(list) = fragments.iter().position(|fragment| matches!(fragment, Fragment::Choice { part: Part::ChoiceEach { .. }, .. }))
        && !is_outermost(tokens, lowered, list)
    {
        let message =
            "the build cannot tell whether the statement keeps to the caller's tenant: a list of names changes which column is which";
        let help = format!("Name columns by a list only in the outermost query of a statement that begins with `SELECT`, {OPT_OUT}.");
        return vec![error(place_of(tokens, lowered, list).unwrap_or(whole), message.to_owned(), &help)];
    }
    let judged = probe::with_stack(fragments.len(), || judge(fragments, dialect, rule));
    let mut problems: Vec<Problem> = Vec::new();
    for Judged { fragment, message, help } in judged.unwrap_or_else(|| vec![Judged::unknown("it is too long")]) {
        let place = fragment.and_then(|fragment| place_of(tokens, lowered, fragment)).unwrap_or_else(|| whole.clone());
        let problem = error(place, message, &help);
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

/// Whether a fragment stands in no parentheses of a statement that begins with `SELECT`: what it
/// selects is renamed by nothing.
fn is_outermost(tokens: &Tokens<'_>, lowered: &LoweredStatement, fragment: usize) -> bool {
    let token = lowered.starts.partition_point(|&start| start <= fragment).checked_sub(1);
    let first = tokens.significant().find(|&token| !tokens.is_sign(Some(token), b';'));
    tokens.is_word(first, "SELECT") && token.is_some_and(|token| tokens.opening(token).is_none())
}

/// The author's bytes behind a fragment.
fn place_of(tokens: &Tokens<'_>, lowered: &LoweredStatement, fragment: usize) -> Option<Range<usize>> {
    if let Fragment::Slot { slot, .. } = &lowered.fragments[fragment] {
        return Some(slot.place.clone());
    }
    let token = lowered.starts.partition_point(|&start| start <= fragment).checked_sub(1)?;
    Some(tokens.masked.place(tokens.all.get(token)?.range.clone()))
}

/// A [`Finding`] at the fragment that it is about.
struct Judged {
    fragment: Option<usize>,
    message: String,
    help: String,
}

impl Judged {
    fn unknown(why: &str) -> Self {
        let message = format!("the build cannot tell whether the statement keeps to the caller's tenant: {why}");
        Self { fragment: None, message, help: format!("Write the statement in another way, {OPT_OUT}.") }
    }
}

/// Judges every statement that a caller can make of this one by choosing names and keywords.
fn judge(fragments: &[Fragment], dialect: Dialect, rule: &TenantRule) -> Vec<Judged> {
    let choices: Vec<Vec<String>> = fragments
        .iter()
        .filter_map(|fragment| match fragment {
            Fragment::Choice { part, .. } => Some(texts_of(part)),
            _ => None,
        })
        .collect();
    let count = choices.iter().try_fold(1_usize, |count, options| count.checked_mul(options.len()));
    let Some(count) = count.filter(|count| *count <= MAX_CHOICES) else {
        return vec![Judged::unknown(&format!(
            "its callers can make more than {MAX_CHOICES} statements of it by `| ident` and `| keyword`"
        ))];
    };
    let claims: Vec<bool> = fragments
        .iter()
        .filter_map(|fragment| match fragment {
            Fragment::Slot { part, .. } => Some(is_claim(part, &rule.claim)),
            _ => None,
        })
        .collect();
    for number in 0..count {
        let mut rest = number;
        let chosen: Vec<&str> = choices
            .iter()
            .map(|options| {
                let option = &options[rest % options.len()];
                rest /= options.len();
                option.as_str()
            })
            .collect();
        let found = judge_one(fragments, &chosen, &claims, dialect, rule);
        // The others say the same, or follow from it.
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn judge_one(fragments: &[Fragment], chosen: &[&str], claims: &[bool], dialect: Dialect, rule: &TenantRule) -> Vec<Judged> {
    let (text, starts) = probe::write_chosen(fragments, chosen, dialect);
    let statements = match shown::parse(&text, dialect) {
        Ok(statements) => statements,
        Err((why, _)) => return vec![Judged::unknown(&why)],
    };
    let [statement] = statements.as_slice() else { return vec![Judged::unknown("it is not one statement")] };
    let resolved = resolve(statement, dialect, &Known::default(), false);
    let found = Analyzer::new(rule, dialect, claims).judge(&resolved);
    let fragment_at = |at: Location| starts.partition_point(|&start| start <= at).checked_sub(1);
    found.into_iter().map(|Finding { at, message, help }| Judged { fragment: at.and_then(fragment_at), message, help }).collect()
}

/// Whether a value is the claim and nothing else.
fn is_claim(part: &Part, claim: &Source) -> bool {
    match part {
        Part::Bind(Bind::Value { source, .. }) => source == claim,
        Part::Bind(Bind::Composed(pieces)) => matches!(pieces.as_slice(), [Piece::Source(source)] if source == claim),
        _ => false,
    }
}
