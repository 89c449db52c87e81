//! What the last release has built, sealed and recorded, with this one. The files in `tests/data`
//! whose names have the version of its bundles were made by its command: the bundles of groups of
//! the corpus, with the database of `idempotency` in a file, and the records of calls, whose times
//! were put off.

use std::{fs, path::PathBuf, rc::Rc};

use millrace_core::{
    Endpoint, Json,
    app::{App, BUNDLE_VERSION, BundleError, EARLIER_BUNDLE_VERSION, MiddlewareAction},
    cancel::Cancel,
    ports::{Clock, LocalFuture},
    protocol::{Body, Request},
};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    Exchange, Group,
    case::{body, root},
    direct::{compile, run_on},
    groups,
    local::Host,
};
use serde_json::json;

/// When the last release has sealed [`SEALED`], in milliseconds since the Unix epoch.
const SEALED_MS: u64 = 1_795_820_815_946;
/// The state of the tool `twice` of the group `rounds`, after its first question.
const SEALED: &str =
    "AQJrMf8QeRoZvu26QBQzv0VlwHEjfqSP0wbJjiPX_xaCD9JyHK4xzEwR1ln0-JXIUdIuH7SQ_hYa9wDQ-GZI3YLRy_c6Jnwd0HjWryIQgIW7ecL_SPkOuatFWDI";
const STATE_KEY: (&str, &str) = ("MILLRACE_STATE_KEY", "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");

fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

fn bundle(group: &str) -> Vec<u8> {
    fs::read(data(&format!("{group}.v{EARLIER_BUNDLE_VERSION}.bundle"))).unwrap()
}

fn group(name: &str) -> Group {
    groups().into_iter().find(|group| group.name == name).unwrap()
}

#[test]
fn bundles_of_the_last_release_give_the_same_answers() {
    for name in ["cache", "features", "idempotency", "rounds", "statements"] {
        let group = group(name);
        let env = Variables::from_iter(group.env.iter().cloned());
        let answers = run_on(&group, |_, folder| {
            let app = App::from_bundle(&bundle(name)).unwrap();
            Endpoint::new(app, ports::native(folder.to_path_buf(), env, &CacheChoice::Memory, &Tasks::new()))
        });
        for (case, answers) in group.answered(answers) {
            case.check("the last bundle", &answers).unwrap();
        }
    }
}

#[test]
fn an_app_without_anything_new_is_a_bundle_of_the_last_version() {
    for name in ["cache", "features", "rounds", "statements"] {
        assert!(compile(&group(name).app).to_bundle().unwrap() == bundle(name), "{name}: the encoding changed");
    }
}

#[test]
fn other_versions_are_refused_with_the_remedy() {
    let golden = bundle("cache");
    for version in [0, EARLIER_BUNDLE_VERSION - 1, BUNDLE_VERSION + 1, u16::MAX] {
        let mut bytes = golden.clone();
        bytes[8..10].copy_from_slice(&version.to_le_bytes());
        let error = App::from_bundle(&bytes).unwrap_err();
        assert_eq!(error, BundleError::Version(version));
        let expected = format!(
            "the bundle has version {version}, this runtime reads versions {EARLIER_BUNDLE_VERSION} and {BUNDLE_VERSION}; build the app again with the `millrace` of this runtime"
        );
        assert_eq!(error.to_string(), expected);
    }
    // What follows an app is of the current version alone, and there it must be.
    let mut longer = golden.clone();
    longer.push(0);
    assert_eq!(App::from_bundle(&longer), Err(BundleError::Damaged));
    let mut current = golden;
    current[8..10].copy_from_slice(&BUNDLE_VERSION.to_le_bytes());
    assert_eq!(App::from_bundle(&current), Err(BundleError::Damaged));
}

#[test]
fn what_is_added_comes_back_and_leads_somewhere() {
    let app = compile(&group("audit").app);
    let bytes = app.to_bundle().unwrap();
    assert_eq!(bytes[8..10], BUNDLE_VERSION.to_le_bytes());
    assert_eq!(App::from_bundle(&bytes).unwrap(), app);
    // Of an app without the entry.
    let mut other = app.clone();
    other.tools.iter_mut().for_each(|tool| tool.middleware.clear());
    let (whole, bare) = (app.to_bundle().unwrap(), other.to_bundle().unwrap());
    let mut without: App = app.clone();
    for entry in without.tools.iter_mut().flat_map(|tool| &mut tool.middleware) {
        if let MiddlewareAction::Audit(audit) = &mut entry.action {
            (audit.required, audit.tenant) = (false, None);
            if let Some(table) = &mut audit.table {
                (table.has_all_columns, table.in_transaction) = (false, false);
            }
        }
    }
    let added = &whole[without.to_bundle().unwrap().len()..];
    let mut spoilt = bare;
    spoilt[8..10].copy_from_slice(&BUNDLE_VERSION.to_le_bytes());
    spoilt.extend(added);
    assert_eq!(App::from_bundle(&spoilt), Err(BundleError::Inconsistent("what is added to an `audit` has no place")));
}

/// A clock that stands still.
struct At(u64);

impl Clock for At {
    fn now_ms(&self) -> u64 {
        self.0
    }

    fn sleep(&self, _ms: u64) -> LocalFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// What the tool `twice` answers to the first question's answer, at a time.
fn second_round(now_ms: u64) -> Json {
    let arguments = json!({
        "name": "twice", "arguments": {}, "requestState": SEALED,
        "inputResponses": { "first": { "action": "accept", "content": { "answer": "one" } } },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {}, "sampling": {}, "roots": {} },
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        },
    });
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "twice"),
    ];
    let request = Request {
        method: "POST".into(),
        path: "/mcp".into(),
        query: String::new(),
        headers: headers.into_iter().collect(),
        body: Body::Whole(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments }).to_string().into()),
        deadline_ms: None,
        cancel: Cancel::new(),
        peer: None,
        platform_caller: None,
        checks_host: false,
        is_tls: false,
        is_local: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let folder = group("rounds").install();
        let env = Variables::from_iter([(STATE_KEY.0.to_owned(), STATE_KEY.1.to_owned())]);
        let mut ports = ports::native(folder.path().to_path_buf(), env, &CacheChoice::Memory, &Tasks::new());
        ports.clock = Rc::new(At(now_ms));
        let endpoint = Endpoint::new(compile(folder.path()), ports);
        serde_json::from_slice(&endpoint.handle(request).await.body.collect().await).unwrap()
    })
}

#[test]
fn a_state_that_the_last_release_has_sealed_is_opened() {
    let answer = second_round(SEALED_MS + 60_000);
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert!(answer["result"]["inputRequests"]["second"].is_object(), "{answer}");
    // And not for longer than it said.
    assert_eq!(second_round(SEALED_MS + 3_700_000)["error"]["code"], -32602);
}

#[test]
fn calls_that_the_last_release_has_recorded_are_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join(".millrace/state");
    fs::create_dir_all(&state).unwrap();
    for (database, sql) in [(folder.path().join("bookings.db"), "bookings.sql"), (state.join("state.db"), "state.sql")] {
        let text = fs::read_to_string(data("upgrade").join(sql)).unwrap();
        rusqlite::Connection::open(database).unwrap().execute_batch(&text).unwrap();
    }
    let served = folder.path().join("app.bundle");
    fs::write(&served, bundle("idempotency")).unwrap();
    let host = Host::serve(&served, &[], &group("idempotency").env);
    let call = |tool: &str, order: &str| {
        let request = Exchange::call(tool, &json!({ "order_id": order, "amount": 7 })).with("x-api-key", "the-clerks-own-key");
        body(&host.send(&request))["result"].clone()
    };
    let table = [
        ("book", "g1", r#"[{"order_id":"g1","amount":7}]"#),
        ("script-books", "g2", r#"{"booked":7,"n":1,"exact":1.5,"none":null}"#),
        ("script-fails-after", "g3", "<tool_error code=\"SCRIPT_ERROR\""),
        ("script-builds", "g4", r#"{"booked":7}"#),
    ];
    for (tool, order, expected) in table {
        let result = call(tool, order);
        assert_eq!(result["_meta"]["millrace/replayed"], true, "{tool}: {result}");
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with(expected), "{tool}: {result}");
    }
    // Another order is another call.
    assert_eq!(call("book", "g5")["_meta"]["millrace/replayed"], Json::Null);
    drop(host);
    let database = rusqlite::Connection::open(folder.path().join("bookings.db")).unwrap();
    let count: i64 = database.query_row("SELECT count(*) FROM bookings", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 5);
}
