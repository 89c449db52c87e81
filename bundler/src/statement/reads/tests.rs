use super::*;

fn one(text: &str) -> TableRead {
    table_reads(text, Dialect::Sqlite).unwrap().remove(0)
}

#[test]
fn conditions_and_order_name_the_columns_of_an_index() {
    let columns = |text: &str| one(text).index_columns().join(" ");
    assert_eq!(columns("SELECT * FROM orders WHERE email = ?1 AND total > ?2 ORDER BY day"), "email total");
    assert_eq!(columns("SELECT * FROM orders WHERE (email = ?1) AND day BETWEEN ?2 AND ?3"), "email day");
    assert_eq!(columns("SELECT * FROM orders WHERE state IN (?1, ?2) LIMIT 3"), "state");
    assert_eq!(columns("SELECT * FROM orders ORDER BY day DESC, id LIMIT 5"), "day id");
    assert_eq!(columns("SELECT * FROM orders WHERE email = ?1 OR total = ?2"), "");
    assert_eq!(columns("SELECT * FROM orders WHERE lower(email) = ?1 ORDER BY length(email)"), "");
    assert_eq!(columns("DELETE FROM orders WHERE email = ?1"), "email");
    assert_eq!(table_reads("INSERT INTO orders (email) VALUES (?1)", Dialect::Sqlite), Some(Vec::new()));
    let joined =
        table_reads("SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer WHERE c.city = ?1", Dialect::Sqlite).unwrap();
    let named = |read: &TableRead| (read.name.clone(), read.table.clone(), read.index_columns().join(" "));
    let expected = [("o", "orders", "customer"), ("c", "customers", "id city")];
    assert_eq!(
        joined.iter().map(named).collect::<Vec<_>>(),
        expected.map(|(name, table, columns)| (name.into(), table.into(), columns.into()))
    );
}

#[test]
fn what_ends_early_has_a_limit_and_nothing_that_needs_all_rows() {
    let may_stop = |text: &str| one(text).may_stop;
    assert!(may_stop("SELECT * FROM orders ORDER BY id LIMIT ?1"));
    for text in [
        "SELECT * FROM orders",
        "SELECT * FROM orders WHERE total > 1 LIMIT 3",
        "SELECT count(*) FROM orders LIMIT 1",
        "SELECT DISTINCT email FROM orders LIMIT 1",
        "SELECT total FROM orders GROUP BY total LIMIT 1",
        "SELECT id, row_number() OVER (ORDER BY day) FROM orders LIMIT 1",
        "UPDATE orders SET total = ?1",
    ] {
        assert!(!may_stop(text), "{text}");
    }
    assert_eq!(one("SELECT max(id) FROM orders").only_column.as_deref(), Some("id"));
    assert_eq!(one("SELECT max(id), day FROM orders").only_column, None);
}
