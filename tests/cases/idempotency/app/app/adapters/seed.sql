CREATE TABLE bookings (id INTEGER PRIMARY KEY, order_id TEXT NOT NULL, amount INTEGER NOT NULL CHECK (amount > 0), UNIQUE (order_id, amount));
