//! Prompts, resources and completions with tools behind them, in both eras.

use millrace_core::{
    Endpoint,
    app::{
        App, Argument, Completer, Content, Embedded, ErrorStyle, Input, InputKind, InputSource, Literal, Media, Prompt, PromptContent,
        PromptMessage, Template, TemplatePart, ToolUse,
    },
};
use serde_json::{Value as Json, json};

use super::fakes::{Ask, empty_app, endpoint, input, placeholder, resource, shop, tool};

const ECHO: u32 = 0;
const LOCKED: u32 = 3;
const ROWS: u32 = 4;
const BASE64: u32 = 5;
const GONE: u32 = 6;

fn argument(name: &str, complete: Option<Completer>) -> Argument {
    Argument { name: name.into(), required: false, completion: vec!["12".into(), "x".into()], complete }
}

fn completer(tool: u32, field: Option<&str>, inputs: &[&str]) -> Option<Completer> {
    Some(Completer { tool, field: field.map(String::from), inputs: inputs.iter().map(ToString::to_string).collect() })
}

fn used(tool: u32, inputs: Vec<(&str, InputSource)>) -> ToolUse {
    ToolUse { tool, inputs: inputs.into_iter().map(|(name, given)| (name.into(), given)).collect() }
}

fn given(argument: &str) -> InputSource {
    InputSource::Argument(argument.into())
}

fn prompt(name: &str, contents: Vec<PromptContent>) -> Prompt {
    Prompt {
        name: name.into(),
        descriptor: json!({ "name": name }).to_string(),
        description: None,
        arguments: vec![
            argument("id", completer(ROWS, Some("id"), &["id", "city"])),
            argument("city", None),
            argument("key", completer(LOCKED, None, &[])),
            argument("broken", completer(1, None, &[])),
        ],
        messages: contents.into_iter().map(|content| PromptMessage { role: "user".into(), content }).collect(),
        scopes: None,
    }
}

fn app() -> App {
    let mut app = shop();
    let mut rows = tool("rows", "rows");
    rows.inputs = vec![Input { min: Some(0.0), ..input("id", InputKind::Int) }, input("city", InputKind::String)];
    let mut locked = app.tools.remove(3);
    locked.errors.style = ErrorStyle::Result;
    let mut echo = tool("echo", "echo");
    echo.inputs = vec![
        Input { optional: false, nullable: false, ..input("id", InputKind::Int) },
        input("note", InputKind::String),
        input("list", InputKind::Json),
    ];
    app.tools = vec![echo, tool("fail", "throw"), tool("fail-hard", "throw"), locked, rows, tool("base64", "base64"), tool("gone", "gone")];
    app.tools[2].errors.style = ErrorStyle::Protocol;
    let note = Template(vec![TemplatePart::Text("for ".into()), placeholder("city")]);
    let inputs = vec![
        ("id", given("id")),
        ("note", InputSource::Text(note.clone())),
        ("list", InputSource::Literal(Literal(json!([1, {"a": "b"}])))),
    ];
    let media = || Media { mime_type: "image/png".into(), data: vec![0, 255] };
    let embedded = |content| PromptContent::Resource { uri: Template(vec![placeholder("city")]), mime_type: "text/x".into(), content };
    app.prompts = vec![
        prompt("fails", vec![PromptContent::Tool(used(1, vec![]))]),
        prompt("gone", vec![PromptContent::Tool(used(GONE, vec![]))]),
        prompt("locked", vec![PromptContent::Text(note), PromptContent::Tool(used(LOCKED, vec![]))]),
        prompt(
            "media",
            vec![
                PromptContent::Image(media()),
                PromptContent::Audio(Media { mime_type: "audio/wav".into(), ..media() }),
                embedded(Embedded::Text(Template(vec![TemplatePart::Text("a \"b\"".into())]))),
                embedded(Embedded::Blob(vec![0, 255])),
            ],
        ),
        prompt("order", vec![PromptContent::Tool(used(ECHO, inputs))]),
    ];
    let said = |tool, binary| Content::Tool { used: used(tool, vec![("id", given("id"))]), binary };
    app.resources = vec![
        resource("docs://fails", "text/plain", Content::Tool { used: used(1, vec![]), binary: false }),
        resource("docs://gone", "text/plain", Content::Tool { used: used(GONE, vec![]), binary: false }),
        resource("docs://locked", "text/plain", Content::Tool { used: used(LOCKED, vec![]), binary: false }),
        resource("docs://not-base64/{id}", "image/png", said(ECHO, true)),
        resource("docs://orders/{id}", "application/json", said(ECHO, false)),
        resource("docs://picture", "image/png", Content::Tool { used: used(BASE64, vec![]), binary: true }),
    ];
    app.resources[4].arguments[0].complete = completer(ROWS, Some("id"), &["id"]);
    app
}

fn both() -> [fn(&str, Json) -> Ask; 2] {
    [Ask::legacy, Ask::modern]
}

fn result(endpoint: &Endpoint, ask: &Ask) -> Json {
    let seen = ask.send(endpoint);
    assert_eq!((seen.status, seen.code()), (200, None), "{}", seen.text);
    seen.body["result"].clone()
}

#[test]
fn a_message_can_be_what_a_tool_says() {
    let endpoint = endpoint(app());
    for ask in both() {
        let got = result(&endpoint, &ask("prompts/get", json!({"name": "order", "arguments": {"id": "42", "city": "Lisbon"}})));
        let said = r#"{"id":42,"note":"for Lisbon","list":[1,{"a":"b"}]}"#;
        assert_eq!(got["messages"], json!([{"role": "user", "content": {"type": "text", "text": said}}]));
        let got = result(&endpoint, &ask("prompts/get", json!({"name": "order", "arguments": {"id": "7"}})));
        assert!(got["messages"][0]["content"]["text"].as_str().unwrap().contains(r#""note":"for ""#), "{got}");
    }
}

#[test]
fn a_message_can_be_a_picture_a_sound_or_a_resource() {
    let endpoint = endpoint(app());
    for ask in both() {
        let got = result(&endpoint, &ask("prompts/get", json!({"name": "media", "arguments": {"city": "x://y"}})));
        let contents: Vec<&Json> = got["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
        let expected = [
            json!({"type": "image", "data": "AP8=", "mimeType": "image/png"}),
            json!({"type": "audio", "data": "AP8=", "mimeType": "audio/wav"}),
            json!({"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/x", "text": "a \"b\""}}),
            json!({"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/x", "blob": "AP8="}}),
        ];
        assert_eq!(contents, expected.iter().collect::<Vec<_>>());
    }
}

#[test]
fn what_a_tool_cannot_say_is_an_error() {
    let endpoint = endpoint(app());
    let cases = [
        // The argument is not given, and the tool needs it.
        ("prompts/get", json!({"name": "order"}), -32602, "validate", "VALIDATION_ERROR"),
        ("prompts/get", json!({"name": "order", "arguments": {"id": "seven"}}), -32602, "validate", "VALIDATION_ERROR"),
        ("prompts/get", json!({"name": "fails"}), -32603, "execute", "SCRIPT_ERROR"),
        ("prompts/get", json!({"name": "gone"}), -32603, "execute", "NOT_FOUND"),
        ("resources/read", json!({"uri": "docs://fails"}), -32603, "execute", "SCRIPT_ERROR"),
        ("resources/read", json!({"uri": "docs://orders/seven"}), -32602, "validate", "VALIDATION_ERROR"),
    ];
    for (method, params, code, stage, name) in cases {
        for ask in both() {
            let seen = ask(method, params.clone()).send(&endpoint);
            assert_eq!((seen.status, seen.code()), (200, Some(code)), "{}", seen.text);
            assert_eq!((&seen.body["error"]["data"]["stage"], &seen.body["error"]["data"]["code"]), (&json!(stage), &json!(name)));
        }
    }
    for (ask, code) in both().into_iter().zip([-32002, -32602]) {
        let seen = ask("resources/read", json!({"uri": "docs://gone"})).send(&endpoint);
        assert_eq!(seen.code(), Some(code), "{}", seen.text);
        assert_eq!(seen.body["error"]["data"], json!({"uri": "docs://gone"}));
    }
    let seen = Ask::modern("resources/read", json!({"uri": "docs://not-base64/7"})).send(&endpoint);
    assert_eq!(seen.code(), Some(-32603), "{}", seen.text);
}

#[test]
fn a_tool_behind_something_lets_in_whom_it_lets_in() {
    let endpoint = endpoint(app());
    let completion = json!({"ref": {"type": "ref/prompt", "name": "order"}, "argument": {"name": "key", "value": ""}});
    let cases = [
        ("prompts/get", json!({"name": "locked"})),
        ("resources/read", json!({"uri": "docs://locked"})),
        ("completion/complete", completion),
    ];
    for (method, params) in cases {
        for ask in both() {
            let seen = ask(method, params.clone()).send(&endpoint);
            assert_eq!((seen.status, seen.code()), (401, Some(-32000)), "{method}: {}", seen.text);
            assert!(seen.headers.first("www-authenticate").is_some());
            let seen = ask(method, params.clone()).with("x-api-key", "open sesame").send(&endpoint);
            // The tool gives an object, which is not a list of suggestions.
            let expected = if method == "completion/complete" { Some(-32603) } else { None };
            assert_eq!((seen.status, seen.code()), (200, expected), "{method}: {}", seen.text);
        }
    }
}

#[test]
fn a_resource_can_be_what_a_tool_says() {
    let endpoint = endpoint(app());
    for ask in both() {
        let read = |uri: &str| result(&endpoint, &ask("resources/read", json!({"uri": uri})));
        let order = read("docs://orders/%34%32");
        let said = json!([{"uri": "docs://orders/%34%32", "mimeType": "application/json", "text": r#"{"id":42}"#}]);
        assert_eq!(order["contents"], said);
        assert_eq!(read("docs://picture")["contents"], json!([{"uri": "docs://picture", "mimeType": "image/png", "blob": "AP8="}]));
    }
    let modern = result(&endpoint, &Ask::modern("resources/read", json!({"uri": "docs://orders/1"})));
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(0), &json!("private")));
}

#[test]
fn a_tool_completes() {
    let endpoint = endpoint(app());
    let prompt = || json!({"type": "ref/prompt", "name": "order"});
    let template = || json!({"type": "ref/resource", "uri": "docs://orders/{id}"});
    let ask = |reference: Json, name: &str, value: &str, context: Json| json!({"ref": reference, "argument": {"name": name, "value": value}, "context": context});
    for make in both() {
        let complete = |params: Json| result(&endpoint, &make("completion/complete", params))["completion"].clone();
        let all = complete(ask(prompt(), "id", "", json!({})));
        // The list first, then the tool's rows, each once.
        assert_eq!((&all["values"][0], &all["values"][1], &all["values"][2]), (&json!("12"), &json!("x"), &json!("0")));
        assert_eq!((all["values"].as_array().unwrap().len(), &all["total"], &all["hasMore"]), (100, &json!(251), &json!(true)));
        let some = complete(ask(template(), "id", "24", json!(null)));
        let expected: Vec<String> = ["24".into()].into_iter().chain((240..250).map(|id| id.to_string())).collect();
        assert_eq!(some, json!({"values": expected, "total": 11, "hasMore": false}));
        // What cannot be an input yet has no suggestions of the tool.
        assert_eq!(complete(ask(prompt(), "id", "x", json!({})))["values"], json!(["x"]));
    }
    for context in [json!("x"), json!({"arguments": 1}), json!({"arguments": {"city": 1}})] {
        let seen = Ask::legacy("completion/complete", ask(prompt(), "id", "", context)).send(&endpoint);
        assert_eq!(seen.code(), Some(-32602), "{}", seen.text);
    }
}

#[test]
fn what_was_typed_and_what_is_known_reach_the_tool() {
    let mut app = app();
    // A tool whose only suggestion is what it got.
    app.tools[ROWS as usize] = tool("rows", "inputs");
    app.tools[ROWS as usize].inputs = vec![input("id", InputKind::String), input("city", InputKind::String)];
    app.prompts[4].arguments[0].complete = completer(ROWS, None, &["id", "city"]);
    let endpoint = endpoint(app);
    for (typed, got) in [("{", r#"{"id":"{","city":"Lisbon"}"#), ("", r#"{"city":"Lisbon"}"#)] {
        let params = json!({
            "ref": {"type": "ref/prompt", "name": "order"},
            "argument": {"name": "id", "value": typed},
            "context": {"arguments": {"city": "Lisbon", "id": "9", "other": "x"}},
        });
        let found = result(&endpoint, &Ask::modern("completion/complete", params))["completion"]["values"].clone();
        assert_eq!(found.as_array().unwrap().last().unwrap(), got);
    }
}

#[test]
fn an_argument_with_a_tool_makes_completion_a_capability() {
    let mut app = empty_app();
    app.tools = vec![tool("rows", "rows")];
    let mut only = prompt("p", vec![PromptContent::Text(Template::default())]);
    only.arguments = vec![Argument { completion: vec![], ..argument("id", completer(0, Some("id"), &[])) }];
    app.prompts = vec![only];
    let discovered = result(&endpoint(app), &Ask::modern("server/discover", json!({})));
    assert_eq!(discovered["capabilities"]["completions"], json!({}));
}

#[test]
fn an_argument_of_a_prompt_may_be_a_list_as_text() {
    let mut echo = tool("echo", "echo");
    echo.inputs = vec![input("list", InputKind::Array), input("note", InputKind::String)];
    let used = used(0, vec![("list", given("id")), ("note", given("city"))]);
    let app = App { tools: vec![echo], prompts: vec![prompt("p", vec![PromptContent::Tool(used)])], ..empty_app() };
    let endpoint = endpoint(app);
    let seen = Ask::legacy("prompts/get", json!({"name": "p", "arguments": {"id": "[1,2]", "city": "[1,2]"}})).send(&endpoint);
    let text = seen.body["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{}", seen.text));
    assert_eq!(serde_json::from_str::<Json>(text).unwrap(), json!({"list": [1, 2], "note": "[1,2]"}));
    let seen = Ask::legacy("prompts/get", json!({"name": "p", "arguments": {"id": "1,2"}})).send(&endpoint);
    assert_eq!(seen.code(), Some(-32602), "{}", seen.text);
}
