SELECT 1
SELECT DISTINCT b FROM t
SELECT ALL a FROM t
SELECT a AS 'A', b "B", id [I], id `J` FROM t
SELECT t.*, u.id FROM t, u
SELECT * FROM t AS x
SELECT * FROM main.t
SELECT * FROM t INDEXED BY t_a WHERE a = 1
SELECT * FROM t NOT INDEXED
VALUES (1, 'one'), (2, 'two')
SELECT * FROM (VALUES (1, 'one'), (2, 'two'))
SELECT a FROM t UNION SELECT id FROM u
SELECT a FROM t UNION ALL SELECT id FROM u ORDER BY 1 LIMIT 3
SELECT a FROM t INTERSECT SELECT id FROM u
SELECT a FROM t EXCEPT VALUES (1)
SELECT * FROM t ORDER BY a DESC NULLS LAST, b COLLATE NOCASE
SELECT * FROM t LIMIT 2 OFFSET 1
SELECT * FROM t LIMIT 1, 2
SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 0
SELECT count(*) FILTER (WHERE a > 1) FROM t
SELECT group_concat(b, ',' ORDER BY b DESC) FROM t
SELECT string_agg(b, ',') FROM t
SELECT count(DISTINCT a), total(a) FROM t
SELECT row_number() OVER (PARTITION BY b ORDER BY a) FROM t
SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY id)
SELECT sum(a) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (ORDER BY id)
SELECT sum(a) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM t
SELECT sum(a) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM t
SELECT sum(a) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE NO OTHERS) FROM t
SELECT sum(a) FILTER (WHERE a > 0) OVER (ORDER BY id) FROM t
SELECT lag(a, 1, 0) OVER (ORDER BY id), nth_value(a, 2) OVER (ORDER BY id), ntile(2) OVER () FROM t
SELECT * FROM t JOIN u ON t.id = u.t_id
SELECT * FROM t LEFT OUTER JOIN u USING (id)
SELECT * FROM t NATURAL LEFT JOIN u
SELECT * FROM t RIGHT JOIN u ON t.id = u.id
SELECT * FROM t FULL OUTER JOIN u ON t.id = u.id
SELECT * FROM t CROSS JOIN u
SELECT * FROM (t JOIN u ON t.id = u.id)
SELECT * FROM json_each('[1,2]')
SELECT key, value FROM json_each('{"a":1}')
SELECT * FROM json_tree('{"a":[1]}') AS x WHERE x.type = 'integer'
SELECT * FROM t, json_each(t.j)
SELECT * FROM pragma_table_info('t')
SELECT name FROM pragma_index_list('t')
WITH x AS (SELECT * FROM t) SELECT * FROM x
WITH x (k) AS (SELECT a FROM t) SELECT k FROM x
WITH x AS MATERIALIZED (SELECT * FROM t) SELECT * FROM x
WITH x AS NOT MATERIALIZED (SELECT * FROM t) SELECT * FROM x
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n
WITH RECURSIVE n (i) AS (VALUES (1) UNION SELECT i + 1 FROM n LIMIT 3) SELECT * FROM n
WITH n AS (SELECT 1) VALUES (1)
WITH replace AS (SELECT 1 AS a) SELECT a FROM replace
SELECT * FROM t WHERE a ISNULL
SELECT * FROM t WHERE a NOTNULL
SELECT * FROM t WHERE a NOT NULL
SELECT * FROM t WHERE a IS 1
SELECT * FROM t WHERE a IS NOT 1
SELECT * FROM t WHERE a IS DISTINCT FROM 1
SELECT * FROM t WHERE a IS NOT DISTINCT FROM b
SELECT * FROM t WHERE a IS TRUE OR a IS NOT FALSE
SELECT * FROM t WHERE b GLOB 'x*'
SELECT * FROM t WHERE b NOT GLOB 'x*'
SELECT * FROM t WHERE b LIKE 'x%' ESCAPE '#'
SELECT * FROM t WHERE b NOT LIKE 'x%'
SELECT 'b' NOT GLOB 'a*'
SELECT * FROM s WHERE s MATCH 'x'
SELECT * FROM s WHERE b MATCH 'x OR y'
SELECT highlight(s, 0, '<', '>') FROM s WHERE s MATCH 'x' ORDER BY rank
SELECT a BETWEEN 1 AND 3, a NOT BETWEEN 1 AND 3 FROM t
SELECT a IN (1, 2), a NOT IN (SELECT id FROM u), a IN () FROM t
SELECT a IN u2 FROM t
SELECT a IN main.u2 FROM t
SELECT EXISTS (SELECT 1 FROM u), NOT EXISTS (SELECT 1 FROM u)
SELECT (a, b) = (1, 'x'), (1, 2) < (1, 3) FROM t
SELECT (a, id) IN (SELECT id, t_id FROM u) FROM t
SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, CASE WHEN a > 1 THEN 1 END FROM t
SELECT CAST(a AS TEXT), CAST(b AS NUMERIC), CAST(c AS BLOB) FROM t
SELECT CAST(a AS VARCHAR(3)), CAST(a AS UNSIGNED BIG INT) FROM t
SELECT coalesce(a, 0), ifnull(a, 0), nullif(a, 1), iif(a, 1, 2), max(a, 2), min(a, 2) FROM t
SELECT a || b, a + 1, a - 1, a * 2, a / 2, a % 2, -a, +a, ~a, NOT a FROM t
SELECT a << 1, a >> 1, a & 1, a | 1 FROM t
SELECT a == 1, a != 1, a <> 1, a >= 1 FROM t
SELECT j -> 'k', j ->> '$.k' FROM t
SELECT json_extract(j, '$.k'), json_array(1, 2), json_object('a', 1) FROM t
SELECT json_group_array(a), json_group_object(b, a) FROM t
SELECT b COLLATE NOCASE = 'X' FROM t
SELECT x'4142', 'it''s', 1.5e3, .5, 0x1F
SELECT 1_000
SELECT "a", `b`, [id] FROM t
SELECT [a] AS [the name] FROM [t]
SELECT NULL, TRUE, FALSE, CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP
SELECT date('now', '+1 day'), strftime('%Y', '2024-01-01'), unixepoch(), julianday('2024-01-01')
SELECT datetime('2024-01-01', 'start of month', '+1 month', '-1 day')
SELECT replace('abc', 'b', 'x'), substr('abc', 2), instr('abc', 'b'), trim(' a ')
SELECT printf('%05d', 7), format('%s', 'x'), hex('a'), quote('a''b'), char(65, 66), unicode('a')
SELECT abs(-1), round(1.5), random() IS NOT NULL, randomblob(2) IS NOT NULL, zeroblob(2)
SELECT typeof(a), length(b), lower(b), upper(b), ltrim(b, 'x'), rtrim(b) FROM t
SELECT likelihood(a, 0.5), likely(a), unlikely(a) FROM t
SELECT sqlite_version(), changes() >= 0, total_changes() >= 0, last_insert_rowid() >= 0
SELECT rowid, oid, _rowid_ FROM t
SELECT a AS x FROM t WHERE x > 1
SELECT a FROM t GROUP BY 1 ORDER BY 1
SELECT * FROM t WHERE (SELECT 1)
SELECT (SELECT max(id) FROM u) + 1
SELECT a, b FROM t WHERE b = '' -- it's
SELECT /* a comment */ a FROM t
SELECT a FROM t;
SELECT update_at, lock FROM words
SELECT w."update" FROM words w
EXPLAIN SELECT * FROM t
EXPLAIN QUERY PLAN SELECT * FROM t WHERE a = 1
EXPLAIN QUERY PLAN DELETE FROM t
EXPLAIN INSERT INTO t (a) VALUES (1)
PRAGMA user_version
PRAGMA application_id
PRAGMA schema_version
PRAGMA main.user_version
PRAGMA table_info(t)
PRAGMA table_info('t')
PRAGMA table_info = t
PRAGMA main.table_info(t)
PRAGMA table_xinfo(t)
PRAGMA table_list
PRAGMA table_list(t)
PRAGMA index_list(t)
PRAGMA index_info(t_a)
PRAGMA index_xinfo("t_a")
PRAGMA foreign_key_list(u)
PRAGMA foreign_key_check
PRAGMA foreign_key_check(u)
PRAGMA foreign_keys
@writable PRAGMA journal_mode
PRAGMA page_count
PRAGMA page_size
PRAGMA freelist_count
PRAGMA encoding
PRAGMA compile_options
PRAGMA collation_list
PRAGMA function_list
PRAGMA module_list
PRAGMA pragma_list
PRAGMA data_version
PRAGMA integrity_check
PRAGMA integrity_check(5)
PRAGMA quick_check(t)
PRAGMA auto_vacuum
PRAGMA cache_size
PRAGMA synchronous
PRAGMA temp_store
PRAGMA secure_delete
PRAGMA recursive_triggers
PRAGMA busy_timeout
PRAGMA max_page_count
PRAGMA query_only
pragma locking_mode;
SELECT a FROM t WHERE a = 1 AND b LIKE '%' OR NOT a
SELECT t.a, (SELECT count(*) FROM u WHERE u.t_id = t.id) AS n FROM t
SELECT a, max(b) FROM t
SELECT unhex('4142'), octet_length('é'), concat('a', 'b'), concat_ws(',', 'a', 'b')
SELECT timediff('2024-02-01', '2024-01-01')
SELECT a FROM t WHERE +a = 1 ORDER BY abs(a) LIMIT -1
SELECT jsonb_extract('{"a":1}', '$.a'), json_valid('{}'), json_type('[1]'), json_array_length('[1,2]')
