//! The mathematical functions of SQLite, which D1, libSQL and the sqlite3 shell have and a build of
//! SQLite has only where it was asked for: `SQLITE_ENABLE_MATH_FUNCTIONS`. A setting of the C
//! compiler is lost in builds from elsewhere, so they are here. Each takes constant time.
//!
//! <https://sqlite.org/lang_mathfunc.html>

use rusqlite::{
    Connection, Result,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};

/// An argument that is a number, or a text that reads like one.
#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Real(f64),
}

type Rounding = fn(f64) -> f64;
type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// Integers are what they are, reals are rounded.
const ROUNDING: [(&str, Rounding); 4] = [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];
const OF_ONE: [(&str, OfOne); 16] = [
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", |radians| radians * (180.0 / std::f64::consts::PI)),
    ("exp", f64::exp),
    ("radians", |degrees| degrees * (std::f64::consts::PI / 180.0)),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];
const OF_TWO: [(&str, OfTwo); 4] = [("atan2", f64::atan2), ("mod", |a, b| a % b), ("pow", f64::powf), ("power", f64::powf)];
/// Of what is not above zero they are `NULL`.
const LOGARITHMS: [(&str, OfOne); 4] = [("ln", f64::ln), ("log", f64::log10), ("log10", f64::log10), ("log2", f64::log2)];

/// Puts the functions in place.
pub(super) fn install(connection: &Connection) -> Result<()> {
    let plain = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let of_number = |name: &str, of: fn(OfOne, Number) -> Value, work: OfOne| {
        connection
            .create_scalar_function(name, 1, plain, move |context| Ok(number(context, 0).map_or(Value::Null, |number| of(work, number))))
    };
    for (name, work) in ROUNDING {
        of_number(
            name,
            |work, number| if let Number::Integer(integer) = number { Value::Integer(integer) } else { real(work(number.real())) },
            work,
        )?;
    }
    for (name, work) in OF_ONE {
        of_number(name, |work, number| real(work(number.real())), work)?;
    }
    for (name, work) in LOGARITHMS {
        of_number(name, |work, number| if number.real() > 0.0 { real(work(number.real())) } else { Value::Null }, work)?;
    }
    for (name, work) in OF_TWO {
        connection.create_scalar_function(name, 2, plain, move |context| {
            Ok(match (number(context, 0), number(context, 1)) {
                (Some(first), Some(second)) => real(work(first.real(), second.real())),
                _ => Value::Null,
            })
        })?;
    }
    connection.create_scalar_function("log", 2, plain, |context| {
        Ok(match (number(context, 0).map(Number::real), number(context, 1).map(Number::real)) {
            (Some(base), Some(of)) if base > 1.0 && of > 0.0 => real(of.ln() / base.ln()),
            _ => Value::Null,
        })
    })?;
    connection.create_scalar_function("pi", 0, plain, |_| Ok(std::f64::consts::PI))
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "SQLite makes a double of an integer here, too")]
    const fn real(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Real(real) => real,
        }
    }
}

/// A result. What is not a number is `NULL`.
fn real(real: f64) -> Value {
    if real.is_nan() { Value::Null } else { Value::Real(real) }
}

fn number(context: &Context<'_>, index: usize) -> Option<Number> {
    match context.get_raw(index) {
        ValueRef::Integer(integer) => Some(Number::Integer(integer)),
        ValueRef::Real(real) => Some(Number::Real(real)),
        ValueRef::Text(bytes) => read(bytes),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// A text as the number that all of it is, blanks around it left out.
fn read(bytes: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(bytes).ok()?.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    // `inf` and `nan` are numbers elsewhere, and no text without a digit is one here.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    if !is_plain || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().map(Number::Integer).or_else(|_| text.parse().map(Number::Real)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_a_build_with_them() {
        let connection = Connection::open_in_memory().unwrap();
        install(&connection).unwrap();
        // As the sqlite3 shell gives them; reals with 12 digits.
        let cases = [
            ("sqrt(2)", "1.41421356237"),
            ("sqrt('2')", "1.41421356237"),
            ("sqrt(' 2e0 ')", "1.41421356237"),
            ("sqrt(-1)", "NULL"),
            ("sqrt('x')", "NULL"),
            ("sqrt('2x')", "NULL"),
            ("sqrt('inf')", "NULL"),
            ("sqrt('')", "NULL"),
            ("sqrt('.')", "NULL"),
            ("sqrt(x'32')", "NULL"),
            ("sqrt(NULL)", "NULL"),
            ("pow(2, 10)", "1024.0"),
            ("power(2, 0.5)", "1.41421356237"),
            ("pow(0, -1)", "Inf"),
            ("pow(2, NULL)", "NULL"),
            ("floor(1.5)", "1.0"),
            ("floor(-1.5)", "-2.0"),
            ("floor(7)", "7"),
            ("floor('7')", "7"),
            ("ceil(1.2)", "2.0"),
            ("ceiling('1.2')", "2.0"),
            ("trunc(-1.7)", "-1.0"),
            ("ceil(9223372036854775807)", "9223372036854775807"),
            ("ln(2)", "0.69314718056"),
            ("ln(0)", "NULL"),
            ("log(100)", "2.0"),
            ("log10(1000)", "3.0"),
            ("log2(8)", "3.0"),
            ("log(2, 8)", "3.0"),
            ("log(1, 8)", "NULL"),
            ("log(0.5, 8)", "NULL"),
            ("log(2, -8)", "NULL"),
            ("pi()", "3.14159265359"),
            ("mod(7, 3)", "1.0"),
            ("mod(-7, 3)", "-1.0"),
            ("mod(7, 0)", "NULL"),
            ("atan2(1, 1)", "0.785398163397"),
            ("degrees(pi())", "180.0"),
            ("radians(180)", "3.14159265359"),
            ("sin(1)", "0.841470984808"),
            ("cos(1)", "0.540302305868"),
            ("tan(1)", "1.55740772465"),
            ("asin(1)", "1.57079632679"),
            ("acos(2)", "NULL"),
            ("atan(1)", "0.785398163397"),
            ("sinh(1)", "1.17520119364"),
            ("cosh(1)", "1.54308063482"),
            ("tanh(1)", "0.761594155956"),
            ("asinh(1)", "0.88137358702"),
            ("acosh(2)", "1.31695789692"),
            ("atanh(0.5)", "0.549306144334"),
            ("exp(1)", "2.71828182846"),
        ];
        for (expression, expected) in cases {
            let text = format!(
                "SELECT CASE typeof(v) WHEN 'null' THEN 'NULL' WHEN 'real' THEN printf('%!.12g', v) ELSE v END FROM (SELECT {expression} AS v)"
            );
            let found: String = connection
                .query_row(&text, [], |row| row.get::<_, Value>(0))
                .map(|value| match value {
                    Value::Text(text) => text,
                    other => format!("{other:?}").trim_start_matches("Integer(").trim_end_matches(')').to_owned(),
                })
                .unwrap();
            assert_eq!(found, expected, "{expression}");
        }
        // They can be in an index, and in a view of a schema that is not trusted.
        connection.execute_batch("CREATE TABLE t (a); CREATE INDEX i ON t (floor(a)); PRAGMA trusted_schema = 0; CREATE VIEW v AS SELECT sqrt(a) FROM t; SELECT * FROM v").unwrap();
    }
}
