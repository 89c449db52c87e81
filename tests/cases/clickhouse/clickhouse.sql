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
