//! The commands of Redis, as data: what the bundler and the connectors `redis` and `upstash` know
//! of each.
//!
//! | | |
//! |---|---|
//! | [`judge`] | which command it is, and whether it may be run |
//! | [`words`] | a command's text, cut into arguments |
//! | [`open_option`] | whether a value could be read as an option |
//! | [`patterns`] | which arguments are patterns |
//! | [`keys`], [`channel`] | which arguments are keys, what is done with them, and which is a channel |

mod command;
mod commands;
mod keys;
mod options;
mod words;

use alloc::{
    format,
    string::{String, ToString},
};
use core::{cmp::Ordering, fmt};

pub use command::{Admission, RedisCommand, ReplyForm, Why};
pub use keys::{Begin, Find, Key, KeySpec, channel, key_specs, keys};
pub use options::{Argument, Open, is_option, open_option, patterns};
pub use words::{Word, WordPiece, WordsError, words};

/// A command that is not known and that an adapter allows by name. What cannot be told counts as a
/// write.
static UNKNOWN: RedisCommand = RedisCommand {
    name: "",
    arity: -1,
    reads: false,
    admission: Admission::Named(Why::Administers),
    reply: ReplyForm::Plain,
    options_from: 0,
};

/// Commands whose sub-commands are all admitted alike, so that the table has none of them.
const CONTAINERS: [&str; 9] = ["ACL", "CLUSTER", "COMMAND", "DEBUG", "FUNCTION", "LATENCY", "MODULE", "SCRIPT", "SLOWLOG"];

/// Why a command is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name, in upper case.
    pub name: String,
    /// Why; `None` for a command that is not known.
    pub why: Option<Why>,
    /// Whether the adapter's option `allow` can name it.
    pub can_be_allowed: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.why {
            None => write!(f, "the command `{name}` is not known"),
            Some(Why::Administers) => write!(f, "the command `{name}` is for those who administer the server"),
            Some(Why::Scripting) => write!(f, "the command `{name}` runs code on the server"),
            Some(Why::LooksThrough) => write!(f, "the command `{name}` goes through every key of the database while all others wait"),
            Some(Why::Waits) => write!(f, "the command `{name}` waits on the server, which no call may"),
            Some(Why::Connection) => write!(f, "the command `{name}` changes the connection, which other calls use"),
        }
    }
}

impl Refusal {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> String {
        let name = &self.name;
        match self.why {
            None => {
                format!(
                    "check its spelling; a command of a module is named in the adapter's `options: {{ allow: [{name}] }}`, and counts as a write"
                )
            }
            Some(Why::LooksThrough) => format!("use `SCAN`, or name it in the adapter's `options: {{ allow: [{name}] }}`"),
            Some(_) if self.can_be_allowed => format!("to allow it, name it in the adapter's `options: {{ allow: [{name}] }}`"),
            Some(Why::Waits) => "use the command that does not wait, such as `LPOP` for `BLPOP`".to_string(),
            Some(_) => "remove it: a statement is one command, on a connection that nothing is left on".to_string(),
        }
    }
}

/// The names in an option `allow`.
pub fn allowed(allow: &str) -> impl Iterator<Item = &str> {
    allow.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Whether a name of an option `allow` is that of a command, or of a group of sub-commands, that is
/// known.
#[must_use]
pub fn is_known(name: &str) -> bool {
    let mut words = name.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    find(first, words.next()).is_some()
}

/// Finds a command by its words: the first is its name, the second may be a sub-command's. `None`
/// where it is not known.
#[must_use]
pub fn find(name: &str, second: Option<&str>) -> Option<&'static RedisCommand> {
    let of = |name: &str, second: Option<&str>| {
        let place = commands::COMMANDS.binary_search_by(|row| compare(row.name, name, second)).ok()?;
        commands::COMMANDS.get(place)
    };
    second.and_then(|second| of(name, Some(second))).or_else(|| of(name, None))
}

/// Whether a command's second word is part of its name.
#[must_use]
pub fn has_subcommands(name: &str) -> bool {
    let is_of = |row: &RedisCommand| row.name.split_once(' ').is_some_and(|(first, _)| first.eq_ignore_ascii_case(name));
    commands::COMMANDS.iter().any(is_of) || CONTAINERS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Compares a name of the table with one that is written in any case.
fn compare(known: &str, name: &str, second: Option<&str>) -> Ordering {
    let second = second.into_iter().flat_map(|second| b" ".iter().chain(second.as_bytes()));
    let written = name.as_bytes().iter().chain(second).map(u8::to_ascii_uppercase);
    known.bytes().cmp(written)
}

/// Says which command the arguments are and that it may be run. A value that nobody knows yet is
/// `None`. `allow` is the adapter's option.
///
/// # Errors
/// Why it is not run.
pub fn judge(arguments: &[Option<&str>], allow: &str) -> Result<&'static RedisCommand, Refusal> {
    let name = arguments.first().copied().flatten().unwrap_or_default();
    let second = arguments.get(1).copied().flatten();
    let known = find(name, second);
    let with_second = || second.map_or_else(|| name.to_ascii_uppercase(), |second| format!("{name} {second}").to_ascii_uppercase());
    let written = match known {
        Some(row) if row.admission == Admission::Container => with_second(),
        Some(row) => row.name.to_string(),
        None => name.to_ascii_uppercase(),
    };
    let is_named = || {
        allowed(allow).any(|allowed| {
            let allowed = allowed.split_ascii_whitespace();
            let is_name = allowed.clone().eq_by_case(&written) || allowed.clone().eq_by_case(name);
            is_name || allowed.eq_by_case(&with_second())
        })
    };
    let refused = |why, can_be_allowed| Err(Refusal { name: written.clone(), why, can_be_allowed });
    match known.map(|row| (row, row.admission)) {
        Some((row, Admission::Free)) => match blocks(row, arguments) {
            true => Err(Refusal { name: format!("{} … BLOCK", row.name), why: Some(Why::Waits), can_be_allowed: false }),
            false => Ok(row),
        },
        Some((_, Admission::Never(why))) => refused(Some(why), false),
        Some((row, Admission::Named(_))) if is_named() => Ok(row),
        Some((_, Admission::Named(why))) => refused(Some(why), true),
        Some((_, Admission::Container)) | None if is_named() => Ok(&UNKNOWN),
        Some((_, Admission::Container)) | None => refused(None, true),
    }
}

/// Compares words with a name whose parts have one space between them.
trait EqByCase {
    fn eq_by_case(self, name: &str) -> bool;
}

impl<'a, I: Iterator<Item = &'a str>> EqByCase for I {
    fn eq_by_case(mut self, name: &str) -> bool {
        let mut parts = name.split(' ');
        loop {
            match (self.next(), parts.next()) {
                (None, None) => return true,
                (Some(word), Some(part)) if word.eq_ignore_ascii_case(part) => {}
                _ => return false,
            }
        }
    }
}

/// Whether `XREAD` or `XREADGROUP` has the option `BLOCK`: it may stand anywhere before `STREAMS`,
/// also behind options that are not known.
fn blocks(command: &RedisCommand, arguments: &[Option<&str>]) -> bool {
    if !matches!(command.name, "XREAD" | "XREADGROUP") {
        return false;
    }
    let mut place = 1;
    while let Some(argument) = arguments.get(place) {
        place += match argument.unwrap_or_default().to_ascii_uppercase().as_str() {
            "BLOCK" => return true,
            "STREAMS" => return false,
            "GROUP" if command.name == "XREADGROUP" => 3,
            "COUNT" => 2,
            _ => 1,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn judged(text: &str, allow: &str) -> Result<&'static str, String> {
        let words: Vec<Option<&str>> = text.split(' ').map(|word| (word != "?").then_some(word)).collect();
        judge(&words, allow).map(|row| row.name).map_err(|refusal| format!("{refusal}; {}", refusal.help()))
    }

    #[test]
    fn the_table_is_sorted() {
        for (before, after) in commands::COMMANDS.iter().zip(&commands::COMMANDS[1..]) {
            assert!(before.name < after.name, "{} {}", before.name, after.name);
        }
        for row in commands::COMMANDS {
            let mut parts = row.name.split(' ');
            let found = find(&parts.next().unwrap().to_ascii_lowercase(), parts.next());
            assert_eq!(found.map(|found| found.name), Some(row.name));
        }
    }

    #[test]
    fn commands_are_admitted_or_refused() {
        for (text, allow, name) in [
            ("get k", "", "GET"),
            ("XGROUP create k g $", "", "XGROUP CREATE"),
            ("object ENCODING k", "", "OBJECT ENCODING"),
            ("KEYS *", "keys", "KEYS"),
            ("CONFIG GET x", " eval , Config", "CONFIG GET"),
            ("CONFIG GET x", "config get", "CONFIG GET"),
            ("FT.SEARCH i q", "FT.SEARCH", ""),
            ("XREAD COUNT 2 STREAMS BLOCK 0", "", "XREAD"),
            ("XREADGROUP GROUP BLOCK c STREAMS k >", "", "XREADGROUP"),
        ] {
            assert_eq!(judged(text, allow), Ok(name), "{text}");
        }
        for (text, allow, expected) in [
            ("KEYS *", "EVAL", "`KEYS` goes through every key of the database while all others wait; use `SCAN`"),
            ("CONFIG GET x", "CONFIG SET", "`CONFIG GET` is for those who administer the server; to allow it, name it"),
            ("flushall", "", "`FLUSHALL` is for those who administer"),
            ("EVAL x 0", "", "`EVAL` runs code on the server"),
            ("BLPOP k 0", "BLPOP", "`BLPOP` waits on the server, which no call may; use the command that does not wait"),
            ("SELECT 1", "SELECT", "`SELECT` changes the connection"),
            ("CLIENT reply OFF", "CLIENT", "`CLIENT REPLY` changes the connection"),
            ("GTE k", "GET", "`GTE` is not known; check its spelling"),
            ("OBJECT FOO k", "", "`OBJECT FOO` is not known"),
            ("XREAD COUNT 2 BLOCK 0 STREAMS k $", "XREAD", "`XREAD … BLOCK` waits"),
            ("XREADGROUP GROUP g c NOACK block 0 STREAMS k >", "", "`XREADGROUP … BLOCK` waits"),
            ("XREADGROUP GROUP g c CLAIM 5 BLOCK 0 STREAMS k >", "", "`XREADGROUP … BLOCK` waits"),
            ("XREAD ? BLOCK 0 STREAMS k $", "", "`XREAD … BLOCK` waits"),
            ("CLIENT capa redirect", "CLIENT", "`CLIENT CAPA` changes the connection"),
            ("", "", "`` is not known"),
        ] {
            let refused = judged(text, allow).unwrap_err();
            assert!(refused.contains(expected), "{text}: {refused}");
        }
    }
}
