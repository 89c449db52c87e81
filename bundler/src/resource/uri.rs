//! URIs and their templates: [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570), level 1, and of
//! level 2 one `{+path}`.

use std::ops::Range;

use millrace_core::app::UriPattern;

use crate::{Problem, Severity};

/// Cuts a URI at its variables; without `is_template` there are none.
pub(super) fn parse(text: &str, is_template: bool) -> Result<UriPattern, Problem> {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || scheme.len() + 1 == text.len() {
        return Err(problem(0..text.len(), format!("`{text}` is not a URI"), "It begins with a scheme: `docs://manual`."));
    }
    if let Some((at, odd)) = text.char_indices().find(|(_, c)| c.is_whitespace() || c.is_control() || "<>\"\\^`|".contains(*c)) {
        return Err(problem(at..at + odd.len_utf8(), format!("a URI has no {odd:?}"), "Write it percent-encoded."));
    }
    let mut pattern = UriPattern { literals: Vec::new(), variables: Vec::new(), reserved: None };
    let mut rest = 0;
    while let Some(open) = text[rest..].find(['{', '}']).map(|at| at + rest) {
        if !is_template {
            return Err(problem(open..open + 1, "`uri` has a brace".into(), "Use `uri_template` for a URI with variables."));
        }
        let close = text[open..].find('}').map(|at| at + open);
        let Some(close) = close.filter(|_| text.as_bytes().get(open) == Some(&b'{')) else {
            return Err(problem(open..open + 1, "the template has an unmatched brace".into(), "Write a variable as `{id}`."));
        };
        let inner = &text[open + 1..close];
        let name = inner.strip_prefix('+').unwrap_or(inner);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            let help = "A variable is a letter or `_`, then letters, digits and `_`; of the operators only `+` is supported.";
            return Err(problem(open..close + 1, format!("`{{{inner}}}` is not a variable"), help));
        }
        if inner != name && pattern.reserved.is_some() {
            let help = "Only one variable can match text with `/`; write the other one without `+`.";
            return Err(problem(open..close + 1, "the template has two variables with `+`".into(), help));
        }
        if inner != name {
            pattern.reserved = u32::try_from(pattern.variables.len()).ok();
        }
        if pattern.variables.iter().any(|other| other == name) {
            return Err(problem(open..close + 1, format!("the variable `{name}` appears twice"), "Rename one of them."));
        }
        if open == rest && !pattern.variables.is_empty() {
            let help = "Put text between them: `{a}/{b}`.";
            return Err(problem(open..close + 1, format!("nothing separates `{name}` from the variable before it"), help));
        }
        pattern.literals.push(text[rest..open].to_owned());
        pattern.variables.push(name.to_owned());
        rest = close + 1;
    }
    if is_template && pattern.variables.is_empty() {
        return Err(problem(0..text.len(), "`uri_template` has no variable".into(), "Use `uri` for a fixed URI."));
    }
    pattern.literals.push(text[rest..].to_owned());
    Ok(pattern)
}

fn problem(range: Range<usize>, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Error, range, message, help: Some(help.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_templates() {
        let pattern = parse("docs://orders/{id}/lines/{line}", true).unwrap();
        assert_eq!(pattern.literals, ["docs://orders/", "/lines/", ""]);
        assert_eq!(pattern.variables, ["id", "line"]);
        assert_eq!(pattern.reserved, None);
        assert_eq!(parse("git://{repo}/{+path}", true).unwrap().reserved, Some(1));
        assert_eq!(parse("docs://manual", false).unwrap().literals, ["docs://manual"]);
    }

    #[test]
    fn refuses_what_it_cannot_match() {
        let templates = [
            "docs://x",
            "docs://{#path}",
            "docs://{+a}/{+b}",
            "docs://{+}",
            "docs://{a}{b}",
            "docs://{a}/{a}",
            "docs://{a",
            "docs://a}",
            "docs://{a-b}",
            "{a}",
            "docs:",
        ];
        for text in templates {
            assert!(parse(text, true).is_err(), "{text}");
        }
        for text in ["docs://{a}", "manual", "docs://a b", ""] {
            assert!(parse(text, false).is_err(), "{text}");
        }
    }
}
