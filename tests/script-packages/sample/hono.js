import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { jwt, sign } from "hono/jwt";
import { cors } from "hono/cors";
import { html } from "hono/html";

export default async function () {
  const app = new Hono();
  app.use("*", cors());
  app.use("/in/*", jwt({ secret: "s", alg: "HS256" }));
  app.get("/x/:id{[0-9]+}", c => c.json({ id: c.req.param("id"), q: c.req.query("q"), all: c.req.queries("q") }));
  app.post("/form", async c => c.text(JSON.stringify(await c.req.parseBody()), 201, { "x-a": "1" }));
  app.get("/in/me", c => c.json(c.get("jwtPayload")));
  app.get("/page", c => c.html(html`<p>${"<é>"}</p>`));
  app.onError((error, c) => (error instanceof HTTPException ? c.text(error.message, error.status) : c.text("other: " + error.message, 500)));
  app.get("/boom", () => { throw new Error("nö"); });
  const ask = async (path, init) => { const answer = await app.request("http://h" + path, init); return [answer.status, await answer.text()]; };
  return [await ask("/x/5?q=a%20b&q=c"), await ask("/x/y"), await ask("/form", { method: "POST", body: new URLSearchParams({ a: "ä" }) }), await ask("/in/me"), await ask("/in/me", { headers: { authorization: "Bearer " + (await sign({ sub: "u" }, "s", "HS256")) } }), await ask("/page"), await ask("/boom"), (await app.request("/x/1", { method: "OPTIONS", headers: { origin: "https://a" } })).headers.get("access-control-allow-origin")];
}
