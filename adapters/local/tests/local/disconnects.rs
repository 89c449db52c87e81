//! Clients that disconnect before their answer: their calls are cancelled, and those that observe
//! the end of a call are told.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::json;

use crate::support::{App, ServerProcess, app};

const AUDIT_LOG: &str = "CREATE TABLE audit_log (at TEXT NOT NULL, request_id TEXT NOT NULL, tool TEXT NOT NULL, subject TEXT, \
                         decision TEXT NOT NULL, decided_by TEXT, outcome TEXT NOT NULL, code TEXT, duration_ms INTEGER NOT NULL, inputs \
                         TEXT, change_made TEXT);\nCREATE TABLE n (v INTEGER);\n";

/// Waits for longer than the test.
const WAIT: &str = "console.log('begins to wait'); await new Promise((done) => setTimeout(done, 600_000)); return 1";

/// An app whose tools take longer than their client waits.
fn slow_app() -> App {
    let app = app();
    app.write("millrace.yaml", "name: small\nmiddleware:\n  - audit: { to: records, table: audit_log }\n  - ./app/after.ts\n");
    app.write(
        "app/adapters/records.yaml",
        "connector: sqlite\nconnection_string: records.db\noptions: { seed: ./records.sql, timeout: 1s }\n",
    );
    app.write("app/adapters/records.sql", AUDIT_LOG);
    app.write(
        "app/after.ts",
        "export async function after({ error, tool }, ctx) {\n  await new Promise((done) => setTimeout(done, 20));\n  \
         await ctx.db(\"records\").query(\"SELECT 1\");\n  console.log(`after ${tool}: ${error?.code}`);\n}\n",
    );
    let script = |name: &str, body: &str| {
        app.write(&format!("app/tools/{name}/config.yaml"), "description: A script.\nlimits: { timeout: 120s }\n");
        app.write(&format!("app/tools/{name}/handler.ts"), &format!("export default async (_, ctx) => {{ {body} }}\n"));
    };
    script("waits", WAIT);
    script("writes", &format!("await ctx.db('records').query('INSERT INTO n VALUES (1)'); {WAIT}"));
    script("streams", &format!("ctx.progress(1, 2, 'on its way'); {WAIT}"));
    app.write(
        "app/tools/fills/config.yaml",
        "description: A statement that takes long.\nuse: records\nlimits: { timeout: 120s }\nstatement: >\n  INSERT INTO n WITH RECURSIVE \
         c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0\n",
    );
    app
}

/// Sends a call and does not wait for its answer.
fn begin(served: &ServerProcess, tool: &str) -> TcpStream {
    let mut socket = served.connect();
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": 1 } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let accept = "application/json, text/event-stream";
    let length = message.len();
    write!(
        socket,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\nAccept: \
         {accept}\r\nContent-Length: {length}\r\n\r\n{message}"
    )
    .unwrap();
    socket
}

#[test]
fn whoever_observes_a_call_is_told_that_its_client_disconnected() {
    let app = slow_app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "1"]);
    // A statement of SQLite holds the isolate until its deadline.
    let cases = [("waits", "CANCELLED", ""), ("writes", "CANCELLED", "yes"), ("streams", "CANCELLED", ""), ("fills", "TIMEOUT", "unknown")];
    for (tool, code, change_made) in cases {
        let mut socket = begin(&served, tool);
        match tool {
            "fills" | "streams" => socket.read_exact(&mut [0; 12]).unwrap(),
            _ => drop(served.wait_for("begins to wait")),
        }
        drop(socket);
        let said = served.wait_for("millrace::audit: audit ");
        assert!(said.contains(&format!("after {tool}: {code}")), "{said}");
        let line = said.lines().last().unwrap();
        let change_made = if change_made.is_empty() { String::new() } else { format!(" change_made=\"{change_made}\"") };
        let expected = format!(" tool=\"{tool}\" decision=\"allowed\" outcome=\"error\" code=\"{code}\"{change_made} ms=");
        assert!(line.contains(&expected), "{expected}: {line}");
        served.wait_for("millrace::call: call f");
    }
}

/// Fewer than the script engine has places, a few times.
const CLIENTS: usize = 50;
const TIMES: usize = 4;

#[test]
fn every_call_whose_client_disconnects_is_an_audit_line() {
    let app = slow_app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "1"]);
    for _ in 0..TIMES {
        let mut sockets: Vec<TcpStream> = (0..CLIENTS).map(|_| begin(&served, "streams")).collect();
        for socket in &mut sockets {
            socket.read_exact(&mut [0; 12]).unwrap();
        }
        drop(sockets);
        for _ in 0..CLIENTS {
            let said = served.wait_for("millrace::audit: audit ");
            assert!(said.lines().last().unwrap().contains("code=\"CANCELLED\""), "{said}");
        }
    }
}
