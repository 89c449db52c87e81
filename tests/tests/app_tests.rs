//! `millrace test`: tests that pass, each expectation that fails when it should, what a test cannot
//! reach, and what is written of it.

mod beside;
mod first;
mod mutations;
mod npm;
mod watch;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use millrace_tests::{
    case::{Exchange, groups, root},
    docs::{blocks, shell, text},
    files::write,
    lambda::{self, watch::Watch},
    local::{Host, binary, send},
    mongodb::python,
    worker,
};
use serde_json::{Value as Json, json};

/// An app of notes, with a tool that reads, one that writes, and a script that asks for the time,
/// for chance and for an API.
const NOTES: [(&str, &str); 10] = [
    ("millrace.yaml", "name: notes\nfetch: { allow: [api.example.com] }\nenv: [GREETING]\n"),
    ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: notes.db\noptions: { seed: ./notes.sql }\n"),
    (
        "app/adapters/notes.sql",
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);\nINSERT INTO notes VALUES (1, 'first'), (2, 'second');\n",
    ),
    (
        "app/tools/get/config.yaml",
        "description: One note.\nuse: main\nstatement: SELECT id, text FROM notes WHERE id = {{ inputs.id }}\ninputs: { id: { type: int } }\n\
         output: { type: array, items: { type: object } }\n\
         errors: { on: [{ when: len(results) == 0, code: NOT_FOUND, message: \"No note {{ inputs.id }}.\" }] }\n",
    ),
    (
        "app/tools/put/config.yaml",
        "description: Adds a note.\nkind: mutation\nuse: main\nstatement: INSERT INTO notes (id, text) VALUES ({{ inputs.id }}, {{ inputs.text }})\n\
         inputs: { id: { type: int }, text: { type: string } }\n",
    ),
    ("app/tools/world/config.yaml", "description: What a script sees.\nkind: query\nhandler: ./handler.js\n"),
    (
        "app/tools/world/handler.js",
        "export default async (call, ctx) => {\n\
         \x20 ctx.progress(1, 2);\n\
         \x20 const answer = await fetch(\"https://api.example.com/rate?base=EUR\");\n\
         \x20 const now = new Date().toISOString();\n\
         \x20 return { now, chance: [Math.random(), crypto.randomUUID()], rate: (await answer.json()).rate, greeting: ctx.env.GREETING };\n\
         };\n",
    ),
    (
        "app/prompts/look.yaml",
        "arguments: { id: { description: Which, required: true } }\nmessages: [{ role: user, text: \"Look at {{ id }}.\" }]\n",
    ),
    ("app/resources/guide/config.yaml", "uri: docs://guide\ntext: Read me.\n"),
    ("README.md", "# Notes\n"),
];

/// The app of notes with one file of tests, or more.
fn notes(tests: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in NOTES.iter().chain(tests) {
        write(folder.path(), path, text);
    }
    folder
}

fn run(folder: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(binary());
    command.arg("test").arg(folder).args(arguments).env_remove("CI").envs(env.iter().copied());
    command.output().unwrap()
}

/// The exit code, and what is printed, without the times.
fn tell(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(folder, arguments, &[]);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let timeless = |line: &str| {
        line.split_once(", in 0").or_else(|| line.split_once(", in ")).map_or(line.to_owned(), |(before, _)| before.to_owned())
    };
    (output.status.code(), said.lines().map(timeless).collect::<Vec<_>>().join("\n"))
}

/// The outcomes of a run as JSON, by the name of the test: its status, and its problems.
fn outcomes(folder: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Vec<(String, String, Vec<String>)> {
    let output = run(folder, &[arguments, &["--reporter", "json"]].concat(), env);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let tests = report["tests"].as_array().unwrap().iter();
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    tests
        .map(|test| {
            let problems = test["problems"].as_array().unwrap().iter().map(|problem| text(&problem["message"]));
            let reason = Some(text(&test["reason"])).filter(|reason| !reason.is_empty());
            (text(&test["name"]), text(&test["status"]), problems.chain(reason).collect())
        })
        .collect()
}

#[test]
fn the_sample_shop_passes_its_tests_and_no_database_of_it_is_made() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap().install();
    let (code, said) = tell(sample.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("105 tests: 105 passed"), "{said}");
    assert!(!said.contains("without a test"), "{said}");
    assert!(!sample.path().join("shop.db").exists() && !sample.path().join(".millrace").exists());
}

const FAILING: &str = r#"now: 2026-03-01T12:00:00Z
random: 7
env: { GREETING: hello }
http: [{ request: "GET https://api.example.com/rate", json: { rate: 1.5 } }]
tests:
  - name: text
    inputs: { id: 1 }
    expect: { content: other }
  - name: contains
    inputs: { id: 1 }
    expect: { content: { contains: [first, third] } }
  - name: matches
    inputs: { id: 1 }
    expect: { content: { matches: "^x" } }
  - name: json
    inputs: { id: 1 }
    expect: { content: { json: [{ id: 2, text: first }] } }
  - name: structured
    inputs: { id: 1 }
    expect: { structured: [{ id: 1, author: x }] }
  - name: structured equals
    inputs: { id: 1 }
    expect: { structured_equals: [{ id: 1 }] }
  - name: result
    inputs: { id: 1 }
    expect: { result: { isError: true } }
  - name: fails
    inputs: { id: 9 }
    expect: { content: x }
  - name: another code
    inputs: { id: 9 }
    expect: { error: GONE }
  - name: another message
    inputs: { id: 9 }
    expect: { error: { code: NOT_FOUND, message: No note 8 } }
  - name: succeeds
    inputs: { id: 1 }
    expect: { error: NOT_FOUND }
  - name: rows
    inputs: { id: 1 }
    expect: { rows: [{ sql: "SELECT text FROM notes ORDER BY id", equals: [{ text: first }, { text: 2nd }, {}] }] }
  - name: a statement that writes
    inputs: { id: 1 }
    expect: { rows: [{ sql: SELECT nothing FROM notes, equals: [] }] }
  - name: notifications
    inputs: { id: 1 }
    expect: { notifications: [{ method: notifications/progress }] }
  - name: nobody has this key
    as: clerk
    inputs: { id: 1 }
    expect: { content: x }
  - name: a row that does not fit
    given: { main: { rows: { nowhere: [{ a: 1 }] } } }
    inputs: { id: 1 }
    expect: { content: x }
"#;

/// The failure is as expected, and has no content.
const WITHOUT_RESULT: &str = r#"resource: notes://nowhere
tests:
  - name: content of an error of the protocol
    expect: { error: "-32602", content: { contains: nowhere } }
"#;

#[test]
fn each_expectation_fails_when_it_should() {
    let folder = notes(&[("app/tools/get/get.test.yaml", FAILING), ("app/resources/nowhere.test.yaml", WITHOUT_RESULT)]);
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!(code, Some(1), "{said}");
    let expected = root().join("tests/expected/app-tests-failing.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expected, format!("{said}\n")).unwrap();
    }
    similar_asserts::assert_eq!(fs::read_to_string(&expected).unwrap_or_default(), format!("{said}\n"));
}

const WORLD: &str = r#"tool: world
now: 2026-03-01T12:00:00Z
random: 7
env: { GREETING: hello }
http: [{ request: "GET https://api.example.com/rate", json: { rate: 1.5 } }]
tests:
  - name: all of it
    expect:
      content: { json: { now: "2026-03-01T12:00:00.000Z", rate: 1.5, greeting: hello } }
      notifications: [{ method: notifications/progress, params: { progress: 1, total: 2 } }]
      snapshot: true
  - name: no answer
    http: [{ request: "POST https://api.example.com/rate" }]
    expect: { error: SCRIPT_ERROR }
  - name: another number
    random: 8
    expect: { snapshot: true }
"#;

#[test]
fn the_clock_chance_and_apis_are_what_a_test_says_and_snapshots_are_kept() {
    let folder = notes(&[("app/tools/world/world.test.yaml", WORLD)]);
    let snapshots = folder.path().join("app/tools/world/world.test.snap.json");
    let missing = outcomes(folder.path(), &[], &[("CI", "1")]);
    assert_eq!(missing[0].2, ["`app/tools/world/world.test.snap.json` has no snapshot of the test; `millrace test --update` writes it"]);
    assert!(!snapshots.exists());
    let no_answer = ("no answer".to_owned(), "failed".to_owned());
    let unlisted = "`GET https://api.example.com/rate` was sent, and `http` lists no answer to it";
    assert_eq!(((missing[1].0.clone(), missing[1].1.clone()), missing[1].2.last().unwrap().as_str()), (no_answer, unlisted));
    let first = outcomes(folder.path(), &[], &[]);
    assert_eq!((first[0].1.as_str(), first[2].1.as_str()), ("passed", "passed"), "{first:?}");
    // The same number gives the same, in another process.
    assert_eq!(outcomes(folder.path(), &[], &[("CI", "1")]), first);
    let kept: Json = serde_json::from_str(&fs::read_to_string(&snapshots).unwrap()).unwrap();
    let text = |name: &str| kept[name]["content"][0]["text"].as_str().unwrap().to_owned();
    let chance = |name: &str| serde_json::from_str::<Json>(&text(name)).unwrap()["chance"].clone();
    assert_ne!(chance("all of it"), chance("another number"));

    let changed = fs::read_to_string(&snapshots).unwrap().replace("1.5", "2.5").replace("another number", "gone");
    fs::write(&snapshots, changed).unwrap();
    let differs = outcomes(folder.path(), &["--filter", "all of"], &[]);
    assert!(
        differs[0].2[0].starts_with("`snapshot.content[0].text` is") && differs[0].2[0].ends_with("`millrace test --update` writes it"),
        "{differs:?}"
    );
    let _ = outcomes(folder.path(), &["--update"], &[]);
    assert_eq!(serde_json::from_str::<Json>(&fs::read_to_string(&snapshots).unwrap()).unwrap(), kept);
}

const PASSING: &str = r#"tool: put
tests:
  - name: a note is written
    inputs: { id: 3, text: third }
    expect: { rows: [{ sql: "SELECT id FROM notes", equals: [{ id: 1 }, { id: 2 }, { id: 3 }] }] }
  - name: no other test sees it
    inputs: { id: 3, text: third again }
    expect: { rows: [{ sql: "SELECT text FROM notes WHERE id = 3", equals: [{ text: third again }] }] }
  - name: rows beside those of the seed
    given: { main: { rows: { notes: [{ id: 7, text: "it's \"7\"" }] } } }
    inputs: { id: 8, text: x }
    expect: { rows: [{ sql: "SELECT text FROM notes WHERE id = 7", equals: [{ text: "it's \"7\"" }] }] }
  - name: another seed
    given: { main: { seed: ./empty.sql } }
    inputs: { id: 1, text: x }
    expect: { rows: [{ sql: "SELECT count(*) AS n FROM notes", equals: [{ n: 1 }] }] }
"#;

const FEATURES: [(&str, &str); 2] = [
    (
        "app/prompts/look.test.yaml",
        "tests:\n  - { name: prompt, inputs: { id: 7 }, expect: { content: Look at 7., result: { messages: [{ role: user }] } } }\n",
    ),
    (
        "app/resources/guide/guide.test.yaml",
        "resource: docs://guide\ntests:\n  - { name: resource, expect: { content: { contains: Read } } }\n",
    ),
];

#[test]
fn each_test_has_a_database_of_its_own_and_the_file_is_never_written() {
    let empty = ("app/tools/put/empty.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);");
    let folder = notes(&[&[("app/tools/put/put.test.yaml", PASSING), empty], &FEATURES[..]].concat());
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("6 tests: 6 passed") && !folder.path().join("notes.db").exists(), "{said}");

    // A database without a seed is copied, with what its log has.
    write(folder.path(), "app/adapters/main.yaml", "connector: sqlite\nconnection_string: own.db\n");
    let own = folder.path().join("own.db");
    let database = rusqlite::Connection::open(&own).unwrap();
    database.execute_batch(&format!("PRAGMA journal_mode = WAL; {}", NOTES[2].1)).unwrap();
    let (code, said) = tell(folder.path(), &["--filter", "note", "--filter", "sees it"]);
    assert_eq!(code, Some(0), "{said}");
    let count = || database.query_row("SELECT count(*) FROM notes", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count(), 2);
    // Only who names the adapter writes to its database.
    let found = outcomes(folder.path(), &["--database", "main", "--filter", "a note is written"], &[]);
    assert_eq!((found[0].1.as_str(), count()), ("passed", 3));
}

#[test]
fn a_database_that_is_not_made_anew_is_not_reached() {
    let test = "tests: [{ name: far, expect: { content: x } }]\n";
    let tool = "description: One.\nuse: far\nstatement: SELECT 1 AS one\n";
    let adapter = "connector: postgres\nconnection_string: \"postgres://u:hunter2@127.0.0.1:1/db\"\n";
    let folder = notes(&[("app/adapters/far.yaml", adapter), ("app/tools/far/config.yaml", tool), ("app/tools/far/far.test.yaml", test)]);
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("skip app/tools/far/far.test.yaml") && said.contains("1 test: 1 skipped"), "{said}");
    assert!(said.contains("`--database far` uses the one that there is") && !said.contains("hunter2"), "{said}");
    let found = outcomes(folder.path(), &["--database", "far"], &[]);
    assert_eq!(found[0].1, "failed");
    assert!(found[0].2[0].contains("(DATABASE_UNAVAILABLE)"), "{found:?}");
}

#[test]
fn tests_are_listed_and_one_is_run_by_its_place() {
    let tests = "tests:\n  - { name: one, inputs: { id: 1 }, expect: { content: { contains: first } } }\n  - { name: two, inputs: { id: 2 }, expect: { content: { contains: second } } }\n";
    let folder = notes(&[("app/tools/get/get.test.yaml", tests)]);
    let places = ["app/tools/get/get.test.yaml:2:13", "app/tools/get/get.test.yaml:3:13"];
    assert_eq!(tell(folder.path(), &["--list"]), (Some(0), format!("{}: one\n{}: two", places[0], places[1])));
    let listed = run(folder.path(), &["--list", "--reporter", "json"], &[]);
    let listed: Json = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((&listed["tests"][1]["place"], &listed["tests"][1]["calls"]), (&json!(places[1]), &json!("get")));
    assert_eq!(listed["untested"], json!(["put", "world"]));
    let ran = outcomes(folder.path(), &["--filter", places[1]], &[]);
    assert_eq!(ran.iter().map(|(name, status, _)| (name.as_str(), status.as_str())).collect::<Vec<_>>(), [("two", "passed")]);
    let (code, said) = tell(folder.path(), &["--list", "--reporter", "tap"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`--list` prints for people"), "{said}");
}

#[test]
fn wrong_usage_is_told() {
    let folder = notes(&[]);
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!((code, said.contains("the app has no tests")), (Some(2), true), "{said}");
    let folder = notes(&FEATURES);
    let (code, said) = tell(folder.path(), &["--filter", "none of them"]);
    assert_eq!((code, said.contains("`--filter` fits none of the 2 tests")), (Some(2), true), "{said}");
    let (code, said) = tell(folder.path(), &["--database", "maim"]);
    assert_eq!((code, said.contains("the app has no adapter `maim`; it has `main`")), (Some(2), true), "{said}");
    write(folder.path(), "app/tools/put/put.test.yaml", "tests: [{ name: a }]\n");
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!((code, said.contains("`tests[0].expect` is missing")), (Some(1), true), "{said}");
}

#[test]
fn the_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/tests.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let app = folder.path().join("notes");
    let (mut files, mut parts) = (0, 0);
    for (kind, body) in blocks(&page) {
        match (kind.as_str(), body.split_once('\n').filter(|(first, _)| first.starts_with("# app/"))) {
            ("yaml", Some((first, rest))) => {
                write(&app, &first[2..], rest);
                files += 1;
            }
            ("yaml", None) if body.starts_with("tests:") => {
                write(&app, "app/tools/find-notes/whole.test.yaml", &format!("tool: find-notes\n{body}"));
                files += 1;
            }
            ("yaml", None) => {
                parts += 1;
                let tests = "tool: find-notes\ntests: [{ name: part, inputs: { q: plants }, expect: { result: { isError: false } } }]\n";
                write(&app, &format!("app/tools/find-notes/part-{parts}.test.yaml"), &format!("{body}{tests}"));
            }
            ("js", _) => npm::page_runs(&app, &body),
            ("text", _) if body.starts_with("error codes") => {
                let rules = "middleware:\n  - audit: {}\n  - require: { when: \"inputs.id > 0\", code: NO, message: No. }\n";
                let tool = format!("{}{rules}", NOTES[3].1);
                let test = "tests: [{ name: one, inputs: { id: 1 }, expect: { result: { isError: false } } }]\n";
                let folder = notes(&[("app/tools/get/config.yaml", &tool), ("app/tools/get/get.test.yaml", test)]);
                let (_, said) = tell(folder.path(), &["--coverage"]);
                assert!(said.ends_with(body.trim_end()), "{said}");
            }
            ("text", _) => {
                let test =
                    "tests:\n  - name: the first note\n    inputs: { id: 1 }\n    expect:\n      content: { json: [{ text: 1st }] }\n";
                let folder = notes(&[("app/tools/get/get.test.yaml", test)]);
                let shown: Vec<&str> = body.lines().map(|line| line.split(", in").next().unwrap()).collect();
                let (code, said) = tell(folder.path(), &[]);
                assert_eq!((code, said.starts_with(&shown.join("\n"))), (Some(1), true), "{said}");
            }
            _ => {}
        }
    }
    assert_eq!((files, parts), (2, 2));
    let tested = shell(folder.path(), "cd notes && millrace test");
    assert!(tested.status.success() && text(&tested).contains("8 tests: 8 passed"), "{}", text(&tested));
    assert!(!text(&tested).contains("without a test") && !app.join("notes.db").exists(), "{}", text(&tested));
}

/// What a library of XML that is not ours reads.
#[test]
fn junit_and_tap_are_read_by_others() {
    let folder = notes(&[("app/tools/get/get.test.yaml", &FAILING.replace("name: text", "name: \"<text> & \\\"more\\\"\"")), FEATURES[0]]);
    let junit = run(folder.path(), &["--reporter", "junit"], &[]);
    let file = folder.path().join("junit.xml");
    fs::write(&file, &junit.stdout).unwrap();
    let script = "import sys, json, xml.etree.ElementTree as E\n\
                  r = E.parse(sys.argv[1]).getroot()\n\
                  cases = [c for s in r for c in s]\n\
                  print(json.dumps([r.tag, r.get('tests'), r.get('failures'), [s.get('name') for s in r], len(cases), \
                  len([c for c in cases if c.find('failure') is not None]), cases[1].get('name'), cases[1].find('failure').get('message')]))\n";
    let read = Command::new(python()).args(["-c", script]).arg(&file).output().unwrap();
    let read: Json = serde_json::from_slice(&read.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&read.stderr)));
    let text = "the text is \"[{\\\"id\\\":1,\\\"text\\\":\\\"first\\\"}]\" and should be \"other\"";
    let files = ["app/prompts/look.test.yaml", "app/tools/get/get.test.yaml"];
    assert_eq!(read, json!(["testsuites", "17", "16", files, 17, 16, "<text> & \"more\"", text]));

    let tap = String::from_utf8(run(folder.path(), &["--reporter", "tap"], &[]).stdout).unwrap();
    let lines: Vec<&str> = tap.lines().collect();
    assert_eq!(lines[..3], ["TAP version 14", "1..17", "ok 1 - app/prompts/look.test.yaml: prompt"]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("not ok ")).count(), 16);
    let problems = lines[5].trim_start().strip_prefix("problems: ").unwrap();
    assert_eq!(serde_json::from_str::<Json>(problems).unwrap()[0]["message"], text);
}

/// The tests of the sample shop that need no world of their own, against a server.
fn pass_at(url: &str, folder: &Path, env: &[(String, String)]) {
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let found = outcomes(folder, &["--url", url], &env);
    let of = |status: &str| found.iter().filter(|(_, found, _)| found == status).count();
    assert_eq!((of("passed"), of("failed"), of("skipped")), (83, 0, 22), "{found:#?}");
}

#[test]
fn the_same_tests_pass_on_the_worker() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let (worker, folder) = worker::served(&sample, &[]);
    pass_at(&format!("http://127.0.0.1:{}/mcp", worker.port), folder.path(), &sample.env);
}

#[test]
fn the_same_tests_pass_on_lambda() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let folder = sample.install();
    let package = lambda::build(folder.path());
    let function = Watch::start(&package, &sample.env, Watch::free_port());
    // The first request may come before the function.
    assert!(send(function.port, &Exchange::call("add", &json!({ "a": 1, "b": 2 }))).contains("sum"));
    pass_at(&format!("http://127.0.0.1:{}/mcp", function.port), folder.path(), &sample.env);
}

#[test]
fn a_server_is_written_to_only_when_asked() {
    let plain = "tool: put\ntests:\n  - { name: writes, inputs: { id: 5, text: fifth }, expect: { result: { isError: false } } }\n  \
                 - { name: given, given: { main: {} }, inputs: { id: 6, text: x }, expect: { content: x } }\n";
    let folder = notes(&[("app/tools/put/put.test.yaml", plain)]);
    let host = Host::dev(folder.path(), &[]);
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    let found = outcomes(folder.path(), &["--url", &url], &[]);
    assert_eq!(found[0].2, ["the tool `put` may write; `--writes` runs it"]);
    assert_eq!(found[1].2, ["`given` has no effect on a server that runs already"]);
    let read = || host.send(&Exchange::call("get", &json!({ "id": 5 })));
    assert!(read().contains("NOT_FOUND"));
    let found = outcomes(folder.path(), &["--url", &url, "--writes"], &[]);
    assert_eq!((found[0].1.as_str(), found[1].1.as_str()), ("passed", "skipped"), "{found:?}");
    assert!(read().contains("fifth"));
}
