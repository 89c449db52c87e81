//! The reference and the editor schemas, which come from the readers' tables.

use std::{fs, path::Path};

use millrace_bundler::schema;

#[test]
fn the_reference_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference");
    let pages = schema::reference();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(&folder).unwrap();
        pages.iter().for_each(|page| fs::write(folder.join(page.file), &page.text).unwrap());
    }
    for page in pages {
        let written = fs::read_to_string(folder.join(page.file)).unwrap_or_default();
        let help = "run `UPDATE_EXPECT=1 cargo test --workspace --test bundler reference`";
        assert!(written == page.text, "docs/reference/{} is out of date; {help}", page.file);
    }
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
