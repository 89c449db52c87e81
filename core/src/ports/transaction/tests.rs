use alloc::{vec, vec::Vec};

use super::*;

fn step(name: &'static str, parameters: Vec<Parameter>, expect: Option<u64>) -> BoundStep<'static> {
    BoundStep { name, text: Cow::Borrowed("S"), parameters, access: Access::Write, expect }
}

fn earlier(column: &str) -> StepValue {
    StepValue { step: 0, column: column.into() }
}

fn result(columns: &[&str], rows: Vec<Vec<Value>>, affected: u64) -> Rows {
    Rows { columns: columns.iter().map(|name| String::from(*name)).collect(), rows, affected, ..Rows::default() }
}

#[test]
fn values_of_earlier_steps_keep_their_type() {
    let row = vec![
        Value::I64(i64::MAX),
        Value::Null,
        Value::Decimal("1.50".into()),
        Value::Bytes(vec![0xde, 0xad]),
        Value::Text("a'b".into()),
        Value::Bool(true),
    ];
    let first = result(&["id", "none", "price", "blob", "name", "ok"], vec![row.clone()], 0);
    let names = ["id", "none", "price", "blob", "name", "ok"];
    let known = Parameter::Value(Value::Text("x".into()));
    let mut parameters: Vec<Parameter> = names.iter().map(|name| Parameter::Earlier(earlier(name))).collect();
    parameters.push(known);
    let composed = |names: &[&str]| {
        let mut pieces = vec![TextPiece::Text("<".into())];
        pieces.extend(names.iter().map(|name| TextPiece::Earlier(earlier(name))));
        pieces.push(TextPiece::Text(">".into()));
        Parameter::Composed(pieces)
    };
    parameters.extend([
        composed(&names),
        Parameter::Composed(vec![TextPiece::Earlier(earlier("none"))]),
        Parameter::Composed(vec![TextPiece::Earlier(earlier("id"))]),
    ]);
    let steps = [step("first", vec![], None), step("second", parameters, None)];
    let transaction = BoundTransaction { steps: &steps, result: None };
    let mut expected = row;
    expected.extend([
        Value::Text("x".into()),
        Value::Text("<92233720368547758071.503q0=a'btrue>".into()),
        Value::Null,
        Value::Text("9223372036854775807".into()),
    ]);
    assert_eq!(transaction.values(1, &[first]), Ok(expected));
    assert_eq!(transaction.values(0, &[]), Ok(vec![]));
}

#[test]
fn a_value_that_is_not_there_is_an_error() {
    let steps = [step("take", vec![], None), step("log", vec![Parameter::Earlier(earlier("id"))], None)];
    let transaction = BoundTransaction { steps: &steps, result: None };
    let one = || vec![Value::I64(1)];
    let table = [
        (vec![], ErrorKind::Configuration, "returned nothing that can be looked at here"),
        (vec![result(&["id"], vec![], 0)], ErrorKind::Expectation, "returned 0 rows instead of 1; nothing was changed"),
        (vec![result(&["id"], vec![one(), one()], 0)], ErrorKind::Expectation, "returned 2 rows instead of 1; nothing was changed"),
        (vec![result(&[], vec![], 1)], ErrorKind::Expectation, "returned 0 rows instead of 1; nothing was changed"),
        (vec![result(&["other"], vec![one()], 0)], ErrorKind::Syntax, "returned no such column"),
    ];
    for (results, kind, why) in table {
        let error = transaction.values(1, &results).unwrap_err();
        let message = format!("the step `log` needs `steps.take.id`, and the step `take` {why}");
        assert_eq!((error.kind, &error.message), (kind, &message));
    }
}

#[test]
fn what_is_expected_is_held_to() {
    let steps = [step("a", vec![], Some(1)), step("b", vec![], None), step("c", vec![], Some(0))];
    let transaction = BoundTransaction { steps: &steps, result: None };
    let rows = |count: usize| result(&["id"], vec![vec![Value::Null]; count], 0);
    let changed = |affected| result(&[], vec![], affected);
    for (place, rows) in [(0, rows(1)), (0, changed(1)), (1, rows(7)), (1, changed(0)), (2, rows(0)), (2, changed(0)), (3, rows(2))] {
        assert_eq!(transaction.check(place, &rows), Ok(()));
    }
    let table = [
        (0, rows(0), "the step `a` returned 0 rows, and 1 was expected; nothing was changed"),
        (0, rows(2), "the step `a` returned 2 rows, and 1 was expected; nothing was changed"),
        (0, changed(0), "the step `a` changed 0 rows, and 1 was expected; nothing was changed"),
        (2, changed(1), "the step `c` changed 1 row, and 0 were expected; nothing was changed"),
    ];
    for (place, rows, message) in table {
        let error = transaction.check(place, &rows).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Expectation, message));
    }
    let error = transaction.of_step(1, Error::new(ErrorKind::Constraint, "a UNIQUE constraint refused the change").with_source("words"));
    assert_eq!(error.message, "the step `b` failed: a UNIQUE constraint refused the change");
    assert_eq!((error.kind, error.source.as_deref()), (ErrorKind::Constraint, Some("words")));
}

#[test]
fn of_results_is_kept_what_somebody_needs() {
    let rows = |count: i64| result(&["id"], (0..count).map(|number| vec![Value::I64(number)]).collect(), 0);
    let use_first = Parameter::Composed(vec![TextPiece::Text("x".into()), TextPiece::Earlier(earlier("id"))]);
    let steps = [step("a", vec![], None), step("b", vec![], None), step("c", vec![use_first], None)];
    let transaction = |result| BoundTransaction { steps: &steps, result };
    let mut results = Vec::new();
    for _ in 0..3 {
        transaction(None).take(&mut results, rows(1)).unwrap();
    }
    // The first is needed by the third, the second by nobody any longer.
    assert_eq!(results, [rows(1), result(&["id"], vec![], 0), rows(1)]);
    assert_eq!(BoundTransaction::kept_bytes(&results), 16);
    let mut results = vec![rows(1)];
    transaction(Some(0)).take(&mut results, rows(5)).unwrap();
    assert_eq!(results, [rows(1), result(&["id"], vec![], 0)]);
    // What a later step cannot take is told before anything else is done.
    let error = transaction(None).take(&mut Vec::new(), rows(2)).unwrap_err();
    let message = "the step `c` needs `steps.a.id`, and the step `a` returned 2 rows instead of 1; nothing was changed";
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Expectation, message));
    let one = [step("a", vec![], Some(2))];
    let error = BoundTransaction { steps: &one, result: None }.take(&mut Vec::new(), rows(1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Expectation);
}

#[test]
fn one_result_is_that_of_all() {
    let steps = [step("a", vec![], None), step("b", vec![], None), step("c", vec![], None)];
    let rows = |name: &str| result(&[name], vec![], 0);
    let changed = |affected| result(&[], vec![], affected);
    let answer = |result, results| BoundTransaction { steps: &steps, result }.answer(results);
    assert_eq!(answer(None, vec![rows("a"), rows("b"), changed(3)]), rows("b"));
    assert_eq!(answer(Some(0), vec![rows("a"), rows("b"), changed(3)]), rows("a"));
    assert_eq!(answer(Some(2), vec![rows("a"), rows("b"), changed(3)]), changed(3));
    assert_eq!(answer(None, vec![changed(1), changed(u64::MAX), changed(3)]), changed(u64::MAX));
}
