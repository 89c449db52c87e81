//! A statement with `$1` as the Data API takes it, with `:p1`.
//!
//! The API looks for `:name` in the text by rules of its own, which are documented nowhere: what it
//! makes of `'HH24:MI'`, of `E'\':a'` or of a comment is not known. So nothing of the kind is sent.
//! In the text that this module writes, a colon before a letter or a digit is either one of its own
//! parameters or the second one of `::`, wherever it stands, and a quote is one wherever it is
//! looked at:
//!
//! | written | sent, and the same to PostgreSQL |
//! |---|---|
//! | `'a:b'` | `'a:'`, a new line, `'b'`: [one constant](https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS) |
//! | `E'it\'s'` | `E'it''s'` |
//! | `$tag$it's$tag$` | `'it''s'` |
//! | `"a:b"` | `U&"a\003Ab"` |
//! | `array[a:b]` | `array[a: b]` |
//! | a comment with a quote or a colon | a blank |
//!
//! # Types
//!
//! A number, a boolean and bytes have the type that connector `postgres` declares for them, by a
//! cast in an expression that PostgreSQL computes when it plans: `(+CAST(:p1 AS pg_catalog.int4))`.
//! The operator around it is there because a column that is a cast alone would be named after it.
//! What has the type of its place there is a text here, or is cast to the type that was found out
//! (module `types`).

use millrace_core::{Error, ErrorKind, Result};
use millrace_languages::{
    lex::{Kind, Lexer, Prefix, Token},
    postgres::Postgres,
};

use crate::postgres_text::Parameter;

/// What stands in place of `$1`.
pub(super) enum Placeholders<'a> {
    /// A parameter of the API, with its type, and for those of unknown type what was found out.
    Named(&'a [Parameter], &'a [Option<String>]),
    /// Itself: so many of them.
    Numbered(usize),
}

/// Writes a statement for the API.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) where the statement has another number of values, or cannot be
/// cut.
pub(super) fn written(text: &str, placeholders: &Placeholders<'_>) -> Result<String> {
    let count = match placeholders {
        Placeholders::Named(params, _) => params.len(),
        Placeholders::Numbered(count) => *count,
    };
    let mut writer =
        Writer { text, out: String::with_capacity(text.len() + 64), used: vec![false; count], literal_end: 0, is_after_colon: false };
    for cut in Lexer::<Postgres>::new(text) {
        let token = cut.map_err(|unread| Error::new(ErrorKind::Syntax, unread.of_statement()))?;
        writer.write(&token, placeholders);
    }
    if writer.used.len() != count || writer.used.contains(&false) {
        return Err(Error::new(ErrorKind::Syntax, "the statement expects a different number of values"));
    }
    Ok(writer.out)
}

struct Writer<'a> {
    text: &'a str,
    out: String,
    /// Whether each value has a placeholder. Longer than there are values: a placeholder has none.
    used: Vec<bool>,
    /// Where the last literal ends in `out`.
    literal_end: usize,
    /// The token before is a colon that stands alone.
    is_after_colon: bool,
}

impl Writer<'_> {
    fn write(&mut self, Token { kind, range }: &Token, placeholders: &Placeholders<'_>) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        if self.is_after_colon && (text.starts_with(is_of_name) || *kind == Kind::Parameter) {
            self.out.push(' ');
        }
        match kind {
            Kind::Literal { prefix, body, continues } => {
                let escapes = *prefix == Prefix::Escape;
                if *continues && escapes {
                    // The two are one literal, and what is between them may have a colon in it.
                    self.out.truncate(self.literal_end);
                    self.out.push('\n');
                } else {
                    self.out.push_str(self.text.get(range.start..body.start - 1).unwrap_or_default());
                }
                self.literal(self.text.get(body.clone()).unwrap_or_default(), escapes);
                self.literal_end = self.out.len();
            }
            Kind::Quoted => self.identifier(text),
            Kind::Dollar => self.dollar(text),
            Kind::Comment { .. } if is_plain(text) && !text.contains(['"', '$']) => self.out.push_str(text),
            Kind::Comment { .. } => self.out.push(' '),
            Kind::Parameter => self.placeholder(text.trim_start_matches('$').parse().unwrap_or(usize::MAX), placeholders),
            _ => self.out.push_str(text),
        }
        self.is_after_colon = text == ":";
    }

    /// What is between the quotes of a literal, and the quotes. `escapes`: a backslash is not
    /// itself in it.
    fn literal(&mut self, body: &str, escapes: bool) {
        self.out.push('\'');
        let mut rest = body;
        while let Some(next) = rest.chars().next() {
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
            match next {
                '\\' if escapes => {
                    let escaped = rest.chars().next();
                    rest = rest.get(escaped.map_or(0, char::len_utf8)..).unwrap_or_default();
                    match escaped {
                        Some('\'') => self.out.push_str("''"),
                        Some(':') => self.of_text(':', rest),
                        Some(other) => self.out.extend(['\\', other]),
                        None => self.out.push('\\'),
                    }
                }
                other => self.of_text(other, rest),
            }
        }
        self.out.push('\'');
    }

    /// A character of a text, with what follows it.
    fn of_text(&mut self, character: char, rest: &str) {
        self.out.push(character);
        if character == ':' && rest.starts_with(is_of_name) {
            self.out.push_str("'\n'");
        }
    }

    /// A name in double quotes, which has escapes already where `U&` stands before it.
    fn identifier(&mut self, text: &str) {
        let (prefix, quoted) = text.split_at(text.find('"').unwrap_or_default());
        let name = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        if is_plain(name) {
            return self.out.push_str(text);
        }
        let is_unicode = !prefix.is_empty();
        self.out.push_str(if is_unicode { prefix } else { "U&" });
        self.out.push('"');
        for character in name.chars() {
            match character {
                ':' => self.out.push_str("\\003A"),
                '\'' => self.out.push_str("\\0027"),
                '\\' if !is_unicode => self.out.push_str("\\\\"),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    /// A text between `$tag$` and `$tag$`.
    fn dollar(&mut self, text: &str) {
        let fence = text.get(1..).and_then(|rest| rest.find('$')).map_or(0, |end| end + 2);
        let mut rest = text.get(fence..text.len() - fence).unwrap_or_default();
        self.out.push('\'');
        while let Some(next) = rest.chars().next() {
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
            if next == '\'' {
                self.out.push('\'');
            }
            self.of_text(next, rest);
        }
        self.out.push('\'');
    }

    fn placeholder(&mut self, number: usize, placeholders: &Placeholders<'_>) {
        let Some(used) = number.checked_sub(1).and_then(|at| self.used.get_mut(at)) else {
            return self.used.push(true);
        };
        *used = true;
        match placeholders {
            Placeholders::Numbered(_) => self.out.push_str(&format!("${number}")),
            Placeholders::Named(params, types) => {
                let type_name = params.get(number - 1).and_then(Parameter::type_name);
                let found = types.get(number - 1).and_then(Option::as_deref);
                self.out.push_str(&parameter(number, type_name, found));
            }
        }
    }
}

/// A parameter of the API. `type_name` is its own type, `found` that of its place.
fn parameter(number: usize, type_name: Option<&str>, found: Option<&str>) -> String {
    match (type_name, found) {
        (None, None) => format!(":p{number}"),
        (None, Some(found)) => format!("CAST(:p{number} AS {found})"),
        (Some("bool"), _) => format!("(CAST(:p{number} AS pg_catalog.bool) IS TRUE)"),
        (Some("bytea"), _) => format!("(CAST(:p{number} AS pg_catalog.bytea) || CAST('' AS pg_catalog.bytea))"),
        (Some(number_type), _) => format!("(+CAST(:p{number} AS pg_catalog.{number_type}))"),
    }
}

/// What a name of a parameter may consist of, by anyone's rules.
fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || !character.is_ascii()
}

/// Whether a text has neither a quote nor a colon before a name.
fn is_plain(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find([':', '\'']) {
        let (found, after) = rest[at..].split_at(1);
        if found == "'" || after.starts_with(is_of_name) {
            return false;
        }
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;

    fn sent(text: &str, values: &[Value]) -> Result<String> {
        let params: Vec<Parameter> = values.iter().map(Parameter::of).collect();
        written(text, &Placeholders::Named(&params, &[]))
    }

    #[test]
    fn only_parameters_look_like_parameters() {
        let x = [Value::Text("x".into())];
        for (text, expected) in [
            ("SELECT $1", "SELECT :p1"),
            ("SELECT $1, $1::uuid", "SELECT :p1, :p1::uuid"),
            ("SELECT '$1', $1", "SELECT '$1', :p1"),
            ("SELECT to_char(d, 'HH24:MI'), $1", "SELECT to_char(d, 'HH24:'\n'MI'), :p1"),
            ("SELECT 'a: b', ':', ':''', $1", "SELECT 'a: b', ':', ':''', :p1"),
            ("SELECT 'it''s :p1', $1", "SELECT 'it''s :'\n'p1', :p1"),
            ("SELECT E'it\\'s :a\\\\', $1", "SELECT E'it''s :'\n'a\\\\', :p1"),
            ("SELECT e'\\:a\\:', $1", "SELECT e':'\n'a:', :p1"),
            ("SELECT E'a' -- it's\r\n  'b\\'c :d', $1", "SELECT E'a'\n'b''c :'\n'd', :p1"),
            ("SELECT E'a' 'b\\', $1, 'c'", "SELECT E'a' 'b\\', :p1, 'c'"),
            ("SELECT 'C:\\', $1", "SELECT 'C:\\', :p1"),
            ("SELECT name'a', U&'\\0061:b', $1", "SELECT name'a', U&'\\0061:'\n'b', :p1"),
            ("SELECT \"a:b\", $1", "SELECT U&\"a\\003Ab\", :p1"),
            ("SELECT \"it's \"\"\\\", $1", "SELECT U&\"it\\0027s \"\"\\\\\", :p1"),
            ("SELECT u&\"\\0061:b\", \"a b\", $1", "SELECT u&\"\\0061\\003Ab\", \"a b\", :p1"),
            ("SELECT a[1:b], a[:2], f(x := $1)", "SELECT a[1: b], a[: 2], f(x := :p1)"),
            ("SELECT a[1:$1], a[:$1]", "SELECT a[1: :p1], a[: :p1]"),
            ("SELECT a[1:E'\\'b'], a[1:u&\"b\"], $1", "SELECT a[1: E'''b'], a[1: u&\"b\"], :p1"),
            ("SELECT $$it's :a$$, $1", "SELECT 'it''s :'\n'a', :p1"),
            ("SELECT $a$ $1 $b$ $$ $a$, $1", "SELECT ' $1 $b$ $$ ', :p1"),
            ("SELECT a$1, t$$, $1", "SELECT a$1, t$$, :p1"),
            ("SELECT $1 -- don't :a\n, 2", "SELECT :p1  \n, 2"),
            ("SELECT $1 /* plain /* b */ */ -- c", "SELECT :p1 /* plain /* b */ */ -- c"),
            ("SELECT /* :a /* ' */ $2 */ $1", "SELECT   :p1"),
            ("SELECT $1 ? 'ü:ü'", "SELECT :p1 ? 'ü:'\n'ü'"),
        ] {
            assert_eq!(sent(text, &x).as_deref(), Ok(expected), "{text}");
        }
        for text in ["SELECT $1, 'open :a", "SELECT $1, \"open :a", "SELECT $1 /* open :a", "SELECT $1, $$open :a"] {
            assert_eq!(sent(text, &x).unwrap_err().kind, ErrorKind::Syntax, "{text}");
        }
        for (text, values) in
            [("SELECT $1", 0), ("SELECT 1", 1), ("SELECT $2", 1), ("SELECT $0", 0), ("SELECT $1, $99999999999999999999", 1)]
        {
            assert_eq!(sent(text, &vec![Value::Null; values]).unwrap_err().kind, ErrorKind::Syntax, "{text}");
        }
    }

    #[test]
    fn values_have_their_types() {
        let values = [Value::Bool(true), Value::I64(7), Value::F64(1.5), Value::Bytes(vec![0]), Value::Null];
        let expected = "SELECT (CAST(:p1 AS pg_catalog.bool) IS TRUE), (+CAST(:p2 AS pg_catalog.int4)), (+CAST(:p3 AS pg_catalog.numeric)), \
                        (CAST(:p4 AS pg_catalog.bytea) || CAST('' AS pg_catalog.bytea)), :p5";
        assert_eq!(sent("SELECT $1, $2, $3, $4, $5", &values).as_deref(), Ok(expected));
        let params = [Parameter::of(&Value::Null)];
        let found = [Some("public.mood".to_owned())];
        assert_eq!(written("SELECT $1", &Placeholders::Named(&params, &found)).as_deref(), Ok("SELECT CAST(:p1 AS public.mood)"));
        assert_eq!(written("SELECT $1, $$a$$", &Placeholders::Numbered(1)).as_deref(), Ok("SELECT $1, 'a'"));
    }
}
