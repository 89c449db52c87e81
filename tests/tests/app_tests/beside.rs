//! What a call leaves beside its answer: audit entries and spans; and what of an app ran at all.

use std::process::Command;

use super::*;

const FOLDER: (&str, &str) = (
    "app/tools/_folder.yaml",
    "auth: { plugin: api_key, policy: { keys: [{ name: clerk, value: \"{{ env.KEY }}\", roles: [clerk] }] } }\n\
     middleware:\n  - audit: { inputs: names }\n  - require: { when: \"inputs.id != 7\", code: NO_SEVEN, message: Not seven. }\n  - derive: { a: 1 }\n",
);

/// The tools of the app are in one folder: without the one that has no input `id`.
fn audited(tests: &str) -> tempfile::TempDir {
    let folder = notes(&[FOLDER, ("app/tools/get/get.test.yaml", tests), ("app/tools/get/nobody.test.yaml", NOBODY)]);
    fs::remove_dir_all(folder.path().join("app/tools/world")).unwrap();
    folder
}

const SEEN: &str = r#"as: clerk
tests:
  - name: an entry and spans
    inputs: { id: 1 }
    expect:
      audit: [{ tool: get, subject: clerk, decision: allowed, outcome: ok, inputs: id, rows: 1 }]
      spans:
        - { name: validate, kind: internal, parent: tools/call get }
        - { name: execute, attributes: { millrace.adapter: main, db.system.name: sqlite } }
        - { name: tools/call get, kind: server, parent: null, failed: false, attributes: { gen_ai.tool.name: get } }
  - name: a failure
    inputs: { id: 9 }
    expect:
      error: NOT_FOUND
      audit: [{ outcome: error, code: NOT_FOUND }]
      spans: [{ name: tools/call get, attributes: { error.type: NOT_FOUND } }]
  - name: a refusal
    inputs: { id: 7 }
    expect:
      error: NO_SEVEN
      audit: [{ decision: refused, decided_by: "app/tools/_folder.yaml:4:5", outcome: error, code: NO_SEVEN }]
"#;

const NOBODY: &str = "tests: [{ name: nobody, inputs: { id: 1 }, expect: { error: UNAUTHORIZED, audit: [] } }]\n";

#[test]
fn audit_entries_and_spans_are_expected() {
    let folder = audited(SEEN);
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!((code, said.contains("4 tests: 4 passed")), (Some(0), true), "{said}");
    // A log that is wanted still comes, and a server that runs already cannot be asked.
    let output = run(folder.path(), &["--log", "info", "--filter", "a failure"], &[]);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(log.contains("millrace::audit") && log.contains("code=\"NOT_FOUND\""), "{log}");
    let skipped = outcomes(folder.path(), &["--url", "http://127.0.0.1:1/mcp"], &[("KEY", "k")]);
    assert_eq!(skipped[0].2, ["`audit` cannot be asked of a server that runs already"]);
}

#[test]
fn an_entry_or_a_span_that_is_not_there_fails() {
    let failing = SEEN
        .replace("decision: allowed, outcome: ok", "decision: allowed, outcome: error")
        .replace("attributes: { error.type: NOT_FOUND }", "attributes: { error.type: GONE }")
        .replace(", outcome: error, code: NO_SEVEN }]", " }, {}]");
    let folder = audited(&failing);
    write(folder.path(), "app/tools/get/nobody.test.yaml", &NOBODY.replace("audit: []", "spans: [{ name: execute }]"));
    let found = outcomes(folder.path(), &[], &[]);
    let problems: Vec<&String> = found.iter().flat_map(|(_, _, problems)| problems).collect();
    let expected = [
        "`audit[0].outcome` is \"ok\" and should be \"error\"",
        "`spans[0]` is missing: {\"name\":\"tools/call get\",\"attributes\":{\"error.type\":\"GONE\"}}",
        "`spans[0].attributes[\"error.type\"]` is \"NOT_FOUND\" and should be \"GONE\"",
        "`audit` has 1 element and should have 2",
        "`spans[0]` is missing: {\"name\":\"execute\"}",
    ];
    assert_eq!(problems[..5], expected.iter().map(|text| text.to_string()).collect::<Vec<_>>().iter().collect::<Vec<_>>(), "{found:#?}");
    // Spans come in their order.
    let swapped = SEEN.replace("name: validate, kind", "name: serialize, kind");
    let folder = audited(&swapped);
    let found = outcomes(folder.path(), &["--filter", "an entry"], &[]);
    assert!(found[0].2[0].starts_with("`spans[1]` is missing"), "{found:#?}");
}

/// The line that the command logs of the same call, when it serves it.
#[test]
fn the_entry_is_the_one_of_the_log() {
    let folder = audited(SEEN);
    let mut call = Command::new(binary());
    call.args(["--log", "info", "call", "--json", "--app"]).arg(folder.path()).args(["get", "id=1", "--header", "x-api-key: k"]);
    let output = call.env("MILLRACE_LOG_FORMAT", "json").env("KEY", "k").output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = log.lines().find(|line| line.contains("millrace::audit")).unwrap_or_else(|| panic!("{log}"));
    let mut entry: Json = serde_json::from_str(line).unwrap();
    let entry = entry.as_object_mut().unwrap();
    entry.retain(|name, _| !["time", "level", "target", "message", "ms", "request_id"].contains(&name.as_str()));
    let expected = serde_json::to_string(entry).unwrap();
    let test = format!("as: clerk\ntests: [{{ name: same, inputs: {{ id: 1 }}, expect: {{ audit: [{expected}] }} }}]\n");
    let folder = audited(&test);
    let (code, said) = tell(folder.path(), &[]);
    assert_eq!(code, Some(0), "{expected}\n{said}");
}

#[test]
fn coverage_says_which_codes_rules_and_entries_ran() {
    let folder = audited(SEEN);
    let (code, said) = tell(folder.path(), &["--coverage"]);
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("error codes")).collect();
    let expected =
        ["error codes seen: 1 of 1", "rules seen both ways: 2 of 3", "  `auth` of put ran in no test", "middleware seen: 3 of 3"];
    assert_eq!(lines, expected, "{said}");
    // Fewer tests see less.
    let (_, said) = tell(folder.path(), &["--coverage", "--filter", "nobody"]);
    for line in [
        "`NOT_FOUND` of `get` in no test",
        "`auth` of get lets nobody pass in any test",
        "`derive` of app/tools/_folder.yaml:5:5 ran in no test",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let report: Json = serde_json::from_slice(&run(folder.path(), &["--reporter", "json"], &[]).stdout).unwrap();
    assert_eq!(report["coverage"]["errors"], json!([{ "tool": "get", "code": "NOT_FOUND", "ran": true }]));
    let require = json!({ "place": "app/tools/_folder.yaml:4:5", "kind": "require", "passed": true, "refused": true });
    assert!(report["coverage"]["rules"].as_array().unwrap().contains(&require), "{report:#}");
    assert_eq!(report["coverage"]["middleware"].as_array().unwrap().len(), 3);
}
