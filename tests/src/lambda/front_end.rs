//! What stands before a function: requests → events, and what the function gives → answers.
//!
//! [Function URL and HTTP
//! API](https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads), [REST
//! API](https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html),
//! [ALB](https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html).

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::Outcome;
use crate::case::{Exchange, answer};

/// A front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// A function URL, or an HTTP API: one value a field.
    Url,
    /// A REST API that takes every body for binary.
    Rest,
    /// A load balancer; its target group wants one value a field.
    Alb,
    /// A load balancer; its target group wants lists.
    AlbLists,
}

impl Front {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Url, Self::Rest, Self::Alb, Self::AlbLists];

    /// The event of a request.
    #[must_use]
    pub fn event(self, request: &Exchange) -> Value {
        let mut fields = vec![("host".to_owned(), "example.lambda-url.eu-central-1.on.aws".to_owned())];
        fields.extend(request.headers.iter().cloned());
        fields.push(("x-forwarded-for".to_owned(), "203.0.113.7".to_owned()));
        let (single, lists) = both(&fields, self == Self::Url);
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let pairs = || query.split('&').filter_map(|pair| pair.split_once('='));
        let queries: Value = pairs().map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<serde_json::Map<_, _>>().into();
        let query_lists: Value = pairs().map(|(name, value)| (name.to_owned(), json!([value]))).collect::<serde_json::Map<_, _>>().into();
        match self {
            Self::Url => json!({
                "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query, "headers": single,
                "requestContext": {
                    "accountId": "anonymous", "apiId": "example", "domainName": "example.lambda-url.eu-central-1.on.aws", "stage": "$default",
                    "http": { "method": request.method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7" },
                    "requestId": "id", "timeEpoch": 1_767_225_600_000_u64,
                },
                "body": request.body, "isBase64Encoded": false,
            }),
            Self::Rest => json!({
                "resource": "/{proxy+}", "path": path, "httpMethod": request.method, "headers": single, "multiValueHeaders": lists,
                "queryStringParameters": queries, "multiValueQueryStringParameters": query_lists, "pathParameters": { "proxy": "mcp" }, "stageVariables": null,
                "requestContext": { "stage": "prod", "path": format!("/prod{path}"), "identity": { "sourceIp": "203.0.113.7" } },
                "body": if request.body.is_empty() { Value::Null } else { BASE64_STANDARD.encode(&request.body).into() },
                "isBase64Encoded": true,
            }),
            Self::Alb | Self::AlbLists => {
                let name = if self == Self::Alb { "headers" } else { "multiValueHeaders" };
                let group = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/millrace/6d0ecf831eec9f09";
                json!({
                    "requestContext": { "elb": { "targetGroupArn": group } }, "httpMethod": request.method, "path": path,
                    if self == Self::Alb { "queryStringParameters" } else { "multiValueQueryStringParameters" }:
                        if self == Self::Alb { queries } else { query_lists },
                    name: if self == Self::Alb { single } else { lists },
                    "body": request.body, "isBase64Encoded": false,
                })
            }
        }
    }

    /// What a client sees of an outcome.
    ///
    /// # Panics
    /// Where the front end could not take it.
    #[must_use]
    pub fn answer(self, request: &Exchange, outcome: Outcome) -> String {
        let Outcome::Response(bytes) = outcome else { panic!("{request:?}: {outcome:?}") };
        let payload: Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {bytes:?}"));
        let status = payload["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or_else(|| panic!("{payload}"));
        let is_lists = matches!(self, Self::Rest | Self::AlbLists);
        let fields = payload[if is_lists { "multiValueHeaders" } else { "headers" }].as_object().unwrap_or_else(|| panic!("{payload}"));
        let mut headers = Vec::new();
        for (name, value) in fields {
            match value {
                Value::String(value) if !is_lists => headers.push((name.clone(), value.clone())),
                Value::Array(values) if is_lists => {
                    headers.extend(values.iter().map(|value| (name.clone(), value.as_str().unwrap_or_default().to_owned())));
                }
                _ => panic!("{payload}"),
            }
        }
        if matches!(self, Self::Alb | Self::AlbLists) {
            let description = payload["statusDescription"].as_str().unwrap_or_default();
            assert!(description.starts_with(&status.to_string()), "{payload}");
        }
        let body = payload["body"].as_str().unwrap_or_default();
        let body = match payload["isBase64Encoded"].as_bool() {
            Some(true) => BASE64_STANDARD.decode(body).unwrap_or_else(|error| panic!("{error}: {payload}")),
            _ => body.as_bytes().to_vec(),
        };
        answer(request, status, headers, &body)
    }
}

/// One value a field (the last, or all with commas), and lists.
fn both(fields: &[(String, String)], commas: bool) -> (Value, Value) {
    let (mut single, mut lists) = (Map::new(), Map::new());
    for (name, value) in fields {
        let found = single.get(name).and_then(Value::as_str).filter(|_| commas).map(|found| format!("{found},{value}"));
        single.insert(name.clone(), found.unwrap_or_else(|| value.clone()).into());
        match lists.entry(name.clone()).or_insert_with(|| json!([])) {
            Value::Array(values) => values.push(value.clone().into()),
            _ => unreachable!(),
        }
    }
    (Value::Object(single), Value::Object(lists))
}
