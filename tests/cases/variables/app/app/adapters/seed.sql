CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO notes VALUES (1, 'it''s 1, 2'), (2, 'plain'), (3, 'other');
CREATE TABLE "odd ""name" (a TEXT);
INSERT INTO "odd ""name" VALUES ('found');
