//! Failures after a change: each says that the change was made.

use std::rc::Rc;

use millrace_core::{
    app::{Access, ErrorRule, Execute, ParamStyle, Part, Template, TemplatePart, Tool},
    expression::{Comparison, Expression, Step},
    ports::{Returned, ScriptFault, Thrown},
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn writing(text: &str) -> Tool {
    let statement = statement(vec![Part::Text(text.into())], ParamStyle::Question, Access::Write);
    tool("t", Execute::Statement { adapter: 0, statement })
}

/// A rule that fails where nothing was changed, or with `not` where something was.
fn rule(comparison: Comparison) -> ErrorRule {
    let affected = Expression::Path(["results", "affected_rows"].map(|name| Step::Member(name.into())).into());
    ErrorRule {
        when: Expression::Compare(comparison, Box::new(affected), Box::new(Expression::Literal(millrace_core::app::Literal(json!(0))))),
        code: "RULE".into(),
        message: Template(vec![TemplatePart::Text("A rule holds.".into())]),
        suggestion: Some("Look at it.".into()),
        actions: vec![],
    }
}

fn thrown() -> Result<Returned, ScriptFault> {
    Err(ScriptFault::Thrown(Thrown { message: "no".into(), stack: None, reply: None, cause: None }))
}

const MADE: &str = "The change was made: calling the tool again would make it a second time.";
const SOME: &str = "Before this failed, a change was made: calling the tool again may make it a second time.";

/// The recovery line of a failed call, whose typed fields say the same.
fn recovery(world: &Rc<World>, tool: Tool) -> (String, Json) {
    let result = run(world, tool, json!({})).unwrap();
    assert!(result.is_error, "{result:?}");
    let meta = meta(&result);
    let suggestion = meta["suggestion"].as_str().unwrap_or_default().to_owned();
    let says = suggestion.starts_with(MADE) || suggestion.starts_with(SOME);
    assert_eq!(meta.get("change_made"), says.then_some(&json!(true)), "{meta}");
    assert!(!(says && meta["retryable"] == true), "{meta}");
    (suggestion, meta["code"].clone())
}

#[test]
fn every_failure_after_a_write_says_that_it_was_made() {
    let world = World::new();
    *world.on_query.borrow_mut() = Some(Box::new(|_| Some(Ok(Rows { affected: 1, ..Rows::default() }))));
    world.answer_script(thrown());
    let update = || writing("UPDATE t SET a = 1");
    let schema = Some("{\"type\":\"array\"}".to_owned());
    let mut small = update();
    small.limits.output_bytes = 1;
    let mut ruled = update();
    ruled.errors.on = vec![rule(Comparison::Greater)];
    let table = [
        (
            Tool { map_output: Some(script(MAP_OUTPUT)), ..update() },
            "SCRIPT_ERROR",
            " Calling the tool again with the same inputs is unlikely to help.",
        ),
        (
            Tool { output: schema, ..update() },
            "OUTPUT_SCHEMA_MISMATCH",
            " This is a defect of the tool: calling it again with the same inputs does not help.",
        ),
        (small, "OUTPUT_TOO_LARGE", " The limit is `limits.output` of the tool."),
        (ruled, "RULE", " Look at it."),
    ];
    for (tool, code, rest) in table {
        assert_eq!(recovery(&world, tool), (format!("{MADE}{rest}"), json!(code)));
    }
    // A failure before the write, and a write that found nothing to change.
    let before = Tool { map_input: Some(script(MAP_INPUT)), ..update() };
    assert!(!recovery(&world, before).0.contains("was made"));
    *world.on_query.borrow_mut() = Some(Box::new(|_| Some(Ok(Rows::default()))));
    let mut ruled = update();
    ruled.errors.on = vec![rule(Comparison::Equal)];
    assert_eq!(recovery(&world, ruled), ("Look at it.".into(), json!("RULE")));
}

#[test]
fn a_script_that_fails_after_its_statements_says_what_they_did() {
    for (text, affected, expected) in [
        (
            "INSERT INTO t VALUES (1)",
            1,
            format!("{SOME} This is a defect of the tool: calling it again with the same inputs does not help."),
        ),
        ("SELECT 1", 0, "This is a defect of the tool: calling it again with the same inputs does not help.".into()),
    ] {
        let world = World::new();
        *world.on_query.borrow_mut() = Some(Box::new(move |_| {
            Some(Ok(Rows { affected, ..rows(&["a"], if affected == 0 { vec![vec![Value::Null]] } else { vec![] }) }))
        }));
        *world.on_host.borrow_mut() = Some(Rc::new(move |host| {
            Box::pin(async move {
                host.query("main", text, vec![]).await.unwrap();
                json!("no list")
            })
        }));
        let tool = Tool { output: Some("{\"type\":\"array\"}".into()), ..script_tool() };
        assert_eq!(recovery(&world, tool), (expected, json!("OUTPUT_SCHEMA_MISMATCH")));
    }
}
