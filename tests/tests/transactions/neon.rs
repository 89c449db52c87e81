//! Transactions through Neon's API: one batch, in which PostgreSQL itself counts the rows of a
//! step.

use std::sync::{Arc, Mutex};

use millrace_core::{
    ErrorKind::{Constraint, Data, Denied, Expectation, Protocol, Syntax, TimedOut, TooLarge},
    app::Access,
    ports::{BoundTransaction, Command, Connection, Query, SessionSetting},
    value::Value,
};
use millrace_tests::{
    database::{Database, query, text},
    failures, neon,
    postgres::Postgres,
    scripted::Scripted,
};

use super::{INSERT, Kind, Place, Step, failure, insert, step};

const TAKE: &str = "UPDATE t SET n = n - 1 WHERE k = ? AND n > 0 RETURNING n";

impl Place {
    /// Runs steps for the result of one of them, or of the last that returns rows, in a session.
    fn run_for(
        &self,
        steps: &[Step],
        result: Option<usize>,
        session: &[SessionSetting],
    ) -> millrace_core::Result<millrace_core::value::Rows> {
        let steps = self.bound(steps);
        let transaction = BoundTransaction { steps: &steps, result };
        let access = transaction.access();
        self.database.run_with(&Query { command: Command::Transaction(transaction), session, access, ..query("") })
    }
}

#[test]
fn what_is_expected_is_counted_in_the_statement_itself() {
    let place = Kind::Neon.start();
    place.run(&[insert("a", 2), insert("b", 1)]).unwrap();
    let take = |key: &str| step(TAKE, &[text(key)]);
    // The rows of the step are what they would be without `expect`, whatever stands before and
    // behind it.
    for statement in [
        "SELECT k, n, k FROM t WHERE n > 0 ORDER BY n",
        "; /* ' */ SELECT k, n, k FROM t WHERE n > 0 ORDER BY n ; ;\n",
        "SELECT k, n, k FROM t WHERE n > 0 ORDER BY n -- FOR UPDATE",
        "SELECT k, n, k FROM t WHERE n > 0 ORDER BY n FOR UPDATE",
        "(SELECT k, n, k FROM t WHERE n > 1) UNION ALL SELECT k, n, k FROM t WHERE n < 2 ORDER BY 2",
        "WITH u AS (SELECT * FROM t) SELECT k, n, k FROM u WHERE n > 0 ORDER BY n",
    ] {
        let plain = place.run(&[step(statement, &[])]).unwrap();
        assert_eq!(plain.rows, [[text("b"), Value::I64(1), text("b")], [text("a"), Value::I64(2), text("a")]], "{statement}");
        let counted = [Step { expect: Some(2), ..step(statement, &[]) }];
        let bound: Vec<_> =
            place.bound(&counted).into_iter().map(|bound| millrace_core::ports::BoundStep { expect: Some(2), ..bound }).collect();
        let transaction = BoundTransaction { steps: &bound, result: None };
        assert_eq!(place.database.run_with(&Query { command: Command::Transaction(transaction), ..query("") }), Ok(plain), "{statement}");
    }
    // It runs once, whatever it does.
    place.database.run("CREATE SEQUENCE s", &[]).unwrap();
    assert_eq!(place.run(&[step("SELECT nextval('s') AS v", &[]).expect(1)]).unwrap().rows, [[Value::I64(1)]]);
    assert_eq!(place.database.rows("SELECT nextval('s')"), [[Value::I64(2)]]);
    // A write is counted where it returns rows, and its types are those that it declares.
    assert_eq!(place.run(&[take("a").expect(1), insert("c", 0)]).unwrap().rows, [[Value::I64(1)]]);
    let typed = "INSERT INTO t (k, n) VALUES (left('abc', ?), ?) RETURNING ? AS number, ? AS bytes";
    let typed = step(typed, &[Value::I64(2), Value::I64(1 << 40), Value::Decimal("1.50".into()), Value::Bytes(vec![0, 255])]);
    assert_eq!(place.run(&[typed.expect(1)]).unwrap().rows, [[Value::Decimal("1.50".into()), Value::Bytes(vec![0, 255])]]);
    assert_eq!(place.keys(), ["a", "ab", "b", "c"]);
    for (step, message) in [
        (take("nobody").expect(1), "the step `two` returned 0 rows, and 1 was expected; nothing was changed"),
        (step("UPDATE t SET n = 0 RETURNING n", &[]).expect(2), "the step `two` returned 5 rows, and 2 were expected; nothing was changed"),
        (step("SELECT k FROM t", &[]).expect(0), "the step `two` returned 5 rows, and 0 were expected; nothing was changed"),
    ] {
        let error = place.run(&[insert("d", 1), step, insert("e", 1)]).unwrap_err();
        assert_eq!(failure(error), (Expectation, message.to_owned()));
        assert_eq!(place.keys(), ["a", "ab", "b", "c"]);
    }
    // What returns no rows is refused by PostgreSQL, too.
    let bound = place.bound(&[insert("d", 1)]).remove(0);
    let steps = [millrace_core::ports::BoundStep { expect: Some(1), ..bound }];
    let transaction = BoundTransaction { steps: &steps, result: None };
    let error = place.database.run_with(&Query { command: Command::Transaction(transaction), ..query("") }).unwrap_err();
    assert!(error.kind == Syntax && error.message.starts_with("the transaction failed: "), "{error:?}");
    assert_eq!(place.keys(), ["a", "ab", "b", "c"]);
}

#[test]
fn hostile_values_arrive_as_they_are_and_none_passes_for_a_count() {
    let mut values: Vec<String> = serde_json::from_str(include_str!("../../data/hostile-values.json")).unwrap();
    values.extend(["millrace_step".into(), format!("millrace {} step 0 rows 7", "0".repeat(32)), "millrace step 0 rows 7".into()]);
    let place = Kind::Neon.start();
    let mut count = 0;
    for value in &values {
        let find = step("SELECT k, ? AS again FROM t WHERE k = ?", &[text(value), text(value)]).expect(1);
        let write = step("INSERT INTO t (k, n) VALUES (?, ?) RETURNING k", &[text(value), Value::I64(count)]).expect(1);
        let outcome = place.run(&[write, find]);
        // PostgreSQL has no NUL character in a text.
        if value.contains('\0') {
            assert_eq!(outcome.unwrap_err().kind, Data, "{value:?}");
            continue;
        }
        assert_eq!(outcome.unwrap_or_else(|error| panic!("{value:?}: {error:?}")).rows, [[text(value), text(value)]]);
        count += 1;
        // A text that is no number fails as one, whatever it says.
        let number = step("SELECT ?::int AS v", &[text(value)]).expect(1);
        match place.run(&[insert("never", 0), number, step("SELECT 1 / 0", &[])]) {
            Err(error) => assert_eq!(error.kind, Data, "{value:?}: {error:?}"),
            Ok(rows) => panic!("{value:?}: {rows:?}"),
        }
    }
    assert_eq!(place.keys().len(), usize::try_from(count).unwrap());
}

#[test]
fn a_step_that_fails_leaves_nothing_and_is_not_guessed() {
    let place = Kind::Neon.start();
    for (failing, kind, message) in [
        (insert("a", 2), Constraint, "the transaction failed: a UNIQUE constraint refused the change: `t_k_key`"),
        (
            step("SELECT * FROM nowhere", &[]),
            Syntax,
            "the transaction failed: PostgreSQL does not understand the statement: a table is missing",
        ),
        // What is refused before anything is sent has a name.
        (step("SET a.b = 1", &[]), Denied, "the step `two` failed: connector `neon` does not run `SET`"),
        (step("", &[]), Syntax, "the step `two` failed: the query contains no statement"),
    ] {
        assert_eq!(failure(place.run(&[insert("a", 1), failing, insert("b", 1)]).unwrap_err()), (kind, message.to_owned()));
        assert_eq!(place.keys(), Vec::<String>::new());
    }
    // A constraint that is looked at by the commit.
    place.database.run("CREATE TABLE d (v int UNIQUE DEFERRABLE INITIALLY DEFERRED)", &[]).unwrap();
    let error = place.run(&[insert("a", 1), step("INSERT INTO d VALUES (1), (1)", &[]), step("SELECT 1 AS v", &[])]).unwrap_err();
    assert_eq!(failure(error), (Constraint, "the transaction failed: a UNIQUE constraint refused the change: `d_v_key`".to_owned()));
    assert_eq!(place.keys(), Vec::<String>::new());
}

#[test]
fn what_is_set_for_a_call_holds_for_all_steps() {
    let server = Postgres::start(&[]);
    neon::open(&server).run("CREATE ROLE clerk", &[]).unwrap();
    neon::open(&server).run("CREATE TABLE t (id int, k text, n int)", &[]).unwrap();
    let place = Place { kind: Kind::Neon, database: neon::open(&server), _server: Box::new(()) };
    let look = || step("SELECT current_setting('app.tenant', true) || ' ' || current_user AS k", &[]);
    let session =
        [("app.tenant", "acme"), ("role", "clerk")].map(|(name, value)| SessionSetting { name: name.to_owned(), value: value.to_owned() });
    for result in [Some(0), Some(1), None] {
        assert_eq!(place.run_for(&[look(), look().expect(1)], result, &session).unwrap().rows, [[text("acme clerk")]]);
    }
    let nobody = [SessionSetting { name: "role".to_owned(), value: "nobody".to_owned() }];
    let error = place.run_for(&[look(), look()], None, &nobody).unwrap_err();
    assert_eq!(failure(error), (Denied, "PostgreSQL refused a setting or the role of the adapter's `session`".to_owned()));
    // Steps that only read see one state of the data; others see what is committed.
    let level = || step("SELECT current_setting('transaction_isolation') AS level", &[]);
    assert_eq!(place.run(&[level(), level()]).unwrap().rows, [[text("repeatable read")]]);
    assert_eq!(place.run(&[insert("a", 1), level()]).unwrap().rows, [[text("read committed")]]);
    // What is left of the time is what the next step has.
    let time = "SELECT current_setting('statement_timeout')::interval AS k";
    let slept =
        step("SELECT greatest(extract(epoch FROM current_setting('statement_timeout')::interval)) <= 59.9 AS k FROM pg_sleep(0)", &[]);
    assert_eq!(place.run(&[step(time, &[]), step("SELECT pg_sleep(0.1)", &[]), slept]).unwrap().rows, [[Value::Bool(true)]]);
    // An adapter that only reads.
    let settings = Connection { read_only: true, ..neon::settings(&neon::start(server.port), &server, &[]) };
    let reader = Place { kind: Kind::Neon, database: Database::open(settings), _server: Box::new(()) };
    assert_eq!(reader.run(&[step("SELECT 1 AS a", &[]), step("SELECT 2 AS b", &[]).expect(1)]).unwrap().rows, [[Value::I64(2)]]);
    let error = reader.run(&[step("SELECT 1 AS a", &[]), insert("b", 1)]).unwrap_err();
    assert_eq!(failure(error), (Denied, "the transaction failed: the statement writes, and the adapter is read-only".to_owned()));
    assert_eq!(place.keys(), ["a"]);
}

#[test]
fn a_result_that_is_too_large_says_that_the_transaction_took_effect() {
    let place = Kind::Neon.start();
    let many = || step("SELECT generate_series(1, 10001) AS v", &[]);
    // What is not the result is nobody's affair.
    assert_eq!(place.run(&[insert("a", 1), many(), step("SELECT k FROM t", &[])]).unwrap().rows, [[text("a")]]);
    let error = place.run(&[insert("b", 1), many()]).unwrap_err();
    assert_eq!(failure(error), (TooLarge, "the result has more than `max_rows`, 10000 rows; the transaction took effect".to_owned()));
    assert_eq!(place.keys(), ["a", "b"]);
    let error = place.run(&[step("SELECT 1 AS v", &[]), many()]).unwrap_err();
    assert_eq!(failure(error), (TooLarge, "the result has more than `max_rows`, 10000 rows".to_owned()));
    // Of more than Neon sends, nothing takes effect.
    let error = place.run(&[insert("c", 1), step("SELECT repeat('x', 11000000) AS v", &[])]).unwrap_err();
    assert_eq!(failure(error), (TooLarge, "the result is larger than Neon sends; nothing was changed".to_owned()));
    assert_eq!(place.keys(), ["a", "b"]);
    let steps = place.bound(&[insert("d", 1), step("SELECT pg_sleep(600)", &[])]);
    let transaction = BoundTransaction { steps: &steps, result: None };
    let late = Query { command: Command::Transaction(transaction), deadline_ms: 1_000, ..query("") };
    assert_eq!(place.database.run_with(&late).unwrap_err().kind, TimedOut);
    // Who writes the same key waits until the server has given up the first one, and is not
    // refused.
    assert_eq!(place.run(&[insert("d", 2)]).unwrap().affected, 1);
}

#[test]
fn an_api_that_misbehaves_gets_no_transaction_twice() {
    let read = [step("SELECT v FROM t", &[])];
    let write = [step("UPDATE t SET v = 1 RETURNING v", &[])];
    for (steps, good) in [(&read, failures::NEON_SESSION), (&write, failures::NEON)] {
        for case in failures::neon_with(good) {
            let api = Scripted::with(case.replies.clone());
            let settings = millrace_tests::database::connection(
                "neon",
                "postgres://me:hunter2@db/x",
                &[("base_url", &format!("http://{}", api.address))],
            );
            let place = Place { kind: Kind::Neon, database: Database::open(settings), _server: Box::new(()) };
            let outcome = place.run(steps);
            let expected = if place.bound(steps)[0].access == Access::Read { case.read } else { case.written };
            if let Err(error) = &outcome {
                assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
                let is_unknown = error.message.ends_with("; it is not known whether the statement took effect");
                assert_eq!(is_unknown, expected == (Err(Protocol), 1), "{}: {error:?}", case.what);
            }
            assert_eq!((outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), api.received().len()), expected, "{}", case.what);
        }
    }
}

#[test]
fn values_and_counts_never_become_text_of_a_statement() {
    let server = Postgres::start(&[]);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let (log, port) = (Arc::clone(&sent), server.port);
    let api = Scripted::start(move |_, request| {
        log.lock().unwrap().push(request.body.clone());
        neon::reply(port, request)
    });
    let place = Place { kind: Kind::Neon, database: Database::open(neon::settings(&api, &server, &[])), _server: Box::new(server) };
    place.database.run("CREATE TABLE t (id int, k text, n bigint)", &[]).unwrap();
    place.run(&[insert("hunter2", 4711), step("SELECT k FROM t WHERE n = ?", &[Value::I64(4711)]).expect(1)]).unwrap();
    place.run(&[insert("hunter2", 4711), step("SELECT k FROM t WHERE n = ?", &[Value::I64(4711)]).expect(2)]).unwrap();
    let (mut marks, bodies) = (Vec::new(), sent.lock().unwrap().clone());
    for body in &bodies[1..] {
        let body: millrace_core::Json = serde_json::from_str(body).unwrap();
        let texts: Vec<&str> = body["queries"].as_array().unwrap().iter().map(|query| query["query"].as_str().unwrap()).collect();
        assert!(texts.iter().all(|text| !text.contains("hunter2") && !text.contains("4711")), "{texts:?}");
        assert!(
            texts.contains(&INSERT.replacen('?', "$1", 1).replacen('?', "$2", 1).as_str())
                || texts.iter().any(|text| text.ends_with("VALUES ($1, $2)"))
        );
        marks.extend(texts.iter().filter_map(|text| text.split_once("'millrace ")).map(|(_, mark)| mark[..32].to_owned()));
    }
    // What the failure of a count is told by is drawn for each call.
    assert!(marks.len() == 2 && marks[0] != marks[1], "{marks:?}");
}
