// Counters and records that all isolates agree by: a Durable Object, bound as `MILLRACE_STATE`. Its code runs one step at a time, and a
// step is one transaction on its disk.
import { DurableObject } from "cloudflare:workers";

export class MillraceState extends DurableObject {
  /** When the next alarm is due; 0 where none is known. */
  #due = 0;

  constructor(context, env) {
    super(context, env);
    this.#run("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, total INTEGER, value BLOB, expires INTEGER NOT NULL)");
    this.#run("CREATE INDEX IF NOT EXISTS by_expiry ON entries (expires)");
  }

  /** Adds `by` unless the total would be above `most`: whether it was added, and the total. */
  add(key, by, most, lifetime) {
    const entry = this.#live(key);
    const before = entry?.total ?? 0;
    if (before + by > most) return [false, before];
    if (entry) this.#run("UPDATE entries SET total = ? WHERE key = ?", before + by, key);
    else if (by !== 0) this.#keep(key, before + by, null, lifetime);
    return [true, before + by];
  }

  /** Keeps a record where there is none; the one that is there, or null. */
  putIfAbsent(key, value, lifetime) {
    const entry = this.#live(key);
    if (entry) return entry.value;
    this.#keep(key, null, value, lifetime);
    return null;
  }

  read(key) {
    return this.#live(key)?.value ?? null;
  }

  /** The records of several keys, in their order. */
  readAll(keys) {
    return keys.map((key) => this.read(key));
  }

  putAll(keys, value, lifetime) {
    for (const key of keys) this.#keep(key, null, value, lifetime);
  }

  put(key, value, lifetime) {
    this.#keep(key, null, value, lifetime);
  }

  remove(key) {
    this.#run("DELETE FROM entries WHERE key = ?", key);
  }

  /** Removes what has expired. */
  async alarm() {
    this.#run("DELETE FROM entries WHERE expires <= ?", Date.now());
    const [{ next }] = this.#run("SELECT min(expires) AS next FROM entries");
    this.#due = next ?? 0;
    if (next) await this.ctx.storage.setAlarm(next);
  }

  #live(key) {
    return this.#run("SELECT total, value FROM entries WHERE key = ? AND expires > ?", key, Date.now())[0];
  }

  #keep(key, total, value, lifetime) {
    const expires = Date.now() + lifetime * 1000;
    this.#run("INSERT OR REPLACE INTO entries (key, total, value, expires) VALUES (?, ?, ?, ?)", key, total, value, expires);
    if (this.#due > Date.now()) return;
    this.#due = expires;
    void this.ctx.storage.setAlarm(expires);
  }

  #run(statement, ...values) {
    return this.ctx.storage.sql.exec(statement, ...values).toArray();
  }
}
