SELECT 1
SELECT DISTINCT b FROM t
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b
SELECT ALL a FROM t
SELECT a AS "A", b c FROM t AS x
SELECT x.* FROM t AS x (k, l)
SELECT * FROM ONLY t
SELECT * FROM t *
TABLE t
TABLE ONLY t ORDER BY id LIMIT 1
VALUES (1, 'one'), (2, 'two') ORDER BY 1 DESC
SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS v (n, w)
SELECT a FROM t UNION ALL SELECT id FROM u
SELECT a FROM t INTERSECT SELECT id FROM u
SELECT a FROM t EXCEPT ALL SELECT id FROM u
(SELECT 1) UNION (SELECT 2) ORDER BY 1
SELECT * FROM t ORDER BY a USING <
SELECT * FROM t ORDER BY a DESC NULLS LAST, b COLLATE "C"
SELECT * FROM t LIMIT ALL
SELECT * FROM t OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY
SELECT * FROM t ORDER BY a FETCH FIRST 1 ROW WITH TIES
SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 0
SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)
SELECT a, b, count(*) FROM t GROUP BY CUBE (a, b)
SELECT a, b, count(*), grouping(a, b) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
SELECT a, b FROM t GROUP BY DISTINCT ROLLUP (a, b), ROLLUP (a)
SELECT count(*) FILTER (WHERE a > 1) FROM t
SELECT string_agg(b, ',' ORDER BY b DESC) FROM t
SELECT array_agg(DISTINCT a ORDER BY a) FROM t
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t
SELECT mode() WITHIN GROUP (ORDER BY b) FROM t
SELECT rank(1) WITHIN GROUP (ORDER BY a) FROM t
SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) FROM t
SELECT sum(a) OVER w, avg(a) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (ORDER BY id)
SELECT sum(a) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM t
SELECT sum(a) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM t
SELECT sum(a) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP) FROM t
SELECT sum(a) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE NO OTHERS) FROM t
SELECT sum(a) OVER (ORDER BY d RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) FROM t
SELECT lag(a, 1, 0) OVER (ORDER BY id), nth_value(a, 2) OVER (ORDER BY id) FROM t
SELECT * FROM t JOIN u ON t.id = u.t_id
SELECT * FROM t LEFT OUTER JOIN u USING (id)
SELECT j.id FROM t JOIN u USING (id) AS j
SELECT * FROM t NATURAL JOIN u
SELECT * FROM t FULL JOIN u ON t.id = u.id
SELECT * FROM t CROSS JOIN u
SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.t_id = t.id) AS x
SELECT * FROM t LEFT JOIN LATERAL (SELECT max(id) AS m FROM u WHERE u.t_id = t.id) x ON true
SELECT * FROM generate_series(1, 3) AS g (n)
SELECT * FROM generate_series(1, 3) WITH ORDINALITY
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b']) AS x (n, s)
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS x (p, q)
SELECT * FROM json_to_recordset('[{"a":1,"b":"x"}]') AS x (a int, b text)
SELECT * FROM jsonb_to_record('{"a":1}') AS x (a int)
SELECT * FROM t TABLESAMPLE SYSTEM (50)
SELECT * FROM t TABLESAMPLE BERNOULLI (50) REPEATABLE (1)
WITH x AS (SELECT * FROM t) SELECT * FROM x
WITH x AS MATERIALIZED (SELECT * FROM t) SELECT * FROM x
WITH x AS NOT MATERIALIZED (SELECT * FROM t) SELECT * FROM x
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n
WITH RECURSIVE n (i, p) AS (SELECT 1, 0 UNION ALL SELECT i + 1, i FROM n WHERE i < 3) SEARCH DEPTH FIRST BY i SET o SELECT * FROM n ORDER BY o
WITH RECURSIVE n (i, p) AS (SELECT 1, 0 UNION ALL SELECT i + 1, i FROM n WHERE i < 3) SEARCH BREADTH FIRST BY i SET o SELECT * FROM n ORDER BY o
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i % 3 + 1 FROM n) CYCLE i SET is_cycle USING path SELECT * FROM n
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i % 3 + 1 FROM n) CYCLE i SET c TO 'y' DEFAULT 'n' USING path SELECT * FROM n
SELECT 2 BETWEEN SYMMETRIC 3 AND 1
SELECT 2 NOT BETWEEN SYMMETRIC 3 AND 1
SELECT 2 BETWEEN ASYMMETRIC 1 AND 3
SELECT * FROM t WHERE a ISNULL
SELECT * FROM t WHERE a NOTNULL
SELECT (a > 1) IS UNKNOWN, (a > 1) IS NOT TRUE FROM t
SELECT a IS DISTINCT FROM b::int FROM t WHERE false
SELECT 'a' IS NORMALIZED, 'a' IS NFC NORMALIZED, 'a' IS NOT NFD NORMALIZED
SELECT NORMALIZE('a', NFC)
SELECT * FROM t WHERE b LIKE 'x%' ESCAPE '#'
SELECT * FROM t WHERE b ILIKE 'x%' AND b NOT ILIKE 'y'
SELECT * FROM t WHERE b SIMILAR TO '(a|b)%' ESCAPE '#'
SELECT * FROM t WHERE b ~ '^a' AND b !~* 'z'
SELECT b LIKE ANY (ARRAY['a%', 'b%']) FROM t
SELECT b LIKE ALL (ARRAY['a%', 'b%']) FROM t
SELECT a = ANY (ARRAY[1, 2]), a <> ALL ('{1,2}'::int[]) FROM t
SELECT a IN (SELECT id FROM u), EXISTS (SELECT 1 FROM u) FROM t
SELECT (a, b) = (1, 'x'), ROW(1, 2) < ROW(1, 3) FROM t
SELECT (a, id) IN (SELECT id, t_id FROM u) FROM t
SELECT (a, b) IS NOT DISTINCT FROM (1, 'x') FROM t
SELECT (date '2024-01-01', date '2024-02-01') OVERLAPS (date '2024-01-15', date '2024-03-01')
SELECT TRIM(b), TRIM(LEADING FROM b), TRIM(TRAILING FROM b), TRIM(BOTH 'x' FROM b) FROM t
SELECT TRIM(FROM b), TRIM(BOTH FROM b) FROM t
SELECT TRIM(LEADING 'x' FROM b), TRIM(b, 'x') FROM t
SELECT SUBSTRING(b FROM 2 FOR 1), SUBSTRING(b FOR 2), SUBSTRING(b, 1) FROM t
SELECT SUBSTRING(b SIMILAR 'a#"b#"c' ESCAPE '#') FROM t
SELECT SUBSTRING(b FROM '(.)$') FROM t
SELECT OVERLAY(b PLACING 'x' FROM 1 FOR 1) FROM t
SELECT POSITION('a' IN b) FROM t
SELECT EXTRACT(YEAR FROM d), EXTRACT(EPOCH FROM ts), EXTRACT('dow' FROM d) FROM t
SELECT CAST(a AS text), a::numeric(10, 2), b::varchar(3) FROM t
SELECT timestamp with time zone '2024-01-01 00:00+02', time without time zone '10:00'
SELECT INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 day 2 hours'
SELECT INTERVAL(3) '1.5 seconds'
SELECT ts AT TIME ZONE 'UTC' FROM t
@newer SELECT ts AT LOCAL FROM t
SELECT CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP(2), LOCALTIME, LOCALTIMESTAMP
SELECT CURRENT_USER, SESSION_USER, USER, CURRENT_ROLE, CURRENT_CATALOG, CURRENT_SCHEMA
SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, CASE WHEN a > 1 THEN 1 END FROM t
SELECT COALESCE(a, 0), NULLIF(a, 1), GREATEST(a, 2), LEAST(a, 2) FROM t
SELECT ARRAY[1, 2, 3], ARRAY[[1, 2], [3, 4]], ARRAY(SELECT id FROM u)
SELECT arr[1], arr[1:2], arr[:2], arr[2:], arr[:] FROM t
SELECT (ARRAY[1, 2])[1], ('{1,2}'::int[])[2]
SELECT arr || 4, arr || ARRAY[5], arr && ARRAY[1], arr @> ARRAY[1] FROM t
SELECT j -> 'k', j ->> 'k', j #> '{k,l}', j #>> '{k}' FROM t
SELECT j ? 'k', j ?| ARRAY['k'], j ?& ARRAY['k'], j @> '{}', '{}' <@ j FROM t
SELECT j - 'k', j #- '{k}', j || '{"z":1}' FROM t
SELECT j @? '$.k', j @@ '$.k > 1' FROM t
SELECT j['k'] FROM t
SELECT jsonb_path_query(j, '$.*') FROM t
SELECT b ^@ 'x', a # 1, a & 1, a | 1, ~a, a << 1, a >> 1, |/ 4.0, @ -5 FROM t
SELECT a OPERATOR(pg_catalog.+) 1 FROM t
SELECT (p).x, (p).* FROM places
SELECT (ROW(1, 2)).f1
SELECT ROW(t.*) FROM t
SELECT t FROM t
SELECT concat_ws(',', VARIADIC ARRAY['a', 'b'])
SELECT format('%s %s', VARIADIC ARRAY['a', 'b'])
SELECT make_interval(days => 10, hours := 2)
SELECT E'a\'b\n', U&'d\0061t', B'101', X'1F', N'n', $$it's$$, $tag$a$tag$
SELECT U&'d!0061t' UESCAPE '!'
SELECT 1.5e3, .5, 1.
@newer SELECT 1_000, 0x1F, 0b11, 0o17
SELECT xmlelement(name foo, 'x')
SELECT xmlelement(name foo, xmlattributes('v' AS bar), 'x')
SELECT xmlforest('a' AS b, 1 AS c)
SELECT xmlconcat('<a/>', '<b/>'), xmlcomment('c'), xmlpi(name php, 'x')
SELECT xmlserialize(CONTENT '<a/>'::xml AS text)
SELECT xmlparse(DOCUMENT '<a/>'), '<a/>'::xml IS DOCUMENT
SELECT xmlexists('//a' PASSING '<a/>')
SELECT * FROM xmltable('/r/x' PASSING ('<r><x>1</x></r>'::xml) COLUMNS n int PATH '.')
SELECT GROUPING(a) FROM t GROUP BY a
SELECT count(*) FROM t GROUP BY () HAVING false
SELECT nullif(a, 1) IS NULL AND NOT (b = 'x' OR b <> 'y') FROM t
SELECT count(DISTINCT (a, b)) FROM t
SELECT b COLLATE "C" < 'x' FROM t
SELECT * FROM t WHERE (SELECT true)
SELECT (SELECT max(id) FROM u) + 1
SELECT pg_typeof(a), version(), current_setting('TimeZone') FROM t
SELECT * FROM pg_catalog.pg_class WHERE oid = 't'::regclass
SELECT to_tsvector('english', b) @@ to_tsquery('english', 'x & y') FROM t
SELECT int4range(1, 5) @> 3, int4range(1, 5) && int4range(4, 6), int4range(1, 3) -|- int4range(3, 4)
SELECT point '(1,2)' <-> point '(3,4)', box '((0,0),(1,1))' ?# box '((0,0),(2,2))'
SELECT a, b FROM t WHERE b = '' -- it's
SELECT /* a /* nested */ comment */ a FROM t
SELECT a "quoted ""name""" FROM t
SELECT lock, replace, merge FROM words
SELECT w.update FROM words w
EXPLAIN SELECT * FROM t
EXPLAIN ANALYZE SELECT * FROM t
EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM t
EXPLAIN (COSTS false) SELECT 2 BETWEEN SYMMETRIC 3 AND 1
EXPLAIN VERBOSE WITH x AS (SELECT 1) SELECT * FROM x
SHOW TimeZone
SHOW server_version
SHOW ALL
SHOW TRANSACTION ISOLATION LEVEL
SHOW SESSION AUTHORIZATION
SELECT DISTINCT a, b FROM t ORDER BY 1, 2 LIMIT 2 OFFSET 1
SELECT * FROM t AS x WHERE x.a > ALL (SELECT id FROM u WHERE false)
SELECT * FROM (SELECT a, b FROM t) AS y WHERE y.a IS NOT NULL
SELECT bool_and(a > 0), every(a > 0), corr(a, id) FROM t
SELECT CAST(ARRAY['1', '2'] AS int[]), '{}'::text[]
SELECT date_trunc('month', ts), age(ts), now() - interval '1 month' FROM t
