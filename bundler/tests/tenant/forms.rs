//! Every form of statement, with the verdict.

use super::*;

#[test]
fn what_keeps_to_the_tenant_is_accepted() {
    let both = [
        "SELECT 1",
        "SELECT * FROM countries",
        "SELECT * FROM orders WHERE org_id = {T}",
        "SELECT * FROM orders WHERE {T} = org_id",
        "SELECT * FROM orders WHERE org_id = '{T}'",
        "SELECT * FROM orders WHERE (org_id = {T})",
        "SELECT * FROM orders WHERE ((org_id) = ({T}) AND id = {X})",
        "SELECT * FROM ORDERS WHERE ORG_ID = {T}",
        "SELECT * FROM orders o WHERE o.org_id = {T} AND (o.id = {X} OR o.id = 1)",
        "SELECT * FROM orders AS o WHERE o.id > 3 AND NOT o.closed AND o.org_id = {T} ORDER BY id LIMIT 3",
        "SELECT * FROM main.orders WHERE orders.org_id = {T}",
        "SELECT o.id FROM orders o JOIN items i ON i.order_id = o.id WHERE o.org_id = {T} AND i.org_id = {T}",
        "SELECT o.id FROM orders o JOIN items i ON i.order_id = o.id AND i.org_id = {T} AND o.org_id = {T}",
        "SELECT o.id FROM orders o JOIN items i ON i.order_id = o.id AND i.org_id = o.org_id WHERE o.org_id = {T}",
        "SELECT o.id FROM orders o JOIN items i ON i.org_id = o.org_id WHERE i.org_id = {T}",
        "SELECT o.id FROM orders o, items i WHERE o.id = i.order_id AND o.org_id = i.org_id AND i.org_id = {T}",
        "SELECT o.id FROM orders o LEFT JOIN items i ON i.order_id = o.id AND i.org_id = {T} WHERE o.org_id = {T}",
        "SELECT o.id FROM orders o LEFT JOIN items i ON i.order_id = o.id AND i.org_id = o.org_id WHERE o.org_id = {T}",
        "SELECT o.id FROM items i RIGHT JOIN orders o ON i.org_id = o.org_id WHERE o.org_id = {T}",
        "SELECT o.id FROM items i RIGHT JOIN orders o ON i.org_id = {T} WHERE o.org_id = {T}",
        "SELECT o.id FROM items i FULL JOIN orders o ON i.id = o.id WHERE o.org_id = {T} AND i.org_id = {T}",
        "SELECT o.id FROM orders o JOIN items USING (org_id) WHERE org_id = {T}",
        "SELECT o.id FROM orders o LEFT JOIN items USING (org_id, order_id) WHERE o.org_id = {T}",
        "SELECT o.id FROM orders o CROSS JOIN countries c WHERE org_id = {T}",
        "SELECT o.id FROM (orders o JOIN items i ON i.org_id = o.org_id) JOIN countries c ON true WHERE o.org_id = {T}",
        "SELECT o.id FROM countries c LEFT JOIN (orders o JOIN items i ON i.org_id = o.org_id AND o.org_id = {T}) ON c.id = o.country",
        "SELECT * FROM orders a JOIN orders b ON a.parent = b.id AND b.org_id = a.org_id AND a.org_id = {T}",
        "SELECT * FROM orders WHERE org_id = {T} UNION ALL SELECT * FROM items WHERE org_id = {T}",
        "SELECT * FROM (SELECT * FROM orders WHERE org_id = {T}) o WHERE o.id = {X}",
        "SELECT (SELECT count(*) FROM items i WHERE i.org_id = {T} AND i.order_id = o.id) FROM orders o WHERE o.org_id = {T}",
        "SELECT * FROM orders o WHERE o.org_id = {T} AND EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.org_id = {T})",
        "SELECT * FROM orders o WHERE o.org_id = {T} AND o.id IN (SELECT order_id FROM items WHERE org_id = {T})",
        "WITH mine AS (SELECT * FROM orders WHERE org_id = {T}) SELECT * FROM mine m JOIN mine n ON m.id = n.parent",
        "WITH mine AS (SELECT * FROM orders WHERE org_id = {T}), more AS (SELECT * FROM mine) SELECT * FROM more",
        "WITH RECURSIVE tree AS (SELECT id, parent FROM orders WHERE org_id = {T} AND id = {X} UNION ALL \
         SELECT o.id, o.parent FROM orders o JOIN tree t ON o.parent = t.id WHERE o.org_id = {T}) SELECT * FROM tree",
        "SELECT org_id, count(*) FROM orders WHERE org_id = {T} GROUP BY org_id HAVING count(*) > 1",
        "SELECT * FROM orders WHERE org_id = {T} ORDER BY {{ inputs.column | ident }} {{ inputs.direction | keyword }}",
        "SELECT * FROM {{ inputs.safe | ident }}",
        "SELECT c.* FROM {{ inputs.table | ident }} c JOIN orders o ON o.org_id = {T} WHERE c.org_id = {T}",
        "INSERT INTO orders (org_id, item) VALUES ({T}, {X})",
        "INSERT INTO orders (item, org_id) VALUES ({X}, {T}), (1, {T}) RETURNING id",
        "INSERT INTO orders (item, org_id) SELECT name, {T} FROM countries",
        "INSERT INTO orders (item, org_id) SELECT name, {T} AS org FROM countries UNION SELECT item, {T} FROM items WHERE org_id = {T}",
        "INSERT INTO orders (item, org_id) VALUES ({X}, {T}) ON CONFLICT DO NOTHING",
        "INSERT INTO orders (item, org_id) VALUES ({X}, {T}) ON CONFLICT (org_id, item) DO UPDATE SET n = orders.n + 1",
        "INSERT INTO orders (item, org_id) VALUES ({X}, {T}) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE orders.org_id = {T}",
        "INSERT INTO orders (item, org_id) VALUES ({X}, {T}) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE n = 2 AND excluded.org_id = orders.org_id",
        "INSERT INTO countries (id) VALUES ({X})",
        "UPDATE orders SET item = {X} WHERE org_id = {T} AND id = 7",
        "UPDATE orders SET item = {X}, org_id = {T} WHERE org_id = {T}",
        "UPDATE orders AS o SET n = i.n FROM items i WHERE i.order_id = o.id AND i.org_id = o.org_id AND o.org_id = {T}",
        "UPDATE orders SET n = (SELECT sum(n) FROM items i WHERE i.order_id = orders.id AND i.org_id = {T}) WHERE org_id = {T}",
        "UPDATE countries SET n = 1",
        "DELETE FROM orders WHERE org_id = {T}",
        "DELETE FROM orders WHERE org_id = {T} AND id IN (SELECT order_id FROM items WHERE org_id = {T}) RETURNING id",
        "-- all of it\nSELECT * /* {T} */ FROM orders -- o\nWHERE org_id = {T}",
    ];
    accepted(Sqlite, &listed(), &both);
    accepted(Postgres, &listed(), &both);
    accepted(
        Sqlite,
        &listed(),
        &[
            "SELECT * FROM `Orders` WHERE [org_id] == {T}",
            "SELECT * FROM 'orders' WHERE \"ORG_ID\" = {T}",
            "SELECT value FROM orders, json_each(orders.tags) WHERE orders.org_id = {T}",
            "SELECT * FROM docs('words') WHERE org_id = {T}",
            "SELECT * FROM docs WHERE docs MATCH {X} AND org_id = {T} ORDER BY rank",
            "SELECT * FROM orders WHERE org_id = {T} AND item IS {X} AND n IS NOT 3",
            "SELECT * FROM orders o WHERE o.item IS {X} AND o.org_id = {T}",
            "SELECT * FROM orders o WHERE o.item GLOB 'a*' AND o.item LIKE {X} ESCAPE '!' AND o.org_id = {T}",
            "SELECT * FROM orders INDEXED BY by_org WHERE org_id = {T} AND (item IS {X})",
            "INSERT OR IGNORE INTO orders (item, org_id) VALUES ({X}, {T})",
            "INSERT INTO orders (item, org_id) VALUES ({X}, {T}) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE org_id = {T}",
            "WITH mine AS (SELECT id FROM items WHERE org_id = {T}) DELETE FROM orders WHERE org_id = {T} AND id IN (SELECT id FROM mine)",
            "SELECT replace(item, 'a', 'b') FROM orders WHERE org_id = {T}",
        ],
    );
    accepted(
        Postgres,
        &listed(),
        &[
            "SELECT * FROM public.orders o WHERE o.org_id = {T}::uuid AND o.tags @> '{\"a\": 1}'",
            "SELECT * FROM orders WHERE org_id = CAST({T} AS bigint)",
            "SELECT * FROM \"Orders\"",
            "SELECT * FROM \"orders\" WHERE \"org_id\" = {T}",
            "SELECT * FROM \"Sales\" s WHERE s.org_id = {T} FOR UPDATE OF s SKIP LOCKED",
            "SELECT o.id, i.n FROM orders o, LATERAL (SELECT n FROM items WHERE order_id = o.id AND org_id = {T}) i WHERE o.org_id = {T}",
            "SELECT o.id, n FROM orders o CROSS JOIN LATERAL generate_series(1, o.n) AS n WHERE o.org_id = {T}",
            "SELECT o.id FROM orders o, unnest(o.tags) AS tag WHERE o.org_id = {T} AND tag = ANY({X})",
            "SELECT own_total(o.id), count(*) FILTER (WHERE o.n > 1) OVER (PARTITION BY o.day) FROM orders o WHERE o.org_id = {T}",
            "SELECT * FROM {{ env.SCHEMA | ident }}.orders o WHERE o.org_id = {T}",
            "SELECT DISTINCT ON (o.day) o.* FROM orders o TABLESAMPLE SYSTEM (10) WHERE o.org_id = {T}",
            "WITH gone AS (DELETE FROM items WHERE org_id = {T} RETURNING *) INSERT INTO orders (org_id, item) SELECT {T}, item FROM gone",
            "DELETE FROM orders o USING items i WHERE i.order_id = o.id AND i.org_id = {T} AND o.org_id = {T}",
            "INSERT INTO orders (id, org_id) VALUES (nextval('ids'), {T})",
            "INSERT INTO orders AS o (item, org_id) VALUES ({X}, {T}) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE o.n = 2 AND excluded.org_id = o.org_id",
            "MERGE INTO orders o USING (SELECT id, n FROM items WHERE org_id = {T}) i ON i.id = o.id AND o.org_id = {T} \
             WHEN MATCHED AND o.n > 3 THEN UPDATE SET n = i.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, org_id) VALUES (i.id, {T})",
            "MERGE INTO orders o USING countries c ON o.country = c.id AND o.org_id = {T} WHEN MATCHED THEN UPDATE SET n = 1",
            "UPDATE orders SET (n, item) = (1, {X}) WHERE org_id = {T}",
        ],
    );
    for dialect in [Sqlite, Postgres] {
        accepted(
            dialect,
            &all_but(),
            &[
                "SELECT 1",
                "SELECT * FROM countries, currencies",
                "SELECT * FROM whatever WHERE org_id = {T}",
                "WITH x AS (SELECT * FROM whatever WHERE org_id = {T}) SELECT * FROM x",
                "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT * FROM n",
            ],
        );
    }
}

/// What a table without a condition is told.
const FREE: &str = "is not kept to the caller's tenant: no condition binds";

#[test]
fn a_table_without_its_condition_is_refused_where_it_stands() {
    let both = [
        "SELECT * FROM «orders»",
        "SELECT count(*) FROM «orders» WHERE id = {X}",
        "SELECT * FROM «ORDERS»",
        "SELECT * FROM main.«orders» o",
        "SELECT * FROM «orders» WHERE org_id = {X}",
        "SELECT * FROM «orders» WHERE org_id = {{ auth.subject }}",
        "SELECT * FROM «orders» WHERE org_id = {{ auth.claims.organisation }}",
        "SELECT * FROM «orders» WHERE org_id = {{ auth.claims.org.id }}",
        "SELECT * FROM «orders» WHERE org_id = {{ ctx.org }}",
        "SELECT * FROM «orders» WHERE org_id = {{ env.ORG }}",
        "SELECT * FROM «orders» WHERE org_id = '{T}-{X}'",
        "SELECT * FROM «orders» WHERE org_id = 'north'",
        "SELECT * FROM «orders» WHERE id = {T}",
        "SELECT * FROM «orders» WHERE org_id = {T} OR id = {X}",
        "SELECT * FROM «orders» WHERE (org_id = {T} AND id = 1) OR (org_id = {T} AND id = 2)",
        "SELECT * FROM «orders» WHERE NOT (org_id = {T})",
        "SELECT * FROM «orders» WHERE org_id <> {T}",
        "SELECT * FROM «orders» WHERE org_id >= {T}",
        "SELECT * FROM «orders» WHERE org_id LIKE {T}",
        "SELECT * FROM «orders» WHERE org_id IN ({T})",
        "SELECT * FROM «orders» WHERE org_id BETWEEN {T} AND {T}",
        "SELECT * FROM «orders» WHERE org_id IS NOT DISTINCT FROM {T}",
        "SELECT * FROM «orders» WHERE org_id IS NULL",
        "SELECT * FROM «orders» WHERE (org_id = {T}) IS NOT NULL",
        "SELECT * FROM «orders» WHERE (org_id = {T}) = {X}",
        "SELECT * FROM «orders» WHERE coalesce(org_id, {T}) = {T}",
        "SELECT * FROM «orders» WHERE lower(org_id) = lower({T})",
        "SELECT * FROM «orders» WHERE org_id || '' = {T}",
        "SELECT * FROM «orders» WHERE org_id = org_id",
        "SELECT * FROM «orders» WHERE {T} = {T}",
        "SELECT * FROM «orders» WHERE CASE WHEN {X} = 'a' THEN org_id = {T} ELSE 1 = 1 END",
        "SELECT * FROM «orders» WHERE (org_id, id) = ({T}, {X})",
        "SELECT * FROM «orders» WHERE org_id = (SELECT {T})",
        "SELECT * FROM «orders» GROUP BY org_id, id HAVING org_id = {T}",
        "SELECT org_id = {T} FROM «orders»",
        "SELECT * FROM «orders» o WHERE orders.org_id = {T}",
        "SELECT * FROM «orders» o WHERE x.org_id = {T}",
        "SELECT * FROM «orders» ORDER BY org_id = {T} LIMIT 1",
        "SELECT * FROM «orders» o JOIN «items» i ON i.order_id = o.id",
        "SELECT * FROM orders o JOIN «items» i ON i.order_id = o.id WHERE o.org_id = {T}",
        "SELECT * FROM «orders» o JOIN «items» i ON i.order_id = o.id WHERE org_id = {T}",
        "SELECT * FROM «orders» o JOIN «items» i ON i.org_id = o.org_id",
        "SELECT * FROM orders o, «items» i WHERE o.org_id = {T}",
        "SELECT * FROM «orders» o LEFT JOIN items i ON i.org_id = {T} AND o.org_id = {T}",
        "SELECT * FROM orders o LEFT JOIN «items» i ON i.order_id = o.id AND o.org_id = {T} WHERE o.org_id = {T}",
        "SELECT * FROM «orders» o LEFT JOIN items i ON i.org_id = o.org_id AND i.org_id = {T}",
        "SELECT * FROM «orders» o LEFT JOIN items i USING (org_id) WHERE i.org_id = {T}",
        "SELECT * FROM orders o RIGHT JOIN «items» i ON o.org_id = {T} AND i.org_id = {T}",
        "SELECT * FROM «orders» o RIGHT JOIN «items» i ON i.org_id = o.org_id WHERE o.org_id = 1 OR o.org_id = {T}",
        "SELECT * FROM «orders» o FULL JOIN «items» i ON o.org_id = {T} AND i.org_id = {T}",
        "SELECT * FROM «orders» o FULL JOIN «items» i USING (org_id) WHERE org_id = {T}",
        "SELECT * FROM «orders» o JOIN countries c ON c.org_id = o.org_id",
        "SELECT * FROM orders o JOIN «orders» p ON p.parent = o.id WHERE o.org_id = {T}",
        "SELECT * FROM countries c LEFT JOIN («orders» o JOIN items i ON i.org_id = {T}) ON c.id = o.id",
        "SELECT * FROM orders WHERE org_id = {T} UNION SELECT * FROM «orders»",
        "SELECT * FROM «orders» EXCEPT SELECT * FROM orders WHERE org_id = {T}",
        "SELECT * FROM orders WHERE org_id = {T} INTERSECT SELECT * FROM «orders»",
        "SELECT * FROM (SELECT * FROM «orders») o WHERE o.org_id = {T}",
        "SELECT * FROM orders o WHERE org_id = {T} AND EXISTS (SELECT 1 FROM «items» i WHERE i.org_id = o.org_id)",
        "SELECT * FROM orders o WHERE o.org_id = {T} AND o.id IN (SELECT order_id FROM «items»)",
        "SELECT (SELECT max(n) FROM «items») FROM orders WHERE org_id = {T}",
        "SELECT * FROM orders WHERE org_id = {T} ORDER BY (SELECT max(n) FROM «items»)",
        "SELECT * FROM orders WHERE org_id = {T} LIMIT (SELECT max(n) FROM «items»)",
        "SELECT count(*) FROM orders WHERE org_id = {T} GROUP BY (SELECT 1 FROM «items») HAVING (SELECT 1 FROM «docs») = 1",
        "SELECT coalesce((SELECT n FROM «items»), 1) FROM countries",
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM «items») THEN 1 END FROM countries",
        "SELECT * FROM countries c JOIN currencies d ON EXISTS (SELECT 1 FROM «items»)",
        "SELECT sum(n) OVER (ORDER BY (SELECT 1 FROM «items»)) FROM countries",
        "SELECT * FROM (VALUES ((SELECT max(n) FROM «items»))) v",
        "WITH all_of AS (SELECT * FROM «orders») SELECT * FROM all_of WHERE org_id = {T}",
        "WITH a AS (SELECT * FROM orders WHERE org_id = {T}) SELECT * FROM a, «items»",
        "WITH RECURSIVE t AS (SELECT id FROM orders WHERE org_id = {T} UNION SELECT o.id FROM «orders» o JOIN t ON o.parent = t.id) SELECT * FROM t",
        "SELECT * FROM {{ inputs.table | ident }} t WHERE t.id = 1 AND {T} = 1"
            .replace("{{ inputs.table | ident }}", "«{{ inputs.table | ident }}»")
            .leak(),
        "SELECT * FROM «orders» WHERE org_id = {T} {{ inputs.word | keyword }} id = {X}",
        "SELECT * FROM «orders» WHERE {{ inputs.column | ident }} = {T}",
        "INSERT INTO orders (org_id, n) VALUES ({T}, (SELECT max(n) FROM «items»))",
        "INSERT INTO orders (org_id, n) SELECT {T}, n FROM «items»",
        "INSERT INTO orders (org_id, n) SELECT {T}, n FROM «items» WHERE order_id = {X}",
        "INSERT INTO countries (n) SELECT n FROM «items»",
        "INSERT INTO orders (org_id) VALUES ({T}) RETURNING (SELECT max(n) FROM «items»)",
        "UPDATE «orders» SET n = 1",
        "UPDATE «orders» SET n = 1 WHERE id = {X}",
        "UPDATE «orders» AS o SET n = 1 WHERE orders.org_id = {T}",
        "UPDATE orders SET n = (SELECT max(n) FROM «items») WHERE org_id = {T}",
        "UPDATE orders SET n = i.n FROM «items» i WHERE orders.org_id = {T}",
        "UPDATE «orders» SET n = i.n FROM items i WHERE i.org_id = {T}",
        "UPDATE countries SET n = 1 WHERE id IN (SELECT id FROM «orders»)",
        "UPDATE orders SET n = 1 WHERE org_id = {T} RETURNING (SELECT max(n) FROM «items»)",
        "DELETE FROM «orders»",
        "DELETE FROM «orders» WHERE id = {X}",
        "DELETE FROM orders WHERE org_id = {T} AND id IN (SELECT id FROM «items»)",
        "DELETE FROM countries WHERE NOT EXISTS (SELECT 1 FROM «items»)",
    ];
    for dialect in [Sqlite, Postgres] {
        refused(dialect, &listed(), &both.map(|text| (text, FREE)));
    }
    let postgres = [
        "SELECT * FROM \"Sales\"",
        "SELECT * FROM «orders» WHERE \"ORG_ID\" = {T}",
        "SELECT * FROM «orders» WHERE org_id = ANY(ARRAY[{T}])",
        "SELECT * FROM «orders» WHERE org_id = {T}::char(1)",
        "SELECT * FROM «orders» WHERE org_id = CAST({T} AS varchar(3))",
        "SELECT * FROM «orders» WHERE org_id::text = {T}",
        "SELECT * FROM «orders» WHERE org_id ILIKE {T}",
        "SELECT * FROM orders o, LATERAL (SELECT n FROM «items» WHERE order_id = o.id AND org_id = o.org_id) i WHERE o.org_id = {T}",
        "WITH gone AS (DELETE FROM «items» RETURNING *) SELECT * FROM gone",
        "WITH up AS (UPDATE «items» SET n = 1 RETURNING *) SELECT * FROM up WHERE org_id = {T}",
        "DELETE FROM orders o USING «items» i WHERE i.order_id = o.id AND o.org_id = {T}",
        "DELETE FROM «orders» o USING items i WHERE i.org_id = {T}",
        "MERGE INTO orders o USING «items» i ON i.org_id = {T} AND o.org_id = {T} WHEN MATCHED THEN DELETE",
        "MERGE INTO «orders» o USING countries c ON c.id = o.id WHEN MATCHED THEN DELETE",
        "MERGE INTO countries o USING «items» i ON i.id = o.id WHEN MATCHED THEN DELETE",
        "SELECT * FROM generate_series(1, (SELECT max(n)::int FROM «items»)) n",
    ];
    refused(Postgres, &listed(), &postgres.map(|text| (text, FREE)));
    let sqlite = [
        "SELECT * FROM [orders]",
        "SELECT * FROM «orders» WHERE org_id = CAST({T} AS INTEGER)",
        "SELECT * FROM «orders» WHERE org_id IS {T}",
        "SELECT * FROM «orders» WHERE org_id = {T} COLLATE NOCASE",
        "SELECT * FROM «orders» WHERE org_id COLLATE NOCASE = {T}",
        "SELECT * FROM «orders» WHERE 'org_id' = {T}",
        "SELECT * FROM «docs»('words')",
        "SELECT * FROM json_each((SELECT tags FROM «orders»))",
    ];
    refused(Sqlite, &listed(), &sqlite.map(|text| (text, FREE)));
    let all = [
        "SELECT * FROM «whatever»",
        "SELECT * FROM countries c JOIN «unknown» u ON u.id = c.id",
        "WITH x AS (SELECT * FROM «x») SELECT * FROM x",
        "WITH countries AS (SELECT * FROM «orders») SELECT * FROM countries",
        "WITH x AS (SELECT 1) SELECT * FROM main.«x»",
        "UPDATE «x» SET n = 1",
        "WITH a AS (SELECT * FROM «b»), b AS (SELECT 1) SELECT * FROM a, b",
        "SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) y, «x»",
    ];
    for dialect in [Sqlite, Postgres] {
        refused(dialect, &all_but(), &all.map(|text| (text, FREE)));
    }
}

#[test]
fn what_is_written_has_the_tenant() {
    let table = [
        ("INSERT INTO «orders» (item) VALUES ({X})", "inserted without the caller's tenant"),
        ("INSERT INTO «orders» VALUES ({T}, {X})", "inserted without the caller's tenant"),
        ("INSERT INTO «orders» (org_id, org_id) VALUES ({T}, {X})", "inserted without the caller's tenant"),
        ("INSERT INTO «orders» DEFAULT VALUES", "inserted without the caller's tenant"),
        ("INSERT INTO orders (org_id, item) VALUES («{X}», 1)", "`org_id` of `orders` gets something else"),
        ("INSERT INTO orders (org_id, item) VALUES («NULL», {T})", "gets something else"),
        ("INSERT INTO orders (org_id, item) VALUES ({T}, 1), («'north'», 2), («{X}», 3)", "gets something else"),
        ("INSERT INTO orders (item, org_id) VALUES («{T}»)", "gets something else"),
        ("INSERT INTO orders (org_id, item) VALUES («coalesce»({T}, 'x'), 1)", "gets something else"),
        ("INSERT INTO orders (org_id, item) VALUES ((«SELECT» {T}), 1)", "gets something else"),
        ("INSERT INTO orders (org_id, item) SELECT «org_id», item FROM items WHERE org_id = {T}", "gets something else"),
        ("INSERT INTO «orders» (org_id, item) SELECT * FROM items WHERE org_id = {T}", "gets something else"),
        ("INSERT INTO «orders» (org_id, item) SELECT {T}, i.* FROM items i WHERE org_id = {T}", "gets something else"),
        ("INSERT INTO orders (org_id, item) SELECT {T}, 1 UNION ALL SELECT «{X}», 2", "gets something else"),
        ("INSERT INTO orders (org_id, item) SELECT {T}, 1 EXCEPT SELECT «{X}», 2", "gets something else"),
        ("INSERT INTO «orders» (org_id, item) VALUES ({T}, 1) ON CONFLICT (item) DO UPDATE SET n = 1", "can change a row of `orders`"),
        (
            "INSERT INTO «orders» (org_id, item) VALUES ({T}, 1) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE excluded.org_id = {T}",
            "can change a row of `orders`",
        ),
        (
            "INSERT INTO «orders» (org_id, item) VALUES ({T}, 1) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE orders.org_id = {T} OR true",
            "can change a row of `orders`",
        ),
        (
            "INSERT INTO orders (org_id, item) VALUES ({T}, 1) ON CONFLICT (org_id) DO UPDATE SET «org_id» = {X}",
            "`org_id` of `orders` is set to something else",
        ),
        ("UPDATE orders SET «org_id» = {X} WHERE org_id = {T}", "is set to something else"),
        ("UPDATE orders SET n = 1, «ORG_ID» = NULL WHERE org_id = {T}", "is set to something else"),
        ("UPDATE orders SET (n, «org_id») = (1, {T}) WHERE org_id = {T}", "is set to something else"),
    ];
    refused(Sqlite, &listed(), &table);
    refused(Postgres, &listed(), &table);
    refused(
        Sqlite,
        &listed(),
        &[
            ("REPLACE INTO «orders» (org_id, item) VALUES ({T}, 1)", "`REPLACE` deletes the row"),
            ("INSERT OR REPLACE INTO «orders» (org_id, item) VALUES ({T}, 1)", "`REPLACE` deletes the row"),
            ("UPDATE OR REPLACE «orders» SET item = {X} WHERE org_id = {T}", "`REPLACE` deletes the row"),
        ],
    );
    refused(
        Postgres,
        &listed(),
        &[
            (
                "INSERT INTO «orders» AS excluded (org_id, item) VALUES ({T}, 1) ON CONFLICT (item) DO UPDATE SET n = 1 WHERE excluded.org_id = excluded.org_id",
                "can change a row of `orders`",
            ),
            (
                "INSERT INTO «orders» (org_id, item) VALUES ({T}, 1) ON CONFLICT ON CONSTRAINT one DO UPDATE SET n = 1",
                "can change a row of `orders`",
            ),
            (
                "MERGE INTO «orders» o USING countries c ON c.id = o.id AND o.org_id = {T} WHEN NOT MATCHED THEN INSERT (id) VALUES (1)",
                "inserted without the caller's tenant",
            ),
            (
                "MERGE INTO orders o USING countries c ON c.id = o.id AND o.org_id = {T} WHEN NOT MATCHED THEN INSERT (org_id) VALUES («c».org)",
                "gets something else",
            ),
            (
                "MERGE INTO orders o USING countries c ON c.id = o.id AND o.org_id = {T} WHEN MATCHED THEN UPDATE SET «org_id» = c.org",
                "is set to something else",
            ),
            (
                "MERGE INTO «orders» o USING countries c ON c.id = o.id AND o.org_id = {T} WHEN NOT MATCHED BY SOURCE THEN DELETE",
                "concerns rows of `orders` of every tenant",
            ),
            ("WITH new AS (INSERT INTO «items» (n) VALUES (1) RETURNING *) SELECT * FROM new", "inserted without the caller's tenant"),
        ],
    );
}
