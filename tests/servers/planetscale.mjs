// Talks to a server of PlanetScale's HTTP API with the vendor's own client: `node planetscale.mjs CLIENT URL`. Prints what it found, as JSON.
import { pathToFileURL } from "node:url";

const [, , client, address] = process.argv;
const { connect, Client } = await import(pathToFileURL(`${client}/dist/index.js`));
// The client leaves the port of a URL out; a `fetch` of its own puts it back.
const { host, username, password } = new URL(address);
const place = (input) => { const url = new URL(input); url.protocol = "http:"; url.host = host; return url; };
const config = { host: new URL(address).hostname, username: decodeURIComponent(username), password: decodeURIComponent(password), fetch: (input, init) => fetch(place(input), init) };
const one = connect(config);
const failure = async (promise) => promise.then(() => "no error", ({ name, status, body }) => ({ name, status, body }));

const text = "o'neil; -- \\ \t \r\n 🙂 9007199254740993";
await one.execute("CREATE TABLE client (id bigint AUTO_INCREMENT PRIMARY KEY, v varchar(60) CHARACTER SET utf8mb4 UNIQUE)");
const types = await one.execute(
  "SELECT CAST(7 AS SIGNED) AS i, CAST(9007199254740993 AS SIGNED) AS b, 1.50 AS n, 0.5e0 AS f, NULL AS z, JSON_OBJECT('a', JSON_ARRAY(1)) AS j, " +
  "TIMESTAMP('2026-01-02 03:04:05.123456') AS t, x'00ff' AS y, '' AS e, 'é' AS s",
);
const inserted = await one.execute("INSERT INTO client (v) VALUES (?), (?)", [text, "b"]);
const found = {
  types: types.types,
  row: { ...types.rows[0], y: [...types.rows[0].y] },
  inserted: [inserted.insertId, inserted.rowsAffected],
  text: (await one.execute("SELECT v FROM client WHERE id = :id", { id: 1 })).rows[0].v === text,
  committed: await new Client(config).transaction(async (tx) => {
    await tx.execute("INSERT INTO client (v) VALUES ('c')");
    return (await tx.execute("SELECT COUNT(*) AS n FROM client", null, { as: "array" })).rows;
  }),
  undone: await failure(new Client(config).transaction(async (tx) => {
    await tx.execute("DELETE FROM client");
    await tx.execute("INSERT INTO client (v) VALUES ('x'), ('x')");
  })),
  left: (await one.execute("SELECT COUNT(*) AS n FROM client")).rows[0].n,
  wrong: await failure(one.execute("SELECT * FROM nowhere")),
  syntax: await failure(one.execute("SELECT * FORM client")),
  password: await failure(connect({ ...config, password: "wrong" }).execute("SELECT 1")),
};
await one.refresh();
await one.execute("SET SESSION group_concat_max_len = 77");
found.kept = (await one.execute("SELECT @@group_concat_max_len AS n")).rows[0].n;
found.fresh = (await connect(config).execute("SELECT @@group_concat_max_len = 77 AS n")).rows[0].n;
console.log(JSON.stringify(found));
