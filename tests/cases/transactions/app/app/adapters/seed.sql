CREATE TABLE stock (id TEXT PRIMARY KEY, n INTEGER NOT NULL CHECK (n >= 0));
CREATE TABLE loans (id INTEGER PRIMARY KEY, item TEXT NOT NULL, who TEXT NOT NULL, UNIQUE (item, who));
INSERT INTO stock VALUES ('book', 2), ('map', 1), ('pen', 50), ('ink', 50);
