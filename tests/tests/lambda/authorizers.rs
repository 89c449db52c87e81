//! `plugin: lambda`: whom API Gateway or a function URL has let in, by the real function.

use millrace_tests::lambda::{Function, Outcome, build};
use serde_json::{Value, json};

use super::app;

const APP: [(&str, &str); 5] = [
    ("millrace.yaml", "name: callers\n"),
    ("who.ts", "export default (_: unknown, ctx: any) => ctx.auth;\n"),
    (
        "app/tools/iam/config.yaml",
        "description: x\nhandler: ../../../who.ts\nauth: { plugin: lambda, policy: { authorizer: iam, claims: { accountId: \"111122223333\" } } }\n",
    ),
    (
        "app/tools/jwt/config.yaml",
        "description: x\nhandler: ../../../who.ts\nauth: { plugin: lambda, policy: { authorizer: jwt, scopes: [\"notes:read\"], roles: groups } }\n",
    ),
    (
        "app/tools/either/config.yaml",
        "description: x\nhandler: ../../../who.ts\nauth: { any: [{ plugin: lambda, policy: { authorizer: iam } }, { plugin: api_key, policy: { value: a-key-of-a-script } }] }\n",
    ),
];

fn event(tool: &str, authorizer: &Value, key: &str) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } });
    json!({
        "version": "2.0", "rawPath": "/mcp", "body": body.to_string(), "isBase64Encoded": false,
        "headers": { "content-type": "application/json", "x-api-key": key },
        "requestContext": { "stage": "$default", "http": { "method": "POST", "path": "/mcp" }, "authorizer": authorizer },
    })
}

#[test]
fn callers_are_those_whom_the_front_end_let_in() {
    let folder = app(&APP);
    let function = Function::start(&build(folder.path()), &[]);
    let arn = "arn:aws:iam::111122223333:user/ada";
    let user = |account: &str| json!({ "iam": { "userArn": arn, "accountId": account, "accessKey": "AKIDEXAMPLE" } });
    let token = |scope: &str| json!({ "jwt": { "claims": { "sub": "u1", "scope": scope, "groups": "[admin user]" }, "scopes": null } });
    let cases = [
        ("iam", user("111122223333"), "", 200, vec![r#""subject":"arn:aws:iam::111122223333:user/ada""#, r#""plugin":"lambda""#]),
        ("iam", user("444455556666"), "", 401, vec![]),
        ("iam", token("notes:read"), "", 401, vec![]),
        ("iam", Value::Null, "", 401, vec![]),
        ("jwt", token("notes:read notes:write"), "", 200, vec![r#""subject":"u1""#, r#""roles":["admin","user"]"#]),
        ("jwt", token("notes:write"), "", 403, vec!["notes:read"]),
        ("jwt", user("111122223333"), "", 401, vec![]),
        ("either", user("111122223333"), "", 200, vec!["user/ada"]),
        ("either", Value::Null, "a-key-of-a-script", 200, vec![r#""subject":"api_key""#]),
        ("either", Value::Null, "another", 401, vec![]),
    ];
    for (tool, authorizer, key, status, parts) in cases {
        let Outcome::Response(answer) = function.invoke(&event(tool, &authorizer, key)) else { panic!("{tool}: no answer") };
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["statusCode"], status, "{tool} {authorizer}: {answer}");
        assert!(!answer.to_string().contains("AKIDEXAMPLE"), "{answer}");
        for part in parts {
            assert!(answer.to_string().replace('\\', "").contains(part), "{tool}: `{part}` is not in {answer}");
        }
    }
}
