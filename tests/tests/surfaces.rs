//! What callers rely on is accepted, and what is different afterwards is told: by `check`, `check
//! --against` and `diff`.

use std::{fs, path::Path, process::Command};

use millrace_tests::{
    case::root,
    docs::{blocks, shell, text},
    files::write,
    local::{Host, binary},
};
use serde_json::{Value, json};

/// Runs a command; gives its exit code and what it said.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(binary()).current_dir(folder).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

const TOOL: &str = "app/tools/find/config.yaml";

/// An app with a tool, in a folder.
fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: contract\n");
    write(folder.path(), "app/adapters/main.yaml", "connector: sqlite\nconnection_string: ':memory:'\n");
    tool(folder.path(), "100");
    folder
}

fn tool(folder: &Path, most: &str) {
    let text = format!(
        "description: Find it.\nuse: main\nstatement: SELECT {{{{ inputs.q }}}} AS q LIMIT {{{{ inputs.limit }}}}\ninputs:\n  q: {{ type: string }}\n  \
         limit: {{ type: int, default: 10, min: 1, max: {most} }}\n"
    );
    write(folder, TOOL, &text);
}

#[test]
fn what_breaks_callers_is_a_mistake_until_it_is_accepted() {
    let folder = app();
    let path = folder.path();
    // Without a lock file, and with one of the version before, nothing is compared.
    assert_eq!(run(path, &["check"]).0, Some(0));
    write(path, "millrace.lock", "{\"version\": 1, \"tools\": {}}");
    let (code, said) = run(path, &["check"]);
    assert!(code == Some(0) && !said.contains("--accept"), "{said}");
    let (code, said) = run(path, &["check", "--accept"]);
    assert!(code == Some(0) && said.contains("`millrace.lock` has what callers rely on: 1 tool, 0 prompts and 0 resources"), "{said}");
    let written = fs::metadata(path.join("millrace.lock")).unwrap().modified().unwrap();
    assert_eq!(run(path, &["check", "--accept"]).0, Some(0));
    assert_eq!(fs::metadata(path.join("millrace.lock")).unwrap().modified().unwrap(), written, "what is the same is not written");

    tool(path, "50");
    let (code, said) = run(path, &["check"]);
    let change = "breaks callers: the tool `find`: the input `limit`: `maximum` was `100`, and is `50`";
    assert!(code == Some(1) && said.contains(&format!("{TOOL}:6:44: {change}")) && said.contains("millrace check --accept"), "{said}");
    let (code, said) = run(path, &["check", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &said["ok"]), (Some(1), &json!(false)));
    let expected = json!([{
        "class": "breaks", "kind": "tool", "name": "find", "path": ["inputs", "limit", "maximum"],
        "place": format!("{TOOL}:6:44"), "change": "the input `limit`: `maximum` was `100`, and is `50`",
    }]);
    assert_eq!(said["changes"], expected);
    // What does not break is told, and no mistake.
    tool(path, "200");
    let (code, said) = run(path, &["check"]);
    assert!(code == Some(0) && said.contains("compatible: the tool `find`"), "{said}");
    // What is accepted is compared no more, and what databases said stays.
    tool(path, "50");
    assert_eq!(run(path, &["check", "--connect", "--lock"]).0, Some(1));
    assert_eq!(run(path, &["check", "--accept"]).0, Some(0));
    assert_eq!(run(path, &["check", "--connect", "--lock"]).0, Some(0));
    let lock: Value = serde_json::from_str(&fs::read_to_string(path.join("millrace.lock")).unwrap()).unwrap();
    assert!(lock["tools"]["find"].is_object() && lock["surface"]["tools"]["find"].is_object(), "{lock}");
    assert_eq!(run(path, &["check"]).0, Some(0));
    // An app with mistakes is not accepted.
    write(path, TOOL, "description: 1\n");
    let (code, said) = run(path, &["check", "--accept"]);
    assert!(code == Some(1) && said.contains("`millrace.lock` was not written"), "{said}");
}

#[test]
fn a_server_is_compared_by_its_lists() {
    let folder = app();
    let path = folder.path();
    let host = Host::dev(path, &[]);
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    // The app as it will be is in another folder: the server follows its own.
    let next = app();
    let (code, said) = run(next.path(), &["check", "--against", &url]);
    assert!(code == Some(0) && said.contains("0 changes break callers"), "{said}");
    tool(next.path(), "50");
    write(next.path(), "app/tools/more/config.yaml", "description: More.\nuse: main\nstatement: SELECT 1 AS one\n");
    let (code, said) = run(next.path(), &["check", "--against", &url, "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let classes: Vec<&Value> = said["against"].as_array().unwrap().iter().map(|change| &change["class"]).collect();
    assert_eq!((code, classes), (Some(1), vec![&json!("breaks"), &json!("compatible")]), "{said}");
    drop(host);
    let (code, said) = run(next.path(), &["check", "--against", &url]);
    assert!(code == Some(2) && said.contains("the server cannot be asked"), "{said}");
    let (code, said) = run(next.path(), &["check", "--header", "X-API-Key: 1"]);
    assert!(code == Some(2) && said.contains("`--header` belongs to `--against`"), "{said}");
}

#[test]
fn bundles_folders_and_lock_files_are_compared() {
    let folder = app();
    let path = folder.path();
    assert_eq!(run(path, &["build", "--target", "local", "--out", "old"]).0, Some(0));
    assert_eq!(run(path, &["check", "--accept"]).0, Some(0));
    let bundle = fs::read_dir(path.join("old")).unwrap().map(|entry| entry.unwrap().path());
    let bundle = bundle.into_iter().find(|file| fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"MILLRACE"))).unwrap();
    let bundle = bundle.to_str().unwrap();
    for before in [bundle, "millrace.lock", "."] {
        assert_eq!(run(path, &["diff", before, "."]).0, Some(0), "{before}");
    }
    tool(path, "50");
    for before in [bundle, "millrace.lock"] {
        let (code, said) = run(path, &["diff", before, "."]);
        assert!(code == Some(1) && said.contains(&format!("{TOOL}:6:44: breaks callers: ")), "{before}: {said}");
        let (code, said) = run(path, &["diff", ".", before]);
        assert!(code == Some(0) && said.contains("compatible: the tool `find`"), "{before}: {said}");
    }
    let (code, said) = run(path, &["diff", bundle, ".", "--json"]);
    assert_eq!((code, serde_json::from_str::<Value>(&said).unwrap()["ok"].clone()), (Some(1), json!(false)));
    write(path, "old.lock", "{\"version\": 1, \"tools\": {}}");
    write(path, "text", "text");
    for (before, why) in
        [("old.lock", "does not say what callers rely on"), ("text", "neither a bundle nor a lock file"), ("none", "cannot be read")]
    {
        let (code, said) = run(path, &["diff", before, "."]);
        assert!(code == Some(2) && said.contains(why), "{before}: {said}");
    }
    write(path, TOOL, "description: 1\n");
    let (code, said) = run(path, &["diff", bundle, "."]);
    assert!(code == Some(2) && said.contains("has mistakes"), "{said}");
}

#[test]
fn the_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/contract.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let app = folder.path().join("notes");
    let commands: Vec<String> = blocks(&page).into_iter().filter(|(kind, _)| kind == "sh").map(|(_, command)| command).collect();
    let [accept, check, diff, against] = commands.as_slice() else { panic!("{commands:?}") };
    let accepted = shell(&app, accept);
    assert!(accepted.status.success(), "{}", text(&accepted));
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        write(&app, first.trim_start_matches(['#', ' ']), rest);
    }
    assert!(shell(&app, accept).status.success());
    let path = app.join("app/tools/titles/config.yaml");
    let changed = fs::read_to_string(&path).unwrap().replace("max: 100", "max: 50");
    fs::write(&path, changed).unwrap();
    let checked = shell(&app, check);
    let expected = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(!checked.status.success() && expected.lines().all(|line| text(&checked).contains(line)), "{}", text(&checked));
    let built = shell(&app, "millrace build --target local");
    assert!(built.status.success(), "{}", text(&built));
    let compared = shell(&app, diff);
    assert!(compared.status.success(), "{}", text(&compared));
    let host = Host::dev(&app, &[]);
    let asked = shell(&app, &against.replace("https://notes.example.com", &format!("http://127.0.0.1:{}", host.port)));
    assert!(asked.status.success() || text(&asked).contains("since `millrace.lock`"), "{}", text(&asked));
    assert!(text(&asked).contains("offers, 0 changes break callers"), "{}", text(&asked));
}
