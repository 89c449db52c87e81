// What handlers import from "millrace", as tests under Node see it. In an app, `millrace.d.ts` says what its scripts see.

/** What a script answers with instead of data: here an object with the arguments. */
export interface Reply {
  readonly kind: "success" | "error" | "required" | "toolError" | "anonymous" | "content" | "inputRequired";
  readonly [member: string]: any;
}

export function success(data?: unknown): Reply;
export function error(message: unknown, code?: unknown): Reply;
export function required(field: string): Reply;
export function toolError(code: string, options?: { [name: string]: unknown }): Reply;
export function anonymous(caller?: { scopes?: readonly string[]; roles?: readonly string[] }): Reply;
/** A builder of a result; `build()` gives the reply. */
export function response(data?: unknown): any;
/** Throws a reply of kind `inputRequired` with the requests: nobody has answered yet. */
export function requireInput(requests: { [key: string]: any }): any;
export function elicit(message: string, requestedSchema?: { [keyword: string]: unknown }): any;
export function sample(params: { [name: string]: unknown }): any;
export function listRoots(): any;
export function echarts(options: { [name: string]: unknown }): any;
export function mermaid(text: string): any;
export function markdown(text: string): any;
export function code(language: string, text: string): any;
export function table(columns: readonly string[], rows: ReadonlyArray<readonly unknown[]>): any;
export function list(items: readonly unknown[]): any;
export function json(value: unknown): any;
export function summary(text: string): any;
