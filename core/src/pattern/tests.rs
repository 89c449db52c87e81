use alloc::{format, vec::Vec};

use proptest::prelude::*;
use regex::Regex;

use super::*;

/// What a bundle makes of a pattern.
fn carried(text: &str) -> Pattern {
    let pattern = Pattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let bytes = postcard::to_allocvec(&pattern).unwrap();
    let carried: Pattern = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(carried, pattern);
    carried
}

const PATTERNS: [&str; 48] = [
    "",
    "a",
    "^$",
    "^a|b$",
    "^(a|bc|)d$",
    "^(?:a+)?$",
    "^(?:a?)?b$",
    "^(?:a{2}){3}$",
    "^(?:a{1}){2}$",
    "^(?:a*)*$",
    "^a{2,}?$",
    "^a{0}$",
    "^a{2,4}b?$",
    "^inv_[a-z0-9]+$",
    r"^\w+$",
    r"^\W+$",
    r"^\d{1,3}$",
    r"^\S+\s\S+$",
    r"(?-u)^\w+$",
    r"^(?-u:\d)+$",
    "(?i)^größe$",
    "(?i)^straße ΣΑΣ k$",
    "^(?i:a)b$",
    "(?s)^.$",
    "^.$",
    "(?m)^b$",
    "(?mR)^b$",
    r"\bé\b",
    r"\Bb\B",
    r"(?-u:\b)b",
    r"\b{start}b\b{end}",
    r"\b{start-half}é\b{end-half}",
    r"^\p{Greek}\p{Lu}$",
    r"^\P{L}+$",
    r"^[\p{Lu}--A]$",
    r"^\p{Emoji}$",
    r"^\p{Age=3.2}$",
    r"^[[:alpha:]]+$",
    r"^[^a-z]+$",
    r"^[^\x00-\x7f]$",
    r"^[a-c&&b-d]$",
    r"^[a&&b]$",
    r"(?x) ^ a \x20 b $ # a comment",
    r"^\u{1F600}+\x41$",
    r"^[\u{0}-\u{10FFFF}]$",
    "^(?P<name>a)(b)$",
    r"^(\+|\.|\\|\[)+$",
    "^(((((((((((a)))))))))))$",
];

const TEXTS: [&str; 44] = [
    "",
    "a",
    "b",
    "aa",
    "aaa",
    "aaaa",
    "aaaaaa",
    "ab",
    "aab",
    "abb",
    "d",
    "ad",
    "bcd",
    "a b",
    "a\nb\nc",
    "b\n",
    "\r\nb\r\n",
    "inv_1",
    "inv_1\n",
    "größe",
    "GRÖSSE",
    "GRÖßE",
    "STRASSE σας K",
    "straẞe σαΣ \u{212a}",
    "é",
    "éb",
    "xbx",
    "x b x",
    "αΩ",
    "ΩΩ",
    "1",
    "١",
    "123",
    "1234",
    "_",
    "😀A",
    "😀",
    "€",
    "ǅ",
    "\0",
    "\u{10FFFF}",
    "+.\\[",
    "A",
    "aB",
];

#[test]
fn a_carried_pattern_says_the_same_as_a_whole_engine() {
    for text in PATTERNS {
        let (whole, ours) = (Regex::new(text).unwrap(), carried(text).matcher().unwrap());
        let differ: Vec<&str> = TEXTS.into_iter().filter(|sample| whole.is_match(sample) != ours.matches(sample)).collect();
        assert!(differ.is_empty(), "{text}: {differ:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn so_does_one_made_of_pieces(
        pieces in prop::collection::vec((0..16_usize, prop::sample::select(alloc::vec!["", "?", "*", "+", "{2}", "??", "{1,2}"])), 1..5),
        is_insensitive in any::<bool>(),
        is_anchored in any::<bool>(),
        texts in prop::collection::vec("[ab1 kKſßé\u{212a}_\n-]{0,6}", 1..20),
    ) {
        let parts = ["a", "[ab]", r"\w", r"\d", r"\s", ".", "k", "ß", "[^a]", r"\b", "(a|b)", "(?:a+)", "(?:b?)", r"\p{L}", "(|a)", "é"];
        let mut text = alloc::string::String::from(if is_insensitive { "(?i)" } else { "" });
        text += if is_anchored { "^(?:" } else { "(?:" };
        pieces.iter().for_each(|(part, repeat)| text += &format!("(?:{}){repeat}", parts[*part]));
        text += if is_anchored { ")$" } else { ")" };
        let (whole, ours) = (Regex::new(&text).unwrap(), carried(&text).matcher().unwrap());
        for sample in &texts {
            prop_assert_eq!(whole.is_match(sample), ours.matches(sample), "{} on {:?}", text, sample);
        }
    }
}

#[test]
fn the_encoding_is_small_and_stays() {
    let bytes = |text: &str| postcard::to_allocvec(&carried(text)).unwrap();
    assert_eq!(bytes("^a$"), [3, b'^', b'a', b'$', 5, 3, 3, 1, 1, 1, b'a', 3, 2]);
    assert_eq!(bytes("[0-9b]*"), [7, b'[', b'0', b'-', b'9', b'b', b']', b'*', 4, 0, 0, 2, 2, 48, 9, 40, 0]);
    assert_eq!(bytes(r"\b")[3..], [3, 0x80, 2]);
    let word = bytes(r"^\w+$").len();
    assert!(word < 3000, "{word}");
}

#[test]
fn what_cannot_be_had_is_refused() {
    for text in ["(", "(?=a)", r"(a)\1", r"\p{Nothing}", "(?-u:\\xff)", &"(".repeat(300)] {
        assert!(Pattern::parse(text).is_err(), "{text}");
    }
    assert!(Pattern::parse(r"\w{5000}{50}").unwrap().matcher().is_err());
    for damaged in [Node::Class(alloc::vec![(0xD800, 0)]), Node::Class(alloc::vec![(u32::MAX, 1)]), Node::Place(3)] {
        assert!(Pattern { text: "x".into(), node: damaged }.matcher().is_err());
    }
}
