//! Texts in YAML. What comes from a database is never taken for anything but a text.

use millrace_core::Json;

use super::names;

/// A text in double quotes, for any place.
pub(in crate::commands) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A sentence as the value of a key on a line of its own: without quotes, where it can be.
pub(super) fn sentence(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " .,;()'/_-?".contains(c));
    let is_word = !text.contains(' ');
    if is_plain && !is_word { text.to_owned() } else { quoted(text) }
}

/// A word, for any place.
pub(in crate::commands) fn word(text: &str) -> String {
    const OTHERS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain =
        text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if is_plain && !OTHERS.iter().any(|other| text.eq_ignore_ascii_case(other)) { text.to_owned() } else { quoted(text) }
}

/// A value on one line: `{ id: 1, tags: [a] }`.
pub(in crate::commands) fn flow(value: &Json) -> String {
    match value {
        Json::Object(members) if members.is_empty() => "{}".to_owned(),
        Json::Object(members) => {
            let members: Vec<String> = members.iter().map(|(key, value)| format!("{}: {}", word(key), flow(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Json::Array(elements) => format!("[{}]", elements.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::String(text) => word(text),
        other => other.to_string(),
    }
}

/// What somebody wrote about a table or a column, as part of a description: one line, not too long,
/// and never a placeholder.
pub(super) fn remark(text: &str) -> Option<String> {
    const MOST: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let line = match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    };
    let line = line.replace("{{", "{ {").replace("}}", "} }");
    (!line.is_empty()).then_some(line)
}

/// A name in a comment of a file.
pub(super) fn in_comment(name: &str) -> String {
    if names::can_be_written(name) { format!("`{name}`") } else { format!("`{}`", name.escape_debug()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_a_text() {
        assert_eq!(sentence("List orders, by id."), "List orders, by id.");
        assert_eq!(sentence("List: orders"), "\"List: orders\"");
        assert_eq!(sentence("yes"), "\"yes\"");
        assert_eq!(sentence("a # b"), "\"a # b\"");
        assert_eq!(word("open"), "open");
        assert_eq!((word("no"), word("12"), word("a b"), word("")), ("\"no\"".into(), "\"12\"".into(), "\"a b\"".into(), "\"\"".into()));
        assert_eq!(quoted("a\"b\\c\nd\u{7}é"), "\"a\\\"b\\\\c\\nd\\u0007é\"");
    }

    #[test]
    fn a_remark_is_one_line_and_no_placeholder() {
        assert_eq!(remark(" a\n  b {{ inputs.x }}\u{1b}[0m "), Some("a b { { inputs.x } }[0m".to_owned()));
        assert_eq!(remark(" \n "), None);
        assert_eq!(remark(&"x".repeat(400)).map(|text| text.chars().count()), Some(301));
    }
}
