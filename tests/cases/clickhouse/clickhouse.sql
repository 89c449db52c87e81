CREATE TABLE people (
  id UInt64,
  email String,
  born Nullable(Date32),
  seen Nullable(DateTime64(6, 'Europe/Berlin')),
  score Nullable(Decimal(10, 2)),
  ratio Nullable(Float64),
  mood LowCardinality(Nullable(String)),
  tags Array(String),
  prefs Map(String, Int64),
  place Tuple(lat Float64, lon Float64),
  photo Nullable(String),
  profile JSON
) ENGINE = MergeTree ORDER BY id;
INSERT INTO people VALUES
  (1, 'ada@example.com', '1990-12-10', '2026-01-02 04:04:05.123456', 12.50, 0.1, 'happy', ['maths', 'history'], {'a': 1}, (51.5, 0), '\xde\xad\xbe\xef', '{"city": "London", "langs": ["en"]}'),
  (9007199254740993, 'o''neil@example.com', NULL, NULL, NULL, NULL, 'sad', [], {}, (0, 0), NULL, '{}'),
  (18446744073709551615, 'cleo@example.com', '2001-02-03', '2026-03-01 01:00:00', 1000000.00, 1e300, NULL, ['history'], {'big': 9007199254740993}, (-1.5, 2.5), '', '{"a": {"b": [1, 2]}}');
CREATE TABLE orders (id UInt32, who String, price Decimal(10, 2) DEFAULT 1.5) ENGINE = MergeTree ORDER BY id;
CREATE TABLE visits (id UInt64, place Tuple(lat Float64, lon Float64), tags Array(String), note Nullable(String), kind String, stars Int64) ENGINE = MergeTree ORDER BY id;
INSERT INTO visits VALUES (1, (51.5, 0), ['a', 'b'], 'rain', 'city', 3), (2, (1.5, 2.5), [], NULL, 'sea', 5), (3, (0, 0), ['c'], '', '', 1);
CREATE DICTIONARY rates (id UInt64, rate Float64 DEFAULT 1.5) PRIMARY KEY id SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0);
CREATE TABLE names (id UInt64, name String) ENGINE = Join(ANY, LEFT, id);
INSERT INTO names VALUES (1, 'one'), (2, 'two');
CREATE TABLE scraps (id UInt64) ENGINE = MergeTree ORDER BY id;
