export * from "./script.js";
export * from "./test.js";

/** Where an app runs. */
export type Target = "local" | "worker" | "lambda";

/** A mistake or a warning, and its place. */
export interface Diagnostic {
  severity: "error" | "warning";
  /** Relative to the app's folder. */
  file: string;
  /** From 1. */
  line: number;
  /** In characters, from 1. */
  column: number;
  /** In characters. */
  length: number;
  message: string;
  help: string | null;
}

/** How the command is started. */
export interface CommandOptions {
  /** The folder that relative paths start at; by default, that of this process. */
  cwd?: string;
  /** The command's environment; by default, that of this process. */
  env?: Record<string, string | undefined>;
  /** Ends the command. */
  signal?: AbortSignal;
}

export interface CheckOptions extends CommandOptions {
  /** Where the app will run; by default, this machine. */
  target?: Target;
  /** Also connect to every database of the app. Not together with `target`. */
  connect?: boolean;
}

export interface CheckResult {
  /** Whether the app has no mistake, and with `connect` every database answered. */
  ok: boolean;
  diagnostics: Diagnostic[];
  /** With `connect`: what each database said. */
  connections: { adapter: string; connector: string; ok: boolean; error: string | null }[];
  /** With `connect`: where `tenant` of an adapter says otherwise than its database. */
  tenants: { place: string; error: string }[];
  /** With `connect`: statements that a database rejected. */
  statements: { tool: string; place: string; error: string }[];
  /** What a model may have to read; `null` where the app has mistakes. */
  sizes: {
    lists: { revision: string; bytes: number; tokens: number }[];
    answers: { tool: string; bytes: number; tokens: number; limit: string; reason: string | null }[];
  } | null;
}

/** Finds every mistake of the app in a folder. Rejects with a `CommandError` if the command itself fails, and not for mistakes of the app. */
export function check(app?: string, options?: CheckOptions): Promise<CheckResult>;

export interface BuildOptions extends CommandOptions {
  /** Where the app will run; by default `local`, one bundle for `millrace serve`. */
  target?: Target;
  /** The folder to write to; by default `dist`. */
  out?: string;
  /** The processor of the Lambda function; by default `x86_64`. */
  arch?: "x86_64" | "arm64";
}

export type BuildResult =
  | {
      ok: true;
      diagnostics: Diagnostic[];
      target: Target;
      /** Bytes of the app's bundle. */
      bytes: number;
      /** The bundle, for `local`. */
      bundle?: string;
      /** The folder that was written, for `worker` and `lambda`. */
      out?: string;
      /** The parts of the Worker's runtime, such as `scripts` or `lean`. */
      runtime?: string;
      /** Bytes of the Worker's wasm module. */
      wasm?: number;
      /** The processor of the Lambda function. */
      arch?: "x86_64" | "arm64";
      /** Bytes of Lambda's runtime. */
      bootstrap?: number;
    }
  | {
      ok: false;
      /** Every mistake; nothing was written. */
      diagnostics: Diagnostic[];
    };

/** Builds the app in a folder. Rejects with a `CommandError` if the command itself fails, and not for mistakes of the app. */
export function build(app?: string, options?: BuildOptions): Promise<BuildResult>;

/** A command that failed without an answer. */
export class CommandError extends Error {
  readonly exitCode: number | null;
  /** What the command said. */
  readonly stderr: string;
}
