/** A cell of a row. */
export type Cell = string | number | boolean | null;

/** What an API answers to a request. */
export interface HttpAnswer {
  /** Method and URL: `GET https://api.example.com/rates`. A URL without a query fits whatever the query is. */
  request: string;
  /** By default 200. */
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** The body, as JSON. */
  json?: unknown;
}

/** One call: what goes in, and the world that it is made in. The keys are those of a `NAME.test.yaml`. */
export interface TestCall<Inputs = Record<string, unknown>> {
  /** The inputs of the tool, or the arguments of the prompt. */
  inputs?: Inputs;
  /** Who calls: the name of a key of `auth.policy.keys`, or claims that nobody verifies. */
  caller?: string | { sub: string; [claim: string]: unknown };
  /** Header fields of the request. */
  headers?: Record<string, string>;
  /** The variables that the app sees; it sees no others. */
  env?: Record<string, string>;
  /** What is in the databases of adapters with `sqlite`, by the adapter. Paths are relative to the app's folder. */
  given?: Record<string, { seed?: string; rows?: Record<string, Record<string, Cell>[]> }>;
  /** What APIs answer. */
  http?: HttpAnswer[];
  /** What time it is: the clock stands still. A number is in milliseconds since 1970. */
  now?: Date | string | number;
  /** What random numbers follow from. */
  random?: number;
  /** What the caller answers to what the tool asks. */
  answers?: "accept" | "decline" | "cancel" | Record<string, unknown>;
  /** Statements that are asked after the call, for `rows` of the result; a text asks the only adapter with `sqlite`. */
  rows?: (string | { sql: string; adapter?: string })[];
  /** The app's folder; by default the nearest with a `millrace.yaml`, from that of this process upwards. */
  app?: string | URL;
  /** Adapters whose databases are used as they are: what a call writes there stays. */
  databases?: string[];
}

/** An entry of the audit log. */
export interface AuditEntry {
  subject: string;
  tool: string;
  decision: "allowed" | "refused";
  decided_by?: string;
  outcome: "begun" | "ok" | "warning" | "error" | "input_required";
  code?: string;
  change_made?: string;
  ms: number;
  inputs?: string;
  request_id: string;
  tenant?: string;
  rows?: number;
  [field: string]: unknown;
}

/** A span of the call, or of one of its stages, in the order in which they ended. */
export interface Span {
  name: string;
  kind: "server" | "internal";
  /** The name of the span above it. */
  parent: string | null;
  /** Whether it failed in a way that its caller cannot mend. */
  failed: boolean;
  attributes: Record<string, string | number | boolean>;
}

/** What a call gave, and left behind. */
export interface TestedCall<Structured = any> {
  /** The text of the result, and of a failure what a model sees of it. */
  content: string;
  /** `structuredContent`; absent where the result has none. */
  structured: Structured;
  /** How the call failed: `NOT_FOUND`; `null` where it did not. */
  code: string | null;
  message: string | null;
  /** The whole result; `null` where the failure is an error of the protocol. */
  result: Record<string, any> | null;
  /** What was said before the result, in order. */
  notifications: Record<string, any>[];
  audit: AuditEntry[];
  spans: Span[];
  /** What the statements of `rows` returned, each a list of rows. */
  rows: Record<string, any>[][];
}

/**
 * Calls a tool through the whole pipeline of its app, in a world of its own. A tool that fails is no error: see `code`. Rejects where there is no such
 * call: the app has a mistake, no tool has the name, a request has no answer in `http`.
 */
export function testTool<Structured = any, Inputs = Record<string, unknown>>(tool: string, call?: TestCall<Inputs>): Promise<TestedCall<Structured>>;

/** The same for a prompt. */
export function testPrompt(prompt: string, call?: TestCall<Record<string, string>>): Promise<TestedCall<never>>;

/** The same for a resource. */
export function testResource(uri: string, call?: Omit<TestCall, "inputs">): Promise<TestedCall<never>>;
