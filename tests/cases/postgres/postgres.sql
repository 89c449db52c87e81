CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE people (
  id bigint PRIMARY KEY,
  email text UNIQUE NOT NULL,
  born date,
  seen timestamptz,
  score numeric(10, 2),
  ratio double precision,
  tags text[] NOT NULL DEFAULT '{}',
  profile jsonb,
  key uuid,
  mood mood,
  photo bytea,
  age int CONSTRAINT grown_up CHECK (age >= 18)
);
INSERT INTO people VALUES
  (1, 'ada@example.com', '1990-12-10', '2026-01-02 03:04:05.123456+00', 12.50, 0.1, '{maths,"a, b"}', '{"city": "London", "langs": ["en"]}',
   '00000000-0000-4000-8000-000000000001', 'happy', '\xdeadbeef', 36),
  (9007199254740993, 'o''neil@example.com', NULL, NULL, NULL, 'NaN', '{}', NULL, NULL, 'sad', NULL, NULL),
  (3, 'cleo@example.com', '2001-02-03', '2026-03-01 00:00:00+05:30', 1000000.00, 'Infinity', '{history}', '{"city": "Alexandria"}', NULL, NULL, '\x', 69);
CREATE FUNCTION forget(bigint) RETURNS void LANGUAGE sql AS 'DELETE FROM people WHERE id = $1';
