//! `databases` of an adapter through a whole server: two callers' databases at the same time on
//! PostgreSQL, and everything that looks at all of them before anybody calls.

use std::{path::Path, process::Command, thread};

use millrace_tests::{
    case::{Exchange, body},
    local::{Host, binary},
    postgres::{Postgres, psql},
};
use serde_json::{Value, json};

const FILES: [(&str, &str); 5] = [
    ("millrace.yaml", "name: apart\nauth: { plugin: ./app/auth.ts }\n"),
    ("app/auth.ts", "export default ({ headers }: any) => ({ subject: 'u', claims: { org: headers['x-org'] } });\n"),
    (
        "app/tools/rows/config.yaml",
        "description: x\nuse: db\nstatement: SELECT org, current_database()::text AS place FROM orders ORDER BY id\n",
    ),
    (
        "app/tools/add/config.yaml",
        "description: x\nuse: db\nstatement: INSERT INTO orders (org) VALUES ({{ inputs.org }}) RETURNING current_database()::text AS place\n\
         inputs: { org: { type: string }, key: { type: string } }\nidempotency: { key: \"{{ inputs.key }}\" }\n",
    ),
    (
        "app/adapters/db.yaml",
        "connector: postgres\nconnection_string: \"{{ env.DB }}/shop_{{ auth.claims.org }}\"\ndatabases: [north, south]\n",
    ),
];

const SCHEMA: &str = "CREATE TABLE orders (id serial PRIMARY KEY, org text)";

fn install(folder: &Path) {
    for (path, text) in FILES {
        millrace_tests::files::write(folder, path, text);
    }
}

fn call(host: &Host, org: &str, tool: &str, arguments: &Value) -> Value {
    body(&host.send(&Exchange::call(tool, arguments).with("x-org", org)))["result"].clone()
}

fn check(folder: &Path, env: &[(String, String)]) -> (bool, String) {
    let checked = Command::new(binary()).arg("check").arg(folder).arg("--connect").envs(env.iter().cloned()).output().unwrap();
    let said = [checked.stdout, checked.stderr].concat();
    (checked.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn each_caller_has_the_database_of_its_own() {
    const ROUNDS: usize = 40;
    let server = Postgres::start(&[]);
    psql(&server.url("postgres"), "CREATE DATABASE shop_north");
    psql(&server.url("shop_north"), SCHEMA);
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    let url = server.url("postgres");
    let env = [("DB".to_owned(), url.strip_suffix("/postgres").unwrap().to_owned())];

    // One that is missing is named, although the other one answers.
    let (good, said) = check(folder.path(), &env);
    assert!(!good && said.contains("(in the database `south`)") && !said.contains("`north`"), "{said}");
    psql(&server.url("postgres"), "CREATE DATABASE shop_south");
    // One that differs, too.
    let (good, said) = check(folder.path(), &env);
    assert!(!good && said.contains("app/tools/rows/config.yaml:") && said.contains("(in the database `south`)"), "{said}");
    psql(&server.url("shop_south"), SCHEMA);
    let (good, said) = check(folder.path(), &env);
    assert!(good, "{said}");

    let host = Host::dev(folder.path(), &env);
    thread::scope(|scope| {
        for number in 0..4 {
            let host = &host;
            scope.spawn(move || {
                let own = ["north", "south"][number % 2];
                for round in 0..ROUNDS {
                    // Both use the same keys: a record of one is nothing to the other.
                    let added = call(host, own, "add", &json!({"org": own, "key": format!("{number}-{round}-{}", number / 2)}));
                    let text = added["content"][0]["text"].as_str().unwrap_or_default();
                    assert_eq!(text, format!("[{{\"place\":\"shop_{own}\"}}]"), "{added}");
                    let rows = call(host, own, "rows", &json!({}));
                    let rows: Vec<Value> = serde_json::from_str(rows["content"][0]["text"].as_str().unwrap()).unwrap();
                    assert!(
                        !rows.is_empty() && rows.iter().all(|row| row["org"] == own && row["place"] == format!("shop_{own}")),
                        "{rows:?}"
                    );
                }
            });
        }
    });
    for (org, count) in [("north", 2 * ROUNDS), ("south", 2 * ROUNDS)] {
        let rows = call(&host, org, "rows", &json!({}));
        assert_eq!(rows["content"][0]["text"].as_str().unwrap().matches("place").count(), count);
    }
    for org in ["west", "postgres", "north?host=127.0.0.1", "north/../shop_south", "%73outh"] {
        let refused = call(&host, org, "rows", &json!({}));
        assert_eq!(refused["_meta"]["millrace/error"]["code"], "QUERY_REFUSED", "{refused}");
    }
}
