//! What an error means that a server replies with. Its words may quote a value; they are the
//! source, for the log.

use millrace_core::{Error, ErrorKind};
use millrace_languages::redis::{Admission, Why};

use super::Prepared;
use crate::shared::{Execution, StatementFailure, excerpt};

/// Where an error stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorPlace {
    /// It is the reply to a command of the login: the query's own was not sent.
    Login,
    /// It is the whole reply.
    Reply,
    /// It is an element of a reply, so that the command was carried out in part at least.
    Element,
}

/// The failure that a reply is. `server` is what messages call the server.
///
/// The server refuses a command of its own as a whole. A script, or a command of a module, may have
/// written before it failed, whatever the error says.
pub(crate) fn failure_of(prepared: &Prepared, place: ErrorPlace, server: &str, words: &str) -> StatementFailure {
    let failure = failure_of_words(prepared, server, words);
    let is_certain = match place {
        ErrorPlace::Login => true,
        ErrorPlace::Reply if prepared.command.reads => true,
        // What may be sent again are commands whose every effect is known.
        ErrorPlace::Reply if failure.outcome == Execution::NotExecuted => prepared.command.admission == Admission::Free,
        ErrorPlace::Reply => !runs_code(prepared) || is_before_code(prepared, words),
        ErrorPlace::Element => prepared.command.reads && failure.outcome != Execution::NotExecuted,
    };
    if is_certain { failure } else { StatementFailure::unknown(failure.error) }
}

/// Whether a command runs code that nothing is known of: a script, a function, or a command of a
/// module.
fn runs_code(prepared: &Prepared) -> bool {
    let command = prepared.command;
    command.name.is_empty() || matches!(command.admission, Admission::Named(Why::Scripting))
}

/// Whether an error is one of the server's own, before any code runs.
fn is_before_code(prepared: &Prepared, words: &str) -> bool {
    let (code, text) = words.split_once(' ').unwrap_or((words, ""));
    let text = text.to_ascii_lowercase();
    let is_unknown = text.starts_with("unknown command") && text.contains(&prepared.name().to_ascii_lowercase());
    matches!(code, "NOAUTH" | "NOSCRIPT") || (code == "ERR" && is_unknown)
}

fn failure_of_words(prepared: &Prepared, server: &str, words: &str) -> StatementFailure {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, TooLarge};
    let (code, text) = words.split_once(' ').unwrap_or((words, ""));
    let says = |part: &str| text.to_ascii_lowercase().contains(part);
    let command = prepared.name();
    let server_is = |kind, what: &str| (kind, format!("{server} {what}"));
    let (kind, message) = match code {
        "NOAUTH" => server_is(Credentials, "requires a password"),
        "WRONGPASS" => server_is(Credentials, "does not accept the user and the password"),
        "NOPERM" => (Denied, format!("the user of the adapter may not run `{command}`, or not with these keys")),
        "DENIED" => server_is(Denied, "is in protected mode and accepts no connections from other machines"),
        "READONLY" => server_is(Configuration, "is a replica, which takes no writes"),
        "MOVED" | "ASK" | "CROSSSLOT" => server_is(Configuration, "is part of a cluster, which is not supported"),
        "OOM" => server_is(Busy, "has no memory left"),
        "MISCONF" | "NOREPLICAS" => server_is(Busy, "takes no writes for now"),
        "LOADING" | "BUSY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" => {
            let error = Error::new(Busy, format!("{server} is not ready")).with_source(excerpt(words));
            return StatementFailure::not_executed(error);
        }
        "WRONGTYPE" => (Constraint, format!("`{command}` requires a value of another type than the key has")),
        "BUSYGROUP" => (Constraint, "the consumer group exists already".to_owned()),
        "NOGROUP" => (Constraint, "the stream or the consumer group does not exist".to_owned()),
        "BUSYKEY" => (Constraint, "the key exists already".to_owned()),
        "NOSCRIPT" => (Syntax, "the server does not have the script".to_owned()),
        "ERR" if says("max number of clients") => {
            let error = Error::new(Busy, format!("{server} accepts no more connections")).with_source(excerpt(words));
            return StatementFailure::not_executed(error);
        }
        "ERR" if says("unknown command") || says("unknown subcommand") => {
            (Syntax, format!("the server does not know the command `{command}`"))
        }
        "ERR" if says("wrong number of arguments") => (Syntax, format!("`{command}` has a wrong number of arguments")),
        "ERR" if says("syntax error") || says("unsupported option") => {
            (Syntax, format!("the server does not understand the options of `{command}`"))
        }
        "ERR" if says("max request size") => (TooLarge, "the command is larger than the server takes".to_owned()),
        "ERR" if says("max requests limit") || says("max daily request") => server_is(Busy, "takes no more requests for now"),
        "ERR" if says("not an integer") => (Data, format!("`{command}` requires a 64-bit integer")),
        "ERR" if says("not a valid float") || says("not a float") => (Data, format!("`{command}` requires a number")),
        "ERR" if says("would overflow") || says("would produce") => (Data, format!("the result of `{command}` would be out of range")),
        "ERR" if says("no such key") => (Constraint, "the key does not exist".to_owned()),
        "ERR" => (Constraint, format!("the server rejected `{command}`")),
        _ => (Protocol, format!("the server rejected `{command}`")),
    };
    StatementFailure::last(Error::new(kind, message).with_source(excerpt(words)))
}

#[cfg(test)]
mod tests {
    use millrace_core::{
        app::Access,
        ports::{Command, Query},
    };

    use super::*;
    use crate::shared::own_query;

    #[test]
    fn a_write_is_repeated_only_where_the_server_did_nothing() {
        use ErrorPlace::{Element, Login, Reply};
        use Execution::{Final, NotExecuted, Unknown};
        for (command, place, words, outcome) in [
            ("GET k", Reply, "LOADING x", NotExecuted),
            ("SET k v", Reply, "BUSY x", NotExecuted),
            ("SET k v", Reply, "WRONGTYPE x", Final),
            ("FLUSHALL", Reply, "ERR x", Final),
            ("FLUSHALL", Reply, "BUSY x", Unknown),
            ("EVAL x 0", Login, "LOADING x", NotExecuted),
            ("EVAL x 0", Reply, "LOADING x", Unknown),
            ("EVAL x 0", Reply, "BUSY x", Unknown),
            ("EVAL x 0", Reply, "TRYAGAIN x", Unknown),
            ("EVAL x 0", Reply, "ERR max number of clients reached", Unknown),
            ("EVAL x 0", Reply, "WRONGTYPE x", Unknown),
            ("EVAL x 0", Reply, "ERR x", Unknown),
            ("EVAL x 0", Reply, "ERR unknown command 'x'", Unknown),
            ("EVALSHA x 0", Reply, "NOSCRIPT x", Final),
            ("EVAL_RO x 0", Reply, "LOADING x", NotExecuted),
            ("EVAL_RO x 0", Reply, "ERR x", Final),
            ("FCALL x 0", Reply, "MASTERDOWN x", Unknown),
            ("FT.ADD x", Reply, "LOADING x", Unknown),
            ("FT.ADD x", Reply, "WRONGTYPE x", Unknown),
            ("FT.ADD x", Reply, "ERR unknown command 'FT.ADD', with args beginning with: 'x'", Final),
            ("GET k", Element, "LOADING x", Unknown),
            ("GET k", Element, "ERR x", Final),
            ("SET k v", Element, "LOADING x", Unknown),
            ("SET k v", Element, "WRONGTYPE x", Unknown),
        ] {
            let query = Query { command: Command::Statement { text: command, values: &[] }, access: Access::Write, ..own_query("", 0) };
            let allow = "EVAL,EVAL_RO,EVALSHA,FCALL,FLUSHALL,FT.ADD";
            let prepared = Prepared::of(&query, "redis", allow, false).unwrap();
            assert_eq!(failure_of(&prepared, place, "the server", words).outcome, outcome, "{command} {place:?} {words}");
        }
    }
}
