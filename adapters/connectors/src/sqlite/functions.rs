//! Functions in place of those of SQLite that can take long within one step, where no deadline is
//! seen.
//!
//! SQLite looks at the deadline between two steps of its virtual machine, and a call of a function
//! is one step. `LIKE`, `GLOB`, `instr`, `replace` and `trim` compare each place of one value with
//! the whole of another, so two values of a caller could hold an isolate for minutes. Here they are
//! linear, or look at the deadline themselves; the results are the same. `json_patch` compares all
//! members with each other, and `json_pretty` can write a thousand times what it reads; these are
//! SQLite's own behind a bound.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use memchr::memmem;
use rusqlite::{
    Connection, Error, Result, ToSql,
    ffi::{self, Error as Code},
    functions::{Context, FunctionFlags},
    params_from_iter,
    types::{ToSqlOutput, Value, ValueRef},
};
use rustc_hash::FxBuildHasher;

use super::{
    limits::{BOUND, LONGEST_VALUE},
    pattern::{DeadlinePassed, Pattern, Syntax},
};

/// The longest pattern of `LIKE` and `GLOB`, in bytes.
pub(super) const LONGEST_PATTERN: i32 = 1000;
/// The greatest product of the lengths that `json_patch` compares with each other: some 100 ms.
const PATCH_WORK: usize = 1_500_000_000;
/// How SQLite marks a result that is JSON.
const JSON_SUBTYPE: std::ffi::c_uint = 74;

/// Puts the functions in place. Where `LIKE` and `GLOB` are to use indexes they stay SQLite's own.
pub(super) fn install(connection: &Connection, like_uses_index: bool) -> Result<()> {
    let plain = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let own = SqliteBuiltins::default();
    let with = |work: fn(&SqliteBuiltins, &Context<'_>) -> Result<FunctionResult>| {
        let own = own.clone();
        move |context: &mut Context<'_>| work(&own, context)
    };
    if !like_uses_index {
        connection.create_scalar_function("like", 2, plain, with(like))?;
        connection.create_scalar_function("like", 3, plain, with(like))?;
        connection.create_scalar_function("glob", 2, plain, with(glob))?;
    }
    connection.create_scalar_function("instr", 2, plain, with(instr))?;
    connection.create_scalar_function("replace", 3, plain, with(replace))?;
    connection.create_scalar_function("trim", 2, plain, with(|own, context| trim(own, context, true, true)))?;
    connection.create_scalar_function("ltrim", 2, plain, with(|own, context| trim(own, context, true, false)))?;
    connection.create_scalar_function("rtrim", 2, plain, with(|own, context| trim(own, context, false, true)))?;
    let json = plain | FunctionFlags::SQLITE_RESULT_SUBTYPE;
    let patch = own.clone();
    connection.create_scalar_function("json_patch", 2, json, move |context| {
        Ok((patched(&patch, context, "SELECT json_patch(?1, ?2)")?, Some(JSON_SUBTYPE)))
    })?;
    connection.create_scalar_function("jsonb_patch", 2, plain, with(|own, context| patched(own, context, "SELECT jsonb_patch(?1, ?2)")))?;
    let pretty = own.clone();
    connection.create_scalar_function("json_pretty", 1, plain, move |context| prettied(&pretty, context, "SELECT json_pretty(?1)"))?;
    connection.create_scalar_function("json_pretty", 2, plain, move |context| prettied(&own, context, "SELECT json_pretty(?1, ?2)"))
}

/// SQLite's own functions, for what is theirs: an empty database, opened at the first need.
#[derive(Clone, Default)]
struct SqliteBuiltins(Arc<Mutex<Option<Connection>>>);

impl SqliteBuiltins {
    fn ask(&self, text: &str, values: &[ValueRef<'_>]) -> Result<FunctionResult> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *slot {
            Some(connection) => connection,
            empty => empty.insert(Connection::open_in_memory()?),
        };
        let values = values.iter().map(|value| ToSqlOutput::Borrowed(*value));
        connection.prepare_cached(text)?.query_row(params_from_iter(values), |row| Ok(FunctionResult::from(row.get_ref(0)?)))
    }

    /// A value as text, as SQLite writes it; `None` for `NULL`.
    fn text<'a>(&self, value: ValueRef<'a>) -> Result<Option<Cow<'a, [u8]>>> {
        Ok(match value {
            ValueRef::Null => None,
            ValueRef::Integer(integer) => Some(Cow::Owned(integer.to_string().into_bytes())),
            ValueRef::Real(_) => match self.ask("SELECT CAST(?1 AS TEXT)", &[value])? {
                FunctionResult::Text(text) => Some(Cow::Owned(text)),
                _ => None,
            },
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(Cow::Borrowed(bytes)),
        })
    }
}

/// A result. A text need not be UTF-8.
enum FunctionResult {
    Text(Vec<u8>),
    Other(Value),
}

impl FunctionResult {
    const NULL: Self = Self::Other(Value::Null);
}

impl From<ValueRef<'_>> for FunctionResult {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Text(bytes) => Self::Text(bytes.to_vec()),
            ValueRef::Blob(bytes) => Self::Other(Value::Blob(bytes.to_vec())),
            ValueRef::Null => Self::NULL,
            ValueRef::Integer(integer) => Self::Other(Value::Integer(integer)),
            ValueRef::Real(real) => Self::Other(Value::Real(real)),
        }
    }
}

impl From<i64> for FunctionResult {
    fn from(integer: i64) -> Self {
        Self::Other(Value::Integer(integer))
    }
}

impl ToSql for FunctionResult {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Text(bytes) => ValueRef::Text(bytes),
            Self::Other(value) => value.into(),
        }))
    }
}

fn like(own: &SqliteBuiltins, context: &Context<'_>) -> Result<FunctionResult> {
    let escape = match context.len() {
        2 => None,
        _ => match own.text(context.get_raw(2))? {
            None => return Ok(FunctionResult::NULL),
            Some(text) => match one_character(&text) {
                None => return Err(failed("ESCAPE expression must be a single character".into())),
                character => character,
            },
        },
    };
    matches(own, context, Syntax::Like(escape))
}

fn glob(own: &SqliteBuiltins, context: &Context<'_>) -> Result<FunctionResult> {
    matches(own, context, Syntax::Glob)
}

fn one_character(text: &[u8]) -> Option<char> {
    let text = std::str::from_utf8(text).ok()?;
    let mut characters = text.split('\0').next()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

fn matches(own: &SqliteBuiltins, context: &Context<'_>, syntax: Syntax) -> Result<FunctionResult> {
    thread_local! {
        static FOLDED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    /// What is kept of `FOLDED` from call to call.
    const KEPT: usize = 1 << 16;

    let Some(pattern) = own.text(context.get_raw(0))? else { return Ok(FunctionResult::NULL) };
    if pattern.len() > LONGEST_PATTERN as usize {
        let operator = if syntax == Syntax::Glob { "GLOB" } else { "LIKE" };
        let message =
            format!("the pattern of `{operator}` has {} bytes, and connector `sqlite` takes at most {LONGEST_PATTERN}", pattern.len());
        return Err(failed(format!("{BOUND}{message}")));
    }
    // SQLite keeps it as long as the first argument is the same for every row, and the escape
    // character is part of it here.
    let kept = context.get_aux::<(Syntax, Pattern)>(0)?.filter(|kept| kept.0 == syntax);
    let kept = match kept {
        Some(kept) => kept,
        None => context.set_aux(0, (syntax, Pattern::new(&pattern, syntax)))?,
    };
    let Some(text) = own.text(context.get_raw(1))? else { return Ok(FunctionResult::NULL) };
    let matched = FOLDED.with_borrow_mut(|folded| {
        let matched = kept.1.matches(&text, folded);
        folded.clear();
        folded.shrink_to(KEPT);
        matched
    });
    matched.map(|matched| i64::from(matched).into()).map_err(|DeadlinePassed| Error::SqliteFailure(Code::new(ffi::SQLITE_INTERRUPT), None))
}

fn instr(own: &SqliteBuiltins, context: &Context<'_>) -> Result<FunctionResult> {
    let (hay, needle) = (context.get_raw(0), context.get_raw(1));
    let is_bytes = matches!((hay, needle), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(hay), Some(needle)) = (own.text(hay)?, own.text(needle)?) else { return Ok(FunctionResult::NULL) };
    let place = memmem::find(&hay, &needle).map_or(0, |at| match is_bytes {
        true => at + 1,
        false => 1 + characters(&hay[..at]),
    });
    Ok(i64::try_from(place).unwrap_or(i64::MAX).into())
}

fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

fn replace(own: &SqliteBuiltins, context: &Context<'_>) -> Result<FunctionResult> {
    let Some(text) = own.text(context.get_raw(0))? else { return Ok(FunctionResult::NULL) };
    let Some(from) = own.text(context.get_raw(1))? else { return Ok(FunctionResult::NULL) };
    if from.is_empty() || from.starts_with(b"\0") {
        return Ok(FunctionResult::Text(text.into_owned()));
    }
    let Some(to) = own.text(context.get_raw(2))? else { return Ok(FunctionResult::NULL) };
    let mut replaced = Vec::with_capacity(text.len());
    let mut done = 0;
    while let Some(at) = next(&text, done, &from) {
        replaced.extend_from_slice(&text[done..at]);
        replaced.extend_from_slice(&to);
        done = at + from.len();
        if replaced.len() > LONGEST_VALUE as usize {
            return Err(Error::SqliteFailure(Code::new(ffi::SQLITE_TOOBIG), None));
        }
    }
    replaced.extend_from_slice(&text[done..]);
    Ok(FunctionResult::Text(replaced))
}

/// The next place of `part`. A short one may be everywhere, and preparing a search for each would
/// take longer than comparing.
fn next(text: &[u8], from: usize, part: &[u8]) -> Option<usize> {
    const SHORT: usize = 16;
    let rest = &text[from..];
    let found = match part {
        _ if rest.starts_with(part) => Some(0),
        [byte] => memchr::memchr(*byte, rest),
        part if part.len() <= SHORT => rest.windows(part.len()).position(|window| window == part),
        part => memmem::find(rest, part),
    };
    found.map(|at| from + at)
}

fn trim(own: &SqliteBuiltins, context: &Context<'_>, left: bool, right: bool) -> Result<FunctionResult> {
    let Some(text) = own.text(context.get_raw(0))? else { return Ok(FunctionResult::NULL) };
    let Some(set) = own.text(context.get_raw(1))? else { return Ok(FunctionResult::NULL) };
    let set = memchr::memchr(0, &set).map_or(&*set, |end| &set[..end]);
    let set: HashSet<&[u8], FxBuildHasher> = chunks(set).collect();
    let mut rest: &[u8] = &text;
    while left && let Some(first) = chunks(rest).next().filter(|first| set.contains(first)) {
        rest = &rest[first.len()..];
    }
    while right && !rest.is_empty() {
        let start = rest.iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
        if !set.contains(&rest[start..]) {
            break;
        }
        rest = &rest[..start];
    }
    Ok(FunctionResult::Text(rest.to_vec()))
}

/// The characters of a text, as bytes.
fn chunks(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = 1 + text.get(1..)?.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
        let (first, rest) = text.split_at(length);
        text = rest;
        Some(first)
    })
}

/// `json_patch` with a bound: it compares each member of the patch with each of the target, to
/// which it adds the patch's.
fn patched(own: &SqliteBuiltins, context: &Context<'_>, text: &str) -> Result<FunctionResult> {
    let values = [context.get_raw(0), context.get_raw(1)];
    let [target, patch] = values.map(length);
    if patch.saturating_mul(patch.saturating_add(target)) > PATCH_WORK {
        let message = format!("`json_patch` of {target} and {patch} bytes compares more members than connector `sqlite` allows");
        return Err(failed(format!("{BOUND}{message}")));
    }
    own.ask(text, &values).map_err(told)
}

/// `json_pretty` with a bound: SQLite notices a text that is too long only when it is written.
fn prettied(own: &SqliteBuiltins, context: &Context<'_>, text: &str) -> Result<FunctionResult> {
    let values: Vec<_> = (0..context.len()).map(|index| context.get_raw(index)).collect();
    let indent = values.get(1).map_or(4, |indent| length(*indent).max(4));
    let written = match values.first() {
        Some(ValueRef::Text(json)) => pretty_length(json, indent),
        Some(value) => length(*value).saturating_mul(length(*value).min(1000)).saturating_mul(indent),
        None => 0,
    };
    if written > LONGEST_VALUE as usize {
        return Err(Error::SqliteFailure(Code::new(ffi::SQLITE_TOOBIG), None));
    }
    own.ask(text, &values).map_err(told)
}

/// At least as long as the text that `json_pretty` writes.
fn pretty_length(json: &[u8], indent: usize) -> usize {
    let (mut depth, mut deepest, mut length, mut is_string) = (0_usize, 0_usize, json.len(), false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if is_string => drop(bytes.next()),
            b'"' => is_string = !is_string,
            _ if is_string => {}
            // JSON5 has comments and other quotes: count every bracket as one that stays open.
            b'\'' | b'/' => {
                let count = |signs: &[u8]| json.iter().filter(|byte| signs.contains(byte)).count();
                let deepest = count(b"[{").min(1000);
                return json.len().saturating_add(count(b"[]{},").saturating_mul(deepest.saturating_mul(indent) + 2));
            }
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                length = length.saturating_add(depth.saturating_mul(indent) + 2);
            }
            b',' | b']' | b'}' => {
                length = length.saturating_add(depth.saturating_mul(indent) + 2);
                depth = depth.saturating_sub(usize::from(*byte != b','));
            }
            _ => {}
        }
    }
    length
}

fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 32,
    }
}

/// An error of SQLite's own function, as that function would have given it.
fn told(error: Error) -> Error {
    match error {
        Error::SqliteFailure(code, text) => Error::SqliteFailure(code, text),
        other => failed(other.to_string()),
    }
}

fn failed(message: String) -> Error {
    Error::SqliteFailure(Code::new(ffi::SQLITE_ERROR), Some(message))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The result as SQLite shows it, or its error's text.
    fn ask(connection: &Connection, text: &str, values: &[Value]) -> Result<Value, String> {
        let asked = connection.prepare_cached(text).unwrap().query_row(params_from_iter(values), |row| row.get(0));
        asked.map_err(|error| error.to_string())
    }

    fn pair() -> (Connection, Connection) {
        let (own, built_in) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        install(&own, false).unwrap();
        (own, built_in)
    }

    const FORMS: &[&str] = &[
        "SELECT ?1 LIKE ?2",
        "SELECT ?1 LIKE ?2 ESCAPE '\\'",
        "SELECT ?1 LIKE ?2 ESCAPE '%'",
        "SELECT ?1 LIKE ?2 ESCAPE '_'",
        "SELECT ?1 LIKE ?2 ESCAPE 'a'",
        "SELECT ?1 LIKE ?2 ESCAPE ?1",
        "SELECT ?1 NOT LIKE ?2",
        "SELECT ?1 GLOB ?2",
        "SELECT instr(?1, ?2)",
        "SELECT quote(replace(?1, ?2, ?1))",
        "SELECT quote(replace(?2, ?1, 'é'))",
        "SELECT quote(trim(?1, ?2))",
        "SELECT quote(ltrim(?1, ?2))",
        "SELECT quote(rtrim(?1, ?2))",
        "SELECT quote(trim(?1))",
        "SELECT json_patch(?1, ?2)",
        "SELECT json_array(json_patch(?1, ?2), json_pretty(?1), json_pretty(?1, ?2))",
        "SELECT hex(jsonb_patch(?1, ?2))",
        "SELECT json_pretty(?1, ?2)",
    ];

    #[test]
    fn every_kind_of_value_gives_what_sqlite_gives() {
        let (own, built_in) = pair();
        let mut values: Vec<Value> = vec![
            Value::Null,
            Value::Integer(12),
            Value::Integer(-1),
            Value::Real(1.0),
            Value::Real(1e300),
            Value::Real(-0.1),
            Value::Blob(Vec::new()),
            Value::Blob(b"a".to_vec()),
            Value::Blob(vec![0, 255, 97]),
            Value::Blob("é".as_bytes().to_vec()),
        ];
        let texts = [
            "",
            "a",
            "A",
            "%",
            "_",
            "*",
            "?",
            "[",
            "[a",
            "[]",
            "[]a]",
            "[^]a]b",
            "[a-]",
            "[a-c]*",
            "a%",
            "%a",
            "%a%b_",
            "\\",
            "\\%",
            "a\\",
            "é",
            "É%",
            "_é",
            "1%",
            "1.0",
            "[1,{\"a\":[]}]",
            "{\"a\":1,\"b\":{\"c\":2}}",
            "{\"a\":null,\"b\":{\"d\":[1]}}",
            "{'a':/*\"*/1}",
            "a\0b",
            "a\0%",
            " a ",
            "ab",
            "%%",
            "_%_",
        ];
        values.extend(texts.map(|text| Value::Text(text.into())));
        for form in FORMS {
            for first in &values {
                for second in &values {
                    let values = [first.clone(), second.clone()];
                    assert_eq!(ask(&own, form, &values), ask(&built_in, form, &values), "{form} {values:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn any_texts_give_what_sqlite_gives(text in "[abAé%_*]{0,12}", pattern in "[abAé%_*?\\[\\]^\\\\-]{0,8}") {
            thread_local! {
                static PAIR: (Connection, Connection) = pair();
            }
            PAIR.with(|(own, built_in)| {
                for form in FORMS {
                    let values = [Value::Text(text.clone()), Value::Text(pattern.clone())];
                    prop_assert_eq!(ask(own, form, &values), ask(built_in, form, &values), "{} {:?}", form, values);
                }
                Ok(())
            })?;
        }

        #[test]
        fn nothing_is_longer_than_it_was_told(depth in 0_usize..40, json in "[\\[\\]{},\"a/']{0,20}") {
            let json = format!("{}{}{}", "[".repeat(depth), json, "]".repeat(depth));
            let asked = Connection::open_in_memory().unwrap().query_row("SELECT length(json_pretty(?1))", [&json], |row| row.get::<_, i64>(0));
            if let Ok(length) = asked {
                prop_assert!(length as usize <= pretty_length(json.as_bytes(), 4), "{json}");
            }
        }
    }
}
