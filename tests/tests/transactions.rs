//! Transactions of several statements on every database that has them: all of one takes effect, or
//! nothing, whatever fails and whoever is killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

mod killed;
mod lost;
mod neon;

use std::borrow::Cow;

use millrace_core::{
    Error,
    ErrorKind::{Constraint, Denied, Expectation, Syntax, TimedOut},
    Result,
    app::Access,
    ports::{BoundStep, BoundTransaction, CallRecord, Command, Parameter, Query, RecordedWrite, StepValue, TextPiece},
    value::{Rows, Value},
};
use millrace_tests::{
    d1_api::stand_in,
    database::{Database, connection, query, text},
    mysql::Mysql,
    neon as neon_api, planetscale,
    postgres::Postgres,
    rds_data,
    sqld::Sqld,
};

/// A kind of database.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sqlite,
    Libsql,
    D1,
    Postgres,
    Neon,
    RdsData,
    Mysql,
    Planetscale,
}

/// A database with the table `t`, and what keeps it there.
struct Place {
    kind: Kind,
    database: Database,
    _server: Box<dyn std::any::Any>,
}

const KINDS: [Kind; 8] = [Kind::Sqlite, Kind::Libsql, Kind::D1, Kind::Postgres, Kind::Neon, Kind::RdsData, Kind::Mysql, Kind::Planetscale];

impl Kind {
    /// Starts a server, and makes the table.
    fn start(self) -> Place {
        let (database, server): (Database, Box<dyn std::any::Any>) = match self {
            Self::Sqlite => (Database::open(connection("sqlite", ":memory:", &[])), Box::new(())),
            Self::Libsql => {
                let server = Sqld::start(None);
                (Database::open(connection("libsql", &format!("http://127.0.0.1:{}", server.port), &[])), Box::new(server))
            }
            Self::D1 => {
                let server = stand_in();
                let base_url = format!("http://{}/client/v4", server.address);
                let options = [("api_token", "t.o.k"), ("base_url", &*base_url)];
                (Database::open(connection("d1", "d1://0a1b/1111-2222", &options)), Box::new(server))
            }
            Self::Postgres => {
                let server = Postgres::start(&[]);
                (Database::open(connection("postgres", &server.url("postgres"), &[])), Box::new(server))
            }
            Self::Neon => {
                let server = Postgres::start(&[]);
                (neon_api::open(&server), Box::new(server))
            }
            Self::RdsData => {
                let server = Postgres::start(&[]);
                (rds_data::open(&server), Box::new(server))
            }
            Self::Mysql => {
                let server = Mysql::start(&[]);
                (Database::open(connection("mysql", &server.url("shop"), &[])), Box::new(server))
            }
            Self::Planetscale => {
                let server = Mysql::start(&[]);
                (planetscale::open(&server), Box::new(server))
            }
        };
        let table = match self {
            Self::Postgres | Self::Neon | Self::RdsData => {
                "CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k text UNIQUE, n bigint)"
            }
            Self::Mysql | Self::Planetscale => {
                "CREATE TABLE t (id bigint AUTO_INCREMENT PRIMARY KEY, k longtext COLLATE utf8mb4_bin, n bigint, UNIQUE (k(200)))"
            }
            _ => "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE, n INTEGER)",
        };
        database.run(table, &[]).unwrap();
        Place { kind: self, database, _server: server }
    }

    /// A statement with its placeholders, written `?`, as the connector writes them.
    fn written(self, statement: &str) -> String {
        let mut written = String::new();
        for (number, part) in statement.split('?').enumerate() {
            match (number, self) {
                (0, _) => {}
                (number, Self::Postgres | Self::Neon | Self::RdsData) => written.push_str(&format!("${number}")),
                (_, Self::Mysql | Self::Planetscale) => written.push('?'),
                (number, _) => written.push_str(&format!("?{number}")),
            }
            written.push_str(part);
        }
        written
    }
}

/// A step of a test.
struct Step {
    statement: &'static str,
    parameters: Vec<Parameter>,
    expect: Option<u64>,
}

fn step(statement: &'static str, values: &[Value]) -> Step {
    Step { statement, parameters: values.iter().cloned().map(Parameter::Value).collect(), expect: None }
}

impl Step {
    fn expect(self, rows: u64) -> Self {
        Self { expect: Some(rows), ..self }
    }

    fn and(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }
}

/// A column of the result of an earlier step.
fn earlier(step: usize, column: &str) -> StepValue {
    StepValue { step, column: column.to_owned() }
}

const NAMES: [&str; 4] = ["one", "two", "three", "four"];

impl Place {
    fn bound(&self, steps: &[Step]) -> Vec<BoundStep<'static>> {
        // Through Neon's API the rows of a step are counted where it returns them; of others the
        // build refuses `expect`.
        let counts = |step: &Step| self.kind != Kind::Neon || step.statement.contains("RETURNING") || step.statement.starts_with("SELECT");
        let bound = |(step, name): (&Step, &'static str)| BoundStep {
            name,
            text: Cow::Owned(self.kind.written(step.statement)),
            parameters: step.parameters.clone(),
            access: if step.statement.starts_with("SELECT") { Access::Read } else { Access::Write },
            expect: step.expect.filter(|_| counts(step)),
        };
        steps.iter().zip(NAMES).map(bound).collect()
    }

    fn run(&self, steps: &[Step]) -> Result<Rows> {
        let steps = self.bound(steps);
        let transaction = BoundTransaction { steps: &steps, result: None };
        self.database.run_with(&Query { command: Command::Transaction(transaction), access: transaction.access(), ..query("") })
    }

    fn once(&self, key: &str, steps: &[Step]) -> Result<RecordedWrite> {
        let steps = self.bound(steps);
        let transaction = BoundTransaction { steps: &steps, result: None };
        let query = Query { command: Command::Transaction(transaction), ..query("") };
        self.database.write_once(&query, CallRecord { key, now_s: 0, expires_s: 60 })
    }

    /// The keys of the table, in order.
    fn keys(&self) -> Vec<String> {
        let key = |row: Vec<Value>| if let [Value::Text(key)] = row.as_slice() { key.clone() } else { panic!("{row:?}") };
        // A quick machine writes more than the usual limits allow to be read.
        let all = Query { access: Access::Read, max_rows: usize::MAX, max_bytes: 1 << 30, ..query("SELECT k FROM t ORDER BY k") };
        self.database.run_with(&all).unwrap().rows.into_iter().map(key).collect()
    }
}

const CHANGE_ONE: &str = "UPDATE t SET n = 1 WHERE k = ?";
const INSERT: &str = "INSERT INTO t (k, n) VALUES (?, ?)";

fn insert(key: &str, number: i64) -> Step {
    step(INSERT, &[text(key), Value::I64(number)])
}

fn failure(error: Error) -> (millrace_core::ErrorKind, String) {
    (error.kind, error.message.clone())
}

#[test]
fn all_of_it_takes_effect_or_nothing() {
    for kind in KINDS {
        let place = kind.start();
        let select = || step("SELECT k FROM t WHERE n >= ? ORDER BY k", &[Value::I64(1)]);
        // The last result with rows is that of all; without any it is how many rows all changed.
        let rows = place.run(&[insert("a", 1), insert("b", 2), select(), step("UPDATE t SET n = n + 1", &[]).expect(2)]).unwrap();
        assert_eq!(rows.rows, [[text("a")], [text("b")]]);
        assert_eq!(place.run(&[insert("c", 1).expect(1), step("UPDATE t SET n = 0", &[])]).unwrap().affected, 4);
        assert_eq!(place.keys(), ["a", "b", "c"]);
        // What fails undoes what came before it.
        for (steps, expected) in [
            (vec![insert("d", 1), insert("a", 1)], Constraint),
            (vec![insert("d", 1), step("INSERT INTO nowhere (k) VALUES (?)", &[text("x")])], Syntax),
            (vec![insert("d", 1), insert("e", 1), step(CHANGE_ONE, &[text("x")]).expect(1)], Expectation),
            (vec![insert("d", 1), step("SELECT k FROM t WHERE k = ?", &[text("x")]).expect(1), insert("e", 1)], Expectation),
            (vec![insert("d", 1), step("SELECT k FROM t", &[]).expect(1)], Expectation),
            (vec![insert("d", 1), step("COMMIT", &[]), insert("a", 1)], Denied),
            (vec![insert("d", 1), step("ROLLBACK", &[])], Denied),
            (vec![step("BEGIN", &[]), insert("d", 1)], Denied),
            (vec![insert("d", 1), insert("e", 1), step("COMMIT; DROP TABLE t", &[])], Denied),
        ] {
            let last = steps.last().map(|step| step.statement).unwrap_or_default();
            if kind == Kind::Neon && last == CHANGE_ONE && expected == Expectation {
                continue;
            }
            let error = place.run(&steps).unwrap_err();
            let is_refused = expected == Denied && matches!(error.kind, Denied | Syntax);
            assert!(error.kind == expected || is_refused, "{last}: {error:?}");
            assert_eq!(place.keys(), ["a", "b", "c"], "{last}");
            // Nothing of it is left on the connection.
            assert_eq!(place.run(&[step("DELETE FROM t WHERE k = ?", &[text("z")])]).unwrap().affected, 0, "{last}");
        }
        if kind == Kind::Neon {
            continue;
        }
        let missed = place.run(&[insert("d", 1), step("UPDATE t SET n = 1 WHERE k <> ?", &[text("x")]).expect(1)]).unwrap_err();
        // Through PlanetScale's API a row that is already as it should be does not count.
        let changed = if kind == Kind::Planetscale { 3 } else { 4 };
        let message = format!("the step `two` changed {changed} rows, and 1 was expected; nothing was changed");
        assert_eq!(failure(missed), (Expectation, message));
    }
}

#[test]
fn values_of_earlier_steps_arrive_as_they_are() {
    let values: Vec<String> = serde_json::from_str(include_str!("../data/hostile-values.json")).unwrap();
    for kind in [Kind::Sqlite, Kind::Libsql, Kind::Postgres, Kind::Mysql, Kind::Planetscale] {
        let place = kind.start();
        let find = if kind == Kind::Postgres { "SELECT ?::text AS v, ?::bigint AS n" } else { "SELECT ? AS v, ? AS n" };
        for (number, value) in values.iter().enumerate() {
            let number = i64::try_from(number).unwrap();
            // PostgreSQL has no NUL character in a text.
            if kind == Kind::Postgres && value.contains('\0') {
                continue;
            }
            let found = step(find, &[text(value), Value::I64((1 << 53) + 1 + number)]);
            let whole = step(INSERT, &[]).and(Parameter::Value(text(&format!("w{number}")))).and(Parameter::Earlier(earlier(0, "n")));
            let composed =
                vec![TextPiece::Text("<".to_owned()), TextPiece::Earlier(earlier(0, "v")), TextPiece::Text(format!(">{number}"))];
            let composed = step(INSERT, &[]).and(Parameter::Composed(composed)).and(Parameter::Value(Value::Null));
            let look = "SELECT t.k, (SELECT u.n FROM t u WHERE u.k = ?) AS n FROM t WHERE t.k = ?";
            let look = step(look, &[text(&format!("w{number}")), text(&format!("<{value}>{number}"))]);
            let rows = place
                .run(&[found, whole.expect(1), composed.expect(1), look.expect(1)])
                .unwrap_or_else(|error| panic!("{value:?}: {error:?}"));
            assert_eq!(rows.rows, [[text(&format!("<{value}>{number}")), Value::I64((1 << 53) + 1 + number)]], "{value:?}");
        }
        let count = if kind == Kind::Postgres { values.iter().filter(|value| !value.contains('\0')).count() } else { values.len() };
        assert_eq!(place.keys().len(), 2 * count);
        // A row that is not there, and two of them.
        for (rows, statement) in [(0, "SELECT id FROM t WHERE k = 'nobody'"), (2, "SELECT id FROM t ORDER BY k LIMIT 2")] {
            let use_it = step("DELETE FROM t WHERE id = ?", &[]).and(Parameter::Earlier(earlier(1, "id")));
            let error = place.run(&[insert("new", 1), step(statement, &[]), use_it]).unwrap_err();
            let message =
                format!("the step `three` needs `steps.two.id`, and the step `two` returned {rows} rows instead of 1; nothing was changed");
            assert_eq!(failure(error), (Expectation, message));
            assert_eq!(place.keys().len(), 2 * count);
        }
    }
}

#[test]
fn a_session_holds_for_all_steps() {
    let server = Postgres::start(&[]);
    server.open().run("CREATE ROLE clerk", &[]).unwrap();
    let place = Place { kind: Kind::Postgres, database: server.open(), _server: Box::new(()) };
    let look = || {
        step(
            "SELECT current_setting('app.tenant', true) || ' ' || current_user || ' ' || (current_query() ~ '^/. session [0-9a-f]{64} ./ SELECT')::text AS k",
            &[],
        )
    };
    let session = [("app.tenant", "acme"), ("role", "clerk")]
        .map(|(name, value)| millrace_core::ports::SessionSetting { name: name.to_owned(), value: value.to_owned() });
    for result in [0, 1] {
        let steps = place.bound(&[look(), look()]);
        let transaction = BoundTransaction { steps: &steps, result: Some(result) };
        let query = Query { command: Command::Transaction(transaction), session: &session, access: Access::Read, ..query("") };
        assert_eq!(place.database.run_with(&query).unwrap().rows, [[text("acme clerk true")]], "{result}");
    }
    // Nothing of it is left.
    assert_eq!(place.run(&[look()]).unwrap().rows.first().map(Vec::len), Some(1));
    assert_eq!(
        place.database.rows("SELECT current_user, coalesce(current_setting('app.tenant', true), '')"),
        [[text("postgres"), text("")]]
    );
}

#[test]
fn what_mysql_cannot_undo_is_told() {
    let place = Kind::Mysql.start();
    place.database.run("CREATE TABLE old (a int) ENGINE = MyISAM", &[]).unwrap();
    let old = || step("INSERT INTO old (a) VALUES (?)", &[Value::I64(1)]);
    for failing in [insert("a", 1), step("DELETE FROM t WHERE k = ?", &[text("x")]).expect(1)] {
        place.run(&[insert("b", 1)]).ok();
        let error = place.run(&[old(), insert("c", 1), insert("b", 1), failing]).unwrap_err();
        assert!(error.message.ends_with("such as those of MyISAM and Aria, were not undone"), "{error:?}");
        assert!(!error.message.contains("nothing was changed") && error.kind == millrace_core::ErrorKind::Protocol, "{error:?}");
    }
    assert_eq!(place.keys(), ["b"]);
    // Each of the two calls did it once.
    assert_eq!(place.database.rows("SELECT count(*) FROM old"), [[Value::I64(2)]]);
    // A first step that makes a number itself.
    place.database.run("CREATE TABLE seq (n int)", &[]).unwrap();
    place.database.run("INSERT INTO seq VALUES (41)", &[]).unwrap();
    let number = place.run(&[step("UPDATE seq SET n = LAST_INSERT_ID(n + 1)", &[]), step("SELECT `LAST_INSERT_ID`() AS n", &[])]).unwrap();
    assert_eq!(number.rows.len(), 1);
    assert!(matches!(number.rows[0][0], Value::I64(42) | Value::U64(42)), "{number:?}");
}

#[test]
fn d1_says_that_a_transaction_took_effect() {
    let place = Kind::D1.start();
    let big = || step("SELECT 1152921504606846977 AS big", &[]);
    // What is not the result is nobody's affair.
    assert_eq!(place.run(&[insert("a", 1), big(), step("SELECT k FROM t", &[])]).unwrap().rows, [[text("a")]]);
    let error = place.run(&[insert("b", 1), big()]).unwrap_err();
    assert!(error.message.contains("beyond 2^53") && error.message.ends_with("; the transaction took effect"), "{error:?}");
    assert_eq!(place.keys(), ["a", "b"]);
    let error = place.run(&[insert("c", 1), step("SELECT k FROM t WHERE random() > 0", &[]).expect(1)]).unwrap_err();
    assert_eq!(error.kind, Denied, "{error:?}");
    assert_eq!(place.keys(), ["a", "b"]);
}

#[test]
fn a_batch_takes_no_value_of_an_earlier_step() {
    for kind in [Kind::D1, Kind::Neon] {
        let place = kind.start();
        let use_it = step("DELETE FROM t WHERE id = ?", &[]).and(Parameter::Earlier(earlier(0, "id")));
        let error = place.run(&[step("INSERT INTO t (k) VALUES ('a') RETURNING id", &[]), use_it]).unwrap_err();
        assert_eq!(error.kind, millrace_core::ErrorKind::Configuration);
        assert_eq!(place.keys(), Vec::<String>::new());
    }
}

#[test]
fn a_transaction_happens_once_for_a_key() {
    for kind in KINDS {
        let place = kind.start();
        let affected = |affected| Rows { affected, ..Rows::default() };
        let pair = || [insert("a", 1).expect(1), insert("b", 2).expect(1)];
        assert_eq!(place.once("k", &pair()), Ok(RecordedWrite::Made(affected(2))));
        assert_eq!(place.once("k", &pair()), Ok(RecordedWrite::MadeBefore(affected(2))));
        assert_eq!(place.keys(), ["a", "b"]);
        let listed = || [insert("c", 1), step("SELECT k FROM t WHERE k <> ? ORDER BY k", &[text("a")]).expect(2)];
        let RecordedWrite::Made(made) = place.once("l", &listed()).unwrap() else { panic!("not made") };
        assert_eq!(made.rows, [[text("b")], [text("c")]]);
        assert_eq!(place.once("l", &listed()), Ok(RecordedWrite::MadeBefore(made)));
        // One that fails leaves no record: the same key may be tried again.
        for _ in 0..2 {
            let (missed, did) = match kind {
                Kind::Neon => ("DELETE FROM t WHERE k = ? RETURNING id", "returned"),
                _ => ("DELETE FROM t WHERE k = ?", "changed"),
            };
            let error = place.once("m", &[insert("d", 1), insert("e", 1), step(missed, &[text("x")]).expect(1)]).unwrap_err();
            let message = format!("the step `three` {did} 0 rows, and 1 was expected; nothing was changed");
            assert_eq!(failure(error), (Expectation, message));
            assert_eq!(place.once("m", &[insert("d", 1), insert("a", 1)]).unwrap_err().kind, Constraint);
        }
        assert_eq!(place.once("m", &[insert("d", 1)]), Ok(RecordedWrite::Made(affected(1))));
        assert_eq!(place.keys(), ["a", "b", "c", "d"]);
    }
}

#[test]
fn a_deadline_undoes_everything() {
    let postgresql = [Kind::Postgres, Kind::Neon, Kind::RdsData].map(|kind| (kind, "SELECT pg_sleep(60)"));
    for (kind, slow) in postgresql.into_iter().chain([Kind::Mysql, Kind::Planetscale].map(|kind| (kind, "SELECT SLEEP(60)"))) {
        let place = kind.start();
        let steps = place.bound(&[insert("a", 1), step(slow, &[])]);
        let transaction = BoundTransaction { steps: &steps, result: None };
        let query = Query { command: Command::Transaction(transaction), deadline_ms: 700, ..query("") };
        assert_eq!(place.database.run_with(&query).unwrap_err().kind, TimedOut);
        // Who writes the same key waits until the server has given up the first one, and is not
        // refused.
        assert_eq!(place.run(&[insert("a", 2)]).unwrap().affected, 1);
        assert_eq!(place.database.rows("SELECT n FROM t"), [[Value::I64(2)]]);
    }
}

#[test]
fn a_read_only_adapter_has_transactions_that_read() {
    let server = Postgres::start(&[]);
    server.open().run("CREATE TABLE t (id int, k text, n int)", &[]).unwrap();
    let mysql = Mysql::start(&[]);
    mysql.open().run("CREATE TABLE t (id int, k varchar(9), n int)", &[]).unwrap();
    let api = planetscale::start(mysql.port, "shop");
    for (kind, name, url) in [
        (Kind::Sqlite, "sqlite", ":memory:".to_owned()),
        (Kind::Postgres, "postgres", server.url("postgres")),
        (Kind::Mysql, "mysql", mysql.url("shop")),
        (Kind::Planetscale, "planetscale", planetscale::url(&api)),
    ] {
        let settings = millrace_core::ports::Connection { read_only: true, ..connection(name, &url, &[]) };
        let place = Place { kind, database: Database::open(settings), _server: Box::new(()) };
        assert_eq!(place.run(&[step("SELECT 1 AS a", &[]), step("SELECT 2 AS b", &[]).expect(1)]).unwrap().rows, [[Value::I64(2)]]);
        let error = place.run(&[step("SELECT 1 AS a", &[]), insert("a", 1)]).unwrap_err();
        assert_eq!(error.kind, Denied, "{error:?}");
    }
}
