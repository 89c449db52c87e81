//! `dev` and `serve`: a real process, real sockets.

use std::{
    io::{Read as _, Write as _},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{GET_ITEM, ServerProcess, answer, app, binary, call, post, run};

const ITEM: &str = "[{\"id\":1,\"name\":\"O'Neil\"}]";

/// 20 writes a second.
const WRITE_PAUSE: Duration = Duration::from_millis(50);

fn get(served: &ServerProcess, path: &str, fields: &str) -> String {
    let mut socket = served.connect();
    write!(socket, "GET {path} HTTP/1.1\r\n{fields}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn dev_says_everything_and_its_line_works_as_printed() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev"]);
    let said = &served.said;
    assert!(said.contains("  get-item  Get one item.\n"), "{said}");
    let database = app.path().canonicalize().unwrap().join("main.db");
    assert!(database.exists());
    assert!(said.contains("main.db (created)"), "{said}");
    // What a shell makes of the line, without curl itself.
    let line = said.lines().find(|line| line.starts_with("  curl ")).unwrap();
    let output =
        Command::new("sh").args(["-c", &format!("curl() {{ for word; do printf '%s\\n' \"$word\"; done; }}\n{line}")]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words[..2], ["-s", &format!("http://{}/mcp", served.address)]);
    let (status, body) = post(&mut served.connect(), words.last().unwrap());
    assert_eq!(status, 200);
    assert!(body.contains("O'Neil"), "{body}");
    drop(served);
    let again = ServerProcess::start(app.path(), &["dev"]);
    assert!(again.said.contains("main.db\n"), "{}", again.said);
}

#[test]
fn dev_shows_a_page_and_serve_does_not() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev"]);
    let mut socket = served.connect();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let (status, page) = answer(&mut socket);
    assert_eq!(status, 200);
    assert!(page.contains("<body data-path=\"/mcp\" data-calls=\"/\" data-view=\"list\">"), "{page}");
    run(app.path(), &["build", "--target", "local"]);
    let served = ServerProcess::start(app.path(), &["serve", "dist/small.bundle"]);
    let mut socket = served.connect();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    assert_eq!(answer(&mut socket).0, 404);
    // The bundle carries the seed: the database is made where the bundle is.
    assert_eq!(served.call("get-item", &json!({ "id": 1 })), ITEM);
    assert!(app.path().join("dist/main.db").exists());
}

#[test]
fn databases_of_a_bundle_may_be_elsewhere() {
    let app = app();
    run(app.path(), &["build", "--target", "local"]);
    let said = run(app.path(), &["serve", "dist/small.bundle", "--port", "0", "--data", "data"]);
    assert!(said.code == Some(1) && said.err.contains("`data` is not a folder"), "{}", said.err);
    std::fs::create_dir(app.path().join("data")).unwrap();
    let mut command = binary();
    let served =
        ServerProcess::of(command.current_dir(app.path()).args(["serve", "dist/small.bundle", "--port", "0"]).env("MILLRACE_DATA", "data"));
    assert_eq!(served.call("get-item", &json!({ "id": 1 })), ITEM);
    assert!(app.path().join("data/main.db").exists() && !app.path().join("dist/main.db").exists());
}

#[test]
fn only_the_page_of_dev_says_what_a_call_goes_through() {
    let app = app();
    let local = "Host: 127.0.0.1";
    for threads in [&[][..], &["--threads"]] {
        let served = ServerProcess::start(app.path(), &[&["dev"], threads].concat());
        let state = get(&served, "/page.json", local);
        for expected in [
            "HTTP/1.1 200",
            "\"stage\":\"execute\"",
            "SELECT id, name FROM item",
            "\"setting\":\"limits.timeout\"",
            "cache-control: no-store",
            app.path().to_str().unwrap(),
        ] {
            assert!(state.contains(expected), "{expected}: {state}");
        }
        let version = state.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        assert!(get(&served, "/page.json", &format!("{local}\r\nIf-None-Match: {version}")).starts_with("HTTP/1.1 304"));
        // Whichever isolate is asked knows the calls of all. Names and times, and no values.
        for id in 0..30 {
            served.call("get-item", &json!({ "id": 1, "note": format!("a private note {id}") }));
        }
        let calls = get(&served, "/page-elsewhere.json", local);
        assert_eq!(calls.matches("\"tool\":\"get-item\"").count(), 20, "{calls}");
        assert!(calls.contains("\"name\":\"execute\"") && !calls.contains("private") && !calls.contains("O'Neil"), "{calls}");
        for fields in ["Host: evil.example", "Host: 127.0.0.1\r\nOrigin: https://evil.example"] {
            for path in ["/page.json", "/page-elsewhere.json"] {
                let refused = get(&served, path, fields);
                assert!(refused.starts_with("HTTP/1.1 403") && !refused.contains("SELECT") && !refused.contains("get-item"), "{refused}");
            }
        }
    }
    assert_eq!(run(app.path(), &["build", "--target", "local"]).code, Some(0));
    let bundle = "dist/small.bundle";
    let public = [&["dev", "--allow-host", "mcp.example.com"][..], &["dev", "--host", "0.0.0.0"], &["serve", bundle, "--page"]];
    for arguments in public {
        let served = ServerProcess::start(app.path(), arguments);
        assert!(get(&served, "/", local).contains("data-calls=\"/mcp\""), "{arguments:?}");
        let state = get(&served, "/page.json", local);
        assert!(
            state.contains("{\"tools\":[],\"clients\":") && !state.contains("stage") && !state.contains("SELECT"),
            "{arguments:?}: {state}"
        );
        // Where the app is, and what starts it, is for a person at this machine.
        let folder = app.path().to_str().unwrap();
        assert!(!state.contains(folder) && !state.contains("\"run\\\""), "{arguments:?}: {state}");
        assert!(get(&served, "/page-elsewhere.json", local).starts_with("HTTP/1.1 404"), "{arguments:?}");
    }
    let served = ServerProcess::start(app.path(), &["serve", bundle]);
    for path in ["/", "/page.json"] {
        assert!(get(&served, path, local).starts_with("HTTP/1.1 404"), "{path}");
    }
}

#[test]
fn the_page_is_for_the_same_hosts_and_origins_as_the_endpoint() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev"]);
    let get = |fields: &str| {
        let mut socket = served.connect();
        write!(socket, "GET / HTTP/1.1\r\n{fields}\r\n\r\n").unwrap();
        answer(&mut socket)
    };
    let own = format!("Host: {0}\r\nOrigin: http://{0}", served.address);
    for fields in ["Host: localhost", "Host: [::1]:80", &own] {
        assert_eq!(get(fields).0, 200, "{fields}");
    }
    let twice = "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://localhost";
    for fields in ["Host: evil.example", "Host: localhost.evil.example", "Host: localhost\r\nOrigin: https://evil.example", twice] {
        let (status, body) = get(fields);
        assert!(status == 403 && body.contains("Forbidden") && !body.contains("<body"), "{fields}: {status} {body}");
    }
}

#[test]
fn one_connection_carries_calls_and_a_long_body_ends_it() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "1"]);
    let mut socket = served.connect();
    for _ in 0..10 {
        assert_eq!(call(&mut socket, "get-item", &json!({ "id": 1 })), ITEM);
    }
    let (status, body) = post(&mut socket, &" ".repeat(1025));
    assert_eq!(status, 413, "{body}");
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    let (status, _) = post(&mut served.connect(), &" ".repeat(1024));
    assert_eq!(status, 400);
    assert_eq!(served.call("get-item", &json!({ "id": 1 })), ITEM);
}

#[test]
fn a_thousand_clients_at_once_are_answered() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "1"]);
    let mut sockets: Vec<_> = (0..1000).map(|_| served.connect()).collect();
    for socket in &mut sockets {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-item","arguments":{"id":1}}}"#;
        write!(
            socket,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
    }
    for socket in &mut sockets {
        let (status, body) = answer(socket);
        assert!(status == 200 && body.contains("O'Neil"), "{status} {body}");
    }
}

#[test]
fn a_broken_edit_is_shown_and_the_last_good_app_goes_on() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev"]);
    let path = "app/tools/get-item/config.yaml";
    app.write(path, &GET_ITEM.replace("SELECT id, name", "SELECT id, 'new' AS name"));
    served.wait_for("reloaded: 1 tool");
    assert_eq!(served.call("get-item", &json!({ "id": 1 })), "[{\"id\":1,\"name\":\"new\"}]");
    app.exchange(path, &format!("{GET_ITEM}nonsense: 1\n"));
    let said = served.wait_for("still serving the last good version");
    assert!(said.contains("`nonsense`") && said.contains("config.yaml:7:1"), "{said}");
    let shown = || get(&served, "/page-elsewhere.json", "Host: 127.0.0.1");
    assert!(shown().contains("`nonsense` is not a key of a tool") && shown().contains("config.yaml:7:1"), "{}", shown());
    assert_eq!(served.call("get-item", &json!({ "id": 1 })), "[{\"id\":1,\"name\":\"new\"}]");
    app.exchange(path, GET_ITEM);
    served.wait_for("reloaded: 1 tool");
    assert!(shown().contains("\"problems\":\"\""), "{}", shown());
    assert_eq!(served.call("get-item", &json!({ "id": 1 })), ITEM);
    // A new tool in a new folder.
    app.write("app/tools/deep/er/config.yaml", "use: main\nstatement: SELECT 7 AS seven\n");
    served.wait_for("reloaded: 2 tools");
    assert_eq!(served.call("deep-er", &json!({})), "[{\"seven\":7}]");
    // A variable.
    app.write("app/tools/deep/er/config.yaml", "use: main\nstatement: SELECT {{ env.SOME_NUMBER }} AS seven\n");
    served.wait_for("reloaded: 2 tools");
    app.write(".env", "SOME_NUMBER=8\n");
    served.wait_for("reloaded: 2 tools");
    assert_eq!(served.call("deep-er", &json!({})), "[{\"seven\":\"8\"}]");
    // The app's folder itself was broken, and is mended.
    app.write("millrace.yaml", "name: [\n");
    served.wait_for("still serving the last good version");
    app.write("millrace.yaml", "name: small\nversion: 1.2.3\nserver: { port: 1, body_limit: 1kb }\n");
    served.wait_for("fixed: ");
    // What changed while the app was broken is served with what mends it.
    app.write("millrace.yaml", "name: [\n");
    served.wait_for("still serving the last good version");
    app.write(".env", "SOME_NUMBER=9\n");
    app.write("millrace.yaml", "name: small\nversion: 1.2.3\nserver: { port: 1, body_limit: 1kb }\n");
    served.wait_for("reloaded: 2 tools");
    assert_eq!(served.call("deep-er", &json!({})), "[{\"seven\":\"9\"}]");
}

/// The writes go on until the edit is served: in between there is no pause to wait for.
#[test]
fn an_edit_is_served_while_the_apps_own_database_is_written() {
    let app = app();
    // The second name is one that no ending tells.
    app.write("app/adapters/other.yaml", "connector: sqlite\nconnection_string: other.data\noptions: { seed: ./main.sql }\n");
    for adapter in ["main", "other"] {
        let statement = "INSERT INTO item (name) VALUES ({{ inputs.name }})\ninputs:\n  name: { type: string }\n";
        app.write(&format!("app/tools/add-{adapter}/config.yaml"), &format!("description: Add.\nuse: {adapter}\nstatement: {statement}"));
    }
    let served = ServerProcess::start(app.path(), &["dev"]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut kept, mut calls) = (served.connect(), 0);
            while !done.load(Ordering::Relaxed) {
                for tool in ["add-main", "add-other"] {
                    assert!(call(&mut kept, tool, &json!({ "name": "more" })).contains("affected_rows"));
                }
                calls += 1;
                thread::sleep(WRITE_PAUSE);
            }
            calls
        });
        let end = End(&done);
        for text in ["one", "two", "three"] {
            app.write("app/tools/get-item/config.yaml", &GET_ITEM.replace("SELECT id, name", &format!("SELECT id, '{text}' AS name")));
            served.wait_for("reloaded: 3 tools");
            assert_eq!(served.call("get-item", &json!({ "id": 1 })), format!("[{{\"id\":1,\"name\":\"{text}\"}}]"));
        }
        drop(end);
        assert!(writer.join().unwrap() > 0);
    });
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn reloads_lose_no_call() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let (mut kept, mut calls) = (served.connect(), 0);
                    while !done.load(Ordering::Relaxed) {
                        assert_eq!(call(&mut kept, "get-item", &json!({ "id": 1 })), ITEM);
                        assert_eq!(served.call("get-item", &json!({ "id": 1 })), ITEM);
                        calls += 2;
                    }
                    calls
                })
            })
            .collect();
        // Also where a reload is never said: the callers must end for the test to fail.
        let end = End(&done);
        for number in 0..5 {
            app.write("app/tools/get-item/config.yaml", &GET_ITEM.replace("Get one", &format!("Get {number} of one")));
            served.wait_for("reloaded");
        }
        drop(end);
        assert!(callers.into_iter().map(|caller| caller.join().unwrap()).sum::<u32>() > 0);
    });
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_process_well() {
    let app = app();
    let mut served = ServerProcess::start(app.path(), &["dev"]);
    let mut idle = served.connect();
    assert_eq!(call(&mut idle, "get-item", &json!({ "id": 1 })), ITEM);
    assert_eq!(served.terminate(), Some(0));
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
}

#[test]
fn the_port_comes_from_the_environment_or_is_in_use() {
    let app = app();
    let served = ServerProcess::of(binary().current_dir(app.path()).arg("dev").env("PORT", "0"));
    assert_ne!(served.address.port(), 0);
    let port = served.address.port().to_string();
    let said = run(app.path(), &["dev", "--port", &port]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains(&format!("port {port} is in use")) && said.err.contains("--port"), "{}", said.err);
}

#[test]
fn every_finished_call_is_a_line_for_people_or_for_machines() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev"]);
    served.call("get-item", &json!({ "id": 1 }));
    let said = served.wait_for("call finished");
    let line = said.lines().last().unwrap();
    for part in ["INFO millrace::call: call finished tool=\"get-item\" outcome=\"ok\" ms=", " request_id=\""] {
        assert!(line.contains(part), "{line}");
    }
    drop(served);
    app.write(".env", "MILLRACE_LOG_FORMAT=json\n");
    let served = ServerProcess::start(app.path(), &["dev"]);
    served.call("get-item", &json!({ "id": "x" }));
    let said = served.wait_for("call finished");
    let line: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let expected = json!({
        "level": "INFO", "target": "millrace::call", "message": "call finished", "tool": "get-item", "outcome": "error",
        "code": "VALIDATION_ERROR", "stage": "validate",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&line[name], value, "{line}");
    }
    assert!(line["ms"].is_u64() && line["request_id"].as_str().unwrap().len() == 32 && line["time"].is_string(), "{line}");
    drop(served);
    app.write(".env", "MILLRACE_LOG_FORMAT=xml\n");
    let said = run(app.path(), &["dev", "--port", "0"]);
    assert!(said.code != Some(0) && said.err.contains("`MILLRACE_LOG_FORMAT` may be `text` or `json`"), "{}", said.err);
}

#[test]
fn every_line_of_a_server_whose_log_is_json_is_json() {
    let app = app();
    run(app.path(), &["build", "--target", "local"]);
    let bundle = app.path().join("dist/small.bundle");
    let mut command = binary();
    command.args(["serve", bundle.to_str().unwrap(), "--port", "0"]).env("MILLRACE_LOG_FORMAT", "json");
    let mut served = ServerProcess::of(&mut command);
    served.call("get-item", &json!({ "id": 1 }));
    assert_eq!(served.terminate(), Some(0));
    let errors = served.wait_for("shutting down");
    let lines: Vec<&str> = served.said.lines().chain(errors.lines()).collect();
    assert!(lines.len() >= 3, "{lines:?}");
    for line in lines {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["level"] == "INFO" && line["time"].is_string() && line["target"].is_string() && line["message"].is_string(), "{line}");
    }
    let first: Value = serde_json::from_str(&served.said).unwrap();
    assert_eq!(first["message"], format!("`small` with 1 tool at http://{}/mcp", served.address));
    // What it ends with is the last line.
    let output = binary().args(["serve", "missing.bundle"]).env("MILLRACE_LOG_FORMAT", "json").output().unwrap();
    let last: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(last["level"] == "ERROR" && last["message"].as_str().unwrap().starts_with("`missing.bundle` cannot be read: "), "{last}");
}

#[test]
fn a_folder_is_no_bundle() {
    let app = app();
    let said = run(app.path(), &["serve", "."]);
    let expected = "error: `.` is a folder, and `serve` takes a bundle: make one with `millrace build . --target local`, or serve the app in the folder \
                    with `millrace dev .`\n";
    assert_eq!((said.code, said.err.as_str()), (Some(1), expected));
}

#[test]
fn the_address_of_a_server_is_enough_to_ask_whether_it_is_well() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev"]);
    for path in ["", "/", "/livez", "/readyz"] {
        let said = run(app.path(), &["health", &format!("http://{}{path}", served.address)]);
        assert_eq!(said.code, Some(0), "{path}: {}{}", said.out, said.err);
    }
    assert_eq!(run(app.path(), &["health", &format!("http://{}/mcp", served.address)]).code, Some(1));
}

#[test]
fn a_tool_that_reads_can_be_asked_for_readiness() {
    let app = app();
    app.write("app/tools/list-items/config.yaml", "description: Lists.\nuse: main\nstatement: SELECT id FROM item\n");
    app.write("app/tools/list-more/config.yaml", "description: Lists more.\nuse: main\nstatement: SELECT id FROM more\n");
    app.write(
        "app/tools/list-own/config.yaml",
        "description: Lists.\nuse: main\nauth: { plugin: api_key, policy: { value: a-key-of-the-operator } }\nstatement: SELECT id FROM item\n",
    );
    app.write("app/tools/add-item/config.yaml", "description: Adds.\nuse: main\nstatement: INSERT INTO item (name) VALUES ('x')\n");
    app.write("app/tools/script/config.yaml", "description: Says.\n");
    app.write("app/tools/script/handler.ts", "export default () => 'x';\n");
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "1"]);
    let ready = |name: &str, host: &str| get(&served, &format!("/readyz?tool={name}"), host);
    for (name, status, told) in [
        ("list-items", 200, r#""tool":{"name":"list-items","status":"ok"}"#),
        ("list-more", 503, r#""tool":{"name":"list-more","status":"error","code":"QUERY_INVALID"}"#),
        ("get-item", 503, r#""code":"VALIDATION_ERROR""#),
        ("list-own", 503, r#""code":"NOT_PROBED""#),
        ("add-item", 503, r#""code":"NOT_PROBED""#),
        ("script", 503, r#""code":"NOT_PROBED""#),
        ("not-there", 503, r#""code":"NOT_PROBED""#),
    ] {
        let said = ready(name, "Host: 127.0.0.1");
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")) && said.contains(told), "{name}: {said}");
        // Others than those of this machine learn whether it is ready, and no more.
        let others = ready(name, "Host: 127.0.0.1\r\nX-Forwarded-For: 192.0.2.1");
        assert!(others.starts_with(&format!("HTTP/1.1 {status} ")) && !others.contains("tool"), "{name}: {others}");
    }
    // It is a call as any other, and one in a second.
    for _ in 0..20 {
        assert!(ready("list-items", "Host: 127.0.0.1").starts_with("HTTP/1.1 200 "));
    }
    served.call("get-item", &json!({ "id": 1 }));
    let said = served.wait_for("tool=\"get-item\" outcome=\"ok\"");
    assert!((1..20).contains(&said.matches("call finished tool=\"list-items\" outcome=\"ok\"").count()), "{said}");
    assert_eq!(said.matches("add-item").count(), 0, "{said}");
    assert_eq!(run(app.path(), &["health", &format!("http://{}/readyz?tool=list-items", served.address)]).code, Some(0));
    assert_eq!(run(app.path(), &["health", &format!("http://{}/readyz?tool=list-more", served.address)]).code, Some(1));
}

#[test]
fn readiness_knows_the_store_of_counters_and_records() {
    let app = app();
    let local = "Host: 127.0.0.1";
    let ready = |state: &str| {
        let served = ServerProcess::of(binary().current_dir(app.path()).args(["dev", "--port", "0"]).env("MILLRACE_STATE", state));
        get(&served, "/readyz", local)
    };
    assert!(!ready("main.db").contains("state"), "an app without such tools has no store");
    let config = format!("{GET_ITEM}limits: {{ rate: {{ window: 1m, max: 100 }} }}\n");
    app.write("app/tools/get-item/config.yaml", &config);
    let well = ready("state");
    assert!(well.starts_with("HTTP/1.1 200 ") && well.contains(r#""state":{"status":"ok"}"#), "{well}");
    // A file is no folder: each isolate limits by its own count.
    let without = ready("main.db");
    assert!(without.starts_with("HTTP/1.1 200 ") && without.contains(r#""state":{"status":"error","kind":""#), "{without}");
    app.write(
        "app/tools/once/config.yaml",
        "description: Once.\nkind: mutation\nidempotency: { key: \"{{ inputs.key }}\" }\ninputs: { key: { type: string } }\n",
    );
    app.write("app/tools/once/handler.ts", "export default () => 'done';\n");
    assert!(ready("state").starts_with("HTTP/1.1 200 "));
    // Such handlers are refused.
    let without = ready("main.db");
    assert!(without.starts_with("HTTP/1.1 503 ") && without.contains(r#""state":{"status":"error","kind":""#), "{without}");
}

#[test]
fn nothing_is_served_where_everything_must_have_a_value_and_something_has_none() {
    let app = app();
    app.write("millrace.yaml", "name: small\nsecrets: [TOKEN]\n");
    app.write("app/adapters/other.yaml", "connector: sqlite\nconnection_string: \"{{ env.OTHER_DB }}\"\n");
    app.write("app/adapters/third.yaml", "connector: postgres\nconnection_string: \"postgres://u:{{ secret.TOKEN }}@localhost/x\"\n");
    run(app.path(), &["build", "--target", "local"]);
    let (other, token) = ("the variable `OTHER_DB` is not set: the adapter `other` cannot connect", "`TOKEN`");
    for command in [&["serve", "dist/small.bundle", "--port", "0"][..], &["run", "."]] {
        let start = |variables: &[(&str, &str)]| {
            let output =
                binary().current_dir(app.path()).args(command).arg("--require-env").envs(variables.iter().copied()).output().unwrap();
            // `run` also warns of what `check` warns of.
            (output.status.code(), String::from_utf8(output.stderr).unwrap().lines().last().unwrap_or_default().to_owned())
        };
        let (code, said) = start(&[]);
        assert_eq!(code, Some(78), "{said}");
        assert!(
            said.starts_with("error: nothing is served, because of `--require-env`: ") && said.contains(other) && said.contains(token),
            "{said}"
        );
        let (code, said) = start(&[("OTHER_DB", "other.db")]);
        assert!(code == Some(78) && !said.contains(other) && said.contains(token), "{said}");
    }
    let complete = [("OTHER_DB", "other.db"), ("TOKEN", "x")];
    let mut command = binary();
    command.current_dir(app.path()).args(["serve", "dist/small.bundle", "--port", "0", "--require-env"]).envs(complete);
    assert_eq!(ServerProcess::of(&mut command).call("get-item", &json!({ "id": 1 })), ITEM);
    // What `run` serves is complete, and its client is gone.
    let output = binary().current_dir(app.path()).args(["run", ".", "--require-env"]).envs(complete).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_public_name_is_let_in_where_it_is_listed() {
    let app = app();
    let ask = |served: &ServerProcess, host: &str| {
        let mut socket = served.connect();
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        write!(
            socket,
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        answer(&mut socket)
    };
    let plain = ServerProcess::start(app.path(), &["dev"]);
    let (status, text) = ask(&plain, "mcp.example.com");
    assert_eq!(status, 403);
    assert!(text.contains("`server.hosts` or `--allow-host`"), "{text}");
    let allowed = ServerProcess::start(app.path(), &["dev", "--allow-host", "MCP.example.com"]);
    assert_eq!(ask(&allowed, "mcp.example.com").0, 200);
    assert_eq!(ask(&allowed, "other.example.com").0, 403);
    app.write("millrace.yaml", "name: small\nserver: { hosts: [mcp.example.com] }\n");
    let listed = ServerProcess::start(app.path(), &["dev"]);
    assert_eq!(ask(&listed, "mcp.example.com").0, 200);
    app.write("millrace.yaml", "name: small\n");
    let open = ServerProcess::start(app.path(), &["dev", "--host", "0.0.0.0", "--isolates", "1"]);
    open.wait_for("warning: any `Host` is let in");
}

#[test]
fn a_changed_seed_is_said_to_need_a_new_database() {
    let app = app();
    let start = || ServerProcess::start(app.path(), &["dev"]);
    drop(start());
    let served = start();
    let seed = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);\nINSERT INTO item VALUES (1, 'changed');\n";
    app.exchange("app/adapters/main.sql", seed);
    served.wait_for("warning: `app/adapters/main.sql` has changed since it created the database of `main`");
    drop(served);
    let said = start().wait_for("warning: `app/adapters/main.sql` has changed");
    let file = app.path().join("main.db");
    assert!(said.contains(&format!("move `{}` away", file.display())), "{said}");
    // Nothing was changed but what its owner changes.
    assert!(run(app.path(), &["call", "get-item", "id=1"]).out.contains("O'Neil"));
    std::fs::remove_file(&file).unwrap();
    let served = start();
    assert!(run(app.path(), &["call", "get-item", "id=1"]).out.contains("changed"));
    app.exchange("app/tools/get-item/config.yaml", &format!("{GET_ITEM}tags: [x]\n"));
    let said = served.wait_for("reloaded");
    assert!(!said.contains("has changed since"), "{said}");
    // A database of another origin is nobody's business.
    drop(served);
    std::fs::remove_file(&file).unwrap();
    app.exchange("app/adapters/main.sql", &format!("PRAGMA application_id = 7;\n{seed}"));
    drop(start());
    app.exchange("app/adapters/main.sql", seed);
    let served = start();
    app.exchange("app/tools/get-item/config.yaml", GET_ITEM);
    let said = served.wait_for("reloaded");
    assert!(!said.contains("has changed since"), "{said}");
}

/// The whole response to a call of the tool `throws`, head and body.
fn thrown(served: &ServerProcess, path: &str, fields: &str) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "throws", "arguments": {} } }).to_string();
    let mut socket = served.connect();
    write!(
        socket,
        "POST {path} HTTP/1.1\r\n{fields}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn only_the_page_of_dev_gets_the_words_for_the_operator() {
    let app = app();
    app.write("app/tools/throws/config.yaml", "description: Throws.\nhandler: ./handler.ts\n");
    app.write("app/tools/throws/handler.ts", "export default () => {\n  throw new Error(\"boom\");\n};\n");
    let local = "Host: 127.0.0.1";
    for threads in [&[][..], &["--threads"]] {
        let served = ServerProcess::start(app.path(), &[&["dev"], threads].concat());
        let own = thrown(&served, "/", local);
        assert!(own.contains("x-millrace-details: ") && own.contains("SCRIPT_ERROR"), "{own}");
        let answers = [
            thrown(&served, "/mcp", local),
            thrown(&served, "/", "Host: evil.example"),
            thrown(&served, "/", "Host: 127.0.0.1\r\nOrigin: https://evil.example"),
        ];
        for answer in answers {
            assert!(!answer.contains("x-millrace-details") && !answer.contains("handler.ts"), "{answer}");
        }
    }
    // A proxy passes on what others send, and every address of the machine is reached by others.
    for more in [["--allow-host", "mcp.example.com"], ["--host", "0.0.0.0"]] {
        let served = ServerProcess::start(app.path(), &[&["dev"][..], &more].concat());
        let answer = thrown(&served, "/", local);
        assert!(answer.starts_with("HTTP/1.1 404") && !answer.contains("x-millrace-details"), "{more:?}: {answer}");
    }
    assert_eq!(run(app.path(), &["build", "--target", "local"]).code, Some(0));
    let served = ServerProcess::start(app.path(), &["serve", "dist/small.bundle"]);
    assert!(thrown(&served, "/", local).starts_with("HTTP/1.1 404"));
}
