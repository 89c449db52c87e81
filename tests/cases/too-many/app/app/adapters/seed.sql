CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO n VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five'), (6, 'six');
