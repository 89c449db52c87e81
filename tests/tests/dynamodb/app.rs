//! Apps with an adapter of `dynamodb`: what is refused when they are bundled, and
//! `check --connect`.

use std::process::Command;

use millrace_tests::{dynoxide::Dynoxide, local::binary};

use millrace_tests::files::write;

const ADAPTER: &str = "connector: dynamodb\nconnection_string: dynamodb://eu-central-1\n";

/// What `millrace check` says of an app with this tool.
fn check(adapter: &str, tool: &str, connect: bool) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: far\n");
    write(folder.path(), "app/adapters/far.yaml", adapter);
    write(folder.path(), "app/tools/it/config.yaml", &format!("description: x\nuse: far\n{tool}"));
    let mut command = Command::new(binary());
    command.arg("check").arg(folder.path());
    if connect {
        command.arg("--connect");
    }
    let checked = command.output().unwrap();
    (checked.status.success(), String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).into_owned())
}

#[test]
fn what_dynamodb_cannot_do_is_refused_when_the_app_is_bundled() {
    let good = "statement: SELECT * FROM \"Orders\" WHERE \"id\" = 1\n";
    for (adapter, tool, expected) in [
        ("session: { settings: { app.tenant: \"{{ auth.subject }}\" } }\n", good, "session"),
        (
            "tenant: { claim: auth.claims.org, column: org }\n",
            good,
            "the build does not judge statements of connector `dynamodb` by `tenant`",
        ),
        ("", "statement: INSERT INTO Orders (id) VALUES (1)\n", "DynamoDB inserts one item as a document"),
        ("", "statement: SELECT * FROM Orders WHERE id = 1 LIMIT 3\n", "has no `LIMIT`"),
        ("", "statement: { find: Orders }\n", "takes a statement as text"),
        ("", "statement: DELETE FROM Orders WHERE id = 1\nsubstitution: textual\n", "the values of a statement of PartiQL"),
        (
            "",
            "statement: DELETE FROM Orders WHERE id = 1\nkind: mutation\nidempotency: { key: \"{{ inputs.k }}\" }\ninputs: { k: { type: string } }\n",
            "idempotency",
        ),
        (
            "",
            "transaction:\n  - { name: a, statement: \"SELECT * FROM Orders WHERE id = 1\" }\n  - { name: b, statement: \"DELETE FROM Orders WHERE id = 2\" }\n",
            "only reads or only writes",
        ),
        ("", "transaction:\n  - { name: a, statement: \"DELETE FROM Orders WHERE id = 2\", expect: 1 }\n", "does not say how many items"),
        (
            "",
            "transaction:\n  - { name: a, statement: \"SELECT v FROM Orders WHERE id = 1\" }\n  - { name: b, statement: \"SELECT v FROM Orders WHERE id = {{ steps.a.v }}\" }\n",
            "all statements of a transaction at once",
        ),
    ] {
        let (passed, said) = check(&format!("{ADAPTER}{adapter}"), tool, false);
        assert!(!passed && said.contains(expected), "{tool}: {said}");
    }
    let (passed, said) = check(ADAPTER, "statement: SELECT * FROM \"Orders\"\n", false);
    assert!(passed && said.contains("reads the whole table"), "{said}");
    let (passed, said) = check(ADAPTER, good, false);
    assert!(passed && said.contains("0 warnings"), "{said}");
}

#[test]
fn connections_are_checked() {
    let server = Dynoxide::start();
    let adapter = |endpoint: &str| {
        format!("{ADAPTER}options: {{ endpoint: \"{endpoint}\", access_key_id: AKID, secret_access_key: hunter2hunter2, timeout: 2s }}\n")
    };
    let tool = "statement: SELECT * FROM \"Orders\" WHERE \"id\" = 1\n";
    let (passed, said) = check(&adapter(&server.endpoint()), tool, true);
    assert!(passed, "{said}");
    let (passed, said) = check(&adapter("http://127.0.0.1:9"), tool, true);
    assert!(!passed && said.contains("far") && !said.contains("hunter2"), "{said}");
}
