//! Stage 2, *authenticate*: who calls? Skipped for a tool without an `auth` block.
//!
//! A plugin knows the caller, or does not know what it sent, or refuses it. Under `any` the plugins
//! are asked in order, until one knows the caller or refuses it: what a plugin recognises as its
//! own and rejects is not shown to the next one, which may be weaker.
//!
//! | plugin | does not know | refuses |
//! |---|---|---|
//! | `allow_all` | (under `any`) a caller that sent credentials | |
//! | `api_key` | no key, and a bearer token that is no key | another key in `X-API-Key` |
//! | `jwt` | no token, what is no JWT, and another issuer's | every other token |
//! | `introspection` | no token, and one that is not active | a token that is not for this app |
//! | `lambda` | a caller that no front end of AWS let in, or not by this authorizer | one that lacks what the policy demands |
//! | a script | a caller for whom it returns nothing | what it says |
//!
//! `allow_all` lets everyone in and names nobody. `api_key` compares the SHA-256 digests of the
//! sent key (`X-API-Key`, else `Authorization: Bearer`) and of every expected key in constant time.
//! A script plugin gets `{headers, policy, tool}` and returns the principal; or nothing
//! (`undefined`, `null`), which lets the caller in without a name, and under `any` leaves it to the
//! next plugin; or `anonymous()`, which lets it in without a name in both cases. Anything else
//! refuses the caller, an object without `subject` and `claims` as well: it is what
//! `{ subject: user?.id }` makes of somebody whom nobody knows, and what `{ error: "…" }` is.
//!
//! | the plugin | the caller is told |
//! |---|---|
//! | returns or throws `error(text)`, `required(name)` | HTTP 401 with that text |
//! | returns or throws `toolError("FORBIDDEN", …)` | HTTP 403 with its message; the scopes of its detail `scope` are in `WWW-Authenticate` |
//! | returns or throws `toolError(code, …)` | HTTP 401 with its code and message |
//! | throws anything else, returns an error | HTTP 401 and nothing else: the reason is for the log |
//! | returns what is not a principal ([`identity::principal`]) | the same |

use alloc::{borrow::ToOwned as _, boxed::Box, format, string::String, vec::Vec};

use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use crate::pipeline::{
    call::identity,
    call::run::{NO_TOOL, Run},
    content::json_text::word,
    isolate::runtime::Pipeline,
    script,
    stages::signal,
};
use crate::{
    Json,
    app::{ApiKeys, Auth, ExpectedKey, Policy, ScriptRef, TokenCarrier, Tool},
    fault::{Fault, FaultResult, Refusal, Remedy, Severity, Stage},
    headers::Headers,
    hex,
    platform_caller::{Authorizer, PlatformCaller},
    ports::{Reply, Returned, ScriptFault},
};

mod answer;
mod jwt;

pub(in crate::pipeline) use answer::refused;
use answer::{Answer, FORBIDDEN, broken, forbidden};

/// The length of a SHA-256 digest.
const DIGEST_BYTES: usize = 32;

/// The principal, `{subject, scopes, roles, claims, plugin}`; `None` where nobody is named.
///
/// # Errors
/// `UNAUTHORIZED`, `FORBIDDEN` and the codes of a script plugin with a [`Refusal`]; `TIMEOUT` and
/// `CANCELLED` of a script plugin.
pub(in crate::pipeline) async fn authenticate(run: &Run<'_>, auth: &Auth) -> FaultResult<Option<Json>> {
    if let Some(PlatformCaller { authorizer: Authorizer::Development, claims }) = run.platform_caller
        && !has_credentials(run.headers, auth.entries())
    {
        return jwt::developer(run, auth.entries(), claims);
    }
    let Auth::Any(entries) = auth else {
        return match ask(run, auth).await {
            Answer::Knows(principal) => Ok(principal),
            Answer::KnowsNot(fault) | Answer::Refuses(fault) => Err(fault),
        };
    };
    let (mut reasons, mut remedy) = (Vec::new(), Remedy::Caller);
    for entry in entries {
        match ask(run, entry).await {
            Answer::Knows(None) if matches!(entry, Auth::AllowAll) && !has_credentials(run.headers, entries) => return Ok(None),
            Answer::Knows(None) if matches!(entry, Auth::AllowAll) => reasons.push("no plugin knows the credentials".to_owned()),
            Answer::Knows(None) => reasons.push("the plugin names nobody".to_owned()),
            Answer::Knows(principal) => return Ok(principal),
            Answer::KnowsNot(fault) => {
                if fault.remedy == Remedy::Operator {
                    remedy = Remedy::Operator;
                }
                reasons.extend(fault.log);
            }
            Answer::Refuses(fault) => return Err(fault),
        }
    }
    let mut fault = refused(reasons.join("; "));
    fault.remedy = remedy;
    Err(fault)
}

/// The principal of a call. Where the app lets nobody in without sign-in, a caller without one is
/// refused.
///
/// # Errors
/// Those of [`authenticate`].
pub(in crate::pipeline) async fn call(run: &Run<'_>, auth: &Auth) -> FaultResult<Option<Json>> {
    match authenticate(run, auth).await {
        Ok(None) if run.operation.needs_caller && !auth.is_open() => Err(nobody()),
        answer => answer,
    }
}

/// The refusal of a caller whom a plugin lets in without saying who it is.
pub(in crate::pipeline) fn nobody() -> Box<Fault> {
    refused("the plugin names nobody, and nothing in the app is open to callers without credentials")
}

/// Whether a caller sent a token or a key that one of these plugins looks at. What a script reads
/// beside a token is not known.
pub(in crate::pipeline) fn sends_credentials<'a>(headers: &Headers, mut auths: impl Iterator<Item = &'a Auth>) -> bool {
    let looks_at = |auth: &Auth| match auth {
        Auth::ApiKey(_) => sent_key(headers).is_some(),
        Auth::Script { .. } => sent_bearer(headers).is_some(),
        Auth::Jwt(policy) => match &policy.carrier {
            TokenCarrier::Bearer => sent_bearer(headers).is_some(),
            TokenCarrier::Field(name) => headers.first(name).is_some(),
            TokenCarrier::Platform(_) => false,
        },
        Auth::AllowAll | Auth::Any(_) => false,
    };
    auths.any(|auth| auth.entries().iter().any(looks_at))
}

/// Asks one plugin, which is not `any`.
async fn ask(run: &Run<'_>, auth: &Auth) -> Answer {
    match auth {
        Auth::AllowAll => Answer::Knows(None),
        Auth::ApiKey(keys) => match api_key(run.pipeline, run.headers, keys) {
            Ok(principal) => Answer::Knows(Some(principal)),
            // A bearer token may be for another plugin; what is in the field of keys is a key. One
            // that lacks a scope was known.
            Err(fault) if run.headers.first(KEY_FIELD).is_none() && fault.code != FORBIDDEN => Answer::KnowsNot(fault),
            Err(fault) => Answer::Refuses(fault),
        },
        Auth::Script { script, policy } => plugin(run, script, policy).await.map_or_else(Answer::Refuses, Answer::Knows),
        // On the heap: every call would carry it.
        Auth::Jwt(policy) => Box::pin(jwt::jwt(run, policy)).await,
        Auth::Any(_) => Answer::Refuses(broken("the bundle is damaged: `any` is in `any`")),
    }
}

/// Whether a caller sent what any of these plugins could look at.
fn has_credentials(headers: &Headers, entries: &[Auth]) -> bool {
    let carries = |entry: &Auth| match entry {
        Auth::Jwt(policy) => matches!(&policy.carrier, TokenCarrier::Field(name) if headers.first(name).is_some()),
        _ => false,
    };
    headers.first("authorization").is_some() || headers.first(KEY_FIELD).is_some() || entries.iter().any(carries)
}

/// Whether a tool lets in who sent these header fields; `None` where only the plugin can tell.
pub(in crate::pipeline) fn admits(pipeline: &Pipeline, headers: &Headers, tool: &Tool) -> Option<bool> {
    match &tool.auth {
        None | Some(Auth::AllowAll) => Some(true),
        Some(Auth::ApiKey(keys)) => Some(api_key(pipeline, headers, keys).is_ok()),
        Some(Auth::Script { .. } | Auth::Jwt(_) | Auth::Any(_)) => None,
    }
}

/// Whether these header fields have the API key of a caller of any tool.
pub(in crate::pipeline) fn knows_key(pipeline: &Pipeline, headers: &Headers) -> bool {
    let takes = |entry: &Auth| matches!(entry, Auth::ApiKey(keys) if api_key(pipeline, headers, keys).is_ok());
    let mut auths = pipeline.app.tools.iter().filter_map(|tool| tool.auth.as_ref());
    sent_key(headers).is_some() && auths.any(|auth| auth.entries().iter().any(takes))
}

/// The header field of API keys.
const KEY_FIELD: &str = "x-api-key";

fn api_key(pipeline: &Pipeline, headers: &Headers, policy: &ApiKeys) -> FaultResult<Json> {
    let keys = &policy.keys;
    let expected: Vec<Option<[u8; DIGEST_BYTES]>> = keys.iter().map(|key| digest(pipeline, &key.expected)).collect();
    if expected.iter().all(Option::is_none) {
        return Err(broken(
            "no expected key is configured: the variables of the tool's `auth.policy` are not set, are empty, or contain no digest",
        ));
    }
    let Some(sent) = sent_key(headers) else { return Err(refused("no key was sent")) };
    let sent = Sha256::digest(sent.as_bytes());
    // Every key is looked at, so that the time says nothing about which one matched; the first
    // match counts.
    let mut found = u64::MAX;
    for (index, expected) in expected.iter().enumerate().rev() {
        let Some(expected) = expected else { continue };
        found.conditional_assign(&(index as u64), sent.as_slice().ct_eq(expected));
    }
    let key = usize::try_from(found).ok().and_then(|index| keys.get(index)).ok_or_else(|| refused("the key does not match"))?;
    let granted: Vec<&str> = key.scopes.iter().map(String::as_str).collect();
    let lacks = |scope: &&str| !pipeline.app.authorization.grants(&granted, scope);
    let missing: Vec<&str> = policy.scopes.iter().map(String::as_str).filter(lacks).collect();
    if !missing.is_empty() {
        return Err(forbidden("key", &key.name, &missing, &policy.scopes));
    }
    Ok(json!({ "subject": key.name, "scopes": key.scopes, "roles": key.roles, "claims": {}, "plugin": "api_key" }))
}

/// The digest of an expected key; `None` for one that matches nothing.
fn digest(pipeline: &Pipeline, expected: &ExpectedKey) -> Option<[u8; DIGEST_BYTES]> {
    let (ExpectedKey::Value(template) | ExpectedKey::Sha256(template)) = expected;
    let text = pipeline.deployment.fill(template).ok()?;
    let text = text.expose().trim();
    match expected {
        _ if text.is_empty() => None,
        ExpectedKey::Value(_) => Some(Sha256::digest(text.as_bytes()).into()),
        ExpectedKey::Sha256(_) => unhex(text),
    }
}

fn unhex(text: &str) -> Option<[u8; DIGEST_BYTES]> {
    hex::decode(text.as_bytes())?.try_into().ok()
}

fn sent_key(headers: &Headers) -> Option<&str> {
    headers.first(KEY_FIELD).map(str::trim).or_else(|| sent_bearer(headers)).filter(|key| !key.is_empty())
}

fn sent_bearer(headers: &Headers) -> Option<&str> {
    let (scheme, token) = headers.first("authorization")?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// What is said of an object that names nobody.
const NAMES_NOBODY: &str = "it returned an object that names no caller: `subject` is absent or null, and `claims` has no value; to refuse a caller, \
                            it must return `error(…)`; to admit one without a name, `anonymous()`, or nothing";

async fn plugin(run: &Run<'_>, plugin: &ScriptRef, policy: &Policy) -> FaultResult<Option<Json>> {
    let policy = policy_json(run, policy)?;
    let payload = json!({ "headers": headers(run), "policy": policy, "tool": (run.place != NO_TOOL).then_some(&run.tool.name) });
    // Not the `ctx` that later scripts get: that one has the principal.
    let ctx = run.new_context();
    run.asks_who_calls.set(true);
    let answer = script::invoke(run, &run.signal, plugin, &payload, ctx.data()).await;
    run.asks_who_calls.set(false);
    match answer {
        Ok(Returned::Undefined | Returned::Value(Json::Null) | Returned::Reply(Reply::Success(Json::Null))) => Ok(None),
        Ok(Returned::Value(Json::Object(members)) | Returned::Reply(Reply::Success(Json::Object(members)))) => {
            let path = script::path(run, plugin);
            let is_nobody = identity::is_nobody(&members);
            let principal = identity::principal(members, path);
            let principal = principal.map_err(|problem| defect(path, &format!("it returned a principal whose {problem}")))?;
            if is_nobody {
                return Err(defect(path, NAMES_NOBODY));
            }
            Ok(Some(principal))
        }
        Ok(Returned::Reply(Reply::Anonymous(members))) => {
            let path = script::path(run, plugin);
            let members = match members {
                Json::Null => Map::new(),
                Json::Object(members) if members.keys().all(|name| matches!(name.as_str(), "scopes" | "roles")) => members,
                _ => return Err(defect(path, "`anonymous()` takes an object with `scopes` and `roles`, and nothing else")),
            };
            let principal = identity::principal(members, path);
            principal.map(Some).map_err(|problem| defect(path, &format!("it returned `anonymous()`, of which {problem}")))
        }
        Ok(Returned::Value(other) | Returned::Reply(Reply::Success(other))) => {
            let problem = format!("it returned {}; it must return an object, or nothing", word(Some(&other)));
            Err(defect(script::path(run, plugin), &problem))
        }
        Ok(Returned::Reply(Reply::Content(_) | Reply::InputRequired)) => {
            Err(defect(script::path(run, plugin), "it built a result; it must return an object, or nothing"))
        }
        Ok(Returned::Reply(Reply::Error(message))) => Err(told(run, Fault { message, ..*refused("") })),
        Ok(Returned::Reply(Reply::Required(field))) => Err(told(run, Fault { message: format!("`{field}` is required."), ..*refused("") })),
        Ok(Returned::Reply(Reply::ToolError(reply))) => {
            let mut fault = script::tool_error(run, Stage::Authenticate, plugin, reply);
            // A warning would count as a success, and this caller is refused.
            fault.severity = fault.severity.max(Severity::Error);
            fault.refusal = Some(if fault.code == FORBIDDEN {
                let scopes = fault.details.iter().filter(|(name, _)| name == "scope");
                Refusal::Forbidden(scopes.flat_map(|(_, scopes)| scopes.split_ascii_whitespace()).map(Into::into).collect())
            } else {
                fault.code = run.secrets().for_caller(&fault.code).into_owned();
                Refusal::Unauthorized
            });
            Err(told(run, fault))
        }
        Err(ScriptFault::Cancelled) => Err(signal::cancelled(Stage::Authenticate).into()),
        Err(ScriptFault::TimedOut) => Err(run.signal.timed_out().fault(Stage::Authenticate).into()),
        // A refusal has been sorted out before, so what is left of `millrace` is a result that was
        // thrown.
        Err(ScriptFault::Thrown(thrown)) if thrown.reply.is_none() => Err(refused(script::told(run, plugin, &thrown))),
        Err(ScriptFault::Thrown(thrown) | ScriptFault::LeftBehind(thrown)) => {
            Err(defect(script::path(run, plugin), &script::told(run, plugin, &thrown)))
        }
        Err(ScriptFault::Limit(cause) | ScriptFault::NotJson(cause) | ScriptFault::Broken(cause)) => {
            Err(defect(script::path(run, plugin), &cause))
        }
        Err(ScriptFault::Busy) => Err(Fault::new(Stage::Authenticate, "SERVER_BUSY", script::BUSY).later().into()),
        Err(ScriptFault::NeverSettles) => Err(defect(script::path(run, plugin), "it waits for a promise that nothing can settle")),
    }
}

/// Refuses the caller because of the plugin.
fn defect(plugin: &str, problem: &str) -> Box<Fault> {
    broken(format!("the plugin `{plugin}` is wrong: {problem}"))
}

/// A refusal whose reason the plugin gave for the caller. The log has it, too.
fn told(run: &Run<'_>, fault: Fault) -> Box<Fault> {
    let reason = fault.message.clone();
    let mut fault = fault.logging(reason);
    run.secrets().strike_foreign(&mut fault);
    Box::new(fault)
}

fn policy_json(run: &Run<'_>, policy: &Policy) -> FaultResult<Json> {
    let mut filled = policy.value.0.clone();
    for (pointer, template) in &policy.templates {
        let text =
            run.pipeline.deployment.fill(template).map_err(|unfilled| broken(unfilled.needed_by("the policy").into_parts().message))?;
        match filled.pointer_mut(pointer) {
            Some(place) => *place = text.expose().as_str().into(),
            None => return Err(broken("the bundle is damaged: its policy has no place for a string")),
        }
    }
    Ok(filled)
}

/// Every header field by its lower-case name; the values of one that stands several times are
/// joined.
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

#[cfg(test)]
mod tests {
    use super::*;

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
