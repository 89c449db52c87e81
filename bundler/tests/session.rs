//! `session` of an adapter: what it may set, which tools may use it, and which connectors have it.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use crate::support::{told, write};
use millrace_bundler::{Options, bundle};

const TOOL: &str = "description: x\nuse: main\nstatement: SELECT 1\nauth: { plugin: ../../auth.ts }";
const SESSION: &str =
    "connector: postgres\nconnection_string: postgres://me@db.example/x\nsession:\n  settings: { app.tenant: \"{{ auth.claims.org }}\" }";

fn found(adapter: &str, tool: &str) -> String {
    let files = [
        ("millrace.yaml", "name: shop"),
        ("app/auth.ts", "export default () => ({ claims: { org: 'a' } });"),
        ("app/adapters/main.yaml", adapter),
        ("app/tools/t/config.yaml", tool),
    ];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    let connectors = ["postgres", "sqlite", "libsql", "d1"].map(str::to_owned).to_vec();
    told(&bundle(folder.path(), &Options { connectors, ..Options::default() }))
}

fn of_session(session: &str) -> String {
    found(&format!("connector: postgres\nconnection_string: postgres://me@db.example/x\nsession: {session}"), TOOL)
}

#[test]
fn what_a_session_may_set() {
    for good in [
        "{ settings: { app.tenant: \"{{ auth.claims.org }}\" } }",
        "{ settings: { request.jwt.claims: \"{{ auth.claims }}\" }, role: \"{{ auth.claims.role }}\" }",
        "{ settings: { app.a: 7, app.b: true, App.C.d_1: \"{{ env.REGION }}-{{ auth.subject }}\", timezone: \"{{ auth.claims.zone }}\" } }",
        "{ role: clerk }",
    ] {
        assert_eq!(of_session(good), "", "{good}");
    }
    let name = "Use a name of your own with a dot, such as `app.tenant`. Of the server's settings, it may set `application_name`, `lock_timeout` or \
                `timezone`.";
    let form = "Write names of letters, digits and `_` with dots between, at most 63 characters: `app.tenant`.";
    let long = format!("app.{}", "x".repeat(60));
    let table = [
        (
            "{}",
            "3:1+7 error: `session` sets nothing",
            "Write `settings: { \"app.tenant\": \"{{ auth.claims.tenant }}\" }`, or remove `session`.",
        ),
        ("{ settings: { tenant: x } }", "3:24+6 error: `tenant` is not a setting that `session` may set", name),
        ("{ settings: { search_path: x } }", "3:24+11 error: `search_path` is not a setting that `session` may set", name),
        ("{ settings: { row_security: off } }", "3:24+12 error: `row_security` is not a setting that `session` may set", name),
        (
            "{ settings: { session_authorization: x } }",
            "3:24+21 error: `session_authorization` is not a setting that `session` may set",
            name,
        ),
        ("{ settings: { statement_timeout: 5 } }", "3:24+17 error: `statement_timeout` is not a setting that `session` may set", name),
        ("{ settings: { Role: x } }", "3:24+4 error: the role is not one of `settings`", "Write `role` beside `settings`."),
        ("{ settings: { app.te-nant: x } }", "3:24+11 error: `app.te-nant` is not a valid name for a setting", form),
        ("{ settings: { app.: x } }", "3:24+4 error: `app.` is not a valid name for a setting", form),
        (&format!("{{ settings: {{ {long}: x }} }}"), &format!("3:24+64 error: `{long}` is not a valid name for a setting"), form),
        (
            "{ settings: { app.x: a, APP.X: b } }",
            "3:34+5 error: there are two settings `APP.X`",
            "Remove one: for PostgreSQL, upper and lower case are the same here.",
        ),
        (
            "{ settings: { app.x: \" \" } }",
            "3:31+3 error: `app.x` of the session is empty",
            "A policy may take an empty setting for everyone's. Write a value, or remove it.",
        ),
        (
            "{ role: None }",
            "3:18+4 error: `none` is the role of the user that logs in, whatever it may do",
            "Name a role, or remove `role`: statements run as the adapter's user then.",
        ),
        (
            "{ settings: { app.x: \"{{ inputs.tenant }}\" } }",
            "3:32+19 error: `inputs.tenant` has no value here",
            "Use `{{ auth.claims.NAME }}`, another part of the principal, or `{{ env.NAME }}`.",
        ),
        (
            "{ role: \"{{ auth.sub }}\" }",
            "3:19+14 error: `auth` has no `sub`",
            "It has `subject`, `scopes`, `roles`, `claims` and `plugin`.",
        ),
    ];
    for (session, expected, help) in table {
        let found = of_session(session);
        assert!(found.starts_with(&format!("app/adapters/main.yaml:{expected}")) && found.contains(help), "{session}: {found}");
        assert_eq!(found.matches(" error: ").count(), 1, "{session}: {found}");
    }
    let many: Vec<String> = (0..21).map(|number| format!("app.s{number}: x")).collect();
    assert!(of_session(&format!("{{ settings: {{ {} }} }}", many.join(", "))).contains("`session` has more than 20 settings"));
}

#[test]
fn connectors_without_a_session_refuse_it() {
    for (connector, place) in [("sqlite", "file:x.db"), ("libsql", "libsql://db.example"), ("d1", "d1://a/b")] {
        let adapter = format!("connector: {connector}\nconnection_string: {place}\nsession:\n  role: clerk");
        let expected = format!(
            "app/adapters/main.yaml:3:1+7 error: connector `{connector}` cannot set anything for a call, which `session` demands\n    Remove \
             `session`, and compare with `{{{{ auth.claims.… }}}}` in every statement; or use `postgres` or `neon`.\n"
        );
        assert_eq!(found(&adapter, TOOL), expected);
    }
}

#[test]
fn a_tool_needs_callers_that_have_what_the_session_takes() {
    let tool = |auth: &str| format!("description: x\nuse: main\nstatement: SELECT 1\n{auth}");
    let start = "app/tools/t/config.yaml:2:6+4 error: the adapter `main` sets `app.tenant` to `auth.claims.org` for each call, but ";
    for (auth, why) in [
        ("", "`auth` never has a value: the tool has no `auth`, so no caller is identified"),
        ("auth: { plugin: allow_all }", "`auth` never has a value: `allow_all` identifies no caller"),
        ("auth: { plugin: api_key, policy: { value: x } }", "`auth.claims` never has a value: an API key has no claims"),
    ] {
        let found = found(SESSION, &tool(auth));
        assert!(found.starts_with(&format!("{start}{why}\n")), "{auth}: {found}");
    }
    assert_eq!(found(SESSION, TOOL), "");
    // One that takes nothing from the caller has no such need.
    let fixed = "connector: postgres\nconnection_string: postgres://me@db.example/x\nsession: { role: clerk }";
    assert_eq!(found(fixed, &tool("")), "");
}

#[test]
fn a_statement_leaves_its_session_alone() {
    for (statement, expected) in [
        (
            "SELECT a, Set_Config('app.tenant', 'x', true)",
            "3:22+10 error: `set_config` could change what the `session` of the adapter `main` sets",
        ),
        ("DO $$ BEGIN END $$", "3:12+2 error: `DO` could change what the `session` of the adapter `main` sets"),
    ] {
        let found = found(SESSION, &TOOL.replace("SELECT 1", statement));
        assert!(found.starts_with(&format!("app/tools/t/config.yaml:{expected}")), "{statement}: {found}");
    }
}

#[test]
fn an_audit_is_not_the_callers() {
    let tool = format!("{TOOL}\nmiddleware:\n  - audit: {{ to: main, table: audit_log }}");
    let found = found(SESSION, &tool);
    let expected = "app/tools/t/config.yaml:6:18+4 error: the adapter `main` has a `session`, and an audit line is not the caller's\n    Give the audit \
                    an adapter of its own: lines about callers that were refused are inserted, too.\n";
    assert_eq!(found, expected);
}
