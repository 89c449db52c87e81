use sqlparser::parser::Parser;

use super::*;

fn words(set: &TableSet) -> String {
    match set {
        TableSet::All => "*".into(),
        TableSet::Named(names) if names.is_empty() => "-".into(),
        TableSet::Named(names) => names.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
    }
}

fn check(dialect: Dialect, cases: &[(&str, &str, &str)]) {
    for (text, reads, writes) in cases {
        let parsed = Parser::parse_sql(dialect.parser(), text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let tables = of(&parsed, dialect);
        assert_eq!((words(&tables.reads).as_str(), words(&tables.writes).as_str()), (*reads, *writes), "{text}");
    }
}

#[test]
fn every_table_of_a_statement_is_found() {
    let cases = [
        ("SELECT 1", "-", "-"),
        ("SELECT * FROM orders", "orders", "-"),
        ("SELECT * FROM Orders o JOIN main.Users u ON o.user_id = u.id, items", "items orders users", "-"),
        ("SELECT (SELECT max(id) FROM a) FROM b WHERE EXISTS (SELECT 1 FROM c) ORDER BY (SELECT x FROM d)", "a b c d", "-"),
        ("SELECT * FROM (SELECT * FROM a UNION SELECT * FROM b) WHERE x IN (SELECT x FROM c)", "a b c", "-"),
        ("SELECT * FROM (a JOIN b ON 1) LEFT JOIN c ON 1", "a b c", "-"),
        ("INSERT INTO orders (id) VALUES (1) RETURNING id", "-", "orders"),
        ("INSERT INTO orders SELECT * FROM drafts", "drafts", "orders"),
        ("INSERT INTO orders SELECT * FROM orders", "orders", "orders"),
        (
            "INSERT INTO orders (id) VALUES ((SELECT max(id) FROM users)) ON CONFLICT DO UPDATE SET n = (SELECT 1 FROM x)",
            "users x",
            "orders",
        ),
        ("REPLACE INTO \"Orders\" (id) VALUES (1)", "-", "orders"),
        ("UPDATE orders SET n = (SELECT max(n) FROM users) WHERE id IN (SELECT id FROM drafts)", "drafts users", "orders"),
        ("UPDATE orders SET n = u.n FROM users AS u WHERE u.id = orders.user_id", "users", "orders"),
        ("DELETE FROM orders WHERE id IN (SELECT id FROM drafts)", "drafts", "orders"),
        ("WITH x AS (SELECT * FROM orders) SELECT * FROM x", "orders", "-"),
        ("WITH orders AS (SELECT * FROM orders) SELECT * FROM orders", "orders", "-"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT * FROM n", "-", "-"),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM t) SELECT * FROM a, b", "b t", "-"),
        ("WITH x AS (SELECT 1) SELECT * FROM main.x", "x", "-"),
        ("SELECT * FROM (WITH x AS (SELECT * FROM t) SELECT * FROM x), x", "t x", "-"),
        ("SELECT * FROM (WITH x AS (SELECT * FROM t) SELECT * FROM x)", "t", "-"),
        ("INSERT INTO orders WITH x AS (SELECT * FROM t) SELECT * FROM x", "t", "orders"),
        ("WITH x AS (SELECT id FROM old) DELETE FROM orders WHERE id IN (SELECT id FROM x)", "old", "orders"),
        ("SELECT * FROM json_each('[1]'), docs('words')", "docs json_each", "-"),
        ("SELECT nobody_knows(1) FROM t", "t", "-"),
        ("SELECT * FROM millrace_env.orders", "orders", "-"),
        ("SELECT millrace_env FROM orders", "orders", "-"),
        ("SELECT * FROM millrace_env", "*", "-"),
        ("UPDATE millrace_env SET a = 1", "*", "*"),
        ("CREATE TABLE t (id INT)", "*", "*"),
        ("DROP TABLE t", "*", "*"),
        ("PRAGMA user_version", "*", "*"),
        ("EXPLAIN SELECT * FROM t", "t", "-"),
        ("SELECT 1; SELECT 2", "*", "*"),
    ];
    check(Dialect::Sqlite, &cases);
}

#[test]
fn postgresql_has_schemas_cases_and_functions() {
    let cases = [
        ("SELECT * FROM public.Orders, \"Orders\", \"sales\".\"order items\"", "Orders order items orders", "-"),
        ("SELECT count(*), lower(name), coalesce(a, b), now() FROM orders GROUP BY 2", "orders", "-"),
        ("SELECT pg_catalog.lower(name) FROM orders, generate_series(1, 3) AS n, unnest(ARRAY[1]) AS m", "orders", "-"),
        ("SELECT total_of(id) FROM orders", "*", "*"),
        ("SELECT * FROM orders_of(1)", "*", "*"),
        ("SELECT * FROM orders o, LATERAL orders_of(o.id)", "*", "*"),
        ("SELECT public.lower(name) FROM orders", "*", "*"),
        ("INSERT INTO orders (id) VALUES (next_id())", "*", "*"),
        ("SELECT 1 UNION TABLE orders", "*", "-"),
        ("SELECT n OPERATOR(shop.+) 1 FROM orders", "*", "*"),
        ("UPDATE (SELECT * FROM orders) o SET n = 1", "*", "*"),
        ("WITH moved AS (DELETE FROM drafts RETURNING *) INSERT INTO orders SELECT * FROM moved", "-", "drafts orders"),
        ("WITH gone AS (DELETE FROM drafts RETURNING *) SELECT * FROM gone", "-", "drafts"),
        ("UPDATE public.orders AS o SET n = 1 FROM users u JOIN cities c ON true", "cities users", "orders"),
        ("UPDATE ONLY orders SET n = 1", "*", "*"),
        ("DELETE FROM orders USING users WHERE users.id = orders.user_id RETURNING *", "users", "orders"),
        (
            "MERGE INTO stock s USING deliveries d ON s.id = d.id WHEN MATCHED THEN UPDATE SET n = 1 WHEN NOT MATCHED THEN INSERT (id) VALUES (d.id)",
            "deliveries",
            "stock",
        ),
        ("TRUNCATE orders, drafts", "-", "drafts orders"),
        ("TRUNCATE orders CASCADE", "-", "*"),
        ("SELECT * INTO copies FROM orders", "orders", "*"),
        ("CALL settle()", "*", "*"),
        ("COPY orders FROM STDIN", "*", "*"),
    ];
    check(Dialect::Postgres, &cases);
}

#[test]
fn mysql_writes_what_it_joins() {
    let cases =
        [("UPDATE a JOIN b ON a.id = b.id SET a.x = 1, b.x = 1", "b", "a b"), ("DELETE a, b FROM a JOIN b ON a.id = b.id", "b", "a b")];
    check(Dialect::MySql, &cases);
}

#[test]
fn names_by_hand() {
    let cases = [
        ("Orders", Dialect::PartiQl, Some("Orders")),
        (" \"my.orders-1\" ", Dialect::PartiQl, Some("my.orders-1")),
        ("\"Orders\".\"by_customer\"", Dialect::PartiQl, Some("Orders")),
        ("Orders.by_customer", Dialect::PartiQl, Some("Orders")),
        ("\"Orders\"x", Dialect::PartiQl, None),
        ("\"Orders", Dialect::PartiQl, None),
        ("ab", Dialect::PartiQl, None),
        ("Or ders", Dialect::PartiQl, None),
        ("orders", Dialect::Postgres, Some("orders")),
        ("public.Orders", Dialect::Postgres, Some("orders")),
        ("\"Orders\"", Dialect::Postgres, Some("Orders")),
        ("\"Orders\"", Dialect::Sqlite, Some("orders")),
        ("orders o", Dialect::Sqlite, None),
        ("", Dialect::Sqlite, None),
        ("a;b", Dialect::Sqlite, None),
    ];
    for (text, dialect, expected) in cases {
        assert_eq!(named(text, dialect).as_deref(), expected, "{text}");
    }
    assert_eq!(named(&"ü".repeat(100), Dialect::Sqlite).map(|name| name.len()), Some(100));
}
