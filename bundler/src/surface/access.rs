//! Who is let in: what `auth`, `require_scope` and `middleware` demand of a caller.

use std::collections::BTreeSet;

use millrace_core::{
    app::{App, Auth, ClaimValue, ExpectedKey, JwtPolicy, MiddlewareAction, RequiredScopes, TokenCarrier, Tool},
    hex,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::model::ScopesSurface;

/// The word for the way in of everybody.
pub(super) const OPEN: &str = "anybody";

/// Scopes that something requires.
pub(super) fn scopes(required: &RequiredScopes) -> ScopesSurface {
    ScopesSurface { all: required.all.iter().cloned().collect(), any: required.any.iter().cloned().collect() }
}

/// The ways to be let in; without any `auth`, everybody is.
pub(super) fn ways(app: &App, auth: Option<&Auth>) -> Vec<Value> {
    match auth {
        None => vec![json!({ "by": OPEN })],
        Some(auth) => auth.entries().iter().flat_map(|entry| way(app, entry)).collect(),
    }
}

fn way(app: &App, auth: &Auth) -> Vec<Value> {
    match auth {
        Auth::AllowAll => vec![json!({ "by": OPEN })],
        // Each key is a caller of its own. Where its value comes from says who has it.
        Auth::ApiKey(policy) => {
            let keys = policy.keys.iter().map(|key| {
                let kept = match &key.expected {
                    ExpectedKey::Value(template) | ExpectedKey::Sha256(template) => name_of_key(&template.to_string()),
                };
                json!({ "by": "api_key", "name": key.name, "key": kept, "roles": sorted(&key.roles), "granted": sorted(&key.scopes), "scopes": sorted(&policy.scopes) })
            });
            keys.collect()
        }
        Auth::Script { script, policy } => {
            let path = app.scripts.get(script.script as usize).map_or("", |script| script.path.as_str());
            // What an author wrote there may be meant for nobody else.
            let digest = Sha256::digest(format!("{:?}", (&policy.value.0, &policy.templates)));
            let digest = hex::encode(digest.get(..8).unwrap_or_default());
            vec![json!({ "by": "script", "script": format!("{path}#{}", script.export), "policy": digest })]
        }
        Auth::Jwt(policy) => vec![jwt(policy)],
        Auth::Any(entries) => entries.iter().flat_map(|entry| way(app, entry)).collect(),
    }
}

/// A template of a key as its author wrote it, where it is nothing but names: a key that is written
/// out is not repeated.
fn name_of_key(template: &str) -> String {
    let is_name = template.starts_with("{{") && template.ends_with("}}");
    if is_name { template.to_owned() } else { "written out".to_owned() }
}

fn jwt(policy: &JwtPolicy) -> Value {
    let carrier = match &policy.carrier {
        TokenCarrier::Bearer => "bearer".to_owned(),
        TokenCarrier::Field(name) => format!("field {name}"),
        TokenCarrier::Platform(authorizer) => format!("platform {}", authorizer.as_str()),
    };
    let claim = |value: &ClaimValue| match value {
        ClaimValue::Text(template) => template.to_string(),
        ClaimValue::Literal(literal) => literal.0.to_string(),
    };
    let claims = policy.claims.iter().map(|rule| {
        let values: BTreeSet<String> = rule.values.iter().map(claim).collect();
        (rule.claim.clone(), json!(values))
    });
    json!({
        "by": policy.plugin,
        "carrier": carrier,
        "issuer": policy.issuer.to_string(),
        "audience_claim": policy.audience.claim,
        "audience": policy.audience.values.iter().map(ToString::to_string).collect::<BTreeSet<_>>(),
        "algorithms": policy.algorithms.iter().map(|algorithm| algorithm.as_str()).collect::<BTreeSet<_>>(),
        "leeway": policy.leeway_s,
        "scopes": sorted(&policy.scopes),
        "subject": policy.subject,
        "roles": policy.roles,
        "claims": claims.collect::<serde_json::Map<_, _>>(),
    })
}

fn sorted(texts: &[String]) -> BTreeSet<&String> {
    texts.iter().collect()
}

/// What has to hold beside that: conditions, values of the context, scripts that can refuse, and
/// the claim of a tenant.
pub(super) fn conditions(app: &App, tool: &Tool) -> BTreeSet<String> {
    let mut conditions = BTreeSet::new();
    for entry in &tool.middleware {
        match &entry.action {
            MiddlewareAction::Require { when, .. } => drop(conditions.insert(format!("`require`: {when}"))),
            MiddlewareAction::Script { before: Some(script), .. } => {
                let path = app.scripts.get(script.script as usize).map_or("", |script| script.path.as_str());
                conditions.insert(format!("the script `{path}`, which can refuse a call"));
            }
            _ => {}
        }
    }
    conditions.extend(tool.context.require.iter().map(|name| format!("a value of `ctx.{name}`")));
    if let Some(adapter) = tool.execute.adapter().and_then(|place| app.adapters.get(place as usize)) {
        if let Some(tenant) = adapter.tenant.as_ref().filter(|_| !tool.crosses_tenants) {
            conditions.insert(format!("a value of `{}`", tenant.claim));
        }
        conditions.extend(adapter.databases.iter().map(|databases| format!("a value of `{}`", databases.choice)));
    }
    conditions
}
