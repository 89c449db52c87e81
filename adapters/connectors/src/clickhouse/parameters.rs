//! Values → the texts of parameters, as ClickHouse reads them: escaped as in its format
//! `TabSeparated`, and in lists as its literals are.
//!
//! | value | text |
//! |---|---|
//! | `Null` | `\N`, only for a type that is `Nullable`; for a type of lists an empty one |
//! | `Bool` | `true`, `false`; 1 or 0 for a type of integers |
//! | `I64`, `U64`, `F64`, `Decimal` | its digits; an integer must be one of the type |
//! | `Text` | itself |
//! | `Bytes` | itself: a `String` of ClickHouse has any bytes |
//! | `Timestamp` | for a type of UTC, the same moment there, without a zone: ClickHouse reads none |
//! | `Json` | its JSON, as text; a list of it for a type of lists |
//! | `Array` | a list; its JSON for a type of texts |
//!
//! <https://clickhouse.com/docs/interfaces/http#cli-queries-with-parameters>, `src/Analyzer/QueryTreeBuilder` and
//! `src/Interpreters/ReplaceQueryParameterVisitor.cpp` of <https://github.com/ClickHouse/ClickHouse>.

use std::borrow::Cow;

use millrace_core::{Error, ErrorKind, Json, Result, value::Value};
use millrace_languages::clickhouse::Judged;

use crate::shared::utc_text;

/// The numbers and the texts of parameters.
pub(super) type Parameters = Vec<(usize, Vec<u8>)>;

/// How deep lists may be nested.
const MAX_DEPTH: usize = 16;
/// The years that ClickHouse has dates of.
const YEARS: std::ops::RangeInclusive<u16> = 1900..=2299;

/// The statement and what is sent for its places. The values of an `EXPLAIN` may be missing: their
/// types are then made such.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a place without a value, and for a value without a place;
/// [`Data`](ErrorKind::Data) for a value that its type does not have.
pub(super) fn of<'a>(text: &'a str, judged: &Judged<'_>, values: &[Value]) -> Result<(Cow<'a, str>, Parameters)> {
    let mut parameters = Parameters::new();
    let mut changed = String::new();
    let mut copied = 0;
    for parameter in &judged.parameters {
        let number = parameter.number();
        let value = number.and_then(|number| values.get(number - 1)).zip(number);
        let Some((value, number)) = value else {
            let message = format!(
                "`{{{}:{}}}` has no value: the values are `p1`, `p2`, …, and there are {}",
                parameter.name,
                parameter.kind,
                values.len()
            );
            return Err(Error::new(ErrorKind::Syntax, message));
        };
        let kind = Kind::of(parameter.kind);
        let sent = match value {
            Value::Null if judged.explains && !kind.is_nullable => match kind.missing() {
                Some(stand_in) => stand_in.as_bytes().to_vec(),
                None => {
                    let (before, name) = (text.get(copied..parameter.range.start), text.get(parameter.range.clone()));
                    changed.extend([before.unwrap_or_default(), "Nullable(", name.unwrap_or_default(), ")"]);
                    copied = parameter.range.end;
                    b"\\N".to_vec()
                }
            },
            value => kind.text(value).map_err(|wrong| {
                let message = format!("value {number} of the statement {wrong} for its type `{}`", parameter.kind);
                Error::new(ErrorKind::Data, message)
            })?,
        };
        match parameters.iter().find(|(known, _)| *known == number) {
            None => parameters.push((number, sent)),
            Some((_, known)) if *known == sent => {}
            Some(_) => {
                let message = format!("`p{number}` has several types in the statement that do not take the same text");
                return Err(Error::new(ErrorKind::Syntax, message));
            }
        }
    }
    if let Some(unused) = (1..=values.len()).find(|number| parameters.iter().all(|(known, _)| known != number)) {
        return Err(Error::new(
            ErrorKind::Syntax,
            format!("the statement has no place for its value {unused}, such as `{{p{unused}:String}}`"),
        ));
    }
    if copied == 0 {
        return Ok((text.into(), parameters));
    }
    changed.push_str(text.get(copied..).unwrap_or_default());
    Ok((changed.into(), parameters))
}

/// What a type takes.
struct Kind<'a> {
    is_nullable: bool,
    base: Base<'a>,
}

enum Base<'a> {
    /// `Int8` to `Int64`, with their ends.
    Integer(i128, i128),
    /// `Float64`, `Decimal(9, 2)`, `Int256` and others that are written as digits.
    Number,
    Bool,
    /// A moment of UTC.
    Utc,
    /// A date.
    Date,
    List(&'a str),
    /// What is written as a text.
    Text,
}

type Wrong = &'static str;

const NO_NUMBER: Wrong = "is not a number";
const NULL: Wrong = "is missing or null, and must not be";
const OUT_OF_RANGE: Wrong = "is out of range";

impl<'a> Kind<'a> {
    fn of(name: &'a str) -> Self {
        let mut name = name.trim();
        let mut is_nullable = false;
        loop {
            let inside = |wrapper: &str| name.strip_prefix(wrapper).and_then(|rest| rest.trim_end().strip_suffix(')')).map(str::trim);
            match (inside("Nullable("), inside("LowCardinality(")) {
                (Some(inner), _) => (name, is_nullable) = (inner, true),
                (None, Some(inner)) => name = inner,
                (None, None) => break,
            }
        }
        let base = if let Some(inner) = name.strip_prefix("Array(").and_then(|rest| rest.strip_suffix(')')) {
            Base::List(inner)
        } else {
            Base::of(name)
        };
        Self { is_nullable, base }
    }

    /// What stands for a value of an `EXPLAIN`; `None` where `NULL` can.
    const fn missing(&self) -> Option<&'static str> {
        match self.base {
            Base::Integer(..) | Base::Number => Some("0"),
            Base::Bool => Some("false"),
            Base::List(_) => Some("[]"),
            Base::Utc | Base::Date | Base::Text => None,
        }
    }

    /// The text of a value.
    fn text(&self, value: &Value) -> Result<Vec<u8>, Wrong> {
        match (value, &self.base) {
            (Value::Null, _) if self.is_nullable => return Ok(b"\\N".to_vec()),
            (Value::Null, Base::List(_)) => return Ok(b"[]".to_vec()),
            (Value::Null, _) => return Err(NULL),
            _ => {}
        }
        let mut out = Vec::new();
        match self.base {
            Base::List(elements) => list(value, elements, 0, &mut out)?,
            _ => escape(&self.plain(value)?, &mut out),
        }
        Ok(out)
    }

    /// The text of a value that is neither null nor for a list, without escapes.
    fn plain<'v>(&self, value: &'v Value) -> Result<Cow<'v, [u8]>, Wrong> {
        let text = match (value, &self.base) {
            (Value::Bool(truth), Base::Integer(..)) => Cow::Borrowed(if *truth { "1" } else { "0" }),
            // What is beyond 128 bits is out of every range.
            #[expect(clippy::cast_possible_truncation, reason = "the greatest and the least, then")]
            (Value::F64(number), Base::Integer(..)) if number.fract() == 0.0 => Cow::Owned((*number as i128).to_string()),
            (Value::Bytes(bytes), Base::Text) => return Ok(Cow::Borrowed(bytes)),
            (Value::Bytes(_), _) => return Err("is bytes"),
            (Value::Null, _) => return Err(NULL),
            (Value::Text(text) | Value::Timestamp(text) | Value::Decimal(text), _) => Cow::Borrowed(text.as_str()),
            // As JSON has it: a number, a truth value, a list, an object.
            (Value::Bool(_) | Value::I64(_) | Value::U64(_) | Value::F64(_) | Value::Json(_) | Value::Array(_), _) => {
                Cow::Owned(json_of(value))
            }
        };
        let text = match self.base {
            Base::Integer(least, greatest) => {
                let number = text.parse::<f64>().map_err(|_| NO_NUMBER)?;
                match text.parse::<i128>() {
                    Ok(integer) if (least..=greatest).contains(&integer) => text,
                    Err(_) if number.fract() != 0.0 => return Err("is not an integer"),
                    _ => return Err(OUT_OF_RANGE),
                }
            }
            Base::Number => {
                text.parse::<f64>().map_err(|_| NO_NUMBER)?;
                text
            }
            Base::Utc => {
                let moment = utc_text(&text).map_or(text, Cow::Owned);
                in_years(&moment)?;
                moment
            }
            Base::Date => {
                in_years(&text)?;
                text
            }
            Base::Bool | Base::Text | Base::List(_) => text,
        };
        Ok(match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }

    /// Whether a literal of it is without quotes.
    const fn is_bare(&self) -> bool {
        matches!(self.base, Base::Integer(..) | Base::Number | Base::Bool)
    }
}

/// The aliases of types of integers, in any case: <https://clickhouse.com/docs/sql-reference/data-types/int-uint>.
const ALIASES: [(&str, &str); 21] = [
    ("BIGINT", "Int64"),
    ("BIGINT SIGNED", "Int64"),
    ("BIGINT UNSIGNED", "UInt64"),
    ("BIT", "UInt64"),
    ("BYTE", "Int8"),
    ("INT", "Int32"),
    ("INT SIGNED", "Int32"),
    ("INT UNSIGNED", "UInt32"),
    ("INT1", "Int8"),
    ("INTEGER", "Int32"),
    ("INTEGER SIGNED", "Int32"),
    ("INTEGER UNSIGNED", "UInt32"),
    ("MEDIUMINT", "Int32"),
    ("SIGNED", "Int64"),
    ("SMALLINT", "Int16"),
    ("SMALLINT SIGNED", "Int16"),
    ("SMALLINT UNSIGNED", "UInt16"),
    ("TINYINT", "Int8"),
    ("TINYINT UNSIGNED", "UInt8"),
    ("UNSIGNED", "UInt64"),
    ("YEAR", "UInt16"),
];

impl Base<'_> {
    fn of(name: &str) -> Self {
        let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        let name = alias.map_or(name, |(_, name)| name);
        let bits = |digits: &str| digits.parse::<u32>().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64));
        if let Some(bits) = name.strip_prefix("UInt").and_then(bits) {
            return Self::Integer(0, (1 << bits) - 1);
        }
        if let Some(bits) = name.strip_prefix("Int").and_then(bits) {
            return Self::Integer(-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
        }
        let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
        if begins(&["Int", "UInt", "Float", "BFloat", "Decimal"]) {
            Self::Number
        } else if name == "Bool" || name == "Boolean" {
            Self::Bool
        } else if name.starts_with("DateTime") {
            if name.contains("'UTC'") { Self::Utc } else { Self::Text }
        } else if name == "Date32" {
            Self::Date
        } else {
            Self::Text
        }
    }
}

/// Refuses what ClickHouse would take for another year.
fn in_years(text: &str) -> Result<(), Wrong> {
    let year = text.split_once('-').filter(|(digits, _)| digits.len() == 4).and_then(|(digits, _)| digits.parse().ok());
    match year {
        Some(year) if !YEARS.contains(&year) => Err("is not between the years 1900 and 2299"),
        _ => Ok(()),
    }
}

/// A list. A single value is a list of one.
fn list(value: &Value, elements: &str, depth: usize, out: &mut Vec<u8>) -> Result<(), Wrong> {
    if depth >= MAX_DEPTH {
        return Err("is a list with too many lists inside each other");
    }
    let own: Vec<Value>;
    let values = match value {
        Value::Array(values) => values.as_slice(),
        Value::Json(Json::Array(values)) => {
            own = values.iter().map(of_json).collect();
            &own
        }
        single => std::slice::from_ref(single),
    };
    let kind = Kind::of(elements);
    out.push(b'[');
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        match (value, &kind.base) {
            (Value::Null, _) if kind.is_nullable => out.extend_from_slice(b"NULL"),
            (Value::Null, _) => return Err("has an element that is null, and must not be"),
            (value, Base::List(inner)) => list(value, inner, depth + 1, out)?,
            (value, _) => {
                let text = kind.plain(value)?;
                // A text without quotes must not be more than one value.
                let is_one = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                match kind.is_bare() {
                    true if text.is_empty() || !text.iter().all(is_one) => return Err("has an element of another type"),
                    true => out.extend_from_slice(&text),
                    false => {
                        out.push(b'\'');
                        escape(&text, out);
                        out.push(b'\'');
                    }
                }
            }
        }
    }
    out.push(b']');
    Ok(())
}

/// Escapes what would end a text, or begin an escape.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        let escaped = match byte {
            b'\\' | b'\'' => byte,
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            0 => b'0',
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', escaped]);
    }
}

/// The JSON of a value as a text. Integers stay exact.
fn json_of(value: &Value) -> String {
    match value {
        Value::I64(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F64(number) if !number.is_finite() => number.to_string().to_ascii_lowercase(),
        Value::F64(number) => Json::from(*number).to_string(),
        Value::Json(Json::String(text)) => text.clone(),
        Value::Json(json) => json.to_string(),
        value => serde_json::to_string(&value.json()).unwrap_or_default(),
    }
}

fn of_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text.clone()),
        other => Value::Json(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use millrace_languages::clickhouse::judge;

    use super::*;

    fn text(kind: &str, value: &Value) -> Result<String, Wrong> {
        Kind::of(kind).text(value).map(|bytes| bytes.escape_ascii().to_string())
    }

    fn words(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn values_are_texts_of_their_types() {
        let list = Value::Array(vec![words("a'b"), Value::Null, words("c\\\t")]);
        for (kind, value, expected) in [
            ("String", words("it's \\ \t\n\r\0 é \\N"), r"it\\\'s \\\\ \\t\\n\\r\\0 \xc3\xa9 \\\\N"),
            ("Nullable(String)", Value::Null, r"\\N"),
            ("LowCardinality(Nullable(String))", Value::Null, r"\\N"),
            ("String", Value::Bytes(vec![0, 0xff, b'\'']), r"\\0\xff\\\'"),
            ("Int64", Value::I64(i64::MIN), "-9223372036854775808"),
            ("UInt64", Value::U64(u64::MAX), "18446744073709551615"),
            ("Int128", Value::Decimal("170141183460469231731687303715884105727".into()), "170141183460469231731687303715884105727"),
            ("Int8", Value::Bool(true), "1"),
            ("Bool", Value::Bool(true), "true"),
            ("Float64", Value::F64(1e300), "1e+300"),
            ("Int64", Value::F64(-7.0), "-7"),
            ("Float64", Value::F64(f64::NEG_INFINITY), "-inf"),
            ("Float64", Value::I64(7), "7"),
            ("Decimal(9, 2)", Value::Decimal("1.50".into()), "1.50"),
            ("String", Value::I64(7), "7"),
            ("String", Value::Json(serde_json::json!({"a": ["x'"]})), r#"{\"a\":[\"x\\\'\"]}"#),
            ("DateTime64(6, 'UTC')", Value::Timestamp("2026-01-02T05:04:05.5+02:00".into()), "2026-01-02 03:04:05.5"),
            ("DateTime", words("2026-01-02T05:04:05Z"), "2026-01-02T05:04:05Z"),
            ("Date32", Value::Timestamp("1900-01-01".into()), "1900-01-01"),
            ("Array(Nullable(String))", list.clone(), r"[\'a\\\'b\',NULL,\'c\\\\\\t\']"),
            ("Array(Int64)", Value::Json(serde_json::json!([1, -2])), "[1,-2]"),
            ("Array(Int64)", Value::I64(7), "[7]"),
            ("Array(Int64)", Value::Null, "[]"),
            ("Array(String)", Value::Json(serde_json::json!([1, true, {"a": 1}, "x"])), r#"[\'1\',\'true\',\'{\"a\":1}\',\'x\']"#),
            ("Array(Array(UInt8))", Value::Json(serde_json::json!([[1], []])), "[[1],[]]"),
            ("Array(DateTime64(6, 'UTC'))", Value::Array(vec![words("2026-01-02T03:04:05Z")]), r"[\'2026-01-02 03:04:05\']"),
            ("String", Value::Array(vec![Value::I64(1)]), "[1]"),
        ] {
            assert_eq!(text(kind, &value).unwrap_or_else(|wrong| panic!("{kind} {value:?} {wrong}")), expected, "{kind} {value:?}");
        }
    }

    #[test]
    fn a_value_that_the_type_does_not_have_is_refused() {
        let deep = (0..20).fold(Value::I64(1), |inner, _| Value::Array(vec![inner]));
        let deep_type = format!("{}Int8{}", "Array(".repeat(20), ")".repeat(20));
        for (kind, value) in [
            ("Int64", Value::Null),
            ("Int64", Value::U64(1 << 63)),
            ("Int64", Value::F64(1e20)),
            ("Int8", Value::I64(128)),
            ("tinyint", Value::I64(128)),
            ("Nullable(Integer Unsigned)", Value::I64(-1)),
            ("Array(LowCardinality(SMALLINT))", Value::I64(32768)),
            ("UInt8", Value::I64(-1)),
            ("Int64", Value::F64(1.5)),
            ("Int64", words("1 OR 1")),
            ("Float64", words("x")),
            ("Int64", Value::Bytes(vec![1])),
            ("Date32", words("1899-12-31")),
            ("DateTime64(6, 'UTC')", Value::Timestamp("2300-01-01T00:00:00Z".into())),
            ("Array(Int64)", Value::Array(vec![words("1,2")])),
            ("Array(Int64)", Value::Array(vec![Value::U64(1 << 63)])),
            ("Array(Bool)", Value::Array(vec![words("true,false")])),
            ("Array(String)", Value::Array(vec![Value::Null])),
            (&deep_type, deep),
        ] {
            assert!(text(kind, &value).is_err(), "{kind} {value:?}");
        }
    }

    #[test]
    fn each_value_has_a_place() {
        let sent = |text: &str, values: &[Value]| of(text, &judge(text).unwrap(), values).map(|(text, sent)| (text.into_owned(), sent));
        let (text, two) = sent("SELECT {p2:String}, {p1:Int8}, {p2:String}", &[Value::I64(1), words("x")]).unwrap();
        assert_eq!((text.as_str(), two), ("SELECT {p2:String}, {p1:Int8}, {p2:String}", vec![(2, b"x".to_vec()), (1, b"1".to_vec())]));
        for (text, values) in [
            ("SELECT {p2:String}", vec![words("x")]),
            ("SELECT {name:String}", vec![words("x")]),
            ("SELECT {p0:String}", vec![words("x")]),
            ("SELECT 1", vec![words("x")]),
            ("SELECT {p1:Int64}, {p1:Array(Int64)}", vec![Value::I64(1)]),
            ("SELECT {p1:Int64}", vec![Value::Null]),
        ] {
            assert!(sent(text, &values).is_err(), "{text}");
        }
        // What is explained has no values yet.
        let nulls = [Value::Null, Value::Null, Value::Null];
        let (text, stand_ins) = sent("EXPLAIN SELECT {p1:String}, {p2:Int64}, {p3:Array(Date32)}, {p1:String}", &nulls).unwrap();
        assert_eq!(text, "EXPLAIN SELECT {p1:Nullable(String)}, {p2:Int64}, {p3:Array(Date32)}, {p1:Nullable(String)}");
        assert_eq!(stand_ins, [(1, b"\\N".to_vec()), (2, b"0".to_vec()), (3, b"[]".to_vec())]);
    }
}
