//! The reference and the editor schemas, which come from the readers' tables.

use std::{fs, path::Path};

use millrace_bundler::schema;

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/app-format.md");
    let made = schema::reference_markdown();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "docs/app-format.md is out of date; run `UPDATE_EXPECT=1 cargo test --workspace --test bundler reference`");
}

#[test]
fn every_reference_of_a_schema_leads_somewhere() {
    use schema::{adapter, folder, presenter, prompt, resource, root, tool};
    for schema in [root(), tool(), folder(), adapter(), presenter(), prompt(), resource()] {
        assert_eq!(schema["additionalProperties"], false);
        let text = schema.to_string();
        for (at, _) in text.match_indices("#/definitions/") {
            let name = text[at + "#/definitions/".len()..].split('"').next().unwrap();
            assert!(schema["definitions"][name].is_object(), "{name} in {}", schema["title"]);
        }
    }
}

#[test]
fn schemas_know_keys_types_and_words() {
    let tool = schema::tool();
    assert_eq!(tool["properties"]["kind"]["enum"], serde_json::json!(["query", "mutation", "action"]));
    assert_eq!(tool["definitions"]["input"]["required"], serde_json::json!(["type"]));
    assert_eq!(tool["properties"]["returns"]["anyOf"][1]["$ref"], "#/definitions/returns");
    let root = schema::root();
    assert_eq!(root["required"], serde_json::json!(["name"]));
    assert!(root["properties"].get("agents").is_none());
    assert_eq!(root["definitions"]["server"]["properties"]["body_limit"]["description"], "The maximum length of a request. Default: 1mb.");
}
