//! What the lists do not say of an app, and callers rely on all the same: codes, limits, forms.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use millrace_core::app::{
    App, BatchLimits, Concurrency, ErrorStyle, MiddlewareAction, OnExceed, OnTooMany, ProtectedResource, RateLimit, ResourceUrl, SignIn,
    TextFormat, Tool,
};
use regex::Regex;
use serde_json::{Value, json};

use super::{
    access, exact,
    model::{RateSurface, ServerSurface, ToolDetails},
};

/// A code that a script writes out: `toolError("NOT_FOUND", …)`.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"toolError\)?\(\s*["'`]([^"'`\\]{1,64})["'`]"#).ok());

/// What holds for the whole server.
pub(super) fn of_server(app: &App) -> ServerSurface {
    let BatchLimits { messages, timeout_ms, output_bytes } = app.batch;
    let authorization = &app.authorization;
    let mut sign_in = BTreeMap::new();
    if authorization.sign_in == SignIn::Required {
        sign_in.insert("sign_in".to_owned(), "required".to_owned());
    }
    if let Some(ProtectedResource { url, authorization_servers, .. }) = &authorization.resource {
        let url = match url {
            ResourceUrl::Url(template) => template.to_string(),
            ResourceUrl::Host => "host".to_owned(),
        };
        sign_in.insert("resource".to_owned(), url);
        let servers: Vec<String> = authorization_servers.iter().map(ToString::to_string).collect();
        sign_in.insert("authorization_servers".to_owned(), servers.join(" "));
    }
    let limits = [
        ("body_limit", app.server.body_limit),
        ("limits.batch.messages", messages),
        ("limits.batch.timeout", timeout_ms),
        ("limits.batch.output", output_bytes),
    ];
    ServerSurface {
        name: app.name.clone(),
        title: app.identity.title.clone(),
        instructions: app.instructions.clone(),
        path: app.server.path.clone(),
        hosts: app.server.hosts.iter().cloned().collect(),
        origins: app.server.cors_origins.iter().cloned().collect(),
        sign_in,
        implied_scopes: authorization.implied.iter().map(|known| (known.scope.clone(), known.implies.iter().cloned().collect())).collect(),
        limits: limits.into_iter().map(|(name, limit)| (name.to_owned(), limit.into())).collect(),
    }
}

/// What the entry of a tool does not say.
pub(super) fn of_tool(app: &App, tool: &Tool) -> ToolDetails {
    let presenter = tool.returns.and_then(|place| app.presenters.get(place as usize));
    let presented = presenter.map(|presenter| exact::of_presenter(app, presenter));
    let declared = tool.output.as_deref().and_then(|schema| serde_json::from_str::<Value>(schema).ok());
    let redacted = presenter.into_iter().flat_map(|presenter| &presenter.redact).flat_map(|entry| {
        let unless = entry.unless.as_ref().map_or(String::new(), |unless| format!(", unless {unless}"));
        let replaced = format!("{}{unless}", entry.censor);
        entry.paths.iter().map(move |path| format!("`{path}` {replaced}"))
    });
    let mut forms = BTreeMap::from([(
        "errors.style".to_owned(),
        match tool.errors.style {
            ErrorStyle::Result => "result",
            ErrorStyle::Protocol => "protocol",
        }
        .to_owned(),
    )]);
    if let Some(presenter) = presenter {
        let format = match presenter.format {
            TextFormat::Json => "json",
            TextFormat::Toon => "toon",
            TextFormat::Input => "input",
        };
        forms.insert("returns.format".to_owned(), format.to_owned());
        forms.insert("returns.structured".to_owned(), presenter.structured.to_string());
    }
    if let Some(idempotency) = &tool.idempotency {
        forms.insert("idempotency.key".to_owned(), idempotency.key.to_string());
    }
    ToolDetails {
        listed: tool.listed,
        callers: access::ways(app, tool.auth.as_ref()),
        scopes: tool
            .middleware
            .iter()
            .filter_map(|entry| match &entry.action {
                MiddlewareAction::RequireScope(required) => Some(access::scopes(required)),
                _ => None,
            })
            .collect(),
        conditions: access::conditions(app, tool),
        confirm: tool.confirm.as_ref().map(ToString::to_string),
        codes: codes(app, tool),
        result: presented.or(declared),
        redacted: redacted.collect(),
        forms,
        limits: limits(app, tool),
        rates: rates(tool),
    }
}

/// The codes of failures that the app itself writes: those of its rules and conditions, and those
/// that its scripts write out.
fn codes(app: &App, tool: &Tool) -> BTreeSet<String> {
    let of_rules = tool.errors.on.iter().map(|rule| rule.code.clone());
    let of_conditions = tool.middleware.iter().filter_map(|entry| match &entry.action {
        MiddlewareAction::Require { code, .. } => Some(code.clone()),
        _ => None,
    });
    let mut codes: BTreeSet<String> = of_rules.chain(of_conditions).collect();
    for script in tool.scripts().filter_map(|script| app.scripts.get(script.script as usize)) {
        let found = CODE.iter().flat_map(|code| code.captures_iter(&script.program)).filter_map(|found| found.get(1));
        codes.extend(found.map(|code| code.as_str().to_owned()));
    }
    codes
}

/// The limits of a tool, by their keys. A greater number is always more for its callers.
fn limits(app: &App, tool: &Tool) -> BTreeMap<String, u64> {
    let script = tool.limits.script;
    let mut limits = vec![("limits.timeout", u64::from(tool.limits.timeout_ms)), ("limits.output", tool.limits.output_bytes.into())];
    if tool.scripts().next().is_some() {
        limits.push(("limits.script.loops", script.loops));
        limits.push(("limits.script.memory", script.memory_bytes.into()));
        limits.push(("limits.script.output", script.output_bytes.into()));
    }
    // What is cut is more than a failure.
    limits.push(("limits.output.on_exceed", u64::from(tool.limits.on_exceed != OnExceed::Error)));
    limits.push(("on_too_many", u64::from(tool.on_too_many == OnTooMany::Cut)));
    if let Some(adapter) = tool.execute.adapter().and_then(|place| app.adapters.get(place as usize)) {
        limits.push(("options.max_rows", adapter.max_rows.into()));
        limits.push(("options.timeout", adapter.timeout_ms.into()));
    }
    if let Some(Concurrency { max, queue, wait_ms }) = tool.limits.concurrency {
        limits.push(("limits.concurrency.max", max.into()));
        limits.push(("limits.concurrency.queue", queue.into()));
        limits.push(("limits.concurrency.wait", wait_ms.into()));
    }
    if let Some(idempotency) = &tool.idempotency {
        limits.push(("idempotency.ttl", idempotency.ttl_s.into()));
    }
    let presenter = tool.returns.and_then(|place| app.presenters.get(place as usize));
    limits.extend(presenter.and_then(|presenter| presenter.limit.as_ref()).map(|limit| ("returns.limit", limit.max.into())));
    limits.into_iter().map(|(name, limit)| (name.to_owned(), limit)).collect()
}

fn rates(tool: &Tool) -> Vec<RateSurface> {
    let of = |rate: &RateLimit| RateSurface {
        max: rate.max,
        window_s: rate.window_s,
        key: rate.key.as_ref().map_or_else(|| "the caller".to_owned(), ToString::to_string),
    };
    let of_middleware = tool.middleware.iter().filter_map(|entry| match &entry.action {
        MiddlewareAction::RateLimit(rate) => Some(rate),
        _ => None,
    });
    tool.limits.rate.iter().chain(of_middleware).map(of).collect()
}

/// A way in of a caller, in words.
pub(super) fn way_in_words(way: &Value) -> String {
    let text = |key: &str| way.get(key).and_then(Value::as_str).unwrap_or_default();
    match (text("by"), text("name"), text("script"), text("issuer")) {
        (access::OPEN, ..) => "anybody".to_owned(),
        ("api_key", name, ..) => format!("the key `{name}`"),
        ("script", _, script, _) => format!("the script `{script}`"),
        (plugin, _, _, issuer) => format!("`{plugin}` of `{issuer}`"),
    }
}

/// A way in that nothing is known of.
pub(super) fn everybody() -> Value {
    json!({ "by": access::OPEN })
}
