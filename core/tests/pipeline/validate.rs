//! Stage *validate*: the wire form of every problem.

use millrace_core::app::{Input, InputKind, Literal, Pattern, Tool};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn optional(name: &str, kind: InputKind) -> Input {
    Input { optional: true, ..input(name, kind) }
}

fn allowed(values: &[Json]) -> Vec<Literal> {
    values.iter().cloned().map(Literal).collect()
}

/// What the handler got, or the problems as `field: message`.
fn outcome(inputs: Vec<Input>, arguments: Json) -> Result<Json, Vec<String>> {
    let world = World::new();
    let result = run(&world, Tool { inputs, ..script_tool() }, arguments).unwrap();
    if !result.is_error {
        return Ok(world.seen.borrow()[0].payload["inputs"].clone());
    }
    assert!(world.seen.borrow().is_empty(), "the handler ran with inputs that are not valid");
    let issues = meta(&result)["issues"].as_array().unwrap();
    Err(issues.iter().map(|issue| format!("{}: {}", issue["field"].as_str().unwrap(), issue["message"].as_str().unwrap())).collect())
}

fn problem(input: Input, value: Json) -> String {
    let name = input.name.clone();
    let mut problems = outcome(vec![input], json!({ name: value })).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

#[test]
fn the_envelope_is_exact() {
    let inputs = vec![
        input("user_id", InputKind::Int),
        Input { allowed: allowed(&[json!("json"), json!("toon")]), ..optional("format", InputKind::String) },
    ];
    let result = run(&World::new(), Tool { inputs, ..script_tool() }, json!({"format": "xml"})).unwrap();
    let expected = "!<validation_error action=\"t\">\n\
                    <field name=\"user_id\">Required. You sent: (missing). Expected type: int.</field>\n\
                    <field name=\"format\">Invalid value. You sent: 'xml'. Valid options: 'json', 'toon'.</field>\n\
                    <recovery>Fix the fields above and call the tool again. Do not explain the error.</recovery>\n\
                    </validation_error>";
    assert_eq!(text(&result), expected);
}

#[test]
fn one_problem_each() {
    use InputKind::{Array, Boolean, Date, Datetime, Float, Int, Object, String as Text, Uuid};
    let small = |kind| Input { min: Some(2.0), max: Some(3.5), ..input("x", kind) };
    let table = [
        (input("x", Int), json!(null), "x: Required. You sent: null. Expected type: int."),
        (input("x", Int), json!("abc"), "x: Invalid type. You sent: 'abc'. Expected type: int."),
        (input("x", Int), json!([1, 2]), "x: Invalid type. You sent: array(2). Expected type: int."),
        (input("x", Int), json!({"a": 1}), "x: Invalid type. You sent: {\"a\":1}. Expected type: int."),
        (input("x", Int), json!(true), "x: Invalid type. You sent: true. Expected type: int."),
        (input("x", Int), json!(3.9), "x: Not a whole number. You sent: 3.9. Expected type: int."),
        (
            input("x", Int),
            json!(9_007_199_254_740_993_i64),
            "x: Too large to be exact. You sent: 9007199254740993. Expected type: int. Send an integer beyond 9007199254740992 as a string.",
        ),
        (
            input("x", Int),
            json!("9223372036854775808"),
            "x: Out of range. You sent: '9223372036854775808'. Expected type: int. It must fit in 64 bits.",
        ),
        (input("x", Float), json!("NaN"), "x: Invalid type. You sent: 'NaN'. Expected type: float."),
        (input("x", Boolean), json!(2), "x: Invalid type. You sent: 2. Expected type: boolean."),
        (input("x", Text), json!(5), "x: Invalid type. You sent: 5. Expected type: string."),
        (
            input("x", Datetime),
            json!("2026-01-02T03:04"),
            "x: Invalid value. You sent: '2026-01-02T03:04'. Expected type: datetime. Write it as RFC 3339, YYYY-MM-DD or YYYY-MM-DD HH:MM:SS.",
        ),
        (input("x", Date), json!("2026-02-30"), "x: Invalid value. You sent: '2026-02-30'. Expected type: date. Write it as YYYY-MM-DD."),
        (
            input("x", Uuid),
            json!("no"),
            "x: Invalid value. You sent: 'no'. Expected type: uuid. Write it as 8-4-4-4-12 hexadecimal digits.",
        ),
        (input("x", Array), json!("[1"), "x: Invalid type. You sent: '[1'. Expected type: array. Send a JSON array."),
        (input("x", Array), json!("{}"), "x: Invalid type. You sent: '{}'. Expected type: array. Send a JSON array."),
        (input("x", Object), json!("a"), "x: Invalid type. You sent: 'a'. Expected type: object. Send a JSON object."),
        (input("x", Object), json!([]), "x: Invalid type. You sent: array(0). Expected type: object."),
        (small(Int), json!(1), "x: Too small. You sent: 1. Minimum value: 2."),
        (small(Float), json!(3.6), "x: Too large. You sent: 3.6. Maximum value: 3.5."),
        (small(Text), json!("ß"), "x: Too short. You sent: 'ß'. Minimum length: 2."),
        (small(Text), json!("ßßßß"), "x: Too long. You sent: 'ßßßß'. Maximum length: 3.5."),
        (small(Array), json!([1]), "x: Too few elements. You sent: array(1). Minimum number of elements: 2."),
        (small(Array), json!([1, 2, 3, 4]), "x: Too many elements. You sent: array(4). Maximum number of elements: 3.5."),
        (
            Input { pattern: Pattern::parse("^inv_[a-z0-9]+$").ok(), ..input("x", Text) },
            json!("INV_1"),
            "x: Invalid value. You sent: 'INV_1'. Expected pattern: ^inv_[a-z0-9]+$",
        ),
        (
            Input { format: Some("email".into()), ..input("x", Text) },
            json!("a@"),
            "x: Invalid value. You sent: 'a@'. Expected format: email.",
        ),
        (
            Input { allowed: allowed(&[json!(1), json!(2)]), ..input("x", Int) },
            json!(3),
            "x: Invalid value. You sent: 3. Valid options: 1, 2.",
        ),
        (Input { allowed: allowed(&[json!("A")]), ..input("x", Text) }, json!("a"), "x: Invalid value. You sent: 'a'. Valid options: 'A'."),
    ];
    for (input, value, expected) in table {
        assert_eq!(problem(input, value), expected);
    }
}

#[test]
fn values_that_pass() {
    use InputKind::{Array, Int, Object, String as Text};
    let table = [
        (input("x", Int), json!("42"), json!({"x": 42})),
        (input("x", Int), json!("9223372036854775807"), json!({"x": i64::MAX})),
        (Input { nullable: true, ..input("x", Int) }, json!(null), json!({"x": null})),
        (Input { nullable: true, default: Some(Literal(json!(7))), ..optional("x", Int) }, json!(null), json!({"x": null})),
        (optional("x", Int), json!(null), json!({})),
        (Input { default: Some(Literal(json!(7))), ..input("x", Int) }, json!(null), json!({"x": 7})),
        (Input { allowed: allowed(&[json!(1)]), ..input("x", Int) }, json!("1"), json!({"x": 1})),
        (Input { nullable: true, allowed: allowed(&[json!(1)]), ..input("x", Int) }, json!(null), json!({"x": null})),
        (Input { min: Some(1.0), max: Some(1.0), ..input("x", Text) }, json!("😀"), json!({"x": "😀"})),
        (Input { format: Some("made-up".into()), ..input("x", Text) }, json!(""), json!({"x": ""})),
        (input("x", Object), json!({"anything": [null]}), json!({"x": {"anything": [null]}})),
        (input("x", Array), json!([1, null, "a"]), json!({"x": [1, null, "a"]})),
        (input("x", InputKind::Json), json!(3.9), json!({"x": 3.9})),
    ];
    for (input, value, expected) in table {
        assert_eq!(outcome(vec![input], json!({ "x": value })), Ok(expected), "{value}");
    }
    let inputs = vec![Input { default: Some(Literal(json!(20))), ..optional("limit", Int) }, optional("q", Text), input("id", Int)];
    assert_eq!(outcome(inputs, json!({"id": 1})).map(|inputs| inputs.to_string()), Ok(r#"{"limit":20,"id":1}"#.into()));
}

#[test]
fn lists_and_objects_may_be_text() {
    use InputKind::{Array, Int, Object, String as Text};
    let of = |items: Input| Input { items: Some(Box::new(items)), ..input("x", Array) };
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let table = [
        (of(input("", Int)), json!("[1, \"2\"]"), Ok(json!([1, 2]))),
        (of(of(input("", Int))), json!(["[1]", [2], "[\"3\"]"]), Ok(json!([[1], [2], [3]]))),
        (of(input("", Text)), json!("[\"[1]\", \"{}\"]"), Ok(json!(["[1]", "{}"]))),
        (of(input("", InputKind::Json)), json!("[\"[1]\"]"), Ok(json!(["[1]"]))),
        (input("x", InputKind::Json), json!("[1]"), Ok(json!("[1]"))),
        (input("x", Text), json!("[1]"), Ok(json!("[1]"))),
        (input("x", Object), json!("{\"a\": \"{}\"}"), Ok(json!({"a": "{}"}))),
        (Input { fields: vec![of(input("", Int))], ..input("o", Object) }, json!("{\"x\": \"[1]\"}"), Ok(json!({"x": [1]}))),
        (Input { nullable: true, ..input("x", Array) }, json!("null"), Err("x: Invalid type. You sent: 'null'.")),
        (of(input("", Int)), json!("[\"a\"]"), Err("x[0]: Invalid type. You sent: 'a'. Expected type: int.")),
        (input("x", Array), json!("[9007199254740993]"), Err("x[0]: Too large to be exact.")),
        (Input { max: Some(1.0), ..input("x", Array) }, json!("[1,2]"), Err("x: Too many elements.")),
        (input("x", Object), json!("{\"a\":1,\"a\":2}"), Err("x: Invalid type.")),
        (input("x", Array), json!("[1] x"), Err("x: Invalid type.")),
        // As deep as it could have been without quotes: in a message, its `params` and its
        // `arguments`.
        (input("x", Array), json!(nested(124)), serde_json::from_str(&nested(124)).map_err(|_| "")),
        (input("x", Array), json!(nested(125)), Err("x: Invalid type.")),
        (of(input("", Array)), json!([nested(124)]), Err("x[0]: Invalid type.")),
    ];
    for (input, sent, expected) in table {
        let name = input.name.clone();
        let found = outcome(vec![input], json!({ &name: sent }));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, json!({ name: expected }), "{sent}"),
            (Err(problems), Err(start)) => assert!(problems[0].starts_with(start), "{sent}: {problems:?}"),
            (found, _) => panic!("{sent}: {found:?}"),
        }
    }

    let schema = r#"{"type":"object","properties":{"x":{"type":"array","items":{"type":"integer"}},"y":{"type":["array","string"]}}}"#;
    let by_schema = |arguments: Json| {
        let world = World::new();
        let result = run(&world, Tool { input_schema: Some(schema.into()), ..script_tool() }, arguments).unwrap();
        if result.is_error {
            Err(meta(&result)["issues"][0]["message"].clone())
        } else {
            Ok(world.seen.borrow()[0].payload["inputs"].clone())
        }
    };
    assert_eq!(by_schema(json!({"x": "[1,2]", "y": "[1]"})), Ok(json!({"x": [1, 2], "y": "[1]"})));
    assert_eq!(by_schema(json!({"x": "[\"a\"]"})), Err(json!("It must be of type integer.")));
    assert_eq!(by_schema(json!({"x": "[1"})), Err(json!("It must be of type array.")));
    assert_eq!(by_schema(json!({"x": nested(125)})), Err(json!("It must be of type array.")));
}

#[test]
fn nested_paths_and_undeclared_fields() {
    let zip = Input { pattern: Pattern::parse("^[0-9]{5}$").ok(), ..input("zip", InputKind::String) };
    let address = Input { fields: vec![zip, optional("city", InputKind::String)], ..input("", InputKind::Object) };
    let user = Input {
        fields: vec![
            input("name", InputKind::String),
            Input { items: Some(Box::new(address)), ..input("addresses", InputKind::Array) },
            Input { items: Some(Box::new(input("", InputKind::Int))), ..optional("scores", InputKind::Array) },
        ],
        ..input("user", InputKind::Object)
    };
    let arguments = json!({
        "zz": 1, "aa": 2,
        "user": {
            "extra": true,
            "addresses": [{"zip": "12345"}, {"zip": "1", "town": "x"}, {"city": 5}, 7],
            "scores": ["1", null, "x"]
        }
    });
    assert_eq!(
        outcome(vec![user.clone(), optional("n", InputKind::Int)], arguments).unwrap_err(),
        [
            "user.name: Required. You sent: (missing). Expected type: string.",
            "user.addresses[1].zip: Invalid value. You sent: '1'. Expected pattern: ^[0-9]{5}$",
            "user.addresses[2].zip: Required. You sent: (missing). Expected type: string.",
            "user.addresses[2].city: Invalid type. You sent: 5. Expected type: string.",
            "user.addresses[3]: Invalid type. You sent: 7. Expected type: object.",
            "user.scores[1]: Invalid type. You sent: null. Expected type: int.",
            "user.scores[2]: Invalid type. You sent: 'x'. Expected type: int.",
            "(root): Unknown fields: 'aa', 'user.addresses[1].town', 'user.extra', 'zz'. Allowed fields: 'user', 'n'.",
        ]
    );
    let good = json!({"user": {"name": "a", "addresses": [{"city": "c", "zip": "12345"}], "scores": ["1"]}});
    let expected = r#"{"user":{"name":"a","addresses":[{"zip":"12345","city":"c"}],"scores":[1]}}"#;
    assert_eq!(outcome(vec![user], good).unwrap().to_string(), expected);
    assert_eq!(outcome(vec![], json!({"a": 1})).unwrap_err(), ["(root): Unknown fields: 'a'. Allowed fields: (none)."]);
}

#[test]
fn hostile_inputs_make_short_answers() {
    let list = Input { items: Some(Box::new(input("", InputKind::Int))), ..input("x", InputKind::Array) };
    let problems = outcome(vec![list], json!({ "x": vec!["no"; 100_000] })).unwrap_err();
    assert_eq!(problems.len(), 51);
    assert_eq!(problems[50], "(root): 99950 more problems of this kind are not listed.");

    let many: serde_json::Map<String, Json> = (0..10_000).map(|n| (format!("{n:05}{}\n", "k".repeat(500)), json!(1))).collect();
    let problems = outcome(vec![], Json::Object(many)).unwrap_err();
    assert!(problems.len() == 1 && problems[0].len() < 5_000 && problems[0].contains(" and 9950 more."), "{}", problems[0].len());
    assert!(!problems[0].contains('\n'));

    let result = run(&World::new(), script_tool(), json!({"</field><x y='\"&": 1})).unwrap();
    assert!(text(&result).contains("Unknown fields: '\\u003c/field\\u003e\\u003cx y='\"&amp;'. Allowed"));
}

#[test]
fn what_the_mapper_returns_is_validated() {
    let world = World::new();
    *world.on_script.borrow_mut() = Some(Box::new(|seen| {
        assert_eq!(seen.payload, json!({"inputs": {"raw": 1}, "tool": "t"}));
        Some(Ok(millrace_core::ports::Returned::Value(json!({"id": "x"}))))
    }));
    let tool = Tool { inputs: vec![input("id", InputKind::Int)], map_input: Some(script(MAP_INPUT)), ..select_tool() };
    let result = run(&world, tool, json!({"raw": 1})).unwrap();
    assert_eq!(meta(&result)["message"], json!("The input mapper returned inputs that the tool does not take: `id`."));
}

#[test]
fn an_integer_that_is_not_exact_is_refused_wherever_it_stands() {
    let hint = "Send an integer beyond 9007199254740992 as a string.";
    let told =
        |path: &str, sent: &str, kind: &str| format!("{path}: Too large to be exact. You sent: {sent}. Expected type: {kind}. {hint}");
    let table = [
        (InputKind::Json, json!(9_007_199_254_740_993_i64), vec![told("x", "9007199254740993", "json")]),
        (InputKind::Json, json!({"a": [1, -9_007_199_254_740_993_i64]}), vec![told("x.a[1]", "-9007199254740993", "json")]),
        (
            InputKind::Array,
            json!([u64::MAX, 1, i64::MIN]),
            vec![told("x[0]", "18446744073709551615", "json"), told("x[2]", "-9223372036854775808", "json")],
        ),
        (InputKind::Object, json!({"a": {"b": [[i64::MAX]]}}), vec![told("x.a.b[0][0]", "9223372036854775807", "json")]),
    ];
    for (kind, value, expected) in table {
        assert_eq!(outcome(vec![input("x", kind)], json!({ "x": value })), Err(expected), "{value}");
    }
    let exact = json!({"x": [9_007_199_254_740_992_i64, -9_007_199_254_740_992_i64, 1e300, 0.1, "9007199254740993"]});
    assert_eq!(outcome(vec![input("x", InputKind::Json)], exact.clone()), Ok(exact));
    let inner = Input { fields: vec![input("id", InputKind::Json)], ..input("x", InputKind::Object) };
    assert_eq!(outcome(vec![inner], json!({"x": {"id": u64::MAX}})), Err(vec![told("x.id", "18446744073709551615", "json")]));

    let tool = Tool { input_schema: Some("{}".into()), ..script_tool() };
    let result = run(&World::new(), tool, json!({"a": [u64::MAX]})).unwrap();
    assert_eq!(meta(&result)["issues"][0]["field"], json!("a[0]"));
}
