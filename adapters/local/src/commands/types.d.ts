// Written by `millrace types`; it is written anew each time.

declare module "millrace" {
  export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

  /** What a script gets first. */
  export interface Payload<Inputs> {
    inputs: Inputs;
    tool: string;
  }

  /** What an output mapper gets first. */
  export interface Results<Result = Json> {
    results: Result;
    tool: string;
  }

  /** What a script gets second. It is frozen. */
  export interface Context {
    readonly auth?: Principal;
    readonly request: { readonly id: string; readonly headers: { readonly [name: string]: string }; readonly protocol: string };
    readonly env: { readonly [name: string]: string | undefined };
    readonly signal: AbortSignalLike;
    readonly log: Log;
    progress(done: number, total?: number, message?: string): void;
    db(adapter: string): { query(sql: string, params?: Json[]): Promise<Array<{ [column: string]: Json }>> };
  }

  export interface Principal {
    readonly subject: string;
    readonly scopes: readonly string[];
    readonly roles: readonly string[];
    readonly claims: { readonly [name: string]: Json };
    readonly plugin: string;
  }

  export interface Log {
    debug(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
  }

  export interface AbortSignalLike {
    readonly aborted: boolean;
  }

  /** What a handler may return instead of a plain value. */
  export interface Reply {
    readonly __millrace: never;
  }

  export interface ToolErrorOptions {
    message?: string;
    suggestion?: string;
    availableActions?: string[];
    details?: { [key: string]: string | number | boolean };
    severity?: "warning" | "error" | "critical";
    retryAfter?: number;
  }

  export function success(data: Json): Reply;
  export function error(message: string): Reply;
  export function required(field: string): Reply;
  export function toolError(code: string, options?: ToolErrorOptions): Reply;
