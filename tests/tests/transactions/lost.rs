//! The answer to the end of a transaction that is lost when the transaction has taken effect:
//! nobody is told that it failed, and nothing happens twice.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use millrace_core::{ErrorKind, ports::RecordedWrite, value::Value};
use millrace_tests::{
    cutting::{self, cutting, cutting_libsql},
    database::{Database, connection},
    mysql::Mysql,
    neon, planetscale,
    postgres::Postgres,
    rds_data,
    scripted::{Reply, Scripted},
    sqld::Sqld,
};

use super::{Kind, Place, insert, step};

/// A database whose answers can be lost.
struct Lossy {
    place: Place,
    /// Loses the next answer to an end.
    lose: Box<dyn Fn()>,
    /// How many of those are still to be lost.
    left: Box<dyn Fn() -> usize>,
    /// Lets the way be whole again.
    mend: Box<dyn Fn()>,
}

impl Kind {
    fn lossy(self) -> Lossy {
        let of_count = |place: Place, cuts: Arc<AtomicUsize>| {
            let left = Arc::clone(&cuts);
            Lossy { place, lose: Box::new(move || cuts.store(1, SeqCst)), left: Box::new(move || left.load(SeqCst)), mend: Box::new(|| {}) }
        };
        match self {
            Self::Postgres => {
                let server = Postgres::start(&[]);
                let way = cutting(server.port, cutting::POSTGRES);
                let address = server.url("postgres").replace(&format!(":{}/", server.port), &format!(":{}/", way.port));
                let database = Database::open(connection("postgres", &address, &[]));
                of_count(Place { kind: self, database, _server: Box::new(server) }, way.cuts)
            }
            Self::Mysql => {
                let server = Mysql::start(&[]);
                let way = cutting(server.port, cutting::MYSQL);
                let address = server.url("shop").replace(&format!(":{}/", server.port), &format!(":{}/", way.port));
                let database = Database::open(connection("mysql", &address, &[]));
                of_count(Place { kind: self, database, _server: Box::new(server) }, way.cuts)
            }
            Self::Neon => {
                let server = Postgres::start(&[]);
                let (port, cuts) = (server.port, Arc::new(AtomicUsize::new(0)));
                let swallows = Arc::clone(&cuts);
                let api = Scripted::start(move |_, request| {
                    let reply = neon::reply(port, request);
                    let is_cut = request.body.contains("UPDATE t SET n")
                        && swallows.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
                    if is_cut { Reply::Raw(b"") } else { reply }
                });
                let database = Database::open(neon::settings(&api, &server, &[]));
                of_count(Place { kind: self, database, _server: Box::new(server) }, cuts)
            }
            Self::Planetscale => {
                let server = Mysql::start(&[]);
                let (stand_in, cuts) = (planetscale::Api::over(server.port, "shop"), Arc::new(AtomicUsize::new(0)));
                let swallows = Arc::clone(&cuts);
                let api = Scripted::start(move |_, request| {
                    let reply = stand_in.reply(request);
                    let is_cut = request.body.contains(r#""query":"COMMIT""#)
                        && swallows.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
                    if is_cut { Reply::Raw(b"") } else { reply }
                });
                let database = Database::open(planetscale::settings(&api));
                of_count(Place { kind: self, database, _server: Box::new(server) }, cuts)
            }
            Self::RdsData => {
                let server = Postgres::start(&[]);
                let (stand_in, cuts) = (rds_data::Api::of(server.port), Arc::new(AtomicUsize::new(0)));
                let swallows = Arc::clone(&cuts);
                let api = Scripted::start(move |_, request| {
                    let reply = stand_in.reply(request);
                    let is_cut = request.line.contains("/CommitTransaction")
                        && swallows.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
                    if is_cut { Reply::Raw(b"") } else { reply }
                });
                let settings = rds_data::settings(&format!("http://{}", api.address), &server.url("postgres"), &[]);
                of_count(Place { kind: self, database: Database::open(settings), _server: Box::new(server) }, cuts)
            }
            _ => {
                let server = Sqld::start(None);
                let (proxy, cuts) = cutting_libsql(server.port);
                let database = Database::open(connection("libsql", &format!("http://{}", proxy.address), &[]));
                let (is_lost, mended): (_, Arc<AtomicBool>) = (Arc::clone(&cuts), cuts);
                Lossy {
                    place: Place { kind: self, database, _server: Box::new(server) },
                    lose: Box::new(move || is_lost.store(true, SeqCst)),
                    // Nothing else is lost than the answer to an end, and what comes then.
                    left: Box::new(|| 0),
                    mend: Box::new(move || mended.store(false, SeqCst)),
                }
            }
        }
    }
}

#[test]
fn an_answer_to_the_end_that_is_lost_leaves_one_effect_and_nobody_is_told_another() {
    for kind in [Kind::Postgres, Kind::Mysql, Kind::Planetscale, Kind::Libsql, Kind::Neon, Kind::RdsData] {
        let Lossy { place, lose, left, mend } = kind.lossy();
        let table = if kind == Kind::Libsql { "CREATE TABLE t (k TEXT, n INTEGER)" } else { "CREATE TABLE t (k varchar(99), n bigint)" };
        place.database.run(table, &[]).unwrap();
        place.database.prepare_records().unwrap();
        place.run(&[insert("count", 0)]).unwrap();
        let pair = |key: &str| [step("UPDATE t SET n = n + 1 WHERE k = 'count'", &[]).expect(1), insert(key, 7).expect(1)];
        let found = || place.database.rows("SELECT (SELECT n FROM t WHERE k = 'count'), (SELECT count(*) FROM t WHERE n = 7)");
        // It may have taken effect, which is said, and it is not sent again: it has.
        lose();
        let error = place.run(&pair("a")).unwrap_err();
        assert!(
            error.kind == ErrorKind::Protocol && error.message.ends_with("; it is not known whether the statement took effect"),
            "{error:?}"
        );
        assert_eq!(left(), 0);
        mend();
        assert_eq!(found(), [[Value::I64(1), Value::I64(1)]]);
        // With a record of the call it is sent again, and the record tells.
        lose();
        let first = place.once("k", &pair("b"));
        assert_eq!(left(), 0);
        mend();
        let second = place.once("k", &pair("b")).unwrap();
        match kind {
            // What a batch returned is stored after it.
            Kind::Neon => assert_eq!((first, second), (Ok(RecordedWrite::MadeBeforeUnknown), RecordedWrite::MadeBeforeUnknown)),
            // The way stays broken until the caller comes again.
            Kind::Libsql => {
                assert!(first.is_err() && matches!(&second, RecordedWrite::MadeBefore(rows) if rows.affected == 2), "{first:?} {second:?}")
            }
            _ => {
                assert!(matches!(&second, RecordedWrite::MadeBefore(rows) if rows.affected == 2), "{second:?}");
                assert_eq!(first, Ok(second));
            }
        }
        assert_eq!(found(), [[Value::I64(2), Value::I64(2)]]);
    }
}
