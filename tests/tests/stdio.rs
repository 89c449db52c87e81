//! One client on standard input and output: many calls at a time, cancellation, ends of every kind,
//! and what must not go wrong.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use millrace_core::Json;
use millrace_tests::files::write;
use millrace_tests::{local::binary, process::children, stdio::Pipe};
use serde_json::json;

/// What ends a test that would hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// An app with a tool on an embedded database and some scripts; `upstream` is where one of them
/// asks.
fn app(upstream: u16) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(folder.path(), path, text);
    write(
        "millrace.yaml",
        &format!(
            "name: small\nserver: {{ body_limit: 64kb }}\nfetch: {{ allow: [\"127.0.0.1:{upstream}\"] }}\ncontext: {{ headers: [accept-language] }}\n"
        ),
    );
    write("app/adapters/main.yaml", "connector: sqlite\nconnection_string: main.db\noptions: { seed: ./main.sql }\n");
    write(
        "app/adapters/main.sql",
        "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);\nINSERT INTO item VALUES (1, 'O''Neil'), (2, 'two');\n",
    );
    write(
        "app/tools/get-item/config.yaml",
        "description: Get one item.\nuse: main\nstatement: SELECT {{ inputs.n }} AS n, name FROM item WHERE id = {{ inputs.id }}\n\
         inputs:\n  id: { type: int }\n  n: { type: int, default: 0 }\n",
    );
    let script = |name: &str, more: &str, body: &str| {
        write(&format!("app/tools/{name}/config.yaml"), &format!("description: A script.\n{more}"));
        write(&format!("app/tools/{name}/handler.ts"), &format!("export default async function ({{ inputs }}, ctx) {{ {body} }}\n"));
    };
    script("noisy", "", "console.log('on standard error'); ctx.log.info('heard'); return 'said';");
    script("long", "limits: { output: 1mb }\n", "return 'x'.repeat(100000);");
    script("language", "", "return ctx.request.headers['accept-language'] ?? 'none';");
    write("app/tools/greet/config.yaml", "description: A script.\n");
    write(
        "app/tools/greet/handler.ts",
        "import { elicit, requireInput } from \"millrace\";\n\
         const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };\n\
         export default () => {\n  const { name } = requireInput({ name: elicit('Name?', schema) });\n  \
         return name.action === 'accept' ? 'Hello, ' + name.content.name : name.action;\n};\n",
    );
    write("app/tools/drop/config.yaml", "use: main\nconfirm: \"Really?\"\nstatement: DELETE FROM item WHERE id = 2\n");
    script(
        "locked",
        "auth: { plugin: api_key, policy: { keys: [{ name: ada, value: \"{{ env.ADA_KEY }}\" }] } }\n",
        "return ctx.auth.subject;",
    );
    script(
        "ask",
        "kind: query\nlimits: { timeout: 100s }\n",
        &format!("ctx.progress(1); const answer = await fetch('http://127.0.0.1:{upstream}/'); return answer.text();"),
    );
    folder
}

fn call(id: impl Into<Json>, tool: &str, arguments: &Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

fn initialize(pipe: &mut Pipe, version: &str) -> Json {
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let (before, answer) = pipe.ask(&json!({ "jsonrpc": "2.0", "id": "start", "method": "initialize", "params": params }));
    assert!(before.is_empty(), "{before:?}");
    pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    answer
}

fn started(folder: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Pipe {
    let env: Vec<_> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Pipe::run(folder, arguments, &env, Stdio::null())
}

fn text(answer: &Json) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Waits until a condition holds.
fn until(what: &str, holds: impl FnMut() -> bool) {
    millrace_tests::wait::until(what, holds);
}

/// Whether a process is there and has not ended.
fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

/// The most memory that a process ever had, in KB.
fn most_memory_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

fn upstream() -> (TcpListener, u16) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// A request that came upstream, and that is not answered yet.
fn asked(listener: &TcpListener) -> TcpStream {
    let (mut socket, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    socket
}

fn answer_upstream(mut socket: TcpStream) {
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhere").unwrap();
}

/// Makes so many calls with so many in flight, and sees each answered once, by its own answer.
fn many_calls(arguments: &[&str], calls: usize, in_flight: usize) {
    let folder = app(1);
    let mut pipe = started(folder.path(), arguments, &[]);
    initialize(&mut pipe, "2025-11-25");
    let mut open = BTreeMap::new();
    let mut next = 0;
    while next < calls || !open.is_empty() {
        while next < calls && open.len() < in_flight {
            let request =
                if next % 10 == 0 { call(next, "noisy", &json!({})) } else { call(next, "get-item", &json!({ "id": 1, "n": next })) };
            pipe.send(&request.to_string());
            open.insert(next, ());
            next += 1;
        }
        let message = pipe.message();
        if message["method"] == "notifications/message" {
            continue;
        }
        let id = usize::try_from(message["id"].as_u64().unwrap_or_else(|| panic!("{message}"))).unwrap();
        assert!(open.remove(&id).is_some(), "{id} was answered twice, or never asked: {message}");
        let expected = if id.is_multiple_of(10) { "said".to_owned() } else { format!("[{{\"n\":{id},\"name\":\"O'Neil\"}}]") };
        assert_eq!(text(&message), expected);
    }
    let (rest, status) = pipe.end();
    assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
}

#[test]
fn ten_thousand_calls_are_answered_once_each() {
    many_calls(&[], 10_000, 64);
}

#[test]
fn so_they_are_by_a_thread() {
    many_calls(&["--threads"], 2_000, 64);
}

#[test]
fn what_is_worked_on_is_answered_after_the_input_has_ended() {
    let (listener, port) = upstream();
    let folder = app(port);
    for arguments in [&[][..], &["--threads"]] {
        let mut pipe = started(folder.path(), arguments, &[]);
        initialize(&mut pipe, "2025-11-25");
        pipe.send(&call(1, "ask", &json!({})).to_string());
        let socket = asked(&listener);
        // Half a line is no message, and has an answer all the same.
        pipe.write(br#"{"jsonrpc":"2.0","id":2,"meth"#);
        pipe.end_input();
        assert_eq!(pipe.message()["error"]["code"], -32700);
        answer_upstream(socket);
        let (rest, status) = pipe.end();
        assert!(rest.len() == 1 && rest[0].contains("\"id\":1") && rest[0].contains("here"), "{rest:?}");
        assert!(status.success(), "{status}");
    }
}

#[test]
fn a_signal_ends_the_process_as_the_end_of_its_input_does() {
    let (listener, port) = upstream();
    let folder = app(port);
    for name in ["TERM", "INT"] {
        let mut pipe = started(folder.path(), &[], &[]);
        initialize(&mut pipe, "2025-11-25");
        pipe.send(&call(1, "ask", &json!({})).to_string());
        let socket = asked(&listener);
        let isolates = children(pipe.pid());
        assert_eq!(isolates.len(), 1);
        signal(name, pipe.pid());
        answer_upstream(socket);
        assert!(pipe.line().unwrap().contains("here"));
        assert_eq!(pipe.line(), None, "the output ends while the input is open");
        let (_, status) = pipe.end();
        assert_eq!(status.code(), Some(0));
        assert!(!lives(isolates[0]));
    }
}

#[test]
fn a_cancelled_request_ends_and_is_not_answered() {
    let (listener, port) = upstream();
    let folder = app(port);
    let modern = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 7 });
    for (id, meta) in [(json!("a"), json!({ "progressToken": "p" })), (json!(17), modern)] {
        let mut pipe = started(folder.path(), &[], &[]);
        let mut request = call(id.clone(), "ask", &json!({}));
        request["params"]["_meta"] = meta;
        pipe.send(&request.to_string());
        assert_eq!(pipe.message()["method"], "notifications/progress", "while the call goes on");
        let mut socket = asked(&listener);
        let cancel =
            |id: &Json| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "enough" } });
        pipe.send(&cancel(&json!("another")).to_string());
        pipe.send(&cancel(&id).to_string());
        // The call's own request ends with it, and not with the time that the call may take.
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).unwrap();
        pipe.send(r#"{"jsonrpc":"2.0","id":"after","method":"ping"}"#);
        assert_eq!(pipe.message()["id"], "after");
        let (rest, status) = pipe.end();
        assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
    }
}

#[test]
fn what_is_no_message_has_an_error_and_the_next_one_its_answer() {
    let folder = app(1);
    for arguments in [&[][..], &["--threads"]] {
        let mut pipe = started(folder.path(), arguments, &[]);
        let ping = |pipe: &mut Pipe| {
            pipe.send(r#"{"jsonrpc":"2.0","id":"after","method":"ping"}"#);
            assert_eq!(pipe.message(), json!({ "jsonrpc": "2.0", "id": "after", "result": {} }));
        };
        for (line, code) in [
            (&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffing\"}\n"[..], -32700),
            (b"\xef\xbf\n", -32700),
            (b"nonsense\n", -32700),
            (b"{\"id\":1}\n", -32600),
            (b"\0\n", -32700),
        ] {
            pipe.write(line);
            assert_eq!(pipe.message()["error"]["code"], code);
            ping(&mut pipe);
        }
        pipe.write(b"\n\r\n  \n");
        ping(&mut pipe);
        // A hundred megabytes, of which no process keeps more than the longest line that it takes.
        let piece = vec![b'x'; 1 << 20];
        (0..100).for_each(|_| pipe.write(&piece));
        pipe.write(b"\n");
        let refused = pipe.message();
        assert_eq!(refused["error"]["code"], -32600);
        assert!(refused["error"]["message"].as_str().unwrap().contains("65536 bytes") && refused.get("id").is_none(), "{refused}");
        ping(&mut pipe);
        for pid in children(pipe.pid()).into_iter().chain([pipe.pid()]) {
            assert!(most_memory_kb(pid) < 90_000, "{} KB", most_memory_kb(pid));
        }
        assert!(pipe.end().1.success());
    }
}

#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    const CALLS: usize = 3_000;
    let folder = app(1);
    let mut command = Command::new(binary());
    command.arg("run").arg(folder.path()).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut input, output, pid) = (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.id());
    let written = Arc::new(AtomicUsize::new(0));
    let count = written.clone();
    let writer = thread::spawn(move || {
        for id in 0..CALLS {
            writeln!(input, "{}", call(id, "long", &json!({ "padding": "x".repeat(500) }))).unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    // Until it is kept from writing: nothing is read any more.
    let (mut before, mut same) = (0, 0);
    until("everything is taken", || {
        thread::sleep(Duration::from_millis(50));
        let now = written.load(Ordering::Relaxed);
        same = if now == before && now > 0 { same + 1 } else { 0 };
        before = now;
        same >= 20
    });
    assert!(written.load(Ordering::Relaxed) < CALLS);
    for pid in children(pid).into_iter().chain([pid]) {
        assert!(most_memory_kb(pid) < 250_000, "{} KB", most_memory_kb(pid));
    }
    // Then it reads, and nothing is lost.
    let mut ids: Vec<u64> = BufReader::new(output)
        .lines()
        .map(|line| {
            let message: Json = serde_json::from_str(&line.unwrap()).unwrap();
            assert!(message["error"].is_null(), "{message}");
            message["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..CALLS as u64));
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_client_that_is_gone_ends_the_process() {
    let (listener, port) = upstream();
    let folder = app(port);
    for arguments in [&[][..], &["--threads"]] {
        let mut command = Command::new(binary());
        command
            .arg("run")
            .arg(folder.path())
            .args(arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Its output is closed, and the input is not.
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        drop(child.stdout.take());
        writeln!(input, "{}", call(1, "get-item", &json!({ "id": 1 }))).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        // Both are closed while a call is worked on.
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", call(1, "ask", &json!({}))).unwrap();
        let socket = asked(&listener);
        drop((input, child.stdout.take()));
        answer_upstream(socket);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    // The process itself is killed: its isolate ends with it.
    let mut pipe = started(folder.path(), &[], &[]);
    initialize(&mut pipe, "2025-11-25");
    let isolate = children(pipe.pid())[0];
    signal("KILL", pipe.pid());
    until("the isolate outlives its process", || !lives(isolate));
}

#[test]
fn nothing_but_messages_is_on_standard_output() {
    let folder = app(1);
    for arguments in [&["--log", "trace"][..], &["--log", "trace", "--threads"]] {
        let log = folder.path().join("log");
        let mut pipe = Pipe::run(folder.path(), arguments, &[], fs::File::create(&log).unwrap().into());
        assert_eq!(initialize(&mut pipe, "2025-11-25")["result"]["serverInfo"]["name"], "small");
        let (before, answer) = pipe.ask(&call(1, "noisy", &json!({})));
        assert_eq!((text(&answer), before.len()), ("said", 1), "{before:?}");
        assert_eq!(before[0]["params"]["data"], "heard");
        let (rest, _) = pipe.end();
        assert!(rest.is_empty(), "{rest:?}");
        let log = fs::read_to_string(&log).unwrap();
        assert!(log.contains("on standard error"), "{log}");
    }
}

#[test]
fn a_level_holds_for_the_connection() {
    let folder = app(1);
    let mut pipe = started(folder.path(), &[], &[]);
    initialize(&mut pipe, "2025-06-18");
    pipe.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": "error" } }));
    assert_eq!(pipe.ask(&call(1, "noisy", &json!({}))).0, Vec::<Json>::new());
    pipe.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": "debug" } }));
    assert_eq!(pipe.ask(&call(1, "noisy", &json!({}))).0.len(), 1);
}

#[test]
fn credentials_come_from_the_environment_and_nowhere_else() {
    let folder = app(1);
    let ask = |env: &[(&str, &str)], tool: &str| {
        let mut pipe = started(folder.path(), &[], env);
        let (_, answer) = pipe.ask(&call(1, tool, &json!({})));
        let code = answer["error"]["data"]["code"].as_str().map(str::to_owned);
        code.unwrap_or_else(|| text(&answer).to_owned())
    };
    let key = ("ADA_KEY", "correct horse battery");
    assert_eq!(ask(&[key], "locked"), "UNAUTHORIZED");
    assert_eq!(ask(&[key, ("MILLRACE_HEADER_X_API_KEY", "wrong")], "locked"), "UNAUTHORIZED");
    assert_eq!(ask(&[key, ("MILLRACE_HEADER_X_API_KEY", "")], "locked"), "UNAUTHORIZED");
    assert_eq!(ask(&[("MILLRACE_HEADER_X_API_KEY", "")], "locked"), "UNAUTHORIZED");
    assert_eq!(ask(&[key, ("MILLRACE_HEADER_X_API_KEY", key.1)], "locked"), "ada");
    assert_eq!(ask(&[key, ("MILLRACE_HEADER_AUTHORIZATION", "Bearer correct horse battery")], "locked"), "ada");
    assert_eq!(ask(&[("MILLRACE_HEADER_ACCEPT_LANGUAGE", "de")], "language"), "de");
    assert_eq!(ask(&[], "language"), "none");
    // An app does not say who calls it.
    write(folder.path(), ".env", "ADA_KEY='correct horse battery'\nMILLRACE_HEADER_X_API_KEY='correct horse battery'\n");
    assert_eq!(ask(&[], "locked"), "UNAUTHORIZED");
    let wrong = Command::new(binary()).arg("run").arg(folder.path()).env("MILLRACE_HEADER_HOST", "hunter2").output().unwrap();
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("MILLRACE_HEADER_HOST") && !said.contains("hunter2"), "{said}");
}

/// Where every request over HTTP needs credentials, a client that started the process still finds
/// out what there is; its calls need them.
#[test]
fn nobody_is_asked_to_sign_in_at_the_handshake() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: locked\nserver: { sign_in: required }\nauth: { plugin: api_key, policy: { value: k } }\n");
    write(folder.path(), "app/tools/greet/config.yaml", "description: A script.\n");
    write(folder.path(), "app/tools/greet/handler.ts", "export default () => 'hello';\n");
    for (env, is_refused) in [(&[][..], true), (&[("MILLRACE_HEADER_X_API_KEY", "k")][..], false)] {
        let mut pipe = started(folder.path(), &[], env);
        assert_eq!(initialize(&mut pipe, "2025-11-25")["result"]["serverInfo"]["name"], "locked");
        let (_, list) = pipe.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        assert_eq!(list["result"]["tools"][0]["name"], "greet", "{list}");
        let (_, answer) = pipe.ask(&call(3, "greet", &json!({})));
        assert_eq!(answer.get("error").is_some(), is_refused, "{answer}");
    }
}

#[test]
fn a_call_that_cannot_be_stopped_costs_its_own_client_an_error_and_no_more() {
    let folder = app(1);
    // A seed that never ends: it is the operator's own text, which no deadline bounds, and holds
    // the isolate that opens the database.
    write(
        folder.path(),
        "app/adapters/endless.yaml",
        "connector: sqlite\nconnection_string: \":memory:\"\noptions: { seed: ./endless.sql }\n",
    );
    write(
        folder.path(),
        "app/adapters/endless.sql",
        "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n",
    );
    write(folder.path(), "app/tools/stuck/config.yaml", "use: endless\nlimits: { timeout: 1s }\nstatement: SELECT 1\n");
    let deep = "let x = []; for (let i = 0; i < 100000; i++) x = [x]; return String(x).length";
    write(folder.path(), "app/tools/deep/config.yaml", "description: A script.\nlimits: { timeout: 20s }\n");
    write(folder.path(), "app/tools/deep/handler.ts", &format!("export default async () => {{ {deep} }}\n"));
    let mut pipe = started(folder.path(), &["--log", "off"], &[]);
    initialize(&mut pipe, "2025-06-18");
    pipe.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": "error" } }));
    let first = children(pipe.pid());
    pipe.send(&call("stuck", "stuck", &json!({})).to_string());
    // It comes while the isolate is stuck, and may have been begun: nobody knows.
    pipe.send(&call("beside", "get-item", &json!({ "id": 1 })).to_string());
    for _ in 0..2 {
        let answer = pipe.message();
        assert!(["stuck", "beside"].contains(&answer["id"].as_str().unwrap()), "{answer}");
        assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["code"]), (&json!(-32603), &json!("UNANSWERED")), "{answer}");
    }
    // What was agreed on is known to the next isolate: the level, and the revision, which has
    // structured content.
    let (before, answer) = pipe.ask(&call(2, "noisy", &json!({})));
    assert_eq!((before.len(), text(&answer)), (0, "said"), "{before:?}");
    let (_, answer) = pipe.ask(&call(3, "deep", &json!({})));
    assert!(answer["error"]["data"]["code"] == "UNANSWERED" || answer["result"]["isError"] == true, "{answer}");
    assert_eq!(text(&pipe.ask(&call(4, "get-item", &json!({ "id": 2 }))).1), "[{\"n\":0,\"name\":\"two\"}]");
    assert_ne!(children(pipe.pid()), first);
    assert!(pipe.end().1.success());
}

#[test]
fn an_app_is_served_whatever_folder_the_client_starts_in() {
    let folder = app(1);
    let said = |command: &mut Command| {
        let mut pipe = Pipe::spawn(command.env_clear().stderr(Stdio::null()));
        let (_, answer) = pipe.ask(&call(1, "get-item", &json!({ "id": 2 })));
        assert!(pipe.end().1.success());
        text(&answer).to_owned()
    };
    let expected = "[{\"n\":0,\"name\":\"two\"}]";
    assert_eq!(said(Command::new(binary()).arg("run").arg(folder.path()).current_dir("/")), expected);
    assert!(folder.path().join("main.db").exists(), "the database is beside the app");
    assert_eq!(said(Command::new(binary()).arg("run").current_dir(folder.path())), expected);
    let name = folder.path().file_name().unwrap();
    assert_eq!(said(Command::new(binary()).arg("run").arg(name).current_dir(folder.path().parent().unwrap())), expected);
    let built =
        Command::new(binary()).args(["build", "--target", "local", "--out"]).arg(folder.path().join("dist")).arg(folder.path()).output();
    assert!(built.as_ref().unwrap().status.success(), "{built:?}");
    let bundle = folder.path().join("dist/small.bundle");
    assert_eq!(said(Command::new(binary()).arg("serve").arg(bundle).args(["--stdio"]).current_dir("/")), expected);
    // Where there is no app, nothing is on standard output.
    let wrong = Command::new(binary()).arg("run").current_dir("/").stdin(Stdio::null()).output().unwrap();
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(1), 0), "{wrong:?}");
}

#[test]
fn dev_tells_its_client_of_a_change() {
    let folder = app(1);
    for arguments in [&[][..], &["--threads"]] {
        let log = fs::File::create(folder.path().join("said.txt")).unwrap();
        let mut command = Command::new(binary());
        let mut pipe = Pipe::spawn(command.arg("dev").arg(folder.path()).arg("--stdio").args(arguments).env_clear().stderr(log));
        let agreed = initialize(&mut pipe, "2025-11-25");
        assert_eq!(agreed["result"]["capabilities"]["tools"], json!({ "listChanged": true }), "{agreed}");
        let tools = |pipe: &mut Pipe| {
            let (_, answer) = pipe.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
            answer["result"]["tools"].as_array().unwrap().len()
        };
        let before = tools(&mut pipe);
        let name = format!("app/tools/more{}/config.yaml", arguments.len());
        write(folder.path(), &name, "use: main\nstatement: SELECT 1\n");
        assert_eq!(pipe.message(), json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        assert_eq!(tools(&mut pipe), before + 1);
        let (rest, status) = pipe.end();
        assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
        let said = fs::read_to_string(folder.path().join("said.txt")).unwrap();
        assert!(said.contains("reloaded") && said.contains("`small` with"), "{said}");
    }
}

#[test]
fn a_legacy_client_is_asked_by_requests_of_the_server() {
    let folder = app(1);
    let mut pipe = started(folder.path(), &[], &[]);
    let asks_of = |capabilities: Json| {
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" } });
        json!({ "jsonrpc": "2.0", "id": "start", "method": "initialize", "params": params })
    };
    // Who cannot be asked is not.
    pipe.ask(&asks_of(json!({})));
    assert!(text(&pipe.ask(&call(1, "greet", &json!({}))).1).contains("INPUT_NOT_SUPPORTED"));
    pipe.ask(&asks_of(json!({ "elicitation": {} })));
    let question = |pipe: &Pipe| {
        let question = pipe.message();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        question
    };
    let answer = |question: &Json, result: Json| json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string();
    let accept = |content: Json| json!({ "action": "accept", "content": content });

    pipe.send(&call(2, "greet", &json!({})).to_string());
    let first = question(&pipe);
    assert_eq!(
        (&first["params"]["message"], &first["params"]["requestedSchema"]["required"]),
        (&json!("Name?"), &json!(["name"])),
        "{first}"
    );
    // Others are served meanwhile, and asked, too.
    assert_eq!(text(&pipe.ask(&call(3, "get-item", &json!({ "id": 2 }))).1), "[{\"n\":0,\"name\":\"two\"}]");
    pipe.send(&call(4, "greet", &json!({})).to_string());
    let second = question(&pipe);
    assert_ne!(first["id"], second["id"]);
    pipe.send(&answer(&second, accept(json!({ "name": "Bob" }))));
    let greeted = pipe.message();
    assert_eq!((text(&greeted), &greeted["id"]), ("Hello, Bob", &json!(4)));
    // What does not fit is asked again.
    pipe.send(&answer(&first, accept(json!({ "name": 7 }))));
    let again = question(&pipe);
    pipe.send(&answer(&again, accept(json!({ "name": "Ada" }))));
    let greeted = pipe.message();
    assert_eq!((text(&greeted), &greeted["id"]), ("Hello, Ada", &json!(2)));

    // Nothing is done that the user does not confirm.
    let drop_two = call(5, "drop", &json!({})).to_string();
    pipe.send(&drop_two);
    let asked = question(&pipe);
    pipe.send(&answer(&asked, json!({ "action": "decline" })));
    assert!(text(&pipe.message()).contains("DECLINED"));
    // A client that has no answer, and one that cancels while it is asked.
    pipe.send(&drop_two);
    let asked = question(&pipe);
    pipe.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -1, "message": "no user" } }).to_string());
    assert_eq!(pipe.message()["error"]["code"], -32603);
    pipe.send(&drop_two);
    let asked = question(&pipe);
    pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#);
    pipe.send(&answer(&asked, accept(json!({}))));
    assert_eq!(text(&pipe.ask(&call(6, "get-item", &json!({ "id": 2 }))).1), "[{\"n\":0,\"name\":\"two\"}]");
    pipe.send(&drop_two);
    let asked = question(&pipe);
    pipe.send(&answer(&asked, accept(json!({}))));
    assert_eq!(pipe.message()["result"]["isError"], false);
    assert_eq!(text(&pipe.ask(&call(7, "get-item", &json!({ "id": 2 }))).1), "[]");
    let (rest, status) = pipe.end();
    assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
}
