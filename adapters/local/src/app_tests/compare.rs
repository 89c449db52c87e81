//! What a value has otherwise than expected, in words.

use millrace_core::Json;

/// The most differences that are told of two values.
const MAX: usize = 20;
/// The longest value that is shown, in characters.
const LONGEST: usize = 200;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// A map may have more keys than expected.
    Has,
    /// The values are alike.
    Equals,
}

/// What is otherwise in a value than expected. `path` is what the value is called.
pub(super) fn differences(path: &str, expected: &Json, found: &Json, comparison: Comparison) -> Vec<String> {
    let mut differences = Vec::new();
    compare(path, expected, found, comparison, &mut differences);
    if differences.len() > MAX {
        let more = differences.len() - MAX;
        differences.truncate(MAX);
        differences.push(format!("{more} more differences are not shown"));
    }
    differences
}

fn compare(path: &str, expected: &Json, found: &Json, comparison: Comparison, differences: &mut Vec<String>) {
    match (expected, found) {
        (Json::Object(expected), Json::Object(found)) => {
            for (key, value) in expected {
                match found.get(key) {
                    Some(found) => compare(&joined(path, key), value, found, comparison, differences),
                    None => differences.push(format!("`{}` is missing", joined(path, key))),
                }
            }
            if comparison == Comparison::Equals {
                let more = found.keys().filter(|key| !expected.contains_key(*key));
                differences.extend(more.map(|key| format!("`{}` is not expected", joined(path, key))));
            }
        }
        (Json::Array(expected), Json::Array(found)) => {
            if expected.len() != found.len() {
                let count = |list: &[Json]| crate::app::count(list.len(), "element");
                differences.push(format!("`{path}` has {} and should have {}", count(found), expected.len()));
            }
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{path}[{index}]"), expected, found, comparison, differences);
            }
        }
        (Json::Number(a), Json::Number(b)) if a == b || a.as_f64() == b.as_f64() && a.as_f64().is_some_and(|value| value.abs() < 9e15) => {}
        (expected, found) if expected == found => {}
        (expected, found) => differences.push(format!("`{path}` is {} and should be {}", shown(found), shown(expected))),
    }
}

fn joined(path: &str, key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '-' | '/'));
    if is_plain { format!("{path}.{key}") } else { format!("{path}[{}]", Json::from(key)) }
}

/// A value as JSON, cut.
pub(super) fn shown(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// How a text differs from another; `None` where only white space at their ends does.
pub(super) fn text_difference(expected: &str, found: &str) -> Option<String> {
    let (expected, found) = (expected.trim_end(), found.trim_end());
    if expected == found {
        return None;
    }
    let (mut wanted, mut there) = (expected.lines(), found.lines());
    let mut line = 0;
    if expected.contains('\n') || found.contains('\n') {
        loop {
            line += 1;
            match (wanted.next(), there.next()) {
                (Some(wanted), Some(there)) if wanted == there => {}
                (Some(wanted), Some(there)) => {
                    return Some(format!("line {line} of the text is {} and should be {}", shown(&there.into()), shown(&wanted.into())));
                }
                (Some(wanted), None) => return Some(format!("line {line} of the text is missing: {}", shown(&wanted.into()))),
                (None, Some(there)) => return Some(format!("line {line} of the text is not expected: {}", shown(&there.into()))),
                (None, None) => break,
            }
        }
    }
    Some(format!("the text is {} and should be {}", shown(&found.into()), shown(&expected.into())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_map_may_have_more_and_a_list_may_not() {
        let found = json!({ "id": 7, "name": "Ada", "tags": [{ "a": 1, "b": 2 }], "x y": null });
        let has = |expected: &Json| differences("structured", expected, &found, Comparison::Has);
        assert_eq!(has(&json!({ "id": 7.0, "tags": [{ "b": 2 }] })), Vec::<String>::new());
        assert_eq!(
            has(&json!({ "id": "7", "tags": [{ "b": 3 }, {}], "x y": 1, "no": 1 })),
            [
                "`structured.id` is 7 and should be \"7\"",
                "`structured.tags` has 1 element and should have 2",
                "`structured.tags[0].b` is 2 and should be 3",
                "`structured[\"x y\"]` is null and should be 1",
                "`structured.no` is missing",
            ]
        );
        let equals = differences("s", &json!({ "id": 7, "name": "Ada", "tags": [{ "a": 1 }], "x y": null }), &found, Comparison::Equals);
        assert_eq!(equals, ["`s.tags[0].b` is not expected"]);
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let found = json!(9_007_199_254_740_993_u64);
        assert_eq!(differences("n", &json!(9_007_199_254_740_992_u64), &found, Comparison::Has).len(), 1);
    }

    #[test]
    fn texts_differ_by_a_line() {
        assert_eq!(text_difference("a\nb\n", "a\nb"), None);
        assert_eq!(text_difference("a\nb", "a\nc").as_deref(), Some("line 2 of the text is \"c\" and should be \"b\""));
        assert_eq!(text_difference("a\nb", "a").as_deref(), Some("line 2 of the text is missing: \"b\""));
        assert_eq!(text_difference("a", "b").as_deref(), Some("the text is \"b\" and should be \"a\""));
    }

    #[test]
    fn many_differences_are_cut() {
        let list = |value: i64| Json::from(vec![value; 30]);
        let found = differences("l", &list(1), &list(2), Comparison::Has);
        assert_eq!((found.len(), found[MAX].as_str()), (MAX + 1, "10 more differences are not shown"));
    }
}
