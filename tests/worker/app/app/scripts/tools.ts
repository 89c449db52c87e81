export function query({ inputs }, ctx) {
  return ctx.db(inputs.adapter).query(inputs.sql, inputs.params);
}

/** The values that do not come back as they were, one after the other in the same table. */
export async function roundTrip({ inputs }, ctx) {
  const database = ctx.db(inputs.adapter);
  await database.query("CREATE TABLE IF NOT EXISTS kept (v)", []);
  const lost = [];
  for (const value of inputs.values) {
    await database.query("INSERT INTO kept VALUES (?1)", [value]);
    const rows = await database.query("SELECT v FROM kept WHERE v = ?1", [value]);
    await database.query("DELETE FROM kept WHERE v = ?1", [value]);
    if (rows.length !== 1 || rows[0].v !== value) lost.push(value);
  }
  const left = await database.query("SELECT count(*) AS n FROM kept", []);
  return { lost, left: left[0].n };
}

export async function get({ inputs }) {
  const response = await fetch(inputs.url, { method: inputs.method, headers: { authorization: "Bearer of-the-script" } });
  const text = await response.text();
  return { status: response.status, body: text.length > 100 ? `${text.length} characters` : text };
}

/** Where a request ended, and what it took along. */
export async function moved({ inputs }) {
  const response = await fetch(inputs.url, { redirect: inputs.redirect, headers: { "x-api-key": "of-the-script", accept: "text/plain" } });
  return { status: response.status, location: response.headers.get("location"), redirected: response.redirected, path: new URL(response.url).pathname };
}

/** Starts a request and leaves before it is answered. */
export async function leave({ inputs }) {
  fetch(inputs.url).catch(() => {});
  await fetch(inputs.other);
  return "not waited";
}

/** Needs a timer and a request of its own, one after the other. */
export async function late({ inputs }) {
  await new Promise((resolve) => setTimeout(resolve, inputs.ms));
  return get({ inputs });
}

/** Makes its answer a stream, then waits for a server. */
export function tell({ inputs }, ctx) {
  ctx.progress(1, 2);
  return get({ inputs });
}

export function compute() {
  for (;;) {}
}

export async function many({ inputs }) {
  let sum = 0;
  for (let i = 0; i < inputs.awaits; i++) sum += await 1;
  return sum;
}
