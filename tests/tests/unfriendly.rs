//! Two thousand connections of every unfriendly kind at once against the real server: another caller is answered, and memory is bounded.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{self, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use millrace_tests::{case::Exchange, local::Host};

/// How many connections of each kind there are.
const BATCHES: usize = 20;
const LARGE: usize = 150;
const STREAMS: usize = 80;
const BODIES: usize = 550;
const HEADS: usize = 550;
const IDLE: usize = 650;

/// What the server may ever take, in bytes.
const MEMORY: u64 = 150 << 20;

/// How long another caller may wait; far more than it takes.
const PATIENCE: Duration = Duration::from_secs(8);

/// How long the server may work before the test gives up.
const GIVE_UP: Duration = Duration::from_secs(120);

const APP: [(&str, &str); 7] = [
    ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n"),
    ("millrace.yaml", "name: unfriendly\nlimits: { batch: { output: 2mb } }\n"),
    ("app/tools/hello/config.yaml", "description: Says hello.\n"),
    ("app/tools/hello/handler.ts", "export default () => 'hello';\n"),
    ("app/tools/large/config.yaml", "description: A long text.\nuse: main\nstatement: SELECT hex(zeroblob(200000)) AS text\n"),
    ("app/tools/talk/config.yaml", "description: Says much before its result.\n"),
    (
        "app/tools/talk/handler.ts",
        "const line = 'y'.repeat(8000);\nexport default (_, ctx) => {\n  for (let i = 0; i < 30; i++) ctx.log.info(line);\n  return 'z'.repeat(100_000);\n};\n",
    ),
];

fn call(id: usize, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

fn post(body: &str) -> String {
    let head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len())
}

/// Opens connections that send something and read nothing.
fn open(port: u16, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let connection = || {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        socket.set_nonblocking(true).unwrap();
        match socket.write(bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
        socket
    };
    (0..count).map(|_| connection()).collect()
}

/// Whether the server has said anything on a connection, or has closed it.
fn is_answered(socket: &TcpStream) -> bool {
    !matches!(socket.peek(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

/// The most that a process ever had in memory, in bytes.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn two_thousand_unfriendly_connections_keep_nobody_else_waiting() {
    // Each connection is a file here, too.
    assert!(rlimit::increase_nofile_limit(8192).unwrap() > 4096, "the test needs more open files");
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in APP {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let host = Host::dev(folder.path(), &[]);
    let hello = Exchange::parse("CALL hello");
    let ask = || {
        let begun = Instant::now();
        let answer = host.send(&hello);
        assert!(answer.starts_with("HTTP 200") && answer.contains(r#""text":"hello""#), "{answer}");
        begun.elapsed()
    };
    ask();
    let alone = (0..20).map(|_| ask()).max().unwrap();
    let before = peak(host.pid());

    // Those that make the server work come first. They are all under way, or over, once each of them was answered or closed.
    let batch: Vec<String> = (0..100).map(|id| call(id, "large")).collect();
    let mut working = open(host.port, BATCHES, post(&format!("[{}]", batch.join(","))).as_bytes());
    working.extend(open(host.port, LARGE, post(&call(1, "large")).as_bytes()));
    working.extend(open(host.port, STREAMS, post(&call(1, "talk")).as_bytes()));
    // Most of a body, and never the rest.
    let body = format!("{}{}", post(&"x".repeat(1 << 20)).split_once("\r\n\r\n").unwrap().0, "\r\n\r\n");
    let slow = open(host.port, BODIES, format!("{body}{}", "x".repeat(200_000)).as_bytes());
    let begun = Instant::now();
    let mut during = Duration::ZERO;
    while !working.iter().all(is_answered) {
        during = during.max(ask());
        assert!(begun.elapsed() < GIVE_UP, "the server does not get through its work");
    }
    let heads = open(host.port, HEADS, b"POST /mcp HTTP/1.1\r\nHos");
    let idle = open(host.port, IDLE, b"");

    let waited = ask();
    // Unread bytes hide from a peek that the server has closed its end; a reset does not.
    let reset = working.iter().filter(|socket| socket.take_error().unwrap().is_some()).count();
    let refused = slow.iter().filter(|socket| is_answered(socket)).count();
    let silent = [&heads, &idle].map(|kind| kind.iter().filter(|socket| !is_answered(socket)).count());
    let peak = peak(host.pid());
    println!(
        "another caller: {waited:?}, alone {alone:?}, while the server worked {during:?}; memory: {} MB, before {} MB; {reset} reset, {refused} bodies refused",
        peak >> 20,
        before >> 20
    );
    assert_eq!(silent, [HEADS, IDLE], "these are open all the while");
    assert!(waited < PATIENCE, "another caller waited for {waited:?}, and {alone:?} when it was alone");
    assert!(peak < MEMORY, "the server took {} MB, {} MB before", peak >> 20, before >> 20);
}
