//! What a loader finds in the scripts of an app is told at its place. Nothing runs here: the loader
//! says what it is told to say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::cell::RefCell;

use millrace_bundler::{Report, bundle, bundle_and_load};
use millrace_core::{
    app::Script,
    ports::{Ambient, LoadCost, LoadFault, ScriptLoad, ScriptLoader, TakenAtLoad},
};

use crate::support;

/// What becomes of a script, by its path.
type Answer<'a> = (&'a str, &'a dyn Fn(&Script) -> ScriptLoad);

struct Scripted<'a> {
    answers: &'a [Answer<'a>],
    asked: RefCell<Vec<String>>,
}

impl ScriptLoader for Scripted<'_> {
    fn load(&self, scripts: &[Script]) -> Vec<ScriptLoad> {
        self.asked.borrow_mut().extend(scripts.iter().map(|script| script.path.clone()));
        let answer = |script: &Script| self.answers.iter().find(|(path, _)| *path == script.path).map(|(_, answer)| answer(script));
        scripts.iter().map(|script| answer(script).unwrap_or_default()).collect()
    }
}

/// A line of a stack: the function, and where a text stands in the program, as the engine tells it.
fn call(script: &Script, function: &str, text: &str) -> String {
    let at = script.program.find(text).unwrap_or_else(|| panic!("`{text}` is not in {}", script.program));
    let before = &script.program[..at];
    let column = at - before.rfind('\n').map_or(0, |end| end + 1) + 1;
    format!("    at {function} ({}:{}:{column})\n", script.path, before.matches('\n').count() + 1)
}

fn threw(message: &str, stack: String) -> ScriptLoad {
    let fault = LoadFault { message: message.into(), stack: Some(stack).filter(|stack| !stack.is_empty()) };
    ScriptLoad { fault: Some(fault), ..ScriptLoad::default() }
}

fn took(what: Ambient, stack: Option<String>) -> ScriptLoad {
    ScriptLoad { took: vec![TakenAtLoad { what, stack }], ..ScriptLoad::default() }
}

#[test]
fn what_a_script_is_made_of_is_counted() {
    let cost = LoadCost { micros: 7, memory_bytes: 1024 };
    let files = [
        (
            "app/tools/a/handler.ts",
            "import { used } from 'p'; import { join } from 'node:path'; export default () => used + join('a', 'b');",
        ),
        ("app/tools/b/handler.ts", "export default () => (5).toLocaleString();"),
        ("node_modules/p/package.json", r#"{ "name": "p", "type": "module", "main": "index.js" }"#),
        ("node_modules/p/index.js", "export const used = 'used'; export const unused = 'this is longer than what is used of it'"),
    ];
    let report = loaded(&files, &[("app/tools/a/handler.ts", &|_| ScriptLoad { cost, ..ScriptLoad::default() })]);
    assert_eq!(support::told(&report), "");
    let [a, shared, b] = report.script_sizes.as_slice() else { panic!("{:?}", report.script_sizes) };
    assert_eq!((a.path.as_str(), a.load), ("app/tools/a/handler.ts", Some(cost)));
    assert_eq!(a.packages.keys().filter(|name| !name.starts_with("node:#")).collect::<Vec<_>>(), ["", "node:path", "node:process", "p"]);
    assert!((10..40).contains(&a.packages["p"]), "{:?}", a.packages);
    assert!(a.packages["node:path"] > 1000);
    assert_eq!((shared.path.as_str(), shared.packages.keys().map(String::as_str).collect::<Vec<_>>()), (Script::SHARED_PATH, vec!["Intl"]));
    assert_eq!(b.packages.keys().map(String::as_str).collect::<Vec<_>>(), [""]);
}

const ROOT: [(&str, &str); 2] = [("millrace.yaml", "name: shop\nfetch: { allow: [a.example] }"), ("package.json", "{}")];

/// An app with a tool for each script, loaded.
fn loaded(files: &[(&str, &str)], answers: &[Answer<'_>]) -> Report {
    let loader = Scripted { answers, asked: RefCell::default() };
    let folder = tempfile::tempdir().unwrap();
    support::write(folder.path(), ROOT.iter().chain(files));
    for (path, _) in files.iter().filter(|(path, _)| path.ends_with("handler.ts")) {
        support::write(folder.path(), &[(path.replace("handler.ts", "config.yaml").as_str(), "description: A")]);
    }
    bundle_and_load(folder.path(), &support::options(), &loader)
}

#[track_caller]
fn expect(files: &[(&str, &str)], answers: &[Answer<'_>], expected: &[&str]) {
    let report = loaded(files, answers);
    let told: Vec<String> = support::told(&report).lines().map(str::to_owned).collect();
    assert_eq!(told, expected);
    assert_eq!(report.app.is_some(), !expected.iter().any(|line| line.contains(" error: ")));
}

#[test]
fn what_a_module_throws_is_told_at_its_place() {
    let lib = "// é😀\nexport const more = (x: any) => {\n  const é = '😀'; return x.a.b;\n};\n";
    let files = [
        ("app/tools/a/handler.ts", "import { more } from '../../lib';\n\nconst one = more(1);\nexport default () => one;"),
        ("app/tools/b/handler.ts", "export default () => 1;"),
        ("app/tools/c/handler.ts", "export default () => 1;\nthrow 'x';"),
        ("app/lib.ts", lib),
    ];
    let undefined = |script: &Script| {
        let stack = call(script, "more", "x.a.b") + "    at map (native)\n" + &call(script, "<anonymous>", "more(1)");
        threw("TypeError: Cannot read properties of undefined (reading 'b')", stack + "    at load (<prelude>:1:1)\n")
    };
    let once = "    Modules run once, before any call: with this, no call could be answered.";
    expect(
        &files,
        &[("app/tools/a/handler.ts", &undefined), ("app/tools/c/handler.ts", &|_| threw("x", String::new()))],
        &[
            "app/lib.ts:3:25+0 error: the script cannot be loaded: TypeError: Cannot read properties of undefined (reading 'b')",
            once,
            "app/tools/c/handler.ts:1:1+0 error: the script cannot be loaded: x",
            once,
        ],
    );
}

#[test]
fn a_syntax_that_the_engine_does_not_have_is_told_at_its_place() {
    let files = [("app/tools/a/handler.ts", "export default function () {\n  return 1n;\n}")];
    let refused = |script: &Script| {
        let place = call(script, "", "return 1n").replace(" (", "").replace(')', "");
        threw("SyntaxError: expecting ';'", place)
    };
    expect(
        &files,
        &[("app/tools/a/handler.ts", &refused)],
        &[
            "app/tools/a/handler.ts:2:3+0 error: the script cannot be loaded: SyntaxError: expecting ';'",
            "    Modules run once, before any call: with this, no call could be answered.",
        ],
    );
}

#[test]
fn what_a_package_throws_is_told_where_the_app_calls_it() {
    let package = ("node_modules/p/index.js", "export const make = () => {\n  throw new Error('no');\n};\nmake.now = 1;");
    let described = ("node_modules/p/package.json", r#"{ "name": "p", "type": "module" }"#);
    let called = ("app/tools/a/handler.ts", "import { make } from 'p';\nconst made = make();\nexport default () => made;");
    let help = "    `app/tools/a/handler.ts` needs the package `p`: use it differently, or import another package or version.";
    let within = |script: &Script| threw("Error: no", call(script, "make", "new Error") + &call(script, "<anonymous>", "make()"));
    let path = "app/tools/a/handler.ts";
    let told = "app/tools/a/handler.ts:2:14+0 error: the script cannot be loaded: Error: no, at node_modules/p/index.js:2";
    expect(&[package, described, called], &[(path, &within)], &[told, help]);

    let alone = |script: &Script| threw("Error: no", call(script, "make", "new Error"));
    let told = "node_modules/p/index.js:2:9+0 error: the script cannot be loaded: Error: no";
    expect(&[package, described, called], &[(path, &alone)], &[told, help]);
}

#[test]
fn all_problems_are_told_at_once_and_one_place_once() {
    let files = [
        ("app/tools/a/handler.ts", "import { x } from '../../lib';\nexport default () => x;"),
        ("app/tools/b/handler.ts", "import { x } from '../../lib';\nexport default () => x;"),
        ("app/tools/c/handler.ts", "export default () => gone;"),
        ("app/lib.ts", "export const x = JSON.parse('{');"),
    ];
    let broken = |script: &Script| threw("SyntaxError: x", call(script, "<anonymous>", "JSON.parse"));
    expect(
        &files,
        &[("app/tools/a/handler.ts", &broken), ("app/tools/b/handler.ts", &broken)],
        &[
            "app/lib.ts:1:18+0 error: the script cannot be loaded: SyntaxError: x",
            "    Modules run once, before any call: with this, no call could be answered.",
            "app/tools/c/handler.ts:1:22+4 error: `gone` does not exist in scripts",
            "    Declare it, or import it.",
        ],
    );
}

#[test]
fn waiting_for_the_outside_is_told_where_it_is() {
    let waits =
        |_: &Script| ScriptLoad { awaits: true, took: vec![TakenAtLoad { what: Ambient::Outside, stack: None }], ..ScriptLoad::default() };
    let files = [
        ("app/tools/a/handler.ts", "import { rates } from '../../lib';\nexport default () => rates;"),
        ("app/tools/b/handler.ts", "const one = await Promise.resolve(1);\nexport default () => one;"),
        ("app/lib.ts", "export const rates = await (await fetch('https://a.example')).json();"),
    ];
    let told = "warning: a module waits for something outside when it is loaded, so the modules of the script run anew in each call";
    let help = "    Wait in the function that needs it: then each call begins with what the modules have computed.";
    expect(&files, &[("app/tools/a/handler.ts", &waits)], &[&format!("app/lib.ts:1:22+47 {told}"), help]);
    // Nobody can change a package here.
    let files = [
        ("node_modules/p/package.json", r#"{ "name": "p", "type": "module" }"#),
        ("node_modules/p/index.js", "export const p = await fetch('https://a.example');"),
        ("app/tools/a/handler.ts", "import { p } from 'p';\nexport default () => p;"),
    ];
    expect(&files, &[("app/tools/a/handler.ts", &waits)], &[&format!("app/tools/a/handler.ts:1:1+0 {told}"), help]);
    // Nothing of it is known where only the engine saw it.
    let files = [("app/tools/a/handler.ts", "export default () => 1;")];
    expect(&files, &[("app/tools/a/handler.ts", &waits)], &[&format!("app/tools/a/handler.ts:1:1+0 {told}"), help]);
}

#[test]
fn what_a_module_takes_from_around_it_is_told() {
    let files = [
        ("node_modules/p/package.json", r#"{ "name": "p", "type": "module" }"#),
        ("node_modules/p/index.js", "export const seed = Math.random();"),
        ("app/tools/a/handler.ts", "const started = Date.now();\nexport default () => started;"),
        ("app/tools/b/handler.ts", "import { seed } from 'p';\nexport default () => seed;"),
        ("app/tools/c/handler.ts", "export default () => 1;\nfetch('https://a.example');"),
    ];
    let clock = |script: &Script| took(Ambient::Clock, Some("    at now (native)\n".to_owned() + &call(script, "<anonymous>", "Date.now")));
    let random = |script: &Script| took(Ambient::Random, Some(call(script, "<anonymous>", "Math.random")));
    let outside = |_: &Script| took(Ambient::Outside, None);
    expect(
        &files,
        &[("app/tools/a/handler.ts", &clock), ("app/tools/b/handler.ts", &random), ("app/tools/c/handler.ts", &outside)],
        &[
            "app/tools/a/handler.ts:1:17+0 warning: a module reads the clock while it is loaded, so the modules of the script run anew in each call",
            "    Read the clock in the function that needs it: then each call begins with what the modules have computed.",
            "app/tools/b/handler.ts:1:1+0 warning: the package `p` takes random numbers while it is loaded, so the modules of the script run anew in each call",
            "    Take random numbers in the function that needs them: then each call begins with what the modules have computed.",
            "app/tools/c/handler.ts:1:1+0 warning: a module asks for something outside while it is loaded, so the modules of the script run anew in each call",
            "    Ask in the function that needs the answer: then each call begins with what the modules have computed.",
        ],
    );
}

#[test]
fn packages_may_read_the_clock_for_themselves() {
    let files = [
        ("node_modules/p/package.json", r#"{ "name": "p", "type": "module" }"#),
        ("node_modules/p/index.js", "export const now = () => Date.now();\nconst made = now();\nexport const age = () => now() - made;"),
        ("app/tools/a/handler.ts", "import { age } from 'p';\nexport default () => age();"),
        ("app/tools/b/handler.ts", "import { now } from 'p';\nconst started = now();\nexport default () => started;"),
        ("app/tools/c/handler.ts", "import { age } from 'p';\nexport default () => age();"),
    ];
    let of_package = |script: &Script| call(script, "now", "Date.now") + &call(script, "<anonymous>", "made = ");
    let clock = |script: &Script| took(Ambient::Clock, Some(of_package(script)));
    let own = |script: &Script| took(Ambient::Clock, Some(call(script, "now", "Date.now") + &call(script, "<anonymous>", "started = ")));
    let deep = |script: &Script| took(Ambient::Clock, Some(of_package(script).repeat(25)));
    let report = loaded(&files, &[("app/tools/a/handler.ts", &clock), ("app/tools/b/handler.ts", &own), ("app/tools/c/handler.ts", &deep)]);
    let told = support::told(&report);
    assert!(
        told.contains("app/tools/b/handler.ts:2:1+0 warning: the package `p` reads the clock")
            || told.contains("app/tools/b/handler.ts:2:7"),
        "{told}"
    );
    assert!(told.contains("app/tools/c/handler.ts") && !told.contains("app/tools/a/handler.ts"), "{told}");
    let app = report.app.unwrap();
    assert_eq!(app.scripts.iter().map(|script| script.loads_without_clock).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn scripts_are_loaded_once_and_only_for_who_wants_that() {
    let loader = Scripted { answers: &[], asked: RefCell::default() };
    let folder = tempfile::tempdir().unwrap();
    support::write(folder.path(), &ROOT);
    support::write(
        folder.path(),
        &[
            ("app/tools/a/config.yaml", "description: A\nmappers:\n  output: ./handler.ts#map"),
            ("app/tools/a/handler.ts", "export const map = () => 1; export default () => 2;"),
        ],
    );
    let loaded = bundle_and_load(folder.path(), &support::options(), &loader);
    assert_eq!(*loader.asked.borrow(), ["app/tools/a/handler.ts"]);
    assert_eq!(bundle(folder.path(), &support::options()).app, loaded.app);
}
