//! What scripts ask by `fetch`, as far as their text shows it: hosts that the app does not allow,
//! and promises that are used as if they were responses.

use millrace_core::fetch_url::FetchUrl;

use crate::{
    Diagnostic, Severity,
    app_settings::RootSettings,
    compiler::Compiler,
    script::{AppPart, ScriptReference},
};

/// Notes each `fetch` that cannot succeed. The other tools of the app can, so it is a warning.
pub(crate) fn check(compiler: &mut Compiler<'_>, root: &RootSettings, named: &[ScriptReference]) {
    let file = &root.document.source.path;
    for place in named {
        let (message, help) = match place.part {
            AppPart::UnawaitedFetch => (
                "`fetch` returns a promise, and what is used of it belongs to the response".to_owned(),
                "Write `await fetch(…)` in an `async` function; `json()` and `text()` return promises, too.".to_owned(),
            ),
            AppPart::Address => match rejected_host(&place.name, &root.fetch_allow) {
                Some(Some(host)) => (
                    format!("the script asks `{host}`, which is not in `fetch.allow`, so the request is refused"),
                    format!("List the host in `{file}`: `fetch: {{ allow: [\"{host}\"] }}`."),
                ),
                Some(None) => (
                    "the script calls `fetch`, and `fetch.allow` lists no hosts, so each request is refused".to_owned(),
                    format!("List the hosts in `{file}`: `fetch: {{ allow: [api.example.com] }}`."),
                ),
                None => continue,
            },
            _ => continue,
        };
        compiler.findings.push(Diagnostic { severity: Severity::Warning, ..place.error(message, help) });
    }
}

/// The host of a URL that no entry of `fetch.allow` names; `Some(None)` where the URL is not
/// written out, and none is allowed.
fn rejected_host(url: &str, allowed: &[String]) -> Option<Option<String>> {
    match FetchUrl::parse(url) {
        Ok(address) => (!allowed.iter().any(|entry| address.matches(entry))).then(|| Some(address.authority())),
        Err(_) => allowed.is_empty().then_some(None),
    }
}
