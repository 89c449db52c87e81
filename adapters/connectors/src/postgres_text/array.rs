//! Array literals: `{1,NULL,"a \"b\""}`, nested ones, and those with bounds, `[0:1]={1,2}`.
//!
//! Syntax: <https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO>.

use millrace_core::value::Value;

use super::bind;

/// The deepest array that PostgreSQL has.
pub(super) const DEEPEST: usize = 6;

/// Writes an array: a list in it is a dimension, everything else an element, in quotes. `sign`
/// stands between elements: a comma for all types of PostgreSQL's own but `box`.
pub(crate) fn write(elements: &[Value], sign: char) -> String {
    let mut text = String::from("{");
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            text.push(sign);
        }
        match (element, bind::text(element)) {
            (Value::Array(inner), _) => text.push_str(&write(inner, sign)),
            (_, None) => text.push_str("NULL"),
            (_, Some(element)) => {
                text.push('"');
                for character in element.chars() {
                    if matches!(character, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(character);
                }
                text.push('"');
            }
        }
    }
    text.push('}');
    text
}

/// Reads an array with this sign between elements; `None` for anything else. `element` makes a value
/// of an element's text.
pub(crate) fn read(text: &str, sign: char, element: &dyn Fn(&str) -> Value) -> Option<Value> {
    let text = match text.split_once("]={") {
        Some((bounds, _)) if bounds.starts_with('[') => text.split_once('=')?.1,
        _ => text,
    };
    let mut rest = text;
    let array = list(&mut rest, sign, element, 0)?;
    rest.is_empty().then_some(array)
}

fn list(rest: &mut &str, sign: char, element: &dyn Fn(&str) -> Value, depth: usize) -> Option<Value> {
    *rest = rest.strip_prefix('{')?;
    let mut elements = Vec::new();
    if let Some(after) = rest.strip_prefix('}') {
        *rest = after;
        return Some(Value::Array(elements));
    }
    if depth == DEEPEST {
        return None;
    }
    loop {
        elements.push(match rest.chars().next()? {
            '{' => list(rest, sign, element, depth + 1)?,
            '"' => element(&quoted(rest)?),
            _ => {
                let end = rest.find([sign, '}'])?;
                let (bare, after) = rest.split_at(end);
                *rest = after;
                if bare == "NULL" { Value::Null } else { element(bare) }
            }
        });
        let end = rest.chars().next()?;
        *rest = rest.get(1..)?;
        match end {
            '}' => return Some(Value::Array(elements)),
            end if end == sign => {}
            _ => return None,
        }
    }
}

/// The text between quotes, escapes undone.
fn quoted(rest: &mut &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    loop {
        match characters.next()? {
            (_, '\\') => text.push(characters.next()?.1),
            (at, '"') => {
                *rest = rest.get(at + 1..)?;
                return Some(text);
            }
            (_, character) => text.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::Text(value.to_owned())
    }

    #[test]
    fn what_is_written_is_read() {
        let awkward = ["", "NULL", "null", "a b", "{}", "\"", "\\", "o'neil", ",", "\\\"", "zażółć 🙂", "\n\t", "[0:1]={x}"].map(text);
        for elements in [Vec::new(), awkward.to_vec(), vec![Value::Array(awkward.to_vec()), Value::Array(awkward.to_vec())]] {
            let written = write(&elements, ',');
            assert_eq!(read(&written, ',', &text), Some(Value::Array(elements)), "{written}");
        }
        assert_eq!(write(&[Value::I64(1), Value::Null, Value::Bool(true)], ','), r#"{"1",NULL,"t"}"#);
    }

    #[test]
    fn forms_of_the_server() {
        let list = |texts: &[&str]| Value::Array(texts.iter().map(|element| text(element)).collect());
        assert_eq!(read("{1,2}", ',', &text), Some(list(&["1", "2"])));
        assert_eq!(read("[0:1]={1,2}", ',', &text), Some(list(&["1", "2"])));
        assert_eq!(read("[1:1][-2:-1]={{a,\"b,}\"}}", ',', &text), Some(Value::Array(vec![list(&["a", "b,}"])])));
        assert_eq!(read("{NULL,\"NULL\"}", ',', &text), Some(Value::Array(vec![Value::Null, text("NULL")])));
        assert_eq!(read("{(1,1),(0,0);(2,2),(0,0)}", ';', &text), Some(list(&["(1,1),(0,0)", "(2,2),(0,0)"])));
        for wrong in ["", "1", "{", "{1", "{1}x", "{\"a}", "{1,}{", "{{1}", "{{{{{{{{1}}}}}}}}", "\u{e9}{1}"] {
            assert_eq!(read(wrong, ',', &text), None, "{wrong}");
        }
    }
}
