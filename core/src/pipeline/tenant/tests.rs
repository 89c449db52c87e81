use alloc::{string::ToString as _, vec, vec::Vec};

use serde_json::json;

use super::*;
use crate::app::Access;
use crate::app::{EnvTemplate, InputKind, ParamStyle, Root, TenantStatement};

fn source(path: &[&str]) -> Source {
    Source { root: Root::Auth, path: path.iter().map(|name| (*name).into()).collect() }
}

fn tenant() -> Tenant {
    let statement = |text: &str, claims: &[u32]| TenantStatement { text: text.into(), claims: claims.to_vec() };
    Tenant { claim: source(&["claims", "org"]), statements: vec![statement("SELECT 1", &[]), statement("SELECT o", &[1, 3])] }
}

fn adapter() -> Adapter {
    Adapter {
        name: "main".into(),
        connector: "sqlite".into(),
        connection_string: EnvTemplate(vec![]),
        options: vec![],
        timeout_ms: 1,
        max_rows: 1,
        read_only: false,
        seed: None,
        session: vec![],
        tenant: Some(tenant()),
        databases: None,
    }
}

#[test]
fn a_claim_is_a_text_or_a_whole_number() {
    let refused = |why: &str| format!("the adapter `main` keeps each call to the tenant `auth.claims.org`, and {why}");
    let no_value = "the caller has no such value";
    let neither = "the caller's value is neither a text nor a whole number";
    let table = [
        (json!("a"), None),
        (json!(" a "), None),
        (json!("NULL"), None),
        (json!(0), None),
        (json!(-7), None),
        (json!(u64::MAX), None),
        (json!(null), Some(no_value)),
        (json!(""), Some("the caller's value is empty")),
        (json!(" \t\n"), Some("the caller's value is empty")),
        (json!("hunter2\0"), Some("the caller's value has a NUL character")),
        (json!(true), Some(neither)),
        (json!(1.5), Some(neither)),
        (json!(["a"]), Some(neither)),
        (json!({"a": "b"}), Some(neither)),
    ];
    for (value, expected) in table {
        let auth = json!({ "claims": { "org": value } });
        let found = claimed(Some(&auth), &adapter(), &tenant());
        match expected {
            None => assert_eq!(found.expect("has the claim"), &value),
            Some(why) => {
                let error = found.expect_err("lacks the claim");
                assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Denied, refused(why).as_str()));
            }
        }
    }
    for auth in [None, Some(json!(null)), Some(json!({})), Some(json!({ "claims": [] })), Some(json!({ "org": "a" }))] {
        assert_eq!(claimed(auth.as_ref(), &adapter(), &tenant()).expect_err("no claim").message, refused(no_value));
    }
}

#[test]
fn a_script_runs_what_was_judged_with_the_claim_in_its_place() {
    let text = |text: &str| Value::Text(text.into());
    let denied = |why: &str| format!("the adapter `main` keeps each statement to the tenant `auth.claims.org`, and {why}");
    let auth = json!({ "claims": { "org": "north" } });
    let run = |auth: &Json, statement: &str, values: &[Value]| {
        script(Some(auth), &adapter(), &tenant(), statement, values).map_err(|error| error.into_parts().message)
    };
    assert_eq!(run(&auth, "SELECT 1", &[]), Ok(()));
    assert_eq!(run(&json!({}), "SELECT 1", &[text("south")]), Ok(()));
    assert_eq!(run(&auth, "SELECT o", &[text("north"), text("south"), text("north")]), Ok(()));
    let table: [(&str, Vec<Value>, &str); 8] = [
        ("SELECT o", vec![], "parameter 1 is something else"),
        ("SELECT o", vec![text("south"), text("north"), text("north")], "parameter 1 is something else"),
        ("SELECT o", vec![text("north"), text("north")], "parameter 3 is something else"),
        ("SELECT o", vec![text("north"), text("x"), Value::Null], "parameter 3 is something else"),
        ("SELECT o", vec![text("north"), text("x"), Value::Json(json!("north"))], "parameter 3 is something else"),
        ("SELECT o", vec![text("North"), text("x"), text("north")], "parameter 1 is something else"),
        ("SELECT  o", vec![text("north")], "this one is not written out in a script of the app, where the build could judge it"),
        ("", vec![], "this one is not written out in a script of the app, where the build could judge it"),
    ];
    for (statement, values, why) in table {
        assert_eq!(run(&auth, statement, &values), Err(denied(why)), "{statement} {values:?}");
    }
    assert!(run(&json!({ "claims": {} }), "SELECT o", &[Value::Null, Value::Null, Value::Null]).is_err());
    let number = json!({ "claims": { "org": 7 } });
    assert_eq!(run(&number, "SELECT o", &[Value::I64(7), Value::Null, Value::I64(7)]), Ok(()));
    for other in [Value::I64(8), Value::F64(7.0), text("7"), Value::Bool(true)] {
        assert!(run(&number, "SELECT o", &[other, Value::Null, Value::I64(7)]).is_err());
    }
}

#[test]
fn what_binds_the_claim() {
    let statement = |part: Part| Statement {
        style: ParamStyle::NumberedQuestion,
        parts: vec![Part::Text("SELECT ".to_string()), part],
        text: None,
        access: Access::Read,
        max_values: 9,
        document: vec![],
    };
    let claim = source(&["claims", "org"]);
    let value = |path: &[&str]| Part::Bind(Bind::Value { source: source(path), kind: Some(InputKind::String) });
    assert!(binds(&statement(value(&["claims", "org"])), &claim));
    assert!(binds(&statement(Part::Bind(Bind::Composed(vec![Piece::Text("a".into()), Piece::Source(claim.clone())]))), &claim));
    assert!(binds(&statement(Part::BindEach { source: claim.clone(), kind: None, empty: "".into() }), &claim));
    assert!(!binds(&statement(value(&["claims", "org", "id"])), &claim));
    assert!(!binds(&statement(value(&["subject"])), &claim));
    assert!(!binds(&statement(Part::Text("1".into())), &claim));
}
