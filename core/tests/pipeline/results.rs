//! Stages *map output* and *serialize*.

use millrace_core::{
    app::{ErrorRule, Literal, Root, Template, TemplatePart, Tool},
    expression::{Comparison, Expression, Step},
    ports::Returned,
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

#[test]
fn rows_are_a_list_and_changes_a_count() {
    let table = [
        (rows(&["id"], vec![]), "[]"),
        (
            rows(&["b", "a"], vec![vec![Value::I64(1), Value::Null], vec![Value::F64(2.0), Value::Bool(true)]]),
            r#"[{"b":1,"a":null},{"b":2.0,"a":true}]"#,
        ),
        (Rows { affected: 3, ..Rows::default() }, r#"{"affected_rows":3}"#),
    ];
    for (rows, expected) in table {
        let world = World::new();
        world.answer_rows(rows);
        let result = run(&world, select_tool(), json!({})).unwrap();
        assert_eq!((text(&result).as_str(), result.structured, result.meta.len()), (expected, None, 0));
    }
}

#[test]
fn values_of_handlers() {
    let table = [
        (Returned::Undefined, "null", "[]"),
        (Returned::Value(json!("a \"b\"\n")), "a \"b\"\n", r#"[{"value":"a \"b\"\n"}]"#),
        (Returned::Value(json!({"z": 1, "a": [1.0, null]})), r#"{"z":1,"a":[1.0,null]}"#, r#"[{"z":1,"a":[1.0,null]}]"#),
        (Returned::Value(json!([1, {"a": 2}])), r#"[1,{"a":2}]"#, r#"[{"value":1},{"a":2}]"#),
        (Returned::Value(json!(false)), "false", r#"[{"value":false}]"#),
    ];
    for (returned, plain, as_rows) in table {
        for (results_as_rows, expected) in [(false, plain), (true, as_rows)] {
            let world = World::new();
            world.answer_script(Ok(returned.clone()));
            let result = run(&world, Tool { results_as_rows, ..script_tool() }, json!({})).unwrap();
            assert_eq!(text(&result), expected);
        }
    }
}

#[test]
fn imported_apps_get_rows_before_and_after_the_mapper() {
    let world = World::new();
    *world.on_script.borrow_mut() = Some(Box::new(|seen| {
        Some(Ok(Returned::Value(if seen.path == "handler.ts" {
            json!(5)
        } else {
            json!({ "got": seen.payload["results"], "tool": seen.payload["tool"] })
        })))
    }));
    let tool = Tool { results_as_rows: true, map_output: Some(script(MAP_OUTPUT)), ..script_tool() };
    assert_eq!(text(&run(&world, tool, json!({})).unwrap()), r#"[{"got":[{"value":5}],"tool":"t"}]"#);

    world.answer_rows(Rows { affected: 2, ..Rows::default() });
    let tool = Tool { results_as_rows: true, ..select_tool() };
    assert_eq!(text(&run(&world, tool, json!({})).unwrap()), r#"[{"affected_rows":2}]"#);
}

#[test]
fn a_mapper_replaces_the_result() {
    let world = World::new();
    world.answer_rows(rows(&["n"], vec![vec![Value::U64(u64::MAX)]]));
    *world.on_script.borrow_mut() = Some(Box::new(|seen| {
        assert_eq!(seen.payload, json!({"results": [{"n": u64::MAX}], "tool": "t"}), "exact, as a script sees it");
        Some(Ok(Returned::Value(json!("short"))))
    }));
    let tool = Tool { map_output: Some(script(MAP_OUTPUT)), ..select_tool() };
    assert_eq!(text(&run(&world, tool, json!({})).unwrap()), "short");
}

#[test]
fn the_first_rule_that_holds_wins() {
    let rule = |length: u64, code: &str| ErrorRule {
        when: Expression::Compare(
            Comparison::Equal,
            Box::new(Expression::Len(Box::new(Expression::Path(vec![Step::Member("results".into())])))),
            Box::new(Expression::Literal(Literal(json!(length)))),
        ),
        code: code.into(),
        message: Template(vec![
            TemplatePart::Text("No invoice ".into()),
            TemplatePart::Source(source(Root::Inputs, "id")),
            TemplatePart::Text(", found ".into()),
            TemplatePart::Source(source(Root::Results, "")),
            TemplatePart::Source(source(Root::Auth, "subject")),
            TemplatePart::Text(".".into()),
        ]),
        suggestion: Some("List them.".into()),
        actions: vec!["list-invoices".into()],
    };
    let mut tool = Tool { inputs: vec![input("id", millrace_core::app::InputKind::Json)], ..select_tool() };
    tool.errors.on = vec![rule(1, "ONE"), rule(0, "NOT_FOUND"), rule(0, "NEVER")];
    let world = World::new();
    world.answer_rows(rows(&["id"], vec![]));
    let result = run(&world, tool.clone(), json!({"id": "<9>"})).unwrap();
    let expected = "!<tool_error code=\"NOT_FOUND\" severity=\"error\">\n<message>No invoice &lt;9>, found [].</message>\n\
                    <recovery>List them.</recovery>\n<available_actions>\n  <action>list-invoices</action>\n</available_actions>\n</tool_error>";
    assert_eq!((text(&result).as_str(), &meta(&result)["stage"]), (expected, &json!("map_output")));

    let two = rows(&["id"], vec![vec![Value::Text("1".into())], vec![Value::Text("2".into())]]);
    world.answer_rows(two);
    assert_eq!(text(&run(&world, tool, json!({"id": 9})).unwrap()), r#"[{"id":"1"},{"id":"2"}]"#);
}

#[test]
fn output_has_a_limit() {
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!("x".repeat(101)))));
    let mut tool = script_tool();
    tool.limits.output_bytes = 100;
    let result = run(&world, tool.clone(), json!({})).unwrap();
    let meta: &Json = meta(&result);
    assert_eq!((&meta["code"], &meta["stage"]), (&json!("OUTPUT_TOO_LARGE"), &json!("serialize")));
    assert_eq!(meta["message"], json!("The result is 101 bytes long, more than this tool's limit of 100 bytes."));
    tool.limits.output_bytes = 101;
    assert!(!run(&world, tool, json!({})).unwrap().is_error);
}
