//! What connector `clickhouse` does not send, said when the app is bundled.

use millrace_languages::clickhouse::judge_masked;

use super::{
    lower::{Fragment, LoweredStatement, PlaceholderName},
    masked::MaskedStatement,
    problem::error,
    tokens::Tokens,
};
use crate::Problem;

/// Judges a statement; what is wrong goes to `problems`. Whether it only reads.
pub(super) fn judge(masked: &MaskedStatement<'_>, lowered: &LoweredStatement, tokens: &Tokens<'_>, problems: &mut Vec<Problem>) -> bool {
    // What an operator sets, and what the build wrote, may stand anywhere.
    let callers: Vec<usize> = lowered
        .fragments
        .iter()
        .filter_map(|fragment| match fragment {
            Fragment::Slot { slot, .. } if !matches!(slot.named, PlaceholderName::Variable(_)) => Some(slot.token),
            _ => None,
        })
        .collect();
    let is_callers = |at: usize| callers.iter().any(|&token| tokens.all[token].range.contains(&at));
    match judge_masked(&masked.text, &is_callers) {
        Ok(reads) => reads,
        Err(flaws) => {
            // What is not exactly one statement has been said already, as for every dialect, where
            // it is no matter of this one.
            let is_said = !problems.is_empty();
            let told = flaws
                .into_iter()
                .filter(|flaw| !(is_said && flaw.what.is_of_form()))
                .map(|flaw| error(masked.place(flaw.range), flaw.what.to_string(), &flaw.what.help()));
            problems.extend(told);
            false
        }
    }
}
