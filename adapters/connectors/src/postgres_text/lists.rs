//! What becomes of a list: what PostgreSQL takes in its place, whatever the words around it look
//! like.
//!
//! | the server describes | a list is |
//! |---|---|
//! | an array, or a domain over one | an array: a list in it is a dimension |
//! | an array of `json` or `jsonb` | an array of documents: a list in it is a document |
//! | anything else | a JSON document |
//!
//! A server describes the types of a statement's parameters without running it. That takes a
//! question, so the answers are kept for a minute; only a statement that is given a list is asked
//! about.

use std::{borrow::Cow, cell::RefCell};

use millrace_core::{Error, ErrorKind, Json, value::Value};

use super::{Oid, array};

/// What each type is to a list: `d` a document, `j` an array of documents, or the sign between the
/// elements of an array.
macro_rules! form_of_type {
    () => {
        "CASE WHEN t.typcategory OPERATOR(pg_catalog.<>) 'A' THEN 'd' WHEN COALESCE(NULLIF(e.typbasetype, 0::pg_catalog.oid), e.oid) IN (114, 3802) THEN 'j' \
         WHEN e.typdelim OPERATOR(pg_catalog.=) ';' THEN ';' ELSE ',' END"
    };
}
/// The type, and the type of its elements, of each number `u.o`.
macro_rules! types_of_numbers {
    () => {
        "JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) u.o \
         LEFT JOIN pg_catalog.pg_type AS b ON b.oid OPERATOR(pg_catalog.=) t.typbasetype \
         LEFT JOIN pg_catalog.pg_type AS e ON e.oid OPERATOR(pg_catalog.=) CASE WHEN t.typtype OPERATOR(pg_catalog.=) 'd' THEN b.typelem ELSE t.typelem END"
    };
}
pub(crate) use {form_of_type, types_of_numbers};

/// The forms of the types with these numbers, in their order.
pub(crate) const FORMS_OF_TYPES: &str = concat!(
    "SELECT ",
    form_of_type!(),
    " FROM pg_catalog.unnest($1::pg_catalog.oid[]) WITH ORDINALITY AS u (o, place) ",
    types_of_numbers!(),
    " ORDER BY u.place"
);
/// The forms of the types of a prepared statement's parameters, in their order.
pub(crate) const FORMS_OF_PREPARED: &str = concat!(
    "SELECT ",
    form_of_type!(),
    " FROM pg_catalog.pg_prepared_statements AS s, pg_catalog.unnest(s.parameter_types) WITH ORDINALITY AS u (o, place) ",
    types_of_numbers!(),
    " WHERE s.name OPERATOR(pg_catalog.=) $1 ORDER BY u.place"
);

/// What a list is in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListForm {
    /// A JSON document.
    #[default]
    Document,
    /// An array, with the sign between its elements.
    Array(char),
    /// An array of JSON documents.
    Documents,
}

impl ListForm {
    /// As a row of the questions above has it.
    pub(crate) fn read(cell: &str) -> Self {
        match cell {
            "j" => Self::Documents,
            ";" => Self::Array(';'),
            "," => Self::Array(','),
            _ => Self::Document,
        }
    }

    /// That of a type that every server has; `None` for one that the server has to be asked about.
    pub(crate) const fn of(oid: Oid) -> Option<Self> {
        match oid {
            // `text`, `varchar`, `json`, `jsonb`
            25 | 1043 | 114 | 3802 => Some(Self::Document),
            // `json[]`, `jsonb[]`
            199 | 3807 => Some(Self::Documents),
            // `bool[]`, `int2[]`, `int4[]`, `int8[]`, `text[]`, `varchar[]`, `float4[]`,
            // `float8[]`, `date[]`, `timestamp[]`, `timestamptz[]`, `numeric[]`, `uuid[]`
            1000 | 1005 | 1007 | 1016 | 1009 | 1015 | 1021 | 1022 | 1182 | 1115 | 1185 | 1231 | 2951 => Some(Self::Array(',')),
            _ => None,
        }
    }
}

/// Whether there is a list among values.
pub(crate) fn has_lists(values: &[Value]) -> bool {
    values.iter().any(|value| matches!(value, Value::Json(Json::Array(_)) | Value::Array(_)))
}

/// The values, with each list in the form of its place. Where the forms are not known, a list stays
/// what the words around it make of it.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a list with more dimensions than an array may have.
pub(crate) fn placed<'v>(values: &'v [Value], forms: Option<&[ListForm]>) -> Result<Cow<'v, [Value]>, Error> {
    let form = |at: usize| forms.and_then(|forms| forms.get(at).copied());
    let is_placed = |(at, value): (usize, &Value)| match (value, form(at)) {
        (_, None) => true,
        (Value::Array(_), Some(form)) => form == ListForm::Array(','),
        (Value::Json(Json::Array(_)), Some(form)) => form == ListForm::Document,
        _ => true,
    };
    if values.iter().enumerate().all(is_placed) {
        return Ok(Cow::Borrowed(values));
    }
    let place = |(at, value): (usize, &Value)| {
        if is_placed((at, value)) {
            return Ok(value.clone());
        }
        let elements = match (value, form(at)) {
            (Value::Array(elements), Some(ListForm::Array(sign))) => return Ok(Value::Text(array::write(elements, sign))),
            (Value::Json(Json::Array(elements)), _) => Cow::Borrowed(elements),
            (other, _) => Cow::Owned(json(other)),
        };
        Ok(match form(at).unwrap_or_default() {
            ListForm::Document => Value::Json(Json::Array(elements.into_owned())),
            ListForm::Documents => Value::Array(elements.iter().map(document).collect()),
            ListForm::Array(sign) => {
                let elements = elements.iter().map(|value| element(value, 1)).collect::<Option<Vec<_>>>();
                let elements = elements.ok_or_else(|| {
                    Error::new(ErrorKind::Data, "a list has more lists within each other than PostgreSQL allows dimensions, 6")
                })?;
                if sign == ',' { Value::Array(elements) } else { Value::Text(array::write(&elements, sign)) }
            }
        })
    };
    values.iter().enumerate().map(place).collect::<Result<_, _>>().map(Cow::Owned)
}

/// The elements of an array as JSON.
fn json(value: &Value) -> Vec<Json> {
    match serde_json::to_value(value.json()) {
        Ok(Json::Array(elements)) => elements,
        _ => Vec::new(),
    }
}

fn document(value: &Json) -> Value {
    if value.is_null() { Value::Null } else { Value::Json(value.clone()) }
}

/// An element of an array, in the dimension `depth`; `None` where there are too many of these.
fn element(value: &Json, depth: usize) -> Option<Value> {
    Some(match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text.clone()),
        // With the digits that it was sent with.
        Json::Number(number) => Value::Decimal(number.to_string()),
        Json::Array(_) if depth >= array::DEEPEST => return None,
        Json::Array(elements) => Value::Array(elements.iter().map(|value| element(value, depth + 1)).collect::<Option<_>>()?),
        Json::Object(_) => Value::Json(value.clone()),
    })
}

/// The most statements of which something is kept.
const MOST_KEPT: usize = 500;
/// How long what was found out of a statement is kept, in milliseconds: somebody may change a
/// column's type meanwhile, and a value that is written for the old one need not fail. As a
/// `timestamp`, a time with a zone loses it.
const KEPT_MS: u64 = 60_000;

/// What was found out of statements, by their texts and the types of their values.
#[derive(Debug)]
pub(crate) struct Known<T>(RefCell<Vec<KnownStatement<T>>>);

#[derive(Debug)]
struct KnownStatement<T> {
    text: String,
    /// The types that the values are declared with.
    types: Vec<Oid>,
    found: T,
    /// When it was found out, in milliseconds since the Unix epoch.
    found_ms: u64,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T> KnownStatement<T> {
    fn is_of(&self, text: &str, types: impl Iterator<Item = Oid>) -> bool {
        self.text == text && self.types.iter().copied().eq(types)
    }
}

impl<T: Clone> Known<T> {
    /// What is known of a statement, where it was found out less than a minute ago.
    pub(crate) fn of(&self, text: &str, types: impl Iterator<Item = Oid> + Clone, now_ms: u64) -> Option<T> {
        let known = self.0.borrow();
        let known = known.iter().find(|known| known.is_of(text, types.clone()))?;
        (now_ms.saturating_sub(known.found_ms) < KEPT_MS).then(|| known.found.clone())
    }

    /// Keeps it; the oldest make room.
    pub(crate) fn keep(&self, text: &str, types: impl Iterator<Item = Oid> + Clone, found: T, now_ms: u64) {
        self.forget(text, types.clone());
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST_KEPT {
            known.remove(0);
        }
        known.push(KnownStatement { text: text.to_owned(), types: types.collect(), found, found_ms: now_ms });
    }

    /// Forgets it: the statement failed so that it may not be right any more.
    pub(crate) fn forget(&self, text: &str, types: impl Iterator<Item = Oid> + Clone) {
        self.0.borrow_mut().retain(|known| !known.is_of(text, types.clone()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::postgres_text::Parameter;

    #[test]
    fn lists_are_written_as_their_places_take_them() {
        let awkward = json!(["a", "", "NULL", null, "x\"y", "{z}", "\\", "a,b", 1, 1.5, true, {"k": [1]}]);
        let list = |json: &Json| vec![Value::I64(7), Value::Json(json.clone())];
        let text = |json: &Json, form| {
            let values = list(json);
            let placed = placed(&values, Some(&[ListForm::Document, form])).unwrap();
            assert_eq!(placed[0], Value::I64(7));
            Parameter::of(&placed[1]).value.unwrap()
        };
        assert_eq!(text(&awkward, ListForm::Document), awkward.to_string());
        assert_eq!(
            text(&awkward, ListForm::Array(',')),
            r#"{"a","","NULL",NULL,"x\"y","{z}","\\","a,b","1","1.5","true","{\"k\":[1]}"}"#.replace("\"true\"", "\"t\"")
        );
        assert_eq!(text(&json!(["a", [1], {"k": 1}, null]), ListForm::Documents), r#"{"\"a\"","[1]","{\"k\":1}",NULL}"#);
        assert_eq!(text(&json!([[1, 2], [3, null]]), ListForm::Array(',')), r#"{{"1","2"},{"3",NULL}}"#);
        assert_eq!(text(&json!([]), ListForm::Array(',')), "{}");
        assert_eq!(text(&json!(["(1,1),(0,0)", "(2,2),(0,0)"]), ListForm::Array(';')), r#"{"(1,1),(0,0)";"(2,2),(0,0)"}"#);
        let deep = json!([[[[[[[1]]]]]]]);
        assert_eq!(placed(&list(&deep), Some(&[ListForm::Document, ListForm::Array(',')])).unwrap_err().kind, ErrorKind::Data);
        assert_eq!(*placed(&list(&deep), None).unwrap(), *list(&deep), "a document may be deep");
        assert!(has_lists(&list(&deep)) && has_lists(&[Value::Array(vec![])]) && !has_lists(&[Value::Json(json!({}))]));
        // What the words around it made an array of, or a script gave.
        let array = [Value::Array(vec![Value::I64(1), Value::Null, Value::Text("a".into())])];
        let of = |form| placed(&array, Some(&[form])).unwrap().into_owned();
        assert!(matches!(placed(&array, Some(&[ListForm::Array(',')])), Ok(Cow::Borrowed(_))));
        assert!(matches!(placed(&array, None), Ok(Cow::Borrowed(_))));
        assert_eq!(of(ListForm::Document), [Value::Json(json!([1, null, "a"]))]);
        assert_eq!(of(ListForm::Documents), [Value::Array(vec![Value::Json(json!(1)), Value::Null, Value::Json(json!("a"))])]);
        assert_eq!(of(ListForm::Array(';')), [Value::Text(r#"{"1";NULL;"a"}"#.into())]);
    }

    #[test]
    fn what_is_known_is_kept_for_a_minute_and_for_the_values_that_it_was_found_for() {
        let known = Known::default();
        let (text, number) = ([0].into_iter(), [23].into_iter());
        known.keep("a", text.clone(), "uuid", 1_000);
        assert_eq!(known.of("a", text.clone(), 1_000 + KEPT_MS - 1), Some("uuid"));
        let others = [known.of("a", text.clone(), 1_000 + KEPT_MS), known.of("a", number, 1_000), known.of("b", text.clone(), 1_000)];
        assert_eq!(others, [None; 3]);
        known.keep("a", text.clone(), "date", 2_000);
        assert_eq!(known.of("a", text.clone(), 2_000), Some("date"));
        known.forget("a", text.clone());
        assert_eq!(known.of("a", text.clone(), 2_000), None);
        known.keep("a", text.clone(), "date", 2_000);
        for number in 0..MOST_KEPT {
            known.keep(&format!("s{number}"), text.clone(), "date", 3_000);
        }
        assert_eq!((known.of("a", text, 3_000), known.0.borrow().len()), (None, MOST_KEPT));
    }
}
