//! What the last release has built, sealed, recorded and given away, with this one. The files in
//! `tests/data` whose names have the version of its bundles, and those in `tests/data/upgrade`,
//! were made by its command: `tests/upgrade/make.py COMMAND` says which they are, and makes them.
//! Those of cursors and of the lock were made by a command after it: they hold releases from then
//! on to each other.

use std::{fs, path::PathBuf, process::Command, rc::Rc};

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
    case::{body, copy, root},
    direct::{compile, run_on},
    groups,
    local::{Host, binary},
    process::tool,
};
use serde_json::json;

const STATE_KEY: (&str, &str) = ("MILLRACE_STATE_KEY", "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");

fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

/// A file of JSON that the last release has filled.
fn kept(name: &str) -> Json {
    serde_json::from_slice(&fs::read(data("upgrade").join(name)).unwrap()).unwrap()
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

/// What the tool `twice` answers to the first question's answer, with the state that it had sealed
/// by then, at a time.
fn second_round(state: &str, now_ms: u64) -> Json {
    let arguments = json!({
        "name": "twice", "arguments": {}, "requestState": state,
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
    let sealed = kept("sealed.json");
    let (state, at_ms) = (sealed["state"].as_str().unwrap(), sealed["at_ms"].as_u64().unwrap());
    let answer = second_round(state, at_ms + 60_000);
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert!(answer["result"]["inputRequests"]["second"].is_object(), "{answer}");
    // And not for longer than it said.
    assert_eq!(second_round(state, at_ms + 3_700_000)["error"]["code"], -32602);
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

/// The result of a request by a client of an earlier revision.
fn result(host: &Host, method: &str, params: &Json) -> Json {
    let headers = [("content-type", "application/json"), ("accept", "application/json"), ("mcp-protocol-version", "2025-06-18")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    body(&host.send(&Exchange { method: "POST".into(), path: "/mcp".into(), headers, body: message.to_string() }))["result"].clone()
}

#[test]
fn cursors_that_the_last_release_has_given_lead_on() {
    let cursors = kept("cursors.json");
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(tool("venv/bin/python")).arg(root().join("tests/upgrade/pages.py")).arg(folder.path()).status().unwrap();
    assert!(made.success());
    let host = Host::dev(folder.path(), &[]);
    // An entry that is the thousand and first of its list.
    let lists = [
        ("tools/list", "/tools/0/name", "n1000"),
        ("prompts/list", "/prompts/0/name", "n1000"),
        ("resources/list", "/resources/0/uri", "pages://n1000"),
        ("resources/templates/list", "/resourceTemplates/0/uriTemplate", "pages://n1000/{id}"),
    ];
    for (method, first, expected) in lists {
        let page = result(&host, method, &json!({ "cursor": cursors[method] }));
        assert_eq!(page.pointer(first), Some(&expected.into()), "{method}: {page}");
        assert_eq!(page["nextCursor"], Json::Null, "{method}: {page}");
        // The cursor of one list is none of another.
        let other = if method == "tools/list" { "prompts/list" } else { "tools/list" };
        assert_eq!(result(&host, other, &json!({ "cursor": cursors[method] })), Json::Null, "{method}");
    }
    // Those of results are inputs of their tool.
    let folder = group("presenters").install();
    let host = Host::dev(folder.path(), &[]);
    let rows: Vec<Json> = (1..=5).map(|id| json!({ "id": id, "name": format!("n{id}") })).collect();
    for tool in ["paged", "passed"] {
        let call = |arguments: &Json| result(&host, "tools/call", &json!({ "name": tool, "arguments": arguments }));
        let mut arguments = json!({ "value": rows });
        let given = call(&arguments);
        assert_eq!(given["_meta"]["millrace/cursor"], cursors[tool], "{tool}: {given}");
        arguments.as_object_mut().unwrap().extend(cursors[tool].as_object().unwrap().clone());
        let next = call(&arguments);
        assert_eq!(next["isError"], false, "{tool}: {next}");
    }
}

#[test]
fn the_lock_of_the_last_release_holds() {
    let folder = tempfile::tempdir().unwrap();
    copy(&data("upgrade/locked"), folder.path());
    let lock = fs::read_to_string(folder.path().join("millrace.lock")).unwrap();
    let check = |arguments: &[&str]| {
        let output = Command::new(binary()).arg("check").arg(folder.path()).args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (is_good, said) = check(&["--connect"]);
    assert!(is_good && said.contains("0 errors, 0 warnings"), "{said}");
    let schemas = || {
        let host = Host::dev(folder.path(), &[]);
        let listed = result(&host, "tools/list", &json!({}));
        ["found", "listed"]
            .map(|name| listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone())
    };
    let locked = schemas();
    let columns = |schema: &Json| schema.to_string().matches("\"type\"").count();
    assert!(locked.iter().all(|schema| columns(schema) > 2), "{locked:?}");
    // Written anew by this release, the file says the same.
    let (is_good, said) = check(&["--connect", "--lock"]);
    assert!(is_good && fs::read_to_string(folder.path().join("millrace.lock")).unwrap() == lock, "{said}");
    assert_eq!(schemas(), locked);
    // It is the lock of these statements, and of no others.
    let config = folder.path().join("app/tools/listed/config.yaml");
    fs::write(&config, fs::read_to_string(&config).unwrap().replace("size, ", "")).unwrap();
    let (_, said) = check(&["--connect"]);
    assert!(said.contains("the statement of the tool `listed` has changed since `millrace.lock` was written"), "{said}");
    // A release after this one writes another version: it is refused, with the remedy.
    fs::write(folder.path().join("millrace.lock"), lock.replace("\"version\": 1", "\"version\": 3")).unwrap();
    let (is_good, said) = check(&[]);
    assert!(!is_good && said.contains("its version is 3, and this is Millrace for versions 1 and 2"), "{said}");
}
