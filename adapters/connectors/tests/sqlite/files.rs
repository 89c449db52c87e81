//! Files that are missing, made, replaced, broken or locked.

use std::{
    fs,
    path::Path,
    sync::{Arc, Barrier},
    thread,
};

use millrace_core::{
    ErrorKind::{Busy, Configuration, Denied, Protocol, Unavailable},
    ports::{Connection, Query},
    value::Value,
};

use crate::support::{DEADLINE_MS, Isolate, connection, query, text, with_options};

const SEED: &str = "CREATE TABLE t (v); BEGIN; INSERT INTO t VALUES ('seed'); COMMIT";

fn seeded(path: &str) -> Connection {
    Connection { seed: Some(SEED.into()), ..connection(path) }
}

/// A folder with a database `shop.db`, made by the seed.
fn shop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    Isolate::new(folder.path(), seeded("shop.db")).ping().unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_missing_file_is_made_from_its_seed_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = Isolate::new(folder.path(), Connection { read_only: true, ..seeded("data/shop.db") });
    assert_eq!(first.rows("SELECT v FROM t"), [[text("seed")]]);
    let second = Isolate::new(folder.path(), seeded("data/shop.db"));
    second.run("INSERT INTO t VALUES ('more')", &[]).unwrap();
    let third = Isolate::new(folder.path(), seeded("data/shop.db"));
    third.ping().unwrap();
    assert_eq!(third.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
    assert_eq!(names(&folder.path().join("data")), ["shop.db"]);
}

#[test]
fn opening_an_adapter_touches_no_file() {
    let folder = tempfile::tempdir().unwrap();
    Isolate::new(folder.path(), seeded("shop.db"));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_missing_file_without_a_seed_is_an_error_unless_it_may_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let strict = Isolate::new(folder.path(), connection("shop.db"));
    for error in [strict.error("SELECT 1"), strict.ping().unwrap_err()] {
        assert_eq!((error.kind, error.message.as_str()), (Configuration, "database file `shop.db` does not exist"));
    }
    let no_right = Isolate::new(folder.path(), Connection { read_only: true, ..connection("file:shop.db?mode=rwc") });
    assert_eq!(no_right.ping().unwrap_err().message, "database file `shop.db` does not exist");
    assert!(names(folder.path()).is_empty());

    for willing in [with_options("shop.db", &[("create", "true")]), connection("file:other.db?mode=rwc")] {
        let isolate = Isolate::new(folder.path(), willing);
        isolate.run("CREATE TABLE t (v)", &[]).unwrap();
        assert_eq!(isolate.run("INSERT INTO t VALUES (1), (2)", &[]).unwrap().affected, 2);
    }
    // The connector that failed recovers by itself.
    strict.ping().unwrap();
    assert_eq!(strict.rows("SELECT sum(v) FROM t"), [[Value::I64(3)]]);
}

#[test]
fn a_seed_that_fails_leaves_nothing() {
    let cases = [
        ("CREATE TABLE t (v); INSERT INTO nowhere VALUES (1)", "the seed of database `shop.db` fails", "no such table: nowhere"),
        ("CREATE TABLE t (v); gibberish", "the seed of database `shop.db` fails", "near \"gibberish\": syntax error"),
        (
            "CREATE TABLE t (v UNIQUE); INSERT INTO t VALUES (1), (1)",
            "the seed of database `shop.db` fails",
            "UNIQUE constraint failed: t.v",
        ),
        (
            "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p); INSERT INTO c VALUES (1)",
            "the seed of database `shop.db` fails",
            "FOREIGN KEY constraint failed",
        ),
        ("BEGIN; CREATE TABLE t (v)", "the seed of database `shop.db` leaves a transaction open; end it with `COMMIT`", ""),
    ];
    for (seed, message, source) in cases {
        let folder = tempfile::tempdir().unwrap();
        let isolate = Isolate::new(folder.path(), Connection { seed: Some(seed.into()), ..connection("shop.db") });
        let error = isolate.error("SELECT 1");
        assert_eq!((error.kind, error.message.as_str()), (Configuration, message), "{seed}");
        assert_eq!(error.source.as_deref().unwrap_or_default(), source, "{seed}");
        assert!(names(folder.path()).is_empty(), "{seed}");
    }
    let memory = Isolate::memory("gibberish").error("SELECT 1");
    assert_eq!((memory.kind, memory.message.as_str()), (Configuration, "the seed of database `:memory:` fails"));
}

/// Eight isolates at once, again and again: each sees the whole database, and it is the same one.
#[test]
fn isolates_that_race_for_a_seed_get_one_whole_database() {
    const ISOLATES: usize = 8;
    let seed = "CREATE TABLE who (id BLOB); INSERT INTO who VALUES (randomblob(16)); CREATE TABLE t (v);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i FROM n";
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let start = Arc::new(Barrier::new(ISOLATES));
        let threads: Vec<_> = (0..ISOLATES)
            .map(|_| {
                let (path, start) = (folder.path().to_owned(), Arc::clone(&start));
                thread::spawn(move || {
                    let isolate = Isolate::new(&path, Connection { seed: Some(seed.into()), ..connection("shop.db") });
                    start.wait();
                    let seen = isolate.rows("SELECT hex(id), (SELECT count(*) FROM t) FROM who");
                    match seen.as_slice() {
                        [row] => match row.as_slice() {
                            [Value::Text(id), Value::I64(count)] => (id.clone(), *count),
                            other => panic!("{other:?}"),
                        },
                        other => panic!("{other:?}"),
                    }
                })
            })
            .collect();
        let seen: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(seen.iter().all(|one| one == &seen[0] && one.1 == 2000), "{seen:?}");
        assert_eq!(names(folder.path()), ["shop.db"]);
    }
}

#[test]
fn a_log_without_its_database_is_not_mixed_into_a_new_one() {
    for suffix in ["-wal", "-journal"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(format!("shop.db{suffix}")), "old").unwrap();
        let error = Isolate::new(folder.path(), seeded("shop.db")).error("SELECT 1");
        assert_eq!(error.kind, Configuration);
        assert!(error.message.contains(&format!("`shop.db{suffix}`")), "{}", error.message);
    }
}

#[test]
fn what_is_not_a_database_is_named() {
    let folder = shop();
    fs::write(folder.path().join("text.db"), "hello, this is a text and no database at all").unwrap();
    fs::create_dir(folder.path().join("folder.db")).unwrap();
    fs::write(folder.path().join("empty.db"), "").unwrap();

    for outcome in [
        Isolate::new(folder.path(), connection("text.db")).ping(),
        Isolate::new(folder.path(), connection("text.db")).run("SELECT 1 FROM t", &[]).map(|_| ()),
    ] {
        let error = outcome.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Protocol, "the database file is not a SQLite database"));
    }
    for (place, message) in [
        ("folder.db", "database file `folder.db` is not a file"),
        ("shop.db/inner.db", "database file `shop.db/inner.db` cannot be opened"),
    ] {
        let error = Isolate::new(folder.path(), connection(place)).ping().unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Configuration, message), "{error:?}");
    }
    let error = Isolate::new(folder.path(), seeded("text.db/shop.db")).ping().unwrap_err();
    assert_eq!(error.kind, Configuration, "{error:?}");
    // To SQLite a file without bytes is a database without tables.
    Isolate::new(folder.path(), connection("empty.db")).ping().unwrap();
}

#[test]
fn a_damaged_file_is_an_error_and_a_mended_one_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let many = "CREATE TABLE t (v); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT 'row ' || i FROM n";
    let path = folder.path().join("shop.db");
    let isolate = Isolate::new(folder.path(), Connection { seed: Some(many.into()), ..connection("shop.db") });
    isolate.ping().unwrap();
    let good = fs::read(&path).unwrap();
    let mut damaged = good.clone();
    damaged[4096..].fill(0xa5);
    // Another file under the same name: seen at the latest after a second.
    replace(&path, &damaged);
    isolate.clock.now_ms.set(isolate.clock.now_ms.get() + 1000);
    let error = isolate.error("SELECT count(v) FROM t");
    assert_eq!((error.kind, error.message.as_str()), (Protocol, "the database file is damaged"));
    replace(&path, &good);
    assert_eq!(isolate.rows("SELECT count(v) FROM t"), [[Value::I64(5000)]], "a connection that failed is replaced at once");
}

fn replace(path: &Path, bytes: &[u8]) {
    let draft = path.with_extension("new");
    fs::write(&draft, bytes).unwrap();
    fs::rename(&draft, path).unwrap();
}

#[test]
fn a_file_that_is_replaced_or_removed_is_noticed() {
    let folder = shop();
    let path = folder.path().join("shop.db");
    let isolate = Isolate::new(folder.path(), connection("shop.db"));
    assert_eq!(isolate.rows("SELECT v FROM t"), [[text("seed")]]);
    let other = Isolate::new(
        folder.path(),
        Connection { seed: Some("CREATE TABLE t (v); INSERT INTO t VALUES ('other')".into()), ..connection("other.db") },
    );
    other.ping().unwrap();
    fs::rename(folder.path().join("other.db"), &path).unwrap();
    isolate.clock.now_ms.set(isolate.clock.now_ms.get() + 1000);
    assert_eq!(isolate.rows("SELECT v FROM t"), [[text("other")]]);

    fs::remove_file(&path).unwrap();
    isolate.clock.now_ms.set(isolate.clock.now_ms.get() + 1000);
    assert_eq!(isolate.error("SELECT v FROM t").message, "database file `shop.db` does not exist");
}

/// The header says that a newer SQLite is needed to write: holds for root, too, whom no permission
/// stops.
#[test]
fn a_file_that_cannot_be_written_is_read_only() {
    let folder = shop();
    let path = folder.path().join("shop.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[18] = 3;
    fs::write(&path, bytes).unwrap();
    let isolate = Isolate::new(folder.path(), connection("shop.db"));
    assert_eq!(isolate.rows("SELECT v FROM t"), [[text("seed")]]);
    let error = isolate.error("INSERT INTO t VALUES (1)");
    assert_eq!((error.kind, error.message.as_str()), (Denied, "the database is read-only"));
}

#[test]
fn a_journal_that_cannot_be_made_stops_a_write_only() {
    let folder = shop();
    let isolate = Isolate::new(folder.path(), connection("shop.db"));
    isolate.ping().unwrap();
    let in_the_way = folder.path().join("shop.db-journal");
    fs::create_dir(&in_the_way).unwrap();
    let error = isolate.error("INSERT INTO t VALUES (1)");
    assert_eq!((error.kind, error.message.as_str()), (Unavailable, "the database file cannot be read or written"), "{error:?}");
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(isolate.run("INSERT INTO t VALUES (1)", &[]).unwrap().affected, 1);
}

#[test]
fn a_locked_database_is_waited_for_and_then_busy() {
    let folder = shop();
    let holder = rusqlite::Connection::open(folder.path().join("shop.db")).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let cases = [
        (&[][..], DEADLINE_MS, DEADLINE_MS),
        (&[("busy_timeout", "250ms")][..], DEADLINE_MS, 250),
        (&[("busy_timeout", "0")][..], DEADLINE_MS, 0),
        (&[][..], 60_000, 5000),
        (&[("busy_timeout", "2m")][..], 60_000, 60_000),
    ];
    for (options, deadline_ms, waited_ms) in cases {
        for statement in ["SELECT v FROM t", "INSERT INTO t VALUES (1)", "DELETE FROM t RETURNING v"] {
            let isolate = Isolate::new(folder.path(), with_options("shop.db", options));
            let error = isolate.run_with(&Query { deadline_ms, ..query(statement) }).unwrap_err();
            assert_eq!((error.kind, isolate.clock.slept_ms.get()), (Busy, waited_ms), "{options:?} {deadline_ms} {statement}: {error:?}");
        }
    }
    let patient = Isolate::new(folder.path(), connection("shop.db"));
    patient.clock.at(300, move || holder.execute_batch("COMMIT").unwrap());
    assert_eq!(patient.run("INSERT INTO t VALUES (?1)", &[Value::I64(1)]).unwrap().affected, 1);
    assert!((300..400).contains(&patient.clock.slept_ms.get()));
    assert_eq!(patient.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
}

#[test]
fn the_journal_mode_is_set() {
    let folder = shop();
    let wal = Isolate::new(folder.path(), with_options("shop.db", &[("journal_mode", "wal")]));
    assert_eq!(wal.rows("PRAGMA journal_mode"), [[text("wal")]]);
    wal.run("INSERT INTO t VALUES (1)", &[]).unwrap();
    let reader = Isolate::new(folder.path(), Connection { read_only: true, ..connection("shop.db") });
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
    let locked = Isolate::new(folder.path(), with_options("shop.db", &[("journal_mode", "delete"), ("busy_timeout", "0")]));
    assert_eq!(locked.error("SELECT 1").kind, Busy);
}

/// So it opens where nothing can be written.
#[test]
fn an_immutable_database_gets_no_files_beside_it() {
    let folder = shop();
    let writer = Isolate::new(folder.path(), with_options("shop.db", &[("journal_mode", "wal")]));
    writer.ping().unwrap();
    drop(writer);
    assert_eq!(names(folder.path()), ["shop.db"]);
    let isolate = Isolate::new(folder.path(), Connection { read_only: true, ..connection("file:shop.db?immutable=1") });
    assert_eq!(isolate.rows("SELECT v FROM t"), [[text("seed")]]);
    assert_eq!(names(folder.path()), ["shop.db"]);
    let plain = Isolate::new(folder.path(), Connection { read_only: true, ..connection("shop.db") });
    assert_eq!(plain.rows("SELECT v FROM t"), [[text("seed")]]);
    assert_eq!(names(folder.path()), ["shop.db", "shop.db-shm", "shop.db-wal"]);
}

#[test]
fn a_column_name_that_is_not_utf8_is_an_error_and_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    let seed = Some("CREATE TABLE t (zzzz TEXT); INSERT INTO t VALUES ('v')".to_owned());
    Isolate::new(folder.path(), Connection { seed, ..connection("shop.db") }).ping().unwrap();
    let path = folder.path().join("shop.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == b"zzzz").unwrap();
    bytes[at..at + 4].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let isolate = Isolate::new(folder.path(), connection("shop.db"));
    let error = isolate.error("SELECT * FROM t");
    assert_eq!((error.kind, error.message.as_str()), (Protocol, "the schema of the database contains a name that is not UTF-8"));
    assert_eq!(isolate.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

#[test]
fn the_value_of_a_variable_in_a_path_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "a file where a folder should be").unwrap();
    std::fs::create_dir(folder.path().join("hunter2.db")).unwrap();
    std::fs::write(folder.path().join("hunter2-seed.db-wal"), "left over").unwrap();
    let broken = Some("CREATE TABLE".to_owned());
    let cases = [
        ("file:hunter2-none.db", "file:{{ env.KEY }}-none.db", None),
        ("hunter2.db", "{{ env.KEY }}.db", None),
        ("file:hunter2-seed.db", "file:{{ env.KEY }}-seed.db", Some(SEED.to_owned())),
        ("file:hunter2-bad.db", "{{ env.URL }}", broken),
        ("blocked/hunter2/shop.db", "blocked/{{ env.KEY }}/shop.db", Some(SEED.to_owned())),
        ("blocked/hunter2.db", "blocked/{{ env.KEY }}.db", None),
    ];
    for (connection_string, shown, seed) in cases {
        let connection = Connection { shown: shown.to_owned(), seed, ..connection(connection_string) };
        let error = Isolate::new(folder.path(), connection).ping().unwrap_err();
        assert_eq!(error.kind, Configuration, "{error:?}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        let name = shown.trim_start_matches("file:");
        assert!(error.message.contains(&format!("`{name}`")), "{error:?}");
    }
}
