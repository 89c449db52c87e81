// Talks to a server of Neon's SQL API with the vendor's own client: `node neon.mjs CLIENT API CONNECTION_STRING`. Prints what it found, as JSON.
import { pathToFileURL } from "node:url";

const [, , client, api, address] = process.argv;
const { neon, neonConfig } = await import(pathToFileURL(`${client}/index.mjs`));
neonConfig.fetchEndpoint = `${api}/sql`;
neonConfig.disableWarningInBrowsers = true;
const sql = neon(address);
const whole = neon(address, { fullResults: true });
const failure = async (promise) => promise.then(() => "no error", ({ message, code, position, constraint, severity }) => ({ message, code, position, constraint, severity }));

const text = "o'neil; -- \\ \t \r\n 🙂 9007199254740993";
await sql`CREATE TABLE client (id int PRIMARY KEY, v text)`;
const found = {
  text: (await sql`SELECT ${text}::text AS v`)[0].v === text,
  types: (await sql`SELECT 7::int AS i, 9007199254740993::bigint AS b, 1.50::numeric AS n, true AS t, NULL AS z, '{"a": [1]}'::jsonb AS j, ARRAY[1, 2] AS l`)[0],
  changed: (({ command, rowCount, rows }) => ({ command, rowCount, rows }))(await whole`INSERT INTO client VALUES (1, 'a'), (2, 'b')`),
  fields: (await whole`SELECT id FROM client`).fields.map(({ name, dataTypeID }) => [name, dataTypeID]),
  batch: await sql.transaction([sql`UPDATE client SET v = 'c' WHERE id = 1`, sql`SELECT v FROM client ORDER BY id`]),
  undone: await failure(sql.transaction([sql`DELETE FROM client`, sql`INSERT INTO client VALUES (1, 'x'), (1, 'y')`])),
  left: (await sql`SELECT count(*)::int AS count FROM client`)[0].count,
  reader: await failure(sql.transaction([sql`DELETE FROM client`], { readOnly: true })),
  wrong: await failure(sql`SELECT * FROM nowhere`),
  password: await failure(neon(address.replace(/:[^:@]*@/, ":wrong@"))`SELECT 1`),
};
console.log(JSON.stringify(found));
