//! Counters and records in real stores, and the limits of calls that several processes share by
//! them.

use std::{path::Path, rc::Rc, thread};

use millrace_core::{
    ErrorKind::{TooLarge, Unavailable},
    Json,
    ports::{Counted, Exactness, StateStore},
};
use millrace_native::{cache::CacheChoice, clock::SystemClock, env::Variables, random::SystemRandom, state};
use millrace_tests::{case::Exchange, database::runtime, dynalite::Dynalite, groups, local::Host, redis};

use crate::caches::support::{Env, env, eventually};

const TABLE: &str = "millrace-state";

/// The store of one isolate.
struct Isolate {
    state: Rc<dyn StateStore>,
    runtime: tokio::runtime::Runtime,
}

impl Isolate {
    fn new(env: &Env) -> Self {
        let variables: Variables = env.iter().cloned().collect();
        let choice = CacheChoice::of(&variables).unwrap();
        let (state, _) = state::open(Path::new("/"), &variables, &choice, Rc::new(SystemClock), Rc::new(SystemRandom));
        Self { state, runtime: runtime() }
    }

    fn add(&self, key: &str, by: i64, most: i64, ttl_s: u32) -> (bool, i64) {
        let Counted { added, total } = self.runtime.block_on(self.state.add(key, b"me", by, most, ttl_s)).unwrap();
        (added, total)
    }

    fn put_if_absent(&self, key: &str, value: &[u8], ttl_s: u32) -> Option<Vec<u8>> {
        self.runtime.block_on(self.state.put_if_absent(key, b"me", value, ttl_s)).unwrap()
    }

    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.runtime.block_on(self.state.get(key)).unwrap()
    }
}

/// What every store that isolates share does, on a real one.
fn is_a_store(env: &Env, exactness: Exactness) {
    let (first, second) = (Isolate::new(env), Isolate::new(env));
    assert_eq!(first.state.exactness(), exactness);
    assert_eq!(first.add("c", 0, 2, 60), (true, 0));
    assert_eq!(
        [first.add("c", 1, 2, 60), second.add("c", 1, 2, 60), first.add("c", 1, 2, 60), second.add("c", 0, i64::MAX, 60)],
        [(true, 1), (true, 2), (false, 2), (true, 2)]
    );
    assert_eq!([second.add("c", -1, 2, 60), first.add("c", 5, i64::MAX, 60), first.add("c", 9, 3, 60)], [(true, 1), (true, 6), (false, 6)]);
    // A counter lives from its first addition, a record from when it was put.
    assert_eq!(first.add("short", 3, 9, 2), (true, 3));
    first.runtime.block_on(first.state.put("brief", b"x", 2)).unwrap();
    eventually("the time of a counter is over", || first.add("short", 0, i64::MAX, 2) == (true, 0));
    assert_eq!(second.add("short", 4, 9, 60), (true, 4), "it begins anew");
    eventually("the time of a record is over", || first.get("brief").is_none());
    assert_eq!(second.put_if_absent("brief", b"y", 60), None);

    let every_byte: Vec<u8> = (0..=255).collect();
    assert_eq!(first.put_if_absent("k", &every_byte, 60), None);
    assert_eq!(second.put_if_absent("k", b"other", 60), Some(every_byte.clone()));
    assert_eq!(second.get("k"), Some(every_byte));
    second.runtime.block_on(second.state.put("k", b"", 60)).unwrap();
    assert_eq!(first.get("k"), Some(Vec::new()));
    first.runtime.block_on(first.state.remove("k")).unwrap();
    first.runtime.block_on(first.state.remove("k")).unwrap();
    assert_eq!(second.get("k"), None);
    // Several records at once, in their order.
    let keys = ["epoch:app:a", "epoch:app:none", "epoch:app:b"].map(String::from);
    let [a, none, b] = &keys;
    let every_byte: Vec<u8> = (0..=255).collect();
    first.runtime.block_on(first.state.put_all(&[a.clone(), b.clone()], &every_byte, 60)).unwrap();
    first.runtime.block_on(first.state.put_all(std::slice::from_ref(b), b"-2:x", 60)).unwrap();
    let found = second.runtime.block_on(second.state.get_all(&keys)).unwrap();
    assert_eq!(found, [Some(every_byte), None, Some(b"-2:x".to_vec())]);
    assert_eq!(second.runtime.block_on(second.state.get_all(std::slice::from_ref(none))).unwrap(), [None]);
    let long = vec![7; 5 << 20];
    assert_eq!(first.runtime.block_on(first.state.put("long", &long, 60)).unwrap_err().kind, TooLarge);

    // Eight at once, of whom each adds and puts as often as it can.
    let won: usize = thread::scope(|scope| {
        let isolates: Vec<_> = (0..8)
            .map(|number: u8| {
                scope.spawn(move || {
                    let isolate = Isolate::new(env);
                    let added = (0..25).filter(|_| isolate.add("race", 1, 50, 60).0).count();
                    let kept = (0..10).filter(|record| isolate.put_if_absent(&format!("race {record}"), &[number], 60).is_none()).count();
                    added + 1000 * kept
                })
            })
            .collect();
        isolates.into_iter().map(|isolate| isolate.join().unwrap()).sum()
    });
    assert_eq!(won, 50 + 10 * 1000, "of 200 additions exactly 50 fit, and each of 10 records was kept once");
    assert_eq!(first.add("race", 0, i64::MAX, 60), (true, 50));
}

pub(crate) fn dynamodb(server: &Dynalite) -> Env {
    server.create(TABLE, "S");
    env(&[
        ("MILLRACE_CACHE", &format!("dynamodb:{TABLE}")),
        ("AWS_ENDPOINT_URL_DYNAMODB", &format!("http://127.0.0.1:{}", server.process.port)),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI"),
    ])
}

#[test]
fn redis_counts_and_keeps_in_one_step() {
    let server = redis::start(&[]);
    is_a_store(&env(&[("MILLRACE_CACHE", &format!("redis://127.0.0.1:{}", server.port))]), Exactness::Shared);
}

#[test]
fn a_file_counts_and_keeps_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    is_a_store(&env(&[("MILLRACE_STATE", folder.path().to_str().unwrap())]), Exactness::Isolate);
}

#[test]
fn dynamodb_counts_and_keeps_in_one_step() {
    let server = Dynalite::start();
    is_a_store(&dynamodb(&server), Exactness::Shared);
}

#[test]
fn a_store_that_is_down_is_an_error_and_left_alone_for_a_while() {
    let mut server = redis::start(&[]);
    let isolate = Isolate::new(&env(&[("MILLRACE_CACHE", &format!("redis://127.0.0.1:{}", server.port))]));
    assert_eq!(isolate.add("c", 1, 9, 60), (true, 1));
    server.kill();
    let add = || isolate.runtime.block_on(isolate.state.add("c", b"me", 1, 9, 60));
    assert_eq!(add().unwrap_err().kind, Unavailable);
    assert!(add().unwrap_err().message.ends_with("failed a moment ago and is not used for a while"));
    server.restart();
    eventually("it is used again", || add().is_ok());
}

/// The app of the corpus' group `guards` in a process of its own.
struct Process {
    host: Host,
    folder: tempfile::TempDir,
}

impl Process {
    fn start(env: &Env) -> Self {
        let group = groups().into_iter().find(|group| group.name == "guards").unwrap();
        let folder = group.install();
        let variables = group.env.into_iter().chain(env.iter().cloned()).collect::<Vec<_>>();
        let host = Host::dev_logging(folder.path(), &variables, "warn", &folder.path().join("stderr.log"));
        Self { host, folder }
    }

    /// The code of a call; null where it went well.
    fn call(&self, tool: &str) -> Json {
        let answer = self.host.send(&Exchange::parse(&format!("CALL {tool}\nx-api-key: the-clerks-own-key")));
        let (_, body) = answer.split_once("\n\n").unwrap();
        let body: Json = serde_json::from_str(&body.replace("\"retry_after\":N", "\"retry_after\":0")).unwrap();
        body["result"]["_meta"]["millrace/error"]["code"].clone()
    }
}

/// How many of 60 calls at once to two processes pass, where 20 may.
fn passed(env: &Env) -> usize {
    let processes = [Process::start(env), Process::start(env)];
    thread::scope(|scope| {
        let callers: Vec<_> = (0..12)
            .map(|number| {
                let process = &processes[number % 2];
                scope.spawn(move || (0..5).filter(|_| process.call("many") == Json::Null).count())
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    })
}

#[test]
fn processes_that_share_a_store_share_a_limit_and_others_do_not() {
    let server = redis::start(&[]);
    assert_eq!(passed(&env(&[("MILLRACE_CACHE", &format!("redis://127.0.0.1:{}", server.port))])), 20, "Redis is exact");
    let server = Dynalite::start();
    assert_eq!(passed(&dynamodb(&server)), 20, "DynamoDB is exact");
    assert_eq!(passed(&env(&[])), 40, "the memory of each isolate counts for itself");
}

#[test]
fn a_store_that_goes_away_leaves_each_process_its_limit() {
    let mut server = redis::start(&[]);
    let process = Process::start(&env(&[("MILLRACE_CACHE", &format!("redis://127.0.0.1:{}", server.port))]));
    assert_eq!((0..15).filter(|_| process.call("many") == Json::Null).count(), 15);
    server.kill();
    assert_eq!((0..60).filter(|_| process.call("many") == Json::Null).count(), 20, "counted by the isolate from then on");
    let log = std::fs::read_to_string(process.folder.path().join("stderr.log")).unwrap();
    let lines = log.matches("calls cannot be counted in the store").count();
    assert!((1..20).contains(&lines), "{lines} lines for 60 calls: {log}");
}
