//! The cache of results.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind,
    app::{Access, Auth, Cache, CacheScope, Execute, InputKind, ParamStyle, Part, Policy, Tool},
    ports::Returned,
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

const ROWS: &str = r#"[{"id":"9223372036854775807","raw":"3q0="}]"#;

fn world() -> Rc<World> {
    let world = World::new();
    world.answer_rows(rows(&["id", "raw"], vec![vec![Value::I64(i64::MAX), Value::Bytes(vec![0xde, 0xad])]]));
    world
}

fn cached(scope: CacheScope, access: Access) -> Tool {
    let parts = vec![Part::Text("SELECT ".into()), bind("id", InputKind::Int)];
    let execute = Execute::Statement { adapter: 0, statement: statement(parts, ParamStyle::Question, access) };
    Tool { inputs: vec![input("id", InputKind::Int)], cache: Some(Cache { ttl_s: 60, scope }), ..tool("t", execute) }
}

#[test]
fn a_hit_skips_the_connector_and_gives_the_same_bytes() {
    let world = world();
    let pipeline = pipeline(&world, cached(CacheScope::Public, Access::Read));
    let ask = |id: Json| text(&call(&pipeline, json!({ "id": id }), &With::default()).unwrap());
    assert_eq!(ask(json!(1)), ROWS);
    assert!(world.cached.borrow().is_empty(), "kept before the response left");
    assert_eq!(world.finish_later(), 1);
    assert_eq!(world.cached.borrow().values().next().unwrap().1, 60);
    assert_eq!(ask(json!("1")), ROWS);
    assert_eq!((world.asked.borrow().len(), world.finish_later()), (1, 0));
    ask(json!(2));
    assert_eq!(world.asked.borrow().len(), 2, "another value is another result");
}

#[test]
fn what_writes_or_fails_or_does_not_cache_is_never_kept() {
    let no_cache = Tool { cache: None, ..cached(CacheScope::Public, Access::Read) };
    for tool in [cached(CacheScope::Public, Access::Write), no_cache] {
        let world = world();
        let pipeline = pipeline(&world, tool);
        for _ in 0..2 {
            call(&pipeline, json!({"id": 1}), &With::default()).unwrap();
        }
        assert_eq!((world.asked.borrow().len(), world.finish_later()), (2, 0));
    }
    let world = world();
    world.answer_error(Error::new(ErrorKind::Busy, "busy"));
    run(&world, cached(CacheScope::Public, Access::Read), json!({"id": 1})).unwrap();
    assert_eq!(world.finish_later(), 0);
}

#[test]
fn principals_do_not_share_unless_told_to() {
    for (scope, expected) in [(CacheScope::Principal, 2), (CacheScope::Public, 1)] {
        let world = world();
        let auth = Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() });
        let pipeline = pipeline(&world, Tool { auth, ..cached(scope, Access::Read) });
        for tenant in [1, 2, 1] {
            world.answer_script(Ok(Returned::Value(json!({"subject": "a", "claims": {"tenant": tenant}}))));
            call(&pipeline, json!({"id": 1}), &With::default()).unwrap();
            world.finish_later();
        }
        assert_eq!(world.asked.borrow().len(), expected, "{scope:?}");
    }
}

#[test]
fn a_failing_or_damaged_cache_is_a_miss() {
    let world = world();
    world.cache_fails.set(true);
    let pipeline = pipeline(&world, cached(CacheScope::Public, Access::Read));
    let ask = || text(&call(&pipeline, json!({"id": 1}), &With::default()).unwrap());
    assert_eq!(ask(), ROWS);
    world.finish_later();
    world.cache_fails.set(false);
    assert_eq!(ask(), ROWS);
    world.finish_later();
    for damage in [vec![], vec![0; 31], vec![0; 200]] {
        world.cached.borrow_mut().values_mut().for_each(|(value, _)| value.clone_from(&damage));
        assert_eq!(ask(), ROWS);
        world.finish_later();
    }
    assert_eq!(world.asked.borrow().len(), 5);
    assert_eq!(ask(), ROWS);
    assert_eq!(world.asked.borrow().len(), 5, "the damaged value was replaced");
}

#[test]
fn the_mapper_runs_on_a_hit_too() {
    let world = world();
    world.answer_script(Ok(Returned::Value(json!("mapped"))));
    let pipeline = pipeline(&world, Tool { map_output: Some(script(MAP_OUTPUT)), ..cached(CacheScope::Public, Access::Read) });
    for _ in 0..2 {
        assert_eq!(text(&call(&pipeline, json!({"id": 1}), &With::default()).unwrap()), "mapped");
        world.finish_later();
    }
    let seen = world.seen.borrow();
    assert_eq!((seen.len(), &seen[0].payload), (2, &seen[1].payload));
    // A script sees a number where a result has its text.
    let exact = ROWS.replace("\"9223372036854775807\"", "9223372036854775807");
    assert_eq!(seen[0].payload["results"].to_string(), exact);
    drop(seen);
    world.answer_rows(Rows::default());
    assert_eq!(world.asked.borrow().len(), 1);
}
