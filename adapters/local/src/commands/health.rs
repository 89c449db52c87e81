//! `millrace health`: whether a server is well, for a container that has no other program.

use std::{env, time::Duration};

use millrace_core::url::UrlParts;
use millrace_native::{http_client, isolate};

use crate::{
    cli::Health,
    output::{CommandError, CommandResult, print},
};

/// The port of an app that names none.
const PORT: &str = "8080";

pub(super) fn run(arguments: Health) -> CommandResult {
    let url = arguments.url.map_or_else(own, named);
    let limit = Duration::from_secs(arguments.timeout);
    let ask = || async { http_client::status(&url, limit).await };
    let wrong = |why: String| CommandError::Wrong(format!("{url}: {why}"));
    match isolate::run(ask).map_err(CommandError::wrong)? {
        Ok((200, body)) => print(body),
        Ok((status, body)) => Err(wrong(format!("status {status}, {body}"))),
        Err(error) => Err(wrong(error.in_full())),
    }
}

/// The address of a server is that of its check, unless it names one.
fn named(url: String) -> String {
    match UrlParts::of(&url) {
        Some(UrlParts { authority, rest: "", .. }) if !authority.is_empty() => format!("{url}/livez"),
        Some(UrlParts { rest: "/", .. }) => format!("{url}livez"),
        _ => url,
    }
}

/// The server beside which this runs: it has the same variables.
fn own() -> String {
    let set = |name| env::var(name).ok().filter(|text| !text.is_empty());
    let scheme = if set("MILLRACE_TLS_CERT").is_some() { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}/livez", set("PORT").as_deref().unwrap_or(PORT))
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_server_is_asked_whether_it_lives() {
        for (given, asked) in [
            ("http://host:8080", "http://host:8080/livez"),
            ("https://host/", "https://host/livez"),
            ("http://host:8080/readyz", "http://host:8080/readyz"),
            ("http://host/base/livez", "http://host/base/livez"),
            ("http://host?x", "http://host?x"),
            ("host", "host"),
        ] {
            assert_eq!(named(given.to_owned()), asked);
        }
    }
}
