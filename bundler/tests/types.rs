//! `millrace.d.ts` is TypeScript, and says what the app says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use millrace_bundler::types::declarations;
use millrace_core::app::{
    Adapter, App, Execute, Input, InputKind, Literal, OnMismatch, PresentedField, Presenter, ScriptRef, TextFormat, Tool, UnknownFields,
};
use millrace_test_kit::made::{self, input};
use oxc::{allocator::Allocator, parser::Parser, semantic::SemanticBuilder, span::SourceType};
use serde_json::json;

fn tool(name: &str, inputs: Vec<Input>) -> Tool {
    Tool { inputs, ..Tool::new(name, Execute::Script(ScriptRef { script: 0, export: "default".to_owned() })) }
}

fn field(name: &str, kind: InputKind, returns: Option<u32>) -> PresentedField {
    PresentedField {
        name: name.to_owned(),
        kind,
        optional: false,
        nullable: false,
        allowed: Vec::new(),
        max: None,
        items: None,
        fields: Vec::new(),
        returns,
        limit: None,
        as_is: false,
    }
}

fn presenter(name: &str, fields: Vec<PresentedField>) -> Presenter {
    Presenter {
        name: name.to_owned(),
        items: None,
        fields,
        unknown: UnknownFields::Strip,
        on_mismatch: OnMismatch::Error,
        limit: None,
        redact: Vec::new(),
        rules: Vec::new(),
        rules_max: 20,
        collection_rules: Vec::new(),
        ui: Vec::new(),
        actions: Vec::new(),
        select: true,
        format: TextFormat::Input,
        structured: true,
    }
}

fn app() -> App {
    let object = Input {
        fields: vec![input("a-b", InputKind::Date), Input { nullable: true, ..input("c", InputKind::Float) }],
        ..input("o", InputKind::Object)
    };
    App {
        env: vec!["LLM_KEY".to_owned(), "REGION".to_owned()],
        required: vec!["LLM_KEY".to_owned()],
        adapters: vec![
            Adapter { read_only: true, ..made::adapter("primary-db", "sqlite", "") },
            made::adapter("billing", "http", "https://billing.example.com"),
            made::adapter("shop", "http", "https://shop.example.com"),
        ],
        presenters: vec![
            presenter(
                "person",
                vec![field("name", InputKind::String, None), PresentedField { nullable: true, ..field("born", InputKind::Date, None) }],
            ),
            presenter(
                "note",
                vec![
                    PresentedField { allowed: vec![Literal("a".into()), Literal("b".into())], ..field("kind", InputKind::String, None) },
                    PresentedField { optional: true, ..field("author", InputKind::Object, Some(0)) },
                    field("readers", InputKind::Array, Some(0)),
                    PresentedField { items: Some(Box::new(field("", InputKind::Int, None))), ..field("list", InputKind::Array, None) },
                    field("any", InputKind::Json, None),
                ],
            ),
        ],
        tools: vec![
            tool(
                "get-user",
                vec![
                    input("id", InputKind::Int),
                    Input { optional: true, ..input("note", InputKind::String) },
                    Input {
                        optional: true,
                        default: Some(Literal(json!("json"))),
                        allowed: vec![Literal(json!("toon")), Literal(json!("json"))],
                        ..input("format", InputKind::String)
                    },
                    Input {
                        items: Some(Box::new(Input { allowed: vec![Literal(json!(1)), Literal(json!(2))], ..input("", InputKind::Int) })),
                        ..input("list", InputKind::Array)
                    },
                    Input { nullable: true, ..object },
                    input("any", InputKind::Json),
                ],
            ),
            tool("get_user", Vec::new()),
            tool("9*/", vec![input("\"\n", InputKind::Boolean)]),
        ],
        ..made::app("shop")
    }
}

#[test]
fn declarations_are_typescript() {
    for app in [app(), App { tools: Vec::new(), adapters: Vec::new(), env: Vec::new(), ..app() }] {
        let text = declarations(&app, &[]);
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &text, SourceType::d_ts()).parse();
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
        let analysed = SemanticBuilder::new().with_check_syntax_error(true).build(&parsed.program);
        assert!(analysed.diagnostics.is_empty(), "{:?}\n{text}", analysed.diagnostics);
        assert_eq!(text, declarations(&app, &[]));
    }
}

#[test]
fn an_app_without_apis_has_no_name_of_one() {
    let text = declarations(&App { adapters: vec![made::adapter("db", "sqlite", "")], ..app() }, &[]);
    assert!(text.contains("export type Adapter = \"db\";") && text.contains("export type Api = never;"), "{text}");
}

/// The core takes a connector's name for it, and the catalogue has its language.
#[test]
fn an_adapter_is_an_api_where_its_connector_speaks_http() {
    for connector in millrace_catalogue::CONNECTORS {
        let is_api = made::adapter("a", connector.name, "").is_api();
        assert_eq!(is_api, connector.language == millrace_catalogue::Language::Http, "{}", connector.name);
    }
}

#[test]
fn declarations_say_what_the_app_says() {
    let mut presented = app();
    presented.tools[0].returns = Some(1);
    for (min, max, text) in
        [(Some(1.0), Some(100.0), "number"), (None, Some(100.0), "number | bigint"), (Some(1.0), Some(1e18), "number | bigint")]
    {
        let mut bounded = app();
        bounded.tools[0].inputs[0] = Input { min, max, ..input("id", InputKind::Int) };
        assert!(declarations(&bounded, &[]).contains(&format!("    \"id\": {text};\n")), "{min:?} {max:?}");
    }
    let own = "export interface GetUserInputs {\n    \"id\": number | bigint;\n    \"note\"?: string;\n    \"list\"";
    assert!(declarations(&presented, &[]).contains(own), "what a presenter adds is not the tool's");
    let text = declarations(&app(), &[]);
    if let Some(path) = std::env::var_os("MILLRACE_TYPES_OUT") {
        std::fs::write(path, &text).unwrap();
    }
    let mut described = app();
    described.tools[1].input_schema = Some(
        json!({
            "type": "object",
            "properties": {
                "id": { "type": "integer" },
                "kind": { "enum": ["a", 1, null] },
                "tags": { "type": "array", "items": { "type": ["string", "null"] } },
                "any": {},
                "one": { "anyOf": [{ "type": "boolean" }, { "type": "object", "properties": { "x": { "const": 2 } }, "required": ["x"] }] },
                "map": { "type": "object" },
            },
            "required": ["id", "kind"],
        })
        .to_string(),
    );
    let text = declarations(&described, &[]);
    for expected in [
        "  export type GetUser2Inputs = {\n",
        "    \"id\": number | bigint;\n",
        "    \"kind\": \"a\" | 1 | null;\n",
        "    \"tags\"?: Array<null | string>;\n    \"any\"?: Json;\n",
        "    \"one\"?: (boolean | {\n      \"x\": 2;\n    });\n    \"map\"?: { [key: string]: Json };\n  };\n",
    ] {
        assert!(text.contains(expected), "wanted\n{expected}\nin\n{text}");
    }
    let text = declarations(&app(), &[]);
    for expected in [
        "  export interface GetUserInputs {\n    \"id\": number | bigint;\n    \"note\"?: string;\n    \"format\": \"json\" | \"toon\";\n    \"list\": Array<1 | 2>;\n    \"o\": {\n      \"a-b\": string;\n      \"c\": number | null;\n    } | null;\n    \"any\": Json;\n  }\n",
        "  export interface GetUser2Inputs {}\n",
        "    \"get-user\": GetUserInputs;\n    \"get_user\": GetUser2Inputs;\n",
        "export interface Tool9Inputs",
        "    readonly \"LLM_KEY\": string;\n    readonly \"REGION\": string | undefined;\n",
        "export type Adapter = \"primary-db\";",
        "export type Api = \"billing\" | \"shop\";",
        "    \"person\": {\n      \"name\": string;\n      \"born\": string | null;\n    };\n",
        "      \"kind\": \"a\" | \"b\";\n      \"author\"?: {\n        \"name\": string;\n        \"born\": string | null;\n      };\n      \"readers\": Array<{",
        "      \"list\": Array<number>;\n      \"any\": Json;\n",
    ] {
        assert!(text.contains(expected), "wanted\n{expected}\nin\n{text}");
    }
}
