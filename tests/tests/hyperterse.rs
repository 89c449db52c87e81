//! An app as Hyperterse has it, with the databases that Millrace has drivers of its own for.

use std::{path::Path, process::Command};

use millrace_tests::{docs::text, local::binary, mongodb, mysql::Mysql, redis};
use serde_json::json;

const FILES: [(&str, &str); 9] = [
    (".hyperterse", "name: shop\n"),
    ("app/adapters/sql.terse", "connector: mysql\nconnection_string: \"{{ env.SQL }}\"\n"),
    ("app/adapters/documents.terse", "connector: mongodb\nconnection_string: \"{{ env.DOCUMENTS }}\"\n"),
    ("app/adapters/keys.terse", "connector: redis\nconnection_string: \"{{ env.KEYS }}\"\n"),
    (
        "app/tools/customer/config.terse",
        "description: A customer.\nuse: sql\nstatement: SELECT id, email FROM customers WHERE email = '{{ inputs.email }}'\ninputs: { email: { type: string } }\n",
    ),
    (
        "app/tools/store/config.terse",
        r#"description: Stores a visit.
use: documents
statement: |
  {"database": "reports",
   "command": {"insert": "visits", "documents": [{"_id": {{ inputs.id }}, "who": "{{ inputs.who }}", "code": "{{ inputs.id }}", "note": "by {{ inputs.who }}"}]}}
inputs: { id: { type: int }, who: { type: string } }
"#,
    ),
    (
        "app/tools/visits/config.terse",
        r#"description: Visits.
use: documents
statement: '{"database": "reports", "command": {"find": "visits", "filter": {"who": "{{ inputs.who }}", "_id": {"$gte": {{inputs.from}}}}, "sort": {"_id": 1}, "limit": 10}}'
inputs: { who: { type: string }, from: { type: int } }
"#,
    ),
    (
        "app/tools/keep/config.terse",
        "description: Keeps a choice.\nuse: keys\nstatement: SET choice:{{ inputs.user }} {{ inputs.choice }}\ninputs: { user: { type: string }, choice: { type: string } }\n",
    ),
    (
        "app/tools/kept/config.terse",
        "description: A choice.\nuse: keys\nstatement: GET choice:{{ inputs.user }}\ninputs: { user: { type: string } }\n",
    ),
];

fn app(folder: &Path, files: &[(&str, &str)]) {
    for (name, body) in files {
        millrace_tests::files::write(folder, name, body);
    }
}

#[test]
fn its_statements_run_on_mysql_mongodb_and_redis() {
    let (sql, documents, keys) = (Mysql::start(&[]), mongodb::start(&[]), redis::start(&[]));
    sql.run(
        "shop",
        "CREATE TABLE customers (id INT PRIMARY KEY, email VARCHAR(100)); INSERT INTO customers VALUES (1, 'o''neil@example.com'); \
         CREATE USER shop IDENTIFIED BY 'p@ss(word'; GRANT SELECT ON shop.* TO shop",
    );
    let folder = tempfile::tempdir().unwrap();
    app(folder.path(), &FILES);
    let call = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("call").args(arguments).current_dir(folder.path());
        // The form of Go's driver, with a password that nothing escapes.
        command.env("SQL", format!("shop:p@ss(word@tcp(127.0.0.1:{})/shop?parseTime=true", sql.port));
        // It names no database: the statements do.
        command.env("DOCUMENTS", documents.url().replace("/shop", "")).env("KEYS", format!("redis://127.0.0.1:{}", keys.port));
        text(&command.output().unwrap())
    };
    let hostile = "o'neil\"}; {{ inputs.id }} $where";
    for (arguments, expected) in [
        (vec!["customer", "email=o'neil@example.com"], r#"[{"id":1,"email":"o'neil@example.com"}]"#.to_owned()),
        (vec!["customer", "email=' OR 1=1 -- "], "[]\n".to_owned()),
        (vec!["store", "id=7", &format!("who={hostile}")], r#"[{"_id":7}]"#.to_owned()),
        (
            vec!["visits", "from=7", &format!("who={hostile}")],
            json!([{ "_id": 7, "who": hostile, "code": "7", "note": format!("by {hostile}") }]).to_string(),
        ),
        (vec!["visits", "from=8", &format!("who={hostile}")], "[]\n".to_owned()),
        (vec!["keep", "user=ann lee", "choice=a \"b\" c"], r#"[{"value":"OK"}]"#.to_owned()),
        (vec!["kept", "user=ann lee"], r#"[{"value":"a \"b\" c"}]"#.to_owned()),
    ] {
        let said = call(&arguments);
        assert!(said.contains(&expected), "{arguments:?}: {expected}\n{said}");
    }
    // The statement says in which database, whatever the connection string does.
    let databases: Vec<_> = documents.commands().iter().filter_map(|command| command["$db"].as_str().map(str::to_owned)).collect();
    assert!(databases.len() >= 3 && databases.iter().all(|name| name == "reports"), "{databases:?}");
}

#[test]
fn what_is_wrong_with_a_document_has_its_place() {
    for (statement, line, expected) in [
        (r#"{"database": "shop", "command": {"dropDatabase": 1}}"#, "4:36", "`dropDatabase` is not a command that a tool can run"),
        (r#"{"database": "shop", "command": {"find": "u", "filter": {"$where": "{{ inputs.a }}"}}}"#, "4:60", "runs code on the server"),
        (r#"{"database": "shop", "command": {"find": "u", "filter": {"a": {{ inputs.b }}}}}"#, "4:65", "input `b` is not declared"),
        (r#"{"database": "shop", "command": {"find": "{{ inputs.a }}"}}"#, "4:36", "the collection must be written out"),
        (r#"{"database": "{{ inputs.a }}", "command": {"find": "u"}}"#, "4:4", "the database must be written out"),
        (r#"{"database": "a.b", "command": {"find": "u"}}"#, "4:4", "`a.b` is not the name of a database"),
        (r#"{"database": "shop", "command": {"find": "u", "find": "v"}}"#, "4:3", "`find`"),
        (r#"{"database": "shop", "command": {"find": "u", }}"#, "4:49", "the document is not JSON"),
        (r#"{"database": "shop", "command": "find"}"#, "4:35", "`command` must be an object"),
        (r#"{"command": {"find": "u"}}"#, "4:3", "the document has no `database`"),
        (r#"{"database": "shop"}"#, "4:3", "the document has no `command`"),
        ("find users", "4:4", "the document is not JSON"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tool = format!("description: A.\nuse: documents\nstatement: |\n  {statement}\ninputs: {{ a: {{ type: string }} }}\n");
        app(folder.path(), &[FILES[0], FILES[2], ("app/tools/a/config.terse", &tool)]);
        let output = Command::new(binary()).args(["check", "--json"]).current_dir(folder.path()).output().unwrap();
        let said = text(&output);
        let place = format!("config.terse:{line}");
        let found: serde_json::Value = serde_json::from_str(String::from_utf8_lossy(&output.stdout).trim()).unwrap();
        let first = &found["diagnostics"][0];
        let shown = format!("{}:{}:{}", first["file"].as_str().unwrap_or_default(), first["line"], first["column"]);
        assert!(
            shown.ends_with(&place) && first["message"].as_str().unwrap().contains(expected),
            "{statement}: {place} {expected}\n{said}"
        );
    }
}
