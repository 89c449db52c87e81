//! Credentials that a database refuses: they are read again within the call, and the same question
//! is asked once more.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use millrace_core::{
    Error, ErrorKind, Result,
    app::{EnvPart, EnvTemplate, SecretSource, Tool},
    pipeline::{Pipeline, ToolResult},
    ports::{LocalFuture, Ports, SecretStore},
    secret::Secret,
    value::Rows,
};
use serde_json::json;

use crate::fakes::*;

/// A store in memory, which has the new value from its read number `changes_at` on.
#[derive(Default)]
struct Store {
    values: RefCell<BTreeMap<String, String>>,
    changes_at: Cell<usize>,
    reads: Cell<usize>,
}

impl SecretStore for Store {
    fn read<'a>(&'a self, name: &'a str, _deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>> {
        let number = self.reads.get();
        self.reads.set(number + 1);
        if number >= self.changes_at.get() {
            self.values.borrow_mut().insert("DB".into(), "new".into());
        }
        Box::pin(async move { Ok(self.values.borrow().get(name).cloned().map(Secret::new)) })
    }
}

struct Deployed {
    world: Rc<World>,
    store: Rc<Store>,
    pipeline: Pipeline,
}

/// A pipeline whose database takes the password `new` only; the store has it from its read number
/// `changes_at` on.
fn deploy(tool: Tool, changes_at: usize, parts: Vec<EnvPart>) -> Deployed {
    let world = World::new();
    let store = Rc::new(Store::default());
    store.values.borrow_mut().insert("DB".into(), "old".into());
    store.changes_at.set(changes_at);
    let mut app = app(vec![tool]);
    app.adapters[0].connection_string = EnvTemplate(parts);
    let ports = Ports { secrets: Some(store.clone()), ..world.ports() };
    let of_query = world.clone();
    *world.on_query.borrow_mut() = Some(Box::new(move |_| {
        let is_new = of_query.opened.borrow().last().is_some_and(|connection| connection.connection_string.expose().contains("new"));
        Some(match is_new {
            true => Ok(Rows::default()),
            false => Err(Error::new(ErrorKind::Credentials, "the database does not accept the password").at("`db:1`, user `shop`")),
        })
    }));
    Deployed { pipeline: Pipeline::new(Rc::new(app), ports), world, store }
}

fn of_secret() -> Vec<EnvPart> {
    vec![EnvPart::Text("db://".into()), EnvPart::Secret(SecretSource { name: "DB".into(), member: None })]
}

impl Deployed {
    fn call(&self) -> ToolResult {
        call(&self.pipeline, json!({}), &With::default()).unwrap()
    }

    /// A call that has no time to wait for another look.
    fn call_soon(&self) -> ToolResult {
        let deadline_ms = Some(self.world.now_ms.get() + 100);
        call(&self.pipeline, json!({}), &With { deadline_ms, ..With::default() }).unwrap()
    }
}

#[test]
fn a_refused_password_is_read_again_within_the_call() {
    let deployed = deploy(select_tool(), 1, of_secret());
    assert!(!deployed.call().is_error);
    assert_eq!((deployed.store.reads.get(), deployed.world.opened.borrow().len()), (2, 2));
    assert!(!deployed.call().is_error);
    assert_eq!((deployed.store.reads.get(), deployed.world.opened.borrow().len()), (2, 2), "the new one is kept");
}

#[test]
fn whoever_writes_the_new_password_down_has_a_moment() {
    let deployed = deploy(select_tool(), 2, of_secret());
    assert!(!deployed.call().is_error);
    assert_eq!(deployed.store.reads.get(), 3);
}

#[test]
fn a_password_that_stays_wrong_is_not_tried_again_and_the_place_is_for_the_log() {
    let deployed = deploy(select_tool(), usize::MAX, of_secret());
    let refused = text(&deployed.call_soon());
    assert!(refused.contains("QUERY_REFUSED") && refused.contains("The database does not accept the password."), "{refused}");
    assert!(!refused.contains("db:1") && !refused.contains("shop"), "{refused}");
    let reads = deployed.store.reads.get();
    assert_eq!(deployed.world.opened.borrow().len(), 1, "the same password is not sent again");
    for _ in 0..5 {
        deployed.call_soon();
    }
    assert_eq!(deployed.store.reads.get(), reads, "within a second nobody reads again, and nobody waits");
    deployed.world.now_ms.set(deployed.world.now_ms.get() + 1_001);
    deployed.call_soon();
    assert_eq!(deployed.store.reads.get(), reads + 1);
}

#[test]
fn without_a_secret_nothing_is_read() {
    let deployed = deploy(select_tool(), 1, vec![EnvPart::Text("db://old".into())]);
    assert!(deployed.call_soon().is_error);
    assert_eq!(deployed.world.opened.borrow().len(), 1);
}
