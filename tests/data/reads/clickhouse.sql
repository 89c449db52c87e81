SELECT 1
SELECT 1 AS a, a + 1 AS b
SELECT DISTINCT b FROM t
SELECT DISTINCT ON (a) a, b FROM t
SELECT * FROM t FINAL
SELECT * FROM t PREWHERE a > 0 WHERE b != ''
SELECT * FROM t ORDER BY a DESC NULLS LAST
SELECT * FROM t ORDER BY a WITH FILL FROM 0 TO 5 STEP 1
SELECT * FROM t ORDER BY b COLLATE 'en'
SELECT * FROM t LIMIT 2
SELECT * FROM t LIMIT 1, 2
SELECT * FROM t LIMIT 2 OFFSET 1
SELECT * FROM t LIMIT 1 BY a
SELECT * FROM t LIMIT 1 BY a LIMIT 3
SELECT * FROM t ORDER BY a LIMIT 1 WITH TIES
SELECT * FROM t ORDER BY a OFFSET 1 ROW FETCH FIRST 1 ROWS ONLY
SELECT * EXCEPT (b) FROM t
SELECT * EXCEPT b FROM t
SELECT * REPLACE (a + 1 AS a) FROM t
SELECT * APPLY (toString) FROM t
SELECT COLUMNS('a|b') FROM t
SELECT COLUMNS(a, b) APPLY (toString) FROM t
SELECT t.* FROM t
SELECT a, count() FROM t GROUP BY a HAVING count() > 0
SELECT a, count() FROM t GROUP BY ALL
SELECT a, b, count() FROM t GROUP BY a, b WITH ROLLUP
SELECT a, b, count() FROM t GROUP BY CUBE(a, b)
SELECT a, b, count() FROM t GROUP BY GROUPING SETS ((a), (b))
SELECT count() FROM t GROUP BY ()
SELECT countIf(a > 1), sumIf(a, a > 1), uniqExact(b), quantile(0.5)(a) FROM t
SELECT quantiles(0.5, 0.9)(a), topK(2)(b), groupArray(3)(a) FROM t
SELECT groupArray(a), groupUniqArray(b), argMax(b, a), any(b), anyLast(b) FROM t
SELECT sumState(a) IS NOT NULL, sumMerge(s) FROM (SELECT sumState(a) AS s, 1 AS a FROM t)
SELECT count(DISTINCT a), avgOrNull(a), maxOrDefault(a) FROM t
SELECT row_number() OVER (PARTITION BY b ORDER BY a) FROM t
SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY id)
SELECT sum(a) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
SELECT lagInFrame(a) OVER (ORDER BY id), first_value(a) OVER (ORDER BY id) FROM t
SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY b ORDER BY a) = 1
SELECT * FROM t INNER JOIN u ON t.id = u.t_id
SELECT * FROM t LEFT JOIN u USING (id)
SELECT * FROM t ANY LEFT JOIN u USING id
SELECT * FROM t ALL INNER JOIN u ON t.id = u.id
SELECT * FROM t SEMI LEFT JOIN u ON t.id = u.id
SELECT * FROM t ANTI LEFT JOIN u ON t.id = u.id
SELECT * FROM t ASOF LEFT JOIN u ON t.id = u.id AND t.a >= u.t_id
SELECT * FROM t CROSS JOIN u
SELECT * FROM t GLOBAL INNER JOIN u ON t.id = u.id
SELECT * FROM t, u WHERE t.id = u.id
SELECT * FROM t PASTE JOIN u
SELECT x FROM t ARRAY JOIN arr AS x
SELECT x, n FROM t LEFT ARRAY JOIN arr AS x, arrayEnumerate(arr) AS n
SELECT arrayJoin([1, 2, 3])
SELECT * FROM numbers(3)
SELECT number FROM numbers(1, 3) WHERE number % 2 = 1
SELECT * FROM generateSeries(1, 3)
SELECT * FROM values('a Int8, b String', (1, 'x'), (2, 'y'))
SELECT * FROM null('a Int8')
SELECT * FROM view(SELECT 1)
SELECT * FROM (SELECT a FROM t UNION ALL SELECT id FROM u)
SELECT a FROM t UNION DISTINCT SELECT id FROM u
SELECT a FROM t INTERSECT SELECT id FROM u
SELECT a FROM t EXCEPT SELECT id FROM u
WITH x AS (SELECT * FROM t) SELECT * FROM x
WITH 5 AS n SELECT n + 1
WITH (SELECT max(a) FROM t) AS m SELECT * FROM t WHERE a = m
WITH x -> x + 1 AS f SELECT f(1)
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n
SELECT a > 1 ? 1 : 2 FROM t
SELECT if(a > 1, 'x', 'y'), multiIf(a = 1, 'x', a = 2, 'y', 'z') FROM t
SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, CASE WHEN a > 1 THEN 1 END FROM t
SELECT a BETWEEN 1 AND 3, a NOT BETWEEN 1 AND 3 FROM t
SELECT a IN (1, 2), a NOT IN (SELECT id FROM u), a GLOBAL IN (SELECT id FROM u) FROM t
SELECT (a, b) IN ((1, 'x'), (2, 'y')), (a, b) = (1, 'x') FROM t
SELECT a IS NULL, a IS NOT NULL, isNull(a), ifNull(a, 0), coalesce(a, 0), nullIf(a, 1) FROM t
SELECT a <=> 1, a IS DISTINCT FROM 1 FROM t
SELECT b LIKE 'x%', b NOT LIKE 'x%', b ILIKE 'X%', match(b, '^x') FROM t
SELECT b REGEXP '^x' FROM t
SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1)
SELECT CAST(a AS String), CAST(a, 'Nullable(String)'), a::UInt64, '1'::Int8 FROM t
SELECT toInt32('1'), toDate('2024-01-01'), toDateTime('2024-01-01 00:00:00', 'UTC'), toDecimal64('1.5', 2)
SELECT DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00'
SELECT INTERVAL 1 DAY, INTERVAL '1 day', now() - INTERVAL 1 HOUR, today() + toIntervalDay(1)
SELECT INTERVAL '1 hour 1 minute'
SELECT EXTRACT(YEAR FROM d), toYear(d), toStartOfMonth(d), dateDiff('day', d, today()), dateTrunc('month', d) FROM t
SELECT date_add(DAY, 1, d), date_sub(MONTH, 1, d), addDays(d, 1) FROM t
SELECT formatDateTime(toDateTime(d), '%Y-%m'), parseDateTimeBestEffort('2024-01-01') FROM t
SELECT substring(b, 1, 2), SUBSTRING(b FROM 1 FOR 2), position(b, 'x'), POSITION('x' IN b) FROM t
SELECT trim(b), TRIM(LEADING 'x' FROM b), TRIM(BOTH ' x' FROM b), trimLeft(b) FROM t
SELECT concat(b, 'x'), b || 'x', lower(b), upper(b), length(b), reverse(b), replaceAll(b, 'x', 'y'), splitByChar(',', b) FROM t
SELECT replaceRegexpOne(b, 'x', 'y'), extract(b, 'x'), extractAll(b, 'x') FROM t
SELECT [1, 2, 3], array(1, 2), [[1], [2]], [1, 2][1], arr[1], arr[-1] FROM t
SELECT (1, 'a'), tuple(1, 'a'), (1, 'a').1, tupleElement((1, 'a'), 2)
SELECT map('a', 1), map('a', 1)['a']
SELECT arrayMap(x -> x * 2, arr), arrayFilter(x -> x > 1, arr), arrayMap((x, y) -> x + y, arr, arr) FROM t
SELECT has(arr, 1), hasAny(arr, [1]), arraySum(arr), arrayElement(arr, 1), arrayDistinct(arr), arraySort(x -> -x, arr) FROM t
SELECT JSONExtractInt('{"a":1}', 'a'), JSONExtractString('{"a":"x"}', 'a'), JSONHas('{}', 'a'), JSONLength('[1]')
SELECT JSON_VALUE('{"a":1}', '$.a'), simpleJSONExtractInt('{"a":1}', 'a')
SELECT 0x1F, 0b101, 1_000, 1e3, .5, inf, nan, NULL, true, false
SELECT x'4142', b'01000001', 'it''s', 'it\'s', '\x41', $$heredoc's$$, $t$a$$b$t$
SELECT "a", `b`, t."id" FROM t
SELECT a AS "the name", b AS `another` FROM t
SELECT -a, +a, NOT a, a + 1, a - 1, a * 2, a / 2, a % 2, a DIV 2, a MOD 2 FROM t
SELECT a == 1, a != 1, a <> 1, a >= 1 FROM t
SELECT bitAnd(a, 1), bitOr(a, 1), bitXor(a, 1), bitShiftLeft(a, 1), intDiv(a, 2), modulo(a, 2) FROM t
SELECT plus(1, 2), greatest(1, 2), least(1, 2), round(1.55, 1), floor(1.5), abs(-1), pow(2, 3)
SELECT version(), currentDatabase(), currentUser(), timezone(), uptime() >= 0, hostName() != ''
SELECT toTypeName(a), dumpColumnStructure(b), materialize(1), identity(2), ignore(a) FROM t
SELECT cityHash64(b), MD5(b), hex('a'), unhex('61'), base64Encode('a'), sipHash64(b) FROM t
SELECT generateUUIDv4() != toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0'), rand() >= 0
SELECT runningDifference(number) FROM numbers(3) SETTINGS allow_deprecated_error_prone_window_functions = 1
SELECT * FROM t SETTINGS max_threads = 1
SELECT * FROM t SAMPLE 1 WHERE 0 SETTINGS max_threads = 1
SELECT a FROM t WHERE b = '' -- it's
SELECT a FROM t WHERE b = '' # it's
SELECT a FROM t #! it's
SELECT a FROM t // it's
SELECT /* a /* nested */ comment */ a FROM t
SELECT a FROM t;
SELECT * FROM system.one
SELECT name FROM system.functions WHERE name = 'plus'
SELECT table, name FROM system.columns WHERE table = 't'
SELECT dummy AS insert_time FROM system.one
FROM t SELECT a
FROM numbers(3) SELECT number WHERE number > 1
SELECT a, FROM t
SELECT sum(a) AS s, s * 2 AS d FROM t
SELECT t.a AS x FROM t AS t WHERE x > 0
SELECT * FROM t WHERE (a, id) IN (SELECT id, t_id FROM u)
SELECT * FROM t WHERE a = (SELECT max(id) FROM u) OR b = ''
SELECT * FROM (SELECT * FROM t) AS x (k, l, m, n, o)
SELECT number AS n FROM numbers(10) WHERE n IN (SELECT number FROM numbers(3)) ORDER BY n ASC
SELECT argMin(a, id), sumMap([1], [2]), minMap([1], [2]) FROM t
SELECT histogram(2)(a), entropy(a), simpleLinearRegression(a, id) FROM t
SELECT transform(a, [1, 2], ['x', 'y'], 'z') FROM t
SELECT nullIf(b, ''), assumeNotNull(a), toNullable(a) FROM t
SELECT toStartOfInterval(toDateTime(d), INTERVAL 15 MINUTE) FROM t
SELECT arrayStringConcat(['a', 'b'], ','), range(3), empty([]), notEmpty([1])
SELECT tupleToNameValuePairs(tuple(1, 2)), untuple((1, 2))
SELECT IPv4NumToString(1), toIPv4('1.2.3.4'), domain('http://a.b/c'), cutToFirstSignificantSubdomain('http://www.a.b/')
SHOW TABLES
SHOW TABLES FROM default LIKE 't%'
SHOW DATABASES
SHOW CREATE TABLE t
SHOW FUNCTIONS LIKE 'plus'
SHOW SETTINGS LIKE 'max_threads'
SHOW COLUMNS FROM t
SHOW INDEX FROM t
DESCRIBE TABLE t
DESC t
DESCRIBE (SELECT 1 AS a)
EXISTS TABLE t
EXISTS t
EXPLAIN SELECT * FROM t
EXPLAIN AST SELECT 1
EXPLAIN SYNTAX SELECT * FROM t
EXPLAIN PLAN indexes = 1 SELECT * FROM t
EXPLAIN PIPELINE SELECT * FROM t
