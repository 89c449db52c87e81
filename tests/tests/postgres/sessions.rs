//! What an adapter's `session` sets: for one call and not any longer, whatever becomes of the call;
//! also behind a pooler. Two tenants never see each other's rows.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
};

use millrace_core::{
    ErrorKind::{Constraint, Data, Denied, Syntax, TimedOut, TooLarge},
    Result,
    app::Access,
    ports::{CallRecord, Command, Connection, Query, RecordedWrite, SessionSetting},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, connection, query, text},
    neon,
    postgres::{Pgbouncer, Postgres, psql},
    rds_data, tries,
};

use super::Way;

for_each_way! { a_write_that_happens_once_is_the_callers_and_its_record_is_not nothing_is_left_however_a_call_ends values_arrive_as_they_are_and_last_for_one_call }

/// Rows of two tenants, and roles that see those of the setting's.
const SCHEMA: &str = "
CREATE ROLE clerk NOLOGIN;
CREATE ROLE stranger NOLOGIN;
CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY, tenant text NOT NULL, item text NOT NULL);
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON orders USING (tenant = current_setting('app.tenant'));
GRANT SELECT, INSERT, UPDATE ON orders TO clerk;
INSERT INTO orders (tenant, item) SELECT tenant, 'o' || n FROM (VALUES ('north'), ('south')) t (tenant), generate_series(1, 5) n;
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$;
CREATE TABLE checked (tenant text, v int UNIQUE DEFERRABLE INITIALLY DEFERRED);
GRANT SELECT, INSERT ON checked TO clerk;
";
/// What is set, where nothing should be: a setting of one's own is empty after its first use, and
/// absent before.
const LEFT: &str = "SELECT coalesce(current_setting('app.tenant', true), ''), current_user::text, current_setting('application_name')";

fn shop() -> Postgres {
    let server = Postgres::start(&[]);
    psql(&server.url("postgres"), SCHEMA);
    server
}

/// On one connection, where the connector keeps connections.
fn one_at_a_time(way: Way, server: &Postgres) -> Database {
    Database::open(match way {
        Way::Postgres => server.connection(&[("max_connections", "1")]),
        Way::Neon | Way::RdsData => way.settings(server, &[]),
    })
}

fn settings(pairs: &[(&str, &str)]) -> Vec<SessionSetting> {
    pairs.iter().map(|(name, value)| SessionSetting { name: (*name).into(), value: (*value).into() }).collect()
}

fn clerk_of(tenant: &str) -> Vec<SessionSetting> {
    settings(&[("app.tenant", tenant), ("role", "clerk")])
}

fn ask(database: &Database, session: &[SessionSetting], statement: &str) -> Result<Rows> {
    database.run_with(&Query { session, ..query(statement) })
}

#[track_caller]
fn nothing_is_left(database: &Database, after: &str) {
    assert_eq!(database.rows(LEFT), [[text(""), text("postgres"), text("millrace")]], "after {after}");
}

fn tenants(rows: &Rows) -> Vec<&Value> {
    let mut found: Vec<_> = rows.rows.iter().map(|row| &row[0]).collect();
    found.dedup();
    found
}

fn values_arrive_as_they_are_and_last_for_one_call(way: Way) {
    let server = shop();
    let database = one_at_a_time(way, &server);
    let values = ["north", "o'neil", "'); DROP TABLE orders; --", "$1", "\\", "\"", "\n\t\u{1}", "ÄΩ🌍", "{\"sub\": \"x\"}", "a, b", " "];
    for value in values {
        let session = settings(&[("app.tenant", value), ("app.Other.name", "x"), ("application_name", "of-a-call")]);
        let shown = "SELECT current_setting('app.tenant'), current_setting('app.other.name'), current_setting('application_name')";
        for access in [Access::Read, Access::Write] {
            let rows = database.run_with(&Query { session: &session, access, ..query(shown) }).unwrap();
            assert_eq!(rows.rows, [[text(value), text("x"), text("of-a-call")]], "{value}");
        }
        nothing_is_left(&database, value);
    }
    let rows = ask(&database, &clerk_of("north"), "SELECT tenant, current_user::text FROM orders").unwrap();
    assert_eq!((rows.rows.len(), &rows.rows[0][..]), (5, &[text("north"), text("clerk")][..]));
    assert_eq!(ask(&database, &clerk_of("nobody"), "SELECT tenant FROM orders").unwrap().rows.len(), 0);
    let changed = ask(&database, &clerk_of("south"), "UPDATE orders SET item = item || '!'").unwrap();
    assert_eq!(changed.affected, 5);
    assert_eq!(ask(&database, &clerk_of("south"), "INSERT INTO orders (tenant, item) VALUES ('north', 'x')").unwrap_err().kind, Denied);
    assert_eq!(database.rows("SELECT count(*) FROM orders WHERE item LIKE '%!' AND tenant = 'north'"), [[Value::I64(0)]]);
    // A cache between, which knows statements by their text and values, tells sessions apart.
    let text_of = |tenant: &str| {
        let shown = "SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        match &ask(&database, &settings(&[("app.tenant", tenant)]), shown).unwrap().rows[0][0] {
            Value::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    let (north, south) = (text_of("north"), text_of("south"));
    assert!(way != Way::Postgres || north != south && north == text_of("north") && !north.contains("north"), "{north}");
    // In the same round trip, in a connection that only reads, too.
    let reader = Database::open(Connection { read_only: true, ..way.settings(&server, &[]) });
    assert_eq!(tenants(&ask(&reader, &clerk_of("south"), "SELECT tenant FROM orders").unwrap()), [&text("south")]);
    assert_eq!(ask(&reader, &clerk_of("south"), "UPDATE orders SET item = ''").unwrap_err().kind, Denied);
    nothing_is_left(&reader, "a refused write");
}

/// Every way in which a call can fail or be cut off, on one connection to the server.
fn fails_in_every_way(database: &Database) {
    let session = &clerk_of("north")[..];
    let refused = |statement: &str| {
        let error = ask(database, session, statement).unwrap_err();
        nothing_is_left(database, statement);
        error
    };
    assert_eq!(refused("SELECT 1/0").kind, Data);
    assert_eq!(refused("SELECT nothing FROM orders").kind, Syntax);
    assert_eq!(refused("CREATE TABLE mine (v int)").kind, Denied);
    assert_eq!(refused("INSERT INTO checked VALUES ('north', 1), ('north', 1)").kind, Constraint, "by the commit");
    assert_eq!(refused("CALL commits()").kind, Denied);
    let late = database.run_with(&Query { session, deadline_ms: 1_500, ..query("SELECT pg_sleep(600)") }).unwrap_err();
    assert_eq!(late.kind, TimedOut);
    nothing_is_left(database, "a deadline");
    for access in [Access::Read, Access::Write] {
        let many = database.run_with(&Query { session, access, max_rows: 1, ..query("SELECT item FROM orders") }).unwrap_err();
        assert_eq!(many.kind, TooLarge);
        nothing_is_left(database, "too many rows");
    }
    let killed = database.run_with(&Query { session, ..query("SELECT pg_terminate_backend(pg_backend_pid())") });
    assert!(killed.is_err());
    nothing_is_left(database, "a killed connection");
    // A setting or role that the server refuses is not the statement's fault, and nothing runs.
    for wrong in [settings(&[("role", "nobody")]), settings(&[("lock_timeout", "soon")])] {
        let error = ask(database, &wrong, "INSERT INTO orders (tenant, item) VALUES ('north', 'never')").unwrap_err();
        let expected = (Denied, "PostgreSQL refused a setting or the role of the adapter's `session`");
        assert_eq!((error.kind, error.message.as_str()), expected, "{error:?}");
        nothing_is_left(database, "a wrong setting");
    }
    // Nor does a statement get past its own session.
    for statement in
        ["SELECT set_config('app.tenant', 'south', false)", "DO $$ BEGIN SET ROLE postgres; END $$", "SET ROLE postgres", "RESET ROLE"]
    {
        let error = refused(statement);
        assert!(error.kind == Denied && error.message.contains("` does not run `"), "{error:?}");
    }
    assert_eq!(database.rows("SELECT count(*) FROM orders WHERE item = 'never'"), [[Value::I64(0)]]);
}

fn nothing_is_left_however_a_call_ends(way: Way) {
    let server = shop();
    fails_in_every_way(&one_at_a_time(way, &server));
    let pooler = Pgbouncer::start(&server, 1);
    fails_in_every_way(&Database::open(match way {
        Way::Postgres => pooler.connection(),
        // With a pool of connections behind the API, as Neon has one.
        Way::Neon => neon::settings(&neon::start(pooler.port), &server, &[]),
        Way::RdsData => rds_data::settings(&format!("http://{}", rds_data::start(pooler.port).address), &server.url("postgres"), &[]),
    }));
}

/// Callers of two tenants on the same few connections, while some of their statements fail and
/// connections are ended.
fn interleave(server: &Postgres, open: impl Fn() -> Database + Sync, killer: bool) {
    const ISOLATES: usize = 4;
    let rounds = tries(40, 10);
    let (seen, failed, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let isolates: Vec<_> = (0..ISOLATES)
            .map(|isolate| {
                let (open, seen, failed) = (&open, &seen, &failed);
                scope.spawn(move || {
                    let database = open();
                    let sessions = [clerk_of("north"), clerk_of("south")];
                    for round in 0..rounds {
                        let statements = [
                            "SELECT tenant FROM orders",
                            "SELECT tenant, pg_sleep(0.001) FROM orders",
                            "UPDATE orders SET item = item || '' RETURNING tenant",
                            "SELECT tenant, 1 / (id - id) FROM orders",
                        ];
                        let of = |number: usize| (isolate + round + number) % 2;
                        let queries: Vec<_> = (0..8)
                            .map(|number| {
                                let access = if number % 4 == 2 { Access::Write } else { Access::Read };
                                Query { session: &sessions[of(number)], access, ..query(statements[number % 4]) }
                            })
                            .collect();
                        for (number, answer) in database.run_all(&queries).into_iter().enumerate() {
                            match answer {
                                Ok(rows) => {
                                    assert_eq!(tenants(&rows), [&text(["north", "south"][of(number)])]);
                                    seen.fetch_add(1, SeqCst);
                                }
                                Err(_) => drop(failed.fetch_add(1, SeqCst)),
                            }
                        }
                        // Nobody's: neither tenant's setting is there, and the role is the user's.
                        if let Ok(left) = database.run(LEFT, &[]) {
                            assert_eq!(left.rows[0][..2], [text(""), text("postgres")]);
                        }
                    }
                })
            })
            .collect();
        if killer {
            let (server, done) = (&server, &done);
            scope.spawn(move || {
                let admin = Database::open(server.connection(&[("application_name", "admin")]));
                while !done.load(SeqCst) {
                    let one = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                               WHERE application_name = 'millrace' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";
                    drop(admin.run(one, &[]));
                    thread::sleep(std::time::Duration::from_millis(20));
                }
            });
        }
        let outcomes: Vec<_> = isolates.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, SeqCst);
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    });
    let (seen, failed) = (seen.into_inner(), failed.into_inner());
    assert_eq!(seen + failed, ISOLATES * rounds * 8);
    // A quarter fails by itself.
    assert!(failed >= ISOLATES * rounds * 2, "{failed}");
    assert!(seen >= if killer { 1 } else { ISOLATES * rounds * 6 }, "{seen}");
    let admin = server.open();
    assert_eq!(admin.rows("SELECT tenant, count(*) FROM orders GROUP BY 1 ORDER BY 1").len(), 2);
}

#[test]
fn two_tenants_share_connections_and_no_row() {
    let server = shop();
    interleave(&server, || Database::open(server.connection(&[("max_connections", "2")])), false);
    interleave(&server, || Database::open(server.connection(&[("max_connections", "2")])), true);
}

#[test]
fn two_tenants_share_a_poolers_connections_and_no_row() {
    let server = shop();
    let pooler = Pgbouncer::start(&server, 2);
    let address = pooler.connection().connection_string.expose().clone();
    let open = || Database::open(connection("postgres", &address, &[("max_connections", "3")]));
    interleave(&server, open, false);
    interleave(&server, open, true);
}

fn a_write_that_happens_once_is_the_callers_and_its_record_is_not(way: Way) {
    let server = shop();
    let database = one_at_a_time(way, &server);
    let once = |session: &[SessionSetting], statement: &str, values: &[Value], key: &str| {
        let command = Command::Statement { text: statement, values };
        let answer = database.write_once(&Query { command, session, ..query(statement) }, CallRecord { key, now_s: 0, expires_s: 60 });
        nothing_is_left(&database, statement);
        answer
    };
    let add = "INSERT INTO orders (tenant, item) VALUES ($1, 'new') RETURNING tenant, current_user::text";
    let expected = Rows {
        columns: ["tenant".to_owned(), "current_user".to_owned()].into(),
        rows: vec![vec![text("north"), text("clerk")]],
        ..Rows::default()
    };
    // The role may neither make nor write the table of the records.
    assert_eq!(once(&clerk_of("north"), add, &[text("north")], "a"), Ok(RecordedWrite::Made(expected.clone())));
    assert_eq!(once(&clerk_of("north"), add, &[text("north")], "a"), Ok(RecordedWrite::MadeBefore(expected)));
    assert_eq!(once(&clerk_of("north"), add, &[text("south")], "b").unwrap_err().kind, Denied);
    assert_eq!(once(&clerk_of("north"), "INSERT INTO checked VALUES ($1, 1), ('x', 1)", &[text("x")], "c").unwrap_err().kind, Constraint);
    assert_eq!(once(&settings(&[("role", "nobody")]), add, &[text("north")], "d").unwrap_err().kind, Denied);
    assert_eq!(once(&clerk_of("north"), "SELECT set_config('role', $1, true)", &[text("postgres")], "e").unwrap_err().kind, Denied);
    assert_eq!(database.rows("SELECT key FROM millrace_calls"), [[text("a")]]);
    assert_eq!(database.rows("SELECT tenant FROM orders WHERE item = 'new'"), [[text("north")]]);
}
