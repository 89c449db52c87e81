//! Every command and snippet of the README, run as a new user would, in an empty folder.

use std::{fs, process::Command};

use millrace_tests::{
    case::root,
    docs::{blocks, shell, text},
    groups,
    local::{Host, binary},
};

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
            "sh" if body == "cargo run -- dev\n" => server = Some(Host::dev(installed.path(), &[])),
            "sh" => {
                let port = server.as_ref().map_or(0, |host: &Host| host.port);
                let script =
                    body.replace("cargo install --path adapters/local\n", "").replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"));
                let output = shell(folder.path(), &script);
                last = text(&output);
                assert!(output.status.success(), "{body}\n{last}");
            }
            "json" => assert_eq!(body.trim(), last.trim(), "the answer that the README shows"),
            "yaml" | "ts" => {
                let (first, rest) = body.split_once('\n').unwrap();
                let file = app.join(first.trim_start_matches(['#', '/', ' ']));
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, rest).unwrap();
            }
            other => panic!("the README has a block of kind `{other}`, which nothing tests"),
        }
        ran += 1;
    }
    assert!(ran >= 7, "only {ran} blocks were found");

    // The app with the README's tools is good, and they do what the README says.
    let script = "millrace check notes && millrace call --app notes find-by-text part=e sort=text && millrace call --app notes shout id=1";
    let output = shell(folder.path(), script);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn the_readme_lists_every_command() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let help = Command::new(binary()).arg("--help").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.trim().is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(commands.len() >= 9, "{help}");
    for command in commands {
        assert!(readme.contains(&format!("`millrace {command}")), "README.md does not list `millrace {command}`");
    }
}

#[test]
fn links_lead_somewhere() {
    for file in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|link| !link.contains("://")) {
            assert!(root().join(link).exists(), "{file} links to `{link}`, which does not exist");
        }
    }
}

#[test]
fn the_scripts_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/scripts.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let written = blocks(&page).into_iter().map(|(_, body)| {
        let (first, rest) = body.split_once('\n').unwrap();
        let file = folder.path().join("notes").join(first.trim_start_matches(['#', '/', ' ']));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, rest).unwrap();
    });
    assert_eq!(written.count(), 4);
    for tool in ["chart", "cancel"] {
        let config = folder.path().join("notes/app/tools").join(tool).join("config.yaml");
        fs::write(config, "description: As the page has it.\ninputs:\n  id: { type: int }\n").unwrap();
    }
    let output = shell(folder.path(), "millrace check notes && millrace call --app notes shipping id=1 && millrace types notes");
    assert!(output.status.success() && text(&output).contains("{\"length\":"), "{}", text(&output));
    let missing = shell(folder.path(), "millrace call --app notes shipping id=999");
    assert!(missing.status.code() == Some(1) && text(&missing).contains("code=\"NOT_FOUND\""), "{}", text(&missing));
}

#[test]
fn every_code_is_documented_and_every_documented_code_exists() {
    let page = fs::read_to_string(root().join("docs/answers.md")).unwrap();
    let documented: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|code| code.chars().all(|c| c == '_' || c.is_ascii_uppercase()))
        .collect();
    assert!(documented.len() >= 15, "{documented:?}");
    // Codes that the apps of the corpus made up.
    let own = ["ERROR", "NOT_FOUND", "NOT_OPEN", "STALE", "GONE"];
    for case in groups().into_iter().flat_map(|group| group.cases) {
        let answers = fs::read_to_string(&case.expected).unwrap();
        for code in answers.split("\"severity\"").filter_map(|before| before.rsplit("\"code\":\"").next()?.split('"').next()) {
            let is_code = code.len() > 3 && code.chars().all(|c| c == '_' || c.is_ascii_uppercase());
            assert!(
                !is_code || own.contains(&code) || documented.contains(&code),
                "docs/answers.md does not explain `{code}` of {}",
                case.name
            );
        }
    }
    let core = shell(
        &root(),
        "cat core/src/pipeline/*.rs core/src/pipeline/*/*.rs core/src/protocol/*.rs core/src/protocol/*/*.rs core/src/fault.rs",
    );
    let core = String::from_utf8_lossy(&core.stdout).into_owned();
    for code in documented {
        assert!(core.contains(&format!("\"{code}\"")), "docs/answers.md explains `{code}`, which nothing says");
    }
}
