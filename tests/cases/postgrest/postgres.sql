DO $$ BEGIN CREATE ROLE anon NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TABLE authors (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE books (id int8 PRIMARY KEY, title text NOT NULL, author_id int REFERENCES authors, price numeric CHECK (price >= 0), tags text[], data jsonb, sold boolean);
CREATE TABLE many (id int PRIMARY KEY);
INSERT INTO authors VALUES (1, 'Ada'), (2, 'Grace'), (3, 'o''neil; -- "q" \');
INSERT INTO books VALUES
  (1, 'One', 1, 1.50, '{new,"a\"b"}', '{"n": 9007199254740993}', true),
  (2, '', 1, 12345678901234567890.10, '{}', NULL, false),
  (9007199254740993, 'null', 2, NULL, NULL, '[0.1, {"k": null}]', NULL);
INSERT INTO many SELECT generate_series(1, 10);
CREATE FUNCTION add(a int8, b int8 DEFAULT 1) RETURNS int8 LANGUAGE sql STABLE AS 'SELECT a + b';
CREATE FUNCTION echo(j json) RETURNS json LANGUAGE sql STABLE AS 'SELECT j';
CREATE FUNCTION rename(which int, name text) RETURNS void LANGUAGE sql VOLATILE AS 'UPDATE authors SET name = $2 WHERE id = which';
CREATE FUNCTION refuse(why text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no: %'', why; END';
GRANT USAGE ON SCHEMA public TO anon;
GRANT ALL ON authors, books, many TO anon;
