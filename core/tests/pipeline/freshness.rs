//! What a call makes stale, in stores that work, fail, and are shared.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind,
    app::{Access, Announcement, App, Cache, CacheScope, CachedReads, EpochWrites, Execute, ParamStyle, Part, Tool, ToolSync},
    pipeline::{ContentBlock, Pipeline},
    ports::{Exactness, Reply, Returned, ToolErrorReply},
    value::Value,
};
use serde_json::json;

use crate::fakes::*;

const EPOCHS: [&str; 2] = ["main/t", "main:?"];

fn execute(access: Access) -> Execute {
    Execute::Statement { adapter: 0, statement: statement(vec![Part::Text("UPDATE t".into())], ParamStyle::Question, access) }
}

fn writes() -> EpochWrites {
    EpochWrites { epochs: vec![0], unsettled: vec![1] }
}

fn announces() -> Option<Announcement> {
    Some(Announcement { cause: "t.write".into(), domains: vec!["t.*".into(), "\"<&>\"".into()] })
}

/// A tool that reads the table from the cache, one that writes it, and one whose script may.
fn pipeline(world: &Rc<World>) -> Pipeline {
    let reader = ToolSync { reads: Some(CachedReads { epochs: vec![0], unsettled: vec![1] }), ..ToolSync::default() };
    let writer = ToolSync { writes: writes(), announces: announces(), ..ToolSync::default() };
    let scripted = ToolSync { script_writes: vec![(0, writes())], announces: announces(), ..ToolSync::default() };
    let cache = Some(Cache { ttl_s: 600, scope: CacheScope::Public, key: None });
    let tools = vec![
        Tool { cache, sync: Some(reader), ..tool("read", execute(Access::Read)) },
        Tool { sync: Some(scripted), ..tool("script", Execute::Script(script(HANDLER))) },
        Tool { sync: Some(writer), ..tool("write", execute(Access::Write)) },
    ];
    Pipeline::new(Rc::new(App { epochs: EPOCHS.map(String::from).into(), ..app(tools) }), world.ports())
}

fn world() -> Rc<World> {
    let world = World::new();
    world.answer_rows(rows(&["v"], vec![vec![Value::I64(1)]]));
    world
}

/// Whether a read asks the database.
fn asks(world: &World, pipeline: &Pipeline) -> bool {
    let before = world.asked.borrow().len();
    call_named(pipeline, "read", json!({}), &With::default()).unwrap();
    world.finish_later();
    world.asked.borrow().len() > before
}

#[test]
fn a_write_makes_stale_what_its_own_isolate_and_those_that_share_a_store_have_cached() {
    for exactness in [Exactness::Isolate, Exactness::Eventual, Exactness::Shared] {
        let world = world();
        world.exactness.set(Some(exactness));
        let (first, second) = (pipeline(&world), pipeline(&world));
        assert!(asks(&world, &first) && !asks(&world, &first), "{exactness:?}");
        call_named(&first, "write", json!({}), &With::default()).unwrap();
        assert!(asks(&world, &first) && !asks(&world, &first), "{exactness:?}");
        // The other one shares the cache: it finds what is new there, or, with a store of its own,
        // what is old.
        assert!(!asks(&world, &second), "{exactness:?}");
        call_named(&second, "write", json!({}), &With::default()).unwrap();
        assert!(asks(&world, &second), "{exactness:?}");
        // Which of two writes is the later one, it cannot know where the store may not have heard
        // of its own.
        assert_eq!(asks(&world, &first), exactness == Exactness::Eventual, "{exactness:?}");
    }
}

#[test]
fn a_write_without_an_answer_keeps_its_tables_out_of_the_cache_for_a_while() {
    for exactness in [Exactness::Isolate, Exactness::Shared] {
        let world = world();
        world.exactness.set(Some(exactness));
        let (first, second) = (pipeline(&world), pipeline(&world));
        assert!(asks(&world, &first) && !asks(&world, &first));
        world.answer_error(Error::new(ErrorKind::Unavailable, "the connection broke"));
        assert!(call_named(&first, "write", json!({}), &With::default()).unwrap().is_error);
        world.answer_rows(rows(&["v"], vec![vec![Value::I64(1)]]));
        assert!(asks(&world, &first) && asks(&world, &first), "it may still be carried out");
        assert_eq!(asks(&world, &second) && asks(&world, &second), exactness == Exactness::Shared, "{exactness:?}");
        // The deadline of the call, and a minute.
        world.now_ms.set(world.now_ms.get() + 5_000 + 60_000);
        assert!(asks(&world, &first) && !asks(&world, &first));
    }
}

#[test]
fn a_write_that_is_refused_makes_nothing_stale() {
    let world = world();
    let pipeline = pipeline(&world);
    assert!(asks(&world, &pipeline));
    world.answer_error(Error::new(ErrorKind::Constraint, "a constraint"));
    assert!(call_named(&pipeline, "write", json!({}), &With::default()).unwrap().is_error);
    assert!(!asks(&world, &pipeline));
}

#[test]
fn a_store_that_fails_makes_reads_ask_and_is_told_later() {
    let world = world();
    world.exactness.set(Some(Exactness::Shared));
    let (first, second) = (pipeline(&world), pipeline(&world));
    assert!(asks(&world, &first) && !asks(&world, &second));
    world.state_fails.set(true);
    call_named(&first, "write", json!({}), &With::default()).unwrap();
    assert!(asks(&world, &first) && asks(&world, &first) && asks(&world, &second));
    world.state_fails.set(false);
    assert!(asks(&world, &first), "its own write is not forgotten");
    assert!(!asks(&world, &second), "and the other one is told of it with this read: they share what was cached after it");
}

#[test]
fn a_store_that_forgets_an_epoch_brings_nothing_back() {
    let world = world();
    world.exactness.set(Some(Exactness::Shared));
    let pipeline = pipeline(&world);
    assert!(asks(&world, &pipeline) && !asks(&world, &pipeline));
    world.records.borrow_mut().clear();
    assert!(asks(&world, &pipeline) && !asks(&world, &pipeline));
}

#[test]
fn success_is_announced_first_and_escaped_and_a_question_is_not() {
    let world = world();
    let pipeline = pipeline(&world);
    let announced = |tool: &str| {
        let result = call_named(&pipeline, tool, json!({}), &With::default());
        result.ok().and_then(|result| match result.content.first() {
            Some(ContentBlock::Other(block)) => Some((block["text"].clone(), result.meta)),
            _ => None,
        })
    };
    let (text, meta) = announced("write").unwrap();
    assert_eq!(text, r#"<cache_invalidation cause="t.write" domains="t.*, &quot;&lt;&amp;&gt;&quot;" />"#);
    assert_eq!(meta[0], ("millrace/invalidated".into(), json!({ "cause": "t.write", "domains": ["t.*", "\"<&>\""] })));
    let says = |severity: &str| {
        let reply = ToolErrorReply { code: "X".into(), severity: Some(severity.into()), ..ToolErrorReply::default() };
        world.answer_script(Ok(Returned::Reply(Reply::ToolError(reply))));
    };
    says("warning");
    assert!(announced("script").is_some());
    says("error");
    assert!(announced("script").is_none());
    world.answer_script(Ok(Returned::Reply(Reply::InputRequired)));
    assert!(announced("script").is_none());
    world.answer_script(Ok(Returned::Value(json!(1))));
    assert!(announced("script").is_some());
}
