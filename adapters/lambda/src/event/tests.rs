use millrace_core::platform_caller::Authorizer;
use serde_json::{Value, json};

use super::*;

const LIMIT: usize = 1 << 20;

fn call(event: &Value, base_path: &str) -> (SendRequest, Form) {
    read(&event.to_string(), LIMIT, base_path).unwrap()
}

fn v2(path: &str, stage: &str) -> Value {
    json!({ "version": "2.0", "rawPath": path, "headers": {}, "requestContext": { "stage": stage, "http": { "method": "POST", "path": path, "sourceIp": "192.0.2.7" } } })
}

fn v1(path: &str, shown: &str) -> Value {
    json!({ "path": path, "httpMethod": "POST", "headers": null, "requestContext": { "stage": "prod", "path": shown } })
}

#[test]
fn the_shapes_are_told_apart() {
    let elb = json!({ "elb": { "targetGroupArn": "arn" } });
    let cases = [
        (v2("/mcp", "$default"), Form::V2),
        (v1("/mcp", "/prod/mcp"), Form::V1),
        (json!({ "version": "1.0", "path": "/mcp", "httpMethod": "POST" }), Form::V1),
        (json!({ "path": "/mcp", "httpMethod": "POST", "requestContext": elb, "headers": {} }), Form::Alb),
        (json!({ "path": "/mcp", "httpMethod": "POST", "requestContext": elb, "multiValueHeaders": {} }), Form::AlbLists),
    ];
    for (event, form) in cases {
        let (call, found) = call(&event, "");
        assert_eq!((call.method.as_str(), call.path.as_str(), found), ("POST", "/mcp", form), "{event}");
        assert_eq!(call.body, Some(Body::Whole(Vec::new())), "{event}");
    }
}

#[test]
fn each_shape_has_its_query() {
    let with = |mut event: Value, name: &str, query: Value| {
        event[name] = query;
        call(&event, "").0.query
    };
    assert_eq!(with(v2("/readyz", "$default"), "rawQueryString", json!("tool=a-b&x=1")), "tool=a-b&x=1");
    assert_eq!(with(v1("/readyz", "/prod/readyz"), "queryStringParameters", json!({ "tool": "a-b", "x": null })), "tool=a-b");
    assert_eq!(with(v1("/readyz", "/prod/readyz"), "multiValueQueryStringParameters", json!({ "tool": ["a-b", "c"] })), "tool=a-b&tool=c");
    assert_eq!(with(v1("/readyz", "/prod/readyz"), "queryStringParameters", Value::Null), "");
}

#[test]
fn an_event_of_another_shape_says_what_it_lacks() {
    let cases = [
        (json!({}), "it has neither"),
        (json!([]), "invalid"),
        (json!("text"), "invalid type: string"),
        (json!({ "Records": [{ "eventSource": "aws:sqs" }] }), "it has neither"),
        (json!({ "rawPath": "/mcp", "requestContext": { "http": {} } }), "missing field `method`"),
        (json!({ "path": "/mcp", "httpMethod": "POST", "headers": { "a": 1 } }), "invalid type: integer `1`"),
        (json!({ "path": "/mcp", "httpMethod": "POST", "body": {} }), "invalid type: map"),
    ];
    for (event, why) in cases {
        let error = read(&event.to_string(), LIMIT, "").unwrap_err();
        assert!(error.starts_with("the event is not from a function URL") && error.contains(why), "{event}: {error}");
    }
}

#[test]
fn lists_win_over_single_fields_and_nothing_of_them_is_lost() {
    let mut event = v1("/mcp", "/prod/mcp");
    event["headers"] = json!({ "Origin": "https://b.example", "only-here": "x" });
    event["multiValueHeaders"] = json!({ "Origin": ["https://a.example", "https://b.example"], "Empty": [], "Null": null });
    let (call, _) = call(&event, "");
    assert_eq!(call.headers.all("origin").collect::<Vec<_>>(), ["https://a.example", "https://b.example"]);
    assert_eq!(call.headers.len(), 2);
    event["multiValueHeaders"] = json!({});
    let (call, _) = super::tests::call(&event, "");
    assert_eq!(call.headers.first("only-here"), Some("x"));
}

#[test]
fn cookies_are_one_field() {
    let mut event = v2("/mcp", "$default");
    event["cookies"] = json!(["a=1", "b=2"]);
    assert_eq!(call(&event, "").0.headers.all("cookie").collect::<Vec<_>>(), ["a=1; b=2"]);
}

#[test]
fn the_stage_and_the_base_path_are_no_part_of_the_path() {
    let paths = [
        (v2("/prod/mcp", "prod"), "", "/mcp"),
        (v2("/prod", "prod"), "", "/"),
        (v2("/production/mcp", "prod"), "", "/production/mcp"),
        (v2("/prod/prod", "prod"), "", "/prod"),
        (v2("/mcp", "$default"), "", "/mcp"),
        (v2("/mcp", ""), "", "/mcp"),
        // A REST API's path has no stage, so `prod` is the app's.
        (v1("/prod/mcp", "/prod/prod/mcp"), "", "/prod/mcp"),
        // An emulator's has.
        (v1("/prod/mcp", "/prod/mcp"), "", "/mcp"),
        (v2("/v1/mcp", "$default"), "/v1", "/mcp"),
        (v2("/v12/mcp", "$default"), "/v1", "/v12/mcp"),
        (v1("/v1/mcp", "/v1/mcp"), "/v1", "/mcp"),
    ];
    for (event, base_path, expected) in paths {
        assert_eq!(call(&event, base_path).0.path, expected, "{event} below `{base_path}`");
    }
}

#[test]
fn bodies_are_decoded_up_to_the_limit() {
    let body = |text: &str, is_base64: bool, limit| {
        let mut event = v2("/mcp", "$default");
        event["body"] = text.into();
        event["isBase64Encoded"] = is_base64.into();
        read(&event.to_string(), limit, "").unwrap().0.body
    };
    assert_eq!(body("{\"ü\":1}", false, LIMIT), Some(Body::Whole("{\"ü\":1}".into())));
    assert_eq!(body("/+8=", true, LIMIT), Some(Body::Whole(vec![0xff, 0xef])));
    assert_eq!(body("", true, LIMIT), Some(Body::Whole(Vec::new())));
    for broken in ["!", "/+8", "a b c", "ü"] {
        assert_eq!(body(broken, true, LIMIT), None, "{broken}");
    }
    for (length, expected) in [(8, false), (9, true), (10, true), (100, true)] {
        let (plain, encoded) = ("x".repeat(length), BASE64_STANDARD.encode("x".repeat(length)));
        assert_eq!(body(&plain, false, 8) == Some(Body::TooLarge), expected, "{length}");
        assert_eq!(body(&encoded, true, 8) == Some(Body::TooLarge), expected, "{length} in base64");
    }
}

#[test]
fn whom_the_front_end_let_in_is_taken_from_what_it_adds() {
    let arn = "arn:aws:iam::111122223333:user/ada";
    let user = json!({ "accessKey": "AKIDEXAMPLE", "accountId": "111122223333", "callerId": "AIDA", "cognitoIdentity": null, "principalOrgId": "o-1", "userArn": arn, "userId": "AIDA" });
    let known = json!({ "accountId": "111122223333", "callerId": "AIDA", "principalOrgId": "o-1", "userArn": arn, "userId": "AIDA" });
    let jwt = json!({ "claims": { "sub": "u1", "scope": "a b", "groups": "[admin user]", "none": "[]", "exp": "1" }, "scopes": null });
    let claims = json!({ "sub": "u1", "scope": "a b", "groups": ["admin", "user"], "none": [], "exp": "1" });
    let of_rest = json!({ "accountId": "111122223333", "accessKey": "AKIDEXAMPLE", "caller": "AIDA", "user": "AIDA", "userArn": arn, "principalOrgId": "o-1", "sourceIp": "127.0.0.1" });
    let own = json!({ "principalId": "u1", "tenant": "north", "integrationLatency": 3 });
    let cases = [
        (v2("/mcp", "$default"), json!({}), None),
        (v2("/mcp", "$default"), json!({ "authorizer": null }), None),
        (v2("/mcp", "$default"), json!({ "authorizer": {} }), None),
        (v2("/mcp", "$default"), json!({ "authorizer": { "iam": user } }), Some((Authorizer::Iam, known.clone()))),
        (v2("/mcp", "$default"), json!({ "authorizer": { "jwt": jwt } }), Some((Authorizer::Jwt, claims))),
        (v2("/mcp", "$default"), json!({ "authorizer": { "jwt": { "scopes": ["a"] } } }), None),
        (
            v2("/mcp", "$default"),
            json!({ "authorizer": { "lambda": { "tenant": "north" } } }),
            Some((Authorizer::Lambda, json!({ "tenant": "north" }))),
        ),
        (v2("/mcp", "$default"), json!({ "authorizer": { "lambda": null } }), None),
        // What only a REST API adds means nothing to an HTTP API.
        (v2("/mcp", "$default"), json!({ "authorizer": { "claims": { "sub": "u1" }, "principalId": "u1" }, "identity": of_rest }), None),
        (v1("/mcp", "/mcp"), json!({}), None),
        (v1("/mcp", "/mcp"), json!({ "identity": { "sourceIp": "127.0.0.1", "userArn": null } }), None),
        (v1("/mcp", "/mcp"), json!({ "identity": of_rest }), Some((Authorizer::Iam, known))),
        (v1("/mcp", "/mcp"), json!({ "authorizer": { "claims": { "sub": "u1" } } }), Some((Authorizer::Cognito, json!({ "sub": "u1" })))),
        (v1("/mcp", "/mcp"), json!({ "authorizer": own }), Some((Authorizer::Lambda, own.clone()))),
        (v1("/mcp", "/mcp"), json!({ "authorizer": { "iam": user } }), None),
        // A load balancer passes on what clients send.
        (v1("/mcp", "/mcp"), json!({ "elb": {}, "authorizer": own, "identity": of_rest }), None),
    ];
    for (mut event, added, expected) in cases {
        for (name, value) in added.as_object().unwrap() {
            event["requestContext"][name] = value.clone();
        }
        // A client's own fields are not looked at.
        event["headers"] = json!({ "x-amzn-authorizer": "u2", "authorizer": "{\"iam\":{\"userArn\":\"arn\"}}" });
        let (call, form) = call(&event, "");
        let peer = match form {
            Form::V2 => "/requestContext/http/sourceIp",
            Form::V1 => "/requestContext/identity/sourceIp",
            Form::Alb | Form::AlbLists => "/none",
        };
        assert_eq!(call.peer.as_deref(), event.pointer(peer).and_then(Value::as_str), "{event}");
        let found = call.platform_caller.map(|caller| (caller.authorizer, Value::Object(caller.claims)));
        assert_eq!(found, expected, "{event}");
    }
}
