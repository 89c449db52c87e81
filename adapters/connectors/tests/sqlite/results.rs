//! What goes in and what comes out.

use millrace_core::value::Value;

use crate::support::{Isolate, text};

#[test]
fn columns_keep_their_order_and_get_unique_names() {
    let isolate = Isolate::memory("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    for _ in 0..3 {
        let rows = isolate.run("SELECT name, id, 7 AS id, id AS id_2, name FROM t WHERE id > ?1", &[Value::I64(1)]).unwrap();
        assert_eq!(*rows.columns, ["name", "id", "id_2", "id_2_2", "name_2"].map(String::from));
        assert_eq!(rows.rows, [[text("b"), Value::I64(2), Value::I64(7), Value::I64(2), text("b")]]);
        assert_eq!(rows.affected, 0);
    }
}
