//! Connections that are kept, break, are too many, and come back.

use std::thread;

use millrace_core::{
    Error,
    ErrorKind::{Busy, Protocol, TimedOut, Unavailable},
    app::Access,
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, query},
    wait,
};

use super::{ServerUnderTest, Site};

/// What differs between servers.
#[derive(Clone, Copy)]
pub(crate) struct Life {
    /// A query for the number of its connection; the same that takes a moment.
    pub(crate) connection: &'static str,
    pub(crate) slow_connection: &'static str,
    /// Statements that do not end: one that reads, and one that writes into a table `t (v int)`.
    pub(crate) endless: [&'static str; 2],
    /// The numbers of the connections of this database that run one.
    pub(crate) running: &'static str,
    /// Ends the connection with the number `{}`, and whether it is there.
    pub(crate) end: [&'static str; 2],
    /// What ends at its deadline on the server, too.
    pub(crate) ends: &'static [Access],
    /// What is said of a read whose connection was ended again and again.
    pub(crate) ended: &'static str,
}

fn connection_of(server: &ServerUnderTest, database: &Database) -> Value {
    database.rows(server.life.unwrap().connection).remove(0).remove(0)
}

/// Waits until so many connections run an endless statement, and gives their numbers. A look that
/// fails is taken again: the list of processes is read while they end.
pub(crate) fn wait_for_running(server: &ServerUnderTest, admin: &Database, count: usize) -> Vec<i64> {
    let mut found = Vec::new();
    let number = |row: Vec<Value>| if let Value::I64(number) = row[0] { number } else { panic!("{row:?}") };
    wait::until(&format!("{count} connections do not run it"), || {
        let Ok(rows) = admin.run(server.life.unwrap().running, &[]) else { return false };
        found = rows.rows.into_iter().map(number).collect();
        found.len() == count
    });
    found
}

/// Ends a connection, and waits until it has gone.
pub(crate) fn end(site: &Site, admin: &Database, number: &dyn std::fmt::Display) {
    let [end, is_there] = site.server.life.unwrap().end.map(|sql| sql.replace("{}", &number.to_string()));
    site.run(&end);
    wait::until("a connection that was ended is there", || admin.run(&is_there, &[]).is_ok_and(|found| found.rows.is_empty()));
}

pub(crate) fn a_connection_is_used_again_and_replaced_when_it_broke(server: &'static ServerUnderTest) {
    let mut site = Site::alone(server);
    let database = site.open();
    let first = connection_of(server, &database);
    assert_eq!(connection_of(server, &database), first);
    // Ended by the administrator while it was idle: nobody notices but by another number, and a
    // write loses nothing.
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let Value::I64(number) = first else { panic!("{first:?}") };
    end(&site, &site.open(), &number);
    assert_eq!(database.run("INSERT INTO t VALUES (1)", &[]).unwrap().affected, 1);
    assert_ne!(connection_of(server, &database), first);

    site.own().kill();
    let gone = database.error("INSERT INTO t VALUES (2)");
    assert_eq!(gone.kind, Unavailable, "{gone:?}");
    assert!(gone.message == "could not connect to the server" && gone.source.as_ref().unwrap().starts_with("`127.0.0.1:"), "{gone:?}");
    assert_eq!(database.ping().unwrap_err().kind, Unavailable);
    site.own().restart();
    assert_eq!(database.run("INSERT INTO t VALUES (2)", &[]).unwrap().affected, 1);
    assert_eq!(database.rows("SELECT v FROM t ORDER BY v"), [[Value::I64(1)], [Value::I64(2)]]);
}

pub(crate) fn a_server_that_comes_back_is_waited_for(server: &'static ServerUnderTest) {
    let mut site = Site::alone(server);
    let database = site.open();
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    site.own().kill();
    // A kept connection may be the one that breaks, so the outcome of a write may be unknown here;
    // nothing was executed either way.
    let gone = database.error("INSERT INTO t VALUES (1)");
    assert!(matches!(gone.kind, Unavailable | Protocol), "{gone:?}");
    let gone = database.run_with(&Query { access: Access::Read, ..query("SELECT 1") }).unwrap_err();
    assert_eq!(gone.kind, Unavailable);
    thread::scope(|scope| {
        scope.spawn(|| site.own().restart());
        // While it starts there is no connection: nothing was executed, so even a write is sent
        // again.
        let written = loop {
            match database.run("INSERT INTO t VALUES (1)", &[]) {
                Err(error) if error.kind == Unavailable => continue,
                outcome => break outcome,
            }
        };
        assert_eq!(written.unwrap().affected, 1);
    });
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

/// Runs an endless statement, does something to the connections that run it, and gives its error.
fn interrupted(site: &Site, access: Access, interrupt: impl FnOnce(&Database)) -> Error {
    let [read, write] = site.server.life.unwrap().endless;
    let (statement, settings) = (if access == Access::Read { read } else { write }, site.settings(&[]));
    thread::scope(|scope| {
        let asker = scope.spawn(|| Database::open(settings).run_with(&Query { access, ..query(statement) }).unwrap_err());
        interrupt(&site.open());
        asker.join().unwrap()
    })
}

pub(crate) fn a_write_that_is_killed_is_of_unknown_outcome_and_not_repeated(server: &'static ServerUnderTest) {
    let site = Site::of(server);
    let admin = site.open();
    admin.run("CREATE TABLE t (v int)", &[]).unwrap();
    let error = interrupted(&site, Access::Write, |admin| {
        let numbers = wait_for_running(server, admin, 1);
        end(&site, admin, &numbers[0]);
    });
    assert_eq!(error.kind, Protocol, "{error:?}");
    assert_eq!(error.message, format!("{}; it is not known whether the statement took effect", server.life.unwrap().ended));
    assert!(admin.rows(server.life.unwrap().running).is_empty());
}

pub(crate) fn a_read_that_is_killed_is_asked_once_more(server: &'static ServerUnderTest) {
    let site = Site::of(server);
    let error = interrupted(&site, Access::Read, |admin| {
        let first = wait_for_running(server, admin, 1);
        end(&site, admin, &first[0]);
        let second = wait_for_running(server, admin, 1);
        assert_ne!(first, second);
        end(&site, admin, &second[0]);
    });
    assert_eq!((error.kind, error.message.as_str()), (Unavailable, server.life.unwrap().ended));
}

pub(crate) fn more_calls_than_connections_wait_for_their_turn(server: &'static ServerUnderTest) {
    let site = Site::of(server);
    // All calls of one isolate, at once.
    let database = Database::open(site.settings(&[("max_connections", "2")]));
    let queries: Vec<_> = (0..12).map(|_| query(server.life.unwrap().slow_connection)).collect();
    let mut numbers: Vec<_> =
        database.run_all(&queries).into_iter().map(|rows| format!("{:?}", rows.unwrap().rows.remove(0).remove(0))).collect();
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), 2);
    let late = |deadline_ms| Query { deadline_ms, access: Access::Read, ..query(server.life.unwrap().endless[0]) };
    let waited = database.run_all(&[late(3_000), late(3_000), late(200)]).remove(2).unwrap_err();
    let message = format!("all 2 connections to {} were in use until the deadline", server.product);
    assert_eq!((waited.kind, waited.message.clone()), (Busy, message));
}

pub(crate) fn a_statement_ends_at_its_deadline_on_the_server_too(server: &'static ServerUnderTest) {
    let Life { endless: [read, _], ends, running, .. } = server.life.unwrap();
    let site = Site::of(server);
    let database = site.open();
    database.ping().unwrap();
    let late = |access, deadline_ms, statement: &str| {
        let error = database.run_with(&Query { access, deadline_ms, ..query(statement) }).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (TimedOut, "the statement ran past its deadline"), "{statement}");
    };
    ends.iter().for_each(|access| late(*access, 2_000, read));
    late(Access::Write, 0, "CREATE TABLE late (v int)");
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'late'";
    assert_eq!(database.rows(tables), [[Value::I64(0)]]);
    // Nobody waits for them any more, and nothing runs.
    let admin = site.open();
    wait::until("it runs on", || admin.run(running, &[]).is_ok_and(|found| found.rows.is_empty()));
    assert_eq!(database.rows("SELECT 1"), [[Value::I64(1)]]);
}
