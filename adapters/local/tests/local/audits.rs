//! Audit lines in the log, and rows that cannot be written.

use std::net::TcpListener;

use serde_json::{Value as Json, json};

use crate::support::{App, ServerProcess, app, binary};

/// The small app with audits into a table of an adapter.
fn audited(connector: &str, address: &str) -> App {
    let app = app();
    app.write("millrace.yaml", "name: small\nmiddleware:\n  - audit: { to: records, table: audit_log, subject: \"{{ inputs.note }}\" }\n");
    app.write(
        "app/adapters/records.yaml",
        &format!("connector: {connector}\nconnection_string: \"{address}\"\noptions: {{ timeout: 2s }}\n"),
    );
    app
}

fn serve(app: &App, log: &str, format: &str) -> ServerProcess {
    let mut command = binary();
    command.current_dir(app.path()).env("MILLRACE_LOG", log).env("MILLRACE_LOG_FORMAT", format);
    ServerProcess::of(command.args(["dev", "--isolates", "1", "--port", "0"]))
}

/// The lines of the log, without what `dev` says besides.
fn logged(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.starts_with("creating the database")).collect()
}

#[test]
fn an_adapter_that_is_down_fails_no_call_and_is_one_line() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let adapters = [
        ("sqlite", "/nowhere/at/all.db".to_owned()),
        ("libsql", format!("http://127.0.0.1:{closed}")),
        ("postgres", format!("postgres://ada:hunter2@127.0.0.1:{closed}/records")),
        // There is no such table.
        ("sqlite", ":memory:".to_owned()),
    ];
    for (connector, address) in adapters {
        let app = audited(connector, &address);
        let served = serve(&app, "warn", "text");
        // Whatever a call before says beside its line would come first.
        for _ in 0..3 {
            assert!(served.call("get-item", &json!({ "id": 1 })).contains("O'Neil"), "{connector} {address}");
            let said = served.wait_for("the audit row cannot be written");
            let lines = logged(&said);
            assert_eq!(lines.len(), 2, "{connector} {address}: {said}");
            assert!(
                lines[0].contains("INFO millrace::audit: audit subject=\"\" tool=\"get-item\" decision=\"allowed\" outcome=\"ok\""),
                "{said}"
            );
            assert!(
                lines[1].contains(" WARN millrace::pipeline: the audit row cannot be written tool=\"get-item\" request_id=\""),
                "{said}"
            );
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}

#[test]
fn an_audit_line_is_one_line_of_its_form_at_every_level() {
    const HOSTILE: &str = "x\" tool=\"other\"\n{\"level\":\"INFO\",\"target\":\"millrace::audit\"}\r\u{2028}\u{1b}[2J";
    let app = audited("sqlite", ":memory:");
    let served = serve(&app, "error", "json");
    served.call("get-item", &json!({ "id": 1, "note": HOSTILE }));
    let said = served.wait_for("millrace::audit");
    let line: Json = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let expected = json!({
        "level": "INFO", "target": "millrace::audit", "message": "audit", "subject": HOSTILE, "tool": "get-item", "decision": "allowed",
        "outcome": "ok", "inputs": "id,note",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&line[name], value, "{line}");
    }
    assert_eq!(logged(&said).len(), 1, "{said}");
    drop(served);
    let served = serve(&app, "error", "text");
    served.call("get-item", &json!({ "id": 1, "note": HOSTILE }));
    let said = served.wait_for("millrace::audit");
    assert!(logged(&said).len() == 1 && said.contains("subject=\"x\\\" tool=\\\"other\\\"\\n{"), "{said}");
    // Nobody wants to hear of it.
    drop(served);
    let served = serve(&app, "warn,millrace::audit=off", "text");
    served.call("get-item", &json!({ "id": 1 }));
    let said = served.wait_for("the audit row cannot be written");
    assert_eq!(logged(&said).len(), 1, "{said}");
}
