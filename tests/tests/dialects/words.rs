//! The lists of reserved words in `languages/`, beside the servers. `scripts/words` adds what a
//! newer server has.

use std::{collections::BTreeSet, env, fs};

use millrace_core::value::Value;
use millrace_tests::{case::root, database::Database, mysql::Mysql, postgres::Postgres};

/// Compares a list, which also has words of other versions.
fn check(list: &str, of_server: &BTreeSet<String>) {
    let file = root().join("languages/src").join(list);
    let text = fs::read_to_string(&file).unwrap();
    let listed: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let missing = of_server - &listed;
    if missing.is_empty() {
        return;
    }
    assert!(env::var_os("UPDATE_EXPECT").is_some(), "{list} lacks {missing:?}; `scripts/words` adds them");
    fs::write(&file, (&listed | of_server).iter().map(|word| format!("{word}\n")).collect::<String>()).unwrap();
}

fn words(database: &Database, statement: &str) -> BTreeSet<String> {
    let text = |row: Vec<Value>| match row.into_iter().next() {
        Some(Value::Text(word)) => word,
        other => panic!("{other:?} is not a word"),
    };
    database.rows(statement).into_iter().map(text).collect()
}

#[test]
fn of_postgresql() {
    let database = Postgres::shared().open();
    check("postgres/reserved.txt", &words(&database, "SELECT upper(word) FROM pg_get_keywords() WHERE catcode IN ('R', 'T')"));
}

#[test]
fn of_mariadb() {
    let database = Mysql::shared().open();
    let all = words(&database, "SELECT DISTINCT UPPER(WORD) FROM information_schema.KEYWORDS WHERE WORD RLIKE '^[A-Za-z]'");
    assert!(all.len() > 600, "{all:?}");
    // As the name of a column, and of a table.
    let is_name = |word: &String| {
        let statements = [format!("SELECT {word} FROM (SELECT 1 AS `{word}`) AS t"), format!("SELECT 1 FROM (SELECT 1) AS {word}")];
        statements.iter().all(|statement| database.run(statement, &[]).is_ok())
    };
    check("mysql/reserved.txt", &all.into_iter().filter(|word| !is_name(word)).collect());
}
