//! Writes that happen once for a key: also where connections are cut after the commit, the server
//! is killed, and two ask at once.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use millrace_core::{
    Error,
    ErrorKind::{self, Configuration, Denied, Protocol, TimedOut, TooLarge, Unavailable},
    ErrorParts, Result,
    ports::{CallRecord, Command, Query, RecordedWrite},
    value::{Rows, Value},
};
use millrace_tests::{
    cutting::{Committed, cutting},
    database::{Database, query, text},
    tries, wait,
};

use super::{ServerUnderTest, Site};

/// What differs between servers. The table is `t`, with a number `id` that the server gives and a
/// unique text `k`.
#[derive(Clone, Copy)]
pub(crate) struct Once {
    /// Makes the table, and what else the statements need.
    pub(crate) tables: &'static [&'static str],
    /// Inserts a key and gives back `id` and `k`.
    pub(crate) returning: &'static str,
    /// Inserts a key.
    pub(crate) plain: &'static str,
    /// Inserts a key, and gives back values of types that JSON does not have.
    pub(crate) typed: Option<&'static str>,
    /// Statements without rows, and how many they affect where there are two keys.
    pub(crate) changes: &'static [(&'static str, u64)],
    /// All keys, with a space between.
    pub(crate) keys: &'static str,
    /// What has to have this value on the connection afterwards.
    pub(crate) left: Option<(&'static str, &'static str)>,
    /// Statements that fail where the key `a` is there, and the message of some.
    pub(crate) failing: &'static [(&'static str, ErrorKind, &'static str)],
    /// Statements whose result is too large, for one row or for 100 bytes, before they take effect.
    pub(crate) too_large: &'static [(&'static str, &'static str)],
    /// A change that takes minutes.
    pub(crate) endless: Option<&'static str>,
    /// Inserts the key `a`, and gives back so many characters.
    pub(crate) long: fn(usize) -> String,
    /// How many are too many for a record; and how many fit, although they are more than a call
    /// reads.
    pub(crate) lengths: [usize; 2],
    /// A user with few rights.
    pub(crate) user: Option<User>,
    /// Inserts this key in six seconds, and a query that has a row meanwhile.
    pub(crate) slow: Option<[&'static str; 3]>,
    /// How the server tells that it has committed.
    pub(crate) committed: Option<Committed>,
    /// What was made before may be unknown while two ask.
    pub(crate) may_be_unknown: bool,
    /// Two who ask at once may have to ask again, and a lost answer is an error of the protocol.
    pub(crate) is_asked_again: bool,
    /// How many writes there are between two kills.
    pub(crate) writes: i64,
}

/// A user who may use the table `t`, and make no other.
#[derive(Clone, Copy)]
pub(crate) struct User {
    /// Makes the user.
    pub(crate) made: &'static str,
    /// How what an operator is told to run begins.
    pub(crate) advice: &'static str,
    /// Lets the user write records.
    pub(crate) grant: &'static str,
}

pub(super) fn once(database: &Database, statement: &str, values: &[Value], key: &str, now_s: i64) -> Result<RecordedWrite> {
    let query = Query { command: Command::Statement { text: statement, values }, ..query(statement) };
    database.write_once(&query, CallRecord { key, now_s, expires_s: now_s + 60 })
}

/// The record of most calls.
const RECORD: CallRecord<'static> = CallRecord { key: "k", now_s: 0, expires_s: 60 };

fn row(id: i64, k: &str) -> Rows {
    Rows {
        columns: ["id".to_owned(), "k".to_owned()].into(),
        rows: vec![vec![Value::I64(id), text(k)]],
        affected: 0,
        truncated: false,
        ..Rows::default()
    }
}

fn affected(affected: u64) -> Rows {
    Rows { affected, ..Rows::default() }
}

pub(super) fn made(count: u64) -> Result<RecordedWrite> {
    Ok(RecordedWrite::Made(affected(count)))
}

pub(super) fn made_before(count: u64) -> Result<RecordedWrite> {
    Ok(RecordedWrite::MadeBefore(affected(count)))
}

pub(super) fn shop(server: &'static ServerUnderTest) -> (Site, Database) {
    with_table(Site::of(server))
}

pub(super) fn with_table(site: Site) -> (Site, Database) {
    let database = site.open();
    for table in site.server.once.tables {
        database.run(table, &[]).unwrap();
    }
    (site, database)
}

/// How many rows there are, and how many keys.
pub(super) fn counted(database: &Database) -> [i64; 2] {
    match database.rows("SELECT count(*), count(DISTINCT k) FROM t").remove(0)[..] {
        [Value::I64(rows), Value::I64(keys)] => [rows, keys],
        ref other => panic!("{other:?}"),
    }
}

fn records(database: &Database) -> Vec<Vec<Value>> {
    database.rows("SELECT count(*) FROM millrace_calls")
}

pub(crate) fn a_write_happens_once_for_a_key(server: &'static ServerUnderTest) {
    let Once { returning, plain, typed, changes, keys, left, .. } = server.once;
    let (_site, database) = shop(server);
    // The table is made by the first write that needs it.
    assert_eq!(once(&database, returning, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row(1, "a"))));
    assert_eq!(once(&database, returning, &[text("b")], "k", 59), Ok(RecordedWrite::MadeBefore(row(1, "a"))));
    assert_eq!(once(&database, plain, &[text("b")], "l", 0), made(1));
    assert_eq!(once(&database, plain, &[text("b")], "l", 0), made_before(1));
    for (change, count) in changes {
        assert_eq!(once(&database, change, &[], change, 0), made(*count), "{change}");
        assert_eq!(once(&database, change, &[], change, 0), made_before(*count), "{change}");
    }
    let none = "DELETE FROM t WHERE id = 99 RETURNING id";
    let Ok(RecordedWrite::Made(rows)) = once(&database, none, &[], "none", 0) else { panic!("not made") };
    assert_eq!(once(&database, none, &[], "none", 0), Ok(RecordedWrite::MadeBefore(rows)));
    // A record that is over.
    assert_eq!(once(&database, plain, &[text("c")], "l", 60), made(1));
    let end = if changes.is_empty() { "" } else { "!" };
    assert_eq!(database.rows(keys), [[text(&format!("a{end} b{end} c"))]]);
    if let Some(typed) = typed {
        let Ok(RecordedWrite::Made(rows)) = once(&database, typed, &[text("d")], "typed", 0) else { panic!("not made") };
        assert_eq!(once(&database, typed, &[text("d")], "typed", 0), Ok(RecordedWrite::MadeBefore(rows)));
        assert_eq!(counted(&database), [4, 4]);
    }
    if let Some((query, value)) = left {
        assert_eq!(database.rows(query), [[text(value)]]);
    }
    assert_eq!(database.prepare_records(), Ok(()));
    let (_site, database) = shop(server);
    assert_eq!((database.prepare_records(), database.prepare_records()), (Ok(()), Ok(())));
    assert_eq!(records(&database), [[Value::I64(0)]]);
}

pub(crate) fn a_write_that_fails_leaves_no_record(server: &'static ServerUnderTest) {
    let Once { returning, plain, failing, too_large, endless, keys, .. } = server.once;
    let (site, database) = shop(server);
    once(&database, plain, &[text("a")], "k", 0).unwrap();
    for (statement, kind, message) in failing {
        let values = [text("a")];
        let values = if statement.contains(server.sign) { &values[..] } else { &[] };
        let error = once(&database, statement, values, "l", 0).unwrap_err();
        assert!(error.kind == *kind && (message.is_empty() || error.message == *message), "{statement}: {error:?}");
    }
    once(&database, plain, &[text("b")], "m", 0).unwrap();
    let write = |query: Query<'_>| database.write_once(&query, CallRecord { key: "n", ..RECORD }).unwrap_err();
    for (statement, message) in too_large {
        // Neither a change nor a word of one.
        let limited =
            if message.contains("rows") { Query { max_rows: 1, ..query(statement) } } else { Query { max_bytes: 100, ..query(statement) } };
        assert_eq!(write(limited), Error::new(TooLarge, *message));
    }
    if let Some(endless) = endless {
        assert_eq!(write(Query { deadline_ms: 2_000, ..query(endless) }).kind, TimedOut);
    }
    match once(&database, returning, &[text("c")], "l", 0) {
        Ok(RecordedWrite::Made(rows)) => assert_eq!(rows.rows[0][1], text("c")),
        other => panic!("{other:?}"),
    }
    assert_eq!(database.rows(keys), [[text("a b c")]]);
    assert_eq!(records(&database), [[Value::I64(3)]]);
    assert_eq!(once(&site.reader(), plain, &[text("d")], "o", 0).unwrap_err().kind, Denied);
}

pub(crate) fn a_result_too_large_for_a_record_is_not_kept_and_the_change_is(server: &'static ServerUnderTest) {
    let (_site, database) = shop(server);
    let statement = (server.once.long)(server.once.lengths[0]);
    let large = Query { max_bytes: 4 << 20, ..query(&statement) };
    assert!(matches!(database.write_once(&large, RECORD), Ok(RecordedWrite::Made(_))));
    assert_eq!(database.write_once(&large, RECORD), Ok(RecordedWrite::MadeBeforeUnknown));
    assert_eq!(counted(&database), [1, 1]);
}

pub(crate) fn a_record_may_be_larger_than_what_a_call_reads(server: &'static ServerUnderTest) {
    let (_site, database) = shop(server);
    let statement = (server.once.long)(server.once.lengths[1]);
    let large = query(&statement);
    let Ok(RecordedWrite::Made(made)) = database.write_once(&large, RECORD) else { panic!("not made") };
    // With two digits for a byte, it is longer than the result may be.
    assert!(database.write_once(&large, RECORD) == Ok(RecordedWrite::MadeBefore(made)), "another answer");
}

pub(crate) fn expired_records_are_removed_by_later_writes(server: &'static ServerUnderTest) {
    let (_site, database) = shop(server);
    for number in 0..120 {
        once(&database, server.once.plain, &[text(&number.to_string())], &format!("k{number}"), 0).unwrap();
    }
    once(&database, server.once.plain, &[text("a")], "a", 60).unwrap();
    assert_eq!(records(&database), [[Value::I64(21)]]);
}

pub(crate) fn a_table_that_cannot_be_made_is_the_operators_affair(server: &'static ServerUnderTest) {
    let User { made: user, advice, grant } = server.once.user.unwrap();
    let plain = server.once.plain;
    let (site, database) = shop(server);
    site.run(user);
    let user = site.open_as_user();
    for ErrorParts { kind, source, .. } in
        [once(&user, plain, &[text("a")], "k", 0).unwrap_err(), user.prepare_records().unwrap_err()].map(Error::into_parts)
    {
        assert_eq!(kind, Configuration);
        assert!(source.unwrap().contains(advice));
    }
    assert_eq!((database.prepare_records(), database.prepare_records()), (Ok(()), Ok(())));
    let denied = once(&user, plain, &[text("a")], "k", 0).unwrap_err();
    assert_eq!((denied.kind, denied.message.contains("cannot be made or written")), (Configuration, true), "{denied:?}");
    site.run(grant);
    assert_eq!(once(&user, plain, &[text("a")], "k", 0), made(1));
}

pub(crate) fn a_table_of_somebody_else_is_the_operators_affair(server: &'static ServerUnderTest) {
    let (_site, database) = shop(server);
    once(&database, server.once.plain, &[text("a")], "k", 0).unwrap();
    database.run("DROP TABLE millrace_calls", &[]).unwrap();
    database.run("CREATE TABLE millrace_calls (a int)", &[]).unwrap();
    for error in [once(&database, server.once.plain, &[text("b")], "l", 0).unwrap_err(), database.prepare_records().unwrap_err()] {
        assert_eq!(error.kind, Configuration, "{error:?}");
    }
    assert_eq!(counted(&database), [1, 1]);
}

/// Sends a call until there is an answer, as a client does: whether it is the one that wrote, and
/// the rows.
fn until_known(server: &ServerUnderTest, database: &Database, statement: &str, key: &str) -> (bool, Rows) {
    loop {
        match once(database, statement, &[text(key)], key, 0) {
            Ok(RecordedWrite::Made(rows)) => return (true, rows),
            Ok(RecordedWrite::MadeBefore(rows)) => return (false, rows),
            Ok(RecordedWrite::Running) if server.once.is_asked_again => {}
            Err(error) if error.kind.is_retryable() || (server.once.is_asked_again && error.kind == Protocol) => {}
            other => panic!("{key}: {other:?}"),
        }
        wait::moment();
    }
}

/// Whether this call wrote, and what it was told, where that is known.
fn asked(server: &ServerUnderTest, database: &Database, statement: &str, key: &str) -> (bool, Option<Vec<Vec<Value>>>) {
    if server.once.is_asked_again {
        let (_, rows) = until_known(server, database, statement, key);
        return (false, Some(rows.rows));
    }
    match once(database, statement, &[text(key)], key, 0) {
        Ok(RecordedWrite::Made(rows)) => (true, Some(rows.rows)),
        Ok(RecordedWrite::MadeBefore(rows)) => (false, Some(rows.rows)),
        // Asked between the change and what is stored of it.
        Ok(RecordedWrite::MadeBeforeUnknown) if server.once.may_be_unknown => (false, None),
        other => panic!("{key}: {other:?}"),
    }
}

pub(crate) fn two_that_ask_at_once_write_once(server: &'static ServerUnderTest) {
    const KEYS: usize = 50;
    let Once { returning, plain, is_asked_again, .. } = server.once;
    let (site, database) = shop(server);
    // Else the table is not there yet: they also make it at once.
    if is_asked_again {
        database.prepare_records().unwrap();
    }
    let together = Barrier::new(4);
    let ask = || {
        let database = site.open();
        let of = |number: usize| {
            together.wait();
            // A failure is looked at when nobody waits any longer.
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                asked(server, &database, if number.is_multiple_of(2) { returning } else { plain }, &format!("k{number}"))
            }))
        };
        (0..KEYS).map(of).collect::<Vec<_>>()
    };
    let answers: Vec<Vec<_>> = thread::scope(|scope| {
        let callers: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap().into_iter().map(Result::unwrap).collect()).collect()
    });
    for number in 0..KEYS {
        let writers = answers.iter().filter(|answers| answers[number].0).count();
        assert!(writers == 1 || is_asked_again, "{number}: {writers}");
        let known: Vec<_> = answers.iter().filter_map(|answers| answers[number].1.as_ref()).collect();
        assert!(!known.is_empty() && known.iter().all(|rows| *rows == known[0]), "{number}");
    }
    assert_eq!(counted(&database), [50, 50]);
}

pub(crate) fn a_call_that_meets_one_that_does_not_end_is_a_conflict(server: &'static ServerUnderTest) {
    let [slow, key, running] = server.once.slow.unwrap();
    let (site, database) = shop(server);
    database.prepare_records().unwrap();
    thread::scope(|scope| {
        let slow = scope.spawn(|| assert_eq!(once(&site.open(), slow, &[], "k", 0), made(1)));
        wait::until("the slow one does not run", || !database.rows(running).is_empty());
        let fast = "INSERT INTO t (k) VALUES ('fast')";
        assert_eq!(database.write_once(&Query { deadline_ms: 2_000, ..query(fast) }, RECORD), Ok(RecordedWrite::Running));
        // Who has the time waits for its answer.
        assert_eq!(once(&database, fast, &[], "k", 0), made_before(1));
        slow.join().unwrap();
    });
    assert_eq!(database.rows("SELECT k FROM t"), [[text(key)]]);
}

const CALLERS: usize = 10;

pub(crate) fn connections_are_cut_after_the_commit_and_no_write_is_made_twice(server: &'static ServerUnderTest) {
    let Once { returning, plain, committed, .. } = server.once;
    let calls = tries(100, 10);
    let (site, database) = shop(server);
    database.prepare_records().unwrap();
    let call = |caller: usize| {
        let way = cutting(site.port(), committed.unwrap());
        let url = site.url().replace(&format!(":{}/", site.port()), &format!(":{}/", way.port));
        let database = Database::open((server.settings)(&site, &url, &[]));
        for number in 0..calls {
            let key = format!("{caller}-{number}");
            let statement = if number % 2 == 0 { returning } else { plain };
            way.cuts.store(1, SeqCst);
            // Sometimes the server cannot be asked at once what became of it, and the caller must
            // send its call again.
            let for_good = number % 50 == 0;
            way.closes.store(for_good, SeqCst);
            let first = once(&database, statement, &[text(&key)], &key, 0);
            assert_eq!(way.cuts.load(SeqCst), 0, "{key} was not cut");
            way.closes.store(false, SeqCst);
            let second = once(&database, statement, &[text(&key)], &key, 0);
            match first {
                Err(error) => assert!(for_good && error.kind == Unavailable, "{error:?}"),
                first => assert_eq!((first, for_good), (second.clone(), false)),
            }
            match second {
                Ok(RecordedWrite::MadeBefore(rows)) if number % 2 == 0 => assert_eq!(rows.rows[0][1], text(&key)),
                second => assert_eq!(second, made_before(1)),
            }
        }
    };
    thread::scope(|scope| (0..CALLERS).for_each(|caller| drop(scope.spawn(move || call(caller)))));
    assert_eq!(counted(&database), [i64::try_from(CALLERS * calls).unwrap(); 2]);
}

pub(crate) fn a_server_that_is_killed_again_and_again_makes_no_write_twice(server: &'static ServerUnderTest) {
    let Once { returning, plain, writes, .. } = server.once;
    let (mut site, database) = with_table(Site::alone(server));
    database.prepare_records().unwrap();
    drop(database);
    let (over, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (over, progress, settings) = (Arc::clone(&over), Arc::clone(&progress), site.settings(&[]));
            thread::spawn(move || {
                let database = Database::open(settings);
                let mut count = 0;
                while !over.load(SeqCst) {
                    let key = format!("{caller}-{count}");
                    let statement = if count % 2 == 0 { returning } else { plain };
                    let (_, rows) = until_known(server, &database, statement, &key);
                    assert!(count % 2 == 0 || rows == affected(1), "{key}: {rows:?}");
                    // Sent again, it says the same.
                    assert_eq!(until_known(server, &database, statement, &key), (false, rows), "{key}");
                    count += 1;
                    progress.fetch_add(1, SeqCst);
                }
                count
            })
        })
        .collect();
    for _ in 0..5 {
        wait::until_more("no write is made", usize::try_from(writes).unwrap(), || progress.load(SeqCst));
        site.own().kill();
        site.own().restart();
    }
    over.store(true, SeqCst);
    let made: i64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    assert!(made >= 5 * writes, "{made}");
    assert_eq!(counted(&site.open()), [made, made]);
}
