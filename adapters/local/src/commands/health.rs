//! `millrace health`: whether a server is well, for a container that has no other program.

use std::{env, time::Duration};

use millrace_native::{http_client, isolate};

use crate::{
    cli::Health,
    output::{CommandError, CommandResult, print},
};

/// The port of an app that names none.
const PORT: &str = "8080";

pub(super) fn run(arguments: Health) -> CommandResult {
    let url = arguments.url.unwrap_or_else(own);
    let limit = Duration::from_secs(arguments.timeout);
    let ask = || async { http_client::status(&url, limit).await };
    let wrong = |why: String| CommandError::Wrong(format!("{url}: {why}"));
    match isolate::run(ask).map_err(CommandError::wrong)? {
        Ok((200, body)) => print(body),
        Ok((status, body)) => Err(wrong(format!("status {status}, {body}"))),
        Err(error) => Err(wrong(match error.source {
            Some(source) => format!("{}: {source}", error.message),
            None => error.message,
        })),
    }
}

/// The server beside which this runs: it has the same variables.
fn own() -> String {
    let set = |name| env::var(name).ok().filter(|text| !text.is_empty());
    let scheme = if set("MILLRACE_TLS_CERT").is_some() { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}/livez", set("PORT").as_deref().unwrap_or(PORT))
}
