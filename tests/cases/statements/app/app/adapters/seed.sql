CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT, stars INTEGER, day TEXT, data BLOB);
INSERT INTO notes VALUES (1, 'One', 'first', 5, '2026-01-01', x'00ff10'), (2, 'Two', '50% off_now', 3, '2026-02-01', NULL),
  (3, 'O''Neil; --', 'quote " and \ backslash', 9007199254740993, '2026-03-01', x''), (4, NULL, NULL, NULL, NULL, NULL);
