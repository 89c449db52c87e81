//! What an error means that a server replies with. Its words may quote a value; they are the source, for the log.

use millrace_core::{Error, ErrorKind};

use super::Prepared;
use crate::shared::{StatementFailure, excerpt};

/// The failure that a reply is. `server` is what messages call the server.
pub(crate) fn failure_of(prepared: &Prepared, server: &str, words: &str) -> StatementFailure {
    use ErrorKind::{Busy, Configuration, Constraint, Denied, Protocol, Syntax, TooLarge};
    let (code, text) = words.split_once(' ').unwrap_or((words, ""));
    let says = |part: &str| text.to_ascii_lowercase().contains(part);
    let command = prepared.name();
    let server_is = |kind, what: &str| (kind, format!("{server} {what}"));
    let (kind, message) = match code {
        "NOAUTH" => server_is(Denied, "requires a password"),
        "WRONGPASS" => server_is(Denied, "does not accept the user and the password"),
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
        "NOGROUP" => (Constraint, "there is no such stream or consumer group".to_owned()),
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
        "ERR" if says("not an integer") => (Constraint, format!("`{command}` requires a 64-bit integer")),
        "ERR" if says("not a valid float") || says("not a float") => (Constraint, format!("`{command}` requires a number")),
        "ERR" if says("would overflow") || says("would produce") => {
            (Constraint, format!("the result of `{command}` would be out of range"))
        }
        "ERR" if says("no such key") => (Constraint, "there is no such key".to_owned()),
        "ERR" => (Constraint, format!("the server rejected `{command}`")),
        _ => (Protocol, format!("the server rejected `{command}`")),
    };
    StatementFailure::last(Error::new(kind, message).with_source(excerpt(words)))
}
