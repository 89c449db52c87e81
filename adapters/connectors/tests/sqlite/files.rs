//! Files that are missing, made, replaced, broken or locked.

use millrace_core::{ErrorKind, ports::Connection, value::Value};

use crate::support::{Isolate, connection, text, with_options};

#[test]
fn a_missing_file_is_made_from_its_seed_once() {
    let folder = tempfile::tempdir().unwrap();
    let seed = Some("CREATE TABLE t (v); BEGIN; INSERT INTO t VALUES ('seed'); COMMIT".to_owned());
    let seeded = |read_only| Connection { seed: seed.clone(), read_only, ..connection("data/shop.db") };
    let first = Isolate::new(folder.path(), seeded(true));
    assert_eq!(first.rows("SELECT v FROM t"), [[text("seed")]]);
    let second = Isolate::new(folder.path(), seeded(false));
    second.run("INSERT INTO t VALUES ('more')", &[]).unwrap();
    let third = Isolate::new(folder.path(), seeded(false));
    third.ping().unwrap();
    assert_eq!(third.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
    let names: Vec<_> = std::fs::read_dir(folder.path().join("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["shop.db"]);
}

#[test]
fn a_missing_file_without_a_seed_is_an_error_unless_it_may_be_created() {
    let folder = tempfile::tempdir().unwrap();
    let strict = Isolate::new(folder.path(), connection("shop.db"));
    for error in [strict.error("SELECT 1"), strict.ping().unwrap_err()] {
        assert_eq!(error.kind, ErrorKind::Configuration);
        assert_eq!(error.message, "database file `shop.db` does not exist");
    }
    assert!(!folder.path().join("shop.db").exists());

    for willing in [with_options("shop.db", &[("create", "true")]), connection("file:other.db?mode=rwc")] {
        let isolate = Isolate::new(folder.path(), willing);
        isolate.run("CREATE TABLE t (v)", &[]).unwrap();
        assert_eq!(isolate.run("INSERT INTO t VALUES (1), (2)", &[]).unwrap().affected, 2);
    }
    strict.ping().unwrap();
    assert_eq!(strict.rows("SELECT sum(v) FROM t"), [[Value::I64(3)]]);
}
