//! The cache of results.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind,
    app::{
        Access, Adapter, Auth, Cache, CacheScope, Databases, Execute, InputKind, ParamStyle, Part, Piece, Policy, Root, SessionTemplate,
        Source, Template, TemplatePart, Tenant, Tool,
    },
    pipeline::Pipeline,
    ports::{Reply, Returned, ScriptFault},
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
    Tool { inputs: vec![input("id", InputKind::Int)], cache: Some(Cache { ttl_s: 60, scope, key: None }), ..tool("t", execute) }
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

/// A tool whose handler only reads.
fn reader(scope: CacheScope, key: Option<Template>) -> Tool {
    Tool { inputs: vec![input("id", InputKind::Int)], cache: Some(Cache { ttl_s: 60, scope, key }), ..script_tool() }
}

/// How many times the handler ran.
fn runs(world: &World) -> usize {
    world.seen.borrow().iter().filter(|seen| seen.payload.get("inputs").is_some()).count()
}

#[test]
fn a_handler_runs_once_for_the_same_inputs() {
    for answer in [Returned::Undefined, Returned::Value(json!([1])), Returned::Reply(Reply::Content(json!({"data": 1, "content": []})))] {
        let world = World::new();
        world.answer_script(Ok(answer));
        let pipeline = pipeline(&world, reader(CacheScope::Public, None));
        let ask = |id: Json| text(&call(&pipeline, json!({ "id": id }), &With::default()).unwrap());
        let first = ask(json!(1));
        assert_eq!((runs(&world), world.finish_later()), (1, 1));
        assert_eq!((ask(json!(1)), ask(json!("1"))), (first.clone(), first));
        assert_eq!((runs(&world), world.finish_later()), (1, 0));
        ask(json!(2));
        assert_eq!(runs(&world), 2, "another input is another result");
    }
}

#[test]
fn failures_of_handlers_and_damaged_results_are_not_taken() {
    let world = World::new();
    let pipeline = pipeline(&world, reader(CacheScope::Public, None));
    let ask = || drop(call(&pipeline, json!({"id": 1}), &With::default()));
    world.answer_script(Ok(Returned::Reply(Reply::Error("no".into()))));
    ask();
    assert_eq!(world.finish_later(), 0);
    world.answer_script(Err(ScriptFault::NeverSettles));
    ask();
    assert_eq!(world.finish_later(), 0);
    world.answer_script(Ok(Returned::Value(json!(1))));
    ask();
    assert_eq!((runs(&world), world.finish_later()), (3, 1));
    world.cached.borrow_mut().values_mut().for_each(|(value, _)| value.truncate(2));
    ask();
    assert_eq!((runs(&world), world.finish_later()), (4, 1));
    world.cache_fails.set(true);
    ask();
    assert_eq!(runs(&world), 5);
}

#[test]
fn handlers_are_apart_by_what_a_call_has_of_its_caller() {
    let principal = |tenant: u32| json!({"subject": "a", "claims": {"tenant": tenant}});
    let claim = Source { root: Root::Auth, path: ["claims", "tenant"].map(String::from).into() };
    let of_connection: [&dyn Fn(&mut Adapter); 4] = [
        &|_| (),
        &|adapter| adapter.tenant = Some(Tenant { claim: claim.clone(), statements: vec![] }),
        &|adapter| adapter.session = vec![SessionTemplate { name: "a.b".into(), value: vec![Piece::Source(claim.clone())] }],
        &|adapter| adapter.databases = Some(Databases { choice: claim.clone(), names: ["1", "2"].map(String::from).into() }),
    ];
    for (index, change) in of_connection.into_iter().enumerate() {
        for scope in [CacheScope::Principal, CacheScope::Public] {
            let world = World::new();
            let auth = Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() });
            let mut app = app(vec![Tool { auth, ..reader(scope, None) }]);
            change(&mut app.adapters[0]);
            let pipeline = Pipeline::new(Rc::new(app), world.ports());
            for tenant in [1, 2, 1] {
                world.answer_script(Ok(Returned::Value(principal(tenant))));
                call(&pipeline, json!({"id": 1}), &With::default()).unwrap();
                world.finish_later();
            }
            let expected = if scope == CacheScope::Public && index == 0 { 1 } else { 2 };
            assert_eq!(runs(&world), expected, "{scope:?} {index}");
        }
    }
    // A caller without the value of a connection gets nothing that was kept, and nothing is kept
    // for it.
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!({"subject": "a", "claims": {}}))));
    let auth = Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() });
    let mut app = app(vec![Tool { auth, ..reader(CacheScope::Public, None) }]);
    of_connection[3](&mut app.adapters[0]);
    let pipeline = Pipeline::new(Rc::new(app), world.ports());
    for _ in 0..2 {
        call(&pipeline, json!({"id": 1}), &With::default()).unwrap();
    }
    assert_eq!((runs(&world), world.finish_later()), (2, 0));
}

#[test]
fn a_key_stands_for_the_inputs_and_header_fields_stay() {
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!(1))));
    let key = Template(vec![TemplatePart::Text("all".into())]);
    let mut tool = reader(CacheScope::Public, Some(key));
    tool.context.headers = vec!["x-lang".into()];
    let pipeline = pipeline(&world, tool);
    let ask = |id: u32, lang: &str| {
        let with = With { headers: [("X-Lang", lang), ("X-Other", &*id.to_string())].into_iter().collect(), ..With::default() };
        call(&pipeline, json!({ "id": id }), &with).unwrap();
        world.finish_later();
        runs(&world)
    };
    assert_eq!([ask(1, "en"), ask(2, "en"), ask(2, "pt"), ask(1, "pt"), ask(3, "en")], [1, 1, 2, 2, 2]);
}
