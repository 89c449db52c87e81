//! Issuer, audience and times of a token: [RFC 7519, section
//! 4.1](https://www.rfc-editor.org/rfc/rfc7519#section-4.1).

use millrace_core::{
    Json,
    ports::{Claims, TokenPolicy, TokenRefusal, claim_at},
};

use crate::compact::shown;

/// The last second of the year 9999. What is later was meant in milliseconds, and would never come.
const LAST_S: f64 = 253_402_300_799.0;

/// Whether the token is one of the policy's issuer at all.
///
/// # Errors
/// [`TokenRefusal::Foreign`]
pub(crate) fn check_issuer(claims: &Claims, policy: &TokenPolicy<'_>) -> Result<(), TokenRefusal> {
    let issuer = match claims.get("iss") {
        Some(Json::String(issuer)) => issuer,
        Some(_) => return Err(TokenRefusal::Foreign("the issuer (`iss`) of the token is not a string".to_owned())),
        None => return Err(TokenRefusal::Foreign("the token has no issuer (`iss`)".to_owned())),
    };
    if issuer == policy.issuer {
        return Ok(());
    }
    let mut reason = format!("the token's issuer is `{}`, not `{}`", shown(issuer), policy.issuer);
    if issuer.trim_end_matches('/') == policy.issuer.trim_end_matches('/') {
        reason.push_str(": the slash at the end counts; write `issuer` as the token has it");
    }
    Err(TokenRefusal::Foreign(reason))
}

/// Whether a token of the issuer is good for this audience, now.
///
/// # Errors
/// [`TokenRefusal::Caller`]
pub(crate) fn check(claims: &Claims, policy: &TokenPolicy<'_>, now_ms: u64) -> Result<(), TokenRefusal> {
    check_times(claims, policy, now_ms).and_then(|()| check_audience(claims, policy)).map_err(TokenRefusal::Caller)
}

fn check_audience(claims: &Claims, policy: &TokenPolicy<'_>) -> Result<(), String> {
    let name = policy.audience_claim;
    let Some(audience) = claim_at(claims, name) else { return Err(format!("the token has no audience (`{name}`)")) };
    let found = if let Json::Array(all) = audience { all.as_slice() } else { std::slice::from_ref(audience) };
    if found.iter().any(|one| !one.is_string()) {
        return Err(format!("the audience (`{name}`) of the token is neither a string nor a list of strings"));
    }
    let is_wanted = |one: &Json| policy.audiences.iter().any(|wanted| one.as_str() == Some(wanted));
    if !policy.audiences.is_empty() && found.iter().any(is_wanted) {
        return Ok(());
    }
    let found: Vec<String> = found.iter().take(4).filter_map(Json::as_str).map(|one| format!("`{}`", shown(one))).collect();
    let found = if found.is_empty() { "nobody".to_owned() } else { found.join(", ") };
    Err(format!("the token is for {found}, not for `{}`", policy.audiences.join("` or `")))
}

fn check_times(claims: &Claims, policy: &TokenPolicy<'_>, now_ms: u64) -> Result<(), String> {
    let (now_s, leeway_s) = (now_ms as f64 / 1e3, f64::from(policy.leeway_s));
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|time| (0.0..=LAST_S).contains(time)) {
            Some(time) => Ok(Some(time)),
            None => Err(format!("`{name}` of the token is not a time in seconds since 1970")),
        },
    };
    let Some(end) = time("exp")? else { return Err("the token has no end (`exp`)".to_owned()) };
    if now_s >= end + leeway_s {
        return Err(format!("the token ended (`exp`) {} s ago", (now_s - end).floor()));
    }
    for (name, what) in [("nbf", "begins"), ("iat", "was issued")] {
        if let Some(start) = time(name)?
            && start > now_s + leeway_s
        {
            return Err(format!("the token {what} (`{name}`) {} s from now: are the clocks apart?", (start - now_s).ceil()));
        }
    }
    Ok(())
}
