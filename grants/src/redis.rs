//! The rights of a user of Redis: for each command a selector of an access control list, with the
//! keys that the command may be used on.
//!
//! A user's commands and keys in one list would be too wide: with `GET a:*` and `DEL b:*`, it could
//! also do the one with the keys of the other.

mod word;

use std::collections::BTreeSet;

use millrace_catalogue::find;
use millrace_core::{
    app::{Adapter, App, EnvPart, EnvTemplate, Statement, Tool},
    url::Url,
};
use millrace_languages::Form;
use millrace_languages::redis::{self, Argument, RedisCommand};

use super::{
    acl::{KeyAccess, Selector},
    section::{Note, Section},
};
use word::{Word, words};

/// Commands that carry out code, which the server then asks for rights of its own.
const RUNS_CODE: [&str; 6] = ["EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "FCALL", "FCALL_RO"];
/// What stands in a connection string for what is not known here.
const UNKNOWN: &str = "millrace-unknown";

/// Whether an adapter's server has these rights. Upstash's takes no rules with sub-commands, and
/// what else of them is not written down.
pub(super) fn has_acl(adapter: &Adapter) -> bool {
    adapter.connector == "redis"
}

/// The selector of a command, and what is not known of it.
struct Judged {
    /// `None` where the text of a key is not known.
    selector: Option<Selector>,
    missing: Vec<String>,
    /// The variables that keys have.
    variables: Vec<String>,
    /// Whether each pattern is exactly the key.
    is_exact: bool,
}

fn judged(command: &RedisCommand, words: &[Word<'_>]) -> Judged {
    let arguments: Vec<Argument<'_>> = words.iter().map(|word| word.argument).collect();
    let text = |place: usize| match arguments.get(place) {
        Some(Argument::Text(text)) => text.to_ascii_lowercase(),
        _ => String::new(),
    };
    let first = text(0);
    let name = if redis::has_subcommands(&first) && arguments.len() > 1 { format!("{first}|{}", text(1)) } else { first };
    let shown = name.replace('|', " ").to_ascii_uppercase();
    // In any other name could be more rules.
    let mut is_known = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"|._-".contains(&byte));
    let mut selector = Selector::of(name);
    let (mut missing, mut variables, mut is_exact) = (Vec::new(), Vec::new(), true);
    if !is_known {
        missing.push(format!("`{shown}` cannot be the name of a command"));
    }
    let mut use_word = |word: &Word<'_>| {
        variables.extend(word.variables.clone());
        is_exact &= word.is_exact;
        if let Some(name) = &word.unset {
            is_known = false;
            missing.push(format!("the variable `{name}` is not set here, and its value is part of a key or a channel"));
        }
        word.patterns.clone()
    };
    for key in redis::keys(command, &arguments) {
        let patterns = key.place.and_then(|place| words.get(place)).map_or_else(|| vec!["*".to_owned()], &mut use_word);
        patterns.into_iter().for_each(|pattern| selector.add_key(pattern, KeyAccess::of(key.reads, key.writes)));
    }
    if let Some(word) = redis::channel(command).and_then(|place| words.get(place)) {
        selector.channels.extend(use_word(word));
    }
    if command.name.is_empty() {
        missing.push(format!("the keys that the command `{shown}` uses are not known: grant them by hand"));
    }
    if RUNS_CODE.contains(&command.name) && !calls_nothing(command, arguments.get(1)) {
        missing.push(format!("the commands that the code of `{shown}` runs, and their keys, are not known: grant them by hand"));
    }
    selector.shorten();
    Judged { selector: is_known.then_some(selector), missing, variables, is_exact }
}

/// Whether code is written out and has none of the calls, `redis.call` and `redis.pcall`, that run
/// commands.
fn calls_nothing(command: &RedisCommand, code: Option<&Argument<'_>>) -> bool {
    matches!(command.name, "EVAL" | "EVAL_RO") && matches!(code, Some(Argument::Text(code)) if !code.contains("call"))
}

/// The selector of a command that a script has written out, where `$1` is a value; `None` for what
/// the connector refuses. `allow` is the adapter's option.
#[must_use]
pub fn selector_of(text: &str, allow: &str) -> Option<Selector> {
    written(text, allow)?.1.selector
}

fn written(text: &str, allow: &str) -> Option<(&'static RedisCommand, Judged)> {
    let cut = redis::words(text).ok()?;
    let is_value =
        |text: &str| text.strip_prefix('$').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let texts: Option<Vec<(&str, bool)>> =
        cut.iter().map(|word| word.text().map(|text| (text, !word.is_quoted && is_value(text)))).collect();
    let texts = texts?;
    let known: Vec<Option<&str>> = texts.iter().map(|(text, is_value)| (!is_value).then_some(*text)).collect();
    let command = redis::judge(&known, allow).ok()?;
    let words: Vec<Word<'_>> = texts.iter().map(|(text, is_value)| if *is_value { Word::any() } else { Word::text(text) }).collect();
    Some((command, judged(command, &words)))
}

type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Adds what a command of a tool needs.
pub(super) fn command(section: &mut Section, variable: Variable<'_>, tool: &Tool, place: &str, statement: &Statement) {
    let words = words(statement, &tool.inputs, variable);
    let literals: Vec<Option<&str>> = words.iter().map(Word::literal).collect();
    // The build has judged what the adapter allows.
    let everything = literals.first().copied().flatten().unwrap_or_default();
    if let Ok(command) = redis::judge(&literals, everything) {
        let judged = judged(command, &words);
        add(section, &tool.name, place, judged);
    }
}

/// Adds what a command needs that a script has written out, for some of the section's adapters.
pub(super) fn script_command(section: &mut Section, variable: Variable<'_>, user: &str, place: &str, text: &str, adapters: &[&Adapter]) {
    let found = adapters.iter().find_map(|adapter| {
        let found = written(text, &allow(adapter, variable))?;
        (!adapter.read_only || found.0.reads).then_some(found.1)
    });
    if let Some(judged) = found {
        add(section, user, place, judged);
    }
}

fn add(section: &mut Section, user: &str, place: &str, Judged { selector, missing, variables, is_exact }: Judged) {
    section.variables.extend(variables);
    for what in missing {
        section.note(user, place, what, true);
    }
    let Some(mut selector) = selector else { return };
    if !is_exact {
        selector.inexact.insert((user.to_owned(), place.to_owned()));
    }
    selector.users.insert(user.to_owned());
    section.acl.get_or_insert_default().selectors.push(selector);
}

/// Adds what the connector itself sends. `HELLO` and `AUTH` need no right.
pub(super) fn connection(section: &mut Section, variable: Variable<'_>, app: &App) {
    for name in section.adapters.clone() {
        let Some(adapter) = app.adapters.iter().find(|adapter| adapter.name == name) else { continue };
        let user = format!("adapter `{name}`");
        let found = |command: &str| Judged {
            selector: Some(Selector::of(command.to_owned())),
            missing: Vec::new(),
            variables: Vec::new(),
            is_exact: true,
        };
        // It asks a connection that nobody used for a while whether it still works.
        add(section, &user, "", found("ping"));
        match selects(adapter, variable) {
            Ok(false) => {}
            Ok(true) => add(section, &user, "", found("select")),
            Err(what) => {
                let set = set_user(&section.role);
                let text = format!(
                    "the connection string is not known, because {what}: if it has the number of a database, run `{set} +select`, too"
                );
                section.note(&user, &format!("app/adapters/{name}.yaml"), text, true);
            }
        }
    }
}

impl Section {
    /// Puts the selectors in order, and leaves out those that others make needless. `users` are
    /// those of the sections before.
    pub(super) fn finish_acl(&mut self, users: &mut BTreeSet<String>) {
        let Some(acl) = &mut self.acl else { return };
        acl.is_first = users.insert(self.role.clone());
        let mut kept: Vec<Selector> = Vec::new();
        for mut selector in std::mem::take(&mut acl.selectors) {
            if let Some(known) = kept.iter_mut().find(|known| known.is_enough_for(&selector)) {
                if selector.is_enough_for(known) {
                    known.inexact.append(&mut selector.inexact);
                }
                known.users.append(&mut selector.users);
                continue;
            }
            kept.retain_mut(|known| {
                let is_needed = !selector.is_enough_for(known);
                if !is_needed {
                    selector.users.append(&mut known.users);
                }
                is_needed
            });
            kept.push(selector);
        }
        kept.sort();
        for (user, place) in kept.iter().flat_map(|selector| &selector.inexact) {
            let text = "no pattern can have spaces, quotes or control characters: where the key has one, any character matches".to_owned();
            self.notes.insert(Note { place: place.clone(), user: user.clone(), text, is_missing: false });
        }
        acl.selectors = kept;
    }
}

/// How a command begins that gives a user rights.
pub(super) fn set_user(user: &str) -> String {
    let is_plain = !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte));
    format!("ACL SETUSER {}", if is_plain { user.to_owned() } else { quoted(user) })
}

/// A line for `redis-cli`, which knows no comments: one is printed by the server.
pub(super) fn for_cli(line: &str) -> String {
    line.strip_prefix("--").map_or_else(|| line.to_owned(), |comment| format!("ECHO {}", quoted(&format!("#{comment}"))))
}

/// A word as `redis-cli` takes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The option `allow`.
fn allow(adapter: &Adapter, variable: Variable<'_>) -> String {
    let template = adapter.options.iter().find(|(name, _)| name == "allow").map(|(_, template)| template);
    template.map(|template| resolved(template, variable).0).unwrap_or_default()
}

/// Whether a connection begins with `SELECT`.
///
/// # Errors
/// Why that is not known.
fn selects(adapter: &Adapter, variable: Variable<'_>) -> Result<bool, String> {
    for template in adapter.connection_strings() {
        let (text, unknown) = resolved(&template, variable);
        let why = || unknown.clone().unwrap_or_else(|| "it is not a URL of Redis".to_owned());
        if text.starts_with(UNKNOWN) {
            return Err(why());
        }
        let url = Url::parse_with_user(text.trim()).map_err(|_| why())?;
        match url.path.trim_start_matches('/') {
            "" => {}
            number => match number.parse::<u32>() {
                Ok(0) => {}
                Ok(_) => return Ok(true),
                Err(_) => return Err(why()),
            },
        }
    }
    Ok(false)
}

/// The text of a template, and why a part of it is not known.
fn resolved(template: &EnvTemplate, variable: Variable<'_>) -> (String, Option<String>) {
    let (mut text, mut unknown) = (String::new(), None);
    for part in &template.0 {
        let (value, why) = match part {
            EnvPart::Text(own) => (Some(own.clone()), String::new()),
            EnvPart::Env(name) => (variable(name), format!("the variable `{name}` is not set here")),
            EnvPart::Secret(secret) => (None, format!("`{secret}` is a secret")),
            EnvPart::Caller(source) => (None, format!("`{source}` is the caller's")),
        };
        match value {
            Some(value) => text.push_str(&value),
            None => {
                text.push_str(UNKNOWN);
                unknown.get_or_insert(why);
            }
        }
    }
    (text, unknown)
}

/// Whether a statement of a script that names no adapter can be for this one.
pub(super) fn may_be_for(adapter: &Adapter, text: Option<&str>, variable: Variable<'_>) -> bool {
    find(&adapter.connector).is_some_and(|known| known.language.form() == Form::Command)
        && text.is_none_or(|text| written(text, &allow(adapter, variable)).is_some())
}
