//! Random reads and writes by two isolates that share a database and a store: no cached result is
//! older than a write that its isolate has acknowledged, and with an exact store none is older than
//! a write that any isolate has.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::ready,
    path::Path,
    rc::Rc,
};

use futures_util::future::join_all;
use millrace_caches::{
    memory::{DEFAULT_CAPACITY_BYTES, MemoryCache},
    memory_state::{DEFAULT_STATE_BYTES, MemoryState},
};
use millrace_core::{
    Json, Result,
    cancel::Cancel,
    headers::Headers,
    pipeline::{Call, ContentBlock, Pipeline, Rounds, Route, Trace},
    ports::{Clock, Counted, Exactness, KvCache, LocalFuture, Ports, StateStore},
};
use millrace_native::{cache::CacheChoice, clock::SystemClock, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{database::runtime, direct::compile, dynalite::Dynalite, redis};

use crate::caches::{
    state::dynamodb,
    support::{Env, env, eventually},
};

/// The tables, each with one number that only grows.
const TABLES: [&str; 3] = ["a", "b", "c"];

/// An app that reads each table from the cache, and writes it by a statement, by a script that says
/// what it writes, and by one that does not.
fn install(folder: &Path) {
    let mut files = vec![
        ("millrace.yaml".to_owned(), "name: fresh\n".to_owned()),
        (
            "app/adapters/main.yaml".to_owned(),
            "connector: sqlite\nconnection_string: ./fresh.db\noptions: { seed: ./seed.sql }\n".to_owned(),
        ),
        (
            "app/adapters/seed.sql".to_owned(),
            TABLES.map(|table| format!("CREATE TABLE {table} (v INTEGER NOT NULL);\nINSERT INTO {table} VALUES (0);\n")).concat(),
        ),
    ];
    for table in TABLES {
        let tools = format!("app/tools/{table}");
        let script =
            format!("export default async (_, ctx) => (await ctx.db(\"main\").query(\"UPDATE {table} SET v = v + 1 RETURNING v\"));\n");
        files.extend([
            (format!("{tools}/read/config.yaml"), format!("description: x\nuse: main\nstatement: SELECT v FROM {table}\ncache: {{ ttl: 600 }}\n")),
            (
                format!("{tools}/all/config.yaml"),
                format!(
                    "description: x\nuse: main\nstatement: WITH t AS (SELECT v FROM {table}) SELECT t.v AS v, b.v AS w FROM t, b\ncache: {{ ttl: 600 }}\n"
                ),
            ),
            (
                format!("{tools}/write/config.yaml"),
                format!("description: x\nkind: mutation\nuse: main\nstatement: UPDATE {table} SET v = v + 1 RETURNING v\n"),
            ),
            (format!("{tools}/says/config.yaml"), format!("description: x\nsync: {{ writes: [{table}] }}\n")),
            (format!("{tools}/says/handler.ts"), script.clone()),
            (format!("{tools}/silent/config.yaml"), "description: x\n".to_owned()),
            (format!("{tools}/silent/handler.ts"), script),
        ]);
    }
    for (path, text) in files {
        millrace_tests::files::write(folder, &path, &text);
    }
}

/// The value that a call of a tool gives.
async fn value(isolate: &Pipeline, tool: &str) -> i64 {
    let call = Call {
        method: "tools/call",
        tool,
        arguments: serde_json::Map::new(),
        request_id: "r",
        trace: Trace::default(),
        route: Route::default(),
        headers: &Headers::new(),
        platform_caller: None,
        protocol: "2025-11-25",
        deadline_ms: None,
        cancel: &Cancel::new(),
        listener: None,
        rounds: Rounds::default(),
        operation: Default::default(),
    };
    let result = isolate.call(call).await.unwrap();
    let ContentBlock::Text(text) = &result.content[0] else { panic!("{result:?}") };
    let rows: Json = serde_json::from_str(text).unwrap_or_else(|_| panic!("{tool}: {text}"));
    rows[0]["v"].as_i64().unwrap_or_else(|| panic!("{tool}: {text}"))
}

/// What is known of a table.
#[derive(Clone, Copy, Default)]
struct Acknowledged {
    by_isolate: [i64; 2],
    by_any: i64,
}

/// How many reads came from whatever cache there is, and how many there were. `window`: by how many
/// rounds a result may be older than a write of the other isolate.
fn interleave(isolates: &[Rc<Pipeline>; 2], seed: u64, rounds: usize, is_exact: bool, tick: impl Fn()) -> usize {
    let mut seed = seed;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let known: Rc<RefCell<[Acknowledged; TABLES.len()]>> = Rc::default();
    let older = Rc::new(Cell::new(0_usize));
    let runtime = runtime();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        for _ in 0..rounds {
            tick();
            let calls = (0..1 + random(4)).map(|_| {
                let (place, table, action) = (random(2), random(TABLES.len()), random(10));
                let (isolate, known, older) = (Rc::clone(&isolates[place]), Rc::clone(&known), Rc::clone(&older));
                async move {
                    let name = TABLES[table];
                    let at_least = known.borrow()[table];
                    match action {
                        0..=6 => {
                            let found = value(&isolate, &format!("{name}-{}", if action < 5 { "read" } else { "all" })).await;
                            assert!(found >= at_least.by_isolate[place], "{name}: {found} is older than the isolate's own write");
                            assert!(!is_exact || found >= at_least.by_any, "{name}: {found} is older than {}", at_least.by_any);
                            older.set(older.get() + usize::from(found < at_least.by_any));
                        }
                        _ => {
                            let how = ["write", "says", "silent"][action - 7];
                            let written = value(&isolate, &format!("{name}-{how}")).await;
                            let known = &mut known.borrow_mut()[table];
                            known.by_isolate[place] = written.max(known.by_isolate[place]);
                            known.by_any = written.max(known.by_any);
                        }
                    }
                }
            });
            join_all(calls.collect::<Vec<_>>()).await;
            tokio::task::yield_now().await;
        }
    });
    older.get()
}

fn isolates(folder: &Path, make: impl Fn(usize, Ports) -> Ports, choice: &CacheChoice) -> [Rc<Pipeline>; 2] {
    install(folder);
    let app = Rc::new(compile(folder));
    [0, 1].map(|place| {
        let variables = Variables::from_iter(Vec::<(String, String)>::new());
        let ports = make(place, ports::native(folder.to_path_buf(), variables, choice, &Tasks::new()));
        Rc::new(Pipeline::new(Rc::clone(&app), ports))
    })
}

fn in_store(env: &Env, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let choice = CacheChoice::of(&env.iter().cloned().collect::<Variables>()).unwrap();
    let isolates = isolates(folder.path(), |_, ports| ports, &choice);
    assert_eq!(interleave(&isolates, 11, rounds, true, || ()), 0);
}

/// What was written under each key, and when.
type Written = BTreeMap<String, Vec<(u64, Vec<u8>)>>;

/// A store in memory that two isolates share. `lag`: for so many ticks, nobody sees what was
/// written, its writer included.
struct Together {
    store: Rc<MemoryState>,
    lag: u64,
    now: Rc<Cell<u64>>,
    written: Rc<RefCell<Written>>,
}

impl Together {
    fn record(&self, key: &str) -> Option<Vec<u8>> {
        let written = self.written.borrow();
        written.get(key)?.iter().rev().find(|(at, _)| at + self.lag <= self.now.get()).map(|(_, value)| value.clone())
    }

    fn keep(&self, key: &str, value: &[u8]) {
        self.written.borrow_mut().entry(key.to_owned()).or_default().push((self.now.get(), value.to_vec()));
    }
}

impl StateStore for Together {
    fn add<'a>(&'a self, key: &'a str, owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        self.store.add(key, owner, by, most, ttl_s)
    }

    fn put_if_absent<'a>(&'a self, key: &'a str, _: &'a [u8], value: &'a [u8], _: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        let there = self.record(key);
        if there.is_none() {
            self.keep(key, value);
        }
        Box::pin(ready(Ok(there)))
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        let record = self.record(key);
        // Others come in between.
        Box::pin(async move {
            tokio::task::yield_now().await;
            Ok(record)
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], _: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.keep(key, value);
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        self.written.borrow_mut().remove(key);
        Box::pin(ready(Ok(())))
    }

    fn exactness(&self) -> Exactness {
        if self.lag == 0 { Exactness::Shared } else { Exactness::Eventual }
    }
}

/// Two isolates that share results and epochs in memory.
fn together(folder: &Path, lag: u64) -> ([Rc<Pipeline>; 2], Rc<Cell<u64>>) {
    let clock: Rc<dyn Clock> = Rc::new(SystemClock);
    let (now, written) = (Rc::new(Cell::new(lag)), Rc::default());
    let cache: Rc<dyn KvCache> = Rc::new(MemoryCache::new(DEFAULT_CAPACITY_BYTES, clock.clone()));
    let store = Rc::new(MemoryState::new(DEFAULT_STATE_BYTES, clock));
    let make = |_: usize, ports: Ports| {
        let state = Together { store: Rc::clone(&store), lag, now: Rc::clone(&now), written: Rc::clone(&written) };
        Ports { cache: Rc::clone(&cache), state: Rc::new(state), ..ports }
    };
    (isolates(folder, make, &CacheChoice::Memory), now)
}

#[test]
fn with_an_exact_store_no_result_is_older_than_any_acknowledged_write() {
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let (isolates, _) = together(folder.path(), 0);
        assert_eq!(interleave(&isolates, seed, 400, true, || ()), 0);
    }
}

#[test]
fn with_one_that_hears_after_a_while_no_result_is_older_than_the_isolates_own() {
    let folder = tempfile::tempdir().unwrap();
    let (isolates, now) = together(folder.path(), 20);
    let older = interleave(&isolates, 3, 1200, false, || now.set(now.get() + 1));
    assert!(older > 0, "the other isolate's writes are seen after a while, so the test would notice a result that is too old");
    // After that while everything is seen.
    now.set(now.get() + 100);
    let runtime = runtime();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        for table in TABLES {
            let written = value(&isolates[0], &format!("{table}-write")).await;
            now.set(now.get() + 20);
            assert_eq!(value(&isolates[1], &format!("{table}-read")).await, written, "{table}: the window is the store's");
        }
    });
}

#[test]
fn an_isolate_with_a_memory_of_its_own_sees_its_own_writes() {
    let folder = tempfile::tempdir().unwrap();
    let isolates = isolates(folder.path(), |_, ports| ports, &CacheChoice::Memory);
    let older = interleave(&isolates, 5, 600, false, || ());
    assert!(older > 0, "another isolate's writes are not seen before `ttl`");
}

#[test]
fn redis_is_exact() {
    let server = redis::start(&[]);
    in_store(&env(&[("MILLRACE_CACHE", &format!("redis://127.0.0.1:{}", server.port))]), 400);
}

#[test]
fn dynamodb_is_exact() {
    let server = Dynalite::start();
    in_store(&dynamodb(&server), 150);
}

/// Changes a table behind the app's back.
fn change_unseen(folder: &Path) {
    let connection = rusqlite::Connection::open(folder.join("fresh.db")).unwrap();
    connection.execute("UPDATE b SET v = v + 1", []).unwrap();
}

#[test]
fn a_store_that_fails_makes_every_read_a_miss_and_fails_no_call() {
    let mut server = redis::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let address = env(&[("MILLRACE_CACHE", &format!("redis://127.0.0.1:{}", server.port))]);
    let choice = CacheChoice::of(&address.iter().cloned().collect::<Variables>()).unwrap();
    let isolates = isolates(folder.path(), |_, ports| ports, &choice);
    let runtime = runtime();
    let local = tokio::task::LocalSet::new();
    let run = |tool: &'static str, place: usize| local.block_on(&runtime, value(&isolates[place], tool));
    assert_eq!([run("a-read", 0), run("a-read", 1)], [0, 0]);
    server.kill();
    assert_eq!(run("a-write", 0), 1);
    assert_eq!([run("a-read", 0), run("a-read", 1)], [1, 1], "neither takes anything from its memory");
    server.restart();
    // Only a result that comes from the cache can be older than a change that nobody reports.
    eventually("results are kept again", || {
        assert_eq!([run("a-read", 0), run("a-read", 1)], [run("a-all", 0), run("a-all", 1)]);
        let before = run("b-read", 0);
        change_unseen(folder.path());
        run("b-read", 0) == before
    });
}
