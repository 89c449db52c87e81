//! Words that stay in Millrace's own sentences, even where one of them is a secret of the app.
//!
//! They are in every copy of Millrace, so whoever guesses passwords tries them first, and a
//! sentence without one of them tells which it is. Any other word is struck out, whoever says it:
//! what somebody else wrote gets into Millrace's sentences, too.

use core::cmp::Ordering;

/// Words of Millrace's sentences, and names of databases and of their first users, in lower case, a
/// line each. Sorted.
const OWN_WORDS: &str = include_str!("own_words.txt");

/// Whether a part of a text is one of the words, in either case.
pub(super) fn is_own(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let mut rest = OWN_WORDS;
    // Each look halves what is left, at the end of a line.
    while let Some(half) = rest.get(..rest.len() / 2) {
        let start = half.rfind('\n').map_or(0, |end| end + 1);
        let Some((word, after)) = rest.get(start..).and_then(|lines| lines.split_once('\n')) else { break };
        match word.cmp(&part) {
            Ordering::Equal => return true,
            Ordering::Less => rest = after,
            Ordering::Greater => rest = rest.get(..start).unwrap_or_default(),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_sorted_words() {
        assert!(OWN_WORDS.lines().is_sorted_by(|first, second| first < second));
        assert!(OWN_WORDS.lines().all(|word| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase())));
        assert!(OWN_WORDS.lines().all(is_own));
        for word in ["correcthorse", "postgres1", "aaaa", "zzzz", "", "accept\naccepted"] {
            assert!(!is_own(word), "{word}");
        }
        assert!(is_own("Postgres") && is_own("STATEMENT"));
    }
}
