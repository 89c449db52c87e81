//! What a program comes to is what it comes to in Node: the lists in `programs/`, and programs made
//! at random, linked by the bundler.
//!
//! `programs/exceptions.txt` names those that differ, each with its reason; one that agrees fails
//! the test.
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use millrace_core::{app::Script, ports::Returned};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::support::{Setup, node};

/// As Node tells of them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Program {
    name: String,
    is_typed: bool,
    source: String,
    result: String,
}

fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let output = Command::new(node()).arg("--no-warnings").arg(folder.join("node.mjs")).env("TZ", "UTC").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const ENTRY: &str = "import show from './show.js';
export default async () => {
  try {
    return show(await run());
  } catch (error) {
    return `throws ${show(error)}`;
  }
};
";

/// Links a program as an app's script.
fn link(folder: &Path, program: &Program) -> Script {
    let file = if program.is_typed { "program.ts" } else { "program.js" };
    fs::write(folder.join(file), &program.source).unwrap();
    fs::write(folder.join("entry.js"), format!("import run from './{file}';\n{ENTRY}")).unwrap();
    let linked = millrace_bundler::script::link(folder, Path::new("entry.js"))
        .unwrap_or_else(|diagnostics| panic!("{}: {:?}\n{}", program.name, diagnostics, program.source));
    Script { path: format!("{}.js", program.name), program: linked.program, map: None, loads_without_clock: false }
}

/// The first place where two texts differ, with what is around it.
fn difference(left: &str, right: &str) -> String {
    let at = left.bytes().zip(right.bytes()).take_while(|(l, r)| l == r).count();
    let around = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60).min(text.len())..(at + 60).min(text.len())]).into_owned()
    };
    format!("\n  here …{}…\n  Node …{}…", around(left), around(right))
}

/// Of those made at random every fifth; all of them with `scripts/test --all`.
fn is_sampled(program: &Program) -> bool {
    let number = program.name.strip_prefix("made-").and_then(|name| name.rsplit_once('/')).map(|(_, number)| number);
    let is_everything = std::env::var_os("MILLRACE_TESTS").is_some_and(|value| value == "all");
    is_everything || number.is_none_or(|number| number.parse::<u32>().unwrap().is_multiple_of(5))
}

#[test]
fn programs_come_to_what_they_come_to_in_node() {
    let mut programs = programs();
    assert!(programs.len() >= 400, "{} programs", programs.len());
    let names: BTreeSet<String> = programs.iter().map(|program| program.name.clone()).collect();
    programs.retain(is_sampled);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("show.js"), include_str!("programs/show.js")).unwrap();
    let mut setup = Setup::new(&[]);
    setup.limits.output_bytes = 1 << 20;
    setup.scripts = programs.iter().map(|program| link(&folder, program)).collect();

    let listed: BTreeMap<&str, &str> = include_str!("programs/exceptions.txt")
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("without a reason: {line}")))
        .collect();
    let mut wrong = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let here = match setup.call(index, Json::Null) {
            Ok(Returned::Value(Json::String(result))) => result,
            other => format!("{other:?}"),
        };
        match listed.get(program.name.as_str()) {
            None if here != program.result => wrong.push(format!("{}: {}", program.name, difference(&here, &program.result))),
            Some(_) if here == program.result => wrong.push(format!("{}: agrees; take it off the list", program.name)),
            _ => {}
        }
    }
    for name in listed.keys().filter(|name| !names.contains(**name)) {
        wrong.push(format!("{name}: is listed, and does not exist"));
    }
    assert!(wrong.is_empty(), "{} of {} programs:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}
