//! Isolates as processes: one that is stuck or dies takes nothing with it but its own connections.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{App, ServerProcess, answer, app, binary, call, post, run};

/// What ends a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A seed that never ends: it is the operator's own text, which no deadline bounds, and holds the
/// isolate that opens the database.
const ENDLESS: &str = "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n";

/// The small app with tools that hold an isolate for good.
fn hostile_app() -> App {
    let app = app();
    app.write("app/adapters/endless.yaml", "connector: sqlite\nconnection_string: \":memory:\"\noptions: { seed: ./endless.sql }\n");
    app.write("app/adapters/endless.sql", ENDLESS);
    app.write("app/tools/stuck/config.yaml", "use: endless\nlimits: { timeout: 1s }\nstatement: SELECT 1\n");
    app.write("app/tools/stuck-long/config.yaml", "use: endless\nlimits: { timeout: 60s }\nstatement: SELECT 1\n");
    let script = |name: &str, body: &str| {
        app.write(&format!("app/tools/{name}/config.yaml"), "description: A script.\nlimits: { timeout: 20s }\n");
        app.write(&format!("app/tools/{name}/handler.ts"), &format!("export default async () => {{ {body} }}\n"));
    };
    script("deep", "let x = []; for (let i = 0; i < 100000; i++) x = [x]; return String(x).length");
    script("large", "const kept = []; for (let i = 0; i < 1e7; i++) kept.push('x'.repeat(1000000) + i); return kept.length");
    script("slow", "console.log('begins to sleep'); await new Promise((done) => setTimeout(done, 1500)); return 'slept'");
    app
}

/// Sends a call and does not wait for its answer.
fn begin(served: &ServerProcess, tool: &str) -> TcpStream {
    let mut socket = served.connect();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } }).to_string();
    write!(
        socket,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    )
    .unwrap();
    socket
}

/// All that still comes; nothing where the connection was closed.
fn rest(mut socket: TcpStream) -> String {
    let mut bytes = Vec::new();
    match socket.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{error}"),
    }
    String::from_utf8(bytes).unwrap()
}

fn is_answered(served: &ServerProcess) -> bool {
    served.call("get-item", &json!({ "id": 1 })).contains("O'Neil")
}

/// The processes of the isolates.
fn children(parent: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn cpu_ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(')') else { return 0 };
    fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

/// Waits until a condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until one isolate computes without a pause, and gives its process.
fn busy(served: &ServerProcess) -> u32 {
    let pids = children(served.child.id());
    let before: Vec<u64> = pids.iter().map(|pid| cpu_ticks(*pid)).collect();
    let mut found = None;
    until("no isolate computes", || {
        found = pids.iter().zip(&before).find(|(pid, before)| cpu_ticks(**pid) > **before + 30).map(|(pid, _)| *pid);
        found.is_some()
    });
    found.unwrap()
}

/// Whether a process is there and has not ended.
fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_stuck_isolate_is_ended_after_its_calls_deadline_and_the_other_one_answers_meanwhile() {
    let app = hostile_app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    let mut kept = served.connect();
    let began = Instant::now();
    let stuck = begin(&served, "stuck");
    busy(&served);
    // The other isolate takes every new connection.
    let mut meanwhile = 0;
    while stuck.set_nonblocking(true).is_ok() && stuck.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
        assert!(is_answered(&served));
        meanwhile += 1;
    }
    let ended = began.elapsed();
    stuck.set_nonblocking(false).unwrap();
    assert_eq!(rest(stuck), "", "the caller of the stuck isolate gets a closed connection");
    assert!(meanwhile > 0, "nothing was answered while the isolate was stuck");
    assert!((Duration::from_millis(1400)..Duration::from_secs(20)).contains(&ended), "ended after {ended:?}");
    let said = served.wait_for("was ended; its connections are closed, and a new one is started");
    let line = said.lines().last().unwrap();
    assert!(line.contains("past the deadline of its call") && line.contains("tool=\"stuck\"") && line.contains("request_id=\""), "{line}");
    served.wait_for("a new isolate serves");
    println!("ended {ended:?} after the call, serves again {:?} after that; {meanwhile} calls meanwhile", began.elapsed() - ended);
    until("the new isolate serves nobody", || {
        assert!(is_answered(&served));
        children(served.child.id()).len() == 2
    });
    // Whichever isolate had this connection: it is open or closed, and never without an end.
    if kept.write_all(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").is_ok() {
        rest(kept);
    }
}

#[test]
fn an_isolate_that_is_stuck_in_what_observes_a_call_is_ended_and_the_call_named() {
    let app = hostile_app();
    // It waits first, so that the isolate has its turn in between.
    let after = "await new Promise((done) => setTimeout(done, 1000)); await ctx.db('endless').query('SELECT 1')";
    app.write("app/tools/observed/after.ts", &format!("export async function after(_, ctx) {{ {after} }}\n"));
    app.write("app/tools/observed/config.yaml", "use: main\nmiddleware: [./after.ts]\nstatement: SELECT 1\n");
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    let began = Instant::now();
    let stuck = begin(&served, "observed");
    assert_eq!(rest(stuck), "");
    let ended = began.elapsed();
    let said = served.wait_for("was ended; its connections are closed, and a new one is started");
    let line = said.lines().last().unwrap();
    assert!(
        line.contains("past the deadline of its call") && line.contains("tool=\"observed\"") && line.contains("request_id=\""),
        "{line}"
    );
    assert!(ended >= Duration::from_millis(5_400), "it has five seconds: {ended:?}");
    assert!(is_answered(&served));
}

#[test]
fn an_isolate_that_dies_is_named_with_its_call_and_started_again() {
    let app = hostile_app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    for (name, expected) in [("KILL", "was killed (signal 9)"), ("ABRT", "was aborted (signal 6)"), ("TRAP", "crashed (signal 5)")] {
        let call = begin(&served, "stuck-long");
        let victim = busy(&served);
        signal(name, victim);
        assert_eq!(rest(call), "");
        let line = served.wait_for("a new one is started");
        assert!(line.contains(expected) && line.contains("tool=\"stuck-long\"") && line.contains("request_id=\""), "{line}");
        assert!(is_answered(&served));
        served.wait_for("a new isolate serves");
        assert!(!lives(victim) && children(served.child.id()).len() == 2);
    }
}

#[test]
fn an_exhausted_stack_or_memory_ends_no_other_isolate() {
    let app = hostile_app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2", "--isolate-memory", "256"]);
    for tool in ["deep", "large"] {
        let neighbours: Vec<u32> = children(served.child.id());
        let mut call = begin(&served, tool);
        let mut first = [0];
        match call.read(&mut first) {
            // It was ended from within, as any other call.
            Ok(1) => continue,
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
        }
        let said = served.wait_for("a new one is started");
        let line = said.lines().last().unwrap();
        assert!(line.contains("its stack or its memory of 256 MB was exhausted") && line.contains(&format!("tool=\"{tool}\"")), "{line}");
        assert!(is_answered(&served));
        served.wait_for("a new isolate serves");
        let now = children(served.child.id());
        assert_eq!(neighbours.iter().filter(|pid| now.contains(pid)).count(), 1, "{neighbours:?} {now:?}");
    }
}

#[test]
fn a_signal_lets_calls_in_flight_finish_and_ends_every_isolate() {
    let app = hostile_app();
    let mut served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    let isolates = children(served.child.id());
    assert_eq!(isolates.len(), 2);
    let mut calls: Vec<TcpStream> = (0..4).map(|_| begin(&served, "slow")).collect();
    for _ in &calls {
        served.wait_for("begins to sleep");
    }
    // A terminal sends the signal to all processes at once.
    isolates.iter().for_each(|pid| signal("INT", *pid));
    assert_eq!(served.terminate(), Some(0));
    for call in &mut calls {
        let (status, body) = answer(call);
        assert!(status == 200 && body.contains("slept"), "{status} {body}");
    }
    until("an isolate outlives the server", || isolates.iter().all(|pid| !lives(*pid)));
}

/// The small app with tools that take their time: one answers at once what it has, one when it is
/// done, one takes very long.
fn patient_app() -> App {
    let app = app();
    for (name, body) in [
        ("waits", "ctx.log.info('begins'); await pause(4000); return 'waited'"),
        ("quiet", "console.log('begins to wait'); await pause(4000); return 'waited'"),
        ("endless", "console.log('begins to wait'); await pause(100_000); return 'waited'"),
    ] {
        app.write(&format!("app/tools/{name}/config.yaml"), "description: Waits.\nlimits: { timeout: 110s }\n");
        let pause = "const pause = (ms) => new Promise((done) => setTimeout(done, ms));\n";
        app.write(&format!("app/tools/{name}/handler.ts"), &format!("{pause}export default async (_, ctx) => {{ {body} }}\n"));
    }
    app
}

const HOSTS: [&[&str]; 2] = [&["dev", "--isolates", "2"], &["dev", "--isolates", "2", "--threads"]];

#[test]
fn a_server_that_ends_refuses_connections_and_finishes_calls_and_streams() {
    let app = patient_app();
    for host in HOSTS {
        let mut served = ServerProcess::start(app.path(), host);
        let mut idle = served.connect();
        assert!(call(&mut idle, "get-item", &json!({ "id": 1 })).contains("O'Neil"));
        let mut quiet = begin(&served, "quiet");
        served.wait_for("begins to wait");
        let mut stream = begin(&served, "waits");
        let mut seen = vec![0; 4096];
        let count = stream.read(&mut seen).unwrap();
        assert!(String::from_utf8_lossy(&seen[..count]).starts_with("HTTP/1.1 200 "));
        signal("TERM", served.child.id());
        served.wait_for("shutting down");
        until("connections are accepted still", || TcpStream::connect(served.address).is_err());
        assert!(served.child.try_wait().unwrap().is_none(), "the server has ended before its calls");
        assert_eq!(idle.read(&mut [0]).unwrap(), 0, "an idle connection stays");
        // The answers come, and then the connections end, though they could be kept.
        let (status, body) = answer(&mut quiet);
        assert!(status == 200 && body.contains("waited"), "{status} {body}");
        assert_eq!(quiet.read(&mut [0]).unwrap(), 0);
        let text = rest(stream);
        assert!(text.contains("waited") && text.ends_with("0\r\n\r\n"), "{text}");
        assert_eq!(served.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_server_that_ends_waits_for_calls_no_longer_than_it_may_and_not_at_all_after_a_second_signal() {
    let app = patient_app();
    for host in HOSTS {
        let mut served = ServerProcess::start(app.path(), &[host, &["--grace", "1"]].concat());
        let endless = begin(&served, "endless");
        served.wait_for("begins to wait");
        signal("TERM", served.child.id());
        served.wait_for("calls did not end in time and were aborted");
        assert_eq!(served.child.wait().unwrap().code(), Some(0));
        assert_eq!(rest(endless), "");

        let mut served = ServerProcess::start(app.path(), &[host, &["--grace", "3600"]].concat());
        let endless = begin(&served, "endless");
        served.wait_for("begins to wait");
        let isolates = children(served.child.id());
        signal("TERM", served.child.id());
        served.wait_for("shutting down");
        signal("TERM", served.child.id());
        assert_eq!(served.child.wait().unwrap().code(), Some(130));
        assert_eq!(rest(endless), "");
        until("an isolate outlives the server", || isolates.iter().all(|pid| !lives(*pid)));
    }
}

#[test]
fn isolates_end_with_their_supervisor_also_where_one_is_stuck() {
    let app = hostile_app();
    let mut served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    let isolates = children(served.child.id());
    let _stuck = begin(&served, "stuck-long");
    busy(&served);
    served.child.kill().unwrap();
    until("an isolate outlives its supervisor", || isolates.iter().all(|pid| !lives(*pid)));
}

#[test]
fn an_isolate_that_is_started_again_serves_what_the_others_serve() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    app.write("app/tools/new/config.yaml", "use: main\nstatement: SELECT 7 AS seven\n");
    served.wait_for("reloaded: 2 tools");
    for pid in children(served.child.id()) {
        signal("KILL", pid);
    }
    let said = served.wait_for("a new one is started");
    assert!(said.lines().last().unwrap().contains("was killed (signal 9)"), "{said}");
    // Whoever connects while no isolate is there waits for one.
    for _ in 0..8 {
        assert_eq!(served.call("new", &json!({})), "[{\"seven\":7}]");
    }
    // A connection that is kept sees a reload, too.
    let mut kept = served.connect();
    assert_eq!(call(&mut kept, "new", &json!({})), "[{\"seven\":7}]");
    app.write("app/tools/new/config.yaml", "use: main\nstatement: SELECT 8 AS seven\n");
    served.wait_for("reloaded: 2 tools");
    assert_eq!(call(&mut kept, "new", &json!({})), "[{\"seven\":8}]");
    assert_eq!(served.call("new", &json!({})), "[{\"seven\":8}]");
}

#[test]
fn connections_are_spread_over_the_isolates() {
    let app = app();
    let served = ServerProcess::start(app.path(), &["dev", "--isolates", "2"]);
    let answered = |_| {
        let mut socket = served.connect();
        assert!(call(&mut socket, "get-item", &json!({ "id": 1 })).contains("O'Neil"));
        socket
    };
    let _sockets: Vec<TcpStream> = (0..40).map(answered).collect();
    let open = |pid: &u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        files.filter(|file| fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))).count()
    };
    let counts: Vec<usize> = children(served.child.id()).iter().map(open).collect();
    assert!(counts.iter().all(|count| *count >= 12), "{counts:?}");
}

#[test]
fn a_server_whose_isolates_cannot_start_says_so_and_ends() {
    let app = app();
    run(app.path(), &["build", "--target", "local"]);
    // Enough for the supervisor, and not for the stack of an isolate.
    let command = format!("ulimit -d 12000; exec '{}' serve dist/small.bundle --isolates 2 --port 0", env!("CARGO_BIN_EXE_millrace"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(app.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("could not start: ended with exit code 1"), "{said}");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("http://"));
}

/// Ends every isolate of a server, and waits until others serve in their place.
fn renew(served: &ServerProcess) {
    let before = children(served.child.id());
    before.iter().for_each(|pid| signal("KILL", *pid));
    until("no isolate is started again", || {
        let now = children(served.child.id());
        now.len() == before.len() && now.iter().all(|pid| !before.contains(pid))
    });
}

#[test]
#[cfg(target_os = "linux")]
fn isolates_are_of_the_program_that_runs_whatever_became_of_its_file() {
    let app = app();
    run(app.path(), &["build", "--target", "local"]);
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("millrace");
    fs::copy(env!("CARGO_BIN_EXE_millrace"), &program).unwrap();
    let mut command = Command::new(&program);
    let served = ServerProcess::of(command.current_dir(app.path()).args(["serve", "dist/small.bundle", "--isolates", "2", "--port", "0"]));
    // An update puts another program in its place, and then takes it away.
    fs::write(folder.path().join("other"), "#!/bin/sh\nexit 3\n").unwrap();
    fs::rename(folder.path().join("other"), &program).unwrap();
    renew(&served);
    assert!(is_answered(&served));
    fs::remove_file(&program).unwrap();
    renew(&served);
    assert!(is_answered(&served));
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_that_can_start_no_isolate_any_more_ends_with_a_message() {
    let app = app();
    run(app.path(), &["build", "--target", "local"]);
    let mut served = ServerProcess::start(app.path(), &["serve", "dist/small.bundle", "--isolates", "2"]);
    // It has no place for the socket of a new isolate.
    let limited = Command::new("prlimit").args(["--nofile=3:3", "--pid", &served.child.id().to_string()]).status().unwrap();
    assert!(limited.success());
    let isolates = children(served.child.id());
    signal("KILL", isolates[0]);
    served.wait_for("an isolate could not be started");
    // One is enough to go on.
    assert!(is_answered(&served));
    signal("KILL", isolates[1]);
    let said = served.wait_for("the server ends");
    assert!(said.contains("error: no isolate serves, and none can be started (could not be started: "), "{said}");
    assert_eq!(served.child.wait().unwrap().code(), Some(1));
}

#[test]
fn isolates_may_be_threads_and_are_not_started_by_hand() {
    let app = app();
    let mut served = ServerProcess::start(app.path(), &["dev", "--isolates", "2", "--threads"]);
    assert!(is_answered(&served));
    assert!(children(served.child.id()).is_empty());
    let (status, _) = post(&mut served.connect(), "{}");
    assert_eq!(status, 400);
    assert_eq!(served.terminate(), Some(0));
    let said = run(app.path(), &["isolate", "--index", "0", "--isolates", "1", "--memory", "128", "--grace", "1"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("`isolate` is started by `dev` and `serve`"), "{}", said.err);
    let help = String::from_utf8(binary().arg("--help").output().unwrap().stdout).unwrap();
    assert!(!help.contains("isolate"), "{help}");
}
