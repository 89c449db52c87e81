-- The shop of the sample app: 10,000 users, 200 products, 25,000 orders. The same rows every time.
CREATE TABLE users (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  email      TEXT NOT NULL UNIQUE,
  city       TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE products (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  category    TEXT NOT NULL,
  price_cents INTEGER NOT NULL,
  weight_g    INTEGER NOT NULL
);
CREATE TABLE orders (
  id         INTEGER PRIMARY KEY,
  user_id    INTEGER NOT NULL REFERENCES users (id),
  status     TEXT NOT NULL CHECK (status IN ('open', 'paid', 'shipped', 'cancelled')),
  ordered_on TEXT NOT NULL
);
CREATE TABLE order_items (
  order_id   INTEGER NOT NULL REFERENCES orders (id),
  product_id INTEGER NOT NULL REFERENCES products (id),
  quantity   INTEGER NOT NULL,
  PRIMARY KEY (order_id, product_id)
) WITHOUT ROWID;
CREATE TABLE refunds (
  order_id     INTEGER PRIMARY KEY REFERENCES orders (id),
  amount_cents INTEGER NOT NULL,
  reason       TEXT NOT NULL,
  booked_by    TEXT NOT NULL,
  booked_at    TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

WITH RECURSIVE
  n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000),
  first (k, v) AS (VALUES (0, 'Ada'), (1, 'Grace'), (2, 'Alan'), (3, 'Edsger'), (4, 'Barbara'), (5, 'Donald'), (6, 'Radia'), (7, 'Ken'), (8, 'Frances'), (9, 'Niklaus')),
  last (k, v) AS (VALUES (0, 'Lovelace'), (1, 'Hopper'), (2, 'Turing'), (3, 'Dijkstra'), (4, 'Liskov'), (5, 'Knuth'), (6, 'Perlman'), (7, 'Thompson'), (8, 'Allen'), (9, 'Wirth'), (10, 'O''Neil')),
  city (k, v) AS (VALUES (0, 'Lisbon'), (1, 'Zürich'), (2, 'Nairobi'), (3, 'Osaka'), (4, 'Montréal'), (5, 'Porto Alegre'), (6, 'Wellington'))
INSERT INTO users (id, name, email, city, created_at)
SELECT i, first.v || ' ' || last.v, 'user' || i || '@example.com', city.v, date('2024-01-01', '+' || (i % 700) || ' days')
FROM n
JOIN first ON first.k = i % 10
JOIN last ON last.k = (i * 7) % 11
JOIN city ON city.k = (i * 3) % 7;

WITH RECURSIVE
  n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200),
  kind (k, v) AS (VALUES (0, 'Lamp'), (1, 'Chair'), (2, 'Desk'), (3, 'Shelf'), (4, 'Rug')),
  room (k, v) AS (VALUES (0, 'office'), (1, 'kitchen'), (2, 'bedroom'), (3, 'garden'))
INSERT INTO products (id, name, category, price_cents, weight_g)
SELECT i, kind.v || ' no. ' || i, room.v, 990 + (i * 379) % 49000, 200 + (i * 613) % 24000
FROM n
JOIN kind ON kind.k = i % 5
JOIN room ON room.k = (i / 5) % 4;

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
INSERT INTO orders (id, user_id, status, ordered_on)
SELECT i, 1 + (i * 7919) % 10000,
  CASE i % 10 WHEN 0 THEN 'open' WHEN 1 THEN 'open' WHEN 2 THEN 'cancelled' WHEN 3 THEN 'paid' WHEN 4 THEN 'paid' ELSE 'shipped' END,
  date('2025-01-01', '+' || (i % 600) || ' days')
FROM n;

WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)
INSERT INTO order_items (order_id, product_id, quantity)
SELECT 1 + i / 2, 1 + (i * 101) % 200, 1 + i % 4
FROM n;

CREATE INDEX orders_by_user ON orders (user_id);
CREATE INDEX orders_by_day ON orders (ordered_on);
