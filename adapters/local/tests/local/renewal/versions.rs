//! Bundles of two versions, exchanged for each other while they are called: what one server has
//! begun, the other ends. Bundles of the last release are those of the version before.
//!
//! With `MILLRACE_LAST_COMMAND`, the path of the last release's command, that one serves the bundle
//! of the version before where the two commands run beside each other.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU16, AtomicU32, Ordering},
    time::Instant,
};

use serde_json::{Value as Json, json};

use super::{BUNDLE, Unit, put, renewals, signal, until_answered, while_called};
use crate::support::{App, ServerProcess, answer, app, binary, run};

/// The bundle of the current version says of each call that it was made.
const LOG: &str = "warn,millrace::audit=off";
const STATE_KEY: (&str, &str) = ("MILLRACE_STATE_KEY", "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");

/// An app whose calls leave something behind, and its bundle in the version before and in the
/// current one: the second has a key that the version before does not know.
fn versions() -> (App, [Vec<u8>; 2]) {
    let app = app();
    let inputs = "inputs:\n  id: { type: int }\n";
    let tables = ["item (id INTEGER PRIMARY KEY, name TEXT)", "booked (id INTEGER)", "reminded (id INTEGER)", "removed (id INTEGER)"];
    let create: String = tables.iter().map(|table| format!("CREATE TABLE {table};\n")).collect();
    app.write("app/adapters/main.sql", &(create + "INSERT INTO item VALUES (1, 'O''Neil');\n"));
    let insert = |table: &str| format!("use: main\nkind: mutation\nstatement: INSERT INTO {table} (id) VALUES ({{{{ inputs.id }}}})\n");
    let once = "idempotency: { key: \"{{ inputs.id }}\", ttl: 1h }\n";
    app.write("app/tools/book/config.yaml", &format!("description: Books.\n{}{inputs}{once}", insert("booked")));
    app.write("app/tools/remind/config.yaml", &format!("description: Reminds.\n{inputs}{once}"));
    app.write(
        "app/tools/remind/handler.ts",
        "export default async ({ inputs }, ctx) => {\n  await ctx.db(\"main\").query(\"INSERT INTO reminded VALUES (?1)\", [inputs.id]);\n  return \"yes\";\n};\n",
    );
    app.write("app/tools/remove/config.yaml", &format!("description: Removes.\n{}{inputs}confirm: \"Really?\"\n", insert("removed")));
    let count = |table: &str| format!("(SELECT count(*) FROM {table}) AS {table}");
    let counts = ["booked", "reminded", "removed"].map(count).join(", ");
    app.write(
        "app/tools/counts/config.yaml",
        &format!("description: Counts.\nuse: main\nstatement: SELECT {counts} WHERE {{{{ inputs.id }}}} > 0\n{inputs}"),
    );
    let bundles = ["", "middleware:\n  - audit: { tenant: \"{{ inputs.id }}\" }\n"].map(|more| {
        app.write("millrace.yaml", &format!("name: small\n{more}"));
        let said = run(app.path(), &["build", "--target", "local"]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        fs::read(app.path().join(BUNDLE)).unwrap()
    });
    let [before, current] = [&bundles[0], &bundles[1]].map(|bundle| u16::from_le_bytes([bundle[8], bundle[9]]));
    assert_eq!(before + 1, current, "the app has nothing that only the current version can say");
    (app, bundles)
}

/// The result of a call by a client that can be asked.
fn result(port: &AtomicU16, tool: &str, id: u32, more: &Json) -> Json {
    let mut params = json!({
        "name": tool, "arguments": { "id": id },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        },
    });
    params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut socket = super::connect(port).unwrap();
    let fields = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\nConnection: close");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{fields}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    std::io::Write::write_all(&mut socket, request.as_bytes()).unwrap();
    let (status, body) = answer(&mut socket);
    assert_eq!(status, 200, "{tool}: {body}");
    serde_json::from_str::<Json>(&body).unwrap()["result"].take()
}

/// What calls have left with the server that answered them, and with their client.
struct Begun {
    id: u32,
    state: Json,
}

impl Begun {
    /// A statement and a handler that are recorded, and a question.
    fn on(port: &AtomicU16, id: u32) -> Self {
        for tool in ["book", "remind"] {
            let first = result(port, tool, id, &Json::Null);
            assert!(first["isError"] == false && first["_meta"]["millrace/replayed"].is_null(), "{tool}: {first}");
        }
        let asked = result(port, "remove", id, &Json::Null);
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        Self { id, state: asked["requestState"].clone() }
    }

    /// What is recorded is not repeated, and the question's answer is taken.
    fn ends_on(self, port: &AtomicU16) {
        for tool in ["book", "remind"] {
            let second = result(port, tool, self.id, &Json::Null);
            assert!(second["isError"] == false && second["_meta"]["millrace/replayed"] == true, "{tool}: {second}");
        }
        let answers = json!({ "millrace/confirm": { "action": "accept", "content": {} } });
        let removed = result(port, "remove", self.id, &json!({ "requestState": self.state, "inputResponses": answers }));
        assert_eq!(removed["isError"], false, "{removed}");
    }
}

/// Exchanges servers under load, and has each end what the one before it has begun. `exchange` gets
/// the number of the renewal.
fn renewed(port: &AtomicU16, how: &str, mut exchange: impl FnMut(u32, &AtomicU32)) {
    let (count, began) = (renewals(), Instant::now());
    let answered = while_called(port, |answered| {
        for id in 0..count {
            until_answered(answered, answered.load(Ordering::Relaxed) + 50);
            let begun = Begun::on(port, id);
            exchange(id, answered);
            begun.ends_on(port);
        }
    });
    let took = began.elapsed();
    let rate = f64::from(answered) / took.as_secs_f64();
    println!("{how}: {count} renewals in {took:?}, {answered} calls ({rate:.0} a second), all answered");
    let counted = result(port, "counts", 1, &Json::Null);
    let expected = json!([{ "booked": count, "reminded": count, "removed": count }]).to_string();
    assert_eq!(counted["content"][0]["text"], expected, "{counted}");
}

#[test]
fn what_a_bundle_of_one_version_began_that_of_the_other_ends_by_sighup() {
    let (app, bundles) = versions();
    put(&app, &bundles[0]);
    let arguments = ["serve", BUNDLE, "--isolates", "2", "--log", "warn,millrace::audit=off,millrace::commands=info", "--port", "0"];
    let served = ServerProcess::of(binary().current_dir(app.path()).args(arguments).envs([STATE_KEY]));
    renewed(&AtomicU16::new(served.address.port()), "by SIGHUP", |id, _| {
        put(&app, &bundles[(id as usize + 1) % 2]);
        signal("HUP", served.child.id());
        served.wait_for("renewed: ");
    });
}

#[test]
fn what_a_server_of_one_version_began_that_of_the_other_ends_on_its_socket() {
    let (app, bundles) = versions();
    put(&app, &bundles[0]);
    let unit = Unit::new();
    let start = || unit.start_with(app.path(), LOG, &[STATE_KEY]);
    let mut running = Some(start());
    renewed(&AtomicU16::new(unit.socket.local_addr().unwrap().port()), "on one socket", |id, _| {
        put(&app, &bundles[(id as usize + 1) % 2]);
        let mut before = running.take().unwrap();
        signal("TERM", before.0.id());
        assert!(unit.hears().starts_with("STOPPING=1\n"));
        assert_eq!(before.0.wait().unwrap().code(), Some(0));
        running = Some(start());
    });
}

/// The command that serves bundles of the version before.
fn last_command() -> PathBuf {
    std::env::var_os("MILLRACE_LAST_COMMAND").map_or_else(|| binary().get_program().into(), PathBuf::from)
}

#[test]
fn what_a_server_of_one_version_began_that_of_the_other_ends_beside_it() {
    let (app, bundles) = versions();
    let files = ["dist/before.bundle", BUNDLE];
    for (file, bundle) in files.iter().zip(&bundles) {
        fs::write(app.path().join(file), bundle).unwrap();
    }
    let commands = [last_command(), binary().get_program().into()];
    let start = |version: usize| {
        let mut command = Command::new(&commands[version]);
        command.args(["serve", files[version], "--isolates", "2", "--log", LOG, "--port", "0", "--data", "."]);
        ServerProcess::of(command.current_dir(app.path()).env_remove("PORT").env_remove("MILLRACE_LOG").envs([STATE_KEY]))
    };
    let mut served = start(0);
    // What stands before several servers sends new connections to the one that is there to stay.
    let port = AtomicU16::new(served.address.port());
    renewed(&port, "beside each other", |id, answered| {
        let next = start((id as usize + 1) % 2);
        port.store(next.address.port(), Ordering::Relaxed);
        // Who had asked for the port before has connected.
        until_answered(answered, answered.load(Ordering::Relaxed) + 50);
        assert_eq!(std::mem::replace(&mut served, next).terminate(), Some(0));
    });
    drop(served);
    if commands[0] != commands[1] {
        let refused = Command::new(&commands[0]).arg("serve").arg(app.path().join(BUNDLE)).args(["--port", "0"]).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("the bundle has version 29, this runtime reads version"), "{said}");
    }
}
