//! `requestContext.authorizer` and `requestContext.identity` → whom the front end has let in.
//! Nothing of it comes from the client: API Gateway and Lambda write it.
//!
//! | front end | event | authorizer |
//! |---|---|---|
//! | function URL, HTTP API | `authorizer.iam` | `iam` |
//! | HTTP API | `authorizer.jwt.claims` | `jwt` |
//! | HTTP API | `authorizer.lambda` | `lambda` |
//! | REST API | `authorizer.claims` | `cognito` |
//! | REST API | `authorizer.principalId`, and what the function returned beside it | `lambda` |
//! | REST API | `identity.userArn` | `iam` |
//!
//! Formats: [HTTP
//! API](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html),
//! [REST
//! API](https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html#context-variable-reference).

use millrace_core::{
    Json,
    platform_caller::{Authorizer, PlatformCaller},
};
use serde_json::Map;

/// The claims that an HTTP API writes as text where the token has a list: `[admin user]`.
const LISTS: [char; 2] = ['[', ']'];

/// The caller of a function URL or an HTTP API.
pub(super) fn of_http_api(mut authorizer: Map<String, Json>) -> Option<PlatformCaller> {
    if let Some(user) = object(&mut authorizer, "iam") {
        return Some(PlatformCaller { authorizer: Authorizer::Iam, claims: iam(user) });
    }
    if let Some(mut jwt) = object(&mut authorizer, "jwt") {
        let claims = object(&mut jwt, "claims")?.into_iter().map(|(name, claim)| (name, with_list(claim))).collect();
        return Some(PlatformCaller { authorizer: Authorizer::Jwt, claims });
    }
    object(&mut authorizer, "lambda").map(|claims| PlatformCaller { authorizer: Authorizer::Lambda, claims })
}

/// The caller of a REST API.
pub(super) fn of_rest_api(mut authorizer: Map<String, Json>, identity: Map<String, Json>) -> Option<PlatformCaller> {
    if let Some(claims) = object(&mut authorizer, "claims") {
        return Some(PlatformCaller { authorizer: Authorizer::Cognito, claims });
    }
    if authorizer.contains_key("principalId") {
        return Some(PlatformCaller { authorizer: Authorizer::Lambda, claims: authorizer });
    }
    identity.get("userArn").is_some_and(Json::is_string).then(|| PlatformCaller { authorizer: Authorizer::Iam, claims: iam(identity) })
}

fn object(members: &mut Map<String, Json>, name: &str) -> Option<Map<String, Json>> {
    match members.remove(name) {
        Some(Json::Object(object)) => Some(object),
        _ => None,
    }
}

/// A user or a role of AWS, without its keys and addresses. A REST API has other names than an HTTP
/// API.
fn iam(members: Map<String, Json>) -> Map<String, Json> {
    let named = members.into_iter().filter_map(|(name, value)| {
        let name = match name.as_str() {
            "accountId" | "callerId" | "principalOrgId" | "userArn" | "userId" => name,
            "caller" => "callerId".to_owned(),
            "user" => "userId".to_owned(),
            _ => return None,
        };
        value.is_string().then_some((name, value))
    });
    named.collect()
}

fn with_list(claim: Json) -> Json {
    match &claim {
        Json::String(text) if text.starts_with(LISTS[0]) && text.ends_with(LISTS[1]) => {
            text.trim_matches(LISTS).split_ascii_whitespace().map(Json::from).collect()
        }
        _ => claim,
    }
}
