//! The commands of docs/lambda.md, run as its reader would. `sam deploy` needs an account of AWS:
//! its options, its template and its parameters are read by `sam` itself, which then stops.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use millrace_tests::{
    case::root,
    docs::{blocks, shell_with, text},
    lambda::{self, arm64_is_there, watch::Watch},
};

use super::sample;

/// What marks a command that needs an account.
const MARK: &str = "# needs an AWS account";

fn page() -> String {
    fs::read_to_string(root().join("docs/lambda.md")).unwrap()
}

/// `sam` whose `deploy` ends when it has read its command line and everything that it names.
fn sam_without_account(folder: &Path) {
    let tools = lambda::installed("sam");
    let tools = tools.parent().unwrap().display();
    let deploy = "import sys; from samcli.commands.deploy.command import cli; cli.make_context('sam deploy', sys.argv[1:])";
    let script = format!("#!/bin/sh\n[ \"$1\" = deploy ] || exec {tools}/sam \"$@\"\nshift\nexec {tools}/python -c \"{deploy}\" \"$@\"\n");
    fs::write(folder.join("sam"), script).unwrap();
    fs::set_permissions(folder.join("sam"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// The command lines of the page's blocks, block by block.
fn commands() -> Vec<String> {
    let page = page();
    let blocks = blocks(&page);
    assert!(blocks.iter().all(|(kind, _)| kind == "sh"), "docs/lambda.md has a block that nothing tests: {blocks:?}");
    blocks.into_iter().map(|(_, body)| body).collect()
}

#[test]
fn the_lambda_page_does_what_it_says() {
    let (tools, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    sam_without_account(tools.path());
    // What says `sam build` speaks of a folder with a template and a Makefile, which the sample
    // has.
    let (installed, _) = sample();
    let env = [("SAM_CLI_TELEMETRY", "0"), ("AWS_DEFAULT_REGION", "eu-central-1"), ("MILLRACE_LAMBDA_PROFILE", "lambda")];
    // An optimised runtime for another processor takes minutes and shows nothing more.
    let quick = [env[0], env[1], ("MILLRACE_LAMBDA_PROFILE", "dev")];
    let mut ran = 0;
    for body in commands() {
        if body == "scripts/setup\n" {
            assert!(root().join("scripts/setup").exists());
            continue;
        }
        let is_arm64 = body.contains("arm64");
        if is_arm64 && !arm64_is_there(&body) {
            continue;
        }
        if body.starts_with("curl ") {
            // The function that the page has built, at an address of this machine.
            let port = Watch::free_port();
            let watch = Watch::start(&folder.path().join("notes/dist-lambda"), &[], port);
            let url = format!("http://127.0.0.1:{}/", watch.port);
            let output = shell_with(folder.path(), &body, &[("URL", &url)], &[]);
            let answer: serde_json::Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
            assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|rows| rows.contains("A tool is a folder")), "{answer}");
            ran += 1;
            continue;
        }
        let place = if body.contains("sam build") { installed.path().to_owned() } else { folder.path().join("notes") };
        let place = if place.exists() { place } else { folder.path().to_owned() };
        let output = shell_with(&place, &body, if is_arm64 { &quick } else { &env }, &[tools.path()]);
        assert!(output.status.success(), "{body}\n{}", text(&output));
        ran += 1;
    }
    assert!(ran >= 6, "only {ran} blocks were run");
    assert!(folder.path().join("notes/dist-lambda/bootstrap").is_file() && !folder.path().join("notes/dist-lambda/template.yaml").exists());
    // What stops before it deploys still knows a wrong option.
    let wrong = shell_with(&folder.path().join("notes"), "sam deploy --gided", &env, &[tools.path()]);
    assert!(!wrong.status.success() && text(&wrong).contains("No such option"), "{}", text(&wrong));
}

#[test]
fn what_needs_an_account_is_marked() {
    let lines: Vec<String> = commands().iter().flat_map(|body| body.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    for line in &lines {
        assert_eq!(line.contains("sam deploy") || line.starts_with("aws "), line.ends_with(MARK), "{line}");
    }
    assert!(lines.iter().any(|line| line.ends_with(MARK)));
}

#[test]
fn the_parameters_that_the_page_names_are_the_templates() {
    let template = fs::read_to_string(root().join("template.yaml")).unwrap();
    let (parameters, _) = template.split_once("\nRules:").unwrap();
    let page = page();
    let words = page.split(|c: char| c.is_whitespace() || "`(),;.".contains(c));
    let mut found = 0;
    for (name, value) in words.filter_map(|word| word.split_once('=')) {
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) || name.contains(|c: char| !c.is_ascii_alphabetic()) {
            continue;
        }
        let start = parameters.find(&format!("\n  {name}:\n")).unwrap_or_else(|| panic!("template.yaml has no parameter `{name}`"));
        let rest = &parameters[start + 1..];
        let allowed = rest.lines().skip(1).take_while(|line| line.starts_with("    ")).find(|line| line.contains("AllowedValues"));
        assert!(allowed.is_none_or(|allowed| allowed.contains(value)), "`{name}` may not be `{value}`: {allowed:?}");
        found += 1;
    }
    assert!(found >= 4, "only {found} parameters were found");
}

#[test]
fn commands_within_the_text_exist() {
    let mut found = 0;
    let page = page();
    for span in page.split('`').skip(1).step_by(2).filter(|span| span.starts_with("millrace ") && !span.contains('…')) {
        // Everything before `--help` must be right.
        let output = shell_with(&root(), &format!("{span} --help"), &[], &[]);
        assert!(output.status.success(), "{span}: {}", text(&output));
        found += 1;
    }
    assert!(found >= 2, "only {found} commands were found");
}
