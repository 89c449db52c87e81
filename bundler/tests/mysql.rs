//! What of an app is different for `mysql`: what it refuses, and how its statements are written.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use crate::support::{told, write};
use millrace_bundler::{Options, bundle};
use millrace_core::app::Execute;

const ADAPTER: &str = "connector: mysql\nconnection_string: mysql://me@db.example/x\n";

fn bundled(is_worker: bool, adapter: &str, statement: &str) -> millrace_bundler::Report {
    let tool = format!(
        "description: x\nuse: main\nstatement: |\n  {statement}\ninputs: {{ x: {{ type: string }}, l: {{ type: array, items: {{ type: int }} }} }}\n"
    );
    let files = [("millrace.yaml", "name: shop"), ("app/adapters/main.yaml", adapter), ("app/tools/t/config.yaml", tool.as_str())];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    bundle(folder.path(), &Options { connectors: vec!["mysql".into()], is_worker, ..Options::default() })
}

fn found(is_worker: bool, adapter: &str) -> String {
    told(&bundled(is_worker, adapter, "SELECT {{ inputs.x }} AS x, 1 IN ({{ inputs.l }}) AS l"))
}

#[test]
fn what_it_does_not_have_is_refused_when_the_app_is_bundled() {
    assert_eq!(found(false, ADAPTER), "");
    let table = [
        ("tenant: { claim: org, column: org_id }", "3:1+6 error: the build does not judge statements of connector `mysql` by `tenant`"),
        ("session: { role: clerk }", "3:1+7 error: "),
        ("options: { application_name: x }", "3:12+16 error: "),
        ("options: { ssl_mode: x }", "3:12+8 error: "),
    ];
    for (line, expected) in table {
        let found = found(false, &format!("{ADAPTER}{line}"));
        assert!(found.starts_with(&format!("app/adapters/main.yaml:{expected}")), "{line}: {found}");
        assert!(found.contains("`mysql`") || found.contains("Options"), "{line}: {found}");
    }
    let trusting = format!("{ADAPTER}options: {{ ca_certificate: \"-----BEGIN\" }}");
    assert_eq!(found(false, &trusting), "");
    assert!(found(true, &trusting).contains("give the server a certificate that browsers trust"), "{}", found(true, &trusting));
    let bound = "connector: mysql\nconnection_string: hyperdrive:DB";
    for is_worker in [true, false] {
        let expected = "app/adapters/main.yaml:2:20+13 error: connector `mysql` cannot connect through a Hyperdrive\n    Cloudflare's Hyperdrive does \
                        not prepare statements of MySQL, and connector `mysql` sends no others; name the database itself, \
                        `mysql://user:password@host/database`, which a Worker connects to over a socket.\n";
        assert_eq!(found(is_worker, bound), expected);
    }
}

#[test]
fn statements_have_its_placeholders_and_its_quotes() {
    let text = |statement: &str| {
        let report = bundled(false, ADAPTER, statement);
        let app = report.app.as_ref().unwrap_or_else(|| panic!("{statement}: {}", told(&report)));
        let Execute::Statement { statement, .. } = &app.tools[0].execute else { panic!("no statement") };
        statement.text.clone()
    };
    let cases = [
        ("SELECT {{ inputs.x }}, '%{{ inputs.x }}%', \"it's {{ inputs.x }}\" -- {{ a }}", "SELECT ?, ?, ? -- {{ a }}\n"),
        (r"SELECT 'it\'s ?' , '\\{{ inputs.x }}', `a``b` FROM t # '", "SELECT 'it\\'s ?' , ?, `a``b` FROM t # '\n"),
    ];
    for (statement, expected) in cases {
        assert_eq!(text(statement).as_deref().map(str::trim_end), Some(expected.trim_end()), "{statement}");
    }
    for refused in [
        "SELECT /*! {{ inputs.x }} */ 1",
        "SELECT 1 /*M! + 1 */",
        "SELECT 1 /*T![x] + 1 */",
        "SELECT `{{ inputs.x }}`",
        "SELECT ?",
        "SELECT @{{ inputs.x }}",
    ] {
        assert!(bundled(false, ADAPTER, refused).app.is_none(), "{refused}");
    }
}
