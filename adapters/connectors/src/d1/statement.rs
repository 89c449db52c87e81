//! A statement and its values as D1 binds them.

use std::{borrow::Cow, ops::Range};

use millrace_catalogue::D1;
use millrace_core::{Result, hex, value::Value};

use crate::{
    shared::Effect,
    sqlite_text::{Placeholder, SqliteValue, before_end, check, placeholders},
};

/// A value as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes, where the transport takes them.
    Bytes(&'a [u8]),
}

/// A statement that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared<'a> {
    /// The statement. The parameters whose values go as text, and are none, are replaced by what
    /// turns the text back.
    pub text: Cow<'a, str>,
    /// The values, in the order of their numbers.
    pub parameters: Vec<Parameter<'a>>,
    /// What the statement does.
    pub effect: Effect,
    replaced: Vec<ReplacedParameter<'a>>,
}

/// A parameter that was replaced.
#[derive(Clone, Debug, PartialEq)]
struct ReplacedParameter<'a> {
    /// Its place in the text that is sent.
    range: Range<usize>,
    /// What the author wrote.
    original: &'a str,
}

/// How SQL turns a text back into the value that it stands for. Unlike `CAST`, neither function has
/// an affinity: a comparison behaves as with a bound value, and indexes are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    AsItIs,
    Json,
    Hex,
}

impl<'a> Prepared<'a> {
    /// Makes a statement ready: its text with parameters `?1`, `?2`, …, and a value for each
    /// number. Whether the transport takes bytes says `takes_bytes`.
    ///
    /// # Errors
    /// [`Denied`](millrace_core::ErrorKind::Denied) for what no driver runs;
    /// [`Syntax`](millrace_core::ErrorKind::Syntax) for more than one statement, a NUL character,
    /// and a parameter with a name; [`Data`](millrace_core::ErrorKind::Data) for an infinite
    /// number.
    pub fn of(text: &'a str, values: &'a [Value], takes_bytes: bool) -> Result<Self> {
        let effect = check(text, D1.name)?;
        // A comment behind the semicolon is a second statement to D1.
        let text = before_end(text);
        let places = placeholders(text)?;
        let sent = values.iter().map(|value| Ok(sent(SqliteValue::in_json(value, "D1")?, takes_bytes))).collect::<Result<Vec<_>>>()?;
        let form = |place: &Placeholder| place.number.checked_sub(1).and_then(|index| Some(sent.get(index)?.1)).unwrap_or(Form::AsItIs);
        let mut written = String::new();
        let mut replaced = Vec::new();
        let mut copied = 0;
        for place in &places {
            let original = &text[place.range.clone()];
            let replacement = match form(place) {
                Form::AsItIs => continue,
                Form::Json => format!("json_extract({original}, '$')"),
                Form::Hex => format!("unhex({original})"),
            };
            written.push_str(&text[copied..place.range.start]);
            let start = written.len();
            written.push_str(&replacement);
            replaced.push(ReplacedParameter { range: start..written.len(), original });
            copied = place.range.end;
        }
        let text = if replaced.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(written + &text[copied..]) };
        Ok(Self { text, parameters: sent.into_iter().map(|(parameter, _)| parameter).collect(), effect, replaced })
    }

    /// The place in the author's text for a place in the text that was sent, in bytes.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        let before = self.replaced.iter().filter(|replaced| replaced.range.end <= offset);
        offset.saturating_sub(before.map(|replaced| replaced.range.len() - replaced.original.len()).sum())
    }

    /// A column's name as if nothing had been replaced: `SELECT ?1` names its column `?1`.
    pub(super) fn original_name(&self, name: &str) -> String {
        self.replaced.iter().fold(name.to_owned(), |name, replaced| {
            match self.text.get(replaced.range.clone()) {
                // Most names are shorter than what would be in them.
                Some(sent) if sent.len() <= name.len() => name.replace(sent, replaced.original),
                _ => name,
            }
        })
    }
}

/// What is sent for a value. Of numbers D1 would make reals, so they go as JSON, in which an
/// integer is exact, and a real with its point or its exponent stays one.
fn sent(bound: SqliteValue<'_>, takes_bytes: bool) -> (Parameter<'_>, Form) {
    let json = |text: String| (Parameter::Text(Cow::Owned(text)), Form::Json);
    match bound {
        SqliteValue::Null => json("null".to_owned()),
        SqliteValue::Integer(value) => json(value.to_string()),
        SqliteValue::Real(value) => json(format!("{value:?}")),
        SqliteValue::Text(text) => (Parameter::Text(text), Form::AsItIs),
        SqliteValue::Blob(bytes) if takes_bytes => (Parameter::Bytes(bytes), Form::AsItIs),
        SqliteValue::Blob(bytes) => (Parameter::Text(Cow::Owned(hex::encode(bytes))), Form::Hex),
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::ErrorKind;

    use super::*;

    fn text(text: &str) -> Parameter<'_> {
        Parameter::Text(Cow::Borrowed(text))
    }

    #[test]
    fn what_is_no_text_goes_as_text_that_sql_turns_back() {
        let values = [Value::I64(i64::MIN), Value::Text("?1".into()), Value::F64(2.0), Value::Bytes(vec![0xde, 0xad]), Value::Null];
        let written = "SELECT '?1', ?2 AS t, [?1], ?1, ?3 -- ?1\nWHERE a = ?4 OR ?5;";
        let prepared = Prepared::of(written, &values, false).unwrap();
        let expected =
            "SELECT '?1', ?2 AS t, [?1], json_extract(?1, '$'), json_extract(?3, '$') -- ?1\nWHERE a = unhex(?4) OR json_extract(?5, '$')";
        assert_eq!(prepared.text, expected);
        assert_eq!(prepared.parameters, [text("-9223372036854775808"), text("?1"), text("2.0"), text("dead"), text("null")]);
        for (sent, name) in [("json_extract(?1, '$')", "?1"), ("unhex(?4) || 'x'", "?4 || 'x'"), ("t", "t"), ("unhex(?1)", "unhex(?1)")] {
            assert_eq!(prepared.original_name(sent), name);
        }
        assert_eq!(prepared.original_offset(expected.find("WHERE").unwrap()), written.find("WHERE").unwrap());
        assert_eq!(prepared.original_offset(3), 3);

        let prepared = Prepared::of("SELECT ?1, ?", &values[3..], true).unwrap();
        assert_eq!((&*prepared.text, &prepared.parameters[0]), ("SELECT ?1, json_extract(?, '$')", &Parameter::Bytes(&[0xde, 0xad])));
    }

    #[test]
    fn floats_stay_floats_and_infinities_are_refused() {
        for (value, expected) in [(1.0, "1.0"), (-0.0, "-0.0"), (1e300, "1e300"), (0.1, "0.1"), (f64::NAN, "null")] {
            assert_eq!(Prepared::of("SELECT ?1", &[Value::F64(value)], true).unwrap().parameters, [text(expected)]);
        }
        let refused = |text, value: f64| Prepared::of(text, &[Value::F64(value)], true).map(drop).map_err(|error| error.kind);
        assert_eq!(refused("SELECT ?1", f64::NEG_INFINITY), Err(ErrorKind::Data));
        assert_eq!(refused("SELECT :a", 1.0), Err(ErrorKind::Syntax));
        assert_eq!(refused("VACUUM", 1.0), Err(ErrorKind::Denied));
    }
}
