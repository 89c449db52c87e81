//! The tool `search`: the tools that a query speaks of, best first.
//!
//! A tool is found by the words of the query that it has, whole or as a beginning (`order` finds
//! `ordering`, and the other way round); the weights are the index's. Among equals the order is
//! that of the names. A tool whose authentication refuses this caller is left out; where only a
//! script could tell, the tool is shown with `"auth": "script"`; under `tools.visible: callable`
//! the script is asked.

use alloc::{string::String, vec::Vec};
use core::{cmp::Reverse, fmt::Write as _};

use crate::pipeline::call::{gateway, run::Run};
use crate::{
    Json,
    app::{Auth, SearchIndex, words},
    sort::{sort, sort_by},
};

/// A beginning must have this many bytes to count.
const SHORTEST_BEGINNING: usize = 3;
/// How much a whole word counts in relation to a beginning.
const WHOLE: u64 = 4;

/// `{ "tools": […], "total": n }`, as JSON text: the entries of `tools/list` of the best, and how
/// many there are in all.
pub(super) async fn search(run: &Run<'_>, index: &SearchIndex, inputs: &Json) -> String {
    let query = inputs["query"].as_str().unwrap_or_default();
    let limit = inputs["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let callable = run.pipeline.app.authorization.lists_callable.then(|| run.pipeline.callable(run.caller()));
    let mut text = String::from("{\"tools\":[");
    let (mut found, mut total) = (0_usize, 0_usize);
    for place in rank(index, run.pipeline.app.tools.len(), query) {
        let Some(tool) = run.pipeline.app.tools.get(place) else { continue };
        let admitted = gateway::is_shown(run.pipeline, callable.as_ref(), run.headers, tool).await;
        if admitted == Some(false) {
            continue;
        }
        total += 1;
        if found < limit {
            if found > 0 {
                text.push(',');
            }
            found += 1;
            // A descriptor is an object that the bundler wrote.
            match (admitted, tool.descriptor.strip_suffix('}')) {
                (None, Some(open)) => {
                    let mut entries = tool.auth.iter().flat_map(Auth::entries);
                    let has_script = entries.any(|entry| matches!(entry, Auth::Script { .. }));
                    text.push_str(open);
                    text.push_str(if has_script { ",\"auth\":\"script\"}" } else { ",\"auth\":\"token\"}" });
                }
                _ => text.push_str(&tool.descriptor),
            }
        }
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "],\"total\":{total}}}");
    text
}

/// The places of the tools that have a word of the query, best first.
fn rank(index: &SearchIndex, tools: usize, query: &str) -> Vec<usize> {
    let mut scores = alloc::vec![0_u64; tools];
    let mut asked = words(query);
    sort(&mut asked);
    asked.dedup();
    for word in &asked {
        // Of all that a word finds in a tool, the best counts.
        let mut best = alloc::vec![0_u64; tools];
        for indexed in &index.words {
            let factor = likeness(word, &indexed.word);
            if factor == 0 {
                continue;
            }
            for (tool, weight) in &indexed.tools {
                if let Some(score) = best.get_mut(*tool as usize) {
                    *score = (*score).max(factor * u64::from(*weight));
                }
            }
        }
        scores.iter_mut().zip(best).for_each(|(score, best)| *score += best);
    }
    let mut places: Vec<usize> = (0..tools).filter(|place| scores[*place] > 0).collect();
    sort_by(&mut places, |a, b| (Reverse(scores[*a]), a).cmp(&(Reverse(scores[*b]), b)));
    places
}

fn likeness(asked: &str, indexed: &str) -> u64 {
    let begins = |long: &str, short: &str| short.len() >= SHORTEST_BEGINNING && long.starts_with(short);
    match () {
        () if asked == indexed => WHOLE,
        () if begins(indexed, asked) || begins(asked, indexed) => 1,
        () => 0,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::app::IndexedWord;

    #[test]
    fn the_best_comes_first() {
        let word = |word: &str, tools: &[(u32, u32)]| IndexedWord { word: word.into(), tools: tools.into() };
        let index = SearchIndex {
            words: vec![
                word("cancel", &[(2, 900)]),
                word("invoice", &[(0, 800), (3, 800)]),
                word("invoiced", &[(1, 1000)]),
                word("order", &[(2, 300), (3, 100)]),
            ],
        };
        for (query, expected) in [
            ("invoices", vec![0, 3, 1]),
            ("the invoice of an order", vec![3, 0, 2, 1]),
            ("cancellation", vec![2]),
            ("inv", vec![1, 0, 3]),
            ("or", vec![]),
            ("", vec![]),
            ("nothing like it", vec![]),
        ] {
            assert_eq!(rank(&index, 4, query), expected, "{query}");
        }
    }
}
