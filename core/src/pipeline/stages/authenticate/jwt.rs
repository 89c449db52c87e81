//! `jwt`, `introspection`, `cloudflare_access` and `lambda`: the port verifies the token, or the
//! platform has let the caller in; what it says of its caller is read here.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Map;

use super::answer::{Answer, broken, forbidden, refused};
use crate::{
    Json,
    app::{Auth, ClaimRule, ClaimValue, EnvTemplate, JwtPolicy, KeySource, TokenCarrier},
    fault::{Fault, FaultResult, Stage},
    headers::{Headers, Repeated},
    pipeline::{call::identity, call::run::Run, content::json_text::word},
    platform_caller::Authorizer,
    ports::{Claims, Introspection, TokenKeys, TokenPolicy, TokenRefusal, claim_at},
    secret::Secret,
};

/// Claims that differ from one token of a caller to its next one. With them, no two calls would
/// have the same principal: nothing that is kept for a caller would be found again. Sorted.
const OF_ONE_TOKEN: [&str; 10] = ["aio", "at_hash", "c_hash", "exp", "iat", "jti", "nbf", "nonce", "rh", "uti"];

/// Verifies the caller's token.
pub(super) async fn jwt(run: &Run<'_>, policy: &JwtPolicy) -> Answer {
    if let TokenCarrier::Platform(authorizer) = policy.carrier {
        return match run.platform_caller {
            Some(caller) if caller.authorizer == authorizer => match principal(run, policy, &caller.claims) {
                Ok(principal) => Answer::Knows(Some(principal)),
                Err(fault) => Answer::Refuses(fault),
            },
            Some(caller) => {
                let (found, wanted) = (caller.authorizer.as_str(), authorizer.as_str());
                Answer::KnowsNot(refused(format!("the front end of AWS admitted the caller by `{found}`, and the policy takes `{wanted}`")))
            }
            None => Answer::KnowsNot(refused("no front end of AWS has admitted the caller")),
        };
    }
    let token = match sent_token(run.headers, &policy.carrier) {
        Ok(Some(token)) => token,
        Ok(None) => return Answer::KnowsNot(refused("no token was sent")),
        Err(Repeated) => return Answer::Refuses(refused("the header field of the token appears more than once")),
    };
    let filled = match Filled::of(run, policy) {
        Ok(filled) => filled,
        Err(fault) => return Answer::Refuses(fault),
    };
    let demand = TokenPolicy {
        issuer: &filled.issuer,
        audience_claim: &policy.audience.claim,
        audiences: &filled.audiences,
        keys: filled.keys.as_ref(),
        algorithms: &policy.algorithms,
        leeway_s: policy.leeway_s,
    };
    let verified = run.pipeline.ports.tokens.verify(token, demand, run.signal.deadline_ms());
    // Not ended where the client disconnects: others wait for the keys that this call may be
    // fetching. It ends by the deadline.
    let claims = match verified.await {
        Ok(claims) => claims,
        Err(TokenRefusal::Foreign(reason)) => return Answer::KnowsNot(refused(reason)),
        Err(TokenRefusal::Caller(reason)) => return Answer::Refuses(refused(reason)),
        Err(TokenRefusal::Operator(reason)) => return Answer::Refuses(broken(reason)),
        Err(TokenRefusal::Unavailable(reason)) => return Answer::Refuses(unavailable(reason)),
    };
    match principal(run, policy, &claims) {
        Ok(principal) => {
            // It is set once: nobody is asked after the plugin that knows the caller.
            let _ = run.token.set(Secret::new(token.to_owned()));
            Answer::Knows(Some(principal))
        }
        Err(fault) => Answer::Refuses(fault),
    }
}

/// The caller that a developer made up, as the first plugin that reads claims would take it;
/// nothing of it is verified.
///
/// # Errors
/// The claims lack what a policy demands, or a scope.
pub(super) fn developer(run: &Run<'_>, entries: &[Auth], claims: &Claims) -> FaultResult<Option<Json>> {
    for entry in entries {
        match entry {
            Auth::Jwt(policy) => return principal(run, policy, claims).map(Some),
            Auth::ApiKey(_) | Auth::Script { .. } => {
                let scopes: &[String] = if let Auth::ApiKey(keys) = entry { &keys.scopes } else { &[] };
                let caller = CallerRules { plugin: Authorizer::Development.as_str(), subject: "sub", roles: &["roles".to_owned()], scopes };
                return caller.principal(run, claims).map(Some);
            }
            Auth::AllowAll | Auth::Any(_) => {}
        }
    }
    Ok(None)
}

/// Nobody can say whether the caller may come in.
fn unavailable(reason: String) -> Box<Fault> {
    let message = "The credentials cannot be verified now: their issuer does not answer.";
    Box::new(Fault::new(Stage::Authenticate, "ISSUER_UNAVAILABLE", message).later().logging(reason))
}

fn sent_token<'h>(headers: &'h Headers, carrier: &TokenCarrier) -> Result<Option<&'h str>, Repeated> {
    Ok(match carrier {
        TokenCarrier::Platform(_) => None,
        TokenCarrier::Field(name) => headers.only(name)?,
        TokenCarrier::Bearer => headers.only("authorization")?.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
        }),
    })
}

/// The texts of a policy, variables filled in.
struct Filled {
    issuer: String,
    audiences: Vec<String>,
    keys: FilledKeys,
}

enum FilledKeys {
    Discovery,
    Url(String),
    Set(String),
    Secret(Secret<String>),
    Introspection { endpoint: String, client_id: String, client_secret: Secret<String>, keep_s: u32 },
}

impl FilledKeys {
    fn as_ref(&self) -> TokenKeys<'_> {
        match self {
            Self::Discovery => TokenKeys::Discovery,
            Self::Url(url) => TokenKeys::Url(url),
            Self::Set(text) => TokenKeys::Set(text),
            Self::Secret(secret) => TokenKeys::Secret(secret),
            Self::Introspection { endpoint, client_id, client_secret, keep_s } => {
                TokenKeys::Introspection(Introspection { endpoint, client_id, client_secret, keep_s: *keep_s })
            }
        }
    }
}

impl Filled {
    /// # Errors
    /// A variable is not set, or what must say something is empty: then nobody is let in.
    fn of(run: &Run<'_>, policy: &JwtPolicy) -> Result<Self, Box<Fault>> {
        let text = |template: &EnvTemplate| filled(run, template).map(|text| text.expose().clone());
        let keys = match &policy.keys {
            KeySource::Discovery | KeySource::Platform => FilledKeys::Discovery,
            KeySource::Url(url) => FilledKeys::Url(text(url)?),
            KeySource::Set(set) => FilledKeys::Set(text(set)?),
            KeySource::Secret(secret) => FilledKeys::Secret(filled(run, secret)?),
            KeySource::Introspection(server) => FilledKeys::Introspection {
                endpoint: text(&server.endpoint)?,
                client_id: text(&server.client_id)?,
                client_secret: filled(run, &server.client_secret)?,
                keep_s: server.keep_s,
            },
        };
        let audiences = policy.audience.values.iter().map(text).collect::<Result<_, _>>()?;
        Ok(Self { issuer: text(&policy.issuer)?, audiences, keys })
    }
}

fn filled(run: &Run<'_>, template: &EnvTemplate) -> Result<Secret<String>, Box<Fault>> {
    let text = run.pipeline.deployment.fill(template).map_err(|unfilled| broken(unfilled.needed_by("the policy").into_parts().message))?;
    if text.expose().trim().is_empty() {
        return Err(broken(format!("`{template}`, which the policy needs, is empty")));
    }
    Ok(text)
}

/// Who the caller is.
fn principal(run: &Run<'_>, policy: &JwtPolicy, claims: &Claims) -> Result<Json, Box<Fault>> {
    for rule in &policy.claims {
        hold(run, rule, claims)?;
    }
    let JwtPolicy { plugin, subject, roles, scopes, .. } = policy;
    CallerRules { plugin, subject, roles, scopes }.principal(run, claims)
}

/// What of the claims is which part of the principal, and what it must have.
struct CallerRules<'a> {
    plugin: &'a str,
    subject: &'a str,
    roles: &'a [String],
    scopes: &'a [String],
}

impl CallerRules<'_> {
    fn principal(&self, run: &Run<'_>, claims: &Claims) -> Result<Json, Box<Fault>> {
        let Some(subject) = claim_at(claims, self.subject) else {
            return Err(refused(format!("the token has no `{}`, which names the caller", self.subject)));
        };
        let mut scopes = [claims.get("scope"), claims.get("scp")].into_iter().flatten();
        let scopes = scopes.try_fold(Vec::new(), |all, claim| names(all, claim, "scope")).map_err(refused)?;
        let mut roles = self.roles.iter().filter_map(|path| Some((path, claim_at(claims, path)?)));
        let roles = roles.try_fold(Vec::new(), |all, (path, claim)| names(all, claim, path)).map_err(refused)?;
        let granted: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let lacks = |scope: &&str| !run.pipeline.app.authorization.grants(&granted, scope);
        let missing: Vec<&str> = self.scopes.iter().map(String::as_str).filter(lacks).collect();
        if !missing.is_empty() {
            let owner = subject.as_str().map_or_else(|| subject.to_string(), ToOwned::to_owned);
            return Err(forbidden("token", &owner, &missing, self.scopes));
        }
        let shown = claims.iter().filter(|(name, _)| OF_ONE_TOKEN.binary_search(&name.as_str()).is_err());
        let mut members = Map::new();
        // An empty object is no subject; absent would be one that names nobody.
        members.insert("subject".into(), if subject.is_null() { "".into() } else { subject.clone() });
        members.insert("scopes".into(), scopes.into());
        members.insert("roles".into(), roles.into());
        members.insert("claims".into(), shown.map(|(name, claim)| (name.clone(), claim.clone())).collect::<Map<_, _>>().into());
        identity::principal(members, self.plugin).map_err(|problem| {
            refused(format!("`{}` of the token does not name the caller, or is of a wrong type: {problem}", self.subject))
        })
    }
}

/// Adds the texts of a claim: a list of them, or one with blanks between.
fn names(mut all: Vec<String>, claim: &Json, name: &str) -> Result<Vec<String>, String> {
    let mut add = |text: &str| {
        if !all.iter().any(|known| known == text) {
            all.push(text.to_owned());
        }
    };
    match claim {
        Json::Null => {}
        Json::String(text) => text.split_ascii_whitespace().for_each(add),
        Json::Array(elements) => {
            for element in elements {
                let text = element.as_str().ok_or_else(|| format!("`{name}` of the token has {} in it", word(Some(element))))?;
                add(text);
            }
        }
        other => return Err(format!("`{name}` of the token is {}, not a list of strings", word(Some(other)))),
    }
    Ok(all)
}

/// Holds a token to what the policy demands of one claim.
fn hold(run: &Run<'_>, rule: &ClaimRule, claims: &Claims) -> Result<(), Box<Fault>> {
    let name = &rule.claim;
    let claim = claim_at(claims, name).filter(|claim| match claim {
        Json::Null => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(elements) => !elements.is_empty(),
        _ => true,
    });
    let Some(claim) = claim else { return Err(refused(format!("the token has no `{name}`, which the policy demands"))) };
    if rule.values.is_empty() {
        return Ok(());
    }
    let found = if let Json::Array(elements) = claim { elements.as_slice() } else { core::slice::from_ref(claim) };
    for value in &rule.values {
        let holds = match value {
            ClaimValue::Text(template) => {
                let wanted = filled(run, template)?;
                found.iter().any(|found| found.as_str() == Some(wanted.expose()))
            }
            ClaimValue::Literal(wanted) => found.contains(&wanted.0),
        };
        if holds {
            return Ok(());
        }
    }
    Err(refused(format!("`{name}` of the token is not what the policy demands")))
}
