//! `redact` of a presenter: the grammar of its paths, and what redaction makes of the JSON Schema.
//!
//! ```text
//! path = step { "." name | "." "*" | "." "**" | "[" digits "]" | "[" "*" "]" | "[" string "]" }
//! step = name | "*" | "**" | "[" string "]"
//! ```

use millrace_core::app::{Censor, PathStep, Presenter, RedactedPath, Redaction};
use serde_json::{Value, json};

use crate::{
    compiler::Compiler,
    expression,
    field::{Field, Record, Shape},
    names::{meant, nearest},
    scope::{IN_REDACTION, PathScope},
    yaml::{Data, Document, Node},
};

/// One of `redact`
pub(crate) static REDACTION: Record = Record {
    name: "redaction",
    noun: "a redaction",
    doc: "Values that are replaced, `null` included, before anything is written.",
    fields: &[
        Field::new(
            "paths",
            Shape::List(&Shape::Text),
            "Which values: `a.b`, `a[0]`, `a[\"x-y\"]`, `a[*]` for each element, `*` for each member, `**` for any number of levels. `**.ssn` is every depth.",
        )
        .required(),
        Field::new(
            "censor",
            Shape::OneOf(&[Shape::Text, Shape::Record(&MASK)]),
            "What replaces the value: a text; `hash`, a keyed hash; `remove`, nothing; or a mask.",
        )
        .default("[REDACTED]"),
        Field::new(
            "unless",
            Shape::Text,
            "Where it holds, the value is shown: an expression over `auth` and `item`, the item before any redaction, such as `'pii:read' in auth.scopes`.",
        )
        .condition(IN_REDACTION),
    ],
};

static MASK: Record = Record {
    name: "mask",
    noun: "`censor`",
    doc: "Eight times a character, and then the end of the value.",
    fields: &[
        Field::new("mask", Shape::Text, "The character.").required(),
        Field::new(
            "keep_end",
            Shape::Int(0, 64),
            "How many characters of the end are shown; none of a value that has less than twice as many.",
        )
        .default("0"),
    ],
};

/// Reads `redact`; the schema becomes what is sent.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, presenter: &Node, schema: &mut Value) -> Vec<Redaction> {
    let mut redactions = Vec::new();
    // Conditions see an item before any redaction.
    let scope = PathScope::of_presenter(schema).without("items");
    for node in presenter.at("redact").map(Node::items).unwrap_or_default() {
        let censor = censor(compiler, document, node.at("censor"));
        let unless = node.at("unless").and_then(|node| {
            let parsed = expression::parse(node.text()?, &scope);
            for problem in parsed.problems {
                compiler.findings.problem(document, node, problem);
            }
            parsed.expression
        });
        let always = node.at("unless").is_none();
        let mut paths = Vec::new();
        for node in node.at("paths").map(Node::items).unwrap_or_default() {
            let Some(text) = node.text() else { continue };
            match parse(text) {
                Ok(steps) => {
                    if !mark(schema, &steps, &censor, always) {
                        let help = help(schema, &steps);
                        compiler.error(document, node.range.clone(), format!("`{text}` can match nothing in the schema"), help);
                    }
                    paths.push(RedactedPath(steps));
                }
                Err(problem) => {
                    let help = "Write a path such as `customer.ssn`, `lines[*].note` or `**.password`.";
                    compiler.error(document, node.range.clone(), format!("`{text}` is not a path: {problem}"), help);
                }
            }
        }
        redactions.push(Redaction { paths, censor, unless });
    }
    redactions
}

fn censor(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>) -> Censor {
    let Some(node) = node else { return Censor::Text("[REDACTED]".into()) };
    match node.text() {
        Some("hash") => return Censor::Hash,
        Some("remove") => return Censor::Remove,
        Some(text) => return Censor::Text(text.to_owned()),
        None => {}
    }
    let mask = node.text_at("mask").unwrap_or("*");
    let mut characters = mask.chars();
    let (Some(mask), None) = (characters.next(), characters.next()) else {
        let range = node.at("mask").map_or(0..0, |node| node.range.clone());
        compiler.error(document, range, "`mask` must be one character", "Write `mask: \"*\"`.");
        return Censor::Remove;
    };
    Censor::Mask { mask, keep_end: keep_end(node) }
}

fn keep_end(node: &Node) -> u32 {
    match node.at("keep_end").map(|node| &node.data) {
        Some(Data::Int(kept)) => u32::try_from(*kept).unwrap_or(0),
        _ => 0,
    }
}

/// The steps of a path, or what is wrong with it.
fn parse(text: &str) -> Result<Vec<PathStep>, String> {
    let mut steps: Vec<PathStep> = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("it is empty".into());
    }
    let mut after_dot = true;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            if after_dot && !steps.is_empty() {
                return Err("`.` is followed by `[`".into());
            }
            let end = closing(inner).ok_or("`[` is not closed")?;
            let (inside, after) = inner.split_at(end);
            let inside = inside.trim();
            let quoted = |quote: char| inside.strip_prefix(quote).and_then(|inside| inside.strip_suffix(quote));
            steps.push(match (inside, quoted('"').or_else(|| quoted('\''))) {
                ("*", _) => PathStep::Elements,
                (_, Some(name)) => PathStep::Member(name.to_owned()),
                (digits, None) => {
                    PathStep::Index(digits.parse().map_err(|_| format!("`[{digits}]` is not an index, `[*]` or a name in quotes"))?)
                }
            });
            rest = &after[1..];
        } else {
            if !after_dot {
                return Err(format!("`.` or `[` is missing before `{rest}`"));
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            match name {
                "" => return Err("a name is missing".into()),
                "*" => steps.push(PathStep::Any),
                // Any number of levels, twice, is any number of levels.
                "**" if steps.last() == Some(&PathStep::Deep) => {}
                "**" => steps.push(PathStep::Deep),
                name if name.contains(|c: char| c == '*' || c == ']' || c == '"' || c == '\'' || c.is_whitespace()) => {
                    return Err(format!("`{name}` is not a name; write `[\"{name}\"]`"));
                }
                name => steps.push(PathStep::Member(name.to_owned())),
            }
            rest = after;
        }
        after_dot = false;
        if let Some(after) = rest.strip_prefix('.') {
            if after.is_empty() {
                return Err("it ends with `.`".into());
            }
            rest = after;
            after_dot = true;
        }
    }
    if steps.iter().filter(|step| **step == PathStep::Deep).count() > 2 {
        return Err("it has more than two `**`".into());
    }
    Ok(steps)
}

/// Where the bracket closes; a name in quotes may have one inside.
fn closing(inner: &str) -> Option<usize> {
    let quote = inner.trim_start().chars().next().filter(|quote| matches!(quote, '"' | '\''));
    match quote {
        Some(quote) => {
            let open = inner.find(quote)?;
            let close = open + 1 + inner[open + 1..].find(quote)?;
            close.checked_add(inner[close..].find(']')?)
        }
        None => inner.find(']'),
    }
}

/// Makes of the schema what is sent once the path is redacted: `always`, or for some callers.
/// `false` where nothing can match.
fn mark(schema: &mut Value, steps: &[PathStep], censor: &Censor, always: bool) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        loosen(schema, always);
        return true;
    };
    let Some(object) = schema.as_object_mut() else { return true };
    if !object.contains_key("type") && !object.contains_key("properties") {
        // It may be anything.
        return true;
    }
    let is_open =
        object.get("properties").is_none() && has_type(object.get("type"), "object") || object.get("additionalProperties").is_none();
    let is_object = has_type(object.get("type"), "object");
    let is_array = has_type(object.get("type"), "array");
    match step {
        PathStep::Member(name) => {
            let found = object.get_mut("properties").and_then(|properties| properties.get_mut(name));
            match found {
                Some(found) => {
                    let matches = mark(found, rest, censor, always);
                    if rest.is_empty() && *censor == Censor::Remove {
                        not_required(object, Some(name));
                    }
                    matches
                }
                None => is_object && is_open,
            }
        }
        PathStep::Index(_) | PathStep::Elements => match object.get_mut("items") {
            Some(items) => mark(items, rest, censor, false),
            None => is_array,
        },
        PathStep::Any => {
            let mut matches = (is_object || is_array) && object.get("properties").is_none() && object.get("items").is_none();
            for property in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut()) {
                matches |= mark(property, rest, censor, always);
            }
            if let Some(items) = object.get_mut("items") {
                matches |= mark(items, rest, censor, always);
            }
            if rest.is_empty() && *censor == Censor::Remove {
                not_required(object, None);
            }
            matches
        }
        PathStep::Deep => {
            let mut matches = mark(schema, rest, censor, always);
            let Some(object) = schema.as_object_mut() else { return matches };
            for property in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut()) {
                matches |= mark(property, steps, censor, always);
            }
            if let Some(items) = object.get_mut("items") {
                matches |= mark(items, steps, censor, always);
            }
            if rest.is_empty() && *censor == Censor::Remove {
                not_required(object, None);
            }
            matches
        }
    }
}

fn has_type(kind: Option<&Value>, word: &str) -> bool {
    match kind {
        Some(Value::String(kind)) => kind == word,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == word),
        _ => false,
    }
}

/// The schema of a value that a text can stand instead of.
fn loosen(schema: &mut Value, always: bool) {
    let Some(object) = schema.as_object_mut() else { return };
    let Some(kind) = object.get("type").cloned() else { return };
    for keyword in ["enum", "maxLength"] {
        object.remove(keyword);
    }
    if always {
        for keyword in ["properties", "required", "additionalProperties", "items", "maxItems", "maximum"] {
            object.remove(keyword);
        }
        object.insert("type".into(), "string".into());
        return;
    }
    let mut kinds = match kind {
        Value::Array(kinds) => kinds,
        kind => vec![kind],
    };
    if !kinds.iter().any(|kind| kind == "string") {
        kinds.push("string".into());
    }
    let kind = if let [kind] = kinds.as_slice() { kind.clone() } else { json!(kinds) };
    object.insert("type".into(), kind);
}

fn not_required(object: &mut serde_json::Map<String, Value>, name: Option<&str>) {
    match (name, object.get_mut("required").and_then(Value::as_array_mut)) {
        (Some(name), Some(required)) => required.retain(|required| required != name),
        (None, Some(_)) => drop(object.remove("required")),
        _ => {}
    }
}

/// What a path that matches nothing may have meant.
fn help(schema: &Value, steps: &[PathStep]) -> String {
    let mut at = schema;
    for step in steps {
        let next = match step {
            PathStep::Member(name) => {
                let Some(properties) = at.get("properties").and_then(Value::as_object) else {
                    if at.get("items").is_some() {
                        return format!("It is a list: write `[*].{name}`.");
                    }
                    break;
                };
                let names: Vec<&str> = properties.keys().map(String::as_str).collect();
                match properties.get(name) {
                    Some(next) => next,
                    None => {
                        return match nearest(name, names.iter().copied()) {
                            Some(near) => format!("Did you mean `{near}`?"),
                            None => meant(name, &names, "The fields are"),
                        };
                    }
                }
            }
            PathStep::Index(_) | PathStep::Elements => match at.get("items") {
                Some(items) => items,
                None => return "It is not a list.".into(),
            },
            PathStep::Any | PathStep::Deep => break,
        };
        at = next;
    }
    "Name a field of the schema.".into()
}

/// Whether something of a field is replaced, for somebody at least.
pub(crate) fn is_redacted(presenter: &Presenter, field: &str) -> bool {
    presenter.redact.iter().flat_map(|redaction| &redaction.paths).any(|path| covers(&path.0, field))
}

/// Whether a path can match a field of an item, or what is in it.
fn covers(steps: &[PathStep], field: &str) -> bool {
    match steps.split_first() {
        Some((PathStep::Member(name), _)) => name == field,
        Some((PathStep::Any, _)) => true,
        Some((PathStep::Deep, rest)) => rest.first().is_none_or(|step| covers(std::slice::from_ref(step), field)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (text, shown) in [
            ("a", "a"),
            ("a.b.c", "a.b.c"),
            ("a[0].b", "a[0].b"),
            ("a[\"x-y\"]", "a.x-y"),
            ("['a.b'].c", "a.b.c"),
            ("[\"a]b\"]", "a]b"),
            ("a[*].b", "a[*].b"),
            ("*", "*"),
            ("*.a.*", "*.a.*"),
            ("**.ssn", "**.ssn"),
            ("**.**.ssn", "**.ssn"),
            ("a.**", "a.**"),
        ] {
            assert_eq!(parse(text).map(|steps| RedactedPath(steps).to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a[0", "a]b", "a b", "a*", "***", "a.[0]", "a[0]b", "**.a.**.b.**"]
        {
            assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
        }
    }
}
