//! Lines of JSON → rows: the names of the columns, their types, then a list for each row.
//!
//! | type | value |
//! |---|---|
//! | integers of any size | `I64` or `U64`; digits, as of a decimal, beyond 64 bits |
//! | `Float32`, `Float64` | `F64`; `Null` for one that is not finite |
//! | `Decimal` | `Decimal`, with all its places |
//! | `Bool` | `Bool` |
//! | `String`, `FixedString`, `Enum`, `UUID`, `IPv4` and what is not named here | `Text`; `Bytes` for what is not UTF-8 |
//! | `DateTime`, `DateTime64` | `Timestamp` as RFC 3339 has it, in UTC: `2026-01-02T03:04:05.123456Z` |
//! | `Date`, `Date32`, `Time`, `Time64` | `Timestamp`, as ClickHouse writes it |
//! | `Array`, `Tuple` without names | `Array` |
//! | `Map`, `Tuple` with names, `Nested`, `JSON` | `Json`; its leaves are what they are elsewhere |
//!
//! Not a reader of JSON in general: that one would round integers, and refuse bytes.

use millrace_core::{
    Json,
    headers::Headers,
    value::{Rows, Value, unique_names},
};

/// How deep lists and objects may be nested.
const MAX_DEPTH: u8 = 64;
/// The most values of an answer, those in lists and objects included: each takes more memory than
/// an answer needs to write it.
pub(super) const MAX_VALUES: usize = 1 << 20;

/// Why there are no rows.
pub(super) enum Wrong {
    /// It has another form.
    Form(&'static str),
    /// It has more than [`MAX_VALUES`].
    TooLarge,
    /// The statement failed after its answer had begun: what the server says of it.
    Failed(String),
}

/// Reads a whole answer.
///
/// # Errors
/// It has another form, or tells of a failure.
pub(super) fn of(body: &[u8]) -> Result<Rows, Wrong> {
    let Some(whole) = body.strip_suffix(b"\n") else { return Err(failure(body).unwrap_or(Wrong::Form("the answer has no end"))) };
    let mut lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut left = MAX_VALUES;
    let mut texts = |what: &'static str| {
        let line = lines.next().ok_or(Wrong::Form(what))?;
        let Some(Value::Array(list)) = Reader::whole(line, &Shape::List(Box::new(Shape::Plain)), &mut left) else {
            return Err(failure(body).unwrap_or(Wrong::Form(what)));
        };
        Ok::<_, Wrong>(list.into_iter().map(text_of).collect::<Vec<_>>())
    };
    let names = texts("the answer has no names of columns")?;
    let types = texts("the answer has no types of columns")?;
    if names.len() != types.len() {
        return Err(Wrong::Form("the answer has another number of types than of columns"));
    }
    let shape = Shape::Each(types.iter().map(|name| Shape::of(name, 0)).collect());
    let mut rows = Vec::new();
    for line in lines {
        match Reader::whole(line, &shape, &mut left) {
            Some(Value::Array(cells)) if cells.len() == names.len() => rows.push(cells),
            _ if left == 0 => return Err(failure(body).unwrap_or(Wrong::TooLarge)),
            _ => return Err(failure(body).unwrap_or(Wrong::Form("a row has another form"))),
        }
    }
    Ok(Rows { columns: unique_names(names.iter().map(String::as_str)).into(), rows, ..Rows::default() })
}

/// How many rows were written, as the header says.
pub(super) fn written(headers: &Headers) -> u64 {
    let summary: Json = headers.first("x-clickhouse-summary").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    summary.get("written_rows").and_then(Json::as_str).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// What the server says of a failure in the middle of an answer: a line of it begins so.
fn failure(body: &[u8]) -> Option<Wrong> {
    let lines = body.split(|byte| *byte == b'\n');
    let said = lines.map(|line| String::from_utf8_lossy(line)).find(|line| line.starts_with("Code: ") && line.contains("DB::Exception"));
    said.map(|line| Wrong::Failed(line.into_owned()))
}

/// What of a type decides how its JSON is read.
enum Shape {
    /// By its JSON alone.
    Plain,
    Float,
    Decimal,
    Moment,
    List(Box<Self>),
    /// The columns, the elements of a tuple, or the members of one with names, in order.
    Each(Vec<Self>),
    /// The values of a map.
    Values(Box<Self>),
}

impl Shape {
    fn of(name: &str, depth: u8) -> Self {
        let inside = |wrapper: &str| name.strip_prefix(wrapper).and_then(|rest| rest.strip_suffix(')'));
        if depth >= MAX_DEPTH {
            return Self::Plain;
        }
        if let Some(inner) = inside("Nullable(").or_else(|| inside("LowCardinality(")) {
            return Self::of(inner, depth + 1);
        }
        if let Some(inner) = inside("Array(") {
            return Self::List(Box::new(Self::of(inner, depth + 1)));
        }
        if let Some(inner) = inside("SimpleAggregateFunction(") {
            return arguments(inner).last().map_or(Self::Plain, |value| Self::of(value, depth + 1));
        }
        if let Some(inner) = inside("Map(") {
            let value = arguments(inner).last().map_or(Self::Plain, |value| Self::of(value, depth + 1));
            return Self::Values(Box::new(value));
        }
        if let Some(inner) = inside("Tuple(") {
            return Self::Each(arguments(inner).map(|element| Self::of(unnamed(element), depth + 1)).collect());
        }
        if let Some(inner) = inside("Nested(") {
            return Self::List(Box::new(Self::Each(arguments(inner).map(|element| Self::of(unnamed(element), depth + 1)).collect())));
        }
        // Those of geometry are lists of numbers.
        if let Some(lists) = ["Point", "Ring LineString", "Polygon MultiLineString", "MultiPolygon"]
            .iter()
            .position(|names| names.split(' ').any(|known| known == name))
        {
            return (0..=lists).fold(Self::Float, |inner, _| Self::List(Box::new(inner)));
        }
        let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
        if begins(&["Float", "BFloat"]) {
            Self::Float
        } else if begins(&["Decimal"]) {
            Self::Decimal
        } else if begins(&["Date", "Time"]) {
            Self::Moment
        } else {
            Self::Plain
        }
    }
}

/// The arguments of a type, between commas.
fn arguments(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    text.split(move |character| {
        match (character, quote) {
            _ if escaped => escaped = false,
            ('\\', Some(_)) => escaped = true,
            (_, Some(open)) if character == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '`', None) => quote = Some(character),
            ('(', None) => depth += 1,
            (')', None) => depth = depth.saturating_sub(1),
            (',', None) => return depth == 0,
            _ => {}
        }
        false
    })
    .map(str::trim)
}

/// The type of an element that may have a name before it.
fn unnamed(element: &str) -> &str {
    let name = match element.strip_prefix('`') {
        // A backslash before a quote of its own.
        Some(rest) => 1 + rest.match_indices("` ").find(|(at, _)| !rest[..*at].ends_with('\\')).map_or(0, |(at, _)| at + 1),
        None => element.find([' ', '(']).unwrap_or_default(),
    };
    element.get(name..).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(element)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many values there may still be.
    left: usize,
}

impl Reader<'_> {
    /// Reads a line that is one value.
    fn whole(line: &[u8], shape: &Shape, left: &mut usize) -> Option<Value> {
        let mut reader = Reader { bytes: line, at: 0, left: *left };
        let value = reader.value(shape, 0);
        *left = reader.left;
        let value = value?;
        reader.skip_space();
        (reader.at == line.len()).then_some(value)
    }

    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Takes a sign, and the space before it.
    fn takes(&mut self, sign: u8) -> bool {
        self.skip_space();
        let found = self.bytes.get(self.at) == Some(&sign);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, shape: &Shape, depth: u8) -> Option<Value> {
        self.skip_space();
        self.left = self.left.checked_sub(1)?;
        match self.bytes.get(self.at)? {
            b'"' => self.text().map(|bytes| of_text(bytes, shape)),
            b'[' if depth < MAX_DEPTH => self.list(shape, depth + 1),
            b'{' if depth < MAX_DEPTH => self.object(shape, depth + 1),
            b't' => self.word(b"true", Value::Bool(true)),
            b'f' => self.word(b"false", Value::Bool(false)),
            b'n' => self.word(b"null", Value::Null),
            b'-' | b'0'..=b'9' => self.number(shape),
            _ => None,
        }
    }

    fn word(&mut self, word: &[u8], value: Value) -> Option<Value> {
        let rest = self.bytes.get(self.at..)?;
        self.at += word.len();
        rest.starts_with(word).then_some(value)
    }

    fn list(&mut self, shape: &Shape, depth: u8) -> Option<Value> {
        self.at += 1;
        let mut values = Vec::new();
        if self.takes(b']') {
            return Some(Value::Array(values));
        }
        loop {
            let element = match shape {
                Shape::List(element) => element,
                Shape::Each(elements) => elements.get(values.len()).unwrap_or(&Shape::Plain),
                _ => &Shape::Plain,
            };
            values.push(self.value(element, depth)?);
            if self.takes(b']') {
                return Some(Value::Array(values));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn object(&mut self, shape: &Shape, depth: u8) -> Option<Value> {
        self.at += 1;
        let mut members = serde_json::Map::new();
        if self.takes(b'}') {
            return Some(Value::Json(Json::Object(members)));
        }
        loop {
            self.skip_space();
            let key = (self.bytes.get(self.at) == Some(&b'"')).then(|| self.text()).flatten()?;
            if !self.takes(b':') {
                return None;
            }
            let inner = match shape {
                Shape::Each(elements) => elements.get(members.len()).unwrap_or(&Shape::Plain),
                Shape::Values(value) => value,
                _ => &Shape::Plain,
            };
            let value = self.value(inner, depth)?;
            members.insert(text_of(of_text(key, &Shape::Plain)), serde_json::to_value(value.json()).ok()?);
            if self.takes(b'}') {
                return Some(Value::Json(Json::Object(members)));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn number(&mut self, shape: &Shape) -> Option<Value> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(self.bytes.get(start..self.at)?).ok()?;
        let float = digits.parse::<f64>().ok()?;
        Some(match shape {
            Shape::Float => Value::F64(float),
            Shape::Decimal => Value::Decimal(digits.to_owned()),
            _ if digits.contains(['.', 'e', 'E']) => Value::F64(float),
            _ => match (digits.parse(), digits.parse()) {
                (Ok(integer), _) => Value::I64(integer),
                (Err(_), Ok(integer)) => Value::U64(integer),
                (Err(_), Err(_)) => Value::Decimal(digits.to_owned()),
            },
        })
    }

    /// A text, which need not be UTF-8; `self.at` is at its quote.
    fn text(&mut self) -> Option<Vec<u8>> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let rest = self.bytes.get(self.at..)?;
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            let (plain, rest) = rest.split_at(length);
            text.extend_from_slice(plain);
            self.at += length + 1;
            if rest.first() == Some(&b'"') {
                return Some(text);
            }
            self.at += 1;
            match rest.get(1)? {
                byte @ (b'"' | b'\\' | b'/') => text.push(*byte),
                b'b' => text.push(0x08),
                b'f' => text.push(0x0c),
                b'n' => text.push(b'\n'),
                b'r' => text.push(b'\r'),
                b't' => text.push(b'\t'),
                b'u' => {
                    let character = self.escaped()?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return None,
            }
        }
    }

    /// What stands after `\u`, and its second half.
    fn escaped(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        if !self.bytes.get(self.at..)?.starts_with(b"\\u") {
            return None;
        }
        self.at += 2;
        let second = self.unit()?.checked_sub(0xdc00).filter(|second| *second < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
    }
}

fn of_text(bytes: Vec<u8>, shape: &Shape) -> Value {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Value::Bytes(error.into_bytes()),
    };
    match shape {
        Shape::Moment => Value::Timestamp(text),
        Shape::Decimal => Value::Decimal(text),
        Shape::Float => text.parse().map_or(Value::Text(text), Value::F64),
        Shape::Plain | Shape::List(_) | Shape::Each(_) | Shape::Values(_) => Value::Text(text),
    }
}

/// A name of a column, or a key.
fn text_of(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        other => serde_json::to_value(other.json()).ok().and_then(|json| json.as_str().map(str::to_owned)).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &[u8]) -> Result<String, String> {
        match of(body) {
            Ok(rows) => Ok(serde_json::to_string(&rows.json()).unwrap()),
            Err(Wrong::Form(what)) => Err(what.to_owned()),
            Err(Wrong::TooLarge) => Err("too large".to_owned()),
            Err(Wrong::Failed(said)) => Err(said),
        }
    }

    #[test]
    fn cells_are_read_by_their_types() {
        for (kind, cell, expected) in [
            ("Int64", "-9223372036854775808", Value::I64(i64::MIN)),
            ("UInt64", "18446744073709551615", Value::U64(u64::MAX)),
            ("UInt64", "\"7\"", Value::Text("7".into())),
            ("Int256", "-170141183460469231731687303715884105729", Value::Decimal("-170141183460469231731687303715884105729".into())),
            ("Float64", "1", Value::F64(1.0)),
            ("Nullable(Float32)", "0.1", Value::F64(0.1)),
            ("Float64", "-0", Value::F64(-0.0)),
            ("Float64", "\"-inf\"", Value::F64(f64::NEG_INFINITY)),
            ("Decimal(10, 2)", "\"1.50\"", Value::Decimal("1.50".into())),
            ("LowCardinality(Nullable(String))", "null", Value::Null),
            ("Bool", "true", Value::Bool(true)),
            ("Dynamic", "1.5", Value::F64(1.5)),
            ("DateTime64(3, 'Europe\\/Berlin')", "\"2026-01-02T03:04:05.123Z\"", Value::Timestamp("2026-01-02T03:04:05.123Z".into())),
            ("Array(Nullable(Float64))", "[1, null,2.5]", Value::Array(vec![Value::F64(1.0), Value::Null, Value::F64(2.5)])),
            (
                "Array(Array(Decimal(3, 1)))",
                "[[\"1.0\"],[]]",
                Value::Array(vec![Value::Array(vec![Value::Decimal("1.0".into())]), Value::Array(vec![])]),
            ),
            ("Tuple(UInt8, String)", "[1,\"x\"]", Value::Array(vec![Value::I64(1), Value::Text("x".into())])),
            (
                "Map(String, UInt64)",
                "{\"a\":1,\"b\":18446744073709551615}",
                Value::Json(serde_json::json!({"a": 1, "b": "18446744073709551615"})),
            ),
            (
                "Tuple(`a b, c` Float64, d Map(String, Decimal(9, 2)), e Tuple(Float32, Enum8(',' = 1)))",
                "{\"a b, c\":1,\"d\":{\"x\":\"1.50\"},\"e\":[2,\",\"]}",
                Value::Json(serde_json::json!({"a b, c": 1.0, "d": {"x": "1.50"}, "e": [2.0, ","]})),
            ),
            ("Nested(a Float64)", "[{\"a\":1}]", Value::Array(vec![Value::Json(serde_json::json!({"a": 1.0}))])),
            ("Ring", "[[1,2]]", Value::Array(vec![Value::Array(vec![Value::F64(1.0), Value::F64(2.0)])])),
            ("String", r#""\u0000\/\"\\\u00e9\ud83d\ude00\b\f\n\r\t""#, Value::Text("\0/\"\\é😀\u{8}\u{c}\n\r\t".into())),
        ] {
            let body = format!("[\"v\"]\n[\"{kind}\"]\n[{cell}]\n");
            let Ok(rows) = of(body.as_bytes()) else { panic!("{body}") };
            assert_eq!(rows.rows, [[expected]], "{kind} {cell}");
        }
        let Ok(rows) = of(b"[\"v\"]\n[\"String\"]\n[\"a\xff\"]\n") else { panic!("bytes") };
        assert_eq!(rows.rows, [[Value::Bytes(vec![b'a', 0xff])]]);
        assert_eq!(read(b"[\"a\",\"a\"]\n[\"Int8\",\"Int8\"]\n\n[1, 2]\n").unwrap(), r#"[{"a":1,"a_2":2}]"#);
        assert_eq!(read(b"[\"a\"]\n[\"Int8\"]\n").unwrap(), "[]");
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let deep = format!("[\"a\"]\n[\"JSON\"]\n[{}{}]\n", "[".repeat(100), "]".repeat(100));
        let deep_type = format!("[\"a\"]\n[\"{}Int8{}\"]\n[1]\n", "Array(".repeat(300), ")".repeat(300));
        assert!(read(deep_type.as_bytes()).is_ok());
        for body in [
            "",
            "\n",
            "[\"a\"]\n",
            "[\"a\"]\n[]\n",
            "[\"a\"]\n[\"Int8\"]\n[1]",
            "[\"a\"]\n[\"Int8\"]\n[1,2]\n",
            "[\"a\"]\n[\"Int8\"]\n[]\n",
            "[\"a\"]\n[\"Int8\"]\n[1\n",
            "[\"a\"]\n[\"Int8\"]\n[1] x\n",
            "[\"a\"]\n[\"Int8\"]\n[truth]\n",
            "[\"a\"]\n[\"Int8\"]\n[1-2]\n",
            "[\"a\"]\n[\"String\"]\n[\"\\ud800\"]\n",
            "[\"a\"]\n[\"String\"]\n[\"\\u+041\"]\n",
            "[\"a\"]\n[\"String\"]\n[\"\\x\"]\n",
            "[\"a\"]\n[\"JSON\"]\n[{\"a\" 1}]\n",
            "[\"a\"]\n[\"JSON\"]\n[{1:1}]\n",
            "<html>\n",
            &deep,
        ] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
        for body in [
            "[\"a\"]\n[\"Int8\"]\n[1]\nCode: 159. DB::Exception: Timeout exceeded: x. (TIMEOUT_EXCEEDED)\n",
            "[\"a\"]\n[\"Int8\"]\n[1]\n[2\r\n__exception__\r\nabc\r\nCode: 159. DB::Exception: Timeout exceeded",
        ] {
            assert!(read(body.as_bytes()).unwrap_err().starts_with("Code: 159. DB::Exception"), "{body}");
        }
    }

    #[test]
    fn an_answer_has_so_many_values_and_no_more() {
        // Two lines of a name and of a type, and a list of the row, take five.
        let answer = |count: usize| format!("[\"a\"]\n[\"Array(Int8)\"]\n[[{}]]\n", vec!["1"; count].join(","));
        assert!(read(answer(MAX_VALUES - 6).as_bytes()).is_ok());
        assert_eq!(read(answer(MAX_VALUES - 5).as_bytes()).unwrap_err(), "too large");
        assert_eq!(read(answer(2 * MAX_VALUES).as_bytes()).unwrap_err(), "too large");
    }

    #[test]
    fn a_summary_says_how_many_rows_were_written() {
        for (summary, expected) in [(r#"{"read_rows":"3","written_rows":"2"}"#, 2), ("{}", 0), ("x", 0), (r#"{"written_rows":"-1"}"#, 0)] {
            let mut headers = Headers::new();
            headers.append("X-ClickHouse-Summary", summary);
            assert_eq!(written(&headers), expected, "{summary}");
        }
    }
}
