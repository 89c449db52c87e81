//! Statements by which rows would cross tenants if they were taken for something else, and
//! statements that nobody can judge.

use super::*;

#[test]
fn what_cannot_be_judged_is_refused() {
    let cannot = "the build cannot tell whether";
    let both = [
        "EXPLAIN SELECT * FROM orders WHERE org_id = {T}",
        "EXPLAIN ANALYZE DELETE FROM orders WHERE org_id = {T}",
        "CREATE TABLE copies AS SELECT * FROM orders WHERE org_id = {T}",
        "CREATE VIEW v AS SELECT * FROM orders",
        "DROP TABLE orders",
        "ALTER TABLE orders ADD COLUMN n INT",
        "SELECT * FROM orders NATURAL JOIN items WHERE orders.org_id = {T}",
        "SELECT * FROM (orders o JOIN items i ON i.org_id = o.org_id) AS j WHERE j.org_id = {T}",
        "SELECT * FROM orders AS o(org_id, id, item) WHERE o.org_id = {T}",
        "SELECT * FROM {{ env.TABLE | ident }} WHERE org_id = {T}",
        "SELECT * FROM orders {{ env.ALIAS | ident }} WHERE {{ env.ALIAS | ident }}.org_id = {T}",
        "SELECT * FROM orders WHERE org_id = {T} {{ env.MORE | raw }}",
        "{{ env.STATEMENT | raw }}",
        "SELECT * FROM orders WHERE org_id = {T} AND {{ inputs.many | ident }} = {{ inputs.many | ident }}",
        "INSERT INTO orders (org_id, {{ env.COLUMN | ident }}) VALUES ({T}, 1)"
            .replace("{{ env.COLUMN | ident }}", "{{ env.TABLE | raw }}")
            .leak(),
        "SELECT * FROM orders WHERE org_id = {T} HAVING",
        "SELEC * FROM orders WHERE org_id = {T}",
        "SELECT * FROM orders WHERE org_id = {T} WINDOW",
    ];
    let not_run = [("«BEGIN»", "do not run `BEGIN`"), ("«COMMIT»", "do not run `COMMIT`")];
    for dialect in [Sqlite, Postgres] {
        refused(dialect, &listed(), &not_run);
        refused(dialect, &listed(), &both.map(|text| (text, cannot)));
    }
    let postgres = [
        "SELECT «total_of»(id) FROM orders WHERE org_id = {T}",
        "SELECT «query_to_xml»('SELECT * FROM orders', true, true, '')",
        "SELECT * FROM «dblink»('SELECT * FROM orders') AS t(id int)",
        "SELECT * FROM «orders_of»({X})",
        "SELECT * FROM orders o, LATERAL «orders_of»(o.id) WHERE o.org_id = {T}",
        "SELECT public.«lower»(item) FROM orders WHERE org_id = {T}",
        "SELECT «set_config»('app.tenant', {X}, false)",
        "SELECT «pg_read_file»('/etc/passwd')",
        "SELECT «ts_stat»('SELECT * FROM orders')",
        "SELECT * FROM countries ORDER BY «sneaky»(1)",
        "SELECT * FROM countries WHERE (SELECT «sneaky»(1))",
        "SELECT most_common_vals FROM «pg_stats»",
        "SELECT query FROM pg_catalog.«pg_stat_activity»",
        "SELECT * FROM ONLY orders",
        "UPDATE ONLY orders SET n = 1 WHERE org_id = {T}",
        "DELETE FROM ONLY orders WHERE org_id = {T}",
        "SELECT * FROM countries UNION TABLE orders",
        "SELECT * INTO copies FROM orders WHERE org_id = {T}",
        "CALL settle()",
        "DO $$ BEGIN DELETE FROM orders; END $$",
        "TRUNCATE orders",
        "LOCK TABLE orders",
        "REFRESH MATERIALIZED VIEW v",
        "SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a int PATH '$')) AS t",
        "SELECT * FROM ROWS FROM (orders_of(1)) AS t",
        "MERGE INTO orders o USING countries c ON o.org_id = {T} WHEN NOT MATCHED THEN INSERT DEFAULT VALUES",
    ];
    refused(Postgres, &listed(), &postgres.map(|text| (text, cannot)));
    let not_run = ["«COPY» orders TO STDOUT", "«SET» app.tenant = 'north'", "«PREPARE» p AS SELECT * FROM orders", "«EXECUTE» p"];
    refused(Postgres, &listed(), &not_run.map(|text| (text, "connectors of PostgreSQL do not run")));
    let not_kept = [
        "TABLE «orders»",
        "SELECT * FROM «U&\"ord\\0065rs\"»",
        "SELECT * FROM orders WHERE item <> E'a'\n'\\' AND org_id = 1 OR item <> '",
        "SELECT * FROM orders WHERE org_id = {T} -- its own\r OR true\n",
        "SELECT * FROM orders WHERE item = 'x' --\r AND org_id <> {T}",
    ];
    refused(Postgres, &listed(), &not_kept.map(|text| (text, "")));
    let sqlite = [
        "SELECT * FROM «sqlite_stat4»",
        "SELECT * FROM sqlite_dbpage",
        "SELECT «eval»('SELECT * FROM orders')",
        "SELECT * FROM «bytecode»('SELECT 1')",
        "SELECT * FROM «prefixes»('x')",
        "PRAGMA table_info(orders)",
        "SELECT * FROM orders WHERE org_id = {T} /*! OR 1 */ NATURAL JOIN x",
    ];
    refused(Sqlite, &listed(), &sqlite.map(|text| (text, cannot)));
    let not_run = ["«VACUUM» INTO 'copy.db'", "«ATTACH» 'other.db' AS other", "«SELECT» load_extension('x')"];
    refused(Sqlite, &listed(), &not_run.map(|text| (text, "connectors of SQLite do not run")));
    refused(
        Sqlite,
        &listed(),
        &[
            ("WITH «orders» AS (SELECT * FROM items WHERE org_id = {T}) SELECT * FROM orders", "gives its name to something else"),
            ("WITH «Items» AS (SELECT 1) SELECT * FROM countries", "gives its name to something else"),
            ("SELECT * FROM orders WHERE org_id = {T}; «DELETE» FROM orders", "a second statement"),
            ("SELECT * FROM orders WHERE org_id = «?1»", "is a parameter without a value"),
        ],
    );
}

#[test]
fn tricks_do_not_cross() {
    let both = [
        // Precedence, and words between.
        "SELECT * FROM orders WHERE id = 1 OR org_id = {T} AND 1 = 1",
        "SELECT * FROM orders WHERE org_id = {T} AND 1 = 1 OR 1 = 1",
        "SELECT * FROM orders WHERE NOT org_id = {T}",
        "SELECT * FROM orders WHERE id BETWEEN 1 AND org_id = {T}",
        "SELECT * FROM orders WHERE (id = 1 AND org_id = {T}) = {X}",
        "SELECT * FROM orders WHERE 1 = 1 -- AND org_id = {T}",
        "SELECT * FROM orders WHERE 1 = 1 /* AND org_id = {T} */",
        "SELECT * FROM orders WHERE item = 'AND org_id = {T}'",
        "SELECT * FROM orders WHERE item = 'a''' OR 'b' = ' AND org_id = {T} AND '",
        // Another query's condition.
        "SELECT * FROM orders o WHERE EXISTS (SELECT 1 WHERE o.org_id = {T})",
        "SELECT * FROM orders WHERE 1 = (SELECT 1 FROM countries WHERE org_id = {T})",
        "SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE o.org_id = {T} AND i.org_id = {T})",
        "SELECT * FROM orders, (SELECT 1 FROM items WHERE org_id = {T}) x",
        "WITH a AS (SELECT {T} AS org_id) SELECT o.* FROM orders o, a WHERE a.org_id = {T}",
        "WITH a AS (SELECT {T} AS t) SELECT o.* FROM orders o JOIN a ON a.t = o.org_id",
        "SELECT * FROM orders o JOIN (SELECT {T} AS org_id) o2 ON o2.org_id = {T}",
        // Another table's column.
        "SELECT * FROM orders o JOIN countries c ON c.org_id = {T}",
        "SELECT * FROM orders o, countries c WHERE c.org_id = {T} AND c.org_id = o.org_id",
        "SELECT * FROM orders o JOIN items orders ON orders.org_id = {T}",
        "SELECT * FROM orders a, orders b WHERE a.org_id = {T} AND a.org_id = {T}",
        "SELECT * FROM orders o, orders o WHERE o.org_id = {T}",
        // What an outer join leaves open.
        "SELECT * FROM orders o LEFT JOIN items i ON o.org_id = {T} WHERE i.org_id = {T} OR i.org_id IS NULL",
        "SELECT * FROM countries c LEFT JOIN orders o ON true LEFT JOIN items i ON i.org_id = {T} AND o.org_id = i.org_id",
        "SELECT * FROM items i RIGHT JOIN orders o ON o.org_id = i.org_id AND i.org_id = {T}",
        "SELECT * FROM orders o LEFT JOIN items i ON i.org_id = {T} LEFT JOIN docs d ON d.org_id = i.org_id AND o.org_id = {T}",
        // Chosen by the caller.
        "SELECT * FROM {{ inputs.table | ident }}",
        "SELECT * FROM countries JOIN {{ inputs.table | ident }} t ON true",
        "SELECT * FROM orders WHERE org_id = {T} {{ inputs.word | keyword }} 1 = 1",
        "SELECT * FROM orders o WHERE o.{{ inputs.column | ident }} = {T}",
        "UPDATE orders SET {{ inputs.column | ident }} = {X} WHERE org_id = {T}",
        "INSERT INTO orders ({{ inputs.column | ident }}) VALUES ({T})",
        "DELETE FROM {{ inputs.table | ident }} WHERE id = 1",
        // Through what writes.
        "INSERT INTO orders (org_id) SELECT {T} FROM countries WHERE EXISTS (SELECT 1 FROM items)",
        "INSERT INTO orders (org_id, item) VALUES ({T}, (SELECT item FROM orders LIMIT 1))",
        "INSERT INTO orders (org_id, item) VALUES ({T}, 1) ON CONFLICT (org_id) DO UPDATE SET item = (SELECT item FROM items)",
        "INSERT INTO orders (org_id, item) VALUES ({T}, 1) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE items.org_id = {T}",
        "UPDATE orders SET item = (SELECT item FROM items i WHERE i.org_id = orders.org_id) WHERE org_id = {T}",
        "UPDATE orders SET item = 1 WHERE org_id = {T} OR org_id IS NULL",
        "UPDATE orders SET n = 1 FROM (SELECT 1 FROM items WHERE org_id = {T}) x",
        "DELETE FROM orders WHERE id IN (SELECT order_id FROM items WHERE org_id = {T})",
        "DELETE FROM orders WHERE org_id IN (SELECT {T})",
        "WITH a AS (SELECT id FROM orders WHERE org_id = {T}) DELETE FROM orders WHERE id IN (SELECT id FROM a)",
    ];
    let mut count = 0;
    for dialect in [Sqlite, Postgres] {
        for text in both {
            let (plain, _) = unmarked(text);
            assert!(!problems(&plain, dialect, &listed()).is_empty(), "{dialect:?}: {plain} is accepted");
            count += 1;
        }
    }
    // SQLite compares with the leftmost column of that name; PostgreSQL calls it ambiguous.
    let sqlite = [
        "SELECT i.* FROM (SELECT {X} AS org_id) x CROSS JOIN orders o JOIN items i USING (org_id) WHERE o.org_id = {T}",
        "SELECT i.* FROM (SELECT {X} AS org_id) x, orders o JOIN items i USING (org_id) WHERE o.org_id = {T}",
        "SELECT i.* FROM (SELECT {X} AS org_id) x, orders o LEFT JOIN items i USING (org_id) WHERE o.org_id = {T}",
        "WITH x AS (SELECT {X} AS org_id) SELECT i.* FROM x CROSS JOIN orders o JOIN items i USING (org_id) WHERE o.org_id = {T}",
        "SELECT i.* FROM countries c, orders o JOIN items i USING (org_id) WHERE o.org_id = {T}",
    ];
    for text in sqlite {
        assert!(!problems(text, Sqlite, &listed()).is_empty(), "{text} is accepted");
        count += 1;
    }
    let operator = "SELECT * FROM countries WHERE code OPERATOR(app.===) {X}";
    assert!(!problems(operator, Postgres, &listed()).is_empty(), "{operator} is accepted");
    assert_eq!(count, 89);
}

#[test]
fn a_long_statement_is_judged_to_its_end() {
    let arm = "SELECT id FROM orders WHERE org_id = {{ auth.claims.org }}\nUNION ALL\n";
    let long = |last: &str| format!("{}{last}", arm.repeat(400));
    assert_eq!(problems(&long("SELECT id FROM items WHERE org_id = {{ auth.claims.org }}"), Sqlite, &listed()), []);
    let open = long("SELECT id FROM items");
    let found = problems(&open, Sqlite, &listed());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, open.len() - 5..open.len());
    let nested =
        format!("SELECT * FROM orders WHERE org_id = {{{{ auth.claims.org }}}} AND {}1 = 1{}", "(".repeat(2_000), ")".repeat(2_000));
    assert!(!problems(&nested, Sqlite, &listed()).is_empty(), "what the parser cannot read is accepted");
}
