CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY (START 9007199254740993) PRIMARY KEY, who text NOT NULL, price numeric(10, 2) NOT NULL DEFAULT 1.5, made timestamptz NOT NULL DEFAULT '2026-01-02T03:04:05.123456Z', token bytea NOT NULL DEFAULT '\xdead', tags text[] NOT NULL DEFAULT '{a,"b c"}');
CREATE TABLE lines (order_id bigint NOT NULL REFERENCES orders DEFERRABLE INITIALLY DEFERRED, item text NOT NULL, price numeric(10, 2), made timestamptz, token bytea, tags text[], note text, UNIQUE (order_id, item));
CREATE TABLE shelf (book bigint PRIMARY KEY, title text NOT NULL, copies int NOT NULL CHECK (copies >= 0));
INSERT INTO shelf VALUES (9007199254740993, 'Emma', 1), (2, 'Dune', 2);
CREATE TABLE loans (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, book bigint NOT NULL REFERENCES shelf, who text NOT NULL UNIQUE, price numeric(10, 2), token bytea, note text);
