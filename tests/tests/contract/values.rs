//! Values in and out.

use millrace_core::{ports::Query, value::Value};
use millrace_tests::database::{Database, query};

/// A type of a column, a value that is bound, and what is read back.
pub(crate) type Stored = (&'static str, Value, Value);

/// A value that comes back as it was.
pub(crate) fn same(column: &'static str, value: Value) -> Stored {
    (column, value.clone(), value)
}

pub(crate) fn time(text: &str) -> Value {
    Value::Timestamp(text.to_owned())
}

pub(crate) fn decimal(text: &str) -> Value {
    Value::Decimal(text.to_owned())
}

/// The only cell of a result.
pub(crate) fn one(database: &Database, statement: &str, params: &[Value]) -> Value {
    let mut rows = database.run(statement, params).unwrap_or_else(|error| panic!("{statement} {params:?}: {error:?}")).rows;
    assert!(rows.len() == 1 && rows[0].len() == 1, "{statement}: {rows:?}");
    rows.remove(0).remove(0)
}

/// Every value, bound, stored in a column of its type and read back; `quoted` is a condition that
/// holds, where a sign of a value stands in a text.
pub(crate) fn values_go_in_and_come_out_whole(database: &Database, cases: impl IntoIterator<Item = Stored>, sign: &str, quoted: &str) {
    for (column, value, expected) in cases {
        database.run("DROP TABLE IF EXISTS t", &[]).unwrap();
        database.run(&format!("CREATE TABLE t (v {column} NULL)"), &[]).unwrap();
        let (put, get) = (format!("INSERT INTO t VALUES ({sign})"), format!("SELECT v FROM t WHERE v IS NOT NULL AND {quoted}"));
        assert_eq!(database.run(&put, std::slice::from_ref(&value)).unwrap().affected, 1, "{column} {value:.200?}");
        for statement in ["SELECT v FROM t", &get] {
            let read = database.run_with(&Query { max_bytes: 4 << 20, ..query(statement) }).unwrap().rows;
            assert!(read == [std::slice::from_ref(&expected)], "{column} {value:.200?}: {read:.200?}");
        }
        assert_eq!(database.run(&put, &[Value::Null]).unwrap().affected, 1, "{column}");
        assert_eq!(database.rows(&format!("SELECT 1 FROM t WHERE v IS NULL AND {quoted}")).len(), 1, "{column}");
    }
}

/// What statements make of values that are bound.
pub(crate) fn a_value_means_what_it_would_mean_written_out(database: &Database, cases: Vec<(&str, Vec<Value>, Value)>) {
    for (statement, params, expected) in cases {
        assert_eq!(one(database, statement, &params), expected, "{statement}");
    }
}
