//! Stage *authenticate*.

use millrace_core::{
    app::{ApiKey, ApiKeys, Auth, EnvPart, EnvTemplate, Execute, ExpectedKey, Literal, Policy, Tool},
    fault::{Fault, Refusal, Remedy, Severity},
    ports::{Reply, Returned, ScriptFault, Thrown, ToolErrorReply},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn env(name: &str) -> EnvTemplate {
    EnvTemplate(vec![EnvPart::Env(name.into())])
}

fn key(name: &str, expected: ExpectedKey) -> ApiKey {
    ApiKey { name: name.into(), expected, scopes: vec![format!("{name}:read")], roles: vec![] }
}

fn headers(fields: &[(&str, &str)]) -> With {
    With { headers: fields.iter().copied().collect(), ..With::default() }
}

fn assert_refused(fault: &Fault) {
    assert_eq!((fault.code.as_str(), &fault.refusal), ("UNAUTHORIZED", &Some(Refusal::Unauthorized)));
    assert_eq!(fault.message, "Unauthorized: the request has no valid credentials.");
}

#[test]
fn api_keys() {
    // printf b-key | sha256sum
    const B_SHA256: &str = "912cf63e4e97cfdaa27ba19112c7881169eaa82676c40b0ce253f165738dafd2";
    let world = World::new();
    world.set_env("A", " a-key ");
    world.set_env("B", B_SHA256);
    world.set_env("EMPTY", "  ");
    world.set_env("NO_DIGEST", "zz");
    let keys = vec![
        key("unset", ExpectedKey::Value(env("UNSET"))),
        key("empty", ExpectedKey::Value(env("EMPTY"))),
        key("damaged", ExpectedKey::Sha256(env("NO_DIGEST"))),
        key("a", ExpectedKey::Value(env("A"))),
        key("same", ExpectedKey::Value(env("A"))),
        key("b", ExpectedKey::Sha256(env("B"))),
    ];
    let pipeline = pipeline(&world, Tool { auth: Some(Auth::ApiKey(ApiKeys { keys, scopes: vec![] })), ..script_tool() });
    let table: &[(&[(&str, &str)], Option<&str>)] = &[
        (&[("X-API-Key", "a-key")], Some("a")),
        (&[("x-api-key", "\ta-key ")], Some("a")),
        (&[("Authorization", "Bearer a-key")], Some("a")),
        (&[("Authorization", "bearer  a-key")], Some("a")),
        (&[("X-API-Key", "a-key"), ("Authorization", "Bearer wrong")], Some("a")),
        (&[("X-API-Key", "wrong"), ("Authorization", "Bearer a-key")], None),
        (&[("Authorization", "Basic a-key")], None),
        (&[("Authorization", "a-key")], None),
        (&[("X-API-Key", "A-KEY")], None),
        (&[("X-API-Key", "")], None),
        (&[("X-API-Key", "{{ env.A }}")], None),
        (&[("X-API-Key", B_SHA256)], None),
        (&[("X-API-Key", "zz")], None),
        (&[], None),
    ];
    for (fields, expected) in table {
        world.seen.borrow_mut().clear();
        let outcome = call(&pipeline, json!({}), &headers(fields));
        match expected {
            None => {
                assert_refused(&outcome.unwrap_err());
                assert!(world.seen.borrow().is_empty(), "a script ran for a refused caller");
            }
            Some(name) => {
                outcome.unwrap();
                let expected = json!({"subject": name, "scopes": [format!("{name}:read")], "roles": [], "claims": {}, "plugin": "api_key"});
                assert_eq!(world.seen.borrow()[0].ctx["auth"], expected, "{fields:?}");
            }
        }
    }
}

#[test]
fn a_key_given_as_its_digest() {
    let world = World::new();
    // printf hunter2 | sha256sum
    world.set_env("D", "F52FBD32B2B3B86FF88EF6C490628285F482AF15DDCB29541F94BCF526A3F6C7");
    let auth = Auth::ApiKey(ApiKeys { keys: vec![key("d", ExpectedKey::Sha256(env("D")))], scopes: vec![] });
    let pipeline = pipeline(&world, Tool { auth: Some(auth), ..script_tool() });
    call(&pipeline, json!({}), &headers(&[("x-api-key", "hunter2")])).unwrap();
    assert_refused(&call(&pipeline, json!({}), &headers(&[("x-api-key", "hunter3")])).unwrap_err());
}

#[test]
fn no_expected_key_refuses_and_tells_only_the_log() {
    for keys in [vec![], vec![key("a", ExpectedKey::Value(env("UNSET")))], vec![key("a", ExpectedKey::Value(EnvTemplate::default()))]] {
        let tool = Tool { auth: Some(Auth::ApiKey(ApiKeys { keys, scopes: vec![] })), ..script_tool() };
        for fields in [&[][..], &[("x-api-key", "x")], &[("x-api-key", "")]] {
            let fault = call(&pipeline(&World::new(), tool.clone()), json!({}), &headers(fields)).unwrap_err();
            assert_refused(&fault);
            assert!(fault.log.unwrap().contains("no expected key is configured"));
        }
    }
}

#[test]
fn everyone_is_let_in_and_nobody_named() {
    for auth in [None, Some(Auth::AllowAll)] {
        let world = World::new();
        call(&pipeline(&world, Tool { auth, ..script_tool() }), json!({}), &headers(&[("x-api-key", "x")])).unwrap();
        assert_eq!(world.seen.borrow()[0].ctx.get("auth"), None);
    }
}

fn plugin_tool(policy: Policy) -> Tool {
    let auth = Some(Auth::Script { script: script(PLUGIN), policy });
    Tool { auth, execute: Execute::Script(script(HANDLER)), ..script_tool() }
}

#[test]
fn a_plugin_sees_headers_policy_and_tool() {
    let world = World::new();
    world.set_env("ISSUER", "me");
    let templates = vec![("/issuer".into(), env("ISSUER")), ("/deep/0/a~1b".into(), env("ISSUER"))];
    let policy = Policy { value: Literal(json!({"issuer": null, "leeway": [5], "deep": [{"a/b": null}]})), templates };
    let pipeline = pipeline(&world, plugin_tool(policy));
    assert!(call(&pipeline, json!({"n": 1}), &headers(&[])).unwrap().is_error);
    call(&pipeline, json!({}), &headers(&[("X-A", "1"), ("x-b", "2"), ("x-a", "3")])).unwrap();
    let seen = world.seen.borrow();
    let paths: Vec<_> = seen.iter().map(|seen| seen.path.as_str()).collect();
    assert_eq!(paths, ["auth.ts", "auth.ts", "handler.ts"], "inputs are validated after authentication");
    let expected =
        json!({"headers": {"x-a": "1, 3", "x-b": "2"}, "policy": {"issuer": "me", "leeway": [5], "deep": [{"a/b": "me"}]}, "tool": "t"});
    assert_eq!(seen[1].payload, expected);
    let request = json!({
        "id": "req-1", "method": "tools/call", "path": "/mcp", "peer": "192.0.2.1", "headers": {}, "protocol": "2026-07-28", "capabilities": [],
    });
    assert_eq!(seen[1].ctx, json!({"request": request, "env": {}}));
}

#[test]
fn what_a_plugin_returns() {
    let throws =
        |reply| Err(ScriptFault::Thrown(Thrown { message: "token of alice is stale".into(), stack: Some("s".into()), cause: None, reply }));
    let left_behind = ScriptFault::LeftBehind(Thrown { message: "nothing awaits alice".into(), stack: None, cause: None, reply: None });
    let table: Vec<(Result<Returned, ScriptFault>, Option<Json>)> = vec![
        (Ok(Returned::Undefined), Some(json!(null))),
        (Ok(Returned::Value(json!({"subject": "alice"}))), Some(json!("alice"))),
        (Ok(Returned::Reply(Reply::Success(json!({"subject": "bob"})))), Some(json!("bob"))),
        (Ok(Returned::Value(json!(null))), Some(json!(null))),
        (Ok(Returned::Reply(Reply::Success(json!(null)))), Some(json!(null))),
        (Ok(Returned::Value(json!(false))), None),
        (Ok(Returned::Value(json!(true))), None),
        (Ok(Returned::Value(json!([]))), None),
        (Ok(Returned::Value(json!("alice"))), None),
        (throws(None), None),
        // Nobody knows who that is, as of `{ subject: user?.id }`.
        (Ok(Returned::Value(json!({}))), None),
        (Ok(Returned::Value(json!({"subject": null, "claims": {"id": null}}))), None),
        (Ok(Returned::Value(json!({"scopes": ["alice"], "roles": ["alice"]}))), None),
        (Ok(Returned::Reply(Reply::Success(json!({})))), None),
        // What says that somebody is not let in is an object, too.
        (Ok(Returned::Value(json!({"error": "alice is unknown"}))), None),
        (Ok(Returned::Value(json!({"status": 401, "body": "alice"}))), None),
        (Ok(Returned::Value(json!({"ok": false, "user": "alice"}))), None),
        (Ok(Returned::Value(json!({"sub": "alice"}))), None),
        (Ok(Returned::Value(json!({"tenant": "alice", "claims": {}}))), None),
        (Ok(Returned::Reply(Reply::Success(json!({"tenant": "alice"})))), None),
        (Ok(Returned::Reply(Reply::Anonymous(json!({"subject": "alice"})))), None),
        (Ok(Returned::Reply(Reply::Anonymous(json!("alice")))), None),
        (Ok(Returned::Reply(Reply::Anonymous(json!({"scopes": 5})))), None),
        (Ok(Returned::Reply(Reply::Content(json!({"data": "alice"})))), None),
        (throws(Some(Reply::Anonymous(json!(null)))), None),
        (throws(Some(Reply::Success(json!({"subject": "alice"})))), None),
        (Err(left_behind.clone()), None),
        (Err(ScriptFault::Limit("alice".into())), None),
        (Err(ScriptFault::NotJson("alice".into())), None),
        (Err(ScriptFault::Broken("alice".into())), None),
        (Err(ScriptFault::NeverSettles), None),
    ];
    for (answer, expected) in table {
        let world = World::new();
        let for_plugin = answer.clone();
        *world.on_script.borrow_mut() =
            Some(Box::new(move |seen| Some(if seen.path == "auth.ts" { for_plugin.clone() } else { Ok(Returned::Undefined) })));
        let outcome = run(&world, plugin_tool(Policy::default()), json!({}));
        match expected {
            Some(subject) => {
                outcome.unwrap();
                let seen = world.seen.borrow();
                assert_eq!(seen[1].ctx.pointer("/auth/subject").unwrap_or(&Json::Null), &subject);
                assert_eq!(seen[1].ctx.pointer("/auth/plugin").is_some(), !subject.is_null());
            }
            None => {
                let fault = outcome.unwrap_err();
                assert_refused(&fault);
                // Whose defect it is: of the plugin that says so, the caller's; of what the engine
                // refuses, the author's.
                let is_refusal = matches!(&answer, Err(ScriptFault::Thrown(thrown)) if thrown.reply.is_none());
                assert_eq!(fault.remedy == Remedy::Operator, !is_refusal, "{answer:?}");
                assert!(fault.log.as_deref().is_some_and(|log| log.contains("auth.ts")), "{answer:?}");
                assert!(!format!("{} {}", fault.message, fault.data()).contains("alice"), "{answer:?}");
                assert_eq!(world.seen.borrow().len(), 1, "the handler ran for a refused caller");
            }
        }
    }
}

#[test]
fn what_a_plugin_returns_for_the_caller_is_told() {
    let tool_error = |code: &str, message: Option<&str>, details: &[(&str, &str)], severity: Option<&str>| {
        Reply::ToolError(ToolErrorReply {
            code: code.into(),
            message: message.map(Into::into),
            suggestion: Some("Ask the owner.".into()),
            details: details.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            severity: severity.map(Into::into),
            ..ToolErrorReply::default()
        })
    };
    let forbidden = |scopes: &[&str]| Refusal::Forbidden(scopes.iter().map(|scope| (*scope).into()).collect());
    let table = [
        (Reply::Error("The token is stale.".into()), "UNAUTHORIZED", "The token is stale.", Refusal::Unauthorized),
        (Reply::Required("x-team".into()), "UNAUTHORIZED", "`x-team` is required.", Refusal::Unauthorized),
        (tool_error("STALE", Some("Too old."), &[], Some("warning")), "STALE", "Too old.", Refusal::Unauthorized),
        (tool_error("FORBIDDEN", None, &[("scope", "a b")], None), "FORBIDDEN", "FORBIDDEN", forbidden(&["a", "b"])),
        (tool_error("FORBIDDEN", Some("Not yours."), &[], None), "FORBIDDEN", "Not yours.", forbidden(&[])),
    ];
    for (reply, code, message, refusal) in table {
        let thrown = Thrown { message: "m".into(), stack: None, cause: None, reply: Some(reply.clone()) };
        for answer in [Ok(Returned::Reply(reply)), Err(ScriptFault::Thrown(thrown))] {
            let world = World::new();
            world.answer_script(answer.clone());
            let fault = run(&world, plugin_tool(Policy::default()), json!({})).unwrap_err();
            assert_eq!(
                (fault.code.as_str(), fault.message.as_str(), fault.refusal.as_ref()),
                (code, message, Some(&refusal)),
                "{answer:?}"
            );
            assert_eq!((fault.severity, fault.log.as_deref()), (Severity::Error, Some(message)), "{answer:?}");
            assert_eq!(world.seen.borrow().len(), 1, "the handler ran for a refused caller");
        }
    }
}

#[test]
fn anonymous_lets_in_without_a_name_also_under_any() {
    let plugin = Auth::Script { script: script(PLUGIN), policy: Policy::default() };
    let nobody = |scopes: Json| json!({"subject": null, "scopes": scopes, "roles": [], "claims": {}, "plugin": "auth.ts"});
    let anonymous = |members: Json| Ok(Returned::Reply(Reply::Anonymous(members)));
    let table = [
        (anonymous(Json::Null), Some(nobody(json!([])))),
        (anonymous(json!({"scopes": "a b"})), Some(nobody(json!(["a", "b"])))),
        // Under `any` the next one decides, and no other is there.
        (Ok(Returned::Undefined), None),
        (Ok(Returned::Value(Json::Null)), None),
    ];
    for (answer, expected) in table {
        for auth in [plugin.clone(), Auth::Any(vec![plugin.clone()])] {
            let is_any = matches!(auth, Auth::Any(_));
            let world = World::new();
            let for_plugin = answer.clone();
            *world.on_script.borrow_mut() =
                Some(Box::new(move |seen| Some(if seen.path == "auth.ts" { for_plugin.clone() } else { Ok(Returned::Undefined) })));
            let outcome = run(&world, Tool { auth: Some(auth), ..plugin_tool(Policy::default()) }, json!({}));
            if expected.is_none() && is_any {
                assert_refused(&outcome.unwrap_err());
                continue;
            }
            outcome.unwrap();
            assert_eq!(world.seen.borrow()[1].ctx.get("auth"), expected.as_ref(), "{answer:?}");
        }
    }
}

#[test]
fn a_key_needs_the_scopes_of_the_policy() {
    let with = |name: &str, scopes: &[&str]| ApiKey {
        scopes: scopes.iter().map(|scope| (*scope).into()).collect(),
        ..key(name, ExpectedKey::Value(EnvTemplate(vec![EnvPart::Text(name.into())])))
    };
    let keys = vec![with("all", &["read", "write"]), with("some", &["read"]), with("none", &[])];
    let policy = ApiKeys { keys, scopes: vec!["read".into(), "write".into()] };
    let world = World::new();
    let pipeline = pipeline(&world, Tool { auth: Some(Auth::ApiKey(policy)), ..script_tool() });
    let sent = |key: &str| call(&pipeline, json!({}), &headers(&[("x-api-key", key)]));
    assert!(!sent("all").unwrap().is_error);
    assert_refused(&sent("other").unwrap_err());
    for (key, message) in
        [("some", "Forbidden: the key lacks the scope `write`."), ("none", "Forbidden: the key lacks the scope `read`, `write`.")]
    {
        let fault = sent(key).unwrap_err();
        assert_eq!((fault.code.as_str(), fault.message.as_str()), ("FORBIDDEN", message));
        assert_eq!(fault.refusal, Some(Refusal::Forbidden(vec!["read".into(), "write".into()])));
    }
}

#[test]
fn a_policy_without_its_variable_refuses() {
    let policy = Policy { value: Literal(json!({"a": [null]})), templates: vec![("/a/0".into(), env("ISSUER"))] };
    let world = World::new();
    let fault = run(&world, plugin_tool(policy), json!({})).unwrap_err();
    assert_refused(&fault);
    assert!(fault.log.unwrap().contains("`ISSUER`"));
    assert!(world.seen.borrow().is_empty());
}

#[test]
fn a_plugin_that_never_ends_is_stopped() {
    let world = World::new();
    *world.on_script.borrow_mut() = Some(Box::new(|_| None));
    let fault = run(&world, plugin_tool(Policy::default()), json!({})).unwrap_err();
    assert_eq!((fault.stage.as_str(), fault.code.as_str(), &fault.refusal), ("authenticate", "TIMEOUT", &None));
}
