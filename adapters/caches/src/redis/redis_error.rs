//! What an error of a Redis server means.

use millrace_core::{Error, ErrorKind};

/// The error for a reply. Its text is not kept: it may quote the command, and with that a password
/// or a value.
pub(super) fn of(server: &str, words: &str) -> Error {
    let code = words.split_ascii_whitespace().next().unwrap_or_default();
    let (kind, what) = match code {
        "NOAUTH" => (ErrorKind::Denied, "requires a password"),
        "WRONGPASS" => (ErrorKind::Denied, "does not accept the user and the password"),
        "ERR" if words.contains("invalid password") || words.contains("AUTH") => (ErrorKind::Denied, "does not accept the password"),
        "NOPERM" => (ErrorKind::Denied, "forbids the user `GET`, `SET`, `SELECT` or the keys `millrace:*`"),
        "DENIED" => (ErrorKind::Denied, "is in protected mode and accepts no connections from other machines"),
        "ERR" if words.contains("DB index") => (ErrorKind::Configuration, "has no database of that number"),
        "READONLY" => (ErrorKind::Configuration, "is a replica, which takes no values"),
        "MOVED" | "ASK" | "CROSSSLOT" => (ErrorKind::Configuration, "is part of a cluster, which is not supported"),
        "OOM" => (ErrorKind::Busy, "has no memory left"),
        "LOADING" | "BUSY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" => (ErrorKind::Busy, "is not ready"),
        "ERR" if words.contains("max number of clients") => (ErrorKind::Busy, "accepts no more connections"),
        "WRONGTYPE" => (ErrorKind::Protocol, "has a value of another type under the key"),
        _ => return Error::new(ErrorKind::Protocol, format!("{server} refuses a command")).with_source(code),
    };
    Error::new(kind, format!("{server} {what}")).with_source(code)
}
