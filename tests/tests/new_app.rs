//! What `millrace new` writes, used as its author, a coding agent and a client would.

use std::fs;

use millrace_core::Json;
use millrace_tests::{case::root, docs::blocks, new_app::NewApp, typescript::is_strict};
use serde_json::json;

/// Each command in backticks in a text that an author can run anywhere: of npm and npx, without a
/// placeholder.
fn commands(page: &str) -> Vec<String> {
    let prose: String = page.split("\n```").step_by(2).collect();
    let spans = prose.split('`').skip(1).step_by(2).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    spans.filter(|span| span.starts_with("npm ") || span.starts_with("npx ")).collect()
}

#[test]
fn what_agents_are_told_works() {
    let app = NewApp::make("notes", &[]);
    assert!(app.follow_agents() >= 6);
    let checked = app.runs("npm run --silent check");
    assert!(checked.contains("5 tools") && checked.contains(": 0 errors, 0 warnings"), "{checked}");
    assert!(app.runs("npx millrace call count-rows part=tool").contains("\"total\":"));
    for command in commands(&app.read("AGENTS.md")) {
        let _ = app.runs(&command);
    }
    is_strict(&app.path());
}

#[test]
fn the_readme_of_a_new_app_names_what_exists() {
    let app = NewApp::make("notes", &[]);
    let package: Json = serde_json::from_str(&app.read("package.json")).unwrap();
    let readme = app.read("README.md");
    let named = commands(&readme);
    let scripts = package["scripts"].as_object().unwrap();
    for script in scripts.keys() {
        let is_named = [" run", ""].iter().any(|run| readme.contains(&format!("`npm{run} {script}`")))
            || blocks(&readme).iter().any(|(_, body)| body.contains(script));
        assert!(is_named, "README.md does not mention the script `{script}`");
    }
    for command in named.iter().filter(|command| command.starts_with("npm run ")) {
        let script = command.split(' ').nth(2).unwrap();
        assert!(scripts.contains_key(script), "README.md names the script `{script}`, which does not exist");
    }
    // These end by themselves and reach no network.
    for command in
        named.iter().filter(|command| command.starts_with("npx ") || ["npm run check", "npm run types"].contains(&command.as_str()))
    {
        let _ = app.runs(command);
    }
    let pinned: Json = serde_json::from_str(&fs::read_to_string(root().join("tests/worker/package.json")).unwrap()).unwrap();
    let wrangler = pinned["dependencies"]["wrangler"].as_str().unwrap();
    assert_eq!(package["devDependencies"]["wrangler"], format!("^{wrangler}"), "the version that the Worker is tested with");
    assert!(readme.contains("(https://deploy.workers.cloudflare.com/?url=https://github.com/YOUR-NAME/notes)"), "{readme}");
    for (file, text) in ["README.md", "AGENTS.md"].map(|file| (file, app.read(file))) {
        assert!(!text.contains("{{") || text.contains("{{ "), "{file} has a part that was not filled in");
        for left in ["{{name}}", "{{call}}", "{{data}}", "{{worker}}", "{{lambda}}", "{{table}}"] {
            assert!(!text.contains(left), "{file} has {left}");
        }
    }
}

#[test]
fn clients_start_the_app_by_what_is_written_for_them() {
    let app = NewApp::make("notes", &[]);
    let configuration: Json = serde_json::from_str(&app.read(".mcp.json")).unwrap();
    let entry = &configuration["mcpServers"]["notes"];
    assert_eq!((&entry["type"], &entry["command"]), (&json!("stdio"), &json!("npx")));
    let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ");
    let message =
        |id: u8, method: &str, params: Json| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
    let client = json!({ "name": "test", "version": "1" });
    let messages = [
        message(1, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client })),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        message(2, "tools/call", json!({ "name": "find-notes", "arguments": { "q": "tools" } })),
    ];
    fs::write(app.path().join("messages"), messages.join("\n") + "\n").unwrap();
    let said = app.runs(&format!("npx {words} < messages"));
    assert!(said.contains("A tool is a folder below app/tools."), "{said}");
    let listed = app.runs("git init -q . && git add -A && git status --short");
    assert!(!listed.contains("notes.db") && !listed.contains("node_modules") && listed.contains(".mcp.json"), "{listed}");
}
