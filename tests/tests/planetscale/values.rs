//! Values in and out, and results that are those of connector `mysql`.

use millrace_core::value::Value;
use millrace_tests::{database::text, mysql::Mysql, planetscale};

use crate::mysql::values::{a_value_means_what_it_would_mean_written_out_through, values_go_in_and_come_out_whole_through};

#[test]
fn values_go_in_and_come_out_whole() {
    values_go_in_and_come_out_whole_through(&planetscale::open(&Mysql::start(&[])), Value::F64(16_777_200.0));
}

#[test]
fn a_value_means_what_it_would_mean_written_out() {
    a_value_means_what_it_would_mean_written_out_through(&planetscale::open(&Mysql::start(&[])));
}

#[test]
fn results_are_those_of_mysql() {
    let server = Mysql::start(&[]);
    let (far, near) = (planetscale::open(&server), server.open());
    near.run("CREATE TABLE t (id int PRIMARY KEY, v varchar(9))", &[]).unwrap();
    near.run("INSERT INTO t VALUES (1, 'c'), (2, 'b'), (3, 'a')", &[]).unwrap();
    let values = [
        Value::I64(2),
        text("o'n -- "),
        text(""),
        Value::Bytes(vec![0, 39]),
        Value::F64(0.5),
        Value::Bool(true),
        Value::Null,
        Value::I64(-1),
    ];
    let mut different = Vec::new();
    for statement in [
        "SELECT ?",
        "SELECT DISTINCT ? , '?' AS q",
        "SELECT ?, ? FROM t LIMIT 1",
        "SELECT CONCAT('it''s ', ?), id FROM t WHERE id = 1",
        "SELECT id FROM t ORDER BY id - ?, v",
        "SELECT v FROM t WHERE v = ? OR id > ? ORDER BY v LIMIT 2",
        "SELECT JSON_OBJECT('a', ?) AS j",
        "(SELECT ? AS v) UNION (SELECT ?)",
        "SELECT CASE WHEN ? IS NULL THEN 'none' ELSE 'one' END AS c, `v` FROM t WHERE id IN (3, ?)",
        "UPDATE t SET v = v WHERE id = ? + 1000",
        "SELECT ? AS v -- ?",
    ] {
        let count = statement.matches('?').count() - usize::from(statement.contains("'?'")) - usize::from(statement.contains("-- ?"));
        for first in &values {
            let bound: Vec<Value> = std::iter::repeat_n(first.clone(), count).collect();
            let of = |database: &millrace_tests::database::Database| {
                database.run(statement, &bound).map_err(|error| (error.kind, error.message.clone()))
            };
            let (found, expected) = (of(&far), of(&near));
            if found != expected {
                different.push(format!("{statement} {first:?}: {found:?} instead of {expected:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    // Bound, MariaDB takes it for a column; MySQL does not.
    for value in [Value::I64(2), Value::Bool(true)] {
        let rows = far.run("SELECT id, v FROM t ORDER BY ?, id DESC", std::slice::from_ref(&value)).unwrap().rows;
        assert_eq!(rows[0][0], Value::I64(3), "{value:?} is not a column");
        assert_eq!(far.run("SELECT COUNT(*) FROM t GROUP BY (?)", &[value]).unwrap().rows, [[Value::I64(3)]]);
    }
}
