//! The invariants of ARCHITECTURE.md that no type can hold.

use std::{
    cell::Cell,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use millrace_core::{
    Endpoint, Result,
    app::{App, BUNDLE_VERSION, BundleError, EARLIER_BUNDLE_VERSION, ScriptRef},
    pipeline::Stage,
    ports::{Invocation, LocalFuture, Returned, ScriptEngine, ScriptFault},
};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    Group,
    case::root,
    direct::{compile, run_on},
    groups,
};

mod imports;
mod tidy;

fn group(name: &str) -> Group {
    groups().into_iter().find(|group| group.name == name).unwrap()
}

/// Every Rust file below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

#[test]
fn every_file_of_tests_is_in_its_binary() {
    for folder in ["bundler", "adapters/native", "adapters/script", "tests"] {
        let folder = root().join(folder).join("tests");
        let main = fs::read_to_string(folder.join("main.rs")).unwrap();
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Some(name) = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".rs")) else { continue };
            assert!(name == "main" || main.contains(&format!("mod {name};")), "{} is not run: name it in main.rs", file.display());
        }
    }
}

/// Where a thread sleeps beside [`millrace_tests::wait`]: a pace, which nothing waits for.
const PACES: [(&str, &str); 5] = [
    ("stdio.rs", "looks whether nothing has been taken since the last look"),
    ("worker_ports/disconnect.rs", "clients go at different times of an answer"),
    ("postgres/callers.rs", "how often connections are ended under calls"),
    ("postgres/sessions.rs", "how often connections are ended under calls"),
    ("postgres/rotation.rs", "how often calls are made while a password is changed"),
];

#[test]
fn tests_wait_for_conditions() {
    let folder = root().join("tests");
    let sleeps = |file: &Path| fs::read_to_string(file).unwrap().contains(concat!("thread::", "sleep("));
    let found: BTreeSet<String> = [folder.join("src"), folder.join("tests")]
        .iter()
        .flat_map(|below| sources(below).into_iter().map(move |file| (below, file)))
        .filter(|(_, file)| sleeps(file))
        .map(|(below, file)| file.strip_prefix(below).unwrap().display().to_string())
        .collect();
    let known = PACES.iter().map(|(file, _)| (*file).to_owned()).chain(["wait.rs".to_owned()]).collect();
    assert_eq!(found, known, "a test waits for a condition, with `millrace_tests::wait`");
}

#[test]
fn the_core_knows_no_host() {
    let manifest = fs::read_to_string(root().join("core/Cargo.toml")).unwrap();
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    for line in dependencies.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let name = line.split([' ', '.', '=']).next().unwrap();
        let known = [
            "base64",
            "chacha20poly1305",
            "hashbrown",
            "hmac",
            "jiff",
            "postcard",
            "regex-automata",
            "regex-syntax",
            "rustc-hash",
            "serde",
            "serde_json",
            "sha2",
            "subtle",
            "tracing",
        ];
        assert!(known.contains(&name), "core depends on `{name}`; a dependency of the core takes a decision in docs/decisions");
    }
    for file in sources(&root().join("core/src")) {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let tests = file.components().any(|part| part.as_os_str() == "tests");
        assert!(
            tests || !code.lines().any(|line| line.trim_start().starts_with("use std") || line.contains("extern crate std")),
            "{}",
            file.display()
        );
    }
    assert!(fs::read_to_string(root().join("core/src/lib.rs")).unwrap().contains("#![no_std]"));
}

/// The paths that the `use` declarations of a source name, braces undone: `a::{b, c::{self, d}}` is
/// `a::b`, `a::c` and `a::c::d`.
fn used(source: &str) -> Vec<String> {
    fn tree(prefix: &str, text: &str, paths: &mut Vec<String>) {
        let (mut depth, mut start) = (0, 0);
        let mut branches = Vec::new();
        for (at, character) in text.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    branches.push(&text[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        branches.push(&text[start..]);
        for branch in branches.into_iter().map(str::trim).filter(|branch| !branch.is_empty()) {
            match branch.split_once('{') {
                Some((head, rest)) => tree(&format!("{prefix}{}", head.trim()), rest.trim_end().trim_end_matches('}'), paths),
                None => paths.push(format!("{prefix}{}", branch.split(" as ").next().unwrap().trim().trim_end_matches("::self"))),
            }
        }
    }
    let mut paths = Vec::new();
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("use ") {
        let (declaration, later) = after.split_once(';').unwrap_or((after, ""));
        let begins_a_line =
            before.rsplit('\n').next().unwrap().trim().trim_start_matches("pub").trim_start_matches("(crate)").trim().is_empty();
        if begins_a_line {
            tree("", declaration, &mut paths);
            rest = later;
        } else {
            rest = after;
        }
    }
    paths.into_iter().map(|path| path.trim_end_matches("::self").to_owned()).collect()
}

#[test]
fn adapters_know_no_stage_and_not_each_other() {
    let example = "//! use x::y;\nuse a::{\n    b,\n    c::{self, d as e},\n};\npub(crate) use f::g;\n";
    assert_eq!(used(example), ["a::b", "a::c", "a::c::d", "f::g"]);
    // An adapter meets the core at its ports and its border; it does not know what a stage does.
    // The command line calls tools without HTTP and prints the plan of a call: these names are what
    // it takes for that. It may name a stage that it was told of, and none by itself.
    let border = ["Call", "ContentBlock", "Rounds", "Stage", "ToolResult", "stage::Step", "stage::plan"]
        .map(|name| format!("millrace_core::pipeline::{name}"));
    let mut met = BTreeSet::new();
    for adapter in
        ["aws", "caches", "catalogue", "connectors", "redis", "script", "telemetry", "tokens", "native", "local", "lambda", "worker"]
    {
        let files = sources(&root().join("adapters").join(adapter).join("src"));
        assert!(!files.is_empty(), "{adapter} has no sources");
        for file in files.into_iter().filter(|file| file.file_name().is_none_or(|name| name != "tests.rs")) {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            assert!(!code.contains("millrace_core::pipeline::"), "{} names the pipeline outside of `use`", file.display());
            for path in used(code).into_iter().filter(|path| path.starts_with("millrace_core::pipeline")) {
                assert!(adapter == "local" && border.contains(&path), "{} uses `{path}`", file.display());
                met.insert(path);
            }
            for stage in Stage::ALL {
                assert!(!code.contains(&format!("Stage::{stage:?}")), "{} knows the stage {stage:?}", file.display());
            }
        }
    }
    assert_eq!(met.len(), border.len(), "only {met:?} were found: the test sees too little");
    for driver in ["aws", "caches", "connectors", "redis", "script", "telemetry", "tokens"] {
        let manifest = fs::read_to_string(root().join("adapters").join(driver).join("Cargo.toml")).unwrap();
        // Its tests may: those of scripts prepare them as an app's build does.
        let manifest = manifest.split("[dev-dependencies]").next().unwrap();
        for host in ["millrace-native", "millrace-local", "millrace-bundler", "hyper", "reqwest"] {
            assert!(!manifest.contains(&format!("\n{host} ")) && !manifest.contains(&format!("\n{host}.")), "{driver} depends on `{host}`");
        }
    }
}

/// Modules that import each other can only be read together. What is left: expressions and fields
/// with their checks, arrays of arrays, and the supervisor of processes with what it serves.
#[test]
fn modules_have_few_import_circles() {
    let (mut circles, mut imported, mut longest) = (0, 0, 0);
    let mut described = String::new();
    let adapters = fs::read_dir(root().join("adapters")).unwrap().map(|entry| entry.unwrap().path());
    let crates = ["core", "languages", "bundler", "grants"].into_iter().map(|name| root().join(name)).chain(adapters);
    for folder in crates.filter(|folder| folder.join("src").is_dir()) {
        let imports = imports::imports(&folder.join("src"));
        imported += imports.values().map(|targets| targets.len()).sum::<usize>();
        for (circle, lines) in imports::circles(&imports) {
            (circles, longest) = (circles + 1, longest.max(circle.len()));
            described += &format!("{}: a circle of {} files\n{lines}", folder.file_name().unwrap().display(), circle.len());
        }
    }
    assert!(imported > 500, "only {imported} imports were found: the test sees too little");
    assert!(circles <= 3 && longest <= 3, "at most 3 circles of at most 3 files; here are {circles}:\n{described}");
}

/// An engine that counts how often it is asked.
struct Counting(Rc<Cell<usize>>);

impl ScriptEngine for Counting {
    fn call<'a>(&'a self, _: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        self.0.set(self.0.get() + 1);
        Box::pin(async { Ok(Returned::Undefined) })
    }
}

#[test]
fn an_app_without_scripts_never_starts_the_engine() {
    for (name, asked) in [("statements", false), ("cache", false), ("scripts", true)] {
        let group = group(name);
        let calls = Rc::new(Cell::new(0));
        run_on(&group, |app, folder| {
            let mut ports =
                ports::native(folder.to_path_buf(), Variables::from_iter(group.env.iter().cloned()), &CacheChoice::Memory, &Tasks::new());
            ports.scripts = Rc::new(Counting(calls.clone()));
            Endpoint::new(app, ports)
        });
        assert_eq!(calls.get() > 0, asked, "{name} asked the engine {} times", calls.get());
    }
}

#[test]
fn a_bundle_that_no_bundler_made_is_refused() {
    type Spoil = dyn Fn(&mut App);
    fn nowhere() -> ScriptRef {
        ScriptRef { script: 99, export: "default".into() }
    }
    let golden = fs::read(root().join(format!("tests/data/statements.v{EARLIER_BUNDLE_VERSION}.bundle"))).unwrap();
    let refused = |spoil: &Spoil| {
        let mut app = App::from_bundle(&golden).unwrap();
        spoil(&mut app);
        App::from_bundle(&app.to_bundle().unwrap()).err()
    };
    assert_eq!(refused(&|_| ()), None);
    let table: [(&Spoil, &str); 5] = [
        (&|app| app.tools.reverse(), "its tools are not sorted by name"),
        (&|app| app.tools[1].name = app.tools[0].name.clone(), "its tools are not sorted by name"),
        (&|app| app.adapters.clear(), "a tool refers to something that it does not have"),
        (&|app| app.tools[0].map_input = Some(nowhere()), "a tool refers to something that it does not have"),
        (&|app| app.adapters.insert(0, app.adapters[0].clone()), "its adapters are not sorted by name"),
    ];
    for (spoil, problem) in table {
        assert_eq!(refused(spoil), Some(BundleError::Inconsistent(problem)));
    }
}

#[test]
fn a_bundle_of_this_version_stays_readable() {
    // An app without anything new is a bundle of the version before.
    for (name, version) in [("statements", EARLIER_BUNDLE_VERSION), ("audit", BUNDLE_VERSION)] {
        let golden = root().join(format!("tests/data/{name}.v{version}.bundle"));
        let bundle = compile(&group(name).app).to_bundle().unwrap();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&golden, &bundle).unwrap();
        }
        let kept = fs::read(&golden).unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
        assert!(kept == bundle, "{name}: the encoding changed: that is a new BUNDLE_VERSION, with a new golden file");
        assert_eq!(App::from_bundle(&kept).unwrap().name, name);
        // Of the second, what follows the app.
        let first = if name == "audit" { kept.len() - 1_000 } else { 0 };
        for cut in first..kept.len() {
            assert!(App::from_bundle(&kept[..cut]).is_err(), "{name}: cut at {cut}");
        }
    }
}
