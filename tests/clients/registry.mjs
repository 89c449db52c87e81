// The rules of `server.json` of 2025-12-11, as static.modelcontextprotocol.io publishes them, and those that the registry adds; standard input has
// the file. Strict: a member that the schema does not name is an error.
import { readFileSync } from "node:fs";
import { z } from "zod";

const input = { description: z.string().optional(), isRequired: z.boolean().optional(), isSecret: z.boolean().optional(), value: z.string().optional() };
const named = z.strictObject({ name: z.string(), ...input });
const https = z.url({ protocol: /^https$/ });
const schema = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^(?!latest$)[^\^~<>=*]+$/),
  websiteUrl: z.url().optional(),
  repository: z.strictObject({ url: z.url(), source: z.enum(["github", "gitlab"]) }).optional(),
  remotes: z.array(z.strictObject({ type: z.literal("streamable-http"), url: https, headers: z.array(named).optional() })).optional(),
  packages: z
    .array(
      z.strictObject({
        registryType: z.literal("mcpb"),
        identifier: https.regex(/^https:\/\/(github|gitlab)\.com\/.*mcp/),
        version: z.string().min(1).optional(),
        fileSha256: z.string().regex(/^[a-f0-9]{64}$/),
        transport: z.strictObject({ type: z.literal("stdio") }),
        environmentVariables: z.array(named).optional(),
      }),
    )
    .optional(),
});
schema.parse(JSON.parse(readFileSync(0, "utf8")));
console.log("good");
