//! Who makes the call of a test: the key of a name, with a value of its own where nobody set one.

use millrace_bundler::{AppTest, TestCaller, TestSubject};
use millrace_core::{
    app::{App, Auth, EnvPart, EnvTemplate, ExpectedKey},
    platform_caller::{Authorizer, PlatformCaller},
    ports::Env,
    secret::Secret,
};
use millrace_native::env::Variables;

/// How the value of a key begins that nobody set.
const MADE: &str = "key-of-tests-";

/// Who makes a call.
#[derive(Default)]
pub(super) struct Credentials {
    pub(super) caller: Option<PlatformCaller>,
    /// A key, for the header field `X-API-Key`.
    pub(super) key: Option<Secret<String>>,
}

/// The variables with a value for each that a key of a caller needs: a test names keys, and none of
/// them is a secret.
pub(super) fn with_keys(app: &App, variables: Variables) -> Variables {
    let mut variables = variables;
    let templates = keys(app.tools.iter().filter_map(|tool| tool.auth.as_ref()).chain(&app.feature_auth));
    let names: Vec<&String> = templates
        .filter_map(|(_, expected)| if let ExpectedKey::Value(template) = expected { Some(template) } else { None })
        .flat_map(|template| &template.0)
        .filter_map(|part| if let EnvPart::Env(name) = part { Some(name) } else { None })
        .collect();
    for name in names {
        if variables.var(name).is_none() {
            variables = variables.with(name, Secret::new(format!("{MADE}{name}")));
        }
    }
    variables
}

/// The caller of a test.
///
/// # Errors
/// What it calls has no such key, or the key itself is not known.
pub(super) fn of(app: &App, test: &AppTest, variables: &dyn Env) -> Result<Credentials, String> {
    match &test.caller {
        None => Ok(Credentials::default()),
        Some(TestCaller::Claims(claims)) => {
            Ok(Credentials { caller: Some(PlatformCaller { authorizer: Authorizer::Development, claims: claims.clone() }), key: None })
        }
        Some(TestCaller::Key(name)) => key(app, test, name, variables).map(|key| Credentials { caller: None, key: Some(key) }),
    }
}

fn key(app: &App, test: &AppTest, wanted: &str, variables: &dyn Env) -> Result<Secret<String>, String> {
    let tools = app.tools.iter().filter(|tool| match &test.subject {
        TestSubject::Tool(name) => tool.name == *name,
        TestSubject::Prompt(_) | TestSubject::Resource(_) => true,
    });
    let known: Vec<(&str, &ExpectedKey)> = keys(tools.filter_map(|tool| tool.auth.as_ref()).chain(&app.feature_auth)).collect();
    let Some((_, expected)) = known.iter().find(|(name, _)| *name == wanted) else {
        let mut names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        names.dedup();
        let has = if names.is_empty() { "it has no keys of `api_key`".to_owned() } else { format!("it has {}", names.join(", ")) };
        return Err(format!("`as` names the key `{wanted}`, which what is called does not have: {has}"));
    };
    let ExpectedKey::Value(template) = expected else {
        return Err(format!("only the digest of the key `{wanted}` is known; send the key itself in `headers`: `X-API-Key: …`"));
    };
    fill(template, variables).map_err(|problem| format!("the key `{wanted}` needs {problem}"))
}

fn keys<'a>(auths: impl Iterator<Item = &'a Auth>) -> impl Iterator<Item = (&'a str, &'a ExpectedKey)> {
    let policies = auths.flat_map(Auth::entries).filter_map(|entry| if let Auth::ApiKey(keys) = entry { Some(keys) } else { None });
    policies.flat_map(|policy| &policy.keys).map(|key| (key.name.as_str(), &key.expected))
}

fn fill(template: &EnvTemplate, variables: &dyn Env) -> Result<Secret<String>, String> {
    let mut text = String::new();
    for part in &template.0 {
        match part {
            EnvPart::Text(literal) => text.push_str(literal),
            EnvPart::Env(name) => match variables.var(name) {
                Some(value) => text.push_str(value.expose()),
                None => return Err(format!("the variable `{name}`, which is not set")),
            },
            // A caller decides about databases only.
            EnvPart::Caller(_) => {}
            EnvPart::Secret(secret) => return Err(format!("`{secret}`, which a test does not read; send the key itself in `headers`")),
        }
    }
    Ok(Secret::new(text))
}
