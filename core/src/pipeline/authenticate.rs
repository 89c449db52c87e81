//! Stage 2, *authenticate*: who calls? Skipped for a tool without an `auth` block.
//!
//! `allow_all` lets everyone in and names nobody. `api_key` compares the SHA-256 digests of the sent key (`X-API-Key`, else
//! `Authorization: Bearer`) and of every expected key in constant time. A script plugin gets `{headers, policy, tool}` and returns the
//! principal, or nothing; what it throws refuses the caller. A refused caller learns that it is refused and nothing else: the reason
//! is for the log.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use super::{
    Pipeline,
    env::{self, Unset},
    map_input::word,
    run::Run,
    script, signal,
};
use crate::{
    Json,
    app::{ApiKey, Auth, ExpectedKey, PolicyValue, ScriptRef, Tool},
    fault::{Fault, Faulty, Refusal, Stage},
    headers::Headers,
    ports::{Reply, Returned, ScriptFault},
};

/// The length of a SHA-256 digest.
const DIGEST_BYTES: usize = 32;

/// Texts below this many bytes are not looked for in what a plugin says: a policy's `eu` is no secret, and stands in other words.
const SHORTEST_SECRET: usize = 6;

/// The principal, `{subject, scopes, roles, claims, plugin}`; `None` where nobody is named.
///
/// # Errors
/// `UNAUTHORIZED` with a [`Refusal`]; `TIMEOUT` and `CANCELLED` of a script plugin.
pub(super) async fn authenticate(run: &Run<'_>) -> Faulty<Option<Json>> {
    match &run.tool.auth {
        None | Some(Auth::AllowAll) => Ok(None),
        Some(Auth::ApiKey(keys)) => api_key(run.pipeline, run.headers, keys).map(Some),
        Some(Auth::Script { script, policy }) => plugin(run, script, policy).await,
    }
}

/// Whether a tool lets in who sent these header fields; `None` where only a script can tell.
pub(super) fn admits(pipeline: &Pipeline, headers: &Headers, tool: &Tool) -> Option<bool> {
    match &tool.auth {
        None | Some(Auth::AllowAll) => Some(true),
        Some(Auth::ApiKey(keys)) => Some(api_key(pipeline, headers, keys).is_ok()),
        Some(Auth::Script { .. }) => None,
    }
}

fn refused(reason: impl Into<String>) -> Box<Fault> {
    let mut fault = Fault::new(Stage::Authenticate, "UNAUTHORIZED", "Unauthorized: the request has no valid credentials for this tool.")
        .suggesting("Send valid credentials: without them the call is refused every time.")
        .logging(reason);
    fault.refusal = Some(Refusal::Unauthorized);
    Box::new(fault)
}

fn api_key(pipeline: &Pipeline, headers: &Headers, keys: &[ApiKey]) -> Faulty<Json> {
    let expected: Vec<Option<[u8; DIGEST_BYTES]>> = keys.iter().map(|key| digest(pipeline, &key.expected)).collect();
    if expected.iter().all(Option::is_none) {
        return Err(refused(
            "no expected key is configured: the variables of the tool's `auth.policy` are not set, are empty, or hold no digest",
        ));
    }
    let Some(sent) = sent_key(headers) else { return Err(refused("no key was sent")) };
    let sent = Sha256::digest(sent.as_bytes());
    // Every key is looked at, so that the time says nothing about which one matched; the first match counts.
    let mut found = u64::MAX;
    for (index, expected) in expected.iter().enumerate().rev() {
        let Some(expected) = expected else { continue };
        found.conditional_assign(&(index as u64), sent.as_slice().ct_eq(expected));
    }
    let key =
        usize::try_from(found).ok().and_then(|index| keys.get(index)).ok_or_else(|| refused("the key is none of the expected ones"))?;
    Ok(json!({ "subject": key.name, "scopes": key.scopes, "roles": key.roles, "claims": {}, "plugin": "api_key" }))
}

/// The digest of an expected key; `None` for one that matches nothing.
fn digest(pipeline: &Pipeline, expected: &ExpectedKey) -> Option<[u8; DIGEST_BYTES]> {
    let (ExpectedKey::Value(template) | ExpectedKey::Sha256(template)) = expected;
    let text = env::fill(template, &*pipeline.ports.env).ok()?;
    let text = text.expose().trim();
    match expected {
        _ if text.is_empty() => None,
        ExpectedKey::Value(_) => Some(Sha256::digest(text.as_bytes()).into()),
        ExpectedKey::Sha256(_) => unhex(text),
    }
}

fn unhex(text: &str) -> Option<[u8; DIGEST_BYTES]> {
    let nibble = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let mut digest = [0; DIGEST_BYTES];
    if pairs.len() != digest.len() {
        return None;
    }
    for (byte, [high, low]) in digest.iter_mut().zip(pairs) {
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(digest)
}

fn sent_key(headers: &Headers) -> Option<&str> {
    let bearer = || {
        let (scheme, token) = headers.first("authorization")?.trim().split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    };
    headers.first("x-api-key").or_else(bearer).map(str::trim).filter(|key| !key.is_empty())
}

async fn plugin(run: &Run<'_>, plugin: &ScriptRef, policy: &[(String, PolicyValue)]) -> Faulty<Option<Json>> {
    let policy = policy_json(run, policy)?;
    let payload = json!({ "headers": headers(run), "policy": policy, "tool": run.tool.name });
    // Not the `ctx` that later scripts get: that one has the principal.
    let ctx = super::context::context(run);
    // What the plugin says goes to the log, and a plugin may say what it compared.
    let refused = |detail: String| refused(hidden(detail, &payload));
    match script::invoke(run, plugin, &payload, &ctx).await {
        Ok(Returned::Undefined) => Ok(None),
        Ok(Returned::Value(Json::Object(principal)) | Returned::Reply(Reply::Success(Json::Object(principal)))) => {
            Ok(Some(normalised(principal, script::path(run, plugin))))
        }
        Ok(Returned::Value(other) | Returned::Reply(Reply::Success(other))) => {
            Err(refused(format!("the plugin returned {} where it has to return an object, or nothing", word(Some(&other)))))
        }
        Ok(Returned::Reply(Reply::Content(_) | Reply::InputRequired)) => {
            Err(refused("the plugin built a result where it has to return an object, or nothing".into()))
        }
        Ok(Returned::Reply(Reply::Error(message))) => Err(refused(message)),
        Ok(Returned::Reply(Reply::Required(field))) => Err(refused(format!("the plugin requires `{field}`"))),
        Ok(Returned::Reply(Reply::ToolError(reply))) => Err(refused(reply.message.unwrap_or(reply.code))),
        Err(ScriptFault::Cancelled) => Err(signal::cancelled(Stage::Authenticate).into()),
        Err(ScriptFault::TimedOut) => Err(run.signal.timed_out().fault(Stage::Authenticate).into()),
        Err(ScriptFault::Thrown(thrown)) => {
            let stack = hidden(thrown.stack.unwrap_or_default(), &payload);
            tracing::debug!(target: super::TARGET, script = script::path(run, plugin), stack, "the plugin threw");
            Err(refused(thrown.message))
        }
        Err(ScriptFault::Limit(cause) | ScriptFault::NotJson(cause) | ScriptFault::Broken(cause)) => Err(refused(cause)),
        Err(ScriptFault::NeverSettles) => Err(refused("the plugin waits for a promise that nothing can settle".into())),
    }
}

/// A text without what the plugin was given to compare: the strings of its policy, and the caller's credentials.
fn hidden(mut text: String, payload: &Json) -> String {
    let credentials = ["authorization", "cookie", "proxy-authorization", "x-api-key"].map(|name| &payload["headers"][name]);
    let policy = payload["policy"].as_object().into_iter().flat_map(Map::values);
    for secret in policy.chain(credentials).filter_map(Json::as_str).filter(|secret| secret.len() >= SHORTEST_SECRET) {
        text = text.replace(secret, "[secret]");
    }
    text
}

fn policy_json(run: &Run<'_>, policy: &[(String, PolicyValue)]) -> Faulty<Json> {
    let value = |value: &PolicyValue| match value {
        PolicyValue::Literal(literal) => Ok(literal.0.clone()),
        PolicyValue::Text(template) => match env::fill(template, &*run.pipeline.ports.env) {
            Ok(text) => Ok(text.expose().as_str().into()),
            Err(Unset(name)) => Err(refused(format!("the environment variable `{name}`, which the policy needs, is not set"))),
        },
    };
    let members = policy.iter().map(|(name, member)| Ok((name.clone(), value(member)?)));
    members.collect::<Faulty<Map<_, _>>>().map(Json::Object)
}

/// Every header field by its lower-case name; the values of one that stands several times are joined.
fn headers(run: &Run<'_>) -> Json {
    let mut fields = Map::new();
    for (name, value) in run.headers.iter() {
        match fields.get_mut(name) {
            Some(Json::String(joined)) => {
                joined.push_str(", ");
                joined.push_str(value);
            }
            _ => drop(fields.insert(name.into(), value.into())),
        }
    }
    Json::Object(fields)
}

/// A principal with exactly the members that statements and scripts may rely on. A scope list may be one string with spaces; members
/// of other names are claims.
fn normalised(mut principal: Map<String, Json>, plugin: &str) -> Json {
    let subject = match principal.remove("subject") {
        Some(Json::Number(number)) => format!("{number}").into(),
        Some(text @ Json::String(_)) => text,
        _ => Json::Null,
    };
    let (scopes, roles) = (names(principal.remove("scopes")), names(principal.remove("roles")));
    let mut claims = match principal.remove("claims") {
        Some(Json::Object(claims)) => claims,
        _ => Map::new(),
    };
    principal.remove("plugin");
    // Removal moves members around; sorted, the order is the same whatever the plugin wrote.
    principal.sort_keys();
    for (name, value) in principal {
        claims.entry(name).or_insert(value);
    }
    json!({ "subject": subject, "scopes": scopes, "roles": roles, "claims": claims, "plugin": plugin })
}

fn names(value: Option<Json>) -> Vec<Json> {
    match value {
        Some(Json::String(text)) => text.split_ascii_whitespace().map(Json::from).collect(),
        Some(Json::Array(elements)) => elements.into_iter().filter(Json::is_string).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principals_are_normalised() {
        let table = [
            (json!({}), json!({"subject": null, "scopes": [], "roles": [], "claims": {}, "plugin": "p"})),
            (
                json!({"subject": 7, "scopes": "a  b", "roles": ["x", 1], "claims": {"t": 1}, "plugin": "forged", "z": 1, "t": 2}),
                json!({"subject": "7", "scopes": ["a", "b"], "roles": ["x"], "claims": {"t": 1, "z": 1}, "plugin": "p"}),
            ),
            (
                json!({"subject": {"no": 1}, "scopes": 5, "claims": "no"}),
                json!({"subject": null, "scopes": [], "roles": [], "claims": {}, "plugin": "p"}),
            ),
        ];
        for (principal, expected) in table {
            let Json::Object(members) = principal else { panic!("an object") };
            assert_eq!(normalised(members, "p"), expected);
        }
    }

    #[test]
    fn digests() {
        let digest: [u8; DIGEST_BYTES] = core::array::from_fn(|index| index as u8 * 8);
        let text: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(unhex(&text), Some(digest));
        for bad in ["", "00", &text[1..], &format!("{text}0"), &format!("{text}00"), &text.replace('0', "g"), &text.replace('0', "é")] {
            assert_eq!(unhex(bad), None, "{bad}");
        }
    }
}
