//! Servers that are killed under transactions: whatever a caller hears, all of a transaction is
//! there or nothing.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use millrace_core::{ErrorKind, ports::RecordedWrite};
use millrace_tests::{
    database::{Database, connection},
    mysql::Mysql,
    neon, planetscale,
    postgres::Postgres,
    rds_data,
    sqld::Sqld,
    wait,
};

use super::{Kind, Place, insert};

/// A server that can be killed.
trait Killed {
    fn kill(&mut self);
    fn restart(&mut self);
}

macro_rules! killed {
    ($($server:ty),*) => { $(impl Killed for $server {
        fn kill(&mut self) {
            self.kill();
        }

        fn restart(&mut self) {
            self.restart();
        }
    })* };
}

killed!(Postgres, Mysql, Sqld);

/// What a caller was told of its transactions.
#[derive(Default)]
struct Told {
    made: BTreeSet<String>,
    not_made: BTreeSet<String>,
}

/// Runs transactions of two rows while the server is killed again and again.
fn check(kind: Kind, server: &mut dyn Killed, open: impl Fn() -> Database + Clone + Send + 'static) {
    let table = match kind {
        Kind::Postgres | Kind::Neon | Kind::RdsData => "CREATE TABLE t (k text UNIQUE, n bigint)",
        Kind::Mysql | Kind::Planetscale => "CREATE TABLE t (k varchar(500) UNIQUE, n bigint)",
        _ => "CREATE TABLE t (k TEXT UNIQUE, n INTEGER)",
    };
    let database = open();
    database.run(table, &[]).unwrap();
    database.prepare_records().unwrap();
    let (done, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (done, progress, open) = (Arc::clone(&done), Arc::clone(&progress), open.clone());
            thread::spawn(move || {
                let place = Place { kind, database: open(), _server: Box::new(()) };
                let mut told = Told::default();
                for number in 0.. {
                    if done.load(SeqCst) {
                        break;
                    }
                    let key = format!("{caller}-{number}");
                    let pair = [insert(&format!("{key}-a"), 1).expect(1), insert(&format!("{key}-b"), 2).expect(1)];
                    if caller % 2 == 0 {
                        // With a record it is sent until it is known what became of it.
                        loop {
                            match place.once(&key, &pair) {
                                Ok(RecordedWrite::Made(rows) | RecordedWrite::MadeBefore(rows)) => {
                                    assert_eq!(rows.affected, 2);
                                    break;
                                }
                                // What a batch returned is stored after it.
                                Ok(RecordedWrite::MadeBeforeUnknown) if kind == Kind::Neon => break,
                                Ok(RecordedWrite::Running) => {}
                                Err(error) if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Busy | ErrorKind::Protocol) => {}
                                other => panic!("{key}: {other:?}"),
                            }
                            wait::moment();
                        }
                        told.made.insert(key);
                        progress.fetch_add(1, SeqCst);
                        continue;
                    }
                    match place.run(&pair) {
                        Ok(rows) => {
                            assert_eq!(rows.affected, 2);
                            told.made.insert(key);
                            progress.fetch_add(1, SeqCst);
                        }
                        Err(error) if error.message.contains("not known whether") => {}
                        Err(error) => {
                            assert!(matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Busy), "{key}: {error:?}");
                            told.not_made.insert(key);
                            wait::moment();
                        }
                    }
                }
                told
            })
        })
        .collect();
    for more in [16, 7, 25, 10] {
        wait::until_more("no transaction is made", more, || progress.load(SeqCst));
        server.kill();
        server.restart();
    }
    wait::until_more("no transaction is made after the last start", 8, || progress.load(SeqCst));
    done.store(true, SeqCst);
    let told: Vec<Told> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
    let place = Place { kind, database: open(), _server: Box::new(()) };
    let keys: BTreeSet<String> = place.keys().into_iter().collect();
    for key in &keys {
        let (pair, half) = key.rsplit_once('-').unwrap();
        let other = if half == "a" { "b" } else { "a" };
        assert!(keys.contains(&format!("{pair}-{other}")), "half of {pair} is there");
    }
    let (made, not_made) = told.iter().fold((0, 0), |(made, not_made), told| (made + told.made.len(), not_made + told.not_made.len()));
    for told in &told {
        assert!(told.made.iter().all(|key| keys.contains(&format!("{key}-a"))), "one that was made is not there");
        assert!(told.not_made.iter().all(|key| !keys.contains(&format!("{key}-a"))), "one that was not made is there");
    }
    println!("{made} made, {not_made} not made");
    assert!(made > 20, "{made}");
}

#[test]
fn a_postgresql_that_is_killed_leaves_no_half() {
    let mut server = Postgres::start(&[]);
    let url = server.url("postgres");
    check(Kind::Postgres, &mut server, move || Database::open(connection("postgres", &url, &[])));
}

#[test]
fn a_postgresql_behind_neons_api_that_is_killed_leaves_no_half() {
    let mut server = Postgres::start(&[]);
    let api = neon::start(server.port);
    let settings = neon::settings(&api, &server, &[]);
    check(Kind::Neon, &mut server, move || Database::open(settings.clone()));
}

#[test]
fn a_postgresql_behind_the_rds_data_api_that_is_killed_leaves_no_half() {
    let mut server = Postgres::start(&[]);
    let api = rds_data::start(server.port);
    let settings = rds_data::settings(&format!("http://{}", api.address), &server.url("postgres"), &[]);
    check(Kind::RdsData, &mut server, move || Database::open(settings.clone()));
}

#[test]
fn a_mariadb_that_is_killed_leaves_no_half() {
    let mut server = Mysql::start(&[]);
    let url = server.url("shop");
    check(Kind::Mysql, &mut server, move || Database::open(connection("mysql", &url, &[])));
}

#[test]
fn a_mariadb_behind_planetscales_api_that_is_killed_leaves_no_half() {
    let mut server = Mysql::start(&[]);
    let api = planetscale::start(server.port, "shop");
    let settings = planetscale::settings(&api);
    check(Kind::Planetscale, &mut server, move || Database::open(settings.clone()));
}

#[test]
fn a_libsql_server_that_is_killed_leaves_no_half() {
    let mut server = Sqld::start(None);
    let url = format!("http://127.0.0.1:{}", server.port);
    check(Kind::Libsql, &mut server, move || Database::open(connection("libsql", &url, &[])));
}
