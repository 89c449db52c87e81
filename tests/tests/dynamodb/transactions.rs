//! Transactions: one request, known by a token for as long as it may be sent again.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use millrace_core::{
    ErrorKind::{Busy, Configuration, Constraint, Denied, Protocol, TimedOut, Unavailable},
    Json, Result,
    app::Access,
    ports::{BoundStep, BoundTransaction, Command, Connection, Parameter, Query, StepValue},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, query, text},
    dynoxide::{self, Dynoxide},
    failures::{aws, json},
    scripted::{Reply, Scripted},
    wait,
};
use serde_json::json;

fn step<'a>(name: &'a str, text: &'a str, values: &[Value]) -> BoundStep<'a> {
    let parameters = values.iter().cloned().map(Parameter::Value).collect();
    let access = if text.starts_with("SELECT") { Access::Read } else { Access::Write };
    BoundStep { name, text: text.into(), parameters, access, expect: None }
}

fn run(database: &Database, steps: &[BoundStep<'_>]) -> Result<Rows> {
    let steps = BoundTransaction { steps, result: None };
    database.run_with(&Query { command: Command::Transaction(steps), access: steps.access(), deadline_ms: 5_000, ..query("") })
}

fn tokens(server: &Scripted) -> Vec<Option<String>> {
    let token = |body: &str| serde_json::from_str::<Json>(body).unwrap()["ClientRequestToken"].as_str().map(str::to_owned);
    server.received().iter().map(|request| token(&request.body)).collect()
}

#[test]
fn a_lost_answer_is_asked_for_again_with_the_same_token() {
    let good = json(200, r#"{"Responses":[]}"#);
    let writes = [step("one", "UPDATE t SET v = 1 WHERE id = 1", &[]), step("two", "DELETE FROM t WHERE id = 2", &[])];
    let cancelled = |codes: [&str; 2]| {
        let reasons = codes.map(|code| json!({"Code": code}));
        json(400, &json!({"__type": "x#TransactionCanceledException", "Message": "x", "CancellationReasons": reasons}).to_string())
    };
    for (what, replies, expected, requests) in [
        ("a good answer", vec![good.clone()], Ok(2), 1),
        ("half an answer", vec![Reply::Broken(r#"{"Responses":[]}"#.into(), 4), good.clone()], Ok(2), 2),
        ("no answer", vec![Reply::Raw(b""), good.clone()], Ok(2), 2),
        ("a failure", vec![aws(500, "InternalServerError", "x"), good.clone()], Ok(2), 2),
        ("failures", vec![aws(500, "InternalServerError", "x")], Err((Protocol, "it is not known whether the statement took effect")), 2),
        ("under way", vec![aws(400, "TransactionInProgressException", "x"), good.clone()], Ok(2), 2),
        ("a conflict", vec![cancelled(["None", "TransactionConflict"]), good.clone()], Ok(2), 2),
        ("conflicts", vec![cancelled(["None", "TransactionConflict"])], Err((Busy, "the step `two` failed: another transaction")), 6),
        (
            "a condition",
            vec![cancelled(["ConditionalCheckFailed", "TransactionConflict"])],
            Err((Constraint, "the step `one` failed: no item")),
            1,
        ),
        ("a reason that nobody knows", vec![cancelled(["None", "New"])], Err((Protocol, "the step `two` failed: DynamoDB ended")), 1),
        ("another token", vec![aws(400, "IdempotentParameterMismatchException", "x")], Err((Protocol, "knows the token")), 1),
    ] {
        let server = Scripted::with(replies);
        let database = Database::open(dynoxide::at(&format!("http://{}", server.address)));
        let outcome = run(&database, &writes);
        match (&outcome, expected) {
            (Ok(rows), Ok(affected)) => assert_eq!(rows.affected, affected, "{what}"),
            (Err(error), Err((kind, part))) => assert!(error.kind == kind && error.message.contains(part), "{what}: {error:?}"),
            other => panic!("{what}: {other:?}"),
        }
        let sent = tokens(&server);
        assert!(
            sent.len() == requests && sent.iter().all(|token| token.as_ref().is_some_and(|token| token.len() == 32)),
            "{what}: {sent:?}"
        );
        assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), 1, "{what}");
        let _ = run(&database, &writes);
        assert_ne!(tokens(&server).pop().unwrap(), sent[0], "another call has another token");
    }
    let server = Scripted::with(vec![json(200, r#"{"Responses":[{"Item":{"v":{"N":"1"}}}]}"#)]);
    let database = Database::open(dynoxide::at(&format!("http://{}", server.address)));
    assert_eq!(run(&database, &[step("a", "SELECT v FROM t WHERE id = 1", &[])]).unwrap().rows, [[Value::I64(1)]]);
    assert_eq!(tokens(&server), [None]);
    // Another number of answers than there are steps.
    let two = [step("a", "SELECT v FROM t WHERE id = 1", &[]), step("b", "SELECT v FROM t WHERE id = 2", &[])];
    assert_eq!(run(&database, &two).unwrap_err().kind, Protocol);
}

#[test]
fn what_cannot_be_one_request_is_not_sent() {
    let server = Scripted::with(vec![json(200, r#"{"Responses":[]}"#)]);
    let settings = dynoxide::at(&format!("http://{}", server.address));
    let database = Database::open(settings.clone());
    let (read, write) = (step("r", "SELECT v FROM t WHERE id = 1", &[]), step("w", "DELETE FROM t WHERE id = 2", &[]));
    let returning = step("w", "DELETE FROM t WHERE id = 2 RETURNING ALL OLD *", &[]);
    let expecting = BoundStep { expect: Some(1), ..write.clone() };
    let earlier = BoundStep { parameters: vec![Parameter::Earlier(StepValue { step: 0, column: "v".into() })], ..write.clone() };
    for (steps, expected) in [
        (vec![read.clone(), write.clone()], "only reads or only writes"),
        (vec![returning], "no `RETURNING`"),
        (vec![expecting], "as `expect` demands"),
        (vec![write.clone(), earlier], "nothing that can be looked at here"),
    ] {
        let error = run(&database, &steps).unwrap_err();
        assert!(error.kind == Configuration && error.message.contains(expected), "{error:?}");
    }
    let reader = Database::open(Connection { read_only: true, ..settings });
    assert_eq!(run(&reader, &[write]).unwrap_err().kind, Denied);
    assert_eq!(server.received().len(), 0);
}

#[test]
fn no_transaction_is_half_done_or_made_twice_while_the_server_is_killed() {
    let mut server = Dynoxide::start();
    server.create("kept");
    let (done, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..2)
        .map(|caller| {
            let (stop, progress, settings) = (Arc::clone(&done), Arc::clone(&progress), server.connection());
            thread::spawn(move || {
                let database = Database::open(settings);
                let (mut made, mut not_made) = (BTreeSet::new(), BTreeSet::new());
                for number in 0.. {
                    if stop.load(SeqCst) && !made.is_empty() {
                        break;
                    }
                    let key = format!("{caller}-{number}");
                    let insert = "INSERT INTO \"kept\" VALUE {'id': ?}";
                    let pair = ["a", "b"].map(|end| step(end, insert, &[text(&format!("{key}-{end}"))]));
                    match run(&database, &pair) {
                        Ok(rows) => {
                            assert_eq!(rows.affected, 2);
                            progress.fetch_add(1, SeqCst);
                            made.insert(key);
                        }
                        // This server forgets tokens when it is killed, which DynamoDB does not:
                        // what was made is then in the way of itself.
                        Err(error) if matches!(error.kind, Protocol | TimedOut | Constraint) => {}
                        Err(error) => {
                            assert_eq!(error.kind, Unavailable, "{error:?}");
                            not_made.insert(key);
                        }
                    }
                }
                (made, not_made)
            })
        })
        .collect();
    for _ in 0..4 {
        wait::until_more("no transaction is made", 10, || progress.load(SeqCst));
        server.process.kill();
        server.process.restart();
    }
    wait::until_more("no transaction is made after the last start", 10, || progress.load(SeqCst));
    done.store(true, SeqCst);
    let told: Vec<_> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut start = Json::Null;
    loop {
        let page = server.call(
            "Scan",
            &if start.is_null() { json!({"TableName": "kept"}) } else { json!({"TableName": "kept", "ExclusiveStartKey": start}) },
        );
        found.extend(page["Items"].as_array().unwrap().iter().map(|item| item["id"]["S"].as_str().unwrap().to_owned()));
        start = page["LastEvaluatedKey"].clone();
        if start.is_null() {
            break;
        }
    }
    let ends = |key: &str| ["a", "b"].map(|end| found.contains(&format!("{key}-{end}")));
    for (made, not_made) in &told {
        assert!(!made.is_empty());
        assert!(made.iter().all(|key| ends(key) == [true, true]) && not_made.iter().all(|key| ends(key) == [false, false]));
    }
    let whole = found.iter().filter_map(|id| id.strip_suffix("-a")).filter(|key| ends(key)[1]).count();
    assert_eq!(2 * whole, found.len(), "a half of a transaction is there");
}
