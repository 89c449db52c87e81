//! The compiled app: what the bundler makes of an app folder, and what a host carries.
//!
//! Holding an [`App`] means that every check of the bundler passed: names resolve, statements are
//! compiled, settings are inherited and defaults are filled in. Nothing here is parsed again per
//! request.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::expression::Expression;

mod additions;
mod auth;
mod authorization;
mod bundle;
mod context;
mod document;
mod feature;
mod guard;
mod input_kind;
mod jwt_policy;
mod middleware;
mod missing;
mod param_style;
mod presenter;
mod script_map;
mod script_ref;
mod script_stack;
mod search;
mod statement;
mod sync;
mod template;
mod transaction;
mod visit;

pub use crate::literal::Literal;
pub use crate::pattern::{Matcher, Pattern, PatternError};
pub use auth::{ApiKey, ApiKeys, Auth, ExpectedKey, Policy};
pub use authorization::{Authorization, ImpliedScopes, ProtectedResource, RequiredScopes, ResourceUrl, SignIn, is_scope};
pub use bundle::{BUNDLE_VERSION, BundleError, EARLIER_BUNDLE_VERSION};
pub use context::{ContextLayer, ContextSettings, PROTOTYPE_NAMES, RESERVED_NAMES, ValueTemplate, ValueText};
pub use document::{DocumentNode, Leaf};
pub use feature::{
    Argument, Completer, Content, Embedded, File, InputSource, Media, Prompt, PromptContent, PromptMessage, Resource, Skill, SkillFolder,
    ToolUse, UriPattern,
};
pub use guard::{Concurrency, RateLimit};
pub use input_kind::InputKind;
pub use jwt_policy::{Audience, ClaimRule, ClaimValue, IntrospectionServer, JwtPolicy, KeySource, TokenAlgorithm, TokenCarrier};
pub use middleware::{AUDIT_COLUMNS, Audit, AuditInputs, AuditTable, MORE_AUDIT_COLUMNS, Middleware, MiddlewareAction};
pub use param_style::{Form, ParamStyle};
pub use presenter::{
    ActionTemplate, Censor, Cursor, EARLIER_SELECT_INPUT, FORMAT_INPUT, HASH_KEY, ItemLimit, OnMismatch, PathStep, PresentedField,
    Presenter, PresenterRule, RedactedPath, Redaction, SELECT_INPUT, ShownFor, TextFormat, UiTemplate, UnknownFields,
};
pub use script_map::{MappedPlace, ScriptMap};
pub use script_ref::ScriptRef;
pub use script_stack::ScriptCall;
pub use search::{IndexedWord, SearchIndex, words};
pub use statement::{Access, Bind, Part, Piece, Statement};
pub use sync::{Announcement, CachedReads, EpochWrites, ToolSync};
pub use template::{Databases, EnvPart, EnvTemplate, Root, SecretSource, Source, Template, TemplatePart};
pub use transaction::{Transaction, TransactionStep};
pub use visit::{Holder, TemplateReference, Visit};

/// A compiled app.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct App {
    /// `name`: MCP `serverInfo.name`.
    pub name: String,
    /// `version`: MCP `serverInfo.version`, which [`Identity::surface`] completes.
    pub version: String,
    /// What else clients see of the server itself.
    pub identity: Identity,
    /// `instructions`: told to clients at `initialize` and `server/discover`.
    pub instructions: Option<String>,
    /// `server`
    pub server: Server,
    /// What `server` and `tools` say of sign-in.
    pub authorization: Authorization,
    /// The root's `auth`, which finds out who asks for a prompt or a resource with `require_scope`;
    /// `None` where there is none.
    pub feature_auth: Option<Auth>,
    /// `limits.batch`
    pub batch: BatchLimits,
    /// `env`: the variables that scripts see as `ctx.env`.
    pub env: Vec<String>,
    /// `secrets`: the secrets that scripts see in `ctx.env`.
    pub secrets: Vec<String>,
    /// Those of `env` and `secrets` that are not listed with a `?`: a script that reads one without
    /// a value gets an error.
    pub required: Vec<String>,
    /// `fetch.allow`: hosts that scripts may call: `api.example.com`, `*.example.com` (any depth
    /// below), `host:port`.
    pub fetch_allow: Vec<String>,
    /// `telemetry.enabled`: whether traces, metrics and logs are collected where the deployment asks
    /// for them.
    pub telemetry: bool,
    /// The connections, by name.
    pub adapters: Vec<Adapter>,
    /// The scripts; tools refer to them by index.
    pub scripts: Vec<Script>,
    /// Whether a script may log: clients are told so.
    pub logs: bool,
    /// What cached results depend on and something in the app changes: `main/orders`. Tools refer
    /// to them by index.
    pub epochs: Vec<String>,
    /// The presenters; tools and fields refer to them by index. A field's comes before the
    /// presenter that has the field.
    pub presenters: Vec<Presenter>,
    /// The tools, sorted by name.
    pub tools: Vec<Tool>,
    /// The prompts, sorted by name.
    pub prompts: Vec<Prompt>,
    /// The resources and resource templates, sorted by URI; the files of the skills are among them.
    pub resources: Vec<Resource>,
    /// The skills, sorted by URI.
    pub skills: Vec<Skill>,
}

/// The variable with the key that seals what calls carry from one round to the next.
pub const STATE_KEY: &str = "MILLRACE_STATE_KEY";

impl App {
    /// The first tool that asks its caller something: it has `confirm`, or a script that calls
    /// `requireInput`. It needs [`STATE_KEY`].
    #[must_use]
    pub fn asking_tool(&self) -> Option<&Tool> {
        let asks =
            |script: &ScriptRef| self.scripts.get(script.script as usize).is_some_and(|script| script.program.contains("requireInput"));
        self.tools.iter().find(|tool| tool.confirm.is_some() || tool.scripts().any(asks))
    }

    /// What to tell the operator of a host that has no [`STATE_KEY`], where the app needs one.
    #[must_use]
    pub fn missing_state_key(&self, env: &dyn crate::ports::Env) -> Option<String> {
        let tool = self.asking_tool()?;
        env.var(STATE_KEY).is_none_or(|key| key.expose().trim().is_empty()).then(|| {
            alloc::format!(
                "the tool `{}` asks its caller, which needs the variable `{STATE_KEY}`, and that is not set: make one with `echo k1:$(openssl rand -base64 32)`",
                tool.name
            )
        })
    }

    /// The tools whose calls are counted or recorded in the store of counters and records, and
    /// which therefore are exact only where all isolates share one.
    pub fn counted_tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| {
            let has_rate = tool.middleware.iter().any(|entry| matches!(entry.action, MiddlewareAction::RateLimit(_)));
            has_rate || tool.limits.rate.is_some() || (tool.idempotency.is_some() && matches!(tool.execute, Execute::Script(_)))
        })
    }
}

/// The names of tools, as a message has them: ``the tools `a` and `b` ``. `None` where there are
/// none.
#[must_use]
pub fn named_tools<'a>(tools: impl Iterator<Item = &'a Tool>) -> Option<String> {
    const MOST: usize = 8;
    let names: Vec<String> = tools.map(|tool| alloc::format!("`{}`", tool.name)).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(alloc::format!("the tool {name}")),
        [names @ .., last] if names.len() < MOST => Some(alloc::format!("the tools {} and {last}", names.join(", "))),
        names => {
            let (first, more) = names.split_at(MOST);
            Some(alloc::format!("the tools {} and {} more", first.join(", "), more.len()))
        }
    }
}

/// What clients see of the server, beside its name and its version. Clients of older revisions do
/// not get what their revision does not have: some are strict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `server.title`: MCP `serverInfo.title`, from 2025-06-18 on.
    pub title: Option<String>,
    /// `server.website`: MCP `serverInfo.websiteUrl`, from 2025-11-25 on.
    pub website: Option<String>,
    /// `server.icons`: MCP `serverInfo.icons`, from 2025-11-25 on, as the text of a JSON array.
    /// Empty without icons.
    pub icons: String,
    /// A digest of what the lists and `instructions` say, in hexadecimal: the build part of the
    /// version that clients see, so that one that keeps a list by the version sees a change. Empty
    /// where `version` has a build part of its own.
    pub surface: String,
}

/// `server`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// The local host's port, where no variable has it.
    pub port: u16,
    /// The variable that has the local host's port.
    pub port_variable: Option<String>,
    /// The path of the MCP endpoint, `/mcp`.
    pub path: String,
    /// `cors.origins`: web origins that may call, as `scheme://host[:port]`.
    pub cors_origins: Vec<String>,
    /// `hosts`: the public names that `Host` may have, `name[:port]`.
    pub hosts: Vec<String>,
    /// The longest request body, in bytes.
    pub body_limit: u32,
}

impl Server {
    /// Whether a path is that of the endpoint, whether or not it ends with a slash: people add or
    /// leave out the last one of an address.
    #[must_use]
    pub fn is_endpoint(&self, path: &str) -> bool {
        path.strip_suffix('/').unwrap_or(path) == self.path.strip_suffix('/').unwrap_or(&self.path)
    }
}

/// `app/adapters/<name>.yaml`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adapter {
    /// The name that tools `use`.
    pub name: String,
    /// `sqlite`, …
    pub connector: String,
    /// Where to connect.
    pub connection_string: EnvTemplate,
    /// The connector's own options, sorted by name.
    pub options: Vec<(String, EnvTemplate)>,
    /// `options.timeout`: how long one statement may take, in milliseconds.
    pub timeout_ms: u32,
    /// `options.max_rows`
    pub max_rows: u32,
    /// `options.read_only`
    pub read_only: bool,
    /// `options.seed` of `sqlite`: the SQL that fills a database which does not exist yet.
    pub seed: Option<String>,
    /// `session`: what is set in the database for the time of one call. The role is the last one,
    /// under the name `role`.
    pub session: Vec<SessionTemplate>,
    /// `tenant`: what of the caller says which rows are its own.
    pub tenant: Option<Tenant>,
    /// `databases`: the caller decides which database it is. Without, the connection is the same
    /// for everybody.
    pub databases: Option<Databases>,
}

impl Adapter {
    /// Whether it is an API: scripts ask it by `ctx.api`, and every other adapter by `ctx.db`.
    #[must_use]
    pub fn is_api(&self) -> bool {
        self.connector == "http"
    }

    /// Where it may connect: one place, or that of each of its databases.
    #[must_use]
    pub fn connection_strings(&self) -> Vec<EnvTemplate> {
        match &self.databases {
            None => [self.connection_string.clone()].into(),
            Some(databases) => databases.names.iter().map(|name| self.connection_string.of_database(name)).collect(),
        }
    }
}

/// `tenant` of an adapter. The bundler has judged the statements of tools by it; a tool with
/// [`crosses_tenants`](Tool::crosses_tenants) is exempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// The claim: `auth.claims.org`. A call that binds it has to have it.
    pub claim: Source,
    /// The statements that scripts may run, sorted by text.
    pub statements: Vec<TenantStatement>,
}

/// A statement of a script that keeps to the caller's tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantStatement {
    /// The text, as the script has it.
    pub text: String,
    /// The numbers of the parameters, from 1, that have to be the claim.
    pub claims: Vec<u32>,
}

/// A setting of an adapter's `session`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTemplate {
    /// The setting's name, as the database knows it: `app.tenant`.
    pub name: String,
    /// Its value: text, variables and parts of the principal.
    pub value: Vec<Piece>,
}

/// The name of the setting that is the role of a session.
pub const SESSION_ROLE: &str = "role";

/// The name of the setting that is the access token of the caller, for a connector that exchanges
/// it for one of its own. Its template is empty.
pub const SESSION_TOKEN: &str = "caller.token";

/// A script and everything it imports, linked into one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The entry's path below the app folder, for messages and stacks.
    pub path: String,
    /// One JavaScript expression that evaluates to a strict function `(host) => exports`, to be
    /// called with `this` undefined. `host` is the exports of the module `"millrace"`. It runs
    /// every module's body and returns the entry's exports, an object without prototype; where a
    /// module awaits at its top level, a promise of them: await what it returns.
    pub program: String,
    /// Leads from the program to the author's files. Bundles that are deployed have none.
    pub map: Option<ScriptMap>,
    /// It is loaded once though packages of it read the clock then, for themselves: the clock is 0
    /// there, as where a Worker starts.
    pub loads_without_clock: bool,
}

impl Script {
    /// The path of the script that others need: the build makes it, and it is evaluated before they
    /// are.
    pub const SHARED_PATH: &str = "intl";

    /// Whether others need it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.path == Self::SHARED_PATH
    }
}

/// `app/tools/**/config.yaml`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// The name in `tools/call`.
    pub name: String,
    /// The tool's folder below the tools folder, with slashes: `billing/get-invoice`.
    pub path: String,
    /// The whole entry of `tools/list`, as JSON text: name, title, description, `inputSchema`,
    /// annotations.
    pub descriptor: String,
    /// Whether it is in `tools/list`; `tools.expose: search` hides the app's own tools from there.
    /// It can be called all the same.
    pub listed: bool,
    /// `auth`, the tool's own or the root's.
    pub auth: Option<Auth>,
    /// `inputs`, in declared order.
    pub inputs: Vec<Input>,
    /// `json_schema`, as JSON text: stands instead of `inputs`.
    pub input_schema: Option<String>,
    /// `context`
    pub context: ContextSettings,
    /// `middleware`: the root's, then the folders' from the outside in, then the tool's own.
    pub middleware: Vec<Middleware>,
    /// `confirm`: what the user is asked before the tool does anything.
    pub confirm: Option<Template>,
    /// `idempotency`; only on tools that change something.
    pub idempotency: Option<Idempotency>,
    /// `output`, as JSON text: the schema that every result fits.
    pub output: Option<String>,
    /// `text: as_is` of `output`: where hidden characters stay in the result; see
    /// [`hidden`](crate::hidden).
    pub as_is: Vec<RedactedPath>,
    /// `returns`: the presenter of the result; its place in [`App::presenters`].
    pub returns: Option<u32>,
    /// `mappers.input`
    pub map_input: Option<ScriptRef>,
    /// What stage *execute* does.
    pub execute: Execute,
    /// `mappers.output`
    pub map_output: Option<ScriptRef>,
    /// `cache`; only on tools that do not write.
    pub cache: Option<Cache>,
    /// `sync`, and what its statement reads and writes. `None`: nothing cached depends on the tool,
    /// and its own results on nothing.
    pub sync: Option<ToolSync>,
    /// `errors`
    pub errors: Errors,
    /// `limits`
    pub limits: Limits,
    /// `on_too_many`; [`Cut`](OnTooMany::Cut) only on tools with one statement that only reads.
    pub on_too_many: OnTooMany,
    /// `tenant: { none: … }`: its statements are not kept to the caller's tenant.
    pub crosses_tenants: bool,
    /// Results are always a list of objects, as in Hyperterse: nothing is `[]`, an object is
    /// `[object]`, a scalar is `[{"value": scalar}]`. Only in imported apps.
    pub results_as_rows: bool,
}

impl Tool {
    /// A tool that does something and asks for nothing: anybody may call it, it has no inputs, and
    /// the default limits.
    #[must_use]
    pub fn new(name: &str, execute: Execute) -> Self {
        Self {
            name: name.into(),
            path: name.into(),
            descriptor: String::new(),
            listed: true,
            auth: None,
            inputs: Vec::new(),
            input_schema: None,
            context: ContextSettings::default(),
            middleware: Vec::new(),
            confirm: None,
            idempotency: None,
            output: None,
            as_is: Vec::new(),
            returns: None,
            map_input: None,
            execute,
            map_output: None,
            cache: None,
            sync: None,
            errors: Errors { style: ErrorStyle::Result, expose: false, on: Vec::new() },
            limits: Limits::DEFAULT,
            on_too_many: OnTooMany::Error,
            crosses_tenants: false,
            results_as_rows: false,
        }
    }

    /// Every script that a call of the tool can run, its authentication plugin apart.
    pub fn scripts(&self) -> impl Iterator<Item = &ScriptRef> {
        let handler = if let Execute::Script(script) = &self.execute { Some(script) } else { None };
        let before = self.context.factories().chain(self.middleware.iter().flat_map(Middleware::scripts));
        before.chain([&self.map_input, &self.map_output].into_iter().flatten()).chain(handler)
    }

    /// Whether clients get what the tool gives as the member `result` of an object: its presenter
    /// has one item or a list of them, as each call decides, and a schema could say so only by a
    /// choice at its top, which some clients refuse.
    #[must_use]
    pub fn wraps_result(&self) -> bool {
        self.returns.is_some() && !self.execute.gives_rows(self.map_output.is_some())
    }
}

/// What stage *execute* does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Execute {
    /// `use` and `statement`
    Statement {
        /// Index into [`App::adapters`].
        adapter: u32,
        /// The compiled statement.
        statement: Statement,
    },
    /// `use` and `transaction`
    Transaction {
        /// Index into [`App::adapters`].
        adapter: u32,
        /// The compiled statements.
        transaction: Transaction,
    },
    /// `handler`
    Script(ScriptRef),
    /// The gateway tool `search`.
    Search(SearchIndex),
    /// The gateway tool `execute`: the call becomes one of the tool that it names.
    Forward,
}

impl Execute {
    /// The place in [`App::adapters`] of the database that it asks; `None` where it asks none
    /// itself.
    #[must_use]
    pub const fn adapter(&self) -> Option<u32> {
        match self {
            Self::Statement { adapter, .. } | Self::Transaction { adapter, .. } => Some(*adapter),
            Self::Script(_) | Self::Search(_) | Self::Forward => None,
        }
    }

    /// Its statements, in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let (one, steps) = match self {
            Self::Statement { statement, .. } => (Some(statement), [].as_slice()),
            Self::Transaction { transaction, .. } => (None, transaction.steps.as_slice()),
            Self::Script(_) | Self::Search(_) | Self::Forward => (None, [].as_slice()),
        };
        one.into_iter().chain(steps.iter().map(|step| &step.statement))
    }

    /// Whether its result is a list of rows in every call, with an output mapper or without.
    #[must_use]
    pub fn gives_rows(&self, is_mapped: bool) -> bool {
        !is_mapped && !self.asks_api() && self.access().is_some_and(Access::reads)
    }

    /// Its request of HTTP, whose answer can be anything; `None` where it has another statement, or
    /// none.
    #[must_use]
    pub fn request(&self) -> Option<&Statement> {
        match self {
            Self::Statement { statement, .. } if statement.http_method().is_some() => Some(statement),
            _ => None,
        }
    }

    /// Whether it sends a [request of HTTP](Self::request).
    #[must_use]
    pub fn asks_api(&self) -> bool {
        self.request().is_some()
    }

    /// Whether its statements write; `None` where it has none.
    #[must_use]
    pub fn access(&self) -> Option<Access> {
        match self {
            Self::Statement { statement, .. } => Some(statement.access),
            Self::Transaction { transaction, .. } => Some(transaction.access()),
            Self::Script(_) | Self::Search(_) | Self::Forward => None,
        }
    }
}

/// One input of a tool, or one field or element of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The name; empty for `items`.
    pub name: String,
    /// `type`
    pub kind: InputKind,
    /// May be left out. An input with a default may always be left out.
    pub optional: bool,
    /// `null` is a value of it.
    pub nullable: bool,
    /// The value that stands in where it is left out.
    pub default: Option<Literal>,
    /// The allowed values; empty: all.
    pub allowed: Vec<Literal>,
    /// Numbers: the least value. Strings: the least length in characters. Arrays: the fewest
    /// elements.
    pub min: Option<f64>,
    /// Likewise, the greatest.
    pub max: Option<f64>,
    /// A regular expression that a string must contain a match of.
    pub pattern: Option<Pattern>,
    /// A format of strings that is checked: `email`, `uri`, `hostname`, `ipv4`, `ipv6`, …
    pub format: Option<String>,
    /// The element of an array.
    pub items: Option<alloc::boxed::Box<Input>>,
    /// The fields of an object, in declared order; empty: any fields.
    pub fields: Vec<Input>,
    /// `header`: also sent as `Mcp-Param-<this>` by modern clients.
    pub header: Option<String>,
}

/// `cache`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// How long a result is good, in seconds.
    pub ttl_s: u32,
    /// Who shares it.
    pub scope: CacheScope,
    /// Of a tool with a handler: what calls with the same result have in common. `None`: all of
    /// their inputs.
    pub key: Option<Template>,
}

/// `cache.scope`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheScope {
    /// Every caller.
    Public,
    /// Callers with the same principal.
    Principal,
}

/// `idempotency`: a call that is sent again happens once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idempotency {
    /// What calls that are the same have in common.
    pub key: Template,
    /// How long a call is remembered, in seconds.
    pub ttl_s: u32,
}

/// `errors`, tool and root merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// How a fault is rendered.
    pub style: ErrorStyle,
    /// Send the upstream's own words to the caller.
    pub expose: bool,
    /// `on`, in order; the first that holds wins.
    pub on: Vec<ErrorRule>,
}

/// `errors.style`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorStyle {
    /// A tool result with `isError`.
    Result,
    /// A JSON-RPC error.
    Protocol,
}

/// One entry of `errors.on`: a result that counts as a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRule {
    /// `when`, over `results`, `inputs`, `auth`; or over `answer`, the answer to a request of HTTP
    /// that failed.
    pub when: Expression,
    /// `code`
    pub code: String,
    /// `message`
    pub message: Template,
    /// `suggestion`
    pub suggestion: Option<String>,
    /// `actions`: names of tools that help.
    pub actions: Vec<String>,
}

/// `limits`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// How long one call may take, in milliseconds.
    pub timeout_ms: u32,
    /// The longest result, in bytes.
    pub output_bytes: u32,
    /// `output.on_exceed`
    pub on_exceed: OnExceed,
    /// `rate`
    pub rate: Option<RateLimit>,
    /// `concurrency`
    pub concurrency: Option<Concurrency>,
    /// `script`
    pub script: ScriptLimits,
}

impl Limits {
    /// Those of a tool that says nothing.
    pub const DEFAULT: Self = Self {
        timeout_ms: 30_000,
        output_bytes: 1 << 20,
        on_exceed: OnExceed::Error,
        rate: None,
        concurrency: None,
        script: ScriptLimits { loops: 1_000_000, memory_bytes: 64 << 20, output_bytes: 1 << 20 },
    };
}

/// `limits.output.on_exceed`: what becomes of a result that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnExceed {
    /// The call fails.
    #[default]
    Error,
    /// Blocks that only people see, and then rows, are left out until it fits.
    Shrink,
    /// The same, where the author sets no limit: then it is one of `tools/call` alone, a text loses
    /// its end, and what says that something was changed is sent although it cannot shrink.
    Fit,
}

/// The longest text that every large client shows a model, in bytes: about 25,000 tokens of JSON.
pub const SHOWN_BYTES: u32 = 50_000;

/// `on_too_many`: what becomes of a result with more rows than `max_rows` of its adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnTooMany {
    /// The call fails.
    #[default]
    Error,
    /// The first `max_rows` rows are the result, which says that there are more.
    Cut,
}

/// `limits.batch`: what one batch of JSON-RPC messages may use up. Only MCP 2025-03-26 has batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchLimits {
    /// The most messages.
    pub messages: u32,
    /// How long all of it may take, in milliseconds.
    pub timeout_ms: u32,
    /// The longest answer to all of it, in bytes.
    pub output_bytes: u32,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { messages: 100, timeout_ms: 30_000, output_bytes: 8 << 20 }
    }
}

/// `limits.script`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    /// The work of each script, as rounds of a loop that does nothing else.
    pub loops: u64,
    /// The most bytes of memory that one call may have at a time.
    pub memory_bytes: u32,
    /// The longest value that a script may return, as JSON in bytes.
    pub output_bytes: u32,
}
