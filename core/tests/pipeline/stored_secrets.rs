//! Secrets of the deployment: when they are read, how long they are used, and what is told where
//! there are none.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use millrace_core::{
    Error, ErrorKind, Result,
    app::{ApiKey, ApiKeys, App, Auth, EnvPart, EnvTemplate, ExpectedKey, SecretSource, Tool},
    pipeline::{Pipeline, ToolResult},
    ports::{LocalFuture, Ports, SecretStore},
    secret::Secret,
};
use serde_json::json;

use crate::fakes::*;

/// A store in memory.
#[derive(Default)]
struct Store {
    values: RefCell<BTreeMap<String, String>>,
    is_down: Cell<bool>,
    reads: Cell<usize>,
}

impl SecretStore for Store {
    fn read<'a>(&'a self, name: &'a str, _deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>> {
        self.reads.set(self.reads.get() + 1);
        Box::pin(async move {
            match self.is_down.get() {
                true => Err(Error::new(ErrorKind::Unavailable, "the store is down")),
                false => Ok(self.values.borrow().get(name).cloned().map(Secret::new)),
            }
        })
    }
}

/// A pipeline whose adapter, and whose tool's key, are secrets.
struct Deployed {
    world: Rc<World>,
    store: Rc<Store>,
    pipeline: Pipeline,
}

const MINUTE_MS: u64 = 60_000;

fn secret(name: &str, member: Option<&str>) -> EnvPart {
    EnvPart::Secret(SecretSource { name: name.into(), member: member.map(Into::into) })
}

fn deploy(parts: Vec<EnvPart>, auth: Option<Auth>) -> Deployed {
    let world = World::new();
    let store = Rc::new(Store::default());
    let mut app = app(vec![Tool { auth, ..select_tool() }]);
    app.adapters[0].connection_string = EnvTemplate(parts);
    let ports = Ports { secrets: Some(store.clone()), ..world.ports() };
    Deployed { pipeline: Pipeline::new(Rc::new(app), ports), world, store }
}

impl Deployed {
    fn set(&self, name: &str, value: &str) {
        self.store.values.borrow_mut().insert(name.into(), value.into());
    }

    fn later(&self, ms: u64) {
        self.world.now_ms.set(self.world.now_ms.get() + ms);
    }

    fn call(&self) -> ToolResult {
        call(&self.pipeline, json!({}), &With::default()).unwrap()
    }

    /// With what the adapter was opened, each time.
    fn opened(&self) -> Vec<String> {
        self.world.opened.borrow().iter().map(|connection| connection.connection_string.expose().clone()).collect()
    }
}

#[test]
fn a_secret_that_changed_is_used_without_a_restart() {
    let deployed = deploy(vec![EnvPart::Text("db://".into()), secret("DB", None)], None);
    deployed.set("DB", "first-password");
    assert!(!deployed.call().is_error);
    deployed.set("DB", "second-password");
    deployed.later(5 * MINUTE_MS - 1);
    assert!(!deployed.call().is_error);
    assert_eq!((deployed.opened(), deployed.store.reads.get()), (vec!["db://first-password".to_owned()], 1), "fresh values are kept");
    deployed.later(1);
    assert!(!deployed.call().is_error);
    assert_eq!(deployed.opened(), ["db://first-password", "db://second-password"]);
    deployed.later(5 * MINUTE_MS);
    assert!(!deployed.call().is_error);
    assert_eq!((deployed.opened().len(), deployed.store.reads.get()), (2, 3), "the same value keeps its connection");
}

#[test]
fn a_database_that_refuses_has_secrets_read_again_soon_and_not_each_time() {
    let deployed = deploy(vec![secret("DB", None)], None);
    deployed.set("DB", "first-password");
    let denied = Error::new(ErrorKind::Denied, "the password is wrong");
    *deployed.world.on_query.borrow_mut() = Some(Box::new(move |_| Some(Err(denied.clone()))));
    deployed.call();
    deployed.set("DB", "second-password");
    for _ in 0..5 {
        deployed.call();
    }
    assert_eq!(deployed.store.reads.get(), 1, "within ten seconds");
    deployed.later(10_000);
    deployed.call();
    assert_eq!((deployed.store.reads.get(), deployed.opened().last().map(String::as_str)), (2, Some("second-password")));
}

#[test]
fn a_store_that_is_down_keeps_values_for_an_hour() {
    let deployed = deploy(vec![secret("DB", None)], None);
    deployed.set("DB", "first-password");
    deployed.call();
    deployed.store.is_down.set(true);
    deployed.later(59 * MINUTE_MS);
    assert!(!deployed.call().is_error);
    let reads = deployed.store.reads.get();
    deployed.call();
    assert_eq!(deployed.store.reads.get(), reads, "a store that is down is not asked at each call");
    deployed.later(MINUTE_MS + 1);
    let refused = text(&deployed.call());
    assert!(
        refused.contains("CONFIGURATION") && refused.contains("The secret `DB`, which the adapter `main` needs, could not be read."),
        "{refused}"
    );
    deployed.store.is_down.set(false);
    deployed.later(10_000);
    assert!(!deployed.call().is_error);
}

#[test]
fn what_is_missing_is_named_and_nothing_is_quoted() {
    let table = [
        (None, None, "The secret `DB`, which the adapter `main` needs, does not exist."),
        (Some("hunter2-hunter2"), Some("password"), "is not a JSON object with the string `secret.DB.password`"),
        (Some(r#"{"user":"hunter2-hunter2"}"#), Some("password"), "is not a JSON object with the string `secret.DB.password`"),
        (Some(r#"{"password":["hunter2-hunter2"]}"#), Some("password"), "is not a JSON object with the string `secret.DB.password`"),
    ];
    for (value, member, expected) in table {
        let deployed = deploy(vec![secret("DB", member)], None);
        if let Some(value) = value {
            deployed.set("DB", value);
        }
        let refused = text(&deployed.call());
        assert!(refused.contains(expected) && !refused.contains("hunter2"), "{refused}");
    }
    let deployed = deploy(vec![secret("DB", Some("user")), EnvPart::Text(":".into()), secret("DB", Some("port"))], None);
    deployed.set("DB", r#"{"user":"shop","port":5432}"#);
    assert!(!deployed.call().is_error);
    assert_eq!(deployed.opened(), ["shop:5432"]);
    assert_eq!(deployed.store.reads.get(), 1, "a secret is read once for all of its members");
}

#[test]
fn a_key_may_be_a_secret_and_nobody_is_let_in_without_it() {
    let expected = ExpectedKey::Value(EnvTemplate(vec![secret("KEY", None)]));
    let key = ApiKey { name: "api_key".into(), expected, scopes: vec![], roles: vec![] };
    let deployed = deploy(vec![EnvPart::Text("db://".into())], Some(Auth::ApiKey(ApiKeys { keys: vec![key], scopes: vec![] })));
    let with = |sent: &str| {
        let sent = With { headers: [("x-api-key", sent)].into_iter().collect(), ..With::default() };
        call(&deployed.pipeline, json!({}), &sent).is_ok()
    };
    assert!(!with("") && !with("the-key"), "the secret does not exist yet");
    deployed.set("KEY", "the-key");
    deployed.later(10_000);
    assert!(with("the-key") && !with("another"));
    deployed.set("KEY", "the-next-key");
    deployed.later(5 * MINUTE_MS);
    assert!(with("the-next-key") && !with("the-key"), "an old key is not accepted once the store has a new one");
}

#[test]
fn what_a_database_says_of_a_secret_is_struck_out() {
    let deployed = deploy(vec![EnvPart::Text("db://".into()), secret("DB", None)], None);
    deployed.set("DB", "first-password");
    let said = Error::new(ErrorKind::Denied, "the password `first-password` is wrong");
    *deployed.world.on_query.borrow_mut() = Some(Box::new(move |_| Some(Err(said.clone()))));
    let refused = text(&deployed.call());
    assert!(refused.contains("[secret]") && !refused.contains("first-password"), "{refused}");
}

#[test]
fn scripts_see_the_secrets_that_the_app_lists() {
    let world = World::new();
    let store = Rc::new(Store::default());
    store.values.borrow_mut().insert("API_KEY".into(), "a-key-of-an-api".into());
    let listed = App { secrets: vec!["API_KEY".into(), "MISSING".into()], ..app(vec![script_tool()]) };
    let pipeline = Pipeline::new(Rc::new(listed), Ports { secrets: Some(store), ..world.ports() });
    call(&pipeline, json!({}), &With::default()).unwrap();
    assert_eq!(world.seen.borrow()[0].ctx["env"], json!({ "API_KEY": "a-key-of-an-api" }));
}

#[test]
fn without_a_store_variables_are_the_secrets() {
    let world = World::new();
    world.set_env("DB", "of-a-variable");
    let mut app = app(vec![select_tool()]);
    app.adapters[0].connection_string = EnvTemplate(vec![secret("DB", None)]);
    call(&Pipeline::new(Rc::new(app), world.ports()), json!({}), &With::default()).unwrap();
    assert_eq!(*world.opened.borrow()[0].connection_string.expose(), "of-a-variable");
}

#[test]
fn a_value_that_is_too_old_is_nobodys_while_it_is_read_again() {
    let expected = ExpectedKey::Value(EnvTemplate(vec![secret("KEY", None)]));
    let key = ApiKey { name: "api_key".into(), expected, scopes: vec![], roles: vec![] };
    let deployed = deploy(vec![EnvPart::Text("db://".into())], Some(Auth::ApiKey(ApiKeys { keys: vec![key], scopes: vec![] })));
    let with = |sent: &str| {
        let sent = With { headers: [("x-api-key", sent)].into_iter().collect(), ..With::default() };
        call(&deployed.pipeline, json!({}), &sent).is_ok()
    };
    deployed.set("KEY", "the-key");
    assert!(with("the-key"));
    deployed.store.is_down.set(true);
    deployed.later(61 * MINUTE_MS);
    assert!(!with("the-key"), "nobody knows whether it still is the key");
    // Within the pause after an attempt that failed, too.
    assert!(!with("the-key"));
}

#[test]
fn a_store_that_is_down_is_not_asked_at_each_failure_of_a_database() {
    let deployed = deploy(vec![secret("DB", None)], None);
    deployed.set("DB", "first-password");
    let denied = Error::new(ErrorKind::Denied, "the password is wrong");
    *deployed.world.on_query.borrow_mut() = Some(Box::new(move |_| Some(Err(denied.clone()))));
    deployed.call();
    deployed.store.is_down.set(true);
    deployed.later(10_000);
    for _ in 0..5 {
        deployed.call();
    }
    assert_eq!(deployed.store.reads.get(), 2);
}

#[test]
fn the_value_before_is_struck_out_as_well() {
    let deployed = deploy(vec![EnvPart::Text("db://".into()), secret("DB", None)], None);
    deployed.set("DB", "first-password");
    deployed.call();
    deployed.set("DB", "second-password");
    deployed.later(5 * MINUTE_MS);
    let said = Error::new(ErrorKind::Denied, "neither `first-password` nor `second-password` is right");
    *deployed.world.on_query.borrow_mut() = Some(Box::new(move |_| Some(Err(said.clone()))));
    let refused = format!("{:?}", deployed.call());
    assert!(!refused.contains("first-password") && !refused.contains("second-password"), "{refused}");
}
