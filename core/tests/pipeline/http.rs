//! Requests of HTTP in stages *execute* and *map output*.

use millrace_core::{
    Error, ErrorKind,
    app::{Access, Bind, DocumentNode, ErrorRule, Execute, InputKind, Leaf, Literal, Part, Root, Statement, Template, TemplatePart, Tool},
    expression::{Comparison, Expression, Step},
    ports::Node,
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn text_node(text: &str) -> DocumentNode {
    DocumentNode::Literal(Literal(json!(text)))
}

fn place(part: u32, leaf: Leaf) -> DocumentNode {
    DocumentNode::Place { part, leaf }
}

/// `PUT /orders/{{ inputs.id }}` with the body `{name, note}`.
fn request_tool() -> Tool {
    let members = vec![
        ("method".to_owned(), text_node("PUT")),
        ("path".to_owned(), DocumentNode::List(vec![text_node("/orders/"), place(0, Leaf::Segment), text_node("")])),
        (
            "body".to_owned(),
            DocumentNode::Members(vec![("name".to_owned(), place(1, Leaf::Json)), ("note".to_owned(), place(2, Leaf::Json))]),
        ),
    ];
    let value = |name: &str| Part::Bind(Bind::Value { source: source(Root::Inputs, name), kind: Some(InputKind::String) });
    let statement =
        Statement::of_document(members, vec![value("id"), value("name"), value("note")], "PUT /orders/<1>".into(), Access::Write);
    let optional = |name: &str| millrace_core::app::Input { optional: true, nullable: true, ..input(name, InputKind::String) };
    Tool {
        inputs: vec![input("id", InputKind::String), optional("name"), optional("note")],
        ..tool("t", Execute::Statement { adapter: 0, statement })
    }
}

#[test]
fn a_member_without_a_value_is_left_out_and_null_is_not() {
    let world = World::new();
    let sent = |arguments: Json| {
        run(&world, request_tool(), arguments).unwrap();
        world.asked.borrow().last().unwrap().text.clone()
    };
    let members = |body: Vec<(String, Node)>| {
        let leaf = |text: &str| Node::Value(Value::Text(text.into()));
        let path = Node::List(vec![leaf("/orders/"), leaf("a/b"), leaf("")]);
        format!("{:?}", [("method".to_owned(), leaf("PUT")), ("path".to_owned(), path), ("body".to_owned(), Node::Members(body))])
    };
    assert_eq!(sent(json!({"id": "a/b"})), members(vec![]));
    assert_eq!(sent(json!({"id": "a/b", "note": null})), members(vec![("note".to_owned(), Node::Value(Value::Null))]));
}

#[test]
fn what_is_no_segment_is_an_invalid_input() {
    let world = World::new();
    for id in ["", ".", ".."] {
        let result = run(&world, request_tool(), json!({"id": id})).unwrap();
        assert!(result.is_error && text(&result).contains("It is one part of a path"), "{id:?}: {}", text(&result));
    }
    assert!(world.asked.borrow().is_empty());
}

#[test]
fn a_document_is_the_result() {
    let world = World::new();
    for document in [json!({"z": 1, "a": [9_007_199_254_740_993_i64]}), json!(null), json!([1, "a"])] {
        world.answer_rows(Rows { document: Some(document.clone()), ..Rows::default() });
        assert_eq!(text(&run(&world, request_tool(), json!({"id": "1"})).unwrap()), document.to_string());
    }
    let cut = Rows { document: Some(json!([1, 2])), truncated: true, ..Rows::default() };
    world.answer_rows(cut);
    let result = run(&world, request_tool(), json!({"id": "1"})).unwrap();
    assert_eq!(result.meta[0].1["shown"], json!(2));
}

#[test]
fn a_rule_sees_the_answer_of_a_failed_request() {
    let compare = |root: &str, member: &str, value: Json| {
        let path = [root, member].into_iter().filter(|step| !step.is_empty()).map(|step| Step::Member(step.into())).collect();
        let left = match root {
            "results" => Expression::Len(Box::new(Expression::Path(path))),
            _ => Expression::Path(path),
        };
        Expression::Compare(Comparison::Equal, Box::new(left), Box::new(Expression::Literal(Literal(value))))
    };
    let rule = |when: Expression, code: &str| ErrorRule {
        when,
        code: code.into(),
        message: Template(vec![TemplatePart::Text("Order ".into()), TemplatePart::Source(source(Root::Inputs, "id"))]),
        suggestion: None,
        actions: vec![],
    };
    let mut tool = request_tool();
    tool.errors.on = vec![
        // Of no result at all, the length would be 0.
        rule(compare("results", "", json!(0)), "EMPTY"),
        rule(compare("answer", "status", json!(404)), "NO_ORDER"),
    ];
    let world = World::new();
    let failed = |status: u16| {
        let error =
            Error::new(ErrorKind::Constraint, "the API answered").with_source("hunter2").with_answer(status, json!({"a": "hunter2"}));
        world.answer_error(error);
        let result = run(&world, tool.clone(), json!({"id": "7"})).unwrap();
        assert!(!text(&result).contains("hunter2"), "{}", text(&result));
        (meta(&result)["code"].clone(), meta(&result)["stage"].clone())
    };
    assert_eq!(failed(404), (json!("NO_ORDER"), json!("execute")));
    assert_eq!(failed(409), (json!("CONSTRAINT"), json!("execute")));
    world.answer_rows(Rows { document: Some(json!([])), ..Rows::default() });
    assert_eq!(meta(&run(&world, tool.clone(), json!({"id": "7"})).unwrap())["code"], json!("EMPTY"));
}
