//! What a statement that writes does to what is there already: the difference between an `INSERT`
//! and a `DELETE`.

use millrace_core::app::{Execute, Part, Statement};
use millrace_languages::{Form, Language};

use super::{Dialect, Substitution, TableSet, Tables, compile, lex::Kind};

/// What the statements of a tool do to what is there already, as far as the build knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// They only read.
    Reads,
    /// They write, and change and remove nothing.
    Adds,
    /// They write, or may; nobody can tell what.
    Unknown,
    /// They change or remove something.
    Destroys,
}

/// Words of statements that change or remove something.
const DESTROY: [&str; 7] = ["UPDATE", "DELETE", "REPLACE", "MERGE", "TRUNCATE", "DROP", "UPSERT"];
/// Commands of Redis that add, and leave the rest as it is.
const ADDING: [&str; 15] = [
    "APPEND", "HSETNX", "LPUSH", "LPUSHX", "MSETNX", "PFADD", "PUBLISH", "RPUSH", "RPUSHX", "SADD", "SETNX", "SPUBLISH", "TOUCH", "WAIT",
    "XADD",
];
/// Commands of Redis that remove. What others do, such as `SET` and `EXPIRE`, depends on what is
/// there.
const REMOVING: [&str; 27] = [
    "BLMPOP",
    "BLPOP",
    "BRPOP",
    "BZMPOP",
    "BZPOPMAX",
    "BZPOPMIN",
    "DEL",
    "FLUSHALL",
    "FLUSHDB",
    "GETDEL",
    "HDEL",
    "LMPOP",
    "LPOP",
    "LREM",
    "LTRIM",
    "RPOP",
    "SPOP",
    "SREM",
    "UNLINK",
    "XDEL",
    "XTRIM",
    "ZMPOP",
    "ZPOPMAX",
    "ZPOPMIN",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
];

/// What the statements of a tool do together; `None` for a tool without statements. `tables` are
/// those of all of them.
pub(crate) fn effect(execute: &Execute, tables: Option<&Tables>, language: Option<Language>) -> Option<Effect> {
    execute.access()?;
    // A function that nobody knows here may do anything, and so may an unknown statement.
    let is_known = tables.is_some_and(|tables| tables.writes != TableSet::All);
    execute.statements().map(|statement| of_statement(statement, is_known, language)).max()
}

/// Whether a statement of a script only reads, as far as its text tells.
pub(crate) fn only_reads(text: &str, dialect: Dialect) -> bool {
    let Ok(tokens) = dialect.lex(text) else { return false };
    // A statement of a tool has no parameters of its own; a number may stand where they do.
    let mut bare = String::with_capacity(text.len());
    for token in tokens {
        let own = text.get(token.range).unwrap_or_default();
        bare.push_str(if token.kind == Kind::Parameter { "1" } else { own });
    }
    compile(&bare, dialect, Substitution::Bind, &[]).is_ok_and(|compiled| compiled.statement.access.reads())
}

fn of_statement(statement: &Statement, is_known: bool, language: Option<Language>) -> Effect {
    if statement.access.reads() {
        return Effect::Reads;
    }
    match language.map(|language| language.form()) {
        Some(Form::Command) => of_command(statement),
        // The first key is the command.
        Some(Form::Document) => match statement.document.first().map(|(command, _)| command.as_str()) {
            Some("insert") => Effect::Adds,
            Some("update" | "delete" | "findAndModify" | "drop" | "dropDatabase") => Effect::Destroys,
            _ => Effect::Unknown,
        },
        Some(Form::Request) => match statement.document.first().map(|(verb, _)| verb.as_str()) {
            Some("insert") => Effect::Adds,
            Some("update" | "upsert" | "delete") => Effect::Destroys,
            _ => Effect::Unknown,
        },
        Some(Form::Statement(dialect)) => of_text(statement, is_known, dialect),
        // What they do is said by RFC 9110; what a `POST` does, only by the API.
        Some(Form::Api) => match statement.http_method() {
            Some("PUT" | "PATCH" | "DELETE") => Effect::Destroys,
            _ => Effect::Unknown,
        },
        None => Effect::Unknown,
    }
}

fn of_command(statement: &Statement) -> Effect {
    let command = match statement.parts.first() {
        Some(Part::Text(command)) => command.to_ascii_uppercase(),
        _ => return Effect::Unknown,
    };
    let trims = |part: &Part| matches!(part, Part::Text(text) if ["MAXLEN", "MINID"].iter().any(|word| text.eq_ignore_ascii_case(word)));
    match command.as_str() {
        "XADD" if statement.parts.iter().any(trims) => Effect::Destroys,
        command if ADDING.contains(&command) => Effect::Adds,
        command if REMOVING.contains(&command) => Effect::Destroys,
        _ => Effect::Unknown,
    }
}

/// By the words outside of literals, comments and quoted names; a word before `(` is a function:
/// `REPLACE(name, 'a', 'b')`.
fn of_text(statement: &Statement, is_known: bool, dialect: Dialect) -> Effect {
    let mut text = String::new();
    let mut is_whole = true;
    for part in &statement.parts {
        match part {
            Part::Text(own) => text.push_str(own),
            // Text of the operator's, or of a caller's.
            Part::Env(_) | Part::Textual(_) => is_whole = false,
            _ => text.push_str(" x "),
        }
    }
    let Ok(tokens) = dialect.lex(&text) else { return Effect::Unknown };
    let tokens: Vec<_> = tokens.iter().filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment { executable: false })).collect();
    let word =
        |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| text[token.range.clone()].to_ascii_uppercase());
    let is_destroying = |at: usize| {
        let Some(found) = word(at).filter(|word| DESTROY.contains(&word.as_str())) else { return false };
        let is_function = tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Sign(b'('));
        let is_member = at.checked_sub(1).is_some_and(|before| tokens[before].kind == Kind::Sign(b'.'));
        // `FOR UPDATE` and `FOR NO KEY UPDATE` lock rows.
        let before = |back: usize| at.checked_sub(back).and_then(word);
        let is_lock = found == "UPDATE"
            && (before(1).as_deref() == Some("FOR") || (before(1).as_deref() == Some("KEY") && before(2).as_deref() == Some("NO")));
        !(is_function || is_member || is_lock)
    };
    let first = (0..tokens.len()).find_map(word).unwrap_or_default();
    let verbs = ["INSERT", "SELECT", "WITH", "UPDATE", "DELETE", "REPLACE", "MERGE", "TRUNCATE", "DROP", "UPSERT", "ALTER"];
    if verbs.contains(&first.as_str()) && (0..tokens.len()).any(is_destroying) {
        return Effect::Destroys;
    }
    let is_adding = ["INSERT", "SELECT", "WITH"].contains(&first.as_str());
    let runs_comment = tokens.iter().any(|token| matches!(token.kind, Kind::Comment { .. }));
    if is_adding && is_known && is_whole && !runs_comment { Effect::Adds } else { Effect::Unknown }
}
