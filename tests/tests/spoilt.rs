//! Spoilt requests, bundles and app folders: the process and its isolates outlive them, and their
//! memory does not grow.
//!
//! The corpus is that of the cases: their requests, their apps, and the bundles of these. What is
//! spoilt is the same in every run. A few of each run with the other tests, and a third of these
//! without `scripts/test --all`; `MILLRACE_SPOILT=full` runs 100,000 requests, 10,000 bundles and
//! 10,000 folders, each test alone, as CONTRIBUTING.md says.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

use millrace_bundler::{Options, Severity};
use millrace_core::{
    Endpoint,
    app::App,
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, Request},
};
use millrace_native::{cache::CacheChoice, env::Variables, isolate::STACK_BYTES, ports, wait_until::Tasks};
use millrace_tests::{Group, case::Exchange, direct, groups, is_everything_run, local::Host, sample};

/// What the memory at the end may be more than after the first tenth: a tenth, and what a small
/// process takes once and late.
const SLACK_BYTES: usize = 10 << 20;

/// What is put into texts and bytes.
const SHARDS: [&[u8]; 32] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\x1b[2J",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b"\\",
    b": ",
    b"- ",
    b",",
    b"&a ",
    b"*a",
    b"\r\n",
    b"\n",
    b"{{ inputs.x }}",
    b"}}",
    b"`${",
    b"(((((((((((((((((((((((((((((((((",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!",
    b"null",
    b"-1",
    b"1e999",
    b"9007199254740993",
    b"99999999999999999999",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"--",
];

/// A small generator (xorshift64*), the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % sides.max(1)
    }

    /// Spoils bytes in one to four places.
    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len() + 1);
            let end = (at + 1 + self.roll(16)).min(bytes.len());
            match self.roll(8) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => bytes[at] ^= 1 << self.roll(8),
                2 if at < bytes.len() => bytes[at] = self.roll(256) as u8,
                3 => drop(bytes.drain(at..end)),
                4 => {
                    let part = bytes[at..end].to_vec();
                    let to = self.roll(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                5 => {
                    let part = bytes[at..end].repeat(1 + self.roll(40));
                    bytes.splice(at..at, part);
                }
                _ => {
                    let shard = SHARDS[self.roll(SHARDS.len())];
                    bytes.splice(at..at, shard.iter().copied());
                }
            }
        }
    }
}

/// How many to spoil: `few` with `scripts/test --all`, a third of these with `scripts/test`, else
/// what `MILLRACE_SPOILT` says, `full` or a number of per cent.
fn count(few: usize, full: usize) -> usize {
    let share =
        std::env::var("MILLRACE_SPOILT").ok().and_then(|value| if value == "full" { Some(100) } else { value.parse::<usize>().ok() });
    let few = if is_everything_run() { few } else { few / 3 };
    share.map_or(few, |percent| full * percent / 100)
}

/// The groups that need nothing but this machine.
fn corpus() -> Vec<Group> {
    groups()
        .into_iter()
        .filter(|group| group.postgres.is_none() && group.mysql.is_none() && group.clickhouse.is_none() && group.dynamodb.is_none())
        .collect()
}

/// The memory that a process has, in bytes; `None` where nobody tells.
fn resident(process: &str) -> Option<usize> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

/// Does something many times, and looks at the memory of a process after a tenth, at half and at
/// the end. Says where it grew.
fn steadily(what: &str, count: usize, process: &str, mut work: impl FnMut(usize)) -> Option<String> {
    let (mut first, mut half) = (None, None);
    for round in 0..count {
        if round == count / 10 {
            first = resident(process);
        }
        if round == count / 2 {
            half = resident(process);
        }
        work(round);
    }
    let (first, half, last) = (first?, half?, resident(process)?);
    let megabytes = [first, half, last].map(|bytes| format!("{:.1}", bytes as f64 / 1e6));
    println!("{count} spoilt {what}: {} MB", megabytes.join(", "));
    // A few are not enough for memory to come to rest.
    let grew = count >= 5000 && last > first + first / 10 + SLACK_BYTES;
    grew.then(|| format!("memory grew over {count} spoilt {what}: {} MB", megabytes.join(", ")))
}

fn raw(request: &Exchange, port: u16) -> Vec<u8> {
    let mut text = format!("{} {} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n", request.method, request.path);
    for (name, value) in &request.headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !request.body.is_empty() || request.method == "POST" {
        text += &format!("content-length: {}\r\n", request.body.len());
    }
    (text + "\r\n" + &request.body).into_bytes()
}

/// Sends bytes and reads what comes back, if anything does. A request that is cut short ends with
/// the connection.
fn exchange(port: u16, bytes: &[u8]) {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { panic!("the server is gone") };
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may have closed the connection before it took everything.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn a_server_outlives_spoilt_requests() {
    // A server for each: every third.
    let groups = if std::env::var_os("MILLRACE_SPOILT").is_some() { corpus() } else { sample(corpus(), 3) };
    let each = count(1_200, 100_000) / groups.len();
    let mut grown = Vec::new();
    for group in groups {
        let requests: Vec<&Exchange> = group.cases.iter().flat_map(|case| &case.requests).collect();
        if requests.is_empty() {
            continue;
        }
        let folder = group.install();
        let host = Host::dev(folder.path(), &group.env);
        let mut dice = Dice(0x7370_6f69_6c74 + each as u64);
        let process = host.pid().to_string();
        // What is made at the first use, such as the engine of scripts, is no growth.
        for request in requests.iter().chain(&requests) {
            exchange(host.port, &raw(request, host.port));
        }
        let grew = steadily(&format!("requests of `{}`", group.name), each, &process, |_| {
            let request = requests[dice.roll(requests.len())];
            let mut bytes;
            if dice.roll(4) == 0 {
                bytes = raw(request, host.port);
                dice.spoil(&mut bytes);
            } else {
                let mut body = request.body.clone().into_bytes();
                dice.spoil(&mut body);
                let head = Exchange { body: String::new(), headers: request.headers.clone(), ..request.clone() };
                bytes = raw(&head, host.port);
                let text = String::from_utf8(bytes).unwrap();
                bytes = text.replace("content-length: 0\r\n", &format!("content-length: {}\r\n", body.len())).into_bytes();
                bytes.extend(body);
            }
            exchange(host.port, &bytes);
        });
        grown.extend(grew);
        let probe = Exchange { method: "GET".to_owned(), path: "/livez".to_owned(), headers: Vec::new(), body: String::new() };
        let answer = host.send(&probe);
        assert!(answer.contains("200") && resident(&process).is_some(), "`{}`: {answer}", group.name);
    }
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}

#[test]
fn a_process_outlives_spoilt_bundles() {
    let corpus: Vec<(Group, Vec<u8>, tempfile::TempDir)> = corpus()
        .into_iter()
        .filter(|group| !group.cases.is_empty())
        .map(|group| {
            let folder = group.install();
            let bundle = direct::compile(folder.path()).to_bundle().unwrap();
            (group, bundle, folder)
        })
        .collect();
    let mut dice = Dice(0x6275_6e64_6c65);
    let (mut served, rounds) = (0, count(150, 10_000));
    let grown = steadily("bundles", rounds, "self", |round| {
        let (group, bundle, folder) = &corpus[round % corpus.len()];
        let mut bytes = bundle.clone();
        // A bundle of which little is spoilt is read, and served.
        if dice.roll(2) == 0 {
            dice.spoil(&mut bytes);
        } else {
            let at = 10 + dice.roll(bytes.len() - 10);
            bytes[at] ^= 1 << dice.roll(8);
        }
        let Ok(app) = App::from_bundle(&bytes) else { return };
        served += 1;
        let requests: Vec<&Exchange> = group.cases.iter().flat_map(|case| &case.requests).collect();
        let asked: Vec<&Exchange> = (0..3).map(|_| requests[dice.roll(requests.len())]).collect();
        // In an isolate of its own, with the stack that hosts give one.
        let outcome = std::thread::scope(|scope| {
            let isolate = std::thread::Builder::new().stack_size(STACK_BYTES);
            isolate.spawn_scoped(scope, || serve(app, folder.path(), group, &asked)).unwrap().join()
        });
        assert!(outcome.is_ok(), "a spoilt bundle of `{}` panics in round {round}: {asked:?}", group.name);
    });
    assert_eq!(grown, None);
    assert!(served * 8 > rounds, "only {served} of {rounds} bundles were served");
}

fn serve(app: App, folder: &Path, group: &Group, requests: &[&Exchange]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let variables = Variables::from_iter(group.env.iter().cloned());
        let endpoint = Endpoint::new(app, ports::native(folder.to_path_buf(), variables, &CacheChoice::Memory, &Tasks::new()));
        for request in requests {
            let mut headers = Headers::new();
            headers.append("host", "127.0.0.1:8080");
            request.headers.iter().for_each(|(name, value)| headers.append(name, value.clone()));
            let request = Request {
                method: request.method.clone(),
                path: request.path.clone(),
                query: String::new(),
                headers,
                body: Body::Whole(request.body.clone().into_bytes()),
                deadline_ms: None,
                cancel: Cancel::new(),
                peer: None,
                platform_caller: None,
                checks_host: true,
                is_tls: false,
                is_local: false,
            };
            // A spoilt time may be long; nobody has to wait for the answer.
            let _ = tokio::time::timeout(Duration::from_millis(500), async { endpoint.handle(request).await.body.collect().await }).await;
        }
    });
}

#[test]
fn a_process_outlives_spoilt_app_folders() {
    let corpus: Vec<Vec<(PathBuf, Vec<u8>)>> = corpus().iter().map(|group| files(group.install().path())).collect();
    let connectors: Vec<String> =
        millrace_catalogue::on(millrace_catalogue::Host::Native).map(|connector| connector.name.to_owned()).collect();
    let options = Options { connectors, ..Options::default() };
    let mut dice = Dice(0x666f_6c64_6572);
    let mut broken = 0;
    let rounds = count(150, 10_000);
    let grown = steadily("app folders", rounds, "self", |round| {
        let mut files = corpus[round % corpus.len()].clone();
        for _ in 0..=dice.roll(3) {
            let index = dice.roll(files.len());
            dice.spoil(&mut files[index].1);
        }
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in &files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let report = millrace_bundler::bundle(folder.path(), &options);
        let errors = report.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(report.app.is_none(), errors, "round {round}: {:?}", report.diagnostics);
        let shown = millrace_bundler::render(folder.path(), &report.diagnostics, false);
        assert!(!shown.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')), "round {round}: {shown:?}");
        broken += usize::from(errors);
    });
    assert_eq!(grown, None);
    assert!(broken * 4 > rounds, "only {broken} of {rounds} apps are broken: the generator is too kind");
}

/// The files of a folder, by their paths in it.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if !kind.is_file() => {}
                _ => found.push((entry.path().strip_prefix(folder).unwrap().to_path_buf(), fs::read(entry.path()).unwrap())),
            }
        }
    }
    found.sort();
    found
}
