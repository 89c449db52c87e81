CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, size REAL, body BLOB, what ANY) STRICT;
INSERT INTO note (text, size) VALUES ('one', 1.5), ('two', NULL);
