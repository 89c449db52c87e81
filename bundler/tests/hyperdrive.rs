//! Hyperdrives, root certificates and tokens of `postgres`, by target.

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

#[test]
fn tokens_of_aws_iam_are_for_hosts_that_make_them() {
    let adapter = |url: &str, options: &str| format!("connector: postgres\nconnection_string: \"{url}\"\noptions: {{ {options} }}");
    let url = "postgres://me@db.example/x";
    for value in ["true", "\"true\"", "false", "\"{{ env.IAM }}\"", "\"\""] {
        assert_eq!(found(false, &adapter(url, &format!("aws_iam: {value}"))), "", "{value}");
    }
    assert_eq!(found(false, &adapter("postgres://me:pw@db.example/x", "aws_iam: false, application_name: a")), "");
    for value in ["false", "\"{{ env.IAM }}\""] {
        assert_eq!(found(true, &adapter("hyperdrive:DB", &format!("aws_iam: {value}"))), "", "{value}");
    }
    for value in ["1", "yes", "on"] {
        let found = found(false, &adapter(url, &format!("aws_iam: {value}")));
        let expected = format!(
            "app/adapters/main.yaml:3:21+{} error: `options.aws_iam` cannot be `{value}`\n    It takes `true` or `false`.\n",
            value.len()
        );
        assert_eq!(found, expected);
    }
    assert_eq!(
        found(false, &adapter("postgres://me:{{ env.PW }}@db.example/x", "aws_iam: true, password: \"{{ env.PW }}\"")),
        "app/adapters/main.yaml:2:20+41 error: a password contradicts `aws_iam`\n    With `aws_iam`, a token of AWS IAM is the password. Remove \
         the password here, or `aws_iam`.\n\
         app/adapters/main.yaml:3:27+8 error: a password contradicts `aws_iam`\n    With `aws_iam`, a token of AWS IAM is the password. Remove \
         the password here, or `aws_iam`.\n"
    );
    for url in [url, "hyperdrive:DB"] {
        let found = found(true, &adapter(url, "aws_iam: true"));
        assert!(
            found.starts_with(
                "app/adapters/main.yaml:3:12+7 error: a Worker makes no tokens of AWS IAM, which `aws_iam` needs\n    It has no"
            ),
            "{found}"
        );
    }
    // What the documentation shows.
    let page = include_str!("../../docs/connectors/postgres.md");
    let section = page.split("## On RDS and Aurora without a password").nth(1).unwrap();
    let block = |kind: &str| section.split(&format!("```{kind}\n")).nth(1).unwrap().split("```").next().unwrap();
    assert!(block("yaml").contains("aws_iam: true") && found(false, block("yaml")).is_empty(), "{}", found(false, block("yaml")));
    let policy: serde_json::Value = serde_json::from_str(block("json")).unwrap();
    assert_eq!(policy["Statement"][0]["Action"], "rds-db:connect");
}
