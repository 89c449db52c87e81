//! `requestContext.authorizer` and `requestContext.identity` → whom the front end has let in. Nothing of it comes from the client: API Gateway
//! and Lambda write it.
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
//! Formats: [HTTP API](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html),
//! [REST API](https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html#context-variable-reference).

use millrace_core::{
    Json,
    platform_caller::{Authorizer, PlatformCaller},
};
use serde_json::Map;

use super::Form;

/// The claims that an HTTP API writes as text where the token has a list: `[admin user]`.
const LISTS: [char; 2] = ['[', ']'];

pub(super) fn of(form: Form, authorizer: Option<Map<String, Json>>, identity: Option<Map<String, Json>>) -> Option<PlatformCaller> {
    let caller = |authorizer, claims| Some(PlatformCaller { authorizer, claims });
    let mut members = authorizer.unwrap_or_default();
    let mut object = |name: &str| match members.remove(name) {
        Some(Json::Object(object)) => Some(object),
        _ => None,
    };
    match form {
        // A load balancer lets in by header fields alone.
        Form::Alb | Form::AlbLists => None,
        Form::V2 => {
            if let Some(user) = object("iam") {
                return caller(Authorizer::Iam, iam(user));
            }
            if let Some(mut jwt) = object("jwt") {
                let Some(Json::Object(claims)) = jwt.remove("claims") else { return None };
                return caller(Authorizer::Jwt, claims.into_iter().map(|(name, claim)| (name, with_list(claim))).collect());
            }
            caller(Authorizer::Lambda, object("lambda")?)
        }
        Form::V1 => {
            if let Some(claims) = object("claims") {
                return caller(Authorizer::Cognito, claims);
            }
            if members.contains_key("principalId") {
                return caller(Authorizer::Lambda, members);
            }
            let identity = identity?;
            identity
                .get("userArn")
                .is_some_and(Json::is_string)
                .then(|| PlatformCaller { authorizer: Authorizer::Iam, claims: iam(identity) })
        }
    }
}

/// A user or a role of AWS, without its keys and addresses. A REST API has other names than an HTTP API.
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
