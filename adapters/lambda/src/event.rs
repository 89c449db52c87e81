//! An invocation's event → a request of the core, and the form that its answer must have.
//!
//! In comes the JSON of a function URL, of an API Gateway (HTTP API in both payload formats, REST
//! API) or of an Application Load Balancer. Out come a [`SendRequest`] and a [`Form`]. An event of
//! another shape is refused with what it is not; a body that is not the base64 that it says to be
//! is left for the caller to be told.
//!
//! Why not the types of `lambda_http`: they try one event after the other, drop all but the last of
//! a header field that stands more than once, and panic at broken base64 and at a path that is not
//! a URI.
//!
//! Protocol: [function URL and HTTP
//! API](https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads), [REST
//! API](https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-input-format),
//! [ALB](https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html#receive-event-from-load-balancer).

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::{Json, headers::Headers, platform_caller::PlatformCaller, protocol::Body};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Map;

mod caller;

/// What a front end takes as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Function URL and HTTP API: one value a field, cookies apart.
    V2,
    /// REST API, and HTTP API with payload format 1.0.
    V1,
    /// A load balancer whose target group wants one value a field.
    Alb,
    /// A load balancer whose target group wants lists.
    AlbLists,
}

/// A request that may go to another thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SendRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The query, without the question mark.
    pub(crate) query: String,
    /// The client's address, as the front end names it. A load balancer does not.
    pub(crate) peer: Option<String>,
    pub(crate) headers: Headers,
    /// `None` where the event says base64 and the body is not base64.
    pub(crate) body: Option<Body>,
    /// Whom the front end has let in.
    pub(crate) platform_caller: Option<PlatformCaller>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    raw_path: Option<String>,
    raw_query_string: Option<String>,
    query_string_parameters: Option<BTreeMap<String, Option<String>>>,
    multi_value_query_string_parameters: Option<BTreeMap<String, Option<Vec<String>>>>,
    path: Option<String>,
    http_method: Option<String>,
    request_context: Option<RequestContext>,
    headers: Option<BTreeMap<String, Option<String>>>,
    multi_value_headers: Option<BTreeMap<String, Option<Vec<String>>>>,
    cookies: Option<Vec<String>>,
    body: Option<String>,
    is_base64_encoded: Option<bool>,
}

#[derive(Deserialize)]
struct RequestContext {
    http: Option<Http>,
    elb: Option<IgnoredAny>,
    stage: Option<String>,
    path: Option<String>,
    authorizer: Option<Map<String, Json>>,
    identity: Option<Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Http {
    method: String,
    source_ip: Option<String>,
}

/// Reads an event. `body_limit` is the longest body in bytes; `base_path` is cut off the front of
/// paths (`/v1`, or nothing).
///
/// # Errors
/// Says that it is none of the events above, and why.
pub(crate) fn read(json: &str, body_limit: usize, base_path: &str) -> Result<(SendRequest, Form), String> {
    let event: Event = serde_json::from_str(json).map_err(|error| refusal(&error.to_string()))?;
    let context = event.request_context.as_ref();
    let http = context.and_then(|context| context.http.as_ref());
    let (form, method, path) = match (http, event.http_method, event.raw_path, event.path) {
        (Some(http), _, Some(path), _) => (Form::V2, http.method.clone(), path),
        (_, Some(method), _, Some(path)) => {
            let form = match (context.is_some_and(|context| context.elb.is_some()), &event.multi_value_headers) {
                (true, Some(_)) => Form::AlbLists,
                (true, None) => Form::Alb,
                (false, _) => Form::V1,
            };
            (form, method, path)
        }
        _ => return Err(refusal("it has neither `requestContext.http` and `rawPath` nor `httpMethod` and `path`")),
    };
    let query = query(event.raw_query_string, event.query_string_parameters, event.multi_value_query_string_parameters);
    let path = without_stage(&path, form, context);
    let path = path.strip_prefix(base_path).filter(|rest| rest.starts_with('/')).unwrap_or(path).to_owned();
    let mut headers = Headers::new();
    // Where there are lists, the other form has the last value of each only.
    match event.multi_value_headers.filter(|lists| !lists.is_empty()) {
        Some(lists) => {
            for (name, values) in &lists {
                values.iter().flatten().for_each(|value| headers.append(name, value.as_str()));
            }
        }
        None => {
            for (name, value) in event.headers.iter().flatten() {
                value.iter().for_each(|value| headers.append(name, value.as_str()));
            }
        }
    }
    if let Some(cookies) = event.cookies.filter(|cookies| !cookies.is_empty()) {
        headers.append("cookie", cookies.join("; "));
    }
    let peer = match form {
        Form::V2 => http.and_then(|http| http.source_ip.clone()),
        Form::V1 => context.and_then(|context| Some(context.identity.as_ref()?.get("sourceIp")?.as_str()?.to_owned())),
        Form::Alb | Form::AlbLists => None,
    };
    let body = body(event.body.unwrap_or_default(), event.is_base64_encoded.unwrap_or(false), body_limit);
    let (authorizer, identity) = event.request_context.map(|context| (context.authorizer, context.identity)).unwrap_or_default();
    let (authorizer, identity) = (authorizer.unwrap_or_default(), identity.unwrap_or_default());
    let platform_caller = match form {
        Form::V2 => caller::of_http_api(authorizer),
        Form::V1 => caller::of_rest_api(authorizer, identity),
        // A load balancer passes on what clients send.
        Form::Alb | Form::AlbLists => None,
    };
    Ok((SendRequest { method, path, query, peer, headers, body, platform_caller }, form))
}

/// The query as one text. Only names and values without characters of its own are of use to anybody
/// here, so none is written another way.
fn query(
    raw: Option<String>,
    values: Option<BTreeMap<String, Option<String>>>,
    lists: Option<BTreeMap<String, Option<Vec<String>>>>,
) -> String {
    if let Some(raw) = raw {
        return raw;
    }
    // Where there are lists, the other form has the last value of each only.
    let lists = lists.into_iter().flatten().flat_map(|(name, values)| values.into_iter().flatten().map(move |value| (name.clone(), value)));
    let mut pairs: Vec<(String, String)> = lists.collect();
    if pairs.is_empty() {
        pairs = values.into_iter().flatten().filter_map(|(name, value)| Some((name, value?))).collect();
    }
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

fn body(text: String, is_base64: bool, limit: usize) -> Option<Body> {
    // Base64 is a third longer; what is far too long need not be decoded to be refused.
    let least = if is_base64 { text.len() / 4 * 3 } else { text.len() };
    if least.saturating_sub(2) > limit {
        return Some(Body::TooLarge);
    }
    let bytes = if is_base64 { BASE64_STANDARD.decode(text).ok()? } else { text.into_bytes() };
    Some(if bytes.len() > limit { Body::TooLarge } else { Body::Whole(bytes) })
}

/// The path without the stage's name. An HTTP API always puts it in front; a REST API only where
/// `requestContext.path` is the same.
fn without_stage<'p>(path: &'p str, form: Form, context: Option<&RequestContext>) -> &'p str {
    let Some(stage) = context.and_then(|context| context.stage.as_deref()).filter(|stage| *stage != "$default" && !stage.is_empty()) else {
        return path;
    };
    let is_shown = form == Form::V2 || context.and_then(|context| context.path.as_deref()) == Some(path);
    let rest = path.strip_prefix('/').and_then(|path| path.strip_prefix(stage));
    match rest {
        Some("") if is_shown => "/",
        Some(rest) if is_shown && rest.starts_with('/') => rest,
        _ => path,
    }
}

fn refusal(why: &str) -> String {
    format!("the event is not from a function URL, an API Gateway or an Application Load Balancer: {why}")
}

#[cfg(test)]
mod tests;
