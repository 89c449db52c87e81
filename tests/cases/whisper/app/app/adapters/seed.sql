CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
INSERT INTO notes VALUES (1, 'pay​pal󠁉󠁧󠁮 ‮x'), (2, 'Zoë 👩‍👩‍👧 می‌خ
ends'), (3, '[2J﻿­😀󠄀󠄁');
