//! Stage *execute*: what a connector and a handler are given.

use millrace_core::{
    app::{Access, Auth, Bind, Execute, Input, InputKind, ParamStyle, Part, Piece, Policy, Root, Tool},
    pipeline::Pipeline,
    ports::Returned,
    value::Value,
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn part(text: &str) -> Part {
    Part::Text(text.into())
}

fn composed(pieces: Vec<Piece>) -> Part {
    Part::Bind(Bind::Composed(pieces))
}

fn piece(path: &str) -> Piece {
    Piece::Source(source(Root::Inputs, path))
}

/// A tool whose inputs are all optional and of any type.
fn tool_with(style: ParamStyle, parts: Vec<Part>) -> Tool {
    let inputs = ["a", "b", "list"].map(|name| Input { optional: true, nullable: true, ..input(name, InputKind::Json) });
    let execute = Execute::Statement { adapter: 0, statement: statement(parts, style, Access::Read) };
    Tool { inputs: inputs.into(), ..tool("t", execute) }
}

fn asked(tool: Tool, arguments: Json) -> (String, Vec<Value>) {
    let world = World::new();
    world.set_env("SCHEMA", "main");
    let result = run(&world, tool, arguments).unwrap();
    assert!(!result.is_error, "{result:?}");
    let asked = world.asked.borrow()[0].clone();
    (asked.text, asked.params)
}

#[test]
fn placeholders_are_numbered_in_the_connectors_style() {
    let parts = || {
        vec![
            part("SELECT * FROM "),
            Part::Env("SCHEMA".into()),
            part(".t WHERE a = "),
            bind("a", InputKind::Int),
            part(" AND b IN ("),
            Part::BindEach { source: source(Root::Inputs, "list"), kind: Some(InputKind::String), empty: "SELECT 1 WHERE 0".into() },
            part(") AND c LIKE "),
            composed(vec![Piece::Text("%".into()), piece("b"), Piece::Text("% of ".into()), Piece::Env("SCHEMA".into())]),
        ]
    };
    let params =
        vec![Value::I64(7), Value::Text("x'; DROP TABLE t; --".into()), Value::Text("$9 ?9".into()), Value::Text("%q% of main".into())];
    let table = [
        (ParamStyle::NumberedQuestion, "SELECT * FROM main.t WHERE a = ?1 AND b IN (?2, ?3) AND c LIKE ?4"),
        (ParamStyle::NumberedDollar, "SELECT * FROM main.t WHERE a = $1 AND b IN ($2, $3) AND c LIKE $4"),
        (ParamStyle::Question, "SELECT * FROM main.t WHERE a = ? AND b IN (?, ?) AND c LIKE ?"),
    ];
    for (style, expected) in table {
        let arguments = json!({"a": 7, "b": "q", "list": ["x'; DROP TABLE t; --", "$9 ?9"]});
        assert_eq!(asked(tool_with(style, parts()), arguments), (expected.into(), params.clone()));
    }
    let (text, params) = asked(tool_with(ParamStyle::NumberedDollar, parts()), json!({"list": []}));
    assert_eq!(text, "SELECT * FROM main.t WHERE a = $1 AND b IN (SELECT 1 WHERE 0) AND c LIKE $2");
    assert_eq!(params, [Value::Null, Value::Text("%% of main".into())]);
}

#[test]
fn a_list_is_written_with_a_power_of_two_of_values() {
    let each = |name: &str| Part::BindEach { source: source(Root::Inputs, name), kind: Some(InputKind::Int), empty: "SELECT 0".into() };
    let tool = || {
        tool_with(
            ParamStyle::NumberedQuestion,
            vec![part("("), each("list"), part(") ("), each("a"), part(") "), bind("b", InputKind::Int)],
        )
    };
    let (text, params) = asked(tool(), json!({"list": [1, 2, 3], "a": [], "b": 9}));
    assert_eq!((text.as_str(), params), ("(?1, ?2, ?3, ?4) (SELECT 0) ?5", [1, 2, 3, 3, 9].map(Value::I64).to_vec()));
    assert_eq!(asked(tool(), json!({"list": [1], "a": 5})).0, "(?1) (?2) ?3");
    // No more than the database takes: 100 here.
    let long: Vec<i64> = (0..70).collect();
    assert_eq!(asked(tool(), json!({"list": long, "a": [1, 2, 3, 4, 5]})).1.len(), 70 + 24 + 5 + 1);
    let texts: std::collections::BTreeSet<String> = (0..100).map(|length| asked(tool(), json!({"list": vec![1; length]})).0).collect();
    assert_eq!(texts.len(), 9);
}

#[test]
fn a_list_with_more_values_than_the_database_takes_is_the_callers_mistake() {
    let each = |name: &str| Part::BindEach { source: source(Root::Inputs, name), kind: None, empty: "SELECT 0".into() };
    let tool = || tool_with(ParamStyle::Question, vec![each("list"), each("a"), bind("b", InputKind::Int)]);
    for (arguments, field, sent, greatest) in [
        (json!({"list": vec![1; 100]}), "list", 100, 99),
        (json!({"list": [1], "a": vec![1; 99]}), "a", 99, 98),
        (json!({"a": vec![1; 40_000]}), "a", 40_000, 99),
    ] {
        let world = World::new();
        let result = run(&world, tool(), arguments).unwrap();
        assert!(world.asked.borrow().is_empty());
        let meta = meta(&result);
        assert_eq!((&meta["code"], &meta["stage"]), (&json!("VALIDATION_ERROR"), &json!("validate")));
        let message = format!(
            "Too many elements. You sent: array({sent}). Maximum number of elements: {greatest}, because the database accepts at most 100 \
             values in one statement."
        );
        assert_eq!(meta["issues"], json!([{ "field": field, "message": message }]));
    }
}

#[test]
fn a_nul_character_within_a_composed_text_is_refused() {
    let path = || vec![composed(vec![Piece::Text("$.".into()), piece("a")])];
    let world = World::new();
    let result = run(&world, tool_with(ParamStyle::Question, path()), json!({"a": "a\0b"})).unwrap();
    assert!(world.asked.borrow().is_empty());
    let message = "Invalid value. The statement cannot take a text with a NUL character here.";
    assert_eq!(meta(&result)["issues"], json!([{ "field": "a", "message": message }]));
    // A value of its own stays as it is, and in JSON the character has another form.
    assert_eq!(
        asked(tool_with(ParamStyle::Question, vec![composed(vec![piece("a")])]), json!({"a": "a\0b"})).1,
        [Value::Text("a\0b".into())]
    );
    assert_eq!(asked(tool_with(ParamStyle::Question, path()), json!({"a": ["\0"]})).1, [Value::Text("$.[\"\\u0000\"]".into())]);
}

#[test]
fn a_finished_text_is_used_as_it_is() {
    let mut tool = tool_with(ParamStyle::NumberedQuestion, vec![part("ignored "), bind("a", InputKind::Int), bind("b", InputKind::Int)]);
    if let Execute::Statement { statement, .. } = &mut tool.execute {
        statement.text = Some("SELECT ?1, ?2".into());
    }
    assert_eq!(asked(tool, json!({"b": 2})), ("SELECT ?1, ?2".into(), vec![Value::Null, Value::I64(2)]));
}

#[test]
fn composed_strings() {
    let alone = || vec![composed(vec![piece("a")])];
    let among = || vec![composed(vec![piece("a"), Piece::Text("/".into()), piece("b.c.1")])];
    let table = [
        (alone(), json!({}), Value::Null),
        (alone(), json!({"a": null}), Value::Null),
        (alone(), json!({"a": 12}), Value::Text("12".into())),
        (alone(), json!({"a": 1.5}), Value::Text("1.5".into())),
        (alone(), json!({"a": true}), Value::Text("true".into())),
        (alone(), json!({"a": [1, "x"]}), Value::Text("[1,\"x\"]".into())),
        (alone(), json!({"a": "'; --"}), Value::Text("'; --".into())),
        (among(), json!({}), Value::Text("/".into())),
        (among(), json!({"a": "{{ inputs.b }}", "b": {"c": [0, "z"]}}), Value::Text("{{ inputs.b }}/z".into())),
        (among(), json!({"a": "x", "b": {"c": 5}}), Value::Text("x/".into())),
    ];
    for (parts, arguments, expected) in table {
        assert_eq!(asked(tool_with(ParamStyle::Question, parts), arguments.clone()).1, [expected], "{arguments}");
    }
}

#[test]
fn choices_are_texts_of_the_build() {
    let options = vec![("id".into(), "\"id\"".into()), ("1".into(), "\"one\"".into())];
    let parts = || vec![part("ORDER BY "), Part::Choice { source: source(Root::Inputs, "a"), options: options.clone() }];
    for (value, expected) in [(json!("id"), "ORDER BY \"id\""), (json!(1), "ORDER BY \"one\"")] {
        assert_eq!(asked(tool_with(ParamStyle::Question, parts()), json!({ "a": value })).0, expected);
    }
    for value in [json!("id\" --"), json!("ID"), json!(null), json!(""), json!(["id"])] {
        let world = World::new();
        let result = run(&world, tool_with(ParamStyle::Question, parts()), json!({ "a": value })).unwrap();
        assert_eq!(meta(&result)["code"], json!("INVALID_CHOICE"), "{value}");
        assert!(world.asked.borrow().is_empty());
    }
}

#[test]
fn a_list_of_choices_is_texts_of_the_build() {
    let options = vec![("id".into(), "\"id\"".into()), ("a b".into(), "\"a b\"".into())];
    let parts = || vec![part("SELECT "), Part::ChoiceEach { source: source(Root::Inputs, "a"), options: options.clone() }, part(" FROM t")];
    for (value, expected) in [
        (json!(["id"]), "SELECT \"id\" FROM t"),
        (json!(["a b", "id"]), "SELECT \"a b\", \"id\" FROM t"),
        (json!(["id", "id", "a b", "id"]), "SELECT \"id\", \"a b\" FROM t"),
    ] {
        assert_eq!(asked(tool_with(ParamStyle::Question, parts()), json!({ "a": value })).0, expected);
    }
    for (value, code) in [
        (json!([]), "VALIDATION_ERROR"),
        (json!(null), "VALIDATION_ERROR"),
        (json!(["id", "b"]), "INVALID_CHOICE"),
        (json!(["id\" --"]), "INVALID_CHOICE"),
        (json!([["id"]]), "INVALID_CHOICE"),
    ] {
        let world = World::new();
        let result = run(&world, tool_with(ParamStyle::Question, parts()), json!({ "a": value })).unwrap();
        assert_eq!(meta(&result)["code"], json!(code), "{value}");
        assert!(world.asked.borrow().is_empty());
    }
}

#[test]
fn a_declared_read_is_one_for_all_but_the_database() {
    let world = World::new();
    let mut tool = tool_with(ParamStyle::Question, vec![part("SELECT 1")]);
    if let Execute::Statement { statement, .. } = &mut tool.execute {
        statement.access = Access::Declared;
    }
    assert!(tool.execute.access().is_some_and(Access::reads));
    run(&world, tool, json!({})).unwrap();
    assert_eq!(world.asked.borrow()[0].access, Access::Declared);
}

#[test]
fn textual_substitution_splices() {
    let parts = || vec![part("SELECT "), Part::Textual(source(Root::Inputs, "a"))];
    for (value, expected) in [(json!("x' OR 1"), "SELECT x' OR 1"), (json!(5), "SELECT 5"), (json!(null), "SELECT NULL")] {
        assert_eq!(asked(tool_with(ParamStyle::Question, parts()), json!({ "a": value })).0, expected);
    }
}

#[test]
fn ctx_and_auth_have_the_type_they_have() {
    let from = |root, path| Part::Bind(Bind::Value { source: source(root, path), kind: None });
    let parts = vec![
        from(Root::Auth, "subject"),
        from(Root::Auth, "claims.tenant"),
        from(Root::Auth, "claims.absent"),
        from(Root::Auth, "scopes"),
        Part::BindEach { source: source(Root::Auth, "scopes"), kind: None, empty: "x".into() },
        from(Root::Ctx, "request.id"),
        from(Root::Ctx, "env.LISTED"),
        from(Root::Ctx, "env.UNLISTED"),
    ];
    let world = World::new();
    world.set_env("LISTED", "yes");
    world.set_env("UNLISTED", "no");
    world.answer_script(Ok(Returned::Value(json!({"subject": "alice", "tenant": 7, "scopes": ["r", "w"]}))));
    let mut app = app(vec![Tool { auth: Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() }), ..query_tool(parts) }]);
    app.env = vec!["LISTED".into(), "UNSET".into()];
    let pipeline = Pipeline::new(std::rc::Rc::new(app), world.ports());
    call(&pipeline, json!({}), &With::default()).unwrap();
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(
        world.asked.borrow()[0].params,
        [
            text("alice"),
            Value::I64(7),
            Value::Null,
            Value::Json(json!(["r", "w"])),
            text("r"),
            text("w"),
            text("req-1"),
            text("yes"),
            Value::Null
        ]
    );
    assert_eq!(world.seen.borrow()[0].ctx["env"], json!({"LISTED": "yes"}));
}

#[test]
fn a_query_carries_its_limits() {
    let world = World::new();
    run(&world, select_tool(), json!({})).unwrap();
    let asked = world.asked.borrow()[0].clone();
    assert_eq!((asked.deadline_ms, asked.max_rows, asked.access), (NOW_MS + 2_000, 100, Access::Read));

    let with = With { deadline_ms: Some(NOW_MS + 50), ..With::default() };
    call(&pipeline(&world, select_tool()), json!({}), &with).unwrap();
    assert_eq!(world.asked.borrow()[1].deadline_ms, NOW_MS + 50);
}

#[test]
fn a_handler_gets_inputs_and_ctx_and_gives_the_inputs_back() {
    let world = World::new();
    let tool = Tool { inputs: vec![input("n", InputKind::Int)], ..script_tool() };
    run(&world, tool, json!({"n": "5"})).unwrap();
    let seen = world.seen.borrow()[0].clone();
    assert_eq!((seen.path.as_str(), seen.export.as_str(), seen.deadline_ms), ("handler.ts", "default", NOW_MS + 5_000));
    assert_eq!(seen.payload.to_string(), r#"{"inputs":{"n":5},"tool":"t"}"#);
    let request =
        r#"{"id":"req-1","method":"tools/call","headers":{},"protocol":"2026-07-28","capabilities":[],"path":"/mcp","peer":"192.0.2.1"}"#;
    assert_eq!(seen.ctx.to_string(), format!(r#"{{"request":{request},"env":{{}}}}"#));
}
