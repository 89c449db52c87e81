//! `millrace.d.ts`: the types of what scripts get, for editors and `tsc`: their globals, the module
//! `"millrace"`, and what the app says.

use std::collections::BTreeSet;

use millrace_core::app::{
    Adapter, App, Auth, FORMAT_INPUT, Input, InputKind, MiddlewareAction, PresentedField, SELECT_INPUT, TextFormat, Tool,
};
use millrace_core::{
    ports::{Column, ColumnKind},
    value::MAX_SAFE_INTEGER,
};

use crate::lock::ToolStatement;

/// The globals of scripts, and the declarations of the module `"millrace"` for an app: its
/// functions, the `ctx` and the payload of each kind of script, and the inputs of every tool, and
/// what the statements return of which a lock file says so.
///
/// The text is valid TypeScript whatever the app's names are, and the same for the same app.
#[must_use]
pub fn declarations(app: &App, statements: &[ToolStatement]) -> String {
    let mut out = [HEAD, GLOBALS, MODULE].concat();
    let names = interface_names(app);
    out.push_str(&env(app));
    out.push_str(&context(app));
    for (tool, name) in app.tools.iter().zip(&names) {
        out.push_str(&format!("\n  /** The inputs of the tool `{}`, checked and with their defaults. */\n", comment(&tool.name)));
        // What concerns the presentation is taken out before a script sees the inputs.
        let presenter = tool.returns.and_then(|place| app.presenters.get(place as usize));
        let is_added = |name: &str| {
            presenter.is_some_and(|presenter| match name {
                SELECT_INPUT => presenter.select,
                FORMAT_INPUT => presenter.format == TextFormat::Input,
                _ => false,
            })
        };
        let schema = tool.input_schema.as_ref().and_then(|schema| serde_json::from_str(schema).ok());
        match schema {
            Some(schema) => out.push_str(&format!("  export type {name} = {};\n", of_schema(&schema, 1, &is_added))),
            None => {
                let own: Vec<Input> = tool.inputs.iter().filter(|input| !is_added(&input.name)).cloned().collect();
                out.push_str(&format!("  export interface {name} {}\n", fields(&own, 1)));
            }
        }
    }
    out.push_str("\n  /** The tools of the app, and their inputs. */\n  export interface Tools {\n");
    for (tool, name) in app.tools.iter().zip(&names) {
        out.push_str(&format!("    {}: {name};\n", quoted(&tool.name)));
    }
    out.push_str("  }\n");
    out.push_str("\n  /** An item of each presenter of the app, as a tool that returns it must give it. */\n  export interface Items {\n");
    let mut known = BTreeSet::new();
    for presenter in app.presenters.iter().filter(|presenter| known.insert(presenter.name.as_str())) {
        out.push_str(&format!("    {}: {};\n", quoted(&presenter.name), item(app, &presenter.fields, 2)));
    }
    out.push_str("  }\n");
    let rows: Vec<_> = statements.iter().filter_map(|statement| Some((&statement.tool, statement.columns.as_deref()?))).collect();
    if !rows.is_empty() {
        out.push_str(
            "\n  /** A row of what the statement of each tool returns, as far as `millrace.lock` says. */\n  export interface Rows {\n",
        );
        for (tool, columns) in rows {
            out.push_str(&format!("    {}: {};\n", quoted(tool), row(columns)));
        }
        out.push_str("  }\n");
    }
    // The handshake and the lists are about no tool.
    let mut auths = app.tools.iter().filter_map(|tool| tool.auth.as_ref()).chain(&app.feature_auth).flat_map(Auth::entries);
    let asks_without_tool = auths.any(|auth| matches!(auth, Auth::Script { .. }));
    out.push_str(&TAIL.replace(OR_NULL, if asks_without_tool { " | null" } else { "" }));
    out
}

/// A row of these columns; what a statement says that returns none.
fn row(columns: &[Column]) -> String {
    if columns.is_empty() {
        return "{ affected_rows: number }".to_owned();
    }
    let member = |column: &Column| {
        let of_kind = match column.kind {
            ColumnKind::Boolean => "boolean | null",
            ColumnKind::Integer | ColumnKind::Float => "number | null",
            ColumnKind::BigInteger => "number | bigint | null",
            ColumnKind::Text => "string | null",
            ColumnKind::List => "Json[] | string | null",
            ColumnKind::Any => "Json",
        };
        format!("{}: {of_kind}", quoted(&column.name))
    };
    format!("{{ {} }}", columns.iter().map(member).collect::<Vec<_>>().join("; "))
}

/// Stands in [`TAIL`] where a plugin may be asked about no tool.
const OR_NULL: &str = "@OR_NULL@";

fn item(app: &App, declared: &[PresentedField], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let mut out = String::from("{\n");
    for field in declared {
        let absent = if field.optional { "?" } else { "" };
        out.push_str(&format!("{indent}  {}{absent}: {};\n", quoted(&field.name), of_field(app, field, depth + 1)));
    }
    out.push_str(&format!("{indent}}}"));
    out
}

fn of_field(app: &App, field: &PresentedField, depth: usize) -> String {
    let child = field.returns.and_then(|place| app.presenters.get(place as usize)).map(|child| item(app, &child.fields, depth));
    let text = match field.kind {
        _ if !field.allowed.is_empty() => union(field.allowed.iter().map(|literal| literal.0.to_string()).collect(), "never"),
        InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid => "string".to_owned(),
        InputKind::Int | InputKind::Float => "number".to_owned(),
        InputKind::Boolean => "boolean".to_owned(),
        InputKind::Array => match child.or_else(|| field.items.as_deref().map(|items| of_field(app, items, depth))) {
            Some(element) => format!("Array<{element}>"),
            None => "Json[]".to_owned(),
        },
        InputKind::Object => match child {
            Some(child) => child,
            None if field.fields.is_empty() => "{ [key: string]: Json }".to_owned(),
            None => item(app, &field.fields, depth),
        },
        InputKind::Json => "Json".to_owned(),
    };
    if field.nullable { format!("{text} | null") } else { text }
}

/// How `millrace.d.ts` begins: a file that begins otherwise is somebody else's.
pub const HEAD: &str = "// Written by `millrace types`. Do not edit: the next run overwrites it.\n";

/// The libraries of TypeScript whose globals scripts have, for `lib` of `tsconfig.json`;
/// [`declarations`] has the other globals.
pub const LIBRARIES: [&str; 2] = ["ES2025", "ESNext.Disposable"];

/// The globals that no library of the language declares. A test writes it from what the engine has.
const GLOBALS: &str = include_str!("types/globals.d.ts");

const MODULE: &str = r#"
declare module "millrace" {
  /**
   * A value of JSON. An integer beyond ±(2^53 − 1) is a bigint, in inputs and in rows. A bigint in a result becomes a number up to there, else
   * the text of its digits.
   */
  export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

  /** A reply made by `success`, `error`, `required`, `toolError`, `response` or `anonymous`. Return it; failures may be thrown, too. */
  export interface Reply {
    readonly " reply": never;
  }

  /** A result that consists of data only. */
  export function success(data?: unknown): Reply;
  /** A failure that the model can read, to call again with what is right. The code is by default `ERROR`. */
  export function error(message: string, code?: string): Reply;
  /** A failure: this field is needed. */
  export function required(field: string): Reply;
  /** A failure with a code and with ways out. */
  export function toolError(code: string, options?: ToolErrorOptions): Reply;

  /** Of an authentication plugin: lets the caller in without a name, also under `any`. */
  export function anonymous(caller?: { scopes?: readonly string[]; roles?: readonly string[] }): Reply;

  /** A result with content blocks. The data, if there is any, is the first block. Return it, with or without `build()`. */
  export function response(data?: unknown): ResponseBuilder;

  /**
   * Builds a result, block by block. Each method returns the builder. Whatever the order of the calls, the result has the data first, then what
   * people see, the content, hints, rules and suggestions.
   */
  export interface ResponseBuilder {
    /** What people see: a chart, a table, a text. */
    ui(block: UiBlock, options?: UiOptions): this;
    /** What the model should know about this result. */
    hint(text: string): this;
    /** What the model has to keep to. */
    rule(text: string): this;
    /** A tool to call next, and why. */
    suggest(tool: keyof Tools, reason: string, args?: { [input: string]: unknown }): this;
    text(text: string, options?: BlockOptions): this;
    /** A text as it is; the same as `text`. */
    raw(text: string): this;
    /** An image: base64, or bytes. */
    image(data: string | ArrayBuffer | ArrayBufferView, mimeType: string, options?: BlockOptions): this;
    /** A sound: base64, or bytes. */
    audio(data: string | ArrayBuffer | ArrayBufferView, mimeType: string, options?: BlockOptions): this;
    /** A resource with its content. */
    resource(resource: EmbeddedResource, options?: BlockOptions): this;
    /** A resource that the client may read. */
    resourceLink(link: ResourceLink, options?: BlockOptions): this;
    /** What is sent as structured content, if it is not the data. */
    structured(value: unknown): this;
    /** Members of the result's `_meta`. */
    meta(meta: { [key: string]: unknown }): this;
    build(): Reply;
  }

  /** What people see; made by the functions below. */
  export interface UiBlock {
    readonly " ui": never;
  }
  /** A chart: the options of Apache ECharts. */
  export function echarts(options: { [name: string]: unknown }): UiBlock;
  /** A diagram in the language of Mermaid. */
  export function mermaid(text: string): UiBlock;
  export function markdown(text: string): UiBlock;
  /** Code in a language, such as `sql`. */
  export function code(language: string, text: string): UiBlock;
  /** A table: each row has a cell for each column. */
  export function table(columns: readonly string[], rows: ReadonlyArray<readonly unknown[]>): UiBlock;
  export function list(items: readonly unknown[]): UiBlock;
  export function json(value: unknown): UiBlock;
  /** A sentence that sums the result up. */
  export function summary(text: string): UiBlock;

  /** How a block is shown. */
  export interface UiOptions {
    title?: string;
    width?: "full" | "half" | "third";
    /** A block with a higher number is more important. */
    priority?: number;
  }

  /** Who a block is for, and how important it is. */
  export interface BlockOptions {
    audience?: Array<"user" | "assistant">;
    /** From 0, optional, to 1, required. */
    priority?: number;
    /** A date in ISO 8601. */
    lastModified?: string;
    /** The block's `_meta`. */
    meta?: { [key: string]: unknown };
  }

  /** A resource with its content: text, or bytes. */
  export type EmbeddedResource =
    | { uri: string; mimeType?: string; text: string }
    | { uri: string; mimeType?: string; blob: string | ArrayBuffer | ArrayBufferView };

  /** A resource that the client may read. */
  export interface ResourceLink {
    uri: string;
    name: string;
    title?: string;
    description?: string;
    mimeType?: string;
    /** Bytes. */
    size?: number;
    icons?: Array<{ src: string; mimeType?: string; sizes?: string[] }>;
  }

  /** Asks the caller, and returns the answers by key. Until they have arrived, it ends the call, which then runs again from its beginning. */
  export function requireInput<Requests extends { [key: string]: InputRequest }>(requests: Requests): {
    [Key in keyof Requests]: Requests[Key] extends InputRequest<infer Answer> ? Answer : never;
  };
  /** A question to the user: the message, and a JSON Schema of a flat object for the answer. */
  export function elicit(message: string, requestedSchema?: { [keyword: string]: unknown }): InputRequest<ElicitAnswer>;
  /** A question to the client's model: the parameters of `sampling/createMessage`. */
  export function sample(params: { messages: unknown[]; maxTokens: number; [name: string]: unknown }): InputRequest<SampleAnswer>;
  /** A question for the client's roots. */
  export function listRoots(): InputRequest<RootsAnswer>;

  /** A question to the caller. */
  export interface InputRequest<Answer = unknown> {
    method: "elicitation/create" | "sampling/createMessage" | "roots/list";
    params?: { [name: string]: unknown };
    readonly " answer"?: Answer;
  }
  export interface ElicitAnswer {
    action: "accept" | "decline" | "cancel";
    /** Matches the schema; present if the user accepted. */
    content?: { [name: string]: any };
  }
  export interface SampleAnswer {
    role: string;
    content: any;
    model?: string;
    stopReason?: string;
  }
  export interface RootsAnswer {
    roots: Array<{ uri: string; name?: string }>;
  }

  /** The second argument of `toolError`. */
  export interface ToolErrorOptions {
    /** What happened; by default the code. */
    message?: string;
    /** What to do about it. */
    suggestion?: string;
    /** Names of tools that help. */
    available_actions?: string[];
    /** Further facts. */
    details?: { [key: string]: unknown };
    /** By default `error`. */
    severity?: "warning" | "error" | "critical";
    /** When to try again, in seconds. */
    retry_after?: number;
  }

  /** Who calls. */
  export interface Auth {
    readonly subject?: string;
    readonly scopes?: readonly string[];
    readonly roles?: readonly string[];
    readonly claims?: { readonly [key: string]: Json };
    readonly plugin?: string;
    readonly [key: string]: Json | undefined | readonly string[] | { readonly [key: string]: Json };
  }

  /** The request of the call. */
  export interface Request {
    readonly id: string;
    /** The method of MCP: `tools/call`, or what has the tool run. */
    readonly method: string;
    /** Where the request came to; absent over standard input and output. */
    readonly path?: string;
    /** The address of whoever is connected to the server, where the host knows it: of the client, or of a proxy before it. */
    readonly peer?: string;
    /** The header fields that `context.headers` lists. */
    readonly headers: { readonly [name: string]: string | undefined };
    readonly protocol: string;
    /** What the caller can be asked for: `elicitation`, `sampling`, `roots`. */
    readonly capabilities: ReadonlyArray<"elicitation" | "sampling" | "roots">;
  }

  /** Lines in the log of the server, and for a caller that asks for them. */
  export interface Log {
    debug(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
  }

  /** One connection of the app. */
  export interface Database {
    /** Runs one statement. The values of `params` are bound, never spliced. */
    query<Row = { [column: string]: Json }>(statement: string, params?: readonly unknown[]): Promise<Row[]>;
  }

  /** An adapter with connector `http`. Values are bound; the path, names of fields, `result` and `page` are text of the script. */
  export interface ApiClient {
    /** Sends a request that reads. The answer is its JSON, or the part of it that `result` names; `null` where it is empty. */
    get<Answer = any>(path: string, options?: ReadRequest): Promise<Answered<Answer>>;
    /** Fails where the API has no such thing, and gives `null` else. */
    head(path: string, options?: ApiRequest): Promise<null>;
    post<Answer = any>(path: string, options?: WriteRequest | SearchRequest): Promise<Answered<Answer>>;
    put<Answer = any>(path: string, options?: WriteRequest): Promise<Answered<Answer>>;
    patch<Answer = any>(path: string, options?: WriteRequest): Promise<Answered<Answer>>;
    delete<Answer = any>(path: string, options?: WriteRequest): Promise<Answered<Answer>>;
  }
  /** A value of a path, a query, a form or a header field. */
  export type ApiValue = string | number | bigint | boolean | Date;
  /** Fields by their names. One that is `undefined` or `null` is left out, and a list is the field again for each element. */
  export interface ApiFields {
    readonly [name: string]: ApiValue | readonly ApiValue[] | null | undefined;
  }
  export interface ApiRequest {
    /** The values of `{name}` in the path; each is one segment, or a part of one. */
    params?: { readonly [name: string]: ApiValue };
    query?: ApiFields;
    headers?: { readonly [name: string]: ApiValue | null | undefined };
  }
  export interface ReadRequest extends ApiRequest {
    /** The part of the answer that is meant: a JSON Pointer, `/data/items`, or an expression of JMESPath. */
    result?: string;
    /** How the pages after the first one are found; their lists are joined. */
    page?: ApiPages;
  }
  export interface WriteRequest extends ApiRequest {
    /** Sent as JSON. */
    body?: unknown;
    /** Sent as the fields of a form, in place of a body. */
    form?: ApiFields;
    result?: string;
    page?: undefined;
    reads?: false;
  }
  /** A `POST` that only reads. */
  export interface SearchRequest extends ReadRequest {
    body?: unknown;
    form?: ApiFields;
    reads: true;
  }
  /** How the pages after the first one are found, and how many are read: 10, where `max` does not say otherwise. */
  export type ApiPages = ({ cursor: string; query: string } | { link: true | string } | { offset: string; size: number } | { page: string }) & { max?: number };
  /** A list of which there are more pages than were read has `truncated`. */
  export type Answered<Answer> = Answer extends readonly unknown[] ? Answer & { readonly truncated?: true } : Answer;
  /** What a request that fails throws: `status` and `body` where the API has answered. */
  export interface ApiError extends Error {
    /** What kind of failure it is, such as `constraint` or `timed_out`. */
    readonly code: string;
    readonly status?: number;
    readonly body?: any;
  }

  /** What scripts keep for a while, for each caller apart. It may be gone at any time. A call uses it at most 100 times. */
  export interface Cache {
    /** What was put there under the key; `undefined` where nothing is. */
    get<Value = any>(key: string): Promise<Value | undefined>;
    /** Keeps a value of JSON, of at most 262,144 bytes, for `ttl` seconds at the most. */
    put(key: string, value: unknown, options: { ttl: number }): Promise<void>;
  }

  /** The second argument of every script. It is frozen. */
  export interface Context extends Values {
    /** Who calls; absent if the tool has no `auth`. */
    readonly auth?: Auth;
    readonly request: Request;
    readonly env: Env;
    /** Aborted when the caller goes away, or the deadline passes. */
    readonly signal: AbortSignal;
    readonly log: Log;
    /** Reports progress to the caller. */
    progress(done: number, total?: number, message?: string): void;
    /** One of the app's connections. */
    db(adapter: Adapter): Database;
    /** One of the app's APIs. */
    api(adapter: Api): ApiClient;
    readonly cache: Cache;
    /** What context factories and middleware add. */
    readonly [key: string]: any;
  }
"#;

const TAIL: &str = r#"
  /** A value, now or later. */
  export type Awaitable<T> = T | Promise<T>;

  /** What a handler gets. */
  export interface HandlerPayload<Name extends keyof Tools = keyof Tools> {
    readonly inputs: Tools[Name];
    readonly tool: Name;
  }
  /** A tool's handler: `const handler: Handler<"get-user"> = async ({ inputs }, ctx) => …`. */
  export type Handler<Name extends keyof Tools = keyof Tools> = (payload: HandlerPayload<Name>, ctx: Context) => unknown;

  /** What an input mapper gets: the inputs as they were sent, before they are checked. */
  export interface InputMapperPayload {
    readonly inputs: { [name: string]: Json };
    readonly tool: string;
  }
  /** An input mapper: it returns the new inputs. */
  export type InputMapper = (payload: InputMapperPayload, ctx: Context) => Awaitable<{ [name: string]: unknown }>;

  /** What an output mapper gets. */
  export interface OutputMapperPayload<Results = any> {
    readonly results: Results;
    readonly tool: string;
  }
  /** An output mapper: it returns the new result. */
  export type OutputMapper<Results = any> = (payload: OutputMapperPayload<Results>, ctx: Context) => unknown;

  /** What a context factory gets. */
  export interface ContextFactoryPayload {
    readonly auth?: Auth | null;
    readonly request: Request;
    readonly env: Env;
  }
  /** A context factory: what it returns is merged into `ctx`. Whatever it throws, the caller is told only that the context could not be made. */
  export type ContextFactory = (payload: ContextFactoryPayload, ctx: Context) => Awaitable<{ [name: string]: unknown }>;

  /** What a script of `middleware` gets: the checked inputs. */
  export interface MiddlewarePayload {
    readonly inputs: any;
    readonly tool: string;
  }
  /** A script of `middleware`: what it returns is merged into `ctx`. It refuses the call with a failure, returned or thrown. */
  export type Middleware = (payload: MiddlewarePayload, ctx: Context) => Awaitable<{ [name: string]: unknown } | Reply | undefined | void>;

  /** What `after` gets, once the call is over. */
  export interface AfterPayload {
    readonly inputs: any;
    /** The result; null if the call failed. */
    readonly result: any;
    /** Why the call failed; null if it did not. */
    readonly error: { readonly code: string; readonly message: string; readonly stage: string; readonly retryable: boolean } | null;
    readonly duration_ms: number;
    readonly tool: string;
  }
  /** The export `after` of a script of `middleware`. What it returns or throws changes nothing. */
  export type After = (payload: AfterPayload, ctx: Context) => unknown;

  /** What an authentication plugin gets. */
  export interface AuthPluginPayload {
    readonly headers: { readonly [name: string]: string | undefined };
    readonly policy: { readonly [name: string]: Json };
    /** The tool; null at the handshake, and where a list, a prompt or a resource is asked for. */
    readonly tool: string@OR_NULL@;
  }
  /** Who calls, as an authentication plugin says it: by a subject or by claims. Members of other names become claims, and name nobody by themselves. */
  export type Principal = ({ readonly subject: string | number } | { readonly claims: { readonly [key: string]: unknown } }) & {
    readonly scopes?: readonly string[] | string | null;
    readonly roles?: readonly string[] | string | null;
    readonly [key: string]: unknown;
  };
  /**
   * An authentication plugin: it returns who calls; or nothing, for a caller without a name (under `any`, for the next plugin to decide); or
   * `error`, `required` or `toolError` to refuse, with a reason that the caller is told. What it throws besides is for the log.
   */
  export type AuthPlugin = (payload: AuthPluginPayload, ctx: Context) => Awaitable<Principal | Reply | null | undefined | void>;
}
"#;

/// The values of `ctx` that the app declares, in `context` or in middleware. A tool may lack any of
/// them.
fn context(app: &App) -> String {
    let names: BTreeSet<&str> = app.tools.iter().flat_map(declared).collect();
    let mut out = String::from("\n  /** The values of `ctx` that `context` and `middleware` declare. */\n  export interface Values {\n");
    for name in names {
        out.push_str(&format!("    readonly {}?: any;\n", quoted(name)));
    }
    out.push_str("  }\n");
    out
}

fn declared(tool: &Tool) -> impl Iterator<Item = &str> {
    let derived = tool.middleware.iter().flat_map(|entry| match &entry.action {
        MiddlewareAction::Derive(values) => values.as_slice(),
        _ => &[],
    });
    tool.context.values().chain(derived).map(|(name, _)| name.as_str())
}

/// The variables, the secrets and the connections that the app lists.
fn env(app: &App) -> String {
    let mut out = String::from(
        "\n  /** The variables that `millrace.yaml` lists under `env`, and the secrets under `secrets`. Reading one that is not set throws, unless it is listed as `NAME?`. */\n  export interface Env {\n",
    );
    for name in app.env.iter().chain(&app.secrets).collect::<BTreeSet<_>>() {
        let absent = if app.required.contains(name) { "" } else { " | undefined" };
        out.push_str(&format!("    readonly {}: string{absent};\n", quoted(name)));
    }
    out.push_str("  }\n");
    let (apis, databases): (Vec<_>, Vec<_>) = app.adapters.iter().partition(|adapter| adapter.is_api());
    let names = |adapters: Vec<&Adapter>| union(adapters.iter().map(|adapter| quoted(&adapter.name)).collect(), "never");
    out.push_str(&format!("\n  /** The names of the app's connections. */\n  export type Adapter = {};\n", names(databases)));
    out.push_str(&format!(
        "\n  /** The names of the app's APIs, adapters with connector `http`. */\n  export type Api = {};\n",
        names(apis)
    ));
    out
}

/// `get-user` → `GetUserInputs`. Names that would be the same get a number, in the order of the
/// tools.
fn interface_names(app: &App) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let names = app.tools.iter().map(|tool| {
        let words = tool.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut base: String = words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert_str(0, "Tool");
        }
        let mut name = format!("{base}Inputs");
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}{number}Inputs");
            number += 1;
        }
        name
    });
    names.collect()
}

/// `{ … }` with one line a field.
fn fields(inputs: &[Input], depth: usize) -> String {
    if inputs.is_empty() {
        return "{}".to_owned();
    }
    let indent = "  ".repeat(depth);
    let mut out = String::from("{\n");
    for input in inputs {
        let absent = if input.optional && input.default.is_none() { "?" } else { "" };
        out.push_str(&format!("{indent}  {}{absent}: {};\n", quoted(&input.name), of_input(input, depth + 1)));
    }
    out.push_str(&format!("{indent}}}"));
    out
}

fn of_input(input: &Input, depth: usize) -> String {
    let text = if input.allowed.is_empty() {
        of_kind(input, depth)
    } else {
        union(input.allowed.iter().map(|literal| literal.0.to_string()).collect(), "never")
    };
    if input.nullable { format!("{text} | null") } else { text }
}

/// A type of what a JSON Schema lets in, as far as the words say that a type can be made of;
/// `is_added` says which properties are no part of it.
fn of_schema(schema: &serde_json::Value, depth: usize, is_added: &dyn Fn(&str) -> bool) -> String {
    let inner = |schema: &serde_json::Value| of_schema(schema, depth, &|_| false);
    let list = |key: &str| schema.get(key).and_then(serde_json::Value::as_array);
    if let Some(allowed) = list("enum") {
        return union(allowed.iter().map(literal).collect(), "never");
    }
    if let Some(only) = schema.get("const") {
        return literal(only);
    }
    if let Some(choices) = list("anyOf").or_else(|| list("oneOf")) {
        return format!("({})", union(choices.iter().map(inner).collect(), "Json"));
    }
    let of_word = |word: &str| match word {
        "string" => "string".to_owned(),
        "integer" => "number | bigint".to_owned(),
        "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => schema.get("items").map_or_else(|| "Json[]".to_owned(), |items| format!("Array<{}>", inner(items))),
        "object" => {
            let Some(properties) = schema.get("properties").and_then(serde_json::Value::as_object).filter(|known| !known.is_empty()) else {
                return "{ [key: string]: Json }".to_owned();
            };
            let required: Vec<&str> = list("required").into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
            let indent = "  ".repeat(depth);
            let mut out = String::from("{\n");
            for (name, property) in properties.iter().filter(|(name, _)| !is_added(name)) {
                let absent = if required.contains(&name.as_str()) { "" } else { "?" };
                out.push_str(&format!("{indent}  {}{absent}: {};\n", quoted(name), of_schema(property, depth + 1, &|_| false)));
            }
            out.push_str(&format!("{indent}}}"));
            out
        }
        _ => "Json".to_owned(),
    };
    match schema.get("type") {
        Some(serde_json::Value::String(word)) => of_word(word),
        Some(serde_json::Value::Array(words)) => union(words.iter().filter_map(serde_json::Value::as_str).map(of_word).collect(), "Json"),
        _ if schema.get("properties").is_some() => of_word("object"),
        _ => "Json".to_owned(),
    }
}

/// A value of JSON as a type.
fn literal(value: &serde_json::Value) -> String {
    if value.is_array() || value.is_object() { "Json".to_owned() } else { value.to_string() }
}

fn of_kind(input: &Input, depth: usize) -> String {
    match input.kind {
        InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid => "string".to_owned(),
        InputKind::Int if !is_safe(input) => "number | bigint".to_owned(),
        InputKind::Int | InputKind::Float => "number".to_owned(),
        InputKind::Boolean => "boolean".to_owned(),
        InputKind::Array => match &input.items {
            Some(items) => format!("Array<{}>", of_input(items, depth)),
            None => "Json[]".to_owned(),
        },
        InputKind::Object if input.fields.is_empty() => "{ [key: string]: Json }".to_owned(),
        InputKind::Object => fields(&input.fields, depth),
        InputKind::Json => "Json".to_owned(),
    }
}

/// Whether the bounds of an `int` keep it within what a number holds.
fn is_safe(input: &Input) -> bool {
    let safe = |bound: Option<f64>| bound.is_some_and(|bound| bound.abs() <= MAX_SAFE_INTEGER as f64);
    safe(input.min) && safe(input.max)
}

fn union(parts: BTreeSet<String>, empty: &str) -> String {
    if parts.is_empty() { empty.to_owned() } else { parts.into_iter().collect::<Vec<_>>().join(" | ") }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text that cannot end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /")
}
