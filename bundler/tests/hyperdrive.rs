//! Hyperdrives and root certificates of `postgres`, by target.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use crate::support::{told, write};
use millrace_bundler::{Options, bundle};

fn found(is_worker: bool, adapter: &str) -> String {
    let files = [
        ("millrace.yaml", "name: shop"),
        ("app/adapters/main.yaml", adapter),
        ("app/tools/t/config.yaml", "description: x\nuse: main\nstatement: SELECT 1"),
    ];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    told(&bundle(folder.path(), &Options { connectors: vec!["postgres".into()], is_worker, ..Options::default() }))
}

#[test]
fn only_a_worker_has_hyperdrives() {
    let named = "connector: postgres\nconnection_string: \"hyperdrive:DB\"";
    assert_eq!(found(true, named), "");
    assert_eq!(
        found(false, named),
        "app/adapters/main.yaml:2:20+15 error: the Hyperdrive `DB` is a binding, which only a Worker has\n    Name the database itself. For both, \
         write `\"{{ env.NAME }}\"`, and set the variable to `hyperdrive:DB` in `[vars]` of `wrangler.toml`.\n"
    );
    let by_variable = "connector: postgres\nconnection_string: \"{{ env.DATABASE_URL }}\"";
    assert_eq!((found(true, by_variable), found(false, by_variable)), (String::new(), String::new()));
    for wrong in ["hyperdrive:", "hyperdrive:a b", "hyperdrive://x"] {
        let found = found(true, &format!("connector: postgres\nconnection_string: \"{wrong}\""));
        assert!(found.contains("is not a valid name for a Hyperdrive binding"), "{wrong}: {found}");
    }
}

#[test]
fn a_worker_trusts_whom_the_platform_trusts() {
    let adapter = |options: &str| format!("connector: postgres\nconnection_string: postgres://me@db.example/x\noptions: {{ {options} }}");
    for options in ["ca_certificate: \"-----BEGIN\"", "sslrootcert: ca.pem, sslmode: verify-ca"] {
        assert_eq!(found(false, &adapter(options)), "", "{options}");
        let found = found(true, &adapter(options));
        assert!(
            found.contains("app/adapters/main.yaml:3:12+") && found.contains("error: a Worker trusts only what the platform trusts"),
            "{found}"
        );
    }
    for options in ["sslrootcert: system", "sslmode: verify-full", "ca_certificate: \"{{ env.DB_CA }}\""] {
        assert_eq!(found(true, &adapter(options)), "", "{options}");
    }
}
