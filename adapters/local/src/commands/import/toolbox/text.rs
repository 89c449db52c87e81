//! Descriptions and statements as values of YAML.

use crate::commands::new::from::yaml;

/// A description within a line. Double braces would be taken for a placeholder there.
pub(super) fn described(text: &str) -> String {
    yaml::quoted(&escaped(text))
}

/// A description without double braces.
pub(super) fn escaped(text: &str) -> String {
    text.replace("{{", "{ {").replace("}}", "} }")
}

/// A text of several lines as a block, where it can be one.
pub(super) fn block(text: &str) -> String {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{85}');
    let begins_odd = text.starts_with([' ', '\t', '\n']);
    if !text.contains('\n') || begins_odd || text.contains(is_odd) {
        return yaml::quoted(text);
    }
    let lines: String = text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect();
    format!("|\n{}", lines.trim_end_matches('\n'))
}
