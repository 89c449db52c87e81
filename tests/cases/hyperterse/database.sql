CREATE TABLE orders (id INTEGER PRIMARY KEY, number INTEGER, customer TEXT, total REAL, day TEXT);
INSERT INTO orders VALUES (1, 7, 'O''Neil', 12.5, '2026-01-02'), (2, 8, 'Ada', 3, '2026-02-02');
