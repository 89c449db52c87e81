//! A query → the arguments of a command.
//!
//! A tool's command comes as its arguments. A script writes it as text,
//! `ctx.db("cache").query("GET $1", [key])`: the text is cut into arguments first, and `$1` is a
//! whole argument, or several where the value is a list.

use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{Command, Query},
    value::Value,
};
use millrace_languages::redis::{self, RedisCommand, Word};

use crate::shared::Effect;

/// A command that may be run.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Its arguments, its name first.
    pub(crate) words: Vec<Vec<u8>>,
    /// What is known of it.
    pub(crate) command: &'static RedisCommand,
}

impl Prepared {
    /// Makes the arguments of a query for a connector. `allow` is the adapter's option.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is no command,
    /// [`Syntax`](ErrorKind::Syntax) for a text that is none and a value that cannot be an
    /// argument, [`Denied`](ErrorKind::Denied) for a command that the adapter may not run.
    pub(crate) fn of(query: &Query<'_>, connector: &str, allow: &str, read_only: bool) -> Result<Self> {
        query.without_session(connector)?;
        let mut words = Vec::new();
        match query.command {
            Command::Arguments(values) => {
                for value in values {
                    push(&mut words, value)?;
                }
            }
            Command::Statement { text, values } => of_text(text, values, &mut words)?,
            other => {
                let message = format!("connector `{connector}` takes commands, and the tool has {}", other.form());
                return Err(Error::new(ErrorKind::Configuration, message));
            }
        }
        let texts: Vec<Option<&str>> = words.iter().map(|word| std::str::from_utf8(word).ok()).collect();
        let command =
            redis::judge(&texts, allow).map_err(|refusal| Error::new(ErrorKind::Denied, format!("{refusal}; {}", refusal.help())))?;
        if read_only && !(command.reads && query.access == Access::Read) {
            return Err(Error::new(ErrorKind::Denied, "the command writes, and the adapter is read-only"));
        }
        Ok(Self { words, command })
    }

    /// What it does. It always has a reply.
    pub(crate) const fn effect(&self) -> Effect {
        Effect { reads: self.command.reads, returns: true }
    }

    /// An error about a reply that came: a command that writes has done so.
    pub(crate) fn after_reply(&self, error: Error) -> Error {
        if self.command.reads {
            return error;
        }
        let message = format!("{}; the command took effect", error.message);
        error.with_message(message)
    }

    /// Its name, for messages.
    pub(crate) fn name(&self) -> String {
        match self.command.name {
            "" => self.words.first().map(|word| String::from_utf8_lossy(word).to_ascii_uppercase()).unwrap_or_default(),
            name => name.to_owned(),
        }
    }
}

/// Cuts a script's text. `$1` alone is the first value.
fn of_text(text: &str, values: &[Value], words: &mut Vec<Vec<u8>>) -> Result<()> {
    if text.contains('\0') {
        return Err(syntax("the command has a NUL character"));
    }
    let cut = redis::words(text).map_err(|wrong| syntax(&format!("in the command, {}; {}", wrong.message, wrong.help)))?;
    let mut used = vec![false; values.len()];
    for word in &cut {
        let text = word.text().unwrap_or_default();
        match parameter(word, text)? {
            None => words.push(text.as_bytes().to_vec()),
            Some(number) => {
                let place = number.checked_sub(1).filter(|place| *place < values.len()).ok_or_else(wrong_count)?;
                used[place] = true;
                match &values[place] {
                    Value::Array(elements) if elements.is_empty() => return Err(syntax("a list without elements cannot be an argument")),
                    Value::Array(elements) => elements.iter().try_for_each(|element| push(words, element))?,
                    value => push(words, value)?,
                }
            }
        }
    }
    if used.contains(&false) { Err(wrong_count()) } else { Ok(()) }
}

/// The number of a parameter, from 1.
fn parameter(word: &Word, text: &str) -> Result<Option<usize>> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if word.is_quoted {
        return Ok(None);
    }
    if let Some(digits) = text.strip_prefix('$').filter(|digits| is_number(digits)) {
        return digits.parse().map(Some).map_err(|_| wrong_count());
    }
    // A key that everyone would share.
    let is_part = text.split('$').skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    if is_part {
        return Err(syntax(
            "a parameter is part of an argument; write it as a whole one and put the value together, or quote what is text",
        ));
    }
    Ok(None)
}

fn push(words: &mut Vec<Vec<u8>>, value: &Value) -> Result<()> {
    words.push(match value {
        Value::Null => return Err(syntax("a value is null, which no argument can be")),
        Value::Bool(truth) => truth.to_string().into_bytes(),
        Value::I64(number) => number.to_string().into_bytes(),
        Value::U64(number) => number.to_string().into_bytes(),
        Value::F64(number) if number.is_finite() => serde_json::Value::from(*number).to_string().into_bytes(),
        Value::F64(_) => return Err(syntax("a value is a number that is not finite")),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => text.clone().into_bytes(),
        Value::Bytes(bytes) => bytes.clone(),
        Value::Json(document) => document.to_string().into_bytes(),
        Value::Array(_) => return Err(syntax("a list within a list cannot be an argument")),
    });
    Ok(())
}

fn wrong_count() -> Error {
    syntax("the command expects a different number of values")
}

fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::own_query;

    fn prepared(command: Command<'_>, allow: &str) -> Result<Vec<String>> {
        let query = Query { command, access: Access::Write, ..own_query("", 0) };
        let words = Prepared::of(&query, "redis", allow, false)?.words;
        Ok(words.into_iter().map(|word| String::from_utf8_lossy(&word).into_owned()).collect())
    }

    #[test]
    fn a_script_writes_a_command_with_parameters() {
        let text = |text: &str| Value::Text(text.into());
        for (command, values, expected) in [
            ("GET $1", vec![text("a b")], vec!["GET", "a b"]),
            ("set $2 $1 EX 5", vec![Value::I64(i64::MIN), text("$1")], vec!["set", "$1", "-9223372036854775808", "EX", "5"]),
            ("DEL $1", vec![Value::Array(vec![text("a"), text("")])], vec!["DEL", "a", ""]),
            ("SET '$1' \"$2 x\"", vec![], vec!["SET", "$1", "$2 x"]),
            ("ECHO $1", vec![Value::F64(0.5)], vec!["ECHO", "0.5"]),
            ("ECHO $1", vec![Value::Json(serde_json::json!({"a": [1]}))], vec!["ECHO", "{\"a\":[1]}"]),
            ("ECHO $x$", vec![], vec!["ECHO", "$x$"]),
        ] {
            assert_eq!(
                prepared(Command::Statement { text: command, values: &values }, ""),
                Ok(expected.iter().map(ToString::to_string).collect())
            );
        }
    }

    #[test]
    fn what_is_no_command_is_refused() {
        let null = [Value::Null];
        let list = [Value::Array(vec![])];
        for (command, values, kind, expected) in [
            ("GET user:$1", &null[..], ErrorKind::Syntax, "a parameter is part of an argument"),
            ("GET $2", &null, ErrorKind::Syntax, "a different number of values"),
            ("GET $0", &null, ErrorKind::Syntax, "a different number of values"),
            ("GET k", &null, ErrorKind::Syntax, "a different number of values"),
            ("GET $1", &null, ErrorKind::Syntax, "a value is null"),
            ("DEL $1", &list, ErrorKind::Syntax, "without elements"),
            ("GET \"a", &[], ErrorKind::Syntax, "is not closed"),
            ("", &[], ErrorKind::Denied, "is not known"),
            ("KEYS *", &[], ErrorKind::Denied, "`KEYS` goes through every key"),
            ("XREAD BLOCK 0 STREAMS k $", &[], ErrorKind::Denied, "`XREAD … BLOCK` waits on the server"),
        ] {
            let error = prepared(Command::Statement { text: command, values }, "").unwrap_err();
            assert!(error.kind == kind && error.message.contains(expected), "{command}: {error:?}");
        }
        assert!(prepared(Command::Statement { text: "KEYS *", values: &[] }, "KEYS").is_ok());
    }
}
