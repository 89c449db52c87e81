//! `--as`: the key of a caller that the tool's `auth.policy.keys` names, out of the variables of
//! this machine.

use millrace_core::{
    app::{App, Auth, EnvPart, EnvTemplate, ExpectedKey},
    ports::Env,
    secret::Secret,
};

use crate::output::{CommandError, CommandResult};

/// The key of the caller with this name.
///
/// # Errors
/// The tool has no such key, only the key's digest is known, or its variable is not set.
pub(super) fn key(app: &App, tool: &str, name: &str, env: &dyn Env) -> CommandResult<Secret<String>> {
    let wrong = |problem: String| Err(CommandError::Usage(problem));
    let Some(found) = app.tools.iter().find(|candidate| candidate.name == tool) else {
        return wrong(format!("the tool `{tool}` does not exist, so `--as` cannot name one of its keys"));
    };
    let keys = found.auth.iter().flat_map(Auth::entries).find_map(|entry| if let Auth::ApiKey(keys) = entry { Some(keys) } else { None });
    let Some(policy) = keys else {
        return wrong(format!("`--as` names a key of `api_key`, and `{tool}` does not use that; send credentials with `--header`"));
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
