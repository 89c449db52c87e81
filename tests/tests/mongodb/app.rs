//! A tool on MongoDB, from the app's files to the answer.

use millrace_core::{ErrorKind, Json, value::Value};
use millrace_tests::{
    database::runtime,
    docs::{blocks, connector_text},
    mongodb,
};
use serde_json::json;

use super::support::{self, open, run};
use crate::in_process::{call, endpoint_in, endpoint_of, text};
use millrace_tests::files::write;

const TYPED: &str = "inputs:\n  i: { type: int, optional: true }\n  f: { type: float, optional: true }\n  b: { type: boolean, optional: true }\n  \
                     t: { type: datetime, optional: true }\n  d: { type: date, optional: true }\n  u: { type: uuid, optional: true }\n  \
                     s: { type: string, optional: true }\n  o: { type: object, optional: true }\n  j: { type: json, optional: true }\n  \
                     list: { type: array, optional: true, items: { type: int } }\n  times: { type: array, optional: true, items: { type: datetime } }\n  \
                     docs: { type: array, optional: true, items: { type: object } }\n";

/// A document with a value of each type.
fn put() -> String {
    json!({"insert": "things", "documents": [{
        "_id": "{{ inputs.s }}", "i": "{{ inputs.i }}", "f": "{{ inputs.f }}", "b": "{{ inputs.b }}", "t": "{{ inputs.t }}", "d": "{{ inputs.d }}",
        "u": {"$uuid": "{{ inputs.u }}"}, "o": "{{ inputs.o }}", "j": "{{ inputs.j }}", "list": "{{ inputs.list }}", "times": "{{ inputs.times }}",
        "composed": "<{{ inputs.s }}|{{ inputs.i }}>", "fixed": {"n": 1, "x": 1.5, "big": {"$numberLong": "9007199254740993"}, "none": null},
    }]})
    .to_string()
}

#[test]
fn inputs_have_their_types() {
    let server = mongodb::start(&[]);
    let adapter = format!("connector: mongodb\nconnection_string: {}\n", server.url());
    let find = json!({"find": "things", "filter": {"_id": "{{ inputs.s }}"}}).to_string();
    let (endpoint, _folder) = endpoint_of(&adapter, &[("put", put(), TYPED), ("get", find, TYPED)]);
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let given = json!({
            "s": "k", "i": 9_007_199_254_740_991_i64, "f": 7, "b": true, "t": "2026-01-02T03:04:05.123Z", "d": "2026-01-02",
            "u": "00112233-4455-6677-8899-aabbccddeeff", "o": {"a": {"b": [1, "x", null]}}, "j": [true], "list": [1, 2],
            "times": ["2026-01-02T03:04:05Z"],
        });
        assert_eq!(text(&call(&endpoint, "put", given).await), r#"[{"_id":"k"}]"#);
        let sent = server.commands().pop().unwrap();
        let document = &sent["documents"][0];
        for (key, expected) in [
            ("i", json!(9_007_199_254_740_991_i64)),
            ("f", json!(7.0)),
            ("t", json!({"$date": "2026-01-02T03:04:05.123Z"})),
            ("d", json!({"$date": "2026-01-02T00:00:00Z"})),
            ("times", json!([{"$date": "2026-01-02T03:04:05Z"}])),
            ("o", json!({"a": {"b": [1, "x", null]}})),
            ("composed", json!("<k|9007199254740991>")),
            ("fixed", json!({"n": 1, "x": 1.5, "big": 9_007_199_254_740_993_i64, "none": null})),
        ] {
            assert_eq!(document[key], expected, "{key}: {document}");
        }
        assert!(document["u"].to_string().contains("ABEiM0RVZneImaq7zN3u/w=="), "{}", document["u"]);
        assert!(sent["maxTimeMS"].as_i64().is_some_and(|ms| (1..=60_000).contains(&ms)), "{sent}");
        let expected = r#"[{"_id":"k","i":9007199254740991,"f":7.0,"b":true,"t":"2026-01-02T03:04:05.123Z","d":"2026-01-02T00:00:00.000Z","u":"00112233-4455-6677-8899-aabbccddeeff","o":{"a":{"b":[1,"x",null]}},"j":[true],"list":[1,2],"times":["2026-01-02T03:04:05.000Z"],"composed":"<k|9007199254740991>","fixed":{"n":1,"x":1.5,"big":"9007199254740993","none":null}}]"#;
        assert_eq!(text(&call(&endpoint, "get", json!({"s": "k"})).await), expected);
        // What is not given is null.
        assert_eq!(text(&call(&endpoint, "put", json!({"s": "empty"})).await), r#"[{"_id":"empty"}]"#);
        let document = &server.commands().pop().unwrap()["documents"][0];
        assert!(["i", "t", "u", "o", "list"].iter().all(|key| document[key].is_null()), "{document}");
        assert_eq!(text(&call(&endpoint, "get", json!({"s": "none"})).await), "[]");
    });
}

#[test]
fn a_value_brings_no_operator() {
    let server = mongodb::start(&[]);
    let adapter = format!("connector: mongodb\nconnection_string: {}\n", server.url());
    let tools = [
        ("find", json!({"find": "u", "filter": {"a": "{{ inputs.o }}", "b": {"$in": "{{ inputs.docs }}"}}})),
        ("any", json!({"find": "u", "filter": {"a": "{{ inputs.j }}"}})),
        ("insert", json!({"insert": "u", "documents": ["{{ inputs.o }}"]})),
        ("many", json!({"insert": "u", "documents": "{{ inputs.docs }}"})),
        ("change", json!({"update": "u", "updates": [{"q": {"_id": 1}, "u": {"$set": "{{ inputs.o }}"}}]})),
        ("stages", json!({"update": "u", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"a": "{{ inputs.o }}"}}]}]})),
        ("project", json!({"aggregate": "u", "pipeline": [{"$project": {"x": "{{ inputs.o }}"}}]})),
        ("id", json!({"delete": "u", "deletes": [{"q": {"_id": {"$oid": "{{ inputs.s }}"}}, "limit": 1}]})),
    ];
    let tools: Vec<_> = tools.into_iter().map(|(name, document)| (name, document.to_string(), TYPED)).collect();
    let (endpoint, _folder) = endpoint_of(&adapter, &tools);
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let operators = [
            json!({"$ne": null}),
            json!({"$gt": ""}),
            json!({"$where": "sleep(1000)"}),
            json!({"a": {"$regex": ".*"}}),
            json!({"a": [[{"b": {"$expr": 1}}]]}),
            json!({"": {"$": 1}}),
        ];
        let mut refused = 0;
        for operator in &operators {
            for (tool, field, given) in [
                ("find", "o", json!({"o": operator})),
                ("find", "docs", json!({"docs": [{"ok": 1}, operator]})),
                ("any", "j", json!({"j": operator})),
                ("any", "j", json!({"j": [[operator]]})),
                ("insert", "o", json!({"o": operator})),
                ("many", "docs", json!({"docs": [operator]})),
                ("change", "o", json!({"o": operator})),
                ("project", "o", json!({"o": operator})),
            ] {
                let result = call(&endpoint, tool, given).await;
                let message = text(&result);
                let expected = format!("<field name=\"{field}\">Invalid value. An object has the key `$");
                assert!(result.is_error && message.contains(&expected), "{tool} {operator}: {message}");
                refused += 1;
            }
        }
        println!("{refused} operators refused");
        for (tool, given, expected) in [
            ("insert", json!({"o": {"a.b": 1}}), "An object has the key `a.b`, and no key of what is stored may contain a `.`."),
            ("change", json!({"o": {"a": {"b.c": 1}}}), "no key of what is stored may contain a `.`."),
            ("insert", json!({"o": {"a\0": 1}}), "a key with a NUL character"),
            (
                "stages",
                json!({"o": {"x.y": 1}}),
                "<field name=\"o\">Invalid value. An object has the key `x.y`, and no key of what is stored",
            ),
            ("id", json!({"s": "nope"}), "<field name=\"s\">Invalid value. An identifier of MongoDB has 24 hexadecimal digits."),
        ] {
            let result = call(&endpoint, tool, given).await;
            assert!(result.is_error && text(&result).contains(expected), "{tool}: {}", text(&result));
        }
        assert!(server.commands().is_empty(), "nothing was sent: {:?}", server.commands());
        // A text that names a field or a variable is a text.
        assert_eq!(text(&call(&endpoint, "insert", json!({"o": {"_id": 1, "secret": "s", "a": "$secret"}})).await), r#"[{"_id":1}]"#);
        assert_eq!(text(&call(&endpoint, "any", json!({"j": "$secret"})).await), r#"[{"_id":1,"secret":"s","a":"$secret"}]"#);
    });
}

#[test]
fn results_are_rows() {
    let server = mongodb::start(&[]);
    let database = open(&server);
    let awkward = json!([
        {"_id": {"$oid": "65a000000000000000000001"}, "v": {"$numberLong": "9223372036854775807"}},
        {"_id": 2, "v": {"$numberLong": "-9223372036854775808"}, "w": [{"$numberLong": "9007199254740993"}, {"$oid": "65a000000000000000000002"}]},
        {"_id": 3, "v": {"$numberDecimal": "1.50"}, "w": {"d": {"$numberDecimal": "12345678901234567890.10"}}},
        {"_id": 4, "v": {"$binary": {"base64": "AP8=", "subType": "00"}}, "w": [{"$date": "2026-01-02T03:04:05.123456Z"}]},
        {"_id": 5, "v": {"$numberDouble": "NaN"}, "w": [{"$numberDouble": "-Infinity"}]},
        {"_id": 6, "v": {"$regularExpression": {"pattern": "^a", "options": "i"}}, "w": {"$timestamp": {"t": 7, "i": 1}}},
        {"_id": 7, "v": {"$minKey": 1}, "w": {"$maxKey": 1}},
        {"_id": 8, "v": "o'neil; --\\\t\u{1f600}\u{0}", "w": ""},
        {"_id": 9, "v": 1.0, "w": true},
        {"_id": 10, "v": {"$date": "-0001-01-01"}},
    ]);
    let last = json!({"$date": {"$numberLong": "-62198755200000"}});
    let mut documents = awkward;
    documents[9]["v"] = last;
    let inserted = support::json(&database, &json!({"insert": "v", "documents": documents}));
    assert!(inserted.starts_with(r#"[{"_id":"65a000000000000000000001"},{"_id":2}"#), "{inserted}");
    let found = run(&database, &json!({"find": "v", "filter": {}})).unwrap();
    assert_eq!(found.columns.iter().map(String::as_str).collect::<Vec<_>>(), ["_id", "v", "w"]);
    let found: Json = serde_json::to_value(found.json()).unwrap();
    let expected = json!([
        {"_id": "65a000000000000000000001", "v": "9223372036854775807", "w": null},
        {"_id": 2, "v": "-9223372036854775808", "w": ["9007199254740993", "65a000000000000000000002"]},
        {"_id": 3, "v": "1.50", "w": {"d": "12345678901234567890.10"}},
        {"_id": 4, "v": "AP8=", "w": ["2026-01-02T03:04:05.123Z"]},
        {"_id": 5, "v": null, "w": [null]},
        {"_id": 6, "v": "/^a/i", "w": {"t": 7, "i": 1}},
        {"_id": 7, "v": "MinKey", "w": "MaxKey"},
        {"_id": 8, "v": "o'neil; --\\\t\u{1f600}\u{0}", "w": ""},
        {"_id": 9, "v": 1.0, "w": true},
        {"_id": 10, "v": "-000001-01-01T00:00:00.000Z", "w": null},
    ]);
    assert_eq!(found, expected);

    for (document, expected) in [
        (json!({"count": "v", "query": {"_id": {"$gt": 8}}}), r#"[{"count":2}]"#),
        (json!({"distinct": "v", "key": "_id", "query": {"_id": {"$in": [2, 3]}}}), r#"[{"value":2},{"value":3}]"#),
        (json!({"find": "none"}), "[]"),
        (json!({"find": "v", "filter": {"_id": 9}, "projection": {"_id": 0, "w": 1}}), r#"[{"w":true}]"#),
        (
            json!({"find": "v", "filter": {"_id": {"$in": [2, 9]}}, "sort": {"_id": -1}, "limit": 1, "projection": {"_id": 1}}),
            r#"[{"_id":9}]"#,
        ),
        (json!({"aggregate": "v", "pipeline": [{"$match": {"_id": 9}}, {"$project": {"x": "$w"}}]}), r#"[{"_id":9,"x":true}]"#),
        (json!({"update": "v", "updates": [{"q": {"_id": 9}, "u": {"$set": {"w": false}}}]}), r#"{"affected_rows":1}"#),
        (json!({"update": "v", "updates": [{"q": {"_id": 99}, "u": {"$set": {"w": 1}}}]}), r#"{"affected_rows":0}"#),
        (
            json!({"update": "v", "updates": [{"q": {"_id": 99}, "u": {"$set": {"w": 1}}, "upsert": true}]}),
            r#"[{"affected_rows":1,"upserted_ids":[99]}]"#,
        ),
        (
            json!({"update": "v", "updates": [{"q": {"_id": 99}, "u": {"$set": {"w": 2}}, "upsert": true}]}),
            r#"[{"affected_rows":1,"upserted_ids":[]}]"#,
        ),
        (json!({"delete": "v", "deletes": [{"q": {"_id": {"$gte": 9}}, "limit": 0}]}), r#"{"affected_rows":3}"#),
    ] {
        assert_eq!(support::json(&database, &document), expected, "{document}");
    }
    // A document without an identifier gets one, which the result has.
    let inserted = run(&database, &json!({"insert": "v", "documents": [{"a": 1}]})).unwrap();
    assert_eq!(inserted.affected, 1);
    let Value::Text(id) = &inserted.rows[0][0] else { panic!("{inserted:?}") };
    let by_id = json!({"find": "v", "filter": {"_id": {"$oid": id}}, "projection": {"_id": 0, "a": 1}});
    assert_eq!(support::json(&database, &by_id), r#"[{"a":1}]"#);
}

#[test]
fn what_is_wrong_is_said_when_the_app_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| write(folder.path(), file, text);
    write("millrace.yaml", "name: far\n");
    write("app/adapters/far.yaml", "connector: mongodb\nconnection_string: mongodb://localhost/shop\noptions: { allow: [$match, KEYS] }\n");
    write("app/adapters/sql.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n");
    let inputs = "inputs: { s: { type: string }, o: { type: object }, list: { type: array, items: { type: string } }, docs: { type: array, items: { type: object } } }\n";
    let tool = |name: &str, adapter: &str, statement: &str| {
        write(&format!("app/tools/{name}/config.yaml"), &format!("description: x\nuse: {adapter}\n{inputs}statement:{statement}\n"));
    };
    tool("a", "far", " SELECT 1");
    tool("b", "sql", "\n  find: users");
    tool("c", "far", "\n  find: users\n  filtr: { a: 1 }\n  filter:\n    a: \"{{ inputs.nosuch }}\"\n    $where: \"1\"");
    tool("d", "far", "\n  find: \"{{ inputs.s }}\"");
    tool("e", "far", "\n  aggregate: users\n  pipeline:\n    - $match: { a: 1 }\n    - $out: copy\n    - $nosuch: 1");
    tool(
        "f",
        "far",
        "\n  find: users\n  filter:\n    \"{{ inputs.s }}\": 1\n    a: \"{{ inputs.s | ident }}\"\n    b: \"x {{ inputs.list }}\"",
    );
    tool("g", "far", "\n  aggregate: users\n  pipeline:\n    - $project: { a: \"${{ inputs.s }}\" }");
    tool("h", "far", "\n  update: users\n  updates:\n    - q: { a: 1 }\n      u: { $rename: { a: \"{{ inputs.s }}\" } }\n  tail: 1");
    tool("i", "far", "\n  aggregate: users\n  pipeline:\n    - $geoNear: { near: [\"{{ inputs.s }}\"], key: at }");
    tool("j", "far", "\n  find: users\n  filter: { a: {{ inputs.s }} }");
    // Conditions, orders, searches and code are the author's.
    for (name, statement) in [
        ("l", "\n  delete: users\n  deletes:\n    - { q: { $or: \"{{ inputs.docs }}\" }, limit: 0 }"),
        ("m", "\n  delete: users\n  deletes:\n    - { q: { $and: [\"{{ inputs.o }}\"] }, limit: 0 }"),
        ("n", "\n  find: users\n  filter: { a: { $elemMatch: \"{{ inputs.o }}\" } }"),
        ("o", "\n  find: users\n  sort: \"{{ inputs.o }}\""),
        ("p", "\n  find: users\n  sort: { a: \"{{ inputs.o }}\" }"),
        ("q", "\n  update: users\n  updates:\n    - { q: { a: 1 }, u: { $pull: { a: \"{{ inputs.o }}\" } } }"),
        ("r", "\n  aggregate: users\n  pipeline:\n    - $search: { compound: \"{{ inputs.o }}\" }"),
        ("s", "\n  aggregate: users\n  pipeline:\n    - $search: { compound: { must: \"{{ inputs.docs }}\" } }"),
    ] {
        tool(name, "far", statement);
    }
    write("app/adapters/code.yaml", "connector: mongodb\nconnection_string: mongodb://a/b\noptions: { allow: [$where, $function] }\n");
    tool("t", "code", "\n  find: users\n  filter: { $where: \"this.name == '{{ inputs.s }}'\" }");
    tool("u", "code", "\n  find: users\n  filter: { $expr: { $function: { body: \"return '{{ inputs.s }}'\", args: [], lang: js } } }");
    tool("v", "code", "\n  find: users\n  filter: { $expr: { $function: { body: \"f\", args: [\"{{ inputs.s }}\"], lang: js } } }");
    let key = "idempotency: { key: \"{{ inputs.s }}\" }\n";
    tool("k", "far", &format!("\n  insert: users\n  documents: [{{ a: 1 }}]\n{key}"));
    write("app/adapters/tenants.yaml", "connector: mongodb\nconnection_string: mongodb://a/b\ntenant: { claim: org, column: org }\n");
    let session = "session: { settings: { app.tenant: \"{{ auth.claims.org }}\" } }\n";
    write("app/adapters/session.yaml", &format!("connector: mongodb\nconnection_string: mongodb://a/b\n{session}"));
    let connectors = ["mongodb", "sqlite"].map(str::to_owned).to_vec();
    let options = millrace_bundler::Options { connectors, ..Default::default() };
    let diagnostics = millrace_bundler::bundle(folder.path(), &options).diagnostics;
    let told: Vec<String> =
        diagnostics.iter().map(|found| format!("{}:{}:{} {}", found.file.display(), found.line, found.column, found.message)).collect();
    for expected in [
        "app/adapters/far.yaml:3:20 the stage `$match` needs no permission",
        "app/adapters/far.yaml:3:28 `KEYS` is not the name of a stage or an operator",
        "app/tools/a/config.yaml:4:12 the adapter `far` takes a document, and this is text",
        "app/tools/b/config.yaml:5:3 the adapter `sql` takes a statement as text, and this is a map",
        "app/tools/c/config.yaml:6:3 `find` has no field `filtr`",
        "app/tools/c/config.yaml:8:9 input `nosuch` is not declared",
        "app/tools/c/config.yaml:9:5 `$where` runs code on the server",
        "app/tools/d/config.yaml:5:3 the collection must be written out as text",
        "app/tools/e/config.yaml:8:7 the stage `$out` writes to a collection",
        "app/tools/e/config.yaml:9:7 the stage `$nosuch` is not known",
        "app/tools/f/config.yaml:7:5 `{{ inputs.s }}` is a key, and a key cannot be a placeholder",
        "app/tools/f/config.yaml:8:9 `{{ inputs.s | ident }}` has the filter `ident`, and a document takes none",
        "app/tools/f/config.yaml:9:11 `{{ inputs.list }}` is a list or an object, and part of a text",
        "app/tools/g/config.yaml:7:19 a placeholder is part of the path of a field",
        "app/tools/h/config.yaml:8:23 no value of the call can stand here",
        "app/tools/h/config.yaml:9:3 `update` has no field `tail`",
        "app/tools/i/config.yaml:7:26 only a number can be a value here",
        "app/tools/j/config.yaml:6:17 a key must be text",
        "app/tools/l/config.yaml:7:14 the list of conditions must be written out here",
        "app/tools/m/config.yaml:7:21 the conditions must be written out here",
        "app/tools/n/config.yaml:6:18 the conditions must be written out here",
        "app/tools/o/config.yaml:6:3 the fields must be written out here",
        "app/tools/p/config.yaml:6:11 an object or a list cannot be a value here",
        "app/tools/q/config.yaml:7:36 an object or a list cannot be a value here",
        "app/tools/r/config.yaml:7:18 an object or a list cannot be a value here",
        "app/tools/s/config.yaml:7:30 a list of objects cannot be a value here",
        "app/tools/t/config.yaml:6:13 the code of `$where` must be written out",
        "app/tools/u/config.yaml:6:35 `body` of `$function` must be written out",
        "app/tools/k/config.yaml:7:1 the connector `mongodb` of the adapter `far` cannot keep the records that `idempotency` needs",
        "app/adapters/tenants.yaml:3:1 connector `mongodb` takes no statements of SQL",
        "app/adapters/session.yaml:3:1 connector `mongodb` cannot set anything for a call, which `session` demands",
    ] {
        assert!(told.iter().any(|message| message == expected), "{expected}\n{}", told.join("\n"));
    }
    assert!(!told.iter().any(|message| message.starts_with("app/tools/v/")), "{}", told.join("\n"));
}

#[test]
fn a_script_has_the_same_guards() {
    let server = mongodb::start(&[]);
    let database = open(&server);
    let value = |value: Json| Value::Json(value);
    database.run(r#"{"insert": "u", "documents": ["$1"]}"#, &[value(json!({"_id": 1, "name": "Ada", "secret": "x"}))]).unwrap();
    let by_name = r#"{"find": "u", "filter": {"name": "$1"}}"#;
    assert_eq!(database.run(by_name, &[Value::Text("Ada".into())]).unwrap().rows.len(), 1);
    for operator in [json!({"$ne": null}), json!([{"$gt": ""}]), json!({"a": {"$in": [1]}})] {
        let error = database.run(by_name, &[value(operator.clone())]).unwrap_err();
        assert!(error.kind == ErrorKind::Data && error.message.contains("no key may begin with `$`"), "{operator}: {error:?}");
    }
    let dotted = database.run(r#"{"insert": "u", "documents": ["$1"]}"#, &[value(json!({"a.b": 1}))]).unwrap_err();
    assert!(dotted.kind == ErrorKind::Data && dotted.message.contains("has the key `a.b`"), "{dotted:?}");
    for (given, expected) in [(json!({"a\0": 1}), "has a NUL character"), (json!([9_223_372_036_854_775_808_u64]), "greater than 2^63 - 1")]
    {
        let error = database.run(by_name, &[value(given)]).unwrap_err();
        assert!(error.kind == ErrorKind::Data && error.message.contains(expected), "{error:?}");
    }
    for written in
        [r#"{"find": "u", "filter": {"$or": "$1"}}"#, r#"{"find": "u", "sort": "$1"}"#, r#"{"find": "u", "sort": {"_id": "$1"}}"#]
    {
        assert!(database.run(written, &[value(json!([{}]))]).is_err(), "{written}");
    }
    let shown = database.run(r#"{"aggregate": "u", "pipeline": [{"$project": {"x": "$1"}}]}"#, &[Value::Text("$secret".into())]).unwrap();
    assert_eq!(serde_json::to_string(&shown.json()).unwrap(), r#"[{"_id":1,"x":"$secret"}]"#);

    // A handler, with what its caller sends.
    let adapter = format!("connector: mongodb\nconnection_string: {}\n", server.url());
    let (_, folder) = endpoint_of(&adapter, &[]);
    let write = |file: &str, text: &str| write(folder.path(), &format!("app/tools/who/{file}"), text);
    write("config.yaml", "description: x\ninputs: { name: { type: json } }\n");
    let handler = "export default async ({ inputs }, ctx) =>\n  await ctx.db('far').query('{\"find\": \"u\", \"filter\": {\"name\": \"$1\", \"n\": {\"$in\": [null, \"$2\"]}}}', [inputs.name, 7]);\n";
    write("handler.ts", handler);
    let endpoint = endpoint_in(folder.path());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let found = call(&endpoint, "who", json!({"name": "Ada"})).await;
        assert_eq!(text(&found), r#"[{"_id":1,"name":"Ada","secret":"x"}]"#);
        for operator in [json!({"$ne": null}), json!({"a": {"$gt": ""}})] {
            let refused = call(&endpoint, "who", json!({ "name": operator })).await;
            assert!(refused.is_error && !text(&refused).contains("Ada"), "{operator}: {}", text(&refused));
        }
    });
    let sent = server.commands().into_iter().rfind(|command| command["filter"]["name"] == "Ada").unwrap();
    assert_eq!(sent["filter"]["n"]["$in"], json!([null, 7]));
}

#[test]
fn the_page_does_what_it_says() {
    let server = mongodb::start(&["--user", "shop:pw:SCRAM-SHA-256"]);
    let blocks: Vec<String> = blocks(&connector_text("mongodb")).into_iter().map(|(_, text)| text).collect();
    let [adapter, find, update] = blocks.as_slice() else { panic!("{} blocks", blocks.len()) };
    let here = format!("mongodb://shop@127.0.0.1:{}/shop", server.process.port);
    let adapter = adapter.replace("mongodb+srv://shop@cluster0.abcde.mongodb.net/shop", &here).replace("{{ env.MONGODB_PASSWORD }}", "pw");
    assert!(adapter.contains(&here) && !adapter.contains("env."), "{adapter}");
    let (statement, inputs) = (json!({"insert": "orders", "documents": "{{ inputs.docs }}"}).to_string(), TYPED);
    let (endpoint, folder) = endpoint_of(&adapter, &[("put", statement, inputs)]);
    drop(endpoint);
    for (name, tool) in [("orders", find), ("set", update)] {
        write(folder.path(), &format!("app/tools/{name}/config.yaml"), &tool.replace("use: shop", "use: far"));
    }
    let endpoint = endpoint_in(folder.path());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let docs = json!([{"customer": "x", "status": "open", "total": 1.5, "placed": "2026-01-02", "private": true}]);
        let put = call(&endpoint, "put", json!({ "docs": docs })).await;
        let put: Json = serde_json::from_str(text(&put)).unwrap();
        let id = put[0]["_id"].as_str().unwrap();
        assert_eq!(text(&call(&endpoint, "set", json!({"id": id, "status": "paid"})).await), r#"{"affected_rows":1}"#);
        assert_eq!(text(&call(&endpoint, "orders", json!({"customer": id})).await), "[]");
        let sent = server.commands().pop().unwrap();
        assert_eq!(sent["filter"], json!({"customer": {"$oid": id}, "status": {"$in": ["open"]}}));
        assert_eq!((&sent["limit"], &sent["sort"]), (&json!(20), &json!({"placed": -1})));
    });
}
