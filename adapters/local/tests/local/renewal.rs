//! `serve` renewed while it is called: by `SIGHUP`, and by a start on the socket of a service
//! manager. No connection is refused, and no call is without its answer.

use std::{
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{App, GET_ITEM, ServerProcess, app, binary, call, run};

mod versions;

/// What ends a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Clients that keep their connections, and as many that make one for each call.
const CLIENTS: u32 = 4;

/// Together some 500 calls a second, where the machine is not busy with others.
const PAUSE: Duration = Duration::from_millis(12);

const BUNDLE: &str = "dist/small.bundle";

/// A bundle whose tool says another word.
fn build(app: &App, word: &str) {
    app.write("app/tools/get-item/config.yaml", &GET_ITEM.replace("name FROM", &format!("name, '{word}' AS word FROM")));
    let said = run(app.path(), &["build", "--target", "local"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

fn word(socket: &mut TcpStream) -> String {
    call(socket, "get-item", &json!({ "id": 1 }))
}

#[test]
fn sighup_renews_the_app_on_open_connections_and_what_is_wrong_changes_nothing() {
    for threads in [&["--isolates", "2"][..], &["--threads"]] {
        let app = app();
        build(&app, "first");
        let served = ServerProcess::start(app.path(), &[&["serve", BUNDLE, "--host", "0.0.0.0"], threads].concat());
        let address = SocketAddr::from(([127, 0, 0, 1], served.address.port()));
        let mut kept = TcpStream::connect(address).unwrap();
        assert!(word(&mut kept).contains("first"));
        build(&app, "second");
        assert!(word(&mut kept).contains("first"), "a bundle on the disk is nobody's");
        signal("HUP", served.child.id());
        served.wait_for("renewed: `small` with 1 tool at http://");
        assert!(word(&mut kept).contains("second"));
        let good = fs::read(app.path().join(BUNDLE)).unwrap();
        app.write("millrace.yaml", "name: small\nserver: { hosts: [mcp.example.com] }\n");
        build(&app, "third");
        let other_hosts = fs::read(app.path().join(BUNDLE)).unwrap();
        for (bytes, expected) in [
            (&good[..good.len() / 2], format!("stays: `{BUNDLE}`: ")),
            (&b"nothing"[..], format!("stays: `{BUNDLE}`: ")),
            (&other_hosts[..], "start the server again".to_owned()),
        ] {
            fs::write(app.path().join(BUNDLE), bytes).unwrap();
            signal("HUP", served.child.id());
            let said = served.wait_for("the app is not renewed, and the one before stays: ");
            let line = said.lines().last().unwrap();
            assert!(line.contains("ERROR") && line.contains(&expected), "{expected}: {line}");
            assert!(word(&mut kept).contains("second"));
        }
        fs::remove_file(app.path().join(BUNDLE)).unwrap();
        signal("HUP", served.child.id());
        served.wait_for("`dist/small.bundle` cannot be read: ");
        assert!(word(&mut kept).contains("second"));
    }
}

/// A response: its status, its body, and whether it is the last one of its connection.
fn response(socket: &TcpStream) -> std::io::Result<(u16, String, bool)> {
    let mut reader = BufReader::new(socket);
    let (mut status, mut length, mut is_last) = (0, 0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => break,
            "connection: close" => is_last = true,
            line => match (line.strip_prefix("HTTP/1.1 "), line.strip_prefix("content-length: ")) {
                (Some(rest), _) => status = rest[..3].parse().unwrap(),
                (_, Some(value)) => length = value.parse().unwrap(),
                _ => {}
            },
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((status, String::from_utf8(body).unwrap(), is_last))
}

/// Calls whoever listens on a port until it is told to end; `keeps` its connection for as long as
/// the server does.
fn client(port: &AtomicU16, keeps: bool, pause: Duration, ends: &AtomicBool, answered: &AtomicU32) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-item","arguments":{"id":1}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut kept: Option<TcpStream> = None;
    while !ends.load(Ordering::Relaxed) {
        let mut socket = kept.take().unwrap_or_else(|| connect(port).unwrap_or_else(|error| panic!("a connection is refused: {error}")));
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let answer = socket.write_all(request.as_bytes()).and_then(|()| response(&socket));
        let (status, body, is_last) =
            answer.unwrap_or_else(|error| panic!("a call has no answer (keeps its connection: {keeps}): {error}"));
        assert!(status == 200 && body.contains("O'Neil"), "{status} {body}");
        answered.fetch_add(1, Ordering::Relaxed);
        kept = Some(socket).filter(|_| keeps && !is_last);
        thread::sleep(pause);
    }
}

fn connect(port: &AtomicU16) -> std::io::Result<TcpStream> {
    TcpStream::connect(("127.0.0.1", port.load(Ordering::Relaxed)))
}

/// Calls whoever listens on a port from all sides while `renew` runs; gives how many calls were
/// answered.
fn while_called(port: &AtomicU16, renew: impl FnOnce(&AtomicU32)) -> u32 {
    let (ends, answered) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for number in 0..2 * CLIENTS {
            let (ends, answered) = (&ends, &answered);
            // One of them sends the next request as soon as it has an answer.
            let pause = if number == 0 { Duration::ZERO } else { PAUSE };
            scope.spawn(move || client(port, number < CLIENTS, pause, ends, answered));
        }
        // Also where a renewal is never said: the clients must end for the test to fail.
        let end = End(&ends);
        until_answered(&answered, 50);
        renew(&answered);
        until_answered(&answered, answered.load(Ordering::Relaxed) + 50);
        drop(end);
    });
    answered.into_inner()
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn until_answered(answered: &AtomicU32, count: u32) {
    let began = Instant::now();
    while answered.load(Ordering::Relaxed) < count {
        assert!(began.elapsed() < PATIENCE, "no calls are answered");
        thread::sleep(Duration::from_millis(5));
    }
}

fn renewals() -> u32 {
    if std::env::var("MILLRACE_TESTS").as_deref() == Ok("all") { 50 } else { 5 }
}

/// What the processes of a server have in memory, in KB.
fn memory_kb(pid: u32) -> u64 {
    let of = |pid: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
    };
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().map(of).sum::<u64>() + of(&pid.to_string())
}

#[test]
fn renewals_under_load_lose_no_call_and_refuse_no_connection() {
    let app = app();
    let bundles = ["odd", "even"].map(|word| {
        build(&app, word);
        fs::read(app.path().join(BUNDLE)).unwrap()
    });
    let served = ServerProcess::start(app.path(), &["serve", BUNDLE, "--isolates", "2", "--log", "warn,millrace::commands=info"]);
    let (count, pid, began) = (renewals(), served.child.id(), Instant::now());
    let mut memory = Vec::new();
    let answered = while_called(&AtomicU16::new(served.address.port()), |answered| {
        for number in 0..count {
            let word = ["odd", "even"][number as usize % 2];
            until_answered(answered, answered.load(Ordering::Relaxed) + 100);
            put(&app, &bundles[number as usize % 2]);
            signal("HUP", pid);
            served.wait_for("renewed: ");
            assert!(served.call("get-item", &json!({ "id": 1 })).contains(word), "renewal {number}");
            memory.push(memory_kb(pid));
        }
    });
    let rate = f64::from(answered) / began.elapsed().as_secs_f64();
    println!("{count} renewals in {:?}, {answered} calls ({rate:.0} a second), all answered; memory in KB: {memory:?}", began.elapsed());
}

/// Puts a bundle in the place of another at once, as a deployment does.
fn put(app: &App, bundle: &[u8]) {
    fs::write(app.path().join("dist/next"), bundle).unwrap();
    fs::rename(app.path().join("dist/next"), app.path().join(BUNDLE)).unwrap();
}

/// A server that gets its socket as from a service manager, and tells it what it does.
struct Unit {
    socket: TcpListener,
    told: UnixDatagram,
    folder: tempfile::TempDir,
}

impl Unit {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let told = UnixDatagram::bind(folder.path().join("notify")).unwrap();
        told.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket: TcpListener::bind("127.0.0.1:0").unwrap(), told, folder }
    }

    /// The shell puts the socket where such a server expects it, and becomes the server.
    fn start(&self, app: &Path) -> Running {
        self.start_with(app, "warn", &[])
    }

    /// The same with another level of the log, and variables.
    fn start_with(&self, app: &Path, log: &str, variables: &[(&str, &str)]) -> Running {
        let shell = r#"exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@""#;
        let mut command = Command::new("sh");
        command.args(["-c", shell]).arg(binary().get_program()).args(["serve", BUNDLE, "--isolates", "2", "--log", log]);
        command.current_dir(app).env("NOTIFY_SOCKET", self.folder.path().join("notify")).env_remove("PORT");
        command.envs(variables.iter().copied());
        command.stdin(OwnedFd::from(self.socket.try_clone().unwrap())).stdout(Stdio::null());
        let running = Running(command.spawn().unwrap());
        let said = self.hears();
        assert!(said.starts_with("READY=1\nSTATUS=`small` with ") && said.contains(" at http://127.0.0.1:"), "{said}");
        running
    }

    fn hears(&self) -> String {
        let mut bytes = [0; 1024];
        let length = self.told.recv(&mut bytes).unwrap_or_else(|error| panic!("the service manager is not told: {error}"));
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }
}

/// A server; it is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_server_on_the_socket_of_a_service_manager_is_exchanged_without_a_lost_call() {
    let app = app();
    build(&app, "first");
    let unit = Unit::new();
    let address = unit.socket.local_addr().unwrap();
    let mut running = Some(unit.start(app.path()));
    let (count, began) = (renewals(), Instant::now());
    let answered = while_called(&AtomicU16::new(address.port()), |answered| {
        for _ in 0..count {
            until_answered(answered, answered.load(Ordering::Relaxed) + 50);
            let mut before = running.take().unwrap();
            signal("TERM", before.0.id());
            assert!(unit.hears().starts_with("STOPPING=1\n"));
            assert_eq!(before.0.wait().unwrap().code(), Some(0));
            running = Some(unit.start(app.path()));
        }
    });
    println!("{count} starts in {:?}, {answered} calls, all answered", began.elapsed());
    // A reload is told from its begin to its end, also one that fails.
    let pid = running.as_ref().unwrap().0.id();
    build(&app, "second");
    for expected in ["READY=1\nSTATUS=`small` with 1 tool at ", "READY=1\nSTATUS=not renewed: `dist/small.bundle` cannot be read: "] {
        signal("HUP", pid);
        let said = unit.hears();
        let time = said.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap_or_else(|| panic!("{said}"));
        assert!(time.trim().parse::<u64>().is_ok_and(|micros| micros > 0), "{said}");
        let said = unit.hears();
        assert!(said.starts_with(expected), "{said}");
        fs::remove_file(app.path().join(BUNDLE)).unwrap_or_default();
    }
    assert!(word(&mut TcpStream::connect(address).unwrap()).contains("second"));
}

#[test]
fn sockets_that_are_for_another_process_are_not_taken() {
    let app = app();
    build(&app, "first");
    let served = ServerProcess::of(
        binary().current_dir(app.path()).args(["serve", BUNDLE, "--port", "0"]).envs([("LISTEN_PID", "1"), ("LISTEN_FDS", "1")]),
    );
    assert!(word(&mut served.connect()).contains("first"));
    let start = |count: &str| {
        let shell = format!(r#"LISTEN_PID=$$ LISTEN_FDS={count} exec "$0" serve {BUNDLE} 3</dev/null 4</dev/null"#);
        let output = Command::new("sh").args(["-c", &shell]).arg(binary().get_program()).current_dir(app.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (count, expected) in [("1", "the socket of `LISTEN_FDS` cannot be used: "), ("2", "`LISTEN_FDS` gives 2 sockets")] {
        let (code, said) = start(count);
        assert!(code == Some(1) && said.contains(expected), "{said}");
    }
}

#[test]
fn the_units_of_the_docs_are_as_systemd_wants_them() {
    let docs = include_str!("../../../../docs/renewing.md");
    let folder = tempfile::tempdir().unwrap();
    let units: Vec<_> = docs.split("```ini\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(units.len(), 2, "a service and its socket");
    let program = binary().get_program().to_str().unwrap().to_owned();
    let version = Command::new("systemd-analyze").arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let version: u32 = version.split(' ').nth(1).unwrap().parse().unwrap();
    // What the page says for a systemd that does not know the type yet.
    let (older, before) =
        ("Type=notify\nExecReload=/bin/kill -HUP $MAINPID", "use `Type=notify` and\n`ExecReload=/bin/kill -HUP $MAINPID`");
    assert!(docs.contains(before));
    let paths = units.iter().map(|unit| {
        let name = unit.lines().next().unwrap().rsplit('/').next().unwrap();
        let path = folder.path().join(name);
        fs::write(
            &path,
            unit.replace("/usr/local/bin/millrace", &program)
                .replace("Type=notify-reload", if version < 253 { older } else { "Type=notify-reload" }),
        )
        .unwrap();
        path
    });
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(paths).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && said.is_empty(), "{said}");
}
