//! `millrace doctor`: looks at an MCP server as a client would, and says what is wrong, on which
//! side, and what to change.
//!
//! In goes a URL; out come facts and [findings](finding). [`wire`] sends requests within limits and
//! looks at what every answer must be; [`handshake`], [`sign_in`], [`lists`] and [`call`] are the
//! checks, in this order; [`tools`] are the rules for tools; [`report`] prints. Nothing that the
//! server sends is trusted: neither that it ends nor that it is short, and it is shown without the
//! user's credentials.

use std::{env, fs, time::Duration};

use millrace_core::Json;
use millrace_native::{
    isolate,
    probe::{Probe, Url},
};
use serde_json::Map;

use crate::{
    cli::{Doctor, ServerAccess},
    output::{CommandError, CommandResult},
};

mod call;
mod finding;
mod handshake;
mod lists;
mod report;
mod sign_in;
mod stream;
mod tools;
mod wire;

use call::Wanted;
use report::Report;
use wire::{MODERN, Wire};

/// The longest file with a secret, in bytes.
const LONGEST_SECRET: u64 = 64 << 10;

pub(super) fn run(arguments: Doctor) -> CommandResult {
    let url = endpoint(&arguments.url)?;
    let origin = arguments.origin.as_deref().map(web_origin).transpose()?;
    let credentials = credentials(&arguments.access)?;
    let wanted = wanted(&arguments)?;
    let limit = Duration::from_secs(arguments.access.timeout);
    let look = move || async move {
        let probe = Probe::new().map_err(CommandError::unable)?;
        Ok::<_, CommandError>(look(Wire::new(probe, url, credentials, limit), wanted, origin.as_deref()).await)
    };
    let report = isolate::run(look).map_err(CommandError::unable)??;
    if arguments.json {
        report.print_json()?;
    } else {
        report.print()?;
    }
    match (report.is_reached, report.is_healthy()) {
        (false, _) => Err(CommandError::Unable(None)),
        (true, true) => Ok(()),
        (true, false) => Err(CommandError::Told),
    }
}

/// The entries of the lists of a server, for whoever compares them with an app's.
///
/// # Errors
/// The URL or the credentials are wrong; nobody answers, or the lists cannot be read as a whole.
pub(super) fn server_lists(url: &str, access: &ServerAccess) -> CommandResult<ServerLists> {
    let url = endpoint(url)?;
    let credentials = credentials(access)?;
    let limit = Duration::from_secs(access.timeout);
    let ask = move || async move {
        let probe = Probe::new().map_err(CommandError::unable)?;
        Ok::<_, CommandError>(ask_for_lists(Wire::new(probe, url, credentials, limit)).await)
    };
    isolate::run(ask).map_err(CommandError::unable)??.map_err(CommandError::unable)
}

/// The entries of the lists of a server.
pub(super) struct ServerLists {
    pub(super) tools: Vec<Map<String, Json>>,
    pub(super) prompts: Vec<Map<String, Json>>,
    /// Of both lists of resources.
    pub(super) resources: Vec<Map<String, Json>>,
}

/// What keeps a list from being known as a whole.
const INCOMPLETE: [&str; 7] =
    ["list-failed", "list-entry", "duplicate-names", "pagination-endless", "scopes-missing", "rate-limited", "time-out"];

async fn ask_for_lists(mut wire: Wire) -> Result<ServerLists, String> {
    let seen = handshake::look(&mut wire).await.unwrap_or_default();
    let Some(era) = seen.era() else { return Err(unreadable(wire, "the server cannot be asked")) };
    let lists = lists::look(&mut wire, &era, &seen).await;
    let is_whole = lists.refused.is_none() && !wire.is_unfinished() && !INCOMPLETE.iter().any(|id| wire.findings.has(id));
    if wire.session.is_some() {
        // As a client that leaves.
        drop(wire.ask_endpoint("DELETE", wire::Auth::Given, &[("mcp-protocol-version", wire::LEGACY)]).await);
    }
    match is_whole {
        true => Ok(ServerLists { tools: lists.tools, prompts: lists.prompts, resources: lists.resources }),
        false => Err(unreadable(wire, "the lists of the server cannot be read as a whole")),
    }
}

/// Why a server cannot be compared, and who says more.
fn unreadable(wire: Wire, what: &str) -> String {
    let url = wire.endpoint.to_string();
    let reason = wire.findings.sorted().into_iter().next().map_or_else(String::new, |finding| format!(": {}", finding.what));
    format!("{what}{reason}; `millrace doctor {url}` says more")
}

async fn look(mut wire: Wire, wanted: Wanted, origin: Option<&str>) -> Report {
    let url = wire.endpoint.to_string();
    let outcome = handshake::look(&mut wire).await;
    // A server that presents a wrong certificate, or does not speak HTTP, is there.
    let is_reached = outcome.is_ok() || !["dns", "unreachable"].iter().any(|id| wire.findings.has(id));
    let mut report = Report {
        url,
        endpoint: String::new(),
        is_reached,
        server: None,
        revisions: Vec::new(),
        sign_in: "unknown",
        authorization_servers: Vec::new(),
        lists: Vec::new(),
        call: None,
        exchanges: Vec::new(),
        milliseconds: 0,
        findings: Vec::new(),
    };
    if let Ok(seen) = outcome {
        checks(&mut wire, &seen, wanted, origin, &mut report).await;
        if let Some(info) = seen.server_info() {
            let text = |key: &str| wire.shown(info.get(key).and_then(Json::as_str).unwrap_or_default());
            report.server = Some((text("name"), text("version")));
        }
        report.revisions.extend(seen.modern.is_some().then(|| MODERN.to_owned()));
        report.revisions.extend(seen.legacy.is_some().then_some(seen.legacy_revision).flatten());
    }
    report.endpoint = wire.endpoint.to_string();
    report.milliseconds = wire.elapsed().as_millis();
    report.exchanges = wire.exchanges;
    report.findings = wire.findings.sorted();
    report
}

async fn checks(wire: &mut Wire, seen: &handshake::Handshakes, wanted: Wanted, origin: Option<&str>, report: &mut Report) {
    if seen.era().is_none() && seen.challenge.is_none() {
        return;
    }
    handshake::transport(wire, seen, origin).await;
    let sign_in = sign_in::look(wire, seen).await;
    report.sign_in = match (sign_in.is_required, sign_in.is_offered) {
        (true, _) => "required",
        (false, true) => "offered",
        (false, false) => "none",
    };
    report.authorization_servers = sign_in.authorization_servers.iter().map(|server| wire.shown(server)).collect();
    let Some(era) = seen.era() else {
        if !wire.has_credentials() {
            let what = "lists and calls were not looked at: the server demands a token";
            let remedy = "Give one by the variable MILLRACE_TOKEN, or a field by `--header`.";
            wire.add(finding::Finding::note(finding::Side::Client, "token-needed", what, remedy));
        }
        return;
    };
    let mut lists = lists::look(wire, &era, seen).await;
    report.lists = std::mem::take(&mut lists.facts);
    let (called, refused) = call::look(wire, &era, &lists.tools, wanted).await;
    report.call = called;
    if seen.is_open {
        let has_schemes = lists.tools.iter().any(|tool| {
            tool.contains_key("securitySchemes") || tool.get("_meta").is_some_and(|meta| meta.get("securitySchemes").is_some())
        });
        sign_in::begins_late(wire, &era, lists.refused, refused, &sign_in, has_schemes).await;
    }
    if wire.session.is_some() {
        // As a client that leaves.
        drop(wire.ask_endpoint("DELETE", wire::Auth::Given, &[("mcp-protocol-version", wire::LEGACY)]).await);
    }
}

/// The URL of the command line.
fn endpoint(text: &str) -> CommandResult<Url> {
    let usage = |why: &str| CommandError::Usage(format!("{why}; write such as https://notes.example.com/mcp"));
    // The text may have a password in it: it is not repeated.
    let url = Url::parse(text).map_err(|error| usage(&format!("the URL is not valid: {error}")))?;
    if !wire::is_http(&url) {
        return Err(usage("the URL must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CommandError::Usage("the URL has a user name or a password; send credentials with --header".to_owned()));
    }
    if url.fragment().is_some() {
        return Err(usage("the URL of a server has no fragment (`#`)"));
    }
    Ok(url)
}

fn web_origin(text: &str) -> CommandResult<String> {
    let url = Url::parse(text).ok().filter(wire::is_http);
    let url = url.filter(|url| matches!(url.path(), "/" | "") && url.query().is_none() && url.fragment().is_none());
    url.map(|url| wire::origin(&url))
        .ok_or_else(|| CommandError::Usage("`--origin` is not the origin of a web page, such as https://app.example.com".to_owned()))
}

/// The fields that identify the user.
fn credentials(arguments: &ServerAccess) -> CommandResult<Vec<(String, String)>> {
    let mut fields = Vec::new();
    if let Some(token) = arguments.token.as_deref().filter(|token| !token.is_empty()) {
        let token = secret(token)?;
        let token = token.strip_prefix("Bearer ").unwrap_or(&token).trim().to_owned();
        fields.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    for word in &arguments.headers {
        // The word may hold a credential: it is not repeated.
        let Some((name, value)) = word.split_once(':') else {
            return Err(CommandError::Usage("a header field has no `:`; write `--header 'Name: value'`".to_owned()));
        };
        let name = name.trim().to_ascii_lowercase();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if !is_name || fields.iter().any(|(known, _)| *known == name) {
            return Err(CommandError::Usage("the name of a header field is not valid, or is given twice".to_owned()));
        }
        fields.push((name, secret(value.trim())?));
    }
    if fields.iter().any(|(_, value)| value.is_empty() || value.bytes().any(|byte| byte < b' ' || byte == 0x7f)) {
        return Err(CommandError::Usage("a credential is empty, or has a line break or another control character".to_owned()));
    }
    Ok(fields)
}

/// A secret as it is, of a variable (`env:NAME`), or of a file (`@FILE`).
fn secret(text: &str) -> CommandResult<String> {
    if let Some(name) = text.strip_prefix("env:") {
        return env::var(name).map_err(|_| CommandError::Usage(format!("the variable `{name}` is not set, or is not text")));
    }
    let Some(file) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let wrong = |why: String| CommandError::Usage(format!("the file `{file}` of a credential cannot be read: {why}"));
    let length = fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    if length > LONGEST_SECRET {
        return Err(wrong(format!("it is longer than {LONGEST_SECRET} bytes")));
    }
    Ok(fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?.trim().to_owned())
}

fn wanted(arguments: &Doctor) -> CommandResult<Wanted> {
    if arguments.no_call {
        return Ok(Wanted::Nothing);
    }
    let [name, inputs] = arguments.call.as_slice() else { return Ok(Wanted::Safe) };
    let inputs: Map<String, Json> = serde_json::from_str(inputs)
        .map_err(|error| CommandError::Usage(format!("the inputs after `--call {name}` are not an object of JSON: {error}")))?;
    Ok(Wanted::Named(name.clone(), inputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_cannot_be_looked_at_are_refused_without_repeating_them() {
        for text in ["notes", "ftp://h/mcp", "https://ada:s3cret@h/mcp", "https://h/mcp#x", "https://"] {
            let Err(CommandError::Usage(why)) = endpoint(text) else { panic!("{text}") };
            assert!(!why.contains("s3cret"), "{why}");
        }
        assert_eq!(endpoint("https://H:443/mcp").unwrap().as_str(), "https://h/mcp");
    }

    #[test]
    fn an_origin_has_no_path() {
        assert_eq!(web_origin("https://app.example.com/").unwrap(), "https://app.example.com");
        for text in ["app.example.com", "https://h/x", "null", "https://h?x"] {
            assert!(web_origin(text).is_err(), "{text}");
        }
    }
}
