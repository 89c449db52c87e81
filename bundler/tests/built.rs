//! What a good app becomes: descriptors byte by byte, settings, and where they came from.

use crate::support::{build, split, told};
use millrace_bundler::{LOCK_FILE, Lock};
use millrace_core::app::{
    ApiKeys, Auth, BatchLimits, Cache, CacheScope, Content, EnvPart, ErrorStyle, Execute, ExpectedKey, OnExceed, TemplatePart,
};
use millrace_core::{
    ports::{Column, ColumnKind, Env},
    secret::Secret,
};

#[test]
fn the_entry_of_a_tool_says_everything() {
    let (files, _) = split(include_str!("good.txt"));
    let app = build(&files).app.unwrap();
    let found = &app.tools[0];
    let expected = concat!(
        r#"{"name":"find","title":"Find","description":"Find orders","inputSchema":{"type":"object","properties":{"#,
        r#""status":{"type":"string","description":"A part of the status","pattern":"^[a-z]*$","maxLength":20},"#,
        r#""ids":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"integer","minimum":1},"examples":[[1,2]]},"#,
        r#""sort":{"type":"string","enum":["id","status"],"default":"id"},"#,
        r#""region":{"type":"string","description":"If left out, it is null.","x-mcp-header":"Region"},"#,
        r#""where":{"type":"object","properties":{"from":{"type":"string","description":"A date, YYYY-MM-DD."},"#,
        r#""to":{"type":"string","description":"A date, YYYY-MM-DD.","default":"2025-12-31"}},"required":["from"]},"#,
        r#""price":{"type":"number","default":1.0}},"required":["ids"]},"annotations":{"title":"Find","readOnlyHint":true,"#,
        r#""destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"_meta":{"millrace/tags":["orders"],"anthropic/maxResultSizeChars":65536}}"#,
    );
    assert_eq!(found.descriptor, expected);
    assert_eq!(
        app.tools[1].descriptor,
        concat!(
            r#"{"name":"total","title":"Total","description":"Delete orders","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"#,
            r#""required":["id"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false},"#,
            r#""_meta":{"millrace/tags":["admin"]}}"#,
        )
    );
    assert_eq!(
        app.prompts[0].descriptor,
        r#"{"name":"review","title":"Review","description":"Review an order","arguments":[{"name":"order_id","description":"Order","required":true}]}"#
    );
    assert_eq!(app.resources[0].descriptor, r#"{"uri":"docs://manual","name":"manual","mimeType":"text/markdown"}"#);
    assert_eq!(app.resources[1].descriptor, r#"{"uriTemplate":"docs://orders/{id}","name":"order","mimeType":"application/json"}"#);
}

#[test]
fn settings_are_inherited_and_filled_in() {
    let (files, _) = split(include_str!("good.txt"));
    let report = build(&files);
    assert_eq!(told(&report), "");
    let app = report.app.unwrap();
    assert_eq!((app.server.port, app.server.path.as_str(), app.server.body_limit), (9000, "/mcp", 1 << 20));
    let adapter = &app.adapters[0];
    assert_eq!((adapter.timeout_ms, adapter.max_rows, adapter.read_only), (5_000, 100, false));
    assert_eq!(adapter.connection_string.0, [EnvPart::Env("DATABASE".into())]);
    assert!(adapter.seed.as_deref().unwrap().starts_with("CREATE TABLE orders"));
    let [find, total] = app.tools.as_slice() else { panic!("two tools") };
    assert_eq!(find.cache, Some(Cache { ttl_s: 60, scope: CacheScope::Public, key: None }));
    assert_eq!(total.cache, None, "the root's cache is not for tools that write");
    assert_eq!((find.limits.timeout_ms, find.limits.output_bytes), (10_000, 64 << 10));
    assert_eq!((find.limits.script.loops, find.limits.script.memory_bytes), (5, 64 << 20));
    assert_eq!((find.errors.style, total.errors.style), (ErrorStyle::Protocol, ErrorStyle::Result));
    assert_eq!((find.path.as_str(), total.path.as_str()), ("find", "admin/total"));
    let Some(Auth::ApiKey(ApiKeys { keys, .. })) = &total.auth else { panic!("keys") };
    assert_eq!((keys[0].name.as_str(), keys[0].scopes.len(), keys[0].roles.len()), ("ops", 1, 1));
    assert!(matches!(&keys[1].expected, ExpectedKey::Sha256(_)));
    let Content::Text(text) = &app.resources[0].content else { panic!("text") };
    assert_eq!(text.0, [TemplatePart::Text("# Manual\n".into())]);
}

#[test]
fn answers_are_as_long_as_clients_show() {
    let adapter = "connector: sqlite\nconnection_string: x.db";
    for (rest, bytes, on_exceed, shown) in [
        ("", 50_000, OnExceed::Fit, None),
        ("output: { type: array }", 100_000, OnExceed::Fit, None),
        ("returns: { schema: { a: { type: int } } }", 100_000, OnExceed::Fit, None),
        ("returns: { schema: { a: { type: int } }, structured: false }", 50_000, OnExceed::Fit, None),
        ("limits: { output: 40kb }", 40 << 10, OnExceed::Error, None),
        ("limits: { output: { on_exceed: error } }", 50_000, OnExceed::Error, None),
        ("limits: { output: { max: 200kb, on_exceed: shrink } }", 200 << 10, OnExceed::Shrink, Some(200 << 10)),
        ("output: { type: array }\nlimits: { output: 90kb }", 90 << 10, OnExceed::Error, None),
        ("limits: { output: 1mb }", 1 << 20, OnExceed::Error, Some(500_000)),
    ] {
        let tool = format!("description: x\nuse: main\nstatement: SELECT 1 AS a\n{rest}\n");
        let report = build(&[("millrace.yaml", "name: shop"), ("app/tools/a/config.yaml", &tool), ("app/adapters/main.yaml", adapter)]);
        let app = report.app.unwrap();
        let [tool] = app.tools.as_slice() else { panic!("a tool") };
        assert_eq!((tool.limits.output_bytes, tool.limits.on_exceed), (bytes, on_exceed), "{rest}");
        let entry: serde_json::Value = serde_json::from_str(&tool.descriptor).unwrap();
        assert_eq!(entry["_meta"]["anthropic/maxResultSizeChars"].as_u64(), shown, "{rest}");
    }
}

/// What a presenter says of the whole result is where the result is: a list, or the member `result`
/// of one that a handler gives.
#[test]
fn the_schema_of_a_result_has_the_presenters_words() {
    let rows = ("app/tools/t/config.yaml", "description: x\nuse: main\nstatement: SELECT 1 AS a\nreturns: part\n");
    let handler = ("app/tools/t/config.yaml", "description: x\nhandler: ../../handler.ts\nreturns: { use: part, limit: 5 }\n");
    for (tool, place) in [(rows, ""), (handler, "/properties/result")] {
        let files = [
            ("millrace.yaml", "name: shop"),
            ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: x.db"),
            ("app/presenters/part.yaml", "description: Parts, by number\nschema: { a: { type: int } }\n"),
            ("app/handler.ts", "export default () => [];\n"),
            tool,
        ];
        let app = build(&files).app.unwrap();
        let entry: serde_json::Value = serde_json::from_str(&app.tools[0].descriptor).unwrap();
        let described = entry["outputSchema"].pointer(place).map(|schema| &schema["description"]);
        assert_eq!(described.and_then(serde_json::Value::as_str), Some("Parts, by number"), "{entry:#}");
    }
}

#[test]
fn a_text_as_it_is_is_no_affair_of_clients() {
    let tool = "description: x\nhandler: ./handler.ts\noutput:\n  type: object\n  properties:\n    text: { type: string }\n    \
                raw: { type: string, text: as_is }\n    list: { type: array, items: { type: object, additionalProperties: { type: string, text: as_is } } }\n";
    let script = "export default () => ({ raw: 'x' });\n";
    let files = [("millrace.yaml", "name: shop\nclients: []"), ("app/tools/a/config.yaml", tool), ("app/tools/a/handler.ts", script)];
    let report = build(&files);
    assert_eq!(told(&report), "");
    let tool = &report.app.unwrap().tools[0];
    let places: Vec<String> = tool.as_is.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["raw", "list[*].*"]);
    for schema in [tool.output.as_deref().unwrap(), &tool.descriptor] {
        assert!(
            !schema.contains("as_is") && schema.contains(r#""properties":{"text":{"type":"string"},"raw":{"type":"string"}"#),
            "{schema}"
        );
    }
}

#[test]
fn explain_knows_where_settings_came_from() {
    let (files, _) = split(include_str!("good.txt"));
    let report = build(&files);
    let found: Vec<String> = report
        .origins
        .iter()
        .filter(|origin| origin.tool == "find")
        .map(|origin| format!("{} = {} ({})", origin.setting, origin.value, origin.place))
        .collect();
    for expected in [
        "use = main (app/tools/find/config.yaml:3:6)",
        "kind = query (default)",
        "tags = orders (app/tools/_folder.yaml:1:7)",
        "cache.enabled = true (millrace.yaml:4:28)",
        "cache.ttl = 60 s (millrace.yaml:4:39)",
        "cache.scope = public (default)",
        "auth.plugin = none (default)",
        "errors.style = protocol (app/tools/find/config.yaml:17:10)",
        "limits.timeout = 10000 ms (app/tools/_folder.yaml:2:20)",
        "limits.output = 65536 bytes (app/tools/find/config.yaml:19:19)",
        "limits.script.memory = 67108864 bytes (default)",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected} is not in\n{}", found.join("\n"));
    }
    let values: Vec<&str> = report.origins.iter().map(|origin| origin.value.as_str()).collect();
    assert!(!values.iter().any(|value| value.contains("9f86d081")), "a key is told");
}

#[test]
fn keys_fall_back_to_the_environment() {
    let tool = "description: x\nuse: main\nstatement: SELECT 1\nauth: { plugin: api_key }";
    let adapter = "connector: sqlite\nconnection_string: x.db";
    let names = |root: &str, config: &str, adapters: &str| -> Vec<String> {
        let app = build(&[(root, "name: shop"), (config, tool), (adapters, adapter)]).app.unwrap();
        let tool = app.tools.iter().find(|tool| tool.name == "x").unwrap();
        let Some(Auth::ApiKey(ApiKeys { keys, .. })) = &tool.auth else { panic!("keys") };
        keys.iter()
            .map(|key| match &key.expected {
                ExpectedKey::Value(template) => format!("{:?}", template.0),
                ExpectedKey::Sha256(_) => panic!("a value"),
            })
            .collect()
    };
    let own = names("millrace.yaml", "app/tools/x/config.yaml", "app/adapters/main.yaml");
    assert_eq!(own, [r#"[Env("MILLRACE_API_KEY")]"#]);
    let imported = names(".hyperterse", "app/tools/x/config.terse", "app/adapters/main.terse");
    assert_eq!(imported, [r#"[Env("MILLRACE_API_KEY")]"#, r#"[Env("HYPERTERSE_API_KEY")]"#]);
}

#[test]
fn an_app_of_hyperterse_keeps_its_ways() {
    let (files, _) = split(include_str!("cases/hyperterse-root.txt"));
    let app = build(&files).app.unwrap();
    assert_eq!((app.server.port, app.version.as_str()), (9000, "1.2.0"));
    // The first and the last are `execute` and `search`.
    let tool = &app.tools[1];
    assert_eq!(tool.cache.as_ref().map(|cache| cache.ttl_s), Some(30));
    assert!(tool.results_as_rows);
    assert!(tool.descriptor.contains("Tool generated from app tool: find-order"));
}

#[test]
fn quoted_placeholders_are_bound() {
    let (files, _) = split(include_str!("cases/hyperterse-tool.txt"));
    let app = build(&files).app.unwrap();
    let Execute::Statement { statement, .. } = &app.tools[1].execute else { panic!("a statement") };
    assert_eq!(statement.text.as_deref().map(str::trim), Some("SELECT id, total FROM orders WHERE number = ?1 AND name LIKE ?2 LIMIT ?3"));
    let defaults: Vec<_> = app.tools[1].inputs.iter().map(|input| input.default.as_ref().map(|value| value.0.clone())).collect();
    assert_eq!(defaults, [None, None, Some(20.into()), Some("2025-01-01".into())]);
}

#[test]
fn the_nearest_folder_wins_and_the_tool_before_it() {
    let statement = "description: x\nuse: main\nstatement: SELECT 1";
    let own = format!("{statement}\nauth: {{ plugin: allow_all }}");
    let files = [
        ("millrace.yaml", "name: shop\nauth: { plugin: allow_all }"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: x.db"),
        ("app/tools/admin/_folder.yaml", "auth: { plugin: api_key, policy: { value: a } }"),
        ("app/tools/admin/deep/_folder.yaml", "auth: { plugin: api_key, policy: { value: b } }"),
        ("app/tools/a/config.yaml", statement),
        ("app/tools/admin/b/config.yaml", statement),
        ("app/tools/admin/deep/c/config.yaml", statement),
        ("app/tools/admin/deep/d/config.yaml", own.as_str()),
    ];
    let app = build(&files).app.unwrap();
    let auth: Vec<String> = app
        .tools
        .iter()
        .map(|tool| match &tool.auth {
            Some(Auth::ApiKey(ApiKeys { keys, .. })) => format!("{} {:?}", tool.name, keys[0].expected),
            other => format!("{} {other:?}", tool.name),
        })
        .collect();
    let value = |text: &str| format!("Value(EnvTemplate([Text({text:?})]))");
    assert_eq!(
        auth,
        [
            "a Some(AllowAll)".to_owned(),
            format!("admin-b {}", value("a")),
            format!("admin-deep-c {}", value("b")),
            "admin-deep-d Some(AllowAll)".to_owned(),
        ]
    );
}

#[test]
fn whole_numbers_of_a_float_are_floats() {
    let tool = "description: x\nuse: main\nstatement: SELECT 1\ninputs:\n  x: { type: float, enum: [1, 2.5], default: 1 }\n  y: { type: array, items: { type: float }, default: [1] }";
    let files = [
        ("millrace.yaml", "name: shop"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: x.db"),
        ("app/tools/a/config.yaml", tool),
    ];
    let report = build(&files);
    assert_eq!(told(&report), "");
    let inputs = &report.app.unwrap().tools[0].inputs;
    assert_eq!(inputs[0].default.as_ref().unwrap().0.to_string(), "1.0");
    assert_eq!(inputs[1].default.as_ref().unwrap().0.to_string(), "[1.0]");
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.md"), "secret").unwrap();
    std::fs::write(outside.path().join("x.ts"), "export default () => 1;").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("millrace.yaml", "name: shop"),
        ("app/resources/r/config.yaml", "uri: docs://r\nfile: link.md"),
        ("app/tools/t/config.yaml", "description: x\nhandler: ./link.ts"),
    ];
    crate::support::write(folder.path(), &files);
    let link = |from: &str, to: &str| std::os::unix::fs::symlink(outside.path().join(from), folder.path().join(to)).unwrap();
    link("secret.md", "app/resources/r/link.md");
    link("x.ts", "app/tools/t/link.ts");
    let report = millrace_bundler::bundle(folder.path(), &crate::support::options());
    let messages: Vec<&str> = report.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(messages, ["the file `link.md` is outside of the app's folder", "`./link.ts` is outside of the app's folder"]);
}

#[test]
fn the_limits_of_batches_are_in_the_root_file() {
    let batch = |text: &str| build(&[("millrace.yaml", text)]).app.map(|app| app.batch);
    assert_eq!(batch("name: a"), Some(BatchLimits { messages: 100, timeout_ms: 30_000, output_bytes: 8 << 20 }));
    assert_eq!(
        batch("name: a\nlimits: { batch: { messages: 7, timeout: 2s, output: 64kb } }"),
        Some(BatchLimits { messages: 7, timeout_ms: 2_000, output_bytes: 64 << 10 })
    );
    for (limit, problem) in [("output: 10b", "too small for any answer"), ("messages: 0", "messages"), ("messages: 1001", "messages")] {
        let text = format!("name: a\nlimits: {{ batch: {{ {limit} }} }}");
        let said = told(&build(&[("millrace.yaml", &text)]));
        assert!(said.contains(problem), "{limit}: {said}");
    }
}

#[test]
fn strings_of_a_plugins_policy_are_templates_at_every_depth() {
    let tool = "description: x\nhandler: ./a.ts\nauth:\n  plugin: ./a.ts\n  policy:\n    a: \"x{{ env.A }}\"\n    plain: eu\n    n: 5\n    \
                \"b/c~\": [1, { d: \"{{ env.B }}\", e: null }]";
    let report =
        build(&[("millrace.yaml", "name: shop"), ("app/tools/t/config.yaml", tool), ("app/tools/t/a.ts", "export default () => 1;")]);
    let app = report.app.unwrap();
    let Some(Auth::Script { policy, .. }) = &app.tools[0].auth else { panic!("plugin") };
    let literal = serde_json::json!({"a": null, "plain": "eu", "n": 5, "b/c~": [1, {"d": null, "e": null}]});
    assert_eq!(policy.value.0, literal);
    let env = |name: &str| EnvPart::Env(name.into());
    let found: Vec<_> = policy.templates.iter().map(|(pointer, template)| (pointer.as_str(), template.0.clone())).collect();
    assert_eq!(found, [("/a", vec![EnvPart::Text("x".into()), env("A")]), ("/b~1c~0/1/d", vec![env("B")])]);
    assert_eq!(literal.pointer(found[1].0), Some(&serde_json::Value::Null));
}

#[test]
fn the_files_of_a_template_are_embedded_up_to_a_limit() {
    let config = "uri_template: docs://{+path}\nfile_template: ./files/{{ path }}\n";
    let app = [("millrace.yaml", "name: a\n"), ("app/resources/a/config.yaml", config)];
    let file = |name: &str| format!("app/resources/a/files/{name}");
    let of = |names: &[String]| build(&app.into_iter().chain(names.iter().map(|name| (name.as_str(), "{}"))).collect::<Vec<_>>());
    let report = of(&["one.md", "two/three.json", ".env", "node_modules/x.js"].map(file));
    assert_eq!(told(&report), "");
    let app = report.app.unwrap();
    let Content::Files { files, .. } = &app.resources[0].content else { panic!("files") };
    let found: Vec<_> = files.iter().map(|file| (file.name.as_str(), file.mime_type.as_str())).collect();
    assert_eq!(found, [("./files/one.md", "text/markdown"), ("./files/two/three.json", "application/json")]);
    assert_eq!(app.resources[0].descriptor, r#"{"uriTemplate":"docs://{+path}","name":"a"}"#, "the files have several types");
    assert_eq!(app.resources[0].arguments[0].completion, ["one.md", "two/three.json"]);

    let report = of(&(0..1001).map(|number| file(&format!("{number}.json"))).collect::<Vec<_>>());
    assert!(told(&report).contains("1001 files fit; a template takes at most 1000"), "{}", told(&report));
}

#[test]
fn the_resource_is_the_audience_of_tokens() {
    let files = |server: &str, audience: &str| {
        let root =
            format!("name: x\nserver: {server}\nauth:\n  plugin: jwt\n  policy: {{ issuer: \"https://login.example.com\"{audience} }}\n");
        [
            ("millrace.yaml".to_owned(), root),
            ("app/tools/a/config.yaml".to_owned(), "description: A\nuse: main\nstatement: SELECT 1\n".to_owned()),
        ]
    };
    let built = |server: &str, audience: &str| {
        let files = files(server, audience);
        let adapter = ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: x.db");
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain([adapter]).collect();
        let report = build(&files);
        let audience = report.app.as_ref().and_then(|app| match app.tools[0].auth.as_ref()? {
            Auth::Jwt(policy) => Some(policy.audience.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
            _ => None,
        });
        (audience, told(&report))
    };
    let found = built("{ resource: \"{{ env.MCP_RESOURCE }}\" }", "");
    assert_eq!(found, (Some("{{ env.MCP_RESOURCE }}".to_owned()), String::new()));
    let found = built("{ resource: \"https://mcp.example.com/mcp\" }", ", audience: other");
    assert_eq!(found, (Some("other".to_owned()), String::new()));
    // A name that the request brings says nothing of whom a token is for.
    for server in ["{ resource: host, hosts: [mcp.example.com] }", "{}"] {
        let (audience, told) = built(server, "");
        assert!(audience.is_none() && told.contains("`auth.policy.audience` is missing"), "{server}: {told}");
    }
    let (audience, told) = built("{ resource: \"https://mcp.example.com/mcp\" }", ", audience: []");
    assert!(audience.is_none() && told.contains("at least 1 element"), "{told}");
}

#[test]
fn what_has_no_value_is_told_with_what_it_disables() {
    struct Set(&'static [(&'static str, &'static str)]);
    impl Env for Set {
        fn var(&self, name: &str) -> Option<Secret<String>> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| Secret::new((*value).to_owned()))
        }
    }
    let files = split(
        r#"== millrace.yaml
name: shop
env: [TOKEN, "REGION?"]
secrets: [API_KEY]
auth: { plugin: api_key, policy: { keys: [{ name: k1, value: "{{ env.K1 }}" }, { name: k2, value: "{{ env.K2 }}" }] } }
== app/adapters/db.yaml
connector: libsql
connection_string: "{{ env.FILE }}"
options: { auth_token: "{{ secret.DB.token }}" }
== app/tools/a/config.yaml
description: A
use: db
statement: SELECT {{ env.REGION }}, {{ ctx.env.TOKEN }}
== app/tools/b/config.yaml
description: B
use: db
statement: SELECT {{ env.REGION }}
"#,
    )
    .0;
    let report = build(&files);
    assert_eq!(told(&report), "");
    let app = report.app.unwrap();
    assert_eq!(
        (app.env.as_slice(), app.required.as_slice()),
        (&["TOKEN".to_owned(), "REGION".to_owned()][..], &["API_KEY".to_owned(), "TOKEN".to_owned()][..])
    );
    assert_eq!(app.secret_names(), ["API_KEY", "DB"]);
    let missing = |set, secrets: &[&str]| app.missing(&Set(set), Some(&|name| secrets.contains(&name)));
    assert_eq!(
        missing(&[("K1", "x"), ("K2", " ")], &["API_KEY"]),
        [
            "the secret `DB` does not exist or cannot be read: the adapter `db` cannot connect",
            "the variable `FILE` is not set: the adapter `db` cannot connect",
            "the variable `K2` is not set: the key `k2` of `auth` lets nobody in",
            "the variable `REGION` is not set: the tool `a` cannot be called, the tool `b` cannot be called",
            "the variable `TOKEN` is not set: a script that reads `ctx.env.TOKEN` fails, the tool `a` cannot be called",
        ]
    );
    let all = [("K1", "x"), ("K2", "y"), ("FILE", "f"), ("REGION", ""), ("TOKEN", "t")];
    assert_eq!(app.missing(&Set(Box::leak(Box::new(all))), None), [] as [String; 0]);
    assert_eq!(app.missing(&Set(Box::leak(Box::new(all))), Some(&|_| false)).len(), 2);
}

/// The schema of what a lock file describes; a column whose name clients do not take is not in it,
/// and the author is told.
#[test]
fn the_schema_of_columns() {
    let files = [
        ("millrace.yaml", "name: a"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: \":memory:\""),
        ("app/tools/t/config.yaml", "description: D\nuse: main\nstatement: SELECT id, count(*) FROM u"),
    ];
    let [statement] = build(&files).statements.try_into().unwrap();
    let column = |name: &str, kind| Column { name: name.into(), type_name: String::new(), kind };
    let columns = [("id", ColumnKind::BigInteger), ("l", ColumnKind::List), ("x", ColumnKind::Any), ("count(*)", ColumnKind::Integer)];
    let columns = columns.map(|(name, kind)| column(name, kind)).to_vec();
    let lock = Lock::of(&[statement], [("t".to_owned(), columns)].into(), None).text();
    let report = build(&[&files[..], &[(LOCK_FILE, lock.as_str())]].concat());
    assert_eq!(
        told(&report),
        "app/tools/t/config.yaml:3:12+26 warning: the column `count(*)` is not in the `outputSchema` of the tool `t`: clients take only names of 1 to 64 letters, digits, `_`, `.` and `-`\n    Give it an alias: `… AS name`.\n"
    );
    let tool = &report.app.unwrap().tools[0];
    let expected = concat!(
        r#""outputSchema":{"type":"array","items":{"type":"object","properties":{"#,
        r#""id":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]},"#,
        r#""l":{"anyOf":[{"type":"string"},{"type":"array","items":{}},{"type":"null"}]},"#,
        r#""x":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"array","items":{}},{"type":"object"},{"type":"null"}]}},"#,
        r#""required":["id","l","x"]}}"#,
    );
    assert!(tool.descriptor.contains(expected), "{}", tool.descriptor);
    // Results are held to all of it.
    assert!(tool.output.as_deref().unwrap().contains(r#""count(*)":{"type":["integer","null"]}"#));
}

/// What each kind of input becomes, in the part of JSON Schema that every client takes.
#[test]
fn the_schema_of_every_input() {
    let any = r#""anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"array","items":{}},{"type":"object"}"#;
    let table = [
        ("{ type: date, description: Day }", r#"{"type":"string","description":"Day. A date, YYYY-MM-DD."}"#.to_owned(), true),
        ("{ type: datetime }", r#"{"type":"string","format":"date-time"}"#.into(), true),
        ("{ type: uuid }", r#"{"type":"string","description":"A UUID."}"#.into(), true),
        (
            "{ type: string, format: email }",
            r#"{"type":"string","description":"An e-mail address, for example ada@example.com."}"#.into(),
            true,
        ),
        ("{ type: string, format: date-time }", r#"{"type":"string","format":"date-time"}"#.into(), true),
        ("{ type: int, enum: [3, 1] }", r#"{"type":"integer","description":"One of: 3, 1.","minimum":1,"maximum":3}"#.into(), true),
        ("{ type: array }", r#"{"type":"array","items":{}}"#.into(), true),
        ("{ type: object }", r#"{"type":"object"}"#.into(), true),
        ("{ type: json }", format!("{{{any}]}}"), true),
        ("{ type: json, optional: true, description: D }", format!(r#"{{"description":"D",{any},{{"type":"null"}}]}}"#), false),
        ("{ type: string, nullable: true }", r#"{"type":"string","description":"If left out, it is null."}"#.into(), false),
        (
            "{ type: string, nullable: true, enum: [a, null], description: \"`null` for all\" }",
            r#"{"type":"string","description":"`null` for all","enum":["a"]}"#.into(),
            false,
        ),
        (
            "{ type: int, nullable: true, default: 1 }",
            r#"{"type":"integer","description":"If null, nothing is given.","default":1}"#.into(),
            false,
        ),
        ("{ type: int, optional: true }", r#"{"type":"integer"}"#.into(), false),
        (
            "{ type: array, items: { type: string, nullable: true, max: 3 } }",
            r#"{"type":"array","items":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}}"#.into(),
            true,
        ),
        (
            "{ type: object, fields: { a: { type: int, nullable: true } } }",
            r#"{"type":"object","properties":{"a":{"type":"integer","description":"If left out, it is null."}}}"#.into(),
            true,
        ),
    ];
    for (input, expected, required) in table {
        let config = format!("description: D\nhandler: ./handler.ts\ninputs: {{ x: {input} }}\n");
        let files = [
            ("millrace.yaml", "name: a"),
            ("app/tools/t/config.yaml", config.as_str()),
            ("app/tools/t/handler.ts", "export default () => 1;"),
        ];
        let report = build(&files);
        let app = report.app.as_ref().unwrap_or_else(|| panic!("{input}: {}", told(&report)));
        let required = if required { r#","required":["x"]"# } else { "" };
        let expected = format!(r#""inputSchema":{{"type":"object","properties":{{"x":{expected}}}{required}}}"#);
        assert!(app.tools[0].descriptor.contains(&expected), "{input}: {}", app.tools[0].descriptor);
    }
}
