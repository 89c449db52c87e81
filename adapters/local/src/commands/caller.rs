//! `--as`: the claims of a caller whom nobody verifies, or the key of one that the tool's
//! `auth.policy.keys` names, out of the variables of this machine.

use millrace_core::{
    Json,
    app::{App, Auth, EnvPart, EnvTemplate, ExpectedKey},
    platform_caller::{Authorizer, PlatformCaller},
    ports::Env,
    secret::Secret,
};

use crate::output::{CommandError, CommandResult};

/// Who makes a call.
pub(super) enum CallCaller {
    /// One with these claims, for whom nothing is verified.
    Claims(PlatformCaller),
    /// The one who has this key.
    Key(Secret<String>),
}

/// The caller of a tool that the value of `--as` means: the claims of one, or the name of a key.
///
/// # Errors
/// The tool lets everybody in; the claims name nobody; the tool has no such key, only the key's
/// digest is known, or its variable is not set.
pub(super) fn of_call(app: &App, tool: &str, text: &str, env: &dyn Env) -> CommandResult<CallCaller> {
    let wrong = |problem: String| Err(CommandError::Usage(problem));
    let Some(found) = app.tools.iter().find(|candidate| candidate.name == tool) else {
        return wrong(format!("the tool `{tool}` does not exist, so `--as` cannot name its caller"));
    };
    match &found.auth {
        None | Some(Auth::AllowAll) => wrong(format!("`{tool}` lets everybody in and knows nobody, so `--as` has no effect")),
        Some(_) if text.trim_start().starts_with('{') => with_claims(text).map(CallCaller::Claims),
        Some(auth) => key(auth, tool, text, env).map(CallCaller::Key),
    }
}

/// The caller with these claims, who is taken for whoever sends no credentials.
///
/// # Errors
/// The text is not a JSON object, or names nobody.
pub(super) fn with_claims(text: &str) -> CommandResult<PlatformCaller> {
    let wrong = |problem: &str| CommandError::Usage(format!("`--as` {problem}"));
    let Ok(Json::Object(claims)) = serde_json::from_str(text) else {
        return Err(wrong(r#"takes the claims of a caller as a JSON object: `{"sub":"u1","scope":"orders:read"}`"#));
    };
    if claims.get("sub").and_then(Json::as_str).is_none_or(str::is_empty) {
        return Err(wrong(r#"has no `sub`, a string, which names the caller: `{"sub":"u1"}`"#));
    }
    Ok(PlatformCaller { authorizer: Authorizer::Development, claims })
}

/// The key of the caller with this name.
fn key(auth: &Auth, tool: &str, name: &str, env: &dyn Env) -> CommandResult<Secret<String>> {
    let wrong = |problem: String| Err(CommandError::Usage(problem));
    let keys = auth.entries().iter().find_map(|entry| if let Auth::ApiKey(keys) = entry { Some(keys) } else { None });
    let Some(policy) = keys else {
        let problem = format!("`{tool}` has no keys of `api_key`, so `--as` takes the claims of its caller as JSON");
        return wrong(format!(r#"{problem}: `--as '{{"sub":"{name}"}}'`"#));
    };
    let Some(key) = policy.keys.iter().find(|key| key.name == name) else {
        let mut names: Vec<String> = policy.keys.iter().map(|key| format!("`{}`", key.name)).collect();
        names.dedup();
        return wrong(format!("`{tool}` has no key `{name}`; it has {}", names.join(", ")));
    };
    match &key.expected {
        ExpectedKey::Value(template) => {
            fill(template, env).map_err(|problem| CommandError::Wrong(format!("the key `{name}` needs {problem}")))
        }
        ExpectedKey::Sha256(_) => {
            wrong(format!("only the digest of the key `{name}` is known; send the key itself with `--header 'X-API-Key: …'`"))
        }
    }
}

/// Fills in a template, or says which part has no value.
fn fill(template: &EnvTemplate, env: &dyn Env) -> Result<Secret<String>, String> {
    let mut text = String::new();
    for part in &template.0 {
        match part {
            EnvPart::Text(literal) => text.push_str(literal),
            EnvPart::Env(name) => {
                let value = env.var(name).ok_or_else(|| format!("the variable `{name}`, which is not set"))?;
                text.push_str(value.expose());
            }
            // A caller decides about databases only.
            EnvPart::Caller(_) => {}
            EnvPart::Secret(secret) => {
                return Err(format!("`{secret}`, which `--as` does not read; send the key itself with `--header 'X-API-Key: …'`"));
            }
        }
    }
    Ok(Secret::new(text))
}
