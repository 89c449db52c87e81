//! What the methods answer, in both eras.

use millrace_core::{
    Endpoint,
    app::{App, Content, Identity, Template},
};
use serde_json::{Value as Json, json};

use super::fakes::{Ask, empty_app, endpoint, resource, shop, tool};

fn result(endpoint: &Endpoint, ask: &Ask) -> Json {
    let seen = ask.send(endpoint);
    assert_eq!((seen.status, seen.code()), (200, None), "{}", seen.text);
    seen.body["result"].clone()
}

fn message(endpoint: &Endpoint, ask: &Ask) -> String {
    let seen = ask.send(endpoint);
    assert_eq!((seen.status, seen.code()), (200, Some(-32602)), "{}", seen.text);
    seen.body["error"]["message"].as_str().unwrap().into()
}

/// Methods of both eras, with parameters that succeed.
fn shared() -> [(&'static str, Json, bool); 11] {
    [
        ("tools/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({"uri": "docs://manual"}), true),
        ("resources/read", json!({"uri": "docs://logo"}), true),
        ("tools/call", json!({"name": "echo"}), false),
        ("tools/call", json!({"name": "fail"}), false),
        ("tools/call", json!({"name": "echo", "arguments": {"nope": 1}}), false),
        ("prompts/get", json!({"name": "greet", "arguments": {"name": "Ada"}}), false),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "tone", "value": ""}}), false),
    ]
}

#[test]
fn nothing_modern_reaches_a_legacy_client() {
    let endpoint = endpoint(shop());
    let of_legacy = [
        ("initialize", json!({"protocolVersion": "2025-06-18"}), false),
        ("ping", json!({}), false),
        ("logging/setLevel", json!({"level": "error"}), false),
        ("resources/subscribe", json!({"uri": "docs://orders/1"}), false),
        ("resources/unsubscribe", json!({"uri": "docs://orders/1"}), false),
    ];
    for (method, params, _) in shared().into_iter().chain(of_legacy) {
        let seen = Ask::legacy(method, params).send(&endpoint);
        assert_eq!((seen.status, seen.code()), (200, None), "{method}: {}", seen.text);
        for word in ["resultType", "ttlMs", "cacheScope", "io.modelcontextprotocol"] {
            assert!(!seen.text.contains(word), "{method}: {}", seen.text);
        }
    }
    for method in ["ping", "logging/setLevel", "resources/subscribe"] {
        let seen = Ask::legacy(method, json!({"level": "info", "uri": "docs://logo"})).send(&endpoint);
        assert_eq!(seen.text, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "{method}");
    }
}

#[test]
fn every_modern_result_says_what_it_is() {
    let endpoint = endpoint(shop());
    for (method, params, cached) in shared().into_iter().chain([("server/discover", json!({}), true)]) {
        let result = result(&endpoint, &Ask::modern(method, params));
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"], json!({"name": "shop", "version": "1.2.0"}), "{method}");
        assert_eq!(result["ttlMs"].is_u64(), cached, "{method}");
        assert_eq!(result["cacheScope"] == "public", cached, "{method}");
    }
}

#[test]
fn the_server_introduces_itself() {
    let endpoint = endpoint(shop());
    let capabilities = json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {}});
    for (asked, answered) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("v1", "2025-11-25"),
    ] {
        let expected = json!({
            "protocolVersion": answered,
            "capabilities": capabilities,
            "serverInfo": {"name": "shop", "version": "1.2.0"},
            "instructions": "Amounts are in cents.",
        });
        assert_eq!(result(&endpoint, &Ask::legacy("initialize", json!({"protocolVersion": asked}))), expected);
    }
    let discovered = result(&endpoint, &Ask::modern("server/discover", json!({})));
    // The revision deprecates logging.
    assert_eq!(discovered["capabilities"], json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}}));
    assert_eq!(discovered["instructions"], "Amounts are in cents.");
    assert_eq!(discovered["supportedVersions"][0], "2026-07-28");
}

#[test]
fn each_revision_is_told_of_the_server_what_it_has() {
    let identity = Identity {
        title: Some("The \"shop\"".into()),
        website: Some("https://shop.example.com".into()),
        icons: r#"[{"src":"https://shop.example.com/icon.png"}]"#.into(),
        surface: "0a1b2c3d".into(),
    };
    let endpoint = endpoint(App { identity, logs: false, ..shop() });
    let short = json!({"name": "shop", "version": "1.2.0+0a1b2c3d"});
    let mut titled = short.clone();
    titled["title"] = "The \"shop\"".into();
    let mut full = titled.clone();
    full["websiteUrl"] = "https://shop.example.com".into();
    full["icons"] = json!([{"src": "https://shop.example.com/icon.png"}]);
    for (asked, expected) in
        [("2025-11-25", &full), ("2026-07-28", &full), ("2025-06-18", &titled), ("2025-03-26", &short), ("2024-11-05", &short)]
    {
        let initialized = result(&endpoint, &Ask::legacy("initialize", json!({"protocolVersion": asked})));
        assert_eq!(initialized["serverInfo"], *expected, "{asked}");
        assert!(initialized["capabilities"].get("logging").is_none(), "no script logs");
    }
    let server = |method| result(&endpoint, &Ask::modern(method, json!({})))["_meta"]["io.modelcontextprotocol/serverInfo"].clone();
    assert_eq!(server("server/discover"), full);
    assert_eq!(server("tools/list"), short);
}

#[test]
fn tools_are_called() {
    let endpoint = endpoint(shop());
    let called = result(&endpoint, &Ask::legacy("tools/call", json!({"name": "echo", "arguments": {"region": "e\"u\u{1}"}})));
    assert_eq!(called["isError"], false);
    let text = called["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Json>(text).unwrap()["region"], "e\"u[U+0001]");

    let failed = result(&endpoint, &Ask::modern("tools/call", json!({"name": "fail"})));
    assert_eq!(failed["isError"], true);
    assert!(failed["content"][0]["text"].as_str().unwrap().starts_with("<tool_error"));
    assert!(failed["_meta"]["millrace/error"].is_object() && failed["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());

    let failed = Ask::legacy("tools/call", json!({"name": "fail-hard"})).send(&endpoint);
    assert_eq!(failed.body["error"]["message"], "out of stock");
    assert_eq!(failed.body["error"]["data"]["stage"], "execute");
}

#[test]
fn long_lists_have_pages() {
    let mut app = empty_app();
    app.tools = (0..2500).map(|index| tool(&format!("t{index:04}"), "echo")).collect();
    app.resources = (0..1000).map(|index| resource(&format!("x://{index:04}"), "text/plain", Content::Text(Template::default()))).collect();
    let endpoint = endpoint(app);
    for make in [Ask::legacy as fn(&str, Json) -> Ask, Ask::modern] {
        let mut names: Vec<String> = Vec::new();
        let (mut cursor, mut pages) = (json!(""), 0);
        loop {
            let page = result(&endpoint, &make("tools/list", json!({"cursor": cursor})));
            names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().into()));
            pages += 1;
            match page.get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        let expected: Vec<String> = (0..2500).map(|index| format!("t{index:04}")).collect();
        assert_eq!((pages, names), (3, expected));
        // A cursor belongs to its list.
        message(&endpoint, &make("resources/list", json!({"cursor": cursor})));
        for bad in ["dG9vbHMvOTk5", "dG9vbHMvMTAwMA==", "0", "\u{0}", "tools/1000"] {
            message(&endpoint, &make("tools/list", json!({"cursor": bad})));
        }
        let whole = result(&endpoint, &make("resources/list", json!({"cursor": null})));
        assert_eq!((whole["resources"].as_array().unwrap().len(), whole.get("nextCursor")), (1000, None));
        let templates = result(&endpoint, &make("resources/templates/list", json!({})));
        assert_eq!(templates["resourceTemplates"], json!([]));
    }
}

#[test]
fn a_page_is_no_longer_than_a_host_can_send() {
    let mut app = empty_app();
    app.tools = (0..5).map(|index| tool(&format!("t{index}"), "echo")).collect();
    for tool in &mut app.tools {
        tool.descriptor = json!({"name": tool.name, "description": "x".repeat(1_000_000)}).to_string();
    }
    let endpoint = endpoint(app);
    let page = result(&endpoint, &Ask::legacy("tools/list", json!({})));
    assert_eq!(page["tools"].as_array().unwrap().len(), 2);
    assert!(page["nextCursor"].is_string());
}

#[test]
fn the_legacy_era_sees_objects_as_output() {
    let mut app = empty_app();
    let list = json!({"$schema": "s", "$defs": {"a": {}}, "type": "array", "items": {"$ref": "#/$defs/a"}});
    app.tools = [json!(null), json!({"type": "object"}), list.clone()]
        .into_iter()
        .enumerate()
        .map(|(index, schema)| {
            let mut tool = tool(&format!("t{index}"), "echo");
            if !schema.is_null() {
                tool.descriptor = json!({"name": tool.name, "outputSchema": schema, "title": "T"}).to_string();
            }
            tool
        })
        .collect();
    let endpoint = endpoint(app);
    let modern = result(&endpoint, &Ask::modern("tools/list", json!({})));
    assert_eq!(modern["tools"][2]["outputSchema"], list);
    let legacy = result(&endpoint, &Ask::legacy("tools/list", json!({})));
    let wrapped = json!({
        "$schema": "s",
        "$defs": {"a": {}},
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
        "required": ["result"],
    });
    assert_eq!(legacy["tools"], json!([modern["tools"][0], modern["tools"][1], {"name": "t2", "outputSchema": wrapped, "title": "T"}]));
}

#[test]
fn prompts() {
    let endpoint = endpoint(shop());
    let ask = |params: Json| Ask::legacy("prompts/get", params);
    let got = result(&endpoint, &ask(json!({"name": "greet", "arguments": {"name": "Ada \"L\" {{ tone }}"}})));
    let user = json!({"role": "user", "content": {"type": "text", "text": "Greet Ada \"L\" {{ tone }}"}});
    let assistant = |text: &str| json!({"role": "assistant", "content": {"type": "text", "text": text}});
    assert_eq!(got, json!({"description": "Greets", "messages": [user, assistant("!")]}));
    let got = result(&endpoint, &ask(json!({"name": "greet", "arguments": {"name": "", "tone": "warm"}})));
    assert_eq!(got["messages"][1], assistant("warm!"));

    for (params, expected) in [
        (json!({"name": "nope"}), "Unknown prompt: `nope`"),
        (json!({}), "Invalid params: `name` is missing"),
        (json!({"name": "greet"}), "Invalid params: `greet` needs the argument `name`"),
        (json!({"name": "greet", "arguments": {"tone": "x"}}), "Invalid params: `greet` needs the argument `name`"),
        (json!({"name": "greet", "arguments": {"name": 1}}), "Invalid params: the argument `name` must be a string"),
        (json!({"name": "greet", "arguments": {"name": null}}), "Invalid params: the argument `name` must be a string"),
        (json!({"name": "greet", "arguments": {"name": "x", "y": "z"}}), "Invalid params: `greet` has no argument `y`"),
        (json!({"name": "greet", "arguments": "x"}), "Invalid params: `arguments` must be an object"),
    ] {
        assert_eq!(message(&endpoint, &ask(params)), expected);
    }
}

#[test]
fn resources() {
    let endpoint = endpoint(shop());
    for (uri, mime_type, member, content) in [
        ("docs://manual", "text/markdown", "text", "# Manual"),
        ("docs://logo", "image/png", "blob", "/9gA"),
        ("docs://orders/new", "text/plain", "text", "a form"),
        ("docs://orders/a%2Fb%20c", "text/plain", "text", "order a/b c"),
        ("docs://orders/7/lines", "text/plain", "text", "lines of 7"),
    ] {
        for make in [Ask::legacy as fn(&str, Json) -> Ask, Ask::modern] {
            let read = result(&endpoint, &make("resources/read", json!({"uri": uri})));
            assert_eq!(read["contents"], json!([{"uri": uri, "mimeType": mime_type, member: content}]));
        }
    }
    for uri in ["docs://Manual", "docs://manual/", "docs://orders/", "docs://orders/1/2", "docs://orders/%", "file:///etc/passwd", ""] {
        assert_eq!(Ask::legacy("resources/read", json!({"uri": uri})).send(&endpoint).code(), Some(-32002), "{uri}");
        assert_eq!(Ask::modern("resources/read", json!({"uri": uri})).send(&endpoint).code(), Some(-32602), "{uri}");
    }
    message(&endpoint, &Ask::legacy("resources/read", json!({"uri": 1})));
    let listed = result(&endpoint, &Ask::legacy("resources/list", json!({})));
    let uris: Vec<&Json> = listed["resources"].as_array().unwrap().iter().map(|resource| &resource["uri"]).collect();
    assert_eq!(uris, ["docs://logo", "docs://manual", "docs://orders/new"]);
    let listed = result(&endpoint, &Ask::legacy("resources/templates/list", json!({})));
    assert_eq!(listed["resourceTemplates"][0]["uriTemplate"], "docs://orders/{id}");
}

#[test]
fn completion() {
    let endpoint = endpoint(shop());
    let ask = |reference: Json, name: &str, value: &str| {
        Ask::legacy("completion/complete", json!({"ref": reference, "argument": {"name": name, "value": value}}))
    };
    let prompt = || json!({"type": "ref/prompt", "name": "greet"});
    let completed = |ask: Ask| result(&endpoint, &ask)["completion"].clone();
    let all = completed(ask(prompt(), "tone", ""));
    assert_eq!((all["values"].as_array().unwrap().len(), &all["total"], &all["hasMore"]), (100, &json!(151), &json!(true)));
    assert_eq!(completed(ask(prompt(), "tone", "c")), json!({"values": ["cold"], "total": 1, "hasMore": false}));
    assert_eq!(completed(ask(prompt(), "name", "x")), json!({"values": [], "total": 0, "hasMore": false}));
    let template = json!({"type": "ref/resource", "uri": "docs://orders/{id}"});
    assert_eq!(completed(ask(template, "id", "12"))["values"], json!(["12"]));
    for (reference, name) in [
        (json!({"type": "ref/prompt", "name": "nope"}), "tone"),
        (prompt(), "nope"),
        (json!({"type": "ref/resource", "uri": "docs://nope/{id}"}), "id"),
        (json!({"type": "ref/other"}), "x"),
        (json!({}), "x"),
        (json!("x"), "x"),
    ] {
        message(&endpoint, &ask(reference, name, ""));
    }
    message(&endpoint, &Ask::legacy("completion/complete", json!({"ref": prompt(), "argument": {"name": "tone", "value": 1}})));
}
