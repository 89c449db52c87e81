CREATE TABLE notes (
  id    INTEGER PRIMARY KEY,
  topic TEXT NOT NULL,
  text  TEXT NOT NULL
);
INSERT INTO notes (topic, text) VALUES
  ('tools', 'A tool is a folder below app/tools.'),
  ('tools', 'Its statement gets its inputs as bound values.'),
  ('scripts', 'A handler.ts is a tool in TypeScript.');
