//! What a good app becomes: descriptors byte by byte, settings, and where they came from.

mod support;

use millrace_core::app::{Auth, Cache, CacheScope, Content, EnvPart, ErrorStyle, ExpectedKey, TemplatePart};
use support::{build, split, told};

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
        r#""region":{"type":["string","null"],"default":null,"x-mcp-header":"Region"},"#,
        r#""where":{"type":"object","properties":{"from":{"type":"string","format":"date"},"#,
        r#""to":{"type":"string","format":"date","default":"2025-12-31"}},"required":["from"],"additionalProperties":false},"#,
        r#""price":{"type":"number","default":1.0}},"required":["ids"],"additionalProperties":false},"#,
        r#""annotations":{"title":"Find","readOnlyHint":true,"openWorldHint":false},"_meta":{"millrace/tags":["orders"]}}"#,
    );
    assert_eq!(found.descriptor, expected);
    assert_eq!(
        app.tools[1].descriptor,
        r#"{"name":"total","description":"Delete orders","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":true},"_meta":{"millrace/tags":["admin"]}}"#
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
    assert_eq!(find.cache, Some(Cache { ttl_s: 60, scope: CacheScope::Public }));
    assert_eq!(total.cache, None, "the root's cache is not for tools that write");
    assert_eq!((find.limits.timeout_ms, find.limits.output_bytes), (10_000, 64 << 10));
    assert_eq!((find.limits.script.loops, find.limits.script.recursion), (5, 400));
    assert_eq!((find.errors.style, total.errors.style), (ErrorStyle::Protocol, ErrorStyle::Result));
    assert_eq!((find.path.as_str(), total.path.as_str()), ("find", "admin/total"));
    let Some(Auth::ApiKey(keys)) = &total.auth else { panic!("keys") };
    assert_eq!((keys[0].name.as_str(), keys[0].scopes.len(), keys[0].roles.len()), ("ops", 1, 1));
    assert!(matches!(&keys[1].expected, ExpectedKey::Sha256(_)));
    let Content::Text(text) = &app.resources[0].content else { panic!("text") };
    assert_eq!(text.0, [TemplatePart::Text("# Manual\n".into())]);
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
        "limits.script.recursion = 400 (default)",
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
        let Some(Auth::ApiKey(keys)) = &app.tools[0].auth else { panic!("keys") };
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
    assert_eq!(app.tools[0].cache.map(|cache| cache.ttl_s), Some(30));
    assert!(app.tools[0].results_as_rows);
    assert!(app.tools[0].descriptor.contains("Tool generated from app tool: find-order"));
}
