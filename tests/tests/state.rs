//! Counters, records and places of real servers whose isolates share a file: killed again and
//! again, two in one folder, flooded by one caller, on a disk that is full, with a file that is
//! damaged.
//!
//! `MILLRACE_STATE_TEST=full` runs 10,000 keys of 200 clients with a kill in each second, and 5,000
//! calls at once of 8 isolates.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use millrace_core::Json;
use millrace_tests::{local::Host, process::children};
use serde_json::json;

const FILES: &[(&str, &str)] = &[
    ("millrace.yaml", "name: shared\n"),
    (
        "app/adapters/db.yaml",
        "connector: sqlite\nconnection_string: k.db\noptions: { seed: ./s.sql, busy_timeout: 20s, journal_mode: wal }\n",
    ),
    ("app/adapters/s.sql", "CREATE TABLE done (id INTEGER PRIMARY KEY, k TEXT);\nCREATE TABLE running (id INTEGER PRIMARY KEY);\n"),
    ("app/auth.ts", "export default ({ headers }: any) => ({ subject: headers['x-sub'] ?? 'somebody' });\n"),
    ("app/tools/_folder.yaml", "auth: { plugin: ../auth.ts }\n"),
    (
        "app/tools/pay/config.yaml",
        "description: x\nidempotency: { key: '{{ inputs.k }}' }\nlimits: { timeout: 20s }\n\
         inputs: { k: { type: string }, text: { type: string, optional: true } }\n",
    ),
    // Its last statement completes it.
    (
        "app/tools/pay/handler.ts",
        "export default async ({ inputs }: any, ctx: any) => {\n  await ctx.db('db').query('SELECT count(*) FROM done', []);\n  \
         const [row] = await ctx.db('db').query('INSERT INTO done (k) VALUES (?1) RETURNING id', [inputs.k]);\n  \
         return { paid: inputs.k, receipt: row.id, text: inputs.text };\n};\n",
    ),
    ("app/tools/counted/config.yaml", "description: x\nlimits: { rate: { window: 24h, max: 100 } }\n"),
    ("app/tools/counted/handler.ts", "export default () => 'ok';\n"),
    ("app/tools/few/config.yaml", "description: x\nlimits: { concurrency: { max: 3, queue: 200, wait: 20s } }\n"),
    (
        "app/tools/few/handler.ts",
        "export default async (_: any, ctx: any) => {\n  const db = ctx.db('db');\n  \
         const [mine] = await db.query('INSERT INTO running DEFAULT VALUES RETURNING id', []);\n  \
         const [{ most }] = await db.query('SELECT count(*) AS most FROM running', []);\n  \
         await db.query('DELETE FROM running WHERE id = ?1', [mine.id]);\n  return most;\n};\n",
    ),
    (
        "app/tools/alone/config.yaml",
        "description: x\nlimits: { concurrency: { max: 1 } }\ninputs: { stay: { type: boolean, default: false } }\n",
    ),
    (
        "app/tools/alone/handler.ts",
        "export default async ({ inputs }: any, ctx: any) => {\n  if (inputs.stay) await fetch(ctx.env.SLOW);\n  return 'ok';\n};\n",
    ),
];

/// The app, which may call this host.
fn app(slow: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        millrace_tests::files::write(folder.path(), path, text);
    }
    if !slow.is_empty() {
        fs::write(folder.path().join("millrace.yaml"), format!("name: shared\nenv: [SLOW]\nfetch: {{ allow: ['{slow}'] }}\n")).unwrap();
    }
    folder
}

fn log_of(folder: &Path) -> std::path::PathBuf {
    folder.join("stderr.log")
}

fn start(folder: &Path, isolates: usize, env: &[(&str, &str)]) -> Host {
    start_after("", folder, isolates, env)
}

fn start_after(before: &str, folder: &Path, isolates: usize, env: &[(&str, &str)]) -> Host {
    let env: Vec<(String, String)> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Host::dev_after(before, folder, &["--isolates", &isolates.to_string()], &env, &log_of(folder))
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// The text of its result, and whether it is an earlier call's.
    Answer(String, bool),
    Failure(String),
    Lost,
}

fn call(port: u16, caller: &str, tool: &str, arguments: &Json) -> Outcome {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }).to_string();
    let exchange = || -> std::io::Result<String> {
        let mut socket = TcpStream::connect(("127.0.0.1", port))?;
        let head =
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json\r\n";
        socket.write_all(format!("{head}x-sub: {caller}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let Ok(answer) = exchange() else { return Outcome::Lost };
    let Some(json) = answer.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Json>(body).ok()) else {
        return Outcome::Lost;
    };
    let result = &json["result"];
    match result["_meta"]["millrace/error"]["code"].as_str() {
        Some(code) => Outcome::Failure(code.to_owned()),
        None => {
            let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{json}"));
            Outcome::Answer(text.to_owned(), result["_meta"]["millrace/replayed"] == true)
        }
    }
}

/// Calls until there is an answer, or it is known that there is none.
fn pay(port: u16, caller: &str, key: &str) -> Outcome {
    loop {
        match call(port, caller, "pay", &json!({ "k": key })) {
            Outcome::Lost => {}
            Outcome::Failure(code) if code == "CONFLICT" => {}
            outcome => return outcome,
        }
        thread::yield_now();
    }
}

fn is_full() -> bool {
    std::env::var("MILLRACE_STATE_TEST").is_ok_and(|value| value == "full")
}

fn kill(pid: u32) -> bool {
    Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status().unwrap().success()
}

fn completed(folder: &Path) -> BTreeMap<String, i64> {
    let database = rusqlite::Connection::open(folder.join("k.db")).unwrap();
    let mut query = database.prepare("SELECT k, count(*) FROM done GROUP BY k").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_handler_completes_once_for_a_key_while_isolates_are_killed_and_one_caller_floods_the_store() {
    let (keys, clients) = if is_full() { (10_000, 200) } else { (300, 40) };
    let folder = app("");
    let host = start(folder.path(), 4, &[]);
    let (port, pid) = (host.port, host.pid());
    let begun = Instant::now();
    let (next, ended, kills, flood) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let over = AtomicBool::new(false);
    let first: Mutex<BTreeMap<String, Outcome>> = Mutex::default();
    thread::scope(|scope| {
        let flooding = scope.spawn(|| {
            let text = "x".repeat(200_000);
            while !over.load(SeqCst) {
                let number = flood.fetch_add(1, SeqCst);
                let text = if number % 2 == 0 { text.as_str() } else { "" };
                drop(call(port, "mallory", "pay", &json!({ "k": format!("flood {number}"), "text": text })));
            }
        });
        let killing = scope.spawn(|| {
            let (mut at, mut last) = (0, Instant::now());
            while !over.load(SeqCst) {
                let due = if is_full() { last.elapsed() >= Duration::from_secs(1) } else { ended.load(SeqCst) >= at + 40 };
                if due {
                    // Another one each time.
                    let isolates = children(pid);
                    if isolates.get(kills.load(SeqCst) % isolates.len().max(1)).is_some_and(|isolate| kill(*isolate)) {
                        kills.fetch_add(1, SeqCst);
                        (at, last) = (ended.load(SeqCst), Instant::now());
                    }
                }
                millrace_tests::wait::moment();
            }
        });
        let callers: Vec<_> = (0..clients)
            .map(|client| {
                let (next, ended, first) = (&next, &ended, &first);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, SeqCst);
                        if number >= keys {
                            return;
                        }
                        let (caller, key) = (format!("client {client}"), format!("key {number}"));
                        let outcome = pay(port, &caller, &key);
                        match &outcome {
                            Outcome::Answer(text, _) => assert!(text.contains(&key), "{text}"),
                            Outcome::Failure(code) => assert_eq!(code, "INTERRUPTED", "{key}"),
                            Outcome::Lost => {}
                        }
                        let again = pay(port, &caller, &key);
                        match (&outcome, &again) {
                            (Outcome::Answer(before, _), Outcome::Answer(now, true)) => assert_eq!(before, now),
                            (before, now) => assert_eq!(before, now),
                        }
                        first.lock().unwrap().insert(format!("{caller}\n{key}"), outcome);
                        ended.fetch_add(1, SeqCst);
                    }
                })
            })
            .collect();
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        over.store(true, SeqCst);
        killing.join().unwrap();
        flooding.join().unwrap();
    });
    // Every answer, once more.
    let first = first.into_inner().unwrap();
    let (mut answered, mut interrupted) = (0, 0);
    for (whose, before) in &first {
        let (caller, key) = whose.split_once('\n').unwrap();
        match (before, pay(port, caller, key)) {
            (Outcome::Answer(before, _), Outcome::Answer(now, true)) => {
                assert_eq!(*before, now);
                answered += 1;
            }
            (Outcome::Failure(_), Outcome::Failure(code)) if code == "INTERRUPTED" => interrupted += 1,
            (before, now) => panic!("{whose}: {before:?}, then {now:?}"),
        }
    }
    let completed = completed(folder.path());
    assert_eq!(completed.iter().filter(|(_, times)| **times > 1).collect::<Vec<_>>(), Vec::<(&String, &i64)>::new(), "completed twice");
    for (whose, outcome) in &first {
        let times = completed.get(whose.split_once('\n').unwrap().1).copied().unwrap_or(0);
        assert!(matches!(outcome, Outcome::Failure(_)) || times == 1, "{whose}: {outcome:?}, completed {times} times");
    }
    assert_eq!(answered + interrupted, keys);
    let kills = kills.load(SeqCst);
    assert!(kills >= 3, "{kills} kills");
    let (took, flood) = (begun.elapsed(), flood.load(SeqCst));
    println!(
        "{keys} keys of {clients} clients, {kills} kills, {flood} calls that flood: {answered} answered, {interrupted} interrupted, {took:?}"
    );
}

/// How many of so many calls at once pass.
fn passed(port: u16, calls: usize, callers: usize) -> usize {
    let (next, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..callers {
            scope.spawn(|| {
                while next.fetch_add(1, SeqCst) < calls {
                    match call(port, "somebody", "counted", &json!({})) {
                        Outcome::Answer(..) => drop(passed.fetch_add(1, SeqCst)),
                        outcome => assert_eq!(outcome, Outcome::Failure("RATE_LIMITED".into())),
                    }
                }
            });
        }
    });
    passed.into_inner()
}

#[test]
fn exactly_as_many_calls_pass_as_may_on_eight_isolates_and_over_restarts() {
    let (calls, callers) = if is_full() { (5_000, 500) } else { (400, 40) };
    let folder = app("");
    let restarted = |calls, callers| {
        let host = start(folder.path(), 8, &[]);
        passed(host.port, calls, callers)
        // The server is killed here, and its isolates with it.
    };
    let counts = [restarted(30, 4), restarted(calls, callers), restarted(20, 4)];
    println!("{calls} calls at once to 8 isolates where 70 may: {counts:?}");
    assert_eq!(counts, [30, 70, 0]);
}

#[test]
fn places_are_those_of_all_isolates_and_those_of_one_that_is_killed_come_back() {
    // A server that never answers.
    let slow = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = slow.local_addr().unwrap().to_string();
    let folder = app(&address);
    let host = start(folder.path(), 4, &[("SLOW", &format!("http://{address}/"))]);
    let port = host.port;
    let most: Vec<i64> = thread::scope(|scope| {
        let callers: Vec<_> =
            (0..24).map(|_| scope.spawn(|| (0..5).map(|_| call(port, "x", "few", &json!({}))).collect::<Vec<_>>())).collect();
        let outcomes = callers.into_iter().flat_map(|caller| caller.join().unwrap());
        outcomes.map(|outcome| if let Outcome::Answer(text, _) = outcome { text.parse().unwrap() } else { panic!("{outcome:?}") }).collect()
    });
    assert!(most.len() == 120 && most.iter().all(|most| *most <= 3), "{most:?}");

    let alone = |stay: bool| call(port, "x", "alone", &json!({ "stay": stay }));
    thread::scope(|scope| {
        let stays = scope.spawn(|| alone(true));
        // Its request has arrived, so it has the place.
        let (_connection, _) = slow.accept().unwrap();
        for _ in 0..8 {
            assert_eq!(alone(false), Outcome::Failure("SERVER_BUSY".into()), "whichever isolate has it");
        }
        for isolate in children(host.pid()) {
            if stays.is_finished() {
                break;
            }
            kill(isolate);
            while children(host.pid()).contains(&isolate) {
                thread::yield_now();
            }
        }
        assert_eq!(stays.join().unwrap(), Outcome::Lost);
    });
    loop {
        match alone(false) {
            Outcome::Answer(..) => break,
            Outcome::Lost => thread::yield_now(),
            Outcome::Failure(code) => panic!("the place of a process that has ended is free at once: {code}"),
        }
    }
}

#[test]
fn two_servers_in_one_folder_share_what_they_count_and_record() {
    let folder = app("");
    let hosts = [start(folder.path(), 2, &[]), start(folder.path(), 2, &[])];
    let outcomes: Vec<Outcome> = (0..12).map(|number| pay(hosts[number % 2].port, "x", "order")).collect();
    let Outcome::Answer(first, false) = &outcomes[0] else { panic!("{:?}", outcomes[0]) };
    assert!(outcomes[1..].iter().all(|outcome| *outcome == Outcome::Answer(first.clone(), true)), "{outcomes:?}");
    assert_eq!(passed(hosts[0].port, 60, 4) + passed(hosts[1].port, 60, 4), 100);
    // Another folder is another store, and a relative one starts where the app is.
    let other = start(folder.path(), 1, &[("MILLRACE_STATE", "elsewhere")]);
    assert!(matches!(pay(other.port, "x", "order"), Outcome::Answer(_, false)));
    assert!(folder.path().join("elsewhere/state.db").exists() && folder.path().join(".millrace/state/state.db").exists());
    assert_eq!(completed(folder.path())["order"], 2);
}

#[test]
fn where_the_promise_cannot_be_held_the_start_names_the_tools_and_no_handler_runs() {
    // Nobody can write there.
    let cases = [("/proc/none/state", "the state folder `/proc/none/state` cannot be written"), ("damaged", "state.db` is damaged")];
    for (state, said) in cases {
        let folder = app("");
        if state == "damaged" {
            fs::create_dir(folder.path().join(state)).unwrap();
            fs::write(folder.path().join("damaged/state.db"), [7; 8192]).unwrap();
        }
        let host = start(folder.path(), 2, &[("MILLRACE_STATE", state)]);
        let log = fs::read_to_string(log_of(folder.path())).unwrap();
        let line = log.lines().find(|line| line.contains("cannot be counted and recorded")).unwrap_or_else(|| panic!("{log}"));
        assert!(line.contains("the calls of the tools `counted` and `pay`") && line.contains(said), "{line}");
        for _ in 0..4 {
            assert_eq!(call(host.port, "x", "pay", &json!({ "k": "order" })), Outcome::Failure("STATE_UNAVAILABLE".into()));
        }
        let passed = passed(host.port, 300, 4);
        assert!((100..=200).contains(&passed), "{passed}: each isolate limits by its own count");
        assert!(completed_or_nothing(folder.path()).is_empty(), "{state}");
    }
    let folder = app("");
    let host = start(folder.path(), 1, &[("MILLRACE_STATE", "memory")]);
    let log = fs::read_to_string(log_of(folder.path())).unwrap();
    assert!(log.contains("each isolate counts and records the calls of the tools `counted` and `pay` for itself"), "{log}");
    assert!(matches!(pay(host.port, "x", "order"), Outcome::Answer(_, false)));
    assert!(matches!(pay(host.port, "x", "order"), Outcome::Answer(_, true)));
    assert!(!folder.path().join(".millrace").exists());
}

/// What was completed, where a handler has run at all.
fn completed_or_nothing(folder: &Path) -> BTreeMap<String, i64> {
    if folder.join("k.db").exists() { completed(folder) } else { BTreeMap::new() }
}

#[test]
fn a_disk_without_space_runs_no_handler_twice() {
    let folder = app("");
    // Files of 2 MB: what is longer cannot be written.
    let host = start_after("trap '' XFSZ; ulimit -f 4096", folder.path(), 2, &[]);
    let text = "x".repeat(250_000);
    let mut outcomes = BTreeMap::new();
    for number in 0..40 {
        let key = format!("order {number}");
        let outcome = call(host.port, "x", "pay", &json!({ "k": key, "text": text }));
        outcomes.insert(key, outcome);
    }
    let refused = outcomes.values().filter(|outcome| matches!(outcome, Outcome::Failure(_))).count();
    assert!((1..40).contains(&refused), "{refused} of 40 were refused");
    for (key, before) in &outcomes {
        let now = call(host.port, "x", "pay", &json!({ "k": key, "text": text }));
        match (before, &now) {
            (Outcome::Answer(before, _), Outcome::Answer(now, true)) => assert_eq!(before, now),
            // Its answer could not be kept.
            (Outcome::Answer(..), Outcome::Failure(code)) => {
                assert!(["ANSWER_UNKNOWN", "CONFLICT", "STATE_UNAVAILABLE"].contains(&code.as_str()), "{code}");
            }
            (Outcome::Failure(code), _) => assert_eq!(code, "STATE_UNAVAILABLE"),
            (before, now) => panic!("{key}: {before:?}, then {now:?}"),
        }
    }
    drop(host);
    let host = start(folder.path(), 2, &[]);
    for key in outcomes.keys() {
        let now = pay(host.port, "x", key);
        assert!(
            matches!(&now, Outcome::Answer(..))
                || matches!(&now, Outcome::Failure(code) if code == "ANSWER_UNKNOWN" || code == "INTERRUPTED"),
            "{key}: {now:?}"
        );
    }
    assert!(completed(folder.path()).values().all(|times| *times == 1), "{:?}", completed(folder.path()));
}

/// The command of docs/state.md, while calls are recorded.
#[test]
fn a_copy_of_a_store_in_use_has_what_was_recorded_before_it_and_can_be_used() {
    let folder = app("");
    let host = start(folder.path(), 2, &[]);
    let page = fs::read_to_string(millrace_tests::case::root().join("docs/state.md")).unwrap();
    let command = page.lines().find(|line| line.starts_with("sqlite3 ")).unwrap();
    let is_over = AtomicBool::new(false);
    let before: Vec<Outcome> = (0..10).map(|number| pay(host.port, "x", &format!("before {number}"))).collect();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..3)
            .map(|caller| {
                let (host, is_over) = (&host, &is_over);
                scope.spawn(move || {
                    let keys = (0..).take_while(|_| !is_over.load(SeqCst));
                    keys.map(|number| pay(host.port, "x", &format!("meanwhile {caller} {number}"))).count()
                })
            })
            .collect();
        for _ in 0..3 {
            let copied = Command::new("sh").args(["-c", command]).current_dir(folder.path()).output().unwrap();
            assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        }
        is_over.store(true, SeqCst);
        assert!(callers.into_iter().map(|caller| caller.join().unwrap()).sum::<usize>() > 0);
    });
    drop(host);
    let state = folder.path().join(".millrace/state");
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(state.join(file));
    }
    fs::rename(folder.path().join("state-copy.db"), state.join("state.db")).unwrap();
    let host = start(folder.path(), 2, &[]);
    for (number, before) in before.iter().enumerate() {
        let Outcome::Answer(text, _) = before else { panic!("{before:?}") };
        assert_eq!(pay(host.port, "x", &format!("before {number}")), Outcome::Answer(text.clone(), true));
    }
    assert!(matches!(pay(host.port, "x", "after"), Outcome::Answer(_, false)));
    assert!(completed(folder.path()).iter().filter(|(key, _)| key.starts_with("before")).all(|(_, times)| *times == 1));
}

/// A real one, as large as a store is after some hundred calls.
#[test]
fn a_small_file_system_that_is_full_refuses_new_calls_and_serves_again_once_there_is_room() {
    let (folder, outside) = (app(""), tempfile::tempdir().unwrap());
    let place = |name: &str| outside.path().join(name).display().to_string();
    fs::create_dir(place("small")).unwrap();
    // A user may mount one where nobody else sees it. What is in the way goes once there is `room`.
    let inner = format!(
        "mount -t tmpfs -o size=1m tmpfs {small} && head -c 300000 /dev/zero > {small}/ballast || exit 7\n\
         (for _ in $(seq 1200); do [ -e {room} ] && break; sleep 0.1; done; rm {small}/ballast) > /dev/null 2>&1 &\nexec \"$@\"\n",
        small = place("small"),
        room = place("room")
    );
    fs::write(place("inner"), inner).unwrap();
    fs::write(place("room"), "").unwrap();
    let can = Command::new("unshare").args(["-rm", "sh", &place("inner"), "true"]).output().is_ok_and(|output| output.status.success());
    fs::remove_file(place("room")).unwrap();
    if !can {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let port = millrace_tests::process::free_port();
    let state = place("small/state");
    let at = port.to_string();
    let env = [("MILLRACE_STATE", &*state), ("OTEL_METRICS_EXPORTER", "prometheus"), ("OTEL_EXPORTER_PROMETHEUS_PORT", &at)];
    let host = start_after(&format!("exec unshare -rm sh {} \"$0\" \"$@\"", place("inner")), folder.path(), 1, &env);
    let text = "x".repeat(50_000);
    let buy = |key: String| call(host.port, "x", "pay", &json!({ "k": key, "text": text }));
    let outcomes: Vec<Outcome> = (0..30).map(|number| buy(format!("order {number}"))).collect();
    let refused = outcomes.iter().filter(|outcome| **outcome == Outcome::Failure("STATE_UNAVAILABLE".into())).count();
    assert!((1..30).contains(&refused), "{refused} of 30 were refused: {outcomes:?}");
    let done = completed(folder.path()).len();
    assert_eq!(done, 30 - refused, "what is refused is not carried out");
    let metrics = || {
        let mut answer = String::new();
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        socket.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    let full = metrics();
    let count =
        full.lines().find_map(|line| line.strip_prefix("millrace_state_refusals_total{error_type=\"disk_full\"} ")).unwrap_or("none");
    assert!(count.parse::<u64>().is_ok_and(|count| count > 0), "{full}");
    fs::write(place("room"), "").unwrap();
    millrace_tests::wait::until("nothing is recorded though there is room", || matches!(buy("later".to_owned()), Outcome::Answer(..)));
    assert_eq!(completed(folder.path())["later"], 1);
}
