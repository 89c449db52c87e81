//! What `millrace new` writes, used as its author, a coding agent and a client would.

use std::fs;

use millrace_core::Json;
use millrace_tests::{
    case::{Exchange, root},
    docs::{blocks, text},
    local::Host,
    new_app::NewApp,
};

/// Each command in backticks in a text that an author can run anywhere: of npm and npx, without a placeholder.
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
    assert!(app.path().join("millrace.d.ts").is_file(), "`npm run types` wrote it");
}

#[test]
fn the_readme_of_a_new_app_names_what_exists() {
    let app = NewApp::make("notes", &[]);
    let package: Json = serde_json::from_str(&app.read("package.json")).unwrap();
    let readme = app.read("README.md");
    let named = commands(&readme);
    let scripts = package["scripts"].as_object().unwrap();
    for script in scripts.keys() {
        let is_named = readme.contains(&format!("`npm run {script}`")) || blocks(&readme).iter().any(|(_, body)| body.contains(script));
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
fn clients_find_the_endpoint_that_dev_serves() {
    let app = NewApp::make("notes", &[]);
    let configuration: Json = serde_json::from_str(&app.read(".mcp.json")).unwrap();
    let entry = &configuration["mcpServers"]["notes"];
    assert_eq!(entry["type"], "http");
    let host = Host::dev(&app.path(), &[]);
    let path = entry["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8080").unwrap();
    let request = Exchange { path: path.to_owned(), ..Exchange::parse("CALL find-notes {\"q\": \"tools\"}") };
    let answer = host.send(&request);
    assert!(answer.contains("A tool is a folder below app/tools."), "{answer}");
    assert!(
        text(&app.run("git init -q . && git add -A && git status --short"))
            .lines()
            .all(|line| !line.contains("notes.db") && !line.contains("node_modules"))
    );
}
