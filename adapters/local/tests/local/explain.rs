//! `millrace explain`: the plan of a tool, as the pipeline follows it.

use serde_json::{Value as Json, json};

use crate::support::{App, app, run};

/// What each stage does for a tool, by its name.
fn explained(app: &App, tool: &str) -> Json {
    let said = run(app.path(), &["explain", tool, "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let stages = said.json()["stages"].take();
    let names: Vec<&str> = stages.as_array().unwrap().iter().map(|step| step["stage"].as_str().unwrap()).collect();
    let all = millrace_core::pipeline::Stage::ALL.map(millrace_core::pipeline::Stage::as_str);
    assert_eq!(names, all);
    names.iter().map(|name| (*name).to_owned()).zip(stages.as_array().unwrap().iter().cloned()).collect::<serde_json::Map<_, _>>().into()
}

fn does(stages: &Json, stage: &str) -> String {
    stages[stage]["does"].as_str().unwrap().to_owned()
}

const REMOVE: &str = "\
description: Removes an item.
use: main
statement: |
  DELETE FROM item
  WHERE id = {{ inputs.id }} AND name LIKE '{{ inputs.q }}%' AND {{ ctx.request.id }} <> ''
inputs:
  id: { type: int }
  q: { type: string, optional: true }
  why: { type: string, default: none }
confirm: \"Remove {{ inputs.id }}?\"
output: { type: object }
errors:
  on:
    - { when: \"results.affected_rows == 0 and not exists(inputs.q)\", code: NOT_FOUND, message: \"No item {{ inputs.id }}.\" }
";

#[test]
fn each_setting_shows_at_its_stage() {
    let app = app();
    app.write("app/tools/remove/config.yaml", REMOVE);
    let stages = explained(&app, "remove");
    assert_eq!(does(&stages, "guard"), "asks the user for confirmation before anything is done");
    assert_eq!(stages["guard"]["details"], json!(["asks: Remove {{ inputs.id }}?"]));
    assert_eq!(does(&stages, "context"), "makes `ctx` from the principal, the request");
    assert_eq!(does(&stages, "validate"), "checks 3 inputs, and refuses any other");
    assert_eq!(
        stages["validate"]["details"],
        json!(["`id`: int", "`q`: string, may be absent", "`why`: string, \"none\" where it is absent"])
    );
    assert_eq!(does(&stages, "execute"), "writes with adapter `main` (sqlite)");
    let statement = "DELETE FROM item\nWHERE id = ?1 AND name LIKE ?2 AND ?3 <> ''";
    assert_eq!(stages["execute"]["statement"].as_str().unwrap().trim(), statement);
    assert_eq!(stages["execute"]["details"], json!(["?1 is inputs.id (int)", "?2 is the text '{{ inputs.q }}%'", "?3 is ctx.request.id"]));
    assert_eq!(does(&stages, "map_output"), "checks 1 rule of `errors.on`");
    assert_eq!(
        stages["map_output"]["details"],
        json!(["fails with `NOT_FOUND` when `(results.affected_rows == 0) and (not exists(inputs.q))`: No item {{ inputs.id }}."])
    );
    assert_eq!(does(&stages, "present"), "checks the result against `output`, and sends it as structured content");
    for skipped in ["authenticate", "map_input", "middleware", "sync"] {
        assert!(does(&stages, skipped).starts_with("nothing: ") && stages[skipped]["applies"] == false, "{stages:#}");
    }
    let text = run(app.path(), &["explain", "remove"]).out;
    for line in ["DELETE FROM item", "WHERE id = ?1", "?1 is inputs.id (int)", "asks: Remove", "fails with `NOT_FOUND`"] {
        assert!(text.lines().any(|shown| shown.trim().starts_with(line)), "{line}: {text}");
    }
}

#[test]
fn the_session_of_the_adapter_and_the_claims_of_its_callers_show() {
    let app = app();
    let session =
        "session: { role: \"{{ auth.claims.tier }}_reader\", settings: { app.tenant: \"{{ auth.claims.org }}\", app.kind: api } }";
    app.write("app/adapters/far.yaml", &format!("connector: postgres\nconnection_string: postgres://h/d\n{session}\n"));
    let claims = "claims: { org: required, tier: [gold, silver], level: 3 }";
    let auth = format!("auth: {{ plugin: jwt, policy: {{ issuer: \"https://login.example.com\", audience: a, {claims} }} }}");
    app.write("app/tools/mine/config.yaml", &format!("description: Mine.\nuse: far\nstatement: SELECT {{{{ auth.subject }}}}\n{auth}\n"));
    let stages = explained(&app, "mine");
    let details = stages["authenticate"]["details"].as_array().unwrap();
    for claim in ["it must have `org`", "its `tier` must be gold or silver", "its `level` must be 3"] {
        assert!(details.contains(&json!(claim)), "{claim}: {details:?}");
    }
    assert_eq!(
        stages["execute"]["details"],
        json!([
            "sets `app.tenant` to '{{ auth.claims.org }}' for the call",
            "sets `app.kind` to 'api' for the call",
            "runs as the role '{{ auth.claims.tier }}_reader'",
            "$1 is auth.subject"
        ])
    );
}

#[test]
fn a_variable_of_a_statement_is_bound_unless_the_author_says_otherwise() {
    let app = app();
    let statement = "SELECT id FROM {{ env.SCHEMA | ident }}.item WHERE name = {{ env.NAME }} AND {{ env.MORE | raw }}";
    app.write("app/tools/some/config.yaml", &format!("description: Some\nuse: main\nstatement: {statement:?}\n"));
    let stages = explained(&app, "some");
    assert_eq!(stages["execute"]["statement"], "SELECT id FROM {{ env.SCHEMA }}.item WHERE name = ?1 AND {{ env.MORE }}");
    let details = ["{{ env.SCHEMA }} is a quoted name", "?1 is env.NAME (text)", "{{ env.MORE }} is text of the statement: `| raw`"];
    assert_eq!(stages["execute"]["details"], json!(details));
    app.write("app/tools/some/config.yaml", &format!("description: Some\nuse: main\nstatement: {:?}\n", statement.replace(" | ident", "")));
    let refused = run(app.path(), &["check"]);
    assert_eq!(refused.code, Some(1));
    for expected in ["config.yaml:3:28", "is where a name is required", "`{{ env.SCHEMA | ident }}`", "`{{ env.SCHEMA | raw }}`"] {
        assert!(refused.err.contains(expected) || refused.out.contains(expected), "{expected}: {} {}", refused.out, refused.err);
    }
}

#[test]
fn a_tool_with_a_schema_has_no_inputs_to_count() {
    let app = app();
    app.write("app/tools/any/config.yaml", "description: Any\nhandler: ./handler.ts\njson_schema: { type: object }\n");
    app.write("app/tools/any/handler.ts", "export default ({ inputs }) => inputs;\n");
    let stages = explained(&app, "any");
    assert_eq!(does(&stages, "validate"), "checks the inputs against `json_schema`, without conversions and defaults");
    assert_eq!(does(&stages, "execute"), "runs `app/tools/any/handler.ts`");
    assert_eq!(stages["context"]["applies"], true);
}

#[test]
fn a_call_runs_the_stages_that_apply_and_no_other() {
    let app = app();
    app.write("app/tools/remove/config.yaml", &REMOVE.replace("confirm:", "# confirm:"));
    app.write("app/tools/any/config.yaml", "description: Any\nhandler: ./handler.ts\nmappers: { input: ./handler.ts }\n");
    app.write("app/tools/any/handler.ts", "export default ({ inputs }) => inputs;\n");
    for (tool, arguments) in [("get-item", &["id=1"][..]), ("remove", &["id=1"]), ("any", &[])] {
        let stages = explained(&app, tool);
        let applies: Vec<&String> =
            stages.as_object().unwrap().iter().filter(|(_, step)| step["applies"] == true).map(|(name, _)| name).collect();
        let called = run(app.path(), &[&["call", tool, "--json"], arguments].concat());
        let timed = called.json()["timings"].take();
        let timed: Vec<&str> = timed.as_array().unwrap().iter().map(|timing| timing["stage"].as_str().unwrap()).collect();
        // Whether there is time left is asked before each stage.
        let expected: Vec<&str> = applies.into_iter().map(String::as_str).filter(|name| *name != "signal").collect();
        assert_eq!(timed, expected, "{tool}: {}", called.err);
    }
}

#[test]
fn limits_of_calls_show_with_the_place_that_declares_them() {
    let app = app();
    app.write(
        "app/tools/_folder.yaml",
        "limits: { rate: { window: 60s, max: 5, key: \"{{ inputs.id }}\" } }\nmiddleware: [{ rate_limit: { window: 1h, max: 9 } }]\n",
    );
    app.write(
        "app/tools/slow/config.yaml",
        "description: Slow\nuse: main\nstatement: SELECT {{ inputs.id }}\ninputs: { id: { type: int } }\nlimits: { concurrency: { max: 2, queue: 3 } }\n",
    );
    let said = run(app.path(), &["explain", "slow"]);
    for expected in [
        "counts the call, or refuses it with `RATE_LIMITED`, then takes a place, or refuses with `SERVER_BUSY`",
        "rate: at most 5 in 60 s for each value of {{ inputs.id }}",
        "concurrency: at most 2 at a time on one isolate, 3 in a queue for at most 5000 ms",
        "refuses with `RATE_LIMITED` above the limit: at most 9 in 3600 s for each caller (app/tools/_folder.yaml:2:14)",
        "app/tools/_folder.yaml:1:17",
        "app/tools/slow/config.yaml:5:24",
    ] {
        assert!(said.out.contains(expected), "{expected}: {}{}", said.out, said.err);
    }
}
