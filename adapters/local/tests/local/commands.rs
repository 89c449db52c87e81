//! The commands: what they print, and their exit codes.

use std::{fs, io::pipe};

use serde_json::{Value as Json, json};

use crate::support::{App, GET_ITEM, ServerProcess, app, binary, inside, run};

fn broken() -> App {
    let app = app();
    app.write("app/tools/get-item/config.yaml", &format!("{GET_ITEM}nonsense: 1\n"));
    app
}

#[test]
fn exit_codes_are_0_good_1_wrong_2_usage() {
    let (good, broken) = (app(), broken());
    for (arguments, code, said) in [
        (&["check"][..], 0, ""),
        (&["call", "get-item", "id=1"], 0, ""),
        (&["explain", "get-item"], 0, ""),
        (&["call", "get-item", "id=x"], 1, ""),
        (&["call", "absent"], 1, "tool 'absent' not found"),
        (&["explain", "absent"], 1, "the app has no tool `absent`; it has: get-item"),
        (&["serve", "absent.bundle"], 1, "`absent.bundle` cannot be read"),
        (&["serve", "millrace.yaml"], 1, "not a Millrace bundle"),
        (&["dev", "absent"], 1, "`absent`"),
        (&[], 2, "Usage"),
        (&["check", "--nonsense"], 2, "--nonsense"),
        (&["build"], 2, "--target"),
        (&["build", "--target", "worker"], 1, "connector `sqlite` needs files, which this target does not have"),
        (&["check", "--target", "worker"], 1, "Use `libsql` or `d1`"),
        (&["build", "--target", "nowhere"], 2, "nowhere"),
        (&["call", "get-item", "id"], 2, "write `name=value`"),
        (&["call", "get-item", "id:=x"], 2, "input `id` is not valid JSON"),
        (&["call", "get-item", "id=1", "id=2"], 2, "given twice"),
        (&["call", "get-item", "--header", "secret"], 2, "write `--header 'Name: value'`"),
        (&["check", "--log", "loud"], 2, "`loud` is not a log level"),
        (&["dev", "--port", "70000"], 2, "70000"),
        (&["dev", "--isolates", "0"], 2, "0"),
        (&["new", "Not A Name"], 2, "cannot be an app's name"),
        (&["new", "app"], 2, "`app` exists already"),
    ] {
        let said_now = run(good.path(), arguments);
        assert_eq!(said_now.code, Some(code), "{arguments:?}: {}", said_now.err);
        assert!(said_now.err.contains(said), "{arguments:?}: {}", said_now.err);
        assert!(!said_now.err.contains("panicked"), "{arguments:?}: {}", said_now.err);
    }
    for command in [&["check"][..], &["dev"], &["call", "get-item"], &["build", "--target", "local"], &["explain", "get-item"], &["types"]]
    {
        let said = run(broken.path(), command);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{command:?}: {}", said.err);
        assert!(said.err.contains("`nonsense`") && said.err.contains("config.yaml:7:1"), "{command:?}: {}", said.err);
        assert!(!said.err.contains('\x1b'), "output that is not for a terminal must not have colours: {}", said.err);
    }
}

#[test]
fn check_speaks_json() {
    let said = run(app().path(), &["check", "--json"]);
    let list = |revision: &str| json!({ "revision": revision, "bytes": 426, "tokens": 107 });
    let open = json!({ "tool": "get-item", "file": "app/tools/get-item/config.yaml", "bytes": 50_000, "tokens": 12_500, "limit": "limits.output", "reason": "it has neither `returns` nor `output`" });
    let sizes = json!({ "lists": [list("2026-07-28"), list("2025-11-25")], "answers": [open] });
    assert_eq!(
        said.json(),
        json!({ "ok": true, "diagnostics": [], "connections": [], "sizes": sizes, "scripts": [], "audits": [],
            "sign_in": null, "statements": [], "lock": [], "changes": [], "against": [], "specs": [], "tenants": [], "scans": [], "plans": [] })
    );

    let said = run(broken().path(), &["check", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    let mut found = said.json();
    let help = found["diagnostics"][0]["help"].take();
    assert!(help.as_str().unwrap().contains("`statement`"), "{help}");
    let diagnostic = json!({
        "severity": "error", "file": "app/tools/get-item/config.yaml", "line": 7, "column": 1, "length": 8,
        "message": "`nonsense` is not a key of a tool", "help": null,
    });
    assert_eq!(
        found,
        json!({ "ok": false, "diagnostics": [diagnostic], "connections": [], "sizes": null, "scripts": [], "audits": [],
            "sign_in": null, "statements": [], "lock": [], "changes": [], "against": [], "specs": [], "tenants": [], "scans": [], "plans": [] })
    );
}

#[test]
fn check_measures_what_a_model_reads() {
    let app = app();
    let row = "{ type: object, properties: { id: { type: integer }, name: { type: string, maxLength: 20 } }, additionalProperties: false }";
    app.write(
        "app/tools/few/config.yaml",
        &format!("description: Few.\nuse: main\nstatement: SELECT id, name FROM item LIMIT 2\noutput: {{ type: array, items: {row} }}\n"),
    );
    app.write("app/tools/rename/config.yaml", "description: Rename.\nuse: main\nstatement: UPDATE item SET name = 'x'\n");
    let said = run(app.path(), &["check"]);
    assert!(!said.out.contains("`tools/list`") && !said.out.contains("longest"), "nobody asked for sizes: {}", said.out);
    let said = run(app.path(), &["check", "--sizes"]);
    assert!(!said.out.contains("token"), "limits count bytes: {}", said.out);
    // Twice `[{"id":-9223372036854775808,"name":"01234567890123456789"},…]`, and
    // `{"affected_rows":18446744073709551615}`.
    let of = |tool: &str| format!("app/tools/{tool}/config.yaml");
    for (tool, bytes) in [("few", 2 * (2 * 57 + 3)), ("rename", 38)] {
        let line = format!("  {tool:8}  {bytes:>8}  {}\n", of(tool));
        assert!(said.out.contains(&line), "{line}: {}", said.out);
    }
    let open = format!("  get-item     50000  {}  `limits.output`: it has neither `returns` nor `output`\n", of("get-item"));
    assert!(said.out.contains(&open), "{}", said.out);
    // A list has the output schema wrapped for those who know no other structured content than
    // objects.
    assert!(said.out.contains("`tools/list`: ") && said.out.contains("; before 2026-07-28: "), "{}", said.out);

    let root = fs::read_to_string(app.path().join("millrace.yaml")).unwrap();
    app.write("millrace.yaml", &format!("{root}budget: {{ answer: 1kb }}\n"));
    let said = run(app.path(), &["check"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    let expected = [
        "an answer of `get-item` (50000) can have more bytes than the 1024 of `budget.answer`",
        "millrace.yaml:",
        "limits: { output: 1kb }",
    ];
    assert!(expected.iter().all(|text| said.err.contains(text)), "{}", said.err);
    assert!(said.out.contains("  get-item     50000"), "a budget has the sizes said: {}", said.out);
    assert_eq!(run(app.path(), &["build", "--target", "local"]).code, Some(1));
    app.write("millrace.yaml", &format!("{root}limits: {{}}\nbudget: {{ answer: 1kb, list: 10kb }}\n"));
    app.write("app/tools/_folder.yaml", "limits: { output: 1kb }\n");
    assert_eq!(run(app.path(), &["check"]).code, Some(0));
}

#[test]
fn check_connect_asks_the_database() {
    let app = app();
    let said = run(app.path(), &["check", "--connect", "--json"]);
    assert_eq!(said.json()["connections"], json!([{ "adapter": "main", "connector": "sqlite", "ok": true, "error": null }]));
    fs::write(app.path().join("main.db"), "this is not a database, but long enough to be looked at".repeat(40)).unwrap();
    let said = run(app.path(), &["check", "--connect"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("adapter `main` (sqlite): "), "{}", said.err);
}

#[test]
fn check_reads_the_env_file() {
    let app = app();
    app.write(".env", "GOOD=1\nMY_KEY hunter2 and more\n");
    for arguments in [&["check"][..], &["check", "--connect"], &["check", "--target", "local"]] {
        let said = run(app.path(), arguments);
        assert!(said.code == Some(1) && said.out.contains("1 error, 0 warnings"), "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains("line 2 of the `.env` file is not an assignment") && said.err.contains(".env:2:1"), "{}", said.err);
        assert!(!said.err.contains("hunter2"), "{}", said.err);
    }
    let json = run(app.path(), &["check", "--json"]).json();
    assert_eq!((&json["ok"], &json["diagnostics"][0]["file"], &json["diagnostics"][0]["line"]), (&json!(false), &json!(".env"), &json!(2)));
    // Where it does not go along, nobody reads it.
    assert!(!run(app.path(), &["check", "--target", "lambda"]).err.contains(".env"));
    app.write(".env", "GOOD=1\nMY_KEY='hunter2 and more'\n");
    assert_eq!(run(app.path(), &["check"]).code, Some(0));
}

#[test]
fn patterns_that_no_engine_takes_are_found() {
    let app = app();
    for pattern in ["/(a/", "/\\-/u", "/(?<n>a)(?<n>b)/"] {
        app.write("app/tools/test/config.yaml", "description: Tests.\nhandler: ./handler.ts\n");
        app.write("app/tools/test/handler.ts", &format!("export default () => {pattern}.test(\"a\");\n"));
        let said = run(app.path(), &["check"]);
        let is_found = said.err.contains("handler.ts:1") && said.err.to_lowercase().contains("regular expression");
        assert!(said.code == Some(1) && is_found, "{pattern}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_command_for_one_tool_warns_of_that_tool_alone() {
    let app = app();
    app.write("millrace.yaml", "name: small\n");
    app.write("app/tools/other/config.yaml", "handler: ../../shared.ts\n");
    app.write("app/shared.ts", "const at = Date.now();\nexport default () => at;\n");
    let checked = run(app.path(), &["check"]).err;
    assert!(checked.contains("the tool `other` has no `description`") && checked.contains("app/shared.ts"), "{checked}");
    for command in ["call", "explain"] {
        let said = run(app.path(), &[command, "get-item"]).err;
        assert!(!said.contains("warning") && !said.contains("other") && !said.contains("shared.ts"), "{said}");
        let said = run(app.path(), &[command, "other"]).err;
        assert!(said.contains("the tool `other` has no `description`") && said.contains("app/shared.ts"), "{said}");
    }
    // What keeps the app from being built is said whatever was meant.
    app.write("app/tools/other/config.yaml", "nonsense: 1\n");
    assert!(run(app.path(), &["call", "get-item", "id=1"]).err.contains("`nonsense`"));
}

#[test]
fn call_takes_text_and_json_and_gives_the_result() {
    let app = app();
    let said = run(app.path(), &["call", "get-item", "id=1"]);
    assert_eq!(said.out, "[{\"id\":1,\"name\":\"O'Neil\"}]\n");
    for stage in ["resolve", "validate", "execute", "serialize", "tools/call"] {
        assert!(said.err.lines().any(|line| line.trim_start().starts_with(stage) && line.ends_with(" ms")), "{stage}: {}", said.err);
    }
    for inputs in [&["id:=2"][..], &["id=2", "note={\"a\":1}"], &["id=2", "note:=[1]"]] {
        let arguments = [&["call", "get-item", "--json"], inputs].concat();
        assert_eq!(run(app.path(), &arguments).json()["result"]["content"][0]["text"], "[{\"id\":2,\"name\":\"two\"}]", "{inputs:?}");
    }
    let said = run(app.path(), &["call", "get-item", "id=0"]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.starts_with("<validation_error action=\"get-item\">"), "{}", said.out);
    let elsewhere = tempfile::tempdir().unwrap();
    let said = run(elsewhere.path(), &["call", "get-item", "id=1", "--app", app.path().to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{}", said.err);
}

#[test]
fn call_speaks_json() {
    let app = app();
    let mut said = run(app.path(), &["call", "get-item", "id=1", "--json"]).json();
    let timings = said["timings"].take();
    let stages: Vec<&str> = timings.as_array().unwrap().iter().map(|timing| timing["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["resolve", "validate", "execute", "serialize"]);
    assert!(timings.as_array().unwrap().iter().all(|timing| timing["us"].is_u64()), "{timings}");
    assert_eq!(said["ok"], true);
    assert_eq!(said["tool"], "get-item");
    assert_eq!(said["error"], Json::Null);
    assert_eq!(said["result"]["isError"], false);

    let said = run(app.path(), &["call", "absent", "--json"]).json();
    assert_eq!((&said["ok"], &said["result"], &said["error"]["stage"]), (&json!(false), &Json::Null, &json!("resolve")));
}

#[test]
fn call_takes_a_key_by_its_name() {
    let app = app();
    app.write(
        "app/tools/who/config.yaml",
        "use: main\nstatement: SELECT {{ auth.subject }} AS who\nauth:\n  plugin: api_key\n  policy:\n    keys:\n\
         \x20     - { name: clerk, value: \"{{ env.CLERK }}\" }\n      - { name: absent, value: \"{{ env.NOT_SET_AT_ALL }}\" }\n\
         \x20     - { name: digest, sha256: ce728141ce70d38415641b5f20e39e6aa853304f74da06c23a703d6231481b73 }\n",
    );
    app.write("app/tools/open/config.yaml", "use: main\nstatement: SELECT 1 AS one\n");
    app.write(".env", "CLERK=hunter2\n");
    let good = run(app.path(), &["call", "who", "--as", "clerk"]);
    assert_eq!((good.code, good.out.as_str()), (Some(0), "[{\"who\":\"clerk\"}]\n"), "{}", good.err);
    for (arguments, code, expected) in [
        (["call", "who", "--as", "boss"], 2, "`who` has no key `boss`; it has `clerk`, `absent`, `digest`"),
        (["call", "who", "--as", "absent"], 1, "the key `absent` needs the variable `NOT_SET_AT_ALL`, which is not set"),
        (["call", "who", "--as", "digest"], 2, "only the digest of the key `digest` is known"),
        (["call", "open", "--as", "clerk"], 2, "`open` lets everybody in and knows nobody, so `--as` has no effect"),
        (["call", "none", "--as", "clerk"], 2, "the tool `none` does not exist"),
    ] {
        let refused = run(app.path(), &arguments);
        assert!(refused.code == Some(code) && refused.err.contains(expected), "{arguments:?}: {}", refused.err);
        assert!(!refused.err.contains("hunter2"), "{}", refused.err);
    }
}

#[test]
fn call_sends_header_fields_and_reads_the_env_file() {
    let app = app();
    app.write(
        "app/tools/secret/config.yaml",
        "use: main\nstatement: SELECT 1 AS one\nauth: { plugin: api_key, policy: { value: \"{{ env.MY_KEY }}\" } }\n",
    );
    app.write(".env", "MY_KEY=hunter2\n");
    let good = run(app.path(), &["call", "secret", "--header", "X-API-Key: hunter2"]);
    assert_eq!((good.code, good.out.as_str()), (Some(0), "[{\"one\":1}]\n"), "{}", good.err);
    for arguments in [&["call", "secret"][..], &["call", "secret", "-H", "X-API-Key: wrong"]] {
        let refused = run(app.path(), arguments);
        assert_eq!(refused.code, Some(1), "{arguments:?}");
        assert!(!refused.err.contains("hunter2"), "{}", refused.err);
    }
    app.write(".env", "MY_KEY hunter2\n");
    let said = run(app.path(), &["call", "secret"]);
    assert!(said.code == Some(1) && said.err.contains("line 1 of the `.env` file") && !said.err.contains("hunter2"), "{}", said.err);
}

#[test]
fn explain_shows_stages_and_places() {
    let app = app();
    let said = run(app.path(), &["explain", "get-item", "--json"]).json();
    assert_eq!(said["tool"], "get-item");
    assert_eq!(said["stages"][8]["does"], "reads with adapter `main` (sqlite)");
    let settings = said["settings"].as_array().unwrap();
    let adapter = settings.iter().find(|setting| setting["setting"] == "use").unwrap();
    assert_eq!(adapter, &json!({ "setting": "use", "value": "main", "place": "app/tools/get-item/config.yaml:2:6" }));
    let text = run(app.path(), &["explain", "get-item"]).out;
    assert!(text.contains("reads with adapter `main` (sqlite)") && text.contains("app/tools/get-item/config.yaml:2:6"), "{text}");
}

#[test]
fn build_writes_the_same_bundle_twice() {
    let app = app();
    let said = run(app.path(), &["build", "--target", "local", "--json"]).json();
    let bytes = fs::read(app.path().join("dist/small.bundle")).unwrap();
    assert_eq!(said, json!({ "target": "local", "bundle": "dist/small.bundle", "bytes": bytes.len(), "ok": true, "diagnostics": [] }));
    let again = run(app.path(), &["build", ".", "--target", "local", "--out", "elsewhere"]);
    assert!(again.out.contains("millrace serve elsewhere/small.bundle"), "{}", again.out);
    assert_eq!(fs::read(app.path().join("elsewhere/small.bundle")).unwrap(), bytes);
    assert_eq!(fs::read_dir(app.path().join("dist")).unwrap().count(), 2, "the bundle, and the list of files");
}

#[test]
fn a_new_app_runs_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["new", "my-notes"]);
    assert!(said.out.starts_with("created `my-notes`:\n\n  cd my-notes\n  millrace dev "), "{}{}", said.out, said.err);
    assert_eq!(said.err, "");
    for target in ["local", "worker"] {
        let said = run(folder.path(), &["check", "my-notes", "--target", target, "--json"]).json();
        assert_eq!((&said["ok"], &said["diagnostics"]), (&json!(true), &json!([])), "{target}");
    }
    // On Lambda what is written is lost, and the message says where it would not be.
    let said = run(folder.path(), &["check", "my-notes", "--target", "lambda", "--json"]).json();
    let told = said["diagnostics"].as_array().unwrap();
    assert!(told.len() == 1 && told[0]["help"].as_str().unwrap().contains("`libsql`"), "{said}");
    let call = |arguments: &[&str]| run(folder.path(), &[&["call"], arguments, &["--app", "my-notes"]].concat());
    let said = call(&["find-notes", "q=tools"]);
    assert!(said.code == Some(0) && said.out.contains("A tool is a folder below app/tools."), "{}{}", said.out, said.err);
    let said = call(&["add-note", "topic=it's", "text=\"; DROP TABLE notes"]);
    assert_eq!(said.out, "[{\"id\":4,\"topic\":\"it's\",\"text\":\"\\\"; DROP TABLE notes\"}]\n", "{}", said.err);
    let said = call(&["greet", "name=Ada"]);
    assert_eq!(said.out, "{\"greeting\":\"Hello, Ada!\",\"letters\":3}\n", "{}", said.err);
}

#[test]
fn schema_and_types_are_written_for_editors() {
    let app = app();
    let said = run(app.path(), &["schema"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for name in ["root", "adapter", "tool", "folder", "prompt", "resource"] {
        let text = fs::read_to_string(inside(app.path(), &format!(".millrace/{name}.schema.json"))).unwrap();
        let schema: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(schema["type"], "object", "{name}");
        assert!(said.out.contains(&format!("./.millrace/{name}.schema.json")), "{}", said.out);
    }
    let said = run(app.path(), &["types"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let text = fs::read_to_string(app.path().join("millrace.d.ts")).unwrap();
    assert!(text.contains("declare module \"millrace\"") && text.contains("\"get-item\"") && text.contains(": number;"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let app = app();
    for arguments in [&["explain", "get-item"][..], &["check", "--json"], &["call", "get-item", "id=1"]] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = binary().current_dir(app.path()).args(arguments).stdout(writer).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {err}");
        assert!(!err.contains("panic"), "{arguments:?}: {err}");
    }
}

#[test]
fn a_new_app_says_what_to_do_next_by_the_name_that_its_author_knows() {
    let folder = tempfile::tempdir().unwrap();
    let output = binary().current_dir(folder.path()).args(["new", "millrace"]).env("npm_execpath", "/usr/bin/npx").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("\n  npm install\n  npx millrace dev "), "{said}");
    let package: Json = serde_json::from_str(&fs::read_to_string(folder.path().join("millrace/package.json")).unwrap()).unwrap();
    // npm installs no package into one of the same name.
    assert_eq!(package["name"], "millrace-app");
    assert_eq!(package["devDependencies"]["millrace"], format!("^{}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_new_app_never_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["new", "b"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let root = folder.path().join("b/millrace.yaml");
    fs::write(&root, "name: mine\n").unwrap();
    for path in ["a/../b", "a/../../b", "b/../b", "./a/../b"] {
        let said = run(folder.path(), &["new", path]);
        assert_eq!((said.code, fs::read_to_string(&root).unwrap().as_str()), (Some(2), "name: mine\n"), "{path}: {}", said.err);
        assert!(said.err.contains("has `..` after a folder's name"), "{path}: {}", said.err);
        assert!(!folder.path().join("a").exists(), "{path}");
    }
    fs::create_dir(folder.path().join("inner")).unwrap();
    let said = run(&folder.path().join("inner"), &["new", "../c"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(folder.path().join("c/millrace.yaml").exists());
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let app = app();
    app.write("app/tools/get-item/config.yaml", &GET_ITEM.replace("Get one item.", "\"\\e]0;title\\a Get\\u200f it.\""));
    let said = run(app.path(), &["explain", "get-item"]);
    let plain = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200f}'));
    assert!(plain(&said.out) && plain(&said.err), "{} {}", said.out, said.err);
    let dev = ServerProcess::start(app.path(), &["dev"]);
    assert!(plain(&dev.said) && dev.said.contains("␛]0;title␇ Get"), "{:?}", dev.said);
    drop(dev);

    app.write("app/tools/get-item/config.yaml", &GET_ITEM.replace("use: main", "use: main # \u{9b}31m\u{202e}\nnonsense: \"\u{9b}\""));
    let said = run(app.path(), &["check"]);
    assert_eq!(said.code, Some(1), "{} {}", said.out, said.err);
    assert!(plain(&said.out) && plain(&said.err), "{} {}", said.out, said.err);
}

#[test]
fn check_asks_the_database_about_each_statement() {
    let app = app();
    app.write("app/tools/wrong/config.yaml", "description: x\nuse: main\nstatement: SELECT nam FROM item WHERE id IN ({{ inputs.ids }})\ninputs: { ids: { type: array, items: { type: int } } }\n");
    app.write(
        "app/tools/writes/config.yaml",
        "description: x\nuse: main\nstatement: INSERT INTO item (id, name) VALUES ({{ inputs.id }}, 'x')\ninputs: { id: { type: int } }\n",
    );
    let said = run(app.path(), &["check", "--connect"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(
        said.err.contains("app/tools/wrong/config.yaml:3:12: the database does not take the statement of the tool `wrong`: "),
        "{}",
        said.err
    );
    assert!(said.err.contains("no such column: nam") && !said.err.contains("`writes`"), "{}", said.err);
    assert!(said.out.contains("0 errors, 0 warnings, 1 statement that a database does not take"), "{}", said.out);
    let json = run(app.path(), &["check", "--connect", "--json"]).json();
    assert_eq!((&json["ok"], &json["statements"][0]["tool"]), (&json!(false), &json!("wrong")));
    app.write("app/tools/wrong/config.yaml", GET_ITEM);
    let said = run(app.path(), &["check", "--connect"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(run(app.path(), &["call", "get-item", "id=1"]).out.contains("O'Neil"), "nothing was run");
}

#[test]
fn a_database_that_is_down_fails_the_check() {
    let app = app();
    // A port that was free a moment ago, and that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    app.write("app/adapters/main.yaml", &format!("connector: postgres\nconnection_string: postgres://u:p@127.0.0.1:{port}/d\n"));
    let said = run(app.path(), &["check", "--connect"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(said.out.contains("0 errors, 0 warnings, 1 database could not be reached"), "{}", said.out);
}

#[test]
fn a_tool_that_asks_is_answered_on_the_command_line() {
    let app = app();
    let confirm = "description: x\nuse: main\nstatement: DELETE FROM item WHERE id = {{ inputs.id }}\ninputs: { id: { type: int } }\nconfirm: \"Delete {{ inputs.id }}?\"\n";
    app.write("app/tools/delete-item/config.yaml", confirm);
    let asks = "import { elicit, requireInput } from \"millrace\";\nexport default () => {\n  const answers = requireInput({ who: elicit(\"Who?\",                 { type: \"object\", properties: { name: { type: \"string\" } }, required: [\"name\"] }) });\n  return answers;\n};\n";
    app.write("app/tools/ask/config.yaml", "description: x\n");
    app.write("app/tools/ask/handler.ts", asks);
    let made = "using a key that is made for this run";
    for (arguments, code, text) in [
        (&["call", "delete-item", "id=2"][..], 1, "answer with `--answer accept`"),
        (&["call", "delete-item", "id=2", "--answer", "decline"], 1, "DECLINED"),
        (&["call", "delete-item", "id=2", "--answer", "maybe"], 2, "`maybe` is not an answer"),
        (&["call", "delete-item", "id=2", "--answer", "accept"], 0, "affected_rows"),
        (&["call", "ask", "--answer", "accept"], 1, "an object of `name`"),
        (&["call", "ask", "--answer", "who:={\"name\": \"Ada\"}"], 0, "Ada"),
        (&["call", "ask", "--answer", "who:={\"nam\": 1}"], 1, "still asks after"),
        (&["call", "delete-itm", "id=2"], 1, "did you mean `delete-item`?"),
        (&["call", "get-items"], 1, "did you mean `get-item`?"),
    ] {
        let said = run(app.path(), arguments);
        let all = format!("{}{}", said.out, said.err);
        assert_eq!(said.code, Some(code), "{arguments:?}: {all}");
        assert!(all.contains(text), "{arguments:?}: {all}");
        assert_eq!(said.err.contains(made), code != 2, "{arguments:?}: {all}");
    }
    let target = run(app.path(), &["check", "--target", "lambda"]);
    assert!(target.err.contains("which needs the variable `MILLRACE_STATE_KEY`"), "{}", target.err);
    app.write(".env", "MILLRACE_STATE_KEY=k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n");
    assert!(!run(app.path(), &["check", "--target", "lambda"]).err.contains("MILLRACE_STATE_KEY"));
    assert!(!run(app.path(), &["call", "delete-item", "id=2", "--answer", "accept"]).err.contains(made));
    assert_eq!(run(app.path(), &["build", "--target", "local"]).code, Some(0));
    let served = ServerProcess::of(binary().current_dir(app.path()).args(["serve", "dist/small.bundle", "--port", "0"]));
    served.wait_for("needs the variable `MILLRACE_STATE_KEY`, and that is not set");
}

/// What a build says for a host whose runtime is not looked at: the files of another folder stand
/// in for it.
fn built(app: &App, arguments: &[&str]) -> String {
    let fake = tempfile::tempdir().unwrap();
    for name in ["index_bg.wasm", "bootstrap"] {
        fs::write(fake.path().join(name), name).unwrap();
    }
    let mut command = binary();
    command.env("MILLRACE_WORKER_RUNTIME", fake.path()).env("MILLRACE_LAMBDA_RUNTIME", fake.path().join("bootstrap"));
    let output = command.current_dir(app.path()).arg("build").args(arguments).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    said
}

/// The names in the folder of a build.
fn files_of(app: &App, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(app.path().join(folder)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_second_target_leaves_nothing_of_the_first_and_packs_nothing_in_silence() {
    let app = app();
    let adapter = "connector: sqlite\nconnection_string: main.db\noptions: { seed: ./main.sql }\n";
    app.write("app/adapters/main.yaml", &format!("{adapter}fallback: {{ connector: d1, connection_string: \"d1:DB\" }}\n"));
    let said = built(&app, &["--target", "worker"]);
    let command = "`wrangler d1 execute DB --local --config dist/wrangler.toml --file app/adapters/main.sql`";
    assert!(said.contains(command), "{said}");
    assert_eq!(files_of(&app, "dist"), [".millrace-build", "app.bin", "entry.mjs", "runtime", "state.mjs", "wrangler.toml"]);
    for private in
        ["dist/.dev.vars", "dist/.env.local", "dist/.wrangler/state", "dist/.aws-sam/x", "dist/old.db", "dist/notes.txt", "main.db"]
    {
        app.write(private, "");
    }
    let said = built(&app, &["--target", "lambda"]);
    for name in [".dev.vars", ".env.local", ".wrangler", ".aws-sam", "old.db"] {
        let expected = format!("warning: `dist/{name}` would be part of the package: move it out of the folder, or build into another one");
        assert!(said.contains(&expected), "{name}: {said}");
    }
    assert!(said.contains("warning: `dist` also has `notes.txt`"), "{said}");
    assert!(said.contains("adapter `main` opens `main.db`: your own file is packed as it is now"), "{said}");
    let ours = [".millrace-build", "app.bundle", "bootstrap", "data", "template.yaml"];
    let theirs = [".aws-sam", ".dev.vars", ".env.local", ".wrangler", "notes.txt", "old.db"];
    let mut expected = [&ours[..], &theirs].concat();
    expected.sort_unstable();
    assert_eq!(files_of(&app, "dist"), expected);

    // With the app elsewhere, and a file of the author's own, the command is one for where the
    // build was started.
    app.write("wrangler.toml", "name = \"x\"\nd1_databases = [{ binding = \"DB\" }]\n");
    let said = built(&app, &[&app.path().display().to_string(), "--target", "worker"]);
    let (config, file) = (app.path().join("wrangler.toml"), app.path().join("app/adapters/main.sql"));
    assert!(said.contains(&format!("--config {} --file {}`", config.display(), file.display())), "{said}");
    assert!(!said.contains("removed 0"), "{said}");
}

/// The small app with a D1 database in place of its file.
fn worker_app() -> App {
    let app = app();
    let adapter = "connector: sqlite\nconnection_string: main.db\noptions: { seed: ./main.sql }\n";
    app.write("app/adapters/main.yaml", &format!("{adapter}fallback: {{ connector: d1, connection_string: \"d1:DB\" }}\n"));
    app
}

#[test]
fn the_configuration_that_wrangler_takes_is_the_one_that_is_read_and_named() {
    let app = worker_app();
    let said = built(&app, &["--target", "worker"]);
    assert!(said.contains("serve it with `wrangler dev --local --config dist/wrangler.toml`"), "{said}");
    let bound = r#""d1_databases": [{ "binding": "DB" }]"#;
    app.write(
        "wrangler.jsonc",
        &format!("{{ // of the author\n  {bound}, \"env\": {{ \"staging\": {{ {bound} }}, \"live\": {{}} }}\n}}\n"),
    );
    let said = built(&app, &["--target", "worker"]);
    // What an earlier build made is not left beside it, where wrangler would find it.
    assert!(!files_of(&app, "dist").contains(&"wrangler.toml".to_owned()));
    let execute = |env: &str| format!("`wrangler d1 execute DB --local --config wrangler.jsonc{env} --file app/adapters/main.sql`");
    assert!(said.contains(&execute("")) && said.contains(&execute(" --env staging")) && !said.contains(&execute(" --env live")), "{said}");
    assert!(said.contains("`wrangler deploy --config wrangler.jsonc`, or with `--env staging` or `--env live` as well"), "{said}");
    assert!(said.contains("`env.live` of `wrangler.jsonc` has no D1 binding `DB`"), "{said}");
    let said = built(&app, &["--target", "worker", "--env", "staging"]);
    assert!(said.contains(&execute(" --env staging")) && !said.contains(&execute("")), "{said}");
    assert!(said.contains("deploy it with `wrangler deploy --config wrangler.jsonc --env staging`"), "{said}");

    let code = |arguments: &[&str]| run(app.path(), &[&["check", "--target", "worker"], arguments].concat()).code;
    assert_eq!(
        (code(&[]), code(&["--env", ""]), code(&["--env", "staging"]), code(&["--env", "live"])),
        (Some(1), Some(0), Some(0), Some(1))
    );
    let named = binary().current_dir(app.path()).args(["check", "--target", "worker"]).env("CLOUDFLARE_ENV", "staging").status().unwrap();
    assert_eq!(named.code(), Some(0));
    for wrong in [
        ["check", "--env", "staging"].as_slice(),
        &["check", "--target", "lambda", "--env", "x"],
        &["build", "--target", "local", "--env", "x"],
    ] {
        let said = run(app.path(), wrong);
        assert_eq!(said.code, Some(2), "{wrong:?}: {}", said.err);
    }
    app.write("wrangler.toml", "name = \"x\"\n");
    let said = run(app.path(), &["check", "--target", "worker", "--env", "staging"]);
    assert!(said.err.contains("`wrangler.toml` is not read: wrangler takes `wrangler.jsonc`"), "{}", said.err);
}

#[test]
fn printed_commands_work_where_a_path_has_a_space() {
    let app = worker_app();
    let said = built(&app, &["--target", "worker", "--out", "my dist"]);
    assert!(said.contains("`wrangler dev --local --config 'my dist/wrangler.toml'`"), "{said}");
    assert!(said.contains("--config 'my dist/wrangler.toml' --file app/adapters/main.sql`"), "{said}");
    assert!(built(&app, &["--target", "lambda", "--out", "my lambda"]).contains("`cd 'my lambda' && sam deploy --guided`"));
    assert!(built(&app, &["--target", "local", "--out", "my bundles"]).contains("`millrace serve 'my bundles/small.bundle'`"));
    assert!(run(app.path(), &["new", "my notes/one"]).out.contains("  cd 'my notes/one'\n"));
}

#[test]
#[cfg(unix)]
fn what_is_built_for_lambda_is_for_its_processor_and_readable_by_all() {
    use std::os::unix::fs::PermissionsExt as _;

    let app = app();
    app.write("app/adapters/own.yaml", "connector: sqlite\nconnection_string: data/own.db\n");
    app.write("data/own.db", "");
    fs::set_permissions(app.path().join("data/own.db"), fs::Permissions::from_mode(0o600)).unwrap();
    let fake = tempfile::tempdir().unwrap();
    fs::write(fake.path().join("bootstrap"), "bootstrap").unwrap();
    fs::set_permissions(fake.path().join("bootstrap"), fs::Permissions::from_mode(0o700)).unwrap();
    let program = env!("CARGO_BIN_EXE_millrace");
    let script = format!("umask 077; exec '{program}' build --target lambda --arch arm64 --out made");
    let build = || {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).current_dir(app.path()).env("MILLRACE_LAMBDA_RUNTIME", fake.path().join("bootstrap"));
        let output = command.output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        said
    };
    let said = build();
    assert!(!said.contains("warning: this runtime"), "{said}");
    let mode = |name: &str| fs::metadata(app.path().join("made").join(name)).unwrap().permissions().mode() & 0o777;
    for name in ["app.bundle", "template.yaml", "data/main.db", "data/data/own.db", ".millrace-build"] {
        assert_eq!(mode(name), 0o644, "{name}");
    }
    for name in ["bootstrap", "data", "data/data", ""] {
        assert_eq!(mode(name), 0o755, "{name}");
    }
    let template = fs::read_to_string(app.path().join("made/template.yaml")).unwrap();
    assert!(template.contains("  Architecture:\n    Type: String\n    Default: arm64\n"), "{template}");
    // A template of the author's own says its processor itself.
    fs::write(app.path().join("template.yaml"), template.replace("Default: arm64", "Default: x86_64")).unwrap();
    let said = build();
    assert!(said.contains("warning: this runtime is for arm64, and `template.yaml` deploys for x86_64"), "{said}");
    assert!(said.contains("deploy it with `sam deploy --guided --parameter-overrides Architecture=arm64`"), "{said}");
}

#[test]
fn check_asks_the_database_about_the_table_of_an_audit() {
    let app = app();
    app.write("millrace.yaml", "name: small\nmiddleware: [{ audit: { to: main, table: audit_log } }]\n");
    let said = run(app.path(), &["check", "--connect"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    let problem = "the adapter `main` does not take the rows of `audit`: ";
    assert!(said.err.contains(problem) && said.err.contains("no such table: audit_log"), "{}", said.err);
    assert!(said.out.contains("0 errors, 0 warnings, 1 table of `audit` that cannot be written"), "{}", said.out);
    let json = run(app.path(), &["check", "--connect", "--json"]).json();
    assert_eq!((&json["ok"], &json["audits"][0]["adapter"]), (&json!(false), &json!("main")));
    // What it says to do is enough.
    let create = said.err.split('`').find(|text| text.starts_with("CREATE TABLE ")).unwrap_or_else(|| panic!("{}", said.err));
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/audit.md")).unwrap();
    let of_page = page.split("```sql\n").nth(1).unwrap().split(";\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(create, of_page.replace("( ", "(").replace(" )", ")"));
    let seed = fs::read_to_string(app.path().join("app/adapters/main.sql")).unwrap();
    app.write("app/adapters/main.sql", &format!("{seed}\n{create};\n"));
    fs::remove_file(app.path().join("main.db")).unwrap();
    let said = run(app.path(), &["check", "--connect"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}
