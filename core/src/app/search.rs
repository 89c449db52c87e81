//! The index of the gateway tool `search`: words and the tools that they speak of, weighed when the
//! app is bundled.
//!
//! Words come out of names, descriptions, tags and inputs by [`words`], and out of a query in the
//! same way. The weights are those of [BM25](https://en.wikipedia.org/wiki/Okapi_BM25), in
//! thousandths: integers, so that every host ranks the same.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// The words of an app's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchIndex {
    /// Sorted by word.
    pub words: Vec<IndexedWord>,
}

/// A word, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedWord {
    /// The word, as [`words`] makes it.
    pub word: String,
    /// Indexes into [`App::tools`](super::App::tools) and weights in thousandths, sorted by index.
    pub tools: Vec<(u32, u32)>,
}

/// Words that say nothing about a tool.
const IGNORED: [&str; 28] = [
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "for", "from", "how", "i", "in", "is", "it", "me", "of", "on",
    "or", "that", "the", "this", "to", "what", "with",
];

/// The words of a text: lower-case, cut at what is not a letter or digit, and where a capital
/// follows a small letter, English plurals made singular, without words such as `the`. In order,
/// repeated ones repeated.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for character in text.chars() {
        if !character.is_alphanumeric() || (after_small && character.is_uppercase()) {
            finish(&mut words, &mut word);
        }
        after_small = character.is_lowercase();
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    finish(&mut words, &mut word);
    words
}

fn finish(words: &mut Vec<String>, word: &mut String) {
    let word = core::mem::take(word);
    if !word.is_empty() && IGNORED.binary_search(&word.as_str()).is_err() {
        words.push(singular(word));
    }
}

/// The rules of the S-stemmer (Harman, 1991), which leave words readable.
fn singular(mut word: String) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    if word.len() < 4 || ends(&["us", "ss"]) || !word.ends_with('s') {
        return word;
    }
    if ends(&["ies"]) && !ends(&["eies", "aies"]) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ends(&["sses", "shes", "ches", "xes"]) {
        word.truncate(word.len() - 2);
    } else {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_texts() {
        let cases = [
            ("", ""),
            ("get-user_byEmail", "get user email"),
            ("Lists the INVOICES of a customer.", "list invoice customer"),
            ("queries addresses boxes status class bus is", "query address box status class bus"),
            ("HTTPServer v2 x", "httpserver v2 x"),
            ("Größe café 請求書", "größe café 請求書"),
            ("ß's", "ß s"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
        assert!(IGNORED.is_sorted());
    }
}
