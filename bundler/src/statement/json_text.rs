//! A document of MongoDB that is written as text in JSON, as in apps of Hyperterse:
//! `{"database": "shop", "command": {"find": "users", "filter": {"email": "{{ inputs.email }}"}}}`.
//!
//! A placeholder in quotes is a text, or part of one; without quotes, it is a value with the type
//! of its input. The text is read before anything is filled in, and becomes the map that an author
//! of Millrace writes, with the places of the text in the file.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::problem::error;
use crate::{
    Problem,
    findings::Findings,
    placeholder,
    source::Source,
    yaml::{Data, Document, Entry, Node},
};

const FORM: &str = "write `{ \"database\": \"shop\", \"command\": { \"find\": \"users\" } }`, or a map whose first key is the command";

/// The map that a text stands for.
///
/// # Errors
/// The [`Problem`]s of the text, whose places are in the file.
pub(crate) fn document_of_json(source: &Source, node: &Node) -> Result<Node, Vec<Problem>> {
    let text = node.text().unwrap_or_default();
    let quoted = Quoted::of(text);
    let at = |range: Range<usize>| node.locate(source, range);
    if let Err(wrong) = serde_json::from_str::<IgnoredAny>(&quoted.written('"')) {
        let line = wrong.line().saturating_sub(1);
        let start = quoted.written('"').split('\n').take(line).map(|line| line.len() + 1).sum::<usize>();
        let place = quoted.original(start + wrong.column().saturating_sub(1)).min(text.trim_end().len());
        let what = wrong.to_string();
        let what = what.split(" at line").next().unwrap_or_default();
        return Err(vec![error(at(place..place), format!("the document is not JSON: {what}"), FORM)]);
    }
    let mut findings = Findings::default();
    let parsed = Document::parse(Source::new("", quoted.written('\'')), &mut findings);
    let Some(Document { root, .. }) = parsed.filter(|_| !findings.has_errors()) else {
        // Keys that are there twice, and more levels or values than a file may have.
        let wrong =
            findings.into_sorted().into_iter().map(|wrong| error(node.range.clone(), format!("the document: {}", wrong.message), FORM));
        return Err(wrong.collect());
    };
    let root = moved(root, &|range| at(quoted.original(range.start)..quoted.original(range.end)));
    let missing = |what: &str| vec![error(node.range.clone(), format!("the document has no `{what}`"), FORM)];
    let database = root.entry("database").ok_or_else(|| missing("database"))?;
    let command = root.at("command").ok_or_else(|| missing("command"))?;
    let Data::Map(fields) = &command.data else {
        return Err(vec![error(command.range.clone(), "`command` must be an object".to_owned(), FORM)]);
    };
    let mut fields = fields.clone();
    fields.push(Entry { key: "$db".to_owned(), ..database.clone() });
    Ok(Node::map(fields, node.range.clone()))
}

/// The node with its places in the file.
fn moved(mut node: Node, place: &impl Fn(Range<usize>) -> Range<usize>) -> Node {
    node.range = place(node.range);
    match &mut node.data {
        Data::List(elements) => *elements = std::mem::take(elements).into_iter().map(|element| moved(element, place)).collect(),
        Data::Map(entries) => {
            for entry in entries {
                entry.key_range = place(entry.key_range.clone());
                entry.value = moved(entry.value.clone(), place);
            }
        }
        _ => {}
    }
    node.without_single_quotes()
}

/// A text in JSON, in which placeholders that are values stand without quotes.
struct Quoted<'a> {
    text: &'a str,
    /// Those placeholders.
    bare: Vec<Range<usize>>,
}

impl<'a> Quoted<'a> {
    fn of(text: &'a str) -> Self {
        let mut bare = Vec::new();
        let (mut at, mut in_string) = (0, false);
        while let Some(character) = text[at..].chars().next() {
            match character {
                '\\' if in_string => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                '"' => {
                    in_string = !in_string;
                    at += 1;
                }
                // Two objects that begin here are no JSON.
                '{' if !in_string && text[at..].starts_with("{{") => match placeholder_end(text, at) {
                    Some(end) => {
                        bare.push(at..end);
                        at = end;
                    }
                    None => at += 1,
                },
                other => at += other.len_utf8(),
            }
        }
        Self { text, bare }
    }

    /// The text, with these quotes around what has none.
    fn written(&self, quote: char) -> String {
        let (mut written, mut at) = (String::new(), 0);
        for range in &self.bare {
            written.push_str(&self.text[at..range.start]);
            written.push(quote);
            written.push_str(&self.text[range.clone()]);
            written.push(quote);
            at = range.end;
        }
        written + &self.text[at..]
    }

    /// The byte of the text that stands at this byte of what was written.
    fn original(&self, written: usize) -> usize {
        let mut quotes = 0;
        for range in &self.bare {
            if written > range.start + quotes {
                quotes += 1;
            }
            if written > range.end + quotes {
                quotes += 1;
            }
        }
        written - quotes
    }
}

/// The end of the placeholder that begins here, unless it has a quote in it.
fn placeholder_end(text: &str, start: usize) -> Option<usize> {
    let end = start + text[start..].find("}}")? + 2;
    let (pieces, problems) = placeholder::scan(&text[start..end]);
    let is_one = matches!(pieces.as_slice(), [placeholder::Piece::Placeholder(_)]) && problems.is_empty();
    (is_one && !text[start..end].contains(['"', '\''])).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_quotes_gets_some_and_keeps_its_place() {
        let text = r#"{"a": {{ inputs.a }}, "b": "{{ inputs.b }} \" {{x}}", "c": [{{inputs.c}}]}"#;
        let quoted = Quoted::of(text);
        assert_eq!(quoted.written('\''), r#"{"a": '{{ inputs.a }}', "b": "{{ inputs.b }} \" {{x}}", "c": ['{{inputs.c}}']}"#);
        for needle in ["{{ inputs.a", "\"b\"", "{{inputs.c", "]}"] {
            let written = quoted.written('\'').find(needle).unwrap();
            assert_eq!(quoted.original(written), text.find(needle).unwrap(), "{needle}");
        }
    }
}
