//! Every row of the error table, in both styles; every code of a connector and of a script.

use millrace_core::{
    Error, ErrorKind,
    app::{Access, Auth, EnvPart, EnvTemplate, ErrorStyle, Execute, Input, InputKind, ParamStyle, Part, Policy, Tool},
    fault::FaultResult,
    pipeline::{Pipeline, ToolResult},
    ports::{Reply, Returned, ScriptFault, Thrown, ToolErrorReply},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn thrown(message: &str) -> Result<Returned, ScriptFault> {
    Err(ScriptFault::Thrown(Thrown { message: message.into(), stack: Some("at secret (x.ts:1)".into()), cause: None, reply: None }))
}

fn in_style(mut tool: Tool, style: ErrorStyle, script_answer: &Result<Returned, ScriptFault>) -> FaultResult<ToolResult> {
    let world = World::new();
    world.answer_script(script_answer.clone());
    world.answer_error(Error::new(ErrorKind::Syntax, "the statement of `t` is wrong").with_source("near \"SELEC\""));
    tool.errors.style = style;
    run(&world, tool, json!({}))
}

#[test]
fn every_row_of_the_error_table_in_both_styles() {
    let ok = Ok(Returned::Undefined);
    let auth = Tool { auth: Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() }), ..select_tool() };
    let table: Vec<(Tool, Result<Returned, ScriptFault>, &str, &str, &str)> = vec![
        (Tool { map_input: Some(script(MAP_INPUT)), ..select_tool() }, thrown("bad input"), "map_input", "SCRIPT_ERROR", "bad input"),
        (
            Tool { map_input: Some(script(MAP_INPUT)), ..select_tool() },
            Ok(Returned::Value(json!([1]))),
            "map_input",
            "SCRIPT_RESULT",
            "The input mapper must return an object; it returned an array.",
        ),
        (
            Tool { inputs: vec![input("id", InputKind::Int)], ..select_tool() },
            ok.clone(),
            "validate",
            "VALIDATION_ERROR",
            "The inputs are not valid. id: Required. You sent: (missing). Expected type: int.",
        ),
        (
            query_tool(vec![Part::Env("SCHEMA".into())]),
            ok.clone(),
            "execute",
            "CONFIGURATION",
            "The environment variable `SCHEMA` is not set.",
        ),
        (select_tool(), ok.clone(), "execute", "QUERY_INVALID", "The statement of `t` is wrong."),
        (script_tool(), thrown("no stock"), "execute", "SCRIPT_ERROR", "no stock"),
    ];
    for (tool, answer, stage, code, message) in table {
        let fault = in_style(tool.clone(), ErrorStyle::Protocol, &answer).unwrap_err();
        assert_eq!((fault.stage.as_str(), fault.code.as_str(), fault.message.as_str()), (stage, code, message));
        assert_eq!(fault.json_rpc_code(), -32000);
        assert_eq!((&fault.data()["stage"], &fault.data()["code"]), (&json!(stage), &json!(code)));

        let result = in_style(tool, ErrorStyle::Result, &answer).unwrap();
        assert!(result.is_error && result.structured.is_none());
        let meta = meta(&result);
        assert_eq!(
            (&meta["stage"], &meta["code"], &meta["message"], &meta["json_rpc_code"]),
            (&json!(stage), &json!(code), &json!(message), &json!(-32000))
        );
        assert!(!format!("{result:?}").contains("x.ts"), "a stack reached the caller");
    }
    for style in [ErrorStyle::Protocol, ErrorStyle::Result] {
        let fault = in_style(auth.clone(), style, &thrown("the token is stale")).unwrap_err();
        assert_eq!((fault.stage.as_str(), fault.json_rpc_code(), fault.refusal.is_some()), ("authenticate", -32000, true));
        let world = World::new();
        let mut tool = select_tool();
        tool.errors.style = style;
        let fault = call_named(&pipeline(&world, tool), "x", json!({}), &With::default()).unwrap_err();
        assert_eq!((fault.stage.as_str(), fault.json_rpc_code(), fault.message.as_str()), ("resolve", -32601, "tool 'x' not found"));
    }
    let world = World::new();
    world.answer_rows(rows(&["id"], vec![]));
    world.answer_script(thrown("no mapping"));
    let tool = Tool { map_output: Some(script(MAP_OUTPUT)), ..select_tool() };
    let result = run(&world, tool, json!({})).unwrap();
    assert_eq!((&meta(&result)["stage"], &meta(&result)["message"]), (&json!("map_output"), &json!("no mapping")));
}

#[test]
fn names_are_found_exactly_among_many() {
    let world = World::new();
    let tools = (0..5_000).map(|number| tool(&format!("tool-{number:04}"), Execute::Script(script(HANDLER)))).collect();
    let pipeline = Pipeline::new(std::rc::Rc::new(app(tools)), world.ports());
    for number in [0, 1, 2_500, 4_999] {
        call_named(&pipeline, &format!("tool-{number:04}"), json!({}), &With::default()).unwrap();
        assert_eq!(world.seen.borrow().last().unwrap().payload["tool"], json!(format!("tool-{number:04}")));
    }
    for name in ["tool-5000", "tool-0001 ", "TOOL-0001", "", "tool-"] {
        assert_eq!(call_named(&pipeline, name, json!({}), &With::default()).unwrap_err().code, "TOOL_NOT_FOUND");
    }
    let hostile = format!("{}\n<x>", "n".repeat(100_000));
    assert!(call_named(&pipeline, &hostile, json!({}), &With::default()).unwrap_err().message.len() < 100);
}

#[test]
fn the_codes_of_a_connectors_errors() {
    use ErrorKind::*;
    let table = [
        (Configuration, "CONFIGURATION", false),
        (Syntax, "QUERY_INVALID", false),
        (Constraint, "CONSTRAINT", false),
        (Data, "DATA_INVALID", false),
        (Credentials, "QUERY_REFUSED", false),
        (Denied, "QUERY_REFUSED", false),
        (TimedOut, "TIMEOUT", true),
        (Unavailable, "DATABASE_UNAVAILABLE", true),
        (Busy, "DATABASE_BUSY", true),
        (TooLarge, "RESULT_TOO_LARGE", false),
        (Protocol, "DATABASE_ERROR", false),
        (Cancelled, "CANCELLED", false),
    ];
    for (kind, code, retryable) in table {
        let world = World::new();
        world.answer_error(Error::new(kind, "the adapter `main` failed").with_source("upstream words"));
        let result = run(&world, select_tool(), json!({})).unwrap();
        assert_eq!((&meta(&result)["code"], &meta(&result)["retryable"]), (&json!(code), &json!(retryable)), "{kind:?}");
        assert!(!format!("{result:?}").contains("upstream words"), "{kind:?}");
    }
}

#[test]
fn expose_shows_the_upstreams_words() {
    let world = World::new();
    world.answer_error(
        Error::new(ErrorKind::Constraint, "the database refuses the change").with_source("UNIQUE constraint failed: users.email"),
    );
    let mut tool = select_tool();
    tool.errors.expose = true;
    let result = run(&world, tool, json!({})).unwrap();
    assert_eq!(meta(&result)["message"], json!("The database refuses the change: UNIQUE constraint failed: users.email"));
}

#[test]
fn what_may_have_been_written_is_said() {
    for (access, expected) in [(Access::Read, "may help"), (Access::Write, "Check first whether the change was made")] {
        let world = World::new();
        *world.on_query.borrow_mut() = Some(Box::new(|_| None));
        let execute = Execute::Statement { adapter: 0, statement: statement(vec![], ParamStyle::Question, access) };
        let result = run(&world, tool("t", execute), json!({})).unwrap();
        assert_eq!(meta(&result)["code"], json!("TIMEOUT"));
        assert!(meta(&result)["suggestion"].as_str().unwrap().contains(expected), "{access:?}");
    }
}

#[test]
fn the_codes_of_a_scripts_faults() {
    let table = [
        (ScriptFault::Limit("a loop ran more than 10 times (`limits.script.loops`)".into()), "SCRIPT_LIMIT", true),
        (ScriptFault::TimedOut, "TIMEOUT", false),
        (ScriptFault::Cancelled, "CANCELLED", false),
        (ScriptFault::NotJson("a function at `a.b`".into()), "SCRIPT_RESULT", true),
        (ScriptFault::NeverSettles, "SCRIPT_NEVER_SETTLES", false),
        (ScriptFault::Broken("unexpected token at handler.ts:3".into()), "SCRIPT_BROKEN", false),
        (ScriptFault::Thrown(Thrown { message: String::new(), stack: None, cause: None, reply: None }), "SCRIPT_ERROR", false),
    ];
    for (fault, code, says_why) in table {
        let world = World::new();
        world.answer_script(Err(fault.clone()));
        let result = run(&world, script_tool(), json!({})).unwrap();
        assert_eq!(meta(&result)["code"], json!(code));
        assert_eq!(meta(&result)["retryable"], json!(code == "TIMEOUT"));
        let message = meta(&result)["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.contains("unexpected token"), "{message}");
        if let (true, ScriptFault::Limit(why) | ScriptFault::NotJson(why)) = (says_why, fault) {
            assert_eq!(message, why);
        }
    }
}

#[test]
fn a_thrown_message_is_cut() {
    let world = World::new();
    world.answer_script(thrown(&"é".repeat(100_000)));
    let result = run(&world, script_tool(), json!({})).unwrap();
    assert_eq!(meta(&result)["message"].as_str().unwrap().chars().count(), 4_001);
}

#[test]
fn replies_are_results_in_both_styles() {
    let full = ToolErrorReply {
        code: "NOT_FOUND".into(),
        message: Some("No invoice 9.".into()),
        suggestion: Some("List them.".into()),
        available_actions: vec!["list-invoices".into()],
        details: vec![("id".into(), "9".into())],
        severity: Some("critical".into()),
        retry_after_s: Some(30),
    };
    let warning = ToolErrorReply { code: "STALE".into(), severity: Some("warning".into()), ..ToolErrorReply::default() };
    let required = "<validation_error action=\"t\">\n<field name=\"id\">Required. You sent: (missing). Expected type: int.</field>\n\
                    <recovery>Fix the fields above and call the tool again. Do not explain the error.</recovery>\n</validation_error>";
    let table = [
        (Reply::Success(json!({"a": 1})), "{\"a\":1}".to_owned()),
        (Reply::Error("no".into()), "!<tool_error code=\"ERROR\" severity=\"error\">\n<message>no</message>\n</tool_error>".into()),
        (Reply::Required("id".into()), format!("!{required}")),
        (Reply::ToolError(warning), "<tool_error code=\"STALE\" severity=\"warning\">\n<message>STALE</message>\n</tool_error>".into()),
        (
            Reply::ToolError(full),
            "!<tool_error code=\"NOT_FOUND\" severity=\"critical\">\n<message>No invoice 9.</message>\n<recovery>List them.</recovery>\n\
             <available_actions>\n  <action>list-invoices</action>\n</available_actions>\n<details>\n  <detail key=\"id\">9</detail>\n</details>\n\
             <retry_after>30 seconds</retry_after>\n</tool_error>"
                .into(),
        ),
    ];
    for (reply, expected) in table {
        for style in [ErrorStyle::Result, ErrorStyle::Protocol] {
            let thrown = ScriptFault::Thrown(Thrown { message: "m".into(), stack: None, cause: None, reply: Some(reply.clone()) });
            let answers = [Ok(Returned::Reply(reply.clone())), Err(thrown)];
            for answer in answers.into_iter().take(if matches!(reply, Reply::Success(_)) { 1 } else { 2 }) {
                let mut tool = Tool { inputs: vec![input("id", InputKind::Int)], map_output: None, ..script_tool() };
                tool.inputs[0].optional = true;
                assert_eq!(text(&in_style(tool, style, &answer).unwrap()), expected);
            }
        }
    }
}

#[test]
fn an_adapter_without_its_variable_or_connector_is_a_configuration_fault() {
    let world = World::new();
    let mut app = app(vec![select_tool()]);
    app.adapters[0].connection_string = EnvTemplate(vec![EnvPart::Env("DATABASE_URL".into())]);
    let pipeline = Pipeline::new(std::rc::Rc::new(app), world.ports());
    let expected: Json = json!("The environment variable `DATABASE_URL`, which the adapter `main` needs, is not set.");
    assert_eq!(meta(&call(&pipeline, json!({}), &With::default()).unwrap())["message"], expected);
    assert_eq!(block_on(pipeline.ping(0)).unwrap_err().kind, ErrorKind::Configuration);

    world.set_env("DATABASE_URL", "fake://user:hunter2@h");
    assert!(!call(&pipeline, json!({}), &With::default()).unwrap().is_error, "the next call tries again");
    call(&pipeline, json!({}), &With::default()).unwrap();
    block_on(pipeline.ping(0)).unwrap();
    assert_eq!(world.opened.borrow().len(), 1, "a connection is kept");
    assert_eq!(world.opened.borrow()[0].connection_string.expose(), "fake://user:hunter2@h");
    assert_eq!(block_on(pipeline.ping(1)).unwrap_err().kind, ErrorKind::Configuration);
}

#[test]
fn what_a_mapper_makes_wrong_is_its_authors_to_mend() {
    let inputs = || vec![input("n", InputKind::Int), Input { optional: true, ..input("note", InputKind::String) }];
    let table = [
        // What the caller sent, what the mapper makes of it, and the inputs that are the mapper's
        // doing.
        (json!({"n": 3}), json!({"n": "not a number"}), Some("`n`")),
        (json!({"n": 3}), json!({"note": 5}), Some("`n`, `note`")),
        (json!({"n": 3}), json!({"n": 3, "extra": 1}), Some("`(root)`")),
        (json!({"n": "x"}), json!({"n": "y"}), Some("`n`")),
        (json!({"n": "x"}), json!({"n": "x", "note": 5}), Some("`note`")),
        // As the caller sent it.
        (json!({"n": "x"}), json!({"n": "x"}), None),
        (json!({}), json!({}), None),
        (json!({"n": 1, "extra": 1}), json!({"n": 1, "extra": 1}), None),
    ];
    for (sent, mapped, of_mapper) in table {
        let world = World::new();
        world.answer_script(Ok(Returned::Value(mapped.clone())));
        let tool = Tool { inputs: inputs(), map_input: Some(script(MAP_INPUT)), ..select_tool() };
        let result = run(&world, tool, sent.clone()).unwrap();
        let error = meta(&result);
        match of_mapper {
            Some(names) => {
                assert_eq!((&error["code"], &error["stage"]), (&json!("SCRIPT_RESULT"), &json!("map_input")), "{sent} {mapped}");
                let message = format!("The input mapper returned inputs that the tool does not take: {names}.");
                assert_eq!(error["message"], json!(message), "{sent} {mapped}");
                assert!(error["suggestion"].as_str().unwrap().starts_with("This is a defect of the tool"), "{error}");
            }
            None => assert_eq!((&error["code"], &error["stage"]), (&json!("VALIDATION_ERROR"), &json!("validate")), "{sent} {mapped}"),
        }
        assert!(world.asked.borrow().is_empty(), "a statement ran");
    }
}

/// A mapper that swaps two days, or takes one for the other: what was wrong before is what the
/// caller mends, by the names that it sent.
#[test]
fn what_a_mapper_moves_is_its_callers_to_mend() {
    let day = |name: &str| Input { optional: true, ..input(name, InputKind::Int) };
    let told =
        |field: &str, sent: &str| json!({"field": field, "message": format!("Invalid type. You sent: '{sent}'. Expected type: int.")});
    let table = [
        (json!({"from": "x", "to": 1}), json!({"from": 1, "to": "x"}), vec![told("from", "x")]),
        (json!({"from": "x", "to": "a"}), json!({"from": "a", "to": "x"}), vec![told("from", "x"), told("to", "a")]),
        (json!({"from": "x"}), json!({"from": "x", "to": "x"}), vec![told("from", "x")]),
    ];
    for (sent, mapped, issues) in table {
        let world = World::new();
        world.answer_script(Ok(Returned::Value(mapped)));
        let tool = Tool { inputs: vec![day("from"), day("to")], map_input: Some(script(MAP_INPUT)), ..select_tool() };
        let result = run(&world, tool, sent.clone()).unwrap();
        let error = meta(&result);
        assert_eq!((&error["code"], &error["issues"]), (&json!("VALIDATION_ERROR"), &json!(issues)), "{sent}");
    }
    // Another value in the same place is the mapper's.
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!({"from": 1, "to": "y"}))));
    let tool = Tool { inputs: vec![day("from"), day("to")], map_input: Some(script(MAP_INPUT)), ..select_tool() };
    assert_eq!(meta(&run(&world, tool, json!({"from": "x", "to": 1})).unwrap())["code"], "SCRIPT_RESULT");
}
