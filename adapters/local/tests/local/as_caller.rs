//! `millrace dev --as`: who sends no credentials is the caller that was named.

use serde_json::{Value as Json, json};

use crate::support::{ServerProcess, app, run};

const WHO: &str = "description: Who calls.\nhandler: ../../../who.ts\n";

/// What a tool says of its caller, and the status of its answer.
fn who(served: &ServerProcess, tool: &str, field: &str) -> (u16, String) {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } }).to_string();
    served.post_with(&body, field)
}

#[test]
fn who_sends_no_credentials_is_the_caller_of_as() {
    let app = app();
    app.write("who.ts", "export default (_: unknown, ctx: any) => ctx.auth;\n");
    let jwt = "auth: { plugin: jwt, policy: { issuer: \"https://login.example.com\", audience: a, scopes: [\"orders:read\"], claims: { org: required } } }\n";
    app.write("app/tools/token/config.yaml", &format!("{WHO}{jwt}"));
    app.write("app/tools/other-org/config.yaml", &format!("{WHO}{}", jwt.replace("org: required", "org: south")));
    app.write("app/tools/more/config.yaml", &format!("{WHO}{}", jwt.replace("orders:read", "orders:write")));
    app.write("app/tools/key/config.yaml", &format!("{WHO}auth: {{ plugin: api_key, policy: {{ value: a-key-of-a-script }} }}\n"));
    app.write("app/tools/script/config.yaml", &format!("{WHO}auth: {{ plugin: ../../../auth.ts }}\n"));
    app.write("auth.ts", "import { error } from \"millrace\";\nexport default () => error(\"No.\");\n");
    let caller = r#"{"sub":"u1","scope":"orders:read","org":"north","roles":["clerk"]}"#;
    for more in [&[][..], &["--threads"]] {
        let served = ServerProcess::start(app.path(), &[&["dev", "--as", caller], more].concat());
        for (tool, plugin) in [("token", "jwt"), ("key", "dev"), ("script", "dev")] {
            let (status, said) = who(&served, tool, "");
            let said: Json = serde_json::from_str(&said).unwrap();
            let principal: Json = serde_json::from_str(said["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!((status, &principal["subject"], &principal["plugin"]), (200, &json!("u1"), &json!(plugin)), "{tool}");
            assert_eq!((&principal["scopes"], &principal["claims"]["org"]), (&json!(["orders:read"]), &json!("north")), "{tool}");
        }
        assert_eq!(who(&served, "other-org", "").0, 401, "the policy still demands its claims");
        assert_eq!(who(&served, "more", "").0, 403, "and its scopes");
        // Credentials are looked at as ever.
        assert_eq!(who(&served, "key", "x-api-key: another\r\n").0, 401);
        assert!(who(&served, "key", "x-api-key: a-key-of-a-script\r\n").1.contains("api_key"));
        assert_eq!(who(&served, "token", "authorization: Bearer x\r\n").0, 401);
    }
    // An app that others may reach takes nobody for the caller any more.
    let served = ServerProcess::start(app.path(), &["dev", "--as", caller]);
    assert_eq!(who(&served, "key", "").0, 200);
    app.write("millrace.yaml", "name: small\nserver: { port: 1, cors: { origins: [\"https://chat.example.com\"] } }\n");
    served.wait_for("reloaded: ");
    assert_eq!(who(&served, "key", "").0, 401);
    drop(served);
    let served = ServerProcess::start(app.path(), &["dev"]);
    assert_eq!(who(&served, "key", "").0, 401, "without `--as`, nobody is anybody");
}

#[test]
fn a_call_takes_claims_on_every_kind_of_auth() {
    let app = app();
    app.write("who.ts", "export default (_: unknown, ctx: any) => ctx.auth;\n");
    app.write("auth.ts", "import { error } from \"millrace\";\nexport default () => error(\"No.\");\n");
    let issuer = "issuer: \"https://login.example.com\"";
    let jwt = format!("plugin: jwt, policy: {{ {issuer}, audience: a, claims: {{ org: required }} }}");
    let introspection = format!(
        "plugin: introspection, policy: {{ {issuer}, endpoint: \"https://login.example.com/i\", audience: a, client_id: c, client_secret: \"{{{{ env.SECRET }}}}\" }}"
    );
    let key = "plugin: api_key, policy: { name: clerk, value: \"{{ env.KEY }}\", scopes: [\"orders:read\"] }";
    let kinds = [
        ("jwt", jwt.clone()),
        ("introspection", introspection),
        ("cloudflare", "plugin: cloudflare_access, policy: { team: acme, audience: a }".to_owned()),
        ("lambda", "plugin: lambda, policy: { authorizer: jwt }".to_owned()),
        ("key", key.to_owned()),
        ("script", "plugin: ../../../auth.ts".to_owned()),
        ("any", format!("any: [{{ {jwt} }}, {{ {key} }}]")),
    ];
    for (tool, auth) in &kinds {
        app.write(&format!("app/tools/{tool}/config.yaml"), &format!("{WHO}auth: {{ {auth} }}\n"));
    }
    let call = |tool: &str, caller: &str| run(app.path(), &["call", tool, "--as", caller]);
    for (tool, _) in &kinds {
        let said = call(tool, r#"{"sub":"u1","scope":"orders:read","org":"north","aud":"a"}"#);
        assert_eq!(said.code, Some(0), "{tool}: {}", said.err);
        let principal = said.json();
        assert_eq!((&principal["subject"], &principal["claims"]["org"]), (&json!("u1"), &json!("north")), "{tool}");
    }
    for (tool, caller, code, problem) in [
        ("jwt", r#"{"sub":"u1"}"#, 1, "`org`"),
        ("key", r#"{"sub":"u1"}"#, 1, "FORBIDDEN"),
        ("key", "{", 2, "`--as` takes the claims of a caller as a JSON object"),
        ("jwt", "u1", 2, "`jwt` has no keys of `api_key`, so `--as` takes the claims of its caller as JSON: `--as '{\"sub\":\"u1\"}'`"),
        ("any", "boss", 2, "`any` has no key `boss`; it has `clerk`"),
        ("get-item", r#"{"sub":"u1"}"#, 2, "`get-item` lets everybody in"),
    ] {
        let refused = call(tool, caller);
        assert!(refused.code == Some(code) && refused.err.contains(problem), "{tool} {caller}: {:?} {}", refused.code, refused.err);
    }
    app.write(".env", "KEY=a-key-of-clerk\n");
    assert_eq!(call("any", "clerk").json()["subject"], "clerk");
}

#[test]
fn as_takes_claims_and_stays_on_this_machine() {
    let app = app();
    let caller = r#"{"sub":"u1"}"#;
    let said = |arguments: &[&str], problem: &str| {
        let said = run(app.path(), arguments);
        assert!(said.code == Some(2) && said.err.contains(problem), "{arguments:?}: {:?} {}", said.code, said.err);
    };
    for (arguments, problem) in [
        (&["dev", "--as", "u1"][..], "`--as` takes the claims of a caller as a JSON object"),
        (&["dev", "--as", "[]"], "`--as` takes the claims of a caller as a JSON object"),
        (&["dev", "--as", "{}"], "`--as` has no `sub`, a string"),
        (&["dev", "--as", r#"{"sub":""}"#], "`--as` has no `sub`, a string"),
        (&["dev", "--as", caller, "--host", "0.0.0.0"], "`--as` works on the loopback only"),
        (&["dev", "--as", caller, "--allow-host", "mcp.example.com"], "`--as` works on the loopback only"),
        (&["dev", "--as", caller, "--stdio"], "cannot be used with"),
        (&["serve", "--as", caller], "unexpected argument"),
    ] {
        said(arguments, problem);
    }
    app.write("millrace.yaml", "name: small\nserver: { port: 1, cors: { origins: [\"https://chat.example.com\"] } }\n");
    said(&["dev", "--as", caller], "`--as` works on the loopback only");
}
