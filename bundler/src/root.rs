//! `millrace.yaml`, or `.hyperterse`: the settings of the whole app.

use std::collections::BTreeSet;

use millrace_core::{
    app::{EnvPart, ErrorStyle, Server},
    url::UrlParts,
};

use crate::{
    Severity,
    app_settings::{Expose, RootSettings},
    auth::AUTH,
    authorization,
    budget::BUDGET,
    clients::{self, Selection},
    compiler::{Compiler, Located},
    context::{CONTEXT, ContextBlock},
    field::{CheckMode, Field, Named, Record, Shape, check, size_bytes},
    identity,
    middleware::{self, MIDDLEWARE},
    names::{is_app_name, is_variable},
    outline::Layout,
    prompt::INLINE_PROMPT,
    resource::INLINE_RESOURCE,
    script::intl,
    search::MAX_LIMIT,
    setting::{LimitSettings, ROOT_LIMITS, batch},
    source::Source,
    statement::Substitution,
    sync::{self, ROOT_SYNC},
    tool::described::{self, CHECKS},
    tree::Item,
    yaml::{Data, Document, Node},
};

/// `millrace.yaml`
pub(crate) static ROOT: Record = Record {
    name: "root",
    noun: "the root file",
    doc: "The settings of the whole app. An app written for Hyperterse has them in `.hyperterse`.",
    fields: &[
        Field::new("name", Shape::Text, "The app's name, which clients see: small letters, digits, `_`, `-`.").required(),
        Field::new(
            "version",
            Shape::Text,
            "The app's version, which clients see. Where it has no build part (`1.2.0+7`), they see a digest of the lists as one: a client that keeps a list by the version gets the new one.",
        ).default("1.0.0"),
        Field::new("instructions", Shape::Text, "What a model should know about the app as a whole."),
        Field::new("root", Shape::Text, "The folder that the folders below are in.").default("app"),
        Field::new("tools", Shape::Record(&TOOLS), "Settings of all tools."),
        Field::new("adapters", Shape::Record(&ADAPTERS), "Where the adapters are."),
        Field::new("prompts", PROMPTS_SHAPE, "Where the prompts are, or the prompts themselves.").default("{ directory: prompts }"),
        Field::new("resources", RESOURCES_SHAPE, "Where the resources are, or the resources themselves.")
            .default("{ directory: resources }"),
        Field::new("resource_templates", Shape::List(&Shape::Record(&INLINE_RESOURCE)), "Resource templates.").imported(),
        Field::new("presenters", Shape::Record(&PRESENTERS), "Where the presenters are."),
        Field::new("skills", Shape::Record(&SKILLS), "Where the skills are."),
        Field::new("server", Shape::Record(&SERVER), "The HTTP endpoint, and what clients see of the server itself."),
        Field::new(
            "limits",
            Shape::Record(&ROOT_LIMITS),
            "The limits of a request, and limits of every tool. `_folder.yaml` and the tools have more.",
        ),
        Field::new(
            "clients",
            Shape::List(&Shape::Word(clients::names())),
            "The clients that the app is for. `millrace check` warns of what one of them does not take; `[]` turns these warnings off.",
        )
        .default("all of them"),
        Field::new("checks", Shape::Record(&CHECKS), "The rules for descriptions that `millrace check` does not apply to any tool, each with the reason."),
        Field::new("budget", Shape::Record(&BUDGET), "How many bytes a model reads at most."),
        Field::new("errors", Shape::Record(&ERRORS), "How failures are reported."),
        Field::new(
            "substitution",
            SUBSTITUTION,
            "`bind`: values are bound to statements. `textual`: they become part of the text, which invites injection.",
        )
        .default("bind"),
        Field::new("auth", Shape::Record(&AUTH), "Who may call the tools that have no `auth` of their own."),
        Field::new("context", Shape::Record(&CONTEXT), "What every call knows."),
        Field::new("middleware", MIDDLEWARE, "What runs before every tool.").names(Named::Script),
        Field::new("sync", Shape::Record(&ROOT_SYNC), "Which results calls make stale, and what clients may keep."),
        Field::new("fetch", Shape::Record(&FETCH), "Which hosts scripts may reach."),
        Field::new("locales", Shape::List(&Shape::Text), "The locales that `Intl` and methods such as `toLocaleString` have in scripts; the first is that of a call that names none. Without the key they are `en` and those that scripts write out. An app whose scripts use none of it has no data of locales.").filled(),
        Field::new("env", Shape::List(&Shape::Text), "The variables that scripts see as `ctx.env`. A script that reads one that is not set gets an error; `NAME?` is `undefined` then.").filled().default("[]"),
        Field::new(
            "secrets",
            Shape::List(&Shape::Text),
            "The secrets that scripts see in `ctx.env`, beside the variables, likewise. In adapters and in `auth` they are written `{{ secret.NAME }}`.",
        ).filled()
        .default("[]"),
        Field::new("telemetry", Shape::Record(&TELEMETRY), "Traces, metrics and logs."),
        Field::new("agents", Shape::Any, "Agents, which Millrace does not have.").imported(),
        Field::new("build", Shape::Any, "Settings of the other build.").imported(),
    ],
};

static TOOLS: Record = Record {
    name: "tools",
    noun: "`tools`",
    doc: "Settings of all tools.",
    fields: &[
        Field::new("directory", Shape::Text, "The folder of the tools, below `root`.").default("tools"),
        Field::new("cache", Shape::Record(&ROOT_CACHE), "The cache of tools that only read."),
        Field::new(
            "expose",
            Shape::Word(&["direct", "search", "both"]),
            "`direct`: every tool is in `tools/list`. `search`: only two tools are, `search` and `execute`, which find and call the others. `both`: all of them.",
        )
        .default("direct"),
        Field::new("search", Shape::Record(&SEARCH), "Settings of the tool `search`."),
        authorization::VISIBLE,
    ],
};

static SEARCH: Record = Record {
    name: "tools_search",
    noun: "`tools.search`",
    doc: "Settings of the tool `search`, for `expose: search` and `both`.",
    fields: &[Field::new("limit", Shape::Int(1, MAX_LIMIT), "How many tools it returns if the caller does not say.").default("10")],
};

static ROOT_CACHE: Record = Record {
    name: "root_cache",
    noun: "`cache`",
    doc: "The cache of every tool whose statement only reads. A tool's own block overrides it.",
    fields: &[
        Field::new("enabled", Shape::Bool, "Whether results are cached.").default("false"),
        Field::new("ttl", Shape::Int(1, 31_536_000), "How long a result is cached, in seconds.").default("120"),
    ],
};

static ADAPTERS: Record = Record {
    name: "adapters_folder",
    noun: "`adapters`",
    doc: "Where the adapters are.",
    fields: &[Field::new("directory", Shape::Text, "The folder of the adapters, below `root`.").default("adapters")],
};

static PROMPTS: Record = Record {
    name: "prompts_folder",
    noun: "`prompts`",
    doc: "Where the prompts are.",
    fields: &[Field::new("directory", Shape::Text, "The folder of the prompts, below `root`.").default("prompts")],
};

static RESOURCES: Record = Record {
    name: "resources_folder",
    noun: "`resources`",
    doc: "Where the resources are.",
    fields: &[Field::new("directory", Shape::Text, "The folder of the resources, below `root`.").default("resources")],
};

static SKILLS: Record = Record {
    name: "skills_folder",
    noun: "`skills`",
    doc: "Where the skills are.",
    fields: &[Field::new("directory", Shape::Text, "The folder of the skills, below `root`.").default("skills")],
};

static PRESENTERS: Record = Record {
    name: "presenters_folder",
    noun: "`presenters`",
    doc: "Where the presenters are.",
    fields: &[Field::new("directory", Shape::Text, "The folder of the presenters, below `root`.").default("presenters")],
};

static SERVER: Record = Record {
    name: "server",
    noun: "`server`",
    doc: "The HTTP endpoint, and what clients see of the server itself.",
    fields: &[
        Field::new(
            "title",
            Shape::Text,
            "The name that people know the server by. Clients get it from 2025-06-18 on; without it, they show `name`.",
        ),
        Field::new("website", Shape::Text, "Its website: a URL. Clients get it from 2025-11-25 on."),
        Field::new("icons", Shape::List(&Shape::Record(&identity::ICON)), "Its icons. Clients get them from 2025-11-25 on."),
        Field::new(
            "port",
            Shape::OneOf(&[Shape::Int(0, 65_535), Shape::Text]),
            "The port of the local host, or a variable: `\"{{ env.HTTP_PORT }}\"`. The option `--port` and the variable `PORT` override it.",
        )
        .filled()
        .default("8080"),
        Field::new("path", Shape::Text, "The path of the MCP endpoint.").default("/mcp"),
        Field::new("cors", Shape::Record(&CORS), "Which web pages may call."),
        Field::new(
            "hosts",
            Shape::List(&Shape::Text),
            "The public names of the server, where a proxy passes them on: `mcp.example.com`. `Host` must be one of them or the loopback.",
        )
        .default("[]"),
        authorization::RESOURCE,
        authorization::AUTHORIZATION_SERVERS,
        authorization::SCOPES,
        authorization::SIGN_IN,
        Field::new("body_limit", Shape::Size, "The maximum length of a request.").default("1mb"),
        Field::new("log_level", Shape::Any, "How much is logged.").imported(),
    ],
};

static CORS: Record = Record {
    name: "cors",
    noun: "`cors`",
    doc: "Which web pages may call.",
    fields: &[Field::new("origins", Shape::List(&Shape::Text), "Their origins: `https://chat.example.com`.").default("[]")],
};

static ERRORS: Record = Record {
    name: "errors",
    noun: "`errors`",
    doc: "How failures are reported.",
    fields: &[
        Field::new("style", STYLE, "`result`: as a result that a model can act on. `protocol`: as a JSON-RPC error.").default("result"),
        Field::new("expose", EXPOSE, "`safe`: the caller does not see the database's own words. `full`: it does.").default("safe"),
    ],
};

static TELEMETRY: Record = Record {
    name: "telemetry",
    noun: "`telemetry`",
    doc: "Traces, metrics and logs, for a collector of OpenTelemetry or for Prometheus. The deployment's variables `OTEL_…` say where they go; without them nothing \
          is collected.",
    fields: &[Field::new("enabled", Shape::Bool, "Whether traces, metrics and logs are collected.").default("true")],
};

static FETCH: Record = Record {
    name: "fetch",
    noun: "`fetch`",
    doc: "Which hosts scripts may reach.",
    fields: &[Field::new("allow", Shape::List(&Shape::Text), "Hosts: `api.example.com`, `*.example.com`, `localhost:9000`.").default("[]")],
};

const PROMPTS_SHAPE: Shape = Shape::OneOf(&[Shape::Record(&PROMPTS), Shape::List(&Shape::Record(&INLINE_PROMPT))]);
const RESOURCES_SHAPE: Shape = Shape::OneOf(&[Shape::Record(&RESOURCES), Shape::List(&Shape::Record(&INLINE_RESOURCE))]);

/// `substitution`
pub(crate) const SUBSTITUTION: Shape = Shape::Word(&["bind", "textual"]);
/// `errors.style`
pub(crate) const STYLE: Shape = Shape::Word(&["result", "protocol"]);
/// `errors.expose`
pub(crate) const EXPOSE: Shape = Shape::Word(&["safe", "full"]);

/// Reads the root file, and sets whether the app is one of Hyperterse. `None` where the folder is
/// not an app.
pub(crate) fn read(compiler: &mut Compiler<'_>) -> Option<RootSettings> {
    let path = find(compiler)?;
    compiler.imported = path == ".hyperterse";
    let document = match compiler.unchecked(&path) {
        Some(mut document) => {
            // `.hyperterse` always ignored what it did not know.
            let severity = if compiler.imported { Severity::Warning } else { Severity::Error };
            check(&mut document, &ROOT, CheckMode { imported: compiler.imported, severity }, &mut compiler.findings);
            compiler.outline(&document, &ROOT);
            document
        }
        // The file's mistake has been noted; the rest of the app is still looked at.
        None => Document::parse(Source::new(path, ""), &mut compiler.findings)?,
    };
    let settings = settings(compiler, document);
    if let Some(outlines) = &mut compiler.outlines {
        outlines.layout = layout(&settings);
    }
    Some(settings)
}

/// Where the parts of the app are, and what its root file lists.
fn layout(root: &RootSettings) -> Layout {
    Layout {
        root: root.document.source.path.clone(),
        tools: root.tools_folder.clone(),
        adapters: root.adapters_folder.clone(),
        prompts: root.prompts_folder.clone(),
        resources: root.resources_folder.clone(),
        presenters: root.presenters_folder.clone(),
        skills: root.skills_folder.clone(),
        env: root.env.clone(),
        secrets: root.secrets.clone(),
    }
}

fn find(compiler: &mut Compiler<'_>) -> Option<String> {
    let names: Vec<String> = compiler.tree.list("").into_iter().filter(|item| !item.is_folder).map(|item| item.name).collect();
    let found: Vec<&str> =
        ["millrace.yaml", "millrace.yml", ".hyperterse"].into_iter().filter(|name| names.iter().any(|other| other == name)).collect();
    if let [first, rest @ ..] = found.as_slice() {
        for other in rest {
            let message = format!("`{other}` is ignored, because there is `{first}`");
            compiler.findings.warning(&Source::new(*other, ""), 0..0, message, "Remove one of them.");
        }
        return Some((*first).to_owned());
    }
    let help = "Create an app with `millrace new NAME`, or name the folder of one.";
    compiler.findings.error(&Source::new("millrace.yaml", ""), 0..0, "this folder is not a Millrace app: it has no `millrace.yaml`", help);
    None
}

fn settings(compiler: &mut Compiler<'_>, document: Document) -> RootSettings {
    let root = document.root.clone();
    let name = root.text_at("name").unwrap_or_default().to_owned();
    if let Some(node) = root.at("name")
        && !is_app_name(&name)
    {
        let help = "It begins with a small letter; small letters, digits, `_` and `-` follow.";
        compiler.error(&document, node.range.clone(), format!("`{name}` is not a valid name for an app"), help);
    }
    described::reasons(compiler, &document);
    compiler.clients = Selection::of(&compiler.options.clients, &root);
    let empty = Node::nothing();
    let tools = root.at("tools").unwrap_or(&empty);
    let cache = tools.at("cache").unwrap_or(&empty);
    let errors = root.at("errors").unwrap_or(&empty);
    // Policies of `auth` take it as their audience.
    compiler.resource = authorization::resource_url(compiler, &document);
    let base = folder(compiler, &document, root.at("root"), "", "app");
    let below = |compiler: &mut Compiler<'_>, key: &str| {
        folder(compiler, &document, root.at(key).and_then(|node| node.at("directory")), &base, key)
    };
    let tools_folder = below(compiler, "tools");
    let adapters_folder = below(compiler, "adapters");
    let prompts_folder = below(compiler, "prompts");
    let resources_folder = below(compiler, "resources");
    let presenters_folder = below(compiler, "presenters");
    let skills_folder = below(compiler, "skills");
    agents_folder(compiler, &document, &base);
    compiler.links.locales = root.at("locales").map(|list| locales(compiler, &document, list));
    compiler.links.env = ["env", "secrets"].iter().flat_map(|list| root.texts_at(list)).map(|name| plain(&name).to_owned()).collect();
    RootSettings {
        name,
        version: root.text_at("version").unwrap_or("1.0.0").to_owned(),
        instructions: root.text_at("instructions").map(String::from),
        identity: identity::read(compiler, &document, root.at("server").unwrap_or(&empty)),
        server: server(compiler, &document, root.at("server").unwrap_or(&empty)),
        batch: batch(compiler, &document, root.at("limits").and_then(|limits| limits.at("batch"))),
        limits: LimitSettings::of_root(&document, root.at("limits")),
        required: required(&root),
        env: names(compiler, &document, root.at("env"), "variable"),
        secrets: secrets(compiler, &document, &root),
        fetch_allow: fetch_allow(compiler, &document, root.at("fetch").and_then(|fetch| fetch.at("allow")).unwrap_or(&empty)),
        telemetry: root.at("telemetry").and_then(|telemetry| telemetry.at("enabled")).and_then(Node::bool).unwrap_or(true),
        tools_folder,
        adapters_folder,
        prompts_folder,
        resources_folder,
        presenters_folder,
        skills_folder,
        auth: root.at("auth").map(|node| Located::at(compiler.auth(&document, node), &document, node)),
        context: ContextBlock::of(&document),
        middleware: middleware::block(&document),
        sync: sync::policies(compiler, &document),
        cache_enabled: placed(&document, cache.at("enabled"), Node::bool, false),
        cache_ttl_s: placed(&document, cache.at("ttl"), seconds, 120),
        error_style: error_style(&document, errors, Located::default(ErrorStyle::Result)),
        expose: expose(&document, errors, Located::default(false)),
        substitution: substitution(&document, &root, Located::default(Substitution::Bind)),
        // Clients of Hyperterse call its `search` and `execute`.
        expose_tools: placed(&document, tools.at("expose"), expose_tools, if compiler.imported { Expose::Both } else { Expose::Direct }),
        search_limit: tools.at("search").and_then(|search| search.at("limit")).and_then(seconds).unwrap_or(10),
        document,
    }
}

/// The value of a node with its place, or the default.
fn placed<T>(document: &Document, node: Option<&Node>, read: impl Fn(&Node) -> Option<T>, default: T) -> Located<T> {
    match node.and_then(|node| Some((read(node)?, node))) {
        Some((value, node)) => Located::at(value, document, node),
        None => Located::default(default),
    }
}

/// A number of seconds, or of anything else.
pub(crate) fn seconds(node: &Node) -> Option<u32> {
    match node.data {
        Data::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

fn expose_tools(node: &Node) -> Option<Expose> {
    match node.text()? {
        "search" => Some(Expose::Search),
        "both" => Some(Expose::Both),
        _ => None,
    }
}

/// `errors.style`, or what is inherited.
pub(crate) fn error_style(document: &Document, errors: &Node, inherited: Located<ErrorStyle>) -> Located<ErrorStyle> {
    match errors.at("style").map(|node| (node, node.text())) {
        Some((node, Some("protocol"))) => Located::at(ErrorStyle::Protocol, document, node),
        Some((node, Some("result"))) => Located::at(ErrorStyle::Result, document, node),
        _ => inherited,
    }
}

/// `errors.expose`, or what is inherited.
pub(crate) fn expose(document: &Document, errors: &Node, inherited: Located<bool>) -> Located<bool> {
    errors.at("expose").map_or(inherited, |node| Located::at(node.text() == Some("full"), document, node))
}

/// `substitution`, or what is inherited.
pub(crate) fn substitution(document: &Document, node: &Node, inherited: Located<Substitution>) -> Located<Substitution> {
    match node.at("substitution").map(|node| (node, node.text())) {
        Some((node, Some("textual"))) => Located::at(Substitution::Textual, document, node),
        Some((node, Some("bind"))) => Located::at(Substitution::Bind, document, node),
        _ => inherited,
    }
}

fn folder(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, base: &str, default: &str) -> String {
    let name = node.and_then(Node::text).unwrap_or(default);
    let Some(path) = compiler.tree.resolve(base, name) else {
        let range = node.map_or(0..0, |node| node.range.clone());
        let help = "Use a folder inside of it.";
        compiler.error(document, range, format!("the folder `{name}` is outside of the app's folder"), help);
        return if base.is_empty() { default.to_owned() } else { format!("{base}/{default}") };
    };
    if let Some(node) = node
        && !compiler.tree.has_folder(&path)
    {
        compiler.error(document, node.range.clone(), format!("the folder `{path}` does not exist"), "Create it, or correct the name.");
    }
    path
}

/// Warns of agents in an app of Hyperterse.
fn agents_folder(compiler: &mut Compiler<'_>, document: &Document, base: &str) {
    let yaml = |item: &Item| crate::tree::is_yaml(&item.name);
    let below = |name: &str| if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") };
    if compiler.imported {
        let agents = root_agents(document).or_else(|| {
            let first = compiler.tree.walk(&below("agents")).into_iter().find(yaml)?;
            Some((first.path, 0..0))
        });
        if let Some((path, range)) = agents {
            let source = if path == document.source.path { None } else { Some(Source::new(path, "")) };
            let message = "Millrace has no agents; the app's settings for them are ignored";
            let help = "Let an agent of your choice call the app's tools over MCP.";
            compiler.findings.warning(source.as_ref().unwrap_or(&document.source), range, message, help);
        }
    }
}

fn root_agents(document: &Document) -> Option<(String, std::ops::Range<usize>)> {
    document.root.entry("agents").map(|entry| (document.source.path.clone(), entry.key_range.clone()))
}

/// `server.port`: a number, or the variable that has it.
fn port(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> (u16, Option<String>) {
    let number = match compiler.env_template(document, node).0.as_slice() {
        [EnvPart::Env(name)] => return (8080, Some(name.clone())),
        [EnvPart::Text(text)] => text.trim().parse().ok(),
        _ => None,
    };
    if number.is_none() {
        let help = "It takes a number from 0 to 65535, or a variable: `\"{{ env.NAME }}\"`.";
        compiler.error(document, node.range.clone(), "`server.port` is not a port", help);
    }
    (number.unwrap_or(8080), None)
}

fn server(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Server {
    let (port, port_variable) = node.at("port").map_or((8080, None), |node| port(compiler, document, node));
    let path = node.text_at("path").unwrap_or("/mcp");
    let odd = |c: char| c.is_whitespace() || c.is_control() || "?#{}\"<>\\".contains(c) || !c.is_ascii();
    if let Some(node) = node.at("path")
        && (!path.starts_with('/') || path.contains(odd))
    {
        compiler.error(document, node.range.clone(), format!("`{path}` is not a path for the endpoint"), "It begins with `/`: `/mcp`.");
    }
    if let Some(node) = node.at("path")
        && path.starts_with(authorization::WELL_KNOWN)
    {
        let message = format!("`{path}` tells clients where to sign in");
        compiler.error(document, node.range.clone(), message, "Use another path, such as `/mcp`.");
    }
    if let Some(node) = node.at("path")
        && ["/heartbeat", "/livez", "/readyz"].contains(&path)
    {
        compiler.error(
            document,
            node.range.clone(),
            format!("`{path}` reports whether the server is healthy"),
            "Use another path, such as `/mcp`.",
        );
    }
    let cors = node.at("cors").and_then(|cors| cors.at("origins")).map(Node::items).unwrap_or_default();
    let mut cors_origins = Vec::new();
    for origin in cors {
        let text = origin.text().unwrap_or_default();
        if !is_origin(text) {
            let help = "An origin is a scheme, a host and perhaps a port: `https://chat.example.com`.";
            compiler.error(document, origin.range.clone(), format!("`{text}` is not an origin"), help);
        }
        cors_origins.push(text.to_ascii_lowercase());
    }
    let mut hosts = Vec::new();
    for host in node.at("hosts").map(Node::items).unwrap_or_default() {
        let text = host.text().unwrap_or_default();
        if !is_origin(&format!("https://{text}")) {
            let help = "A host is a name and perhaps a port: `mcp.example.com`.";
            compiler.error(document, host.range.clone(), format!("`{text}` is not a host"), help);
        }
        hosts.push(text.to_ascii_lowercase());
    }
    let body_limit = node.at("body_limit").and_then(|limit| size_bytes(&limit.written(&document.source)?)).unwrap_or(1 << 20);
    if let (0..1024, Some(node)) = (body_limit, node.at("body_limit")) {
        compiler.error(document, node.range.clone(), "`server.body_limit` is too small for any request", "It takes at least `1kb`.");
    }
    Server { port, port_variable, path: path.to_owned(), cors_origins, hosts, body_limit }
}

/// `locales`
fn locales(compiler: &mut Compiler<'_>, document: &Document, list: &Node) -> Vec<String> {
    for node in list.items() {
        let name = node.text().unwrap_or_default();
        if intl::covering(name).is_none() {
            let all = intl::names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            compiler.error(
                document,
                node.range.clone(),
                format!("scripts do not have the locale `{name}`"),
                format!("They can have {all}."),
            );
        }
    }
    list.items().iter().filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// `secrets`; none of them may be a variable of `env`, too.
fn secrets(compiler: &mut Compiler<'_>, document: &Document, root: &Node) -> Vec<String> {
    let variables = root.texts_at("env");
    for node in root.at("secrets").map(Node::items).unwrap_or_default() {
        let name = plain(node.text().unwrap_or_default());
        if variables.iter().any(|variable| plain(variable) == name) {
            let message = format!("`{name}` is listed under `env`, too: scripts see both in `ctx.env`");
            compiler.error(document, node.range.clone(), message, "List it in one of the two.");
        }
    }
    names(compiler, document, root.at("secrets"), "secret")
}

/// A listed name without the `?` of one that may have no value.
fn plain(listed: &str) -> &str {
    listed.strip_suffix('?').unwrap_or(listed)
}

/// The listed names that have to have a value.
fn required(root: &Node) -> Vec<String> {
    let listed = root.texts_at("env").into_iter().chain(root.texts_at("secrets"));
    let required: BTreeSet<String> = listed.filter(|name| !name.ends_with('?')).collect();
    required.into_iter().collect()
}

/// A list of names of variables, or of secrets.
fn names(compiler: &mut Compiler<'_>, document: &Document, list: Option<&Node>, noun: &str) -> Vec<String> {
    let mut names = Vec::new();
    for node in list.map(Node::items).unwrap_or_default() {
        let name = plain(node.text().unwrap_or_default());
        if !is_variable(name) {
            let help = "List the names only, without `{{ }}` and `$`; `NAME?` is one that may have no value.";
            compiler.error(document, node.range.clone(), format!("`{name}` is not a valid name for a {noun}"), help);
        } else if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn fetch_allow(compiler: &mut Compiler<'_>, document: &Document, list: &Node) -> Vec<String> {
    let mut hosts = Vec::new();
    for node in list.items() {
        let text = node.text().unwrap_or_default();
        if is_host(text.strip_prefix("*.").unwrap_or(text)) {
            hosts.push(text.to_ascii_lowercase());
        } else {
            let help = "Write a host without scheme and path: `api.example.com`, `*.example.com` or `localhost:9000`.";
            compiler.error(document, node.range.clone(), format!("`{text}` is not a host name"), help);
        }
    }
    hosts
}

fn is_origin(text: &str) -> bool {
    UrlParts::of(text).is_some_and(|url| url.has_scheme() && is_host(url.after_scheme))
}

/// Whether it is `host` or `host:port`; an IPv6 address stands between brackets.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            ("v6", if rest.is_empty() { None } else { Some(rest.strip_prefix(':').unwrap_or("none")) })
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let label =
        |label: &str| !label.is_empty() && label.len() <= 63 && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    host.split('.').all(label) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_hosts_and_origins() {
        for good in ["api.example.com", "localhost:9000", "[::1]:80", "10.0.0.1", "xn--bcher-kva.example"] {
            assert!(is_host(good), "{good}");
        }
        for bad in ["", "https://x", "x/y", "x:y", "*.x", "a..b", "[x]", "[::1]x", "é.example", "a b"] {
            assert!(!is_host(bad), "{bad}");
        }
        assert!(is_origin("https://chat.example.com") && is_origin("http://localhost:3000"));
        assert!(!is_origin("*") && !is_origin("https://x/") && !is_origin("x.example"));
    }
}
