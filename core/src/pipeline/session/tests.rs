use alloc::{string::ToString as _, vec};

use serde_json::json;

use super::*;
use crate::{
    app::{EnvTemplate, Root},
    secret::Secret,
};

struct Variables;

impl Env for Variables {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        match name {
            "REGION" => Some(Secret::new("eu".into())),
            "EMPTY" => Some(Secret::new(" ".into())),
            _ => None,
        }
    }
}

fn adapter(session: Vec<SessionTemplate>) -> Adapter {
    Adapter {
        name: "main".into(),
        connector: "postgres".into(),
        connection_string: EnvTemplate(vec![]),
        options: vec![],
        timeout_ms: 1,
        max_rows: 1,
        read_only: false,
        seed: None,
        session,
        tenant: None,
        databases: None,
    }
}

fn template(name: &str, value: Vec<Piece>) -> SessionTemplate {
    SessionTemplate { name: name.into(), value }
}

fn claim(name: &str) -> Piece {
    Piece::Source(Source { root: Root::Auth, path: vec!["claims".into(), name.into()] })
}

fn written(name: &str, value: Vec<Piece>, auth: Option<&Json>) -> Result<String, String> {
    let template = template(name, value);
    let find = |source: &Source| auth.and_then(|auth| walk(auth, &source.path));
    super::value(&Variables, &adapter(vec![]), &template, &find).map_err(|error| {
        assert!(!error.message.contains("hunter2"));
        error.to_string()
    })
}

#[test]
fn values_are_written_as_text_or_refused() {
    let auth = json!({"claims": {
        "org": "o'1", "n": 7, "big": 9_007_199_254_740_993_u64, "yes": true, "list": ["a", 1], "map": {"a": null}, "none": null, "empty": "",
        "blank": " \t", "nul": "hunter2\0", "role": "NONE", "list0": []
    }});
    let table = [
        ("org", Ok("o'1")),
        ("n", Ok("7")),
        ("big", Ok("9007199254740993")),
        ("yes", Ok("true")),
        ("list", Ok(r#"["a",1]"#)),
        ("list0", Ok("[]")),
        ("map", Ok(r#"{"a":null}"#)),
        ("none", Err("the caller has no such value")),
        ("absent", Err("the caller has no such value")),
        ("empty", Err("the caller's value is empty")),
        ("blank", Err("the caller's value is empty")),
        ("nul", Err("the caller's value has a NUL character")),
    ];
    for (name, expected) in table {
        let refused = |why: &str| format!("the adapter `main` sets `app.x` to `auth.claims.{name}` for each call, and {why}");
        let found = written("app.x", vec![claim(name)], Some(&auth));
        assert_eq!(found, expected.map(Into::into).map_err(refused), "{name}");
        // Nor does text around it make up for it.
        let found = written("app.x", vec![Piece::Text("a:".into()), claim(name)], Some(&auth));
        assert_eq!(found, expected.map(|text| format!("a:{text}")).map_err(refused), "{name}");
        assert!(written("app.x", vec![claim(name)], None).is_err(), "{name}");
    }
    let region = || Piece::Env("REGION".into());
    assert_eq!(written("app.x", vec![region(), Piece::Text("-".into()), claim("n")], Some(&auth)), Ok("eu-7".into()));
    for name in ["EMPTY", "UNSET"] {
        let expected = format!("the adapter `main` sets `app.x` to `env.{name}` for each call, and the variable is not set");
        assert_eq!(written("app.x", vec![Piece::Env(name.into())], Some(&auth)), Err(expected));
    }
}

#[test]
fn a_role_is_a_name_and_never_none() {
    let auth = json!({"claims": {"role": "clerk", "none": " None ", "no": "no", "list": ["a"], "map": {}, "yes": true, "n": 7}});
    let role = |value| written("role", value, Some(&auth));
    assert_eq!(role(vec![claim("role")]), Ok("clerk".into()));
    assert_eq!(role(vec![Piece::Text("tenant_".into()), claim("n")]), Ok("tenant_7".into()));
    for name in ["list", "map", "yes"] {
        let expected =
            format!("the adapter `main` sets `role` to `auth.claims.{name}` for each call, and the caller's value is not a name");
        assert_eq!(role(vec![claim(name)]), Err(expected));
    }
    for none in [vec![claim("none")], vec![claim("no"), Piece::Text("ne".into())]] {
        assert!(role(none).unwrap_err().ends_with("a call must not have the role of the user that logged in"));
    }
}

#[test]
fn where_nobody_calls_a_role_is_left_out_and_values_are_replaced() {
    let set = |name: &str, value: &str| SessionSetting { name: name.into(), value: value.into() };
    let of = |session| without_caller(&Variables, &adapter(session)).unwrap();
    let fixed = template("role", vec![Piece::Text("clerk".into())]);
    let named = template("app.x", vec![Piece::Text("x".into()), claim("org")]);
    assert_eq!(of(vec![named.clone(), fixed]), (vec![set("app.x", "0"), set("role", "clerk")], true));
    assert_eq!(of(vec![named, template("role", vec![claim("role")])]), (vec![set("app.x", "0")], false));
    assert!(without_caller(&Variables, &adapter(vec![template("app.x", vec![Piece::Env("UNSET".into())])])).is_err());
}
