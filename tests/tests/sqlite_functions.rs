//! The functions of the embedded SQLite beside those of others: what libSQL and SQLite's own shell
//! both have, it has, too.

use std::{collections::BTreeSet, process::Command};

use millrace_core::value::Value;
use millrace_tests::{
    database::{Database, connection},
    sqld::Sqld,
};

const FUNCTIONS: &str = "SELECT DISTINCT name FROM pragma_function_list";

/// What both others have and ours has not, each with its reason. One that is not so any more fails
/// the test.
const MISSING: [(&str, &str); 7] = [
    ("lsmode", "is for tests of SQLite's shell"),
    ("readfile", "reads files of the machine"),
    ("regexp", "an extension of the shell: D1 has none, and a pattern can take for ever"),
    ("regexpi", "an extension of the shell: D1 has none, and a pattern can take for ever"),
    ("sha3", "an extension of the shell: D1 has none"),
    ("sha3_query", "runs a statement that is a value"),
    ("writefile", "writes files of the machine"),
];
/// What D1 has of the options of SQLite that a build has to ask for, by its documentation.
const OF_D1: [&str; 29] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees", "exp", "floor", "ln", "log",
    "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];

fn functions(database: &Database) -> BTreeSet<String> {
    let name = |row: Vec<Value>| match row.into_iter().next() {
        Some(Value::Text(name)) => name,
        other => panic!("{other:?}"),
    };
    database.rows(FUNCTIONS).into_iter().map(name).collect()
}

#[test]
fn functions_that_others_have_are_there() {
    let own = functions(&Database::open(connection("sqlite", ":memory:", &[])));
    let server = Sqld::start(None);
    let of_libsql = functions(&Database::open(connection("libsql", &format!("libsql://127.0.0.1:{}?tls=0", server.port), &[])));
    let shell = Command::new("sqlite3").args([":memory:", FUNCTIONS]).output().expect("sqlite3, which scripts/setup installs");
    assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));
    let of_shell: BTreeSet<String> = String::from_utf8_lossy(&shell.stdout).lines().map(str::to_owned).collect();
    assert!(of_libsql.contains("sqrt") && of_shell.contains("sqrt"), "they are not what they are taken for");
    let both = of_libsql.intersection(&of_shell).filter(|name| !own.contains(*name)).map(String::as_str);
    assert_eq!(both.collect::<Vec<_>>(), MISSING.map(|(name, _)| name), "each of these must be added, or have a reason");
    let missing: Vec<_> = OF_D1.into_iter().filter(|name| !own.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
