//! A statement with `$1` as the Data API takes it, with `:p1`.
//!
//! The API looks for `:name` in the text by rules of its own, which are documented nowhere: what it makes of `'HH24:MI'`, of `E'\':a'` or of a
//! comment is not known. So nothing of the kind is sent. In the text that this module writes, a colon before a letter or a digit is either one of its
//! own parameters or the second one of `::`, wherever it stands, and a quote is one wherever it is looked at:
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
//! A number, a boolean and bytes have the type that connector `postgres` declares for them, by a cast in an expression that PostgreSQL computes when
//! it plans: `(+CAST(:p1 AS pg_catalog.int4))`. The operator around it is there because a column that is a cast alone would be named after it. What has the
//! type of its place there is a text here, or is cast to the type that was found out (module `types`).

use millrace_core::{Error, ErrorKind, Result};

use crate::postgres_text::{Parameter, after_comment};

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
/// [`Syntax`](ErrorKind::Syntax) where the statement has another number of values.
pub(super) fn written(text: &str, placeholders: &Placeholders<'_>) -> Result<String> {
    let mut writer = Writer { rest: text, out: String::with_capacity(text.len() + 64), used: Vec::new() };
    let count = match placeholders {
        Placeholders::Named(params, _) => params.len(),
        Placeholders::Numbered(count) => *count,
    };
    writer.used.resize(count, false);
    writer.write(placeholders);
    if writer.used.len() != count || writer.used.contains(&false) {
        return Err(Error::new(ErrorKind::Syntax, "the statement expects a different number of values"));
    }
    Ok(writer.out)
}

struct Writer<'a> {
    rest: &'a str,
    out: String,
    /// Whether each value has a placeholder. Longer than there are values: a placeholder has none.
    used: Vec<bool>,
}

impl Writer<'_> {
    fn write(&mut self, placeholders: &Placeholders<'_>) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '\'' => self.literal(false),
                '"' => self.identifier(false),
                '$' => self.dollar(placeholders),
                '-' if self.rest.starts_with("--") => {
                    let end = self.rest.find(['\n', '\r']).unwrap_or(self.rest.len());
                    self.comment(end);
                }
                '/' if self.rest.starts_with("/*") => {
                    let end = self.rest.len() - after_comment(&self.rest[2..]).len();
                    self.comment(end);
                }
                ':' if self.rest.starts_with("::") => self.copy(2),
                ':' => {
                    self.copy(1);
                    if self.rest.starts_with(is_of_name) {
                        self.out.push(' ');
                    }
                }
                first if is_of_name(first) => self.word(),
                other => self.copy(other.len_utf8()),
            }
        }
    }

    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// A name or a number, and the literal that a letter before it is of.
    fn word(&mut self) {
        let end = self.rest.find(|character| !is_of_name(character) && character != '$').unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let (escapes, is_unicode) = (word.eq_ignore_ascii_case("e"), word.eq_ignore_ascii_case("u"));
        self.copy(end);
        if is_unicode && self.rest.starts_with("&'") {
            self.copy(1);
            self.literal(false);
        } else if is_unicode && self.rest.starts_with("&\"") {
            self.copy(1);
            self.identifier(true);
        } else if self.rest.starts_with('\'') {
            self.literal(escapes);
        }
    }

    /// A literal in single quotes, with all that continues it. `escapes`: a backslash is not itself in it.
    fn literal(&mut self, escapes: bool) {
        self.text(escapes);
        while escapes && let Some(rest) = continued(self.rest) {
            self.out.push('\n');
            self.rest = rest;
            self.text(escapes);
        }
    }

    /// A text in single quotes.
    fn text(&mut self, escapes: bool) {
        self.copy(1);
        while let Some(next) = self.rest.chars().next() {
            match next {
                '\'' if self.rest.starts_with("''") => self.copy(2),
                '\'' => return self.copy(1),
                '\\' if escapes && self.rest.starts_with("\\'") => {
                    self.out.push_str("''");
                    self.rest = &self.rest[2..];
                }
                '\\' if escapes => {
                    self.copy(1);
                    self.copy(self.rest.chars().next().map_or(0, char::len_utf8));
                }
                other => self.of_text(other),
            }
        }
    }

    /// A character of a text.
    fn of_text(&mut self, character: char) {
        self.copy(character.len_utf8());
        if character == ':' && self.rest.starts_with(is_of_name) {
            self.out.push_str("'\n'");
        }
    }

    /// A name in double quotes. `is_unicode`: it has escapes already.
    fn identifier(&mut self, is_unicode: bool) {
        let inner = &self.rest[1..];
        let mut end = 0;
        loop {
            match inner[end..].find('"') {
                None => return self.copy(self.rest.len()),
                Some(at) if inner[end + at + 1..].starts_with('"') => end += at + 2,
                Some(at) => {
                    end += at;
                    break;
                }
            }
        }
        let (name, rest) = inner.split_at(end);
        if is_plain(name) {
            return self.copy(end + 2);
        }
        self.out.push_str(if is_unicode { "\"" } else { "U&\"" });
        for character in name.chars() {
            match character {
                ':' => self.out.push_str("\\003A"),
                '\'' => self.out.push_str("\\0027"),
                '\\' if !is_unicode => self.out.push_str("\\\\"),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
        self.rest = &rest[1..];
    }

    /// A comment that has so many bytes.
    fn comment(&mut self, length: usize) {
        if is_plain(&self.rest[..length]) && !self.rest[..length].contains(['"', '$']) {
            return self.copy(length);
        }
        self.out.push(' ');
        self.rest = &self.rest[length..];
    }

    /// A placeholder, or a text between `$tag$` and `$tag$`.
    fn dollar(&mut self, placeholders: &Placeholders<'_>) {
        let after = &self.rest[1..];
        let digits = after.find(|character: char| !character.is_ascii_digit()).unwrap_or(after.len());
        if digits > 0 {
            let number = after[..digits].parse::<usize>().unwrap_or(usize::MAX);
            self.rest = &after[digits..];
            return self.placeholder(number, placeholders);
        }
        let tag = after.find(|character| !is_of_name(character)).unwrap_or(after.len());
        let text = after[tag..].strip_prefix('$').and_then(|text| text.split_once(&self.rest[..tag + 2]));
        let Some((text, rest)) = text else { return self.copy(1) };
        self.rest = text;
        self.out.push('\'');
        while let Some(next) = self.rest.chars().next() {
            if next == '\'' {
                self.out.push('\'');
            }
            self.of_text(next);
        }
        self.out.push('\'');
        self.rest = rest;
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

/// What begins with the quote that continues a literal: between the two are blanks and line comments, and the end of a line.
fn continued(text: &str) -> Option<&str> {
    let (mut rest, mut ended) = (text, false);
    loop {
        let blank = rest.trim_start_matches(|character: char| character.is_ascii_whitespace() || character == '\u{b}');
        ended |= rest[..rest.len() - blank.len()].contains(['\n', '\r']);
        rest = match blank.strip_prefix("--") {
            Some(comment) => &comment[comment.find(['\n', '\r'])?..],
            None => return (ended && blank.starts_with('\'')).then_some(blank),
        };
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
            ("SELECT e'\\:a', $1", "SELECT e'\\:a', :p1"),
            ("SELECT E'a' -- it's\r\n  'b\\'c :d', $1", "SELECT E'a'\n'b''c :'\n'd', :p1"),
            ("SELECT E'a' 'b\\', $1, 'c'", "SELECT E'a' 'b\\', :p1, 'c'"),
            ("SELECT 'C:\\', $1", "SELECT 'C:\\', :p1"),
            ("SELECT name'a', U&'\\0061:b', $1", "SELECT name'a', U&'\\0061:'\n'b', :p1"),
            ("SELECT \"a:b\", $1", "SELECT U&\"a\\003Ab\", :p1"),
            ("SELECT \"it's \"\"\\\", $1", "SELECT U&\"it\\0027s \"\"\\\\\", :p1"),
            ("SELECT u&\"\\0061:b\", \"a b\", $1", "SELECT u&\"\\0061\\003Ab\", \"a b\", :p1"),
            ("SELECT a[1:b], a[:2], f(x := $1)", "SELECT a[1: b], a[: 2], f(x := :p1)"),
            ("SELECT $$it's :a$$, $1", "SELECT 'it''s :'\n'a', :p1"),
            ("SELECT $a$ $1 $b$ $$ $a$, $1", "SELECT ' $1 $b$ $$ ', :p1"),
            ("SELECT a$1, t$$, $1", "SELECT a$1, t$$, :p1"),
            ("SELECT $1 -- don't :a\n, 2", "SELECT :p1  \n, 2"),
            ("SELECT $1 /* plain /* b */ */ -- c", "SELECT :p1 /* plain /* b */ */ -- c"),
            ("SELECT /* :a /* ' */ $2 */ $1", "SELECT   :p1"),
            ("SELECT $1, 'open :a", "SELECT :p1, 'open :'\n'a"),
            ("SELECT $1, \"open :a", "SELECT :p1, \"open :a"),
            ("SELECT $1 ? 'ü:ü'", "SELECT :p1 ? 'ü:'\n'ü'"),
        ] {
            assert_eq!(sent(text, &x).as_deref(), Ok(expected), "{text}");
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
