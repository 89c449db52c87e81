//! The limits of calls in real workerd: by the Durable Object, by a limiter of the platform, by KV,
//! and by the isolate alone.

use std::{fs, path::Path, thread};

use millrace_core::Json;
use millrace_tests::{
    Group,
    case::Exchange,
    groups,
    worker::{Worker, build},
};

const SQL: &str = "CREATE TABLE hits (who TEXT NOT NULL);";

fn group() -> Group {
    groups().into_iter().find(|group| group.name == "guards").unwrap()
}

/// The code of a call; null where it went well.
fn code(worker: &Worker, tool: &str) -> Json {
    let answer = worker.send(&Exchange::parse(&format!("CALL {tool}\nx-api-key: the-clerks-own-key")));
    let (_, body) = answer.split_once("\n\n").unwrap_or_else(|| panic!("{answer}"));
    let body: Json = serde_json::from_str(&body.replace("\"retry_after\":N", "\"retry_after\":0")).unwrap();
    body["result"]["_meta"]["millrace/error"]["code"].clone()
}

/// How many of `calls` pass, twelve at a time; the others are refused with this code.
fn passed(worker: &Worker, tool: &str, calls: usize, refused: &str) -> usize {
    thread::scope(|scope| {
        let one = || {
            let code = code(worker, tool);
            assert!(code == Json::Null || code == refused, "{code}\n{}", worker.log());
            usize::from(code == Json::Null)
        };
        let callers: Vec<_> = (0..12).map(|_| scope.spawn(move || (0..calls / 12).map(|_| one()).sum::<usize>())).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    })
}

/// The app, served with these bindings beside its database; with none, as the build makes them.
fn served(bindings: Option<&str>, test: impl FnOnce(&Path, &Group, Worker)) {
    let group = group();
    let folder = group.install();
    if let Some(bindings) = bindings {
        let text = "name = \"guards\"\nmain = \"dist/entry.mjs\"\ncompatibility_date = \"2026-11-01\"\ncompatibility_flags = [\"enable_request_signal\"]\n\
                    [[d1_databases]]\nbinding = \"DB\"\ndatabase_name = \"guards\"\n";
        fs::write(folder.path().join("wrangler.toml"), format!("{text}{bindings}")).unwrap();
    }
    let built = build(folder.path());
    let worker = Worker::dev(&built, &group.env);
    worker.fill("DB", SQL);
    test(&built, &group, worker);
}

#[test]
fn a_durable_object_counts_exactly_and_for_all_isolates() {
    served(None, |built, group, worker| {
        assert_eq!(passed(&worker, "many", 60, "RATE_LIMITED"), 20);
        drop(worker);
        let worker = Worker::dev(built, &group.env);
        assert_eq!(passed(&worker, "many", 24, "RATE_LIMITED"), 0, "another isolate knows of the calls");
        // Whoever waits is woken by the call before, in a request of its own.
        assert_eq!(passed(&worker, "queued", 8 * 12, "SERVER_BUSY").min(24), 24, "{}", worker.log());
        assert_eq!(code(&worker, "queued"), Json::Null, "every place was given back");
        assert!(!worker.log().contains("cannot be counted"), "{}", worker.log());
    });
}

#[test]
fn a_limiter_of_the_platform_counts_where_one_is_bound() {
    let limiter = "[[ratelimits]]\nname = \"MILLRACE_RATE_20_60\"\nnamespace_id = \"1001\"\nsimple = { limit = 20, period = 60 }\n";
    served(Some(limiter), |_, _, worker| {
        // Its window may end in between.
        assert!((20..=40).contains(&passed(&worker, "per-minute", 60, "RATE_LIMITED")), "{}", worker.log());
        assert_eq!(passed(&worker, "many", 60, "RATE_LIMITED"), 20, "it has no such window: the isolate counts");
    });
}

#[test]
fn without_one_each_isolate_has_the_limit_to_itself_and_kv_tells_it_of_others() {
    served(Some(""), |built, group, worker| {
        assert_eq!(passed(&worker, "many", 60, "RATE_LIMITED"), 20);
        drop(worker);
        let worker = Worker::dev(built, &group.env);
        assert_eq!(passed(&worker, "many", 60, "RATE_LIMITED"), 20, "another isolate knows of nothing");
    });
    served(Some("[[kv_namespaces]]\nbinding = \"MILLRACE_CACHE\"\n"), |built, group, worker| {
        let first = passed(&worker, "many", 60, "RATE_LIMITED");
        drop(worker);
        let worker = Worker::dev(built, &group.env);
        let second = passed(&worker, "many", 60, "RATE_LIMITED");
        assert!(first <= 20 && second < 20, "{first} and {second}: KV knows of some of them\n{}", worker.log());
    });
}

/// The text of a call's first block.
fn text_of(worker: &Worker, call: &str) -> String {
    let answer = worker.send(&Exchange::parse(&format!("CALL {call}")));
    let (_, body) = answer.split_once("\n\n").unwrap_or_else(|| panic!("{answer}"));
    let body: Json = serde_json::from_str(body).unwrap();
    body["result"]["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn isolates_agree_on_what_is_stale_by_the_durable_object() {
    let group = groups().into_iter().find(|group| group.name == "sync").unwrap();
    let folder = group.install();
    let bindings = "name = \"sync\"\nmain = \"dist/entry.mjs\"\ncompatibility_date = \"2026-11-01\"\ncompatibility_flags = [\"enable_request_signal\"]\n\
                    [[d1_databases]]\nbinding = \"DB\"\ndatabase_name = \"sync\"\n[[kv_namespaces]]\nbinding = \"MILLRACE_CACHE\"\n\
                    [[durable_objects.bindings]]\nname = \"MILLRACE_STATE\"\nclass_name = \"MillraceState\"\n\
                    [[migrations]]\ntag = \"millrace-1\"\nnew_sqlite_classes = [\"MillraceState\"]\n";
    fs::write(folder.path().join("wrangler.toml"), bindings).unwrap();
    let seed = fs::read_to_string(folder.path().join("app/adapters/seed.sql")).unwrap();
    let built = build(folder.path());
    let worker = Worker::dev(&built, &group.env);
    worker.fill("DB", &seed);
    let all = r#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#;
    assert_eq!(text_of(&worker, "orders-open"), all);
    drop(worker);
    // Another isolate finds the result in KV, under the epochs that the object has.
    let worker = Worker::dev(&built, &group.env);
    assert_eq!(text_of(&worker, r#"scripts-behind {"statement": "UPDATE orders SET state = 'behind' WHERE id = 2"}"#), "done");
    assert_eq!(text_of(&worker, "orders-open"), all, "{}", worker.log());
    assert_eq!(text_of(&worker, r#"orders-pay {"id": 1}"#), r#"[{"state":"paid"}]"#);
    assert_eq!(text_of(&worker, "orders-open"), r#"[{"id":3},{"id":4}]"#);
    let log = worker.log();
    drop(worker);
    let worker = Worker::dev(&built, &group.env);
    assert_eq!(text_of(&worker, "orders-open"), r#"[{"id":3},{"id":4}]"#);
    assert!(!(log + &worker.log()).contains("epochs of cached results"), "{}", worker.log());
}
