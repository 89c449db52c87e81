//! What `check` knows of clients: a case that warns and one that does not, for each row of the
//! table; and what clients see of the server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot write or read its files fails")]

use std::{fs, path::Path};

use millrace_bundler::{Options, bundle, clients::reference_markdown, render};

use crate::support::{build, options, write};

/// Files of an app in which a construct is, and of one in which something harmless stands for it.
fn apps(construct: &str) -> [Vec<(String, String)>; 2] {
    const HANDLER: &str = "export default () => 1;\n";
    let root = |more: &str| ("millrace.yaml".to_owned(), format!("name: shop\n{more}"));
    let tool = |folder: &str, config: &str, handler: &str| {
        let file = |name: &str, text: &str| (format!("app/tools/{folder}/{name}"), text.to_owned());
        [file("config.yaml", config), file("handler.ts", handler)]
    };
    let one = |config: &str, handler: &str| [vec![root("")], tool("one", config, handler).to_vec()].concat();
    let described = |more: &str| format!("description: One.\n{more}\n");
    let schema = |schema: &str| one(&described(&format!("json_schema: {schema}")), HANDLER);
    let property = |property: &str| schema(&format!("{{ type: object, properties: {{ a: {property} }} }}"));
    let both = |bad: Vec<(String, String)>, good: Vec<(String, String)>| [bad, good];
    match construct {
        // With nothing before it, the longest is 64 characters.
        "the tool's name is too long" => {
            both(one(&described(&format!("name: {}", "a".repeat(65))), HANDLER), one(&described("name: a"), HANDLER))
        }
        "the app lists too many tools" => [129, 128].map(|count| {
            let tools = (0..count).flat_map(|index| tool(&format!("t{index}"), &described(""), HANDLER));
            [root("")].into_iter().chain(tools).collect()
        }),
        "the tool's `description` is too long" => [4097, 200].map(|length| one(&format!("description: {}\n", "a".repeat(length)), HANDLER)),
        "`instructions` are too long" => [2049, 2048].map(|length| {
            [vec![root(&format!("instructions: {}\n", "a".repeat(length)))], tool("one", &described(""), HANDLER).to_vec()].concat()
        }),
        "`limits.timeout` is longer than clients wait" => {
            ["56s", "55s"].map(|time| one(&described(&format!("limits: {{ timeout: {time} }}")), HANDLER))
        }
        "`limits.output` allows more than clients take" => {
            ["1100kb", "90kb"].map(|size| one(&described(&format!("limits: {{ output: {size} }}")), HANDLER))
        }
        "the result has a block beside structured content"
        | "the result contains a resource or a link to one"
        | "the result contains audio" => {
            let block = match construct {
                "the result contains audio" => ".audio('', 'audio/wav')",
                "the result contains a resource or a link to one" => ".resourceLink({ uri: 'a://b', name: 'b' })",
                _ => ".image('', 'image/png')",
            };
            let output = described("output: { type: object }");
            let handler = |block: &str| format!("import {{ response }} from \"millrace\";\nexport default () => response({{}}){block};\n");
            both(one(&output, &handler(block)), one(&output, &handler("")))
        }
        "`anyOf`, `oneOf` or `allOf` at the top of the schema" => {
            both(schema("{ type: object, properties: {}, anyOf: [{ required: [a] }] }"), property("{ anyOf: [{ type: string }] }"))
        }
        "`properties` is missing at the top of the schema" => both(schema("{ type: object }"), schema("{ type: object, properties: {} }")),
        "the property's name has other characters than letters, digits, `_`, `.` and `-`, or more than 64" => both(
            schema("{ type: object, properties: { \"a b\": { type: string } } }"),
            schema("{ type: object, properties: { a.b-C_1: { type: string } } }"),
        ),
        "the argument's name begins with `_`" => both(
            schema("{ type: object, properties: { _a: { type: string } } }"),
            schema("{ type: object, properties: { a_: { type: string } } }"),
        ),
        "the member's name begins with `_`" => both(
            one(&described("inputs: { a: { type: array, items: { type: object, fields: { _b: { type: string } } } } }"), HANDLER),
            one(&described("inputs: { a: { type: array, items: { type: object, fields: { b_: { type: string } } } } }"), HANDLER),
        ),
        "`items` is missing in the schema of a list" => both(property("{ type: array }"), property("{ type: array, items: {} }")),
        "`type` is a list" => both(property("{ type: [string, \"null\"] }"), property("{ anyOf: [{ type: string }, { type: \"null\" }] }")),
        "`$ref` refers to another schema" => both(
            schema("{ type: object, properties: { a: { $ref: \"#/$defs/a\" } }, $defs: { a: { type: string } } }"),
            property("{ type: string }"),
        ),
        "an exclusive bound" => both(property("{ type: integer, exclusiveMinimum: 0 }"), property("{ type: integer, minimum: 1 }")),
        "an exclusive bound as a truth value" => {
            both(property("{ type: integer, minimum: 0, exclusiveMinimum: true }"), property("{ type: integer, minimum: 1 }"))
        }
        "`additionalProperties` has a schema" => both(
            property("{ type: object, additionalProperties: { type: string } }"),
            property("{ type: object, additionalProperties: false }"),
        ),
        "`type` is missing in the schema of a property" => both(property("{ description: Anything. }"), property("{ enum: [a, b] }")),
        "`enum` lists numbers" => both(property("{ type: integer, enum: [1, 2] }"), property("{ type: string, enum: [\"1\", \"2\"] }")),
        "`format` is `email`" | "`format` is not `date-time`" => {
            both(property("{ type: string, format: email }"), property("{ type: string, format: date-time }"))
        }
        "`$schema` names the dialect" => both(
            schema("{ $schema: \"https://json-schema.org/draft/2020-12/schema\", type: object, properties: {} }"),
            schema("{ type: object, properties: {} }"),
        ),
        other => panic!("`{other}` has no case: add one here"),
    }
}

/// The warnings of an app about what one client does not take.
fn warnings(files: &[(String, String)], client: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let report = bundle(folder.path(), &Options { clients: vec![client.to_owned()], ..Options::default() });
    report.diagnostics.into_iter().map(|found| found.message).collect()
}

/// A row of the table, as the page has it: the construct, the client's name and `id`, and what
/// happens.
struct Row {
    construct: String,
    name: String,
    id: String,
    happens: String,
}

fn rows() -> Vec<Row> {
    let table = reference_markdown();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let row = |line: &str| {
        let [construct, client, happens, source, seen] = cells(line).try_into().unwrap();
        assert!(!source.is_empty() && seen.starts_with("2026-"), "{line}");
        let (name, id) = client.split_once(" (`").unwrap();
        let construct = construct.split(" (more than").next().unwrap().to_owned();
        let happens = happens.split(", told only").next().unwrap().to_owned();
        Row { construct, name: name.to_owned(), id: id.trim_end_matches("`)").to_owned(), happens }
    };
    table.lines().skip(2).map(row).collect()
}

#[test]
fn each_row_warns_of_its_construct_and_of_nothing_else() {
    let rows = rows();
    assert!(rows.len() > 40, "the table has {} rows", rows.len());
    for Row { construct, name, id, happens } in &rows {
        let [bad, good] = apps(construct);
        let is_of_construct = |message: &&String| message.starts_with(&format!("{construct}: "));
        let said = warnings(&bad, id);
        let found: Vec<&String> = said.iter().filter(is_of_construct).collect();
        assert!(
            !found.is_empty() && found.iter().all(|message| message.contains(&format!("{happens} in {name}"))),
            "{construct}, {id}: {said:?}"
        );
        let said = warnings(&good, id);
        assert_eq!(said.iter().filter(is_of_construct).count(), 0, "{construct}, {id}: {said:?}");
        for other in ["vscode", "dspy", "cursor"] {
            if !rows.iter().any(|row| row.id == other && row.construct == *construct) {
                assert_eq!(warnings(&bad, other).iter().filter(is_of_construct).count(), 0, "{construct}, {other}");
            }
        }
    }
}

#[test]
fn the_page_has_the_table() {
    const BEGIN: &str = "<!-- Made from the table of clients by `UPDATE_EXPECT=1 cargo test --workspace --test bundler clients`. -->\n";
    const END: &str = "<!-- The end of the table. -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/client-checks.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let made = format!("{before}{BEGIN}{}{END}{after}", reference_markdown());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, made).unwrap();
    } else {
        assert!(page == made, "docs/client-checks.md is out of date; UPDATE_EXPECT=1 writes it anew");
    }
}

#[test]
fn what_many_tools_have_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = vec![("millrace.yaml".to_owned(), "name: shop\n".to_owned())];
    for index in 0..9 {
        let file = |name: &str| format!("app/tools/t{index}/{name}");
        files.push((
            file("config.yaml"),
            "description: One.\njson_schema: { type: object, properties: { a: { type: array } } }\n".to_owned(),
        ));
        files.push((file("handler.ts"), "export default () => 1;\n".to_owned()));
    }
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    write(folder.path(), &borrowed);
    let report = bundle(folder.path(), &options());
    assert_eq!(report.diagnostics.len(), 9, "each place is a diagnostic of its own");
    let shown = render(folder.path(), &report.diagnostics, false);
    assert_eq!(shown.matches("╭─").count(), 3, "{shown}");
    assert!(shown.contains("The same in 6 more places: `items` is missing"), "{shown}");
    assert!(shown.contains("\n    app/tools/t8/config.yaml:2:55\n") && shown.ends_with("9 warnings\n"), "{shown}");
}

#[test]
fn long_handlers_are_looked_at_and_are_no_mistake() {
    let padding = "// padding\n".repeat(120_000);
    let handler = |block: &str| format!("import {{ response }} from \"millrace\";\n{padding}export default () => response({{}}){block};\n");
    let warned = |handler: &str| {
        let config = "description: One.\noutput: { type: object }\n";
        let report =
            build(&[("millrace.yaml", "name: shop\n"), ("app/tools/one/config.yaml", config), ("app/tools/one/handler.js", handler)]);
        assert!(report.app.is_some(), "{:?}", report.diagnostics);
        report.diagnostics.iter().filter(|found| found.file.ends_with("handler.js")).map(|found| found.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(warned(&handler("")), Vec::<String>::new());
    let found = warned(&handler(".image('', 'image/png')"));
    assert!(matches!(found.as_slice(), [one] if one.starts_with("the result has a block beside structured content")), "{found:?}");
}

#[test]
fn the_version_changes_with_what_the_lists_show() {
    let surface = |root: &str, description: &str, handler: &str| {
        let config = format!("description: {description}\n");
        let files = [("millrace.yaml", root), ("app/tools/one/config.yaml", config.as_str()), ("app/tools/one/handler.ts", handler)];
        build(&files).app.unwrap().identity.surface
    };
    const ROOT: &str = "name: shop\nversion: 1.2.0\n";
    let first = surface(ROOT, "One.", "export default () => 1;");
    assert!(first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
    assert_eq!(surface(ROOT, "One.", "export default () => 2;"), first, "clients do not see the handler");
    assert_ne!(surface(ROOT, "Two.", "export default () => 1;"), first);
    assert_ne!(surface(&format!("{ROOT}instructions: Hello.\n"), "One.", "export default () => 1;"), first);
    assert_eq!(surface("name: shop\nversion: 1.2.0+7\n", "One.", "export default () => 1;"), "");
}

#[test]
fn an_icon_of_the_app_is_embedded() {
    let root = "name: shop\nserver:\n  title: The shop\n  website: https://shop.example.com\n  icons:\n    - { src: icon.svg, sizes: [any], theme: dark }\n\
                \x20   - { src: 'https://shop.example.com/a.png', mime_type: image/png }\n";
    let tool =
        [("app/tools/one/config.yaml", "description: One.\n"), ("app/tools/one/handler.ts", "export default () => { console.log(1); };\n")];
    let app = build(&[&[("millrace.yaml", root), ("icon.svg", "<svg/>")][..], &tool[..]].concat()).app.unwrap();
    assert_eq!((app.identity.title.as_deref(), app.identity.website.as_deref()), (Some("The shop"), Some("https://shop.example.com")));
    let icons: serde_json::Value = serde_json::from_str(&app.identity.icons).unwrap();
    let expected = serde_json::json!([
        { "src": "data:image/svg+xml;base64,PHN2Zy8+Cg==", "mimeType": "image/svg+xml", "sizes": ["any"], "theme": "dark" },
        { "src": "https://shop.example.com/a.png", "mimeType": "image/png" },
    ]);
    assert_eq!(icons, expected);
    assert!(app.logs);
    let large = "x".repeat(33 << 10);
    let report = build(&[&[("millrace.yaml", root), ("icon.svg", large.as_str())][..], &tool[..]].concat());
    assert!(report.app.is_none() && report.diagnostics[0].message.contains("32768 are the most"), "{:?}", report.diagnostics);
}
