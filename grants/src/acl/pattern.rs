//! Patterns of keys and channels, as rules of Redis have them.

/// Whether all that matches a pattern matches another, too. Patterns are those that this module
/// writes.
pub(super) fn covers(wide: &str, narrow: &str) -> bool {
    let (wide, narrow) = (tokens(wide), tokens(narrow));
    // `reached[at]`: what was seen of the wide one matches the first `at` of the narrow one.
    let mut reached: Vec<bool> = (0..=narrow.len()).map(|at| at == 0).collect();
    for token in wide {
        let before = reached.clone();
        for at in 0..reached.len() {
            reached[at] = match token {
                "*" => before[..=at].contains(&true),
                // It is one byte.
                "?" => at > 0 && before[at - 1] && narrow[at - 1] != "*" && narrow[at - 1].is_ascii(),
                literal => at > 0 && before[at - 1] && narrow[at - 1] == literal,
            };
        }
    }
    reached.last() == Some(&true)
}

/// The parts of a pattern: `*`, `?`, or what stands for one character.
fn tokens(pattern: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' => rest.find(']').map_or(1, |end| end + 1),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// Adds text to a pattern that matches it. Rules are cut at spaces, quotes have a meaning in them,
/// and a `)` ends a selector: such a character is any other, too, so that `false` is returned.
pub(crate) fn push_text(pattern: &mut String, text: &str) -> bool {
    let mut is_exact = true;
    for character in text.chars() {
        match character {
            '*' | '?' | '[' | ']' | '\\' => pattern.extend(['\\', character]),
            ')' => pattern.push_str("[)]"),
            '"' | '\'' | '\u{2028}' | '\u{2029}' => {
                is_exact = false;
                // The server compares bytes.
                pattern.extend(std::iter::repeat_n('?', character.len_utf8()));
            }
            _ if character.is_whitespace() || character.is_control() => {
                is_exact = false;
                pattern.extend(std::iter::repeat_n('?', character.len_utf8()));
            }
            _ => pattern.push(character),
        }
    }
    is_exact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_matches_it() {
        for (wide, narrow) in [
            ("*", "a"),
            ("*", ""),
            ("*", "a*b"),
            ("a*", "a*"),
            ("a*", "a"),
            ("a*", "ab*c?"),
            ("*b", "a*b"),
            ("a*c", "a*b*c"),
            ("?", "a"),
            ("?", "[)]"),
            ("??", "a\\*"),
            ("a\\*", "a\\*"),
        ] {
            assert!(covers(wide, narrow), "{wide} {narrow}");
        }
        for (wide, narrow) in
            [("a", "b"), ("a", "*"), ("a*", "*"), ("?", "*"), ("?", ""), ("a\\*", "ab"), ("a*b", "a*"), ("?", "é"), ("*a", "a*"), ("", "a")]
        {
            assert!(!covers(wide, narrow), "{wide} {narrow}");
        }
    }

    #[test]
    fn text_matches_itself_alone_where_rules_can_say_it() {
        for (text, expected, is_exact) in [
            ("user:1", "user:1", true),
            ("a*?[b]\\", "a\\*\\?\\[b\\]\\\\", true),
            ("f(x)", "f(x[)]", true),
            ("é", "é", true),
            ("it's \"a\"", "it?s??a?", false),
            ("\0\t\u{85}", "????", false),
        ] {
            let mut pattern = String::new();
            assert_eq!((push_text(&mut pattern, text), pattern.as_str()), (is_exact, expected), "{text:?}");
        }
    }
}
