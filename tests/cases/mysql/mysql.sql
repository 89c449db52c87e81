SET time_zone = '+00:00';
CREATE TABLE people (
  id bigint unsigned PRIMARY KEY,
  email varchar(99) UNIQUE NOT NULL,
  born date,
  seen timestamp(6) NULL,
  met datetime,
  score decimal(10, 2),
  ratio double,
  small float,
  profile json,
  mood enum('happy', 'sad'),
  tags set('maths', 'history'),
  photo blob,
  bits bit(9),
  span time,
  active boolean,
  age int,
  CONSTRAINT grown_up CHECK (age >= 18)
);
INSERT INTO people VALUES
  (1, 'ada@example.com', '1990-12-10', '2026-01-02 03:04:05.123456', '2026-01-02 03:04:05', 12.50, 0.1, 0.1, '{"city": "London", "langs": ["en"]}', 'happy', 'maths,history', X'deadbeef', b'100000001', '-26:00:01', true, 36),
  (9007199254740993, 'o''neil@example.com', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'sad', '', NULL, NULL, NULL, NULL, NULL),
  (18446744073709551615, 'cleo@example.com', '2001-02-03', '2026-03-01 00:00:00', '2026-03-01 00:00:00', 1000000.00, 1e300, 1.5, '[]', NULL, 'history', '', 0, '00:00:00', false, 69);
CREATE TABLE orders (id bigint AUTO_INCREMENT PRIMARY KEY, who varchar(100) NOT NULL, price decimal(10, 2) NOT NULL DEFAULT 1.5);
CREATE TABLE order_lines (order_id bigint NOT NULL, item varchar(100) NOT NULL, note varchar(200), UNIQUE (order_id, item), FOREIGN KEY (order_id) REFERENCES orders (id));
DELIMITER //
CREATE FUNCTION forget(who bigint) RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN DELETE FROM people WHERE id = who; RETURN 1; END //
