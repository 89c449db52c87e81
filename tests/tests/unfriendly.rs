//! Two thousand connections of every unfriendly kind at once against the real server: another
//! caller is answered, and memory is bounded.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{self, Write as _},
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};

use millrace_tests::{
    case::Exchange,
    local::{Host, binary},
};

/// How many connections of each kind there are.
const BATCHES: usize = 20;
const LARGE: usize = 150;
const STREAMS: usize = 80;
const BODIES: usize = 550;
const HEADS: usize = 550;
const IDLE: usize = 650;

/// What the server may ever take, in bytes.
// Of it, up to 64 calls of each isolate have a memory for their script, of which some 0.4 MB are
// touched: 165 MB were measured.
const MEMORY: u64 = 192 << 20;

/// How long another caller may wait; far more than it takes.
const PATIENCE: Duration = Duration::from_secs(8);

/// How long the server may work before the test gives up.
const GIVE_UP: Duration = Duration::from_secs(120);

const APP: [(&str, &str); 7] = [
    ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n"),
    ("millrace.yaml", "name: unfriendly\nlimits: { batch: { output: 2mb } }\n"),
    ("app/tools/hello/config.yaml", "description: Says hello.\n"),
    ("app/tools/hello/handler.ts", "export default () => 'hello';\n"),
    (
        "app/tools/large/config.yaml",
        "description: A long text.\nuse: main\nstatement: SELECT hex(zeroblob(200000)) AS text\nlimits: { output: 1mb }\n",
    ),
    ("app/tools/talk/config.yaml", "description: Says much before its result.\nlimits: { output: 1mb }\n"),
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

/// The most that a server's only isolate ever had in memory, in bytes.
fn peak(supervisor: u32) -> u64 {
    let children = fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children")).unwrap();
    let pid = children.trim();
    assert!(pid.bytes().all(|byte| byte.is_ascii_digit()) && !pid.is_empty(), "isolates: {children}");
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
        millrace_tests::files::write(folder.path(), path, text);
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

    // Those that make the server work come first. They are all under way, or over, once each of
    // them was answered or closed.
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

/// The beginning of a `ClientHello` that claims to be as long as they get, in two records of which
/// the second one lacks its end.
fn long_hello() -> Vec<u8> {
    let mut bytes = b"\x16\x03\x01\x40\x00\x01\x00\xff\xff\x03\x03".to_vec();
    bytes.resize(5 + 0x4000, 0);
    bytes.extend_from_slice(b"\x16\x03\x01\x40\x00");
    bytes.resize(31_000, 0);
    bytes
}

#[test]
fn two_thousand_handshakes_that_do_not_end_keep_nobody_else_waiting() {
    assert!(rlimit::increase_nofile_limit(8192).unwrap() > 4096, "the test needs more open files");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("millrace.yaml"), "name: small\n").unwrap();
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("tls.crt"), cert.pem()).unwrap();
    fs::write(folder.path().join("tls.key"), signing_key.serialize_pem()).unwrap();
    let build = Command::new(binary()).args(["build", "--target", "local"]).current_dir(folder.path()).output().unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let file = |name: &str| folder.path().join(name).display().to_string();
    let host = Host::serve(&folder.path().join("dist/small.bundle"), &["--tls-cert", &file("tls.crt"), "--tls-key", &file("tls.key")], &[]);
    let url = format!("https://127.0.0.1:{}/livez", host.port);
    let ask = || {
        let begun = Instant::now();
        let asked = Command::new(binary()).args(["health", &url, "--timeout", "60"]).output().unwrap();
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        begun.elapsed()
    };
    let alone = ask();
    let before = peak(host.pid());
    let _kinds = [open(host.port, 800, &long_hello()), open(host.port, 600, &long_hello()[..7]), open(host.port, 600, b"")];
    let waited = ask();
    let peak = peak(host.pid());
    println!("another caller: {waited:?}, alone {alone:?}; memory: {} MB, before {} MB", peak >> 20, before >> 20);
    assert!(waited < PATIENCE, "another caller waited for {waited:?}, and {alone:?} when it was alone");
    assert!(peak < MEMORY, "the server took {} MB, {} MB before", peak >> 20, before >> 20);
}
