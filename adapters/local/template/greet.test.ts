import assert from "node:assert/strict";
import { test } from "node:test";
import greet from "../app/tools/greet/handler.ts";

test("a greeting has the name", async () => {
  const greeting = await greet({ inputs: { name: "Ada" }, tool: "greet" }, {} as never);
  assert.deepEqual(greeting, { greeting: "Hello, Ada!", letters: 3 });
});
