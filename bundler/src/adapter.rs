//! `app/adapters/*.yaml`: the connections.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use millrace_catalogue::{BindingKind, COMMON_OPTIONS, CONNECTION_STRINGS, CONNECTORS, Connector, Language, NAMES, OPTIONS, find};
use millrace_core::app::{Adapter, EnvPart, EnvTemplate, Script, SessionTemplate, Tenant};

use crate::{
    AdapterTenant, Seed, Severity,
    compiler::Compiler,
    field::{Field, Named, Record, Shape, duration_ms},
    names::{all_of, is_name, meant, nearest, one_of},
    scope::IN_CONNECTION,
    script::{AppPart, ScriptReference},
    source::Source,
    statement::TenantRule,
    tree::{Item, MAX_EMBEDDED, is_yaml, parent, stem},
    yaml::{Data, Document, Entry, Node},
};

mod aws_iam;
mod commands;
mod databases;
mod http;
mod script_statements;
mod session;
mod tenant;
mod worker;

/// The option that names commands.
const ALLOW: &str = "allow";

/// `app/adapters/*.yaml`
pub(crate) static ADAPTER: Record = Record {
    name: "adapter",
    noun: "an adapter",
    doc: "One connection. `{{ env.X }}` works in every text of the file.",
    fields: &[
        Field::new("name", Shape::Text, "The name that tools `use`; without it, the file's name."),
        Field::new("connector", Shape::Text, NAMES).names(Named::Connector).required(),
        Field::new("connection_string", Shape::Text, CONNECTION_STRINGS).sees(IN_CONNECTION).required(),
        Field::new("options", Shape::Map(&OPTION), OPTIONS).sees(IN_CONNECTION).keys(Named::ConnectorOption),
        Field::new(
            "session",
            Shape::Record(&session::SESSION),
            "What is set in the database for the time of one call, from the caller's principal, so that row-level security decides. For `postgres` and `neon`.",
        ),
        Field::new(
            "tenant",
            Shape::Record(&tenant::TENANT),
            "Which rows belong to a tenant, and which claim of the caller is the tenant: a statement that could cross tenants does not build.",
        ),
        Field::new(
            "databases",
            Shape::List(&Shape::Scalar),
            "The values that `{{ auth.claims.X }}`, or another part of the principal, may have in `connection_string` and `options`: a database for each. A caller with another value is refused.",
        ),
        Field::new(
            "fallback",
            Shape::Record(&FALLBACK),
            "What replaces the connector on a host that does not have it, such as `d1` for `sqlite` in a Worker. It speaks the same SQL.",
        ),
    ],
};

/// The value of an option; few take a list.
static OPTION: Shape = Shape::OneOf(&[Shape::Scalar, Shape::List(&Shape::Text)]);

/// `fallback` of an adapter.
static FALLBACK: Record = Record {
    name: "fallback",
    noun: "`fallback`",
    doc: "What replaces the adapter's connector on a host that does not have it.",
    fields: &[
        Field::new("connector", Shape::Text, "What it connects to: `d1`.").names(Named::Connector).required(),
        Field::new("connection_string", Shape::Text, "Where to connect: `d1:DB` is the binding `DB` of a Worker.").filled().required(),
        Field::new("options", Shape::Map(&OPTION), "As in an adapter.").sees(IN_CONNECTION).keys(Named::ConnectorOption),
    ],
};

/// The adapters of the app.
#[derive(Debug, Default)]
pub(crate) struct Adapters {
    /// Those that could be read, sorted by name.
    pub(crate) list: Vec<Adapter>,
    known: BTreeMap<String, DeclaredAdapter>,
    used: BTreeSet<String>,
    tenants: BTreeMap<String, TenantRule>,
}

#[derive(Debug)]
struct DeclaredAdapter {
    source: Arc<Source>,
    range: Range<usize>,
    connector: Option<String>,
}

/// An adapter that a tool uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedAdapter {
    /// Index into [`Adapters::list`].
    pub(crate) index: u32,
    /// The language of its commands; `None` where its file is wrong, which has been said.
    pub(crate) language: Option<Language>,
    /// `options.read_only`
    pub(crate) read_only: bool,
    /// How many values its connector takes in one statement, where that is less than the language's
    /// databases take.
    pub(crate) max_values: Option<u32>,
}

/// Reads every adapter below a folder.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, folder: &str) -> Adapters {
    let mut adapters = Adapters::default();
    for file in compiler.tree.walk(folder).into_iter().filter(|file| is_yaml(&file.name)) {
        read(compiler, &file, &mut adapters);
    }
    adapters.list.sort_by(|a, b| a.name.cmp(&b.name));
    adapters
}

fn read(compiler: &mut Compiler<'_>, file: &Item, adapters: &mut Adapters) {
    let Some(document) = compiler.document(&file.path, &ADAPTER) else {
        // Tools that use it are right to do so.
        let source = Arc::new(Source::new(file.path.as_str(), ""));
        adapters.known.entry(stem(&file.name).to_owned()).or_insert(DeclaredAdapter { source, range: 0..0, connector: None });
        return;
    };
    let root = &document.root;
    let name_node = root.at("name");
    let name = name_node.and_then(Node::text).unwrap_or_else(|| stem(&file.name)).to_owned();
    let range = name_node.or_else(|| root.at("connector")).map_or(0..0, |node| node.range.clone());
    if !is_name(&name) {
        let help = "A name begins with a letter; letters, digits, `_` and `-` follow.";
        compiler.error(&document, range.clone(), format!("`{name}` is not a valid name for an adapter"), help);
    }
    // A target without files has a database of its own, which somebody fills with the same seed.
    let seed = root.at("options").and_then(|options| options.at("seed")).and_then(Node::text);
    if let Some(file) = seed.and_then(|seed| compiler.tree.resolve(parent(&document.source.path), seed)) {
        compiler.seeds.push(Seed { adapter: name.clone(), file });
    }
    let settings = on_this_host(compiler, &document);
    let connector = connector_of(settings).map(str::to_owned);
    let connection_string = match settings.at("connection_string") {
        Some(node) => compiler.connection_template(&document, node),
        None => EnvTemplate::default(),
    };
    let known = connector.as_deref().and_then(find);
    let bound = known.and_then(|known| bound(compiler, &name, known, &connection_string));
    let supported = connector.as_deref().is_some_and(|word| bound.is_some() || supported(compiler, &document, settings, &name, word));
    let is_first = declare(compiler, &document, adapters, &name, range, connector.clone());
    let Some(mut connector) = connector else { return };
    if let Some((stand_in, binding)) = bound {
        let mut adapter = options(compiler, &document, settings, name, connector, EnvTemplate(vec![EnvPart::Text(binding)]));
        stand_in.name.clone_into(&mut adapter.connector);
        Adapters::complete(compiler, &document, settings, &mut adapter, Some(stand_in.sets_session));
        adapters.set_tenant(compiler, &document, &mut adapter);
        // What else there is, is about a file.
        adapter.options.clear();
        adapter.seed = None;
        adapters.list.extend(is_first.then_some(adapter));
        return;
    }
    if supported && let Some((server, scheme)) = known.and_then(|known| server_of(known, &connection_string)) {
        // There one name stands for both, as long as the other one speaks it.
        if compiler.imported && server.schemes.contains(&scheme) && has(compiler, server.name) {
            connector = server.name.to_owned();
        } else {
            refuse_server(compiler, &document, server, scheme);
        }
    }
    let mut adapter = options(compiler, &document, settings, name, connector, connection_string);
    let sets_session = find(&adapter.connector).map(|known| known.sets_session);
    Adapters::complete(compiler, &document, settings, &mut adapter, sets_session);
    if supported {
        adapters.set_tenant(compiler, &document, &mut adapter);
    }
    if supported && let Some(known) = find(&adapter.connector) {
        worker::check(compiler, &document, settings, &adapter, known);
        aws_iam::check(compiler, &document, settings, known);
        http::check(compiler, &document, settings, known);
    }
    adapters.list.extend(is_first.then_some(adapter));
}

/// Notes that an adapter is declared. Whether it is the first of its name.
fn declare(
    compiler: &mut Compiler<'_>,
    document: &Document,
    adapters: &mut Adapters,
    name: &str,
    range: Range<usize>,
    connector: Option<String>,
) -> bool {
    if let Some(other) = adapters.known.get(name) {
        let help = format!("The other one is {}. Give one of them another `name`.", other.source.place(other.range.start));
        compiler.error(document, range, format!("there are two adapters `{name}`"), help);
        return false;
    }
    adapters.known.insert(name.to_owned(), DeclaredAdapter { source: Arc::clone(&document.source), range, connector });
    true
}

fn connector_of(settings: &Node) -> Option<&str> {
    settings.text_at("connector").map(str::trim)
}

/// The settings that hold on the host that the app is built for: the adapter's own, or its
/// `fallback`.
fn on_this_host<'d>(compiler: &mut Compiler<'_>, document: &'d Document) -> &'d Node {
    let root = &document.root;
    let (Some(fallback), Some(connector)) = (root.at("fallback"), connector_of(root)) else { return root };
    let Some(other) = connector_of(fallback) else { return root };
    if let (Some(this), Some(that)) = (find(connector), find(other))
        && !this.speaks_like(that)
    {
        let range = fallback.at("connector").map_or(0..0, |node| node.range.clone());
        let message = format!("the fallback `{other}` does not speak the language of `{connector}`");
        let help = match like(this).as_slice() {
            [] => "No other connector speaks it: remove `fallback`.".to_owned(),
            names => format!("Name a connector of the same language: {}.", one_of(names)),
        };
        compiler.error(document, range, message, help);
    }
    if !has(compiler, connector) && has(compiler, other) { fallback } else { root }
}

/// Whether the target has a connector.
fn has(compiler: &Compiler<'_>, connector: &str) -> bool {
    compiler.options.connectors.iter().any(|known| known == connector)
}

/// The other connectors that take the same commands.
fn like(connector: &Connector) -> Vec<&'static str> {
    let others = CONNECTORS.iter().filter(|other| other.name != connector.name && other.speaks_like(connector));
    others.map(|other| other.name).collect()
}

/// The D1 database that stands in for a file which the target does not have: its connector, and its
/// connection string.
fn bound(
    compiler: &Compiler<'_>,
    name: &str,
    connector: &Connector,
    connection_string: &EnvTemplate,
) -> Option<(&'static Connector, String)> {
    let is_callers = connection_string.0.iter().any(|part| matches!(part, EnvPart::Caller(_)));
    if !connector.is_file || is_callers || has(compiler, connector.name) || server_of(connector, connection_string).is_some() {
        return None;
    }
    let binding = binding_of(name);
    let is_d1 = |other: &&&Connector| other.binding.is_some_and(|binding| binding.kind == BindingKind::D1);
    let stand_in = CONNECTORS.iter().filter(is_d1).find(|other| other.speaks_like(connector) && has(compiler, other.name))?;
    let prefix = stand_in.binding?.prefix;
    compiler.options.d1_bindings.contains(&binding).then(|| (*stand_in, format!("{prefix}{binding}")))
}

/// The name that a binding has for an adapter: `main` → `MAIN`, `user-data` → `USER_DATA`.
fn binding_of(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// What else people call a kind of server, and the connector for it.
const OTHER_NAMES: [(&str, &str); 19] = [
    ("api", "http"),
    ("aurora", "rds-data"),
    ("cockroach", "postgres"),
    ("cockroachdb", "postgres"),
    ("dynamo", "dynamodb"),
    ("https", "http"),
    ("mariadb", "mysql"),
    ("mongo", "mongodb"),
    ("pg", "postgres"),
    ("postgresql", "postgres"),
    ("rds", "rds-data"),
    ("rest", "http"),
    ("sqlite3", "sqlite"),
    ("sqld", "libsql"),
    ("supabase", "postgrest"),
    ("tidb", "mysql"),
    ("turso", "libsql"),
    ("valkey", "redis"),
    ("vitess", "mysql"),
];

fn supported(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, name: &str, word: &str) -> bool {
    if has(compiler, word) {
        return true;
    }
    let range = settings.at("connector").map_or(0..0, |node| node.range.clone());
    if let Some(known) = find(word).filter(|known| known.is_file) {
        // In an imported app it may be a server's database, which becomes that server's.
        let url = settings.text_at("connection_string").unwrap_or_default();
        if compiler.imported && server_at(known, url).is_some_and(|(server, scheme)| server.schemes.contains(&scheme)) {
            return true;
        }
        let message = format!("connector `{word}` needs files, which this target does not have");
        let others: Vec<String> = like(known).iter().map(|other| format!("`{other}`")).collect();
        let help = format!(
            "Use {}, which speak the same language, or name one of them as `fallback` for this target, or bind a D1 database to it as `{}`.",
            others.join(" or "),
            binding_of(name)
        );
        compiler.error(document, range, message, help);
        return false;
    }
    let connectors: Vec<&str> = compiler.options.connectors.iter().map(String::as_str).collect();
    let other_name = OTHER_NAMES.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(word)).map(|(_, ours)| *ours);
    let meant = other_name.filter(|name| connectors.contains(name)).or_else(|| nearest(word, connectors.iter().copied()));
    let (message, help) = match meant {
        Some(meant) if find(word).is_none() => (format!("the connector `{word}` does not exist"), format!("Did you mean `{meant}`?")),
        _ => (format!("connector `{word}` is not supported"), format!("This build has {}.", all_of(&connectors))),
    };
    compiler.error(document, range, message, help);
    false
}

/// The connector of servers whose URL stands where a file is meant, and the URL's scheme.
/// Hyperterse has one name for both.
fn server_of(connector: &Connector, connection_string: &EnvTemplate) -> Option<(&'static Connector, &'static str)> {
    let Some(EnvPart::Text(start)) = connection_string.0.first() else { return None };
    server_at(connector, start)
}

fn server_at(connector: &Connector, url: &str) -> Option<(&'static Connector, &'static str)> {
    let mut others = CONNECTORS.iter().filter(|other| connector.is_file && !other.is_file && other.binding.is_none());
    others.find_map(|other| other.speaks_like(connector).then(|| other.scheme_of(url))?.map(|scheme| (*other, scheme)))
}

fn refuse_server(compiler: &mut Compiler<'_>, document: &Document, server: &Connector, scheme: &str) {
    let Some(node) = document.root.at("connection_string") else { return };
    let message = format!("`sqlite` opens files, and this is a database at `{scheme}://`");
    let help = format!("Write `connector: {}`, or name a file, `file:…` or `:memory:`.", server.name);
    compiler.error(document, node.range.clone(), message, help);
}

fn options(
    compiler: &mut Compiler<'_>,
    document: &Document,
    settings: &Node,
    name: String,
    connector: String,
    connection_string: EnvTemplate,
) -> Adapter {
    let mut adapter = Adapter {
        name,
        connector,
        connection_string,
        options: Vec::new(),
        timeout_ms: 30_000,
        max_rows: 10_000,
        read_only: false,
        seed: None,
        session: Vec::new(),
        tenant: None,
        databases: None,
    };
    let known = find(&adapter.connector);
    for entry in settings.at("options").map(Node::entries).unwrap_or_default() {
        match entry.key.as_str() {
            "timeout" => match entry.value.text().and_then(duration_ms).filter(|ms| *ms > 0) {
                Some(ms) => adapter.timeout_ms = ms,
                None => wrong(compiler, document, entry, "It takes a time such as `500ms` or `5s`."),
            },
            "max_rows" => match &entry.value.data {
                Data::Int(rows @ 1..=4_294_967_295) => adapter.max_rows = u32::try_from(*rows).unwrap_or(u32::MAX),
                _ => wrong(compiler, document, entry, "It takes a whole number from 1."),
            },
            "read_only" => match entry.value.bool() {
                Some(value) => adapter.read_only = value,
                None => wrong(compiler, document, entry, "It takes `true` or `false`."),
            },
            "seed" if known.is_some_and(|known| known.is_file) => adapter.seed = seed(compiler, document, &entry.value),
            key if let Some(known) = known.filter(|known| !known.options.contains(&key)) => {
                let names: Vec<&str> = COMMON_OPTIONS.into_iter().chain(known.options.iter().copied()).collect();
                // Hyperterse hands them on, and the database never looks at them.
                let severity = if compiler.imported { Severity::Warning } else { Severity::Error };
                let message = format!("`{}` has no option `{key}`", adapter.connector);
                let help = meant(key, &names, "Its options are");
                compiler.findings.report(severity, &document.source, entry.key_range.clone(), message, help);
            }
            ALLOW if let Some(language) = known.map(|known| known.language).filter(|language| takes_names(*language)) => {
                let names = commands::read(compiler, document, &entry.value, language);
                adapter.options.push((entry.key.clone(), EnvTemplate(vec![EnvPart::Text(names.join(","))])));
            }
            _ if let Some(known) = known
                && let Some(listed) = http::listed(compiler, document, known, entry) =>
            {
                adapter.options.extend(listed.into_iter().map(|value| (entry.key.clone(), value)));
            }
            _ if matches!(entry.value.data, Data::List(_)) => {
                let message = format!("`options.{}` is a list", entry.key);
                compiler.error(document, entry.value.range.clone(), message, "It takes text, a number, `true` or `false`.");
            }
            _ => adapter.options.push((entry.key.clone(), compiler.connection_template(document, &entry.value))),
        }
    }
    adapter.options.sort_by(|a, b| a.0.cmp(&b.0));
    adapter
}

/// Whether `options.allow` of a language names what is refused otherwise.
const fn takes_names(language: Language) -> bool {
    language.form().takes_allowed()
}

fn wrong(compiler: &mut Compiler<'_>, document: &Document, entry: &Entry, help: &str) {
    let written = entry.value.written(&document.source).unwrap_or_default();
    compiler.error(document, entry.value.range.clone(), format!("`options.{}` cannot be `{written}`", entry.key), help);
}

fn seed(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<String> {
    let name = node.text().unwrap_or_default();
    let outcome = match compiler.tree.resolve(parent(&document.source.path), name) {
        Some(path) => compiler.tree.read(&path, MAX_EMBEDDED).map_err(|why| why.to_string()),
        None => Err("is outside of the app's folder".to_owned()),
    };
    let outcome = outcome.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()));
    match outcome {
        Ok(text) => Some(text),
        Err(why) => {
            let help = "It takes a file of SQL, relative to this file.";
            compiler.error(document, node.range.clone(), format!("the seed `{name}` {why}"), help);
            None
        }
    }
}

impl Adapters {
    /// The adapter that a tool names. `None` where there is none, or where its file is wrong; both
    /// have been said.
    pub(crate) fn find(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<UsedAdapter> {
        let name = node.text()?;
        let Some(known) = self.known.get(name) else {
            let names: Vec<&str> = self.known.keys().map(String::as_str).collect();
            let help = match names.as_slice() {
                [] => "The app has no adapters yet: describe one under `app/adapters`.".to_owned(),
                names => meant(name, names, "The adapters are"),
            };
            compiler.error(document, node.range.clone(), format!("the adapter `{name}` does not exist"), help);
            return None;
        };
        let connector = known.connector.clone();
        Some(self.used(name, connector.as_deref()))
    }

    /// The adapter of this name. `None` where there is none.
    pub(crate) fn named(&mut self, name: &str) -> Option<UsedAdapter> {
        let connector = self.known.get(name)?.connector.clone();
        Some(self.used(name, connector.as_deref()))
    }

    /// Whether the caller decides which database an adapter in use connects to.
    pub(crate) fn has_databases(&self, used: UsedAdapter) -> bool {
        self.list.get(used.index as usize).is_some_and(|adapter| adapter.databases.is_some())
    }

    /// What an adapter in use allows by name, with commas between the names.
    pub(crate) fn allowed_commands(&self, used: UsedAdapter) -> &str {
        let options = self.list.get(used.index as usize).map(|adapter| adapter.options.as_slice()).unwrap_or_default();
        match options.iter().find(|(name, _)| name == ALLOW).map(|(_, value)| value.0.as_slice()) {
            Some([EnvPart::Text(names)]) => names,
            _ => "",
        }
    }

    /// The `session` of an adapter in use.
    pub(crate) fn session(&self, used: UsedAdapter) -> &[SessionTemplate] {
        self.list.get(used.index as usize).map(|adapter| adapter.session.as_slice()).unwrap_or_default()
    }

    /// Reads what a caller decides of an adapter.
    fn complete(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, adapter: &mut Adapter, sets_session: Option<bool>) {
        adapter.session = session::read(compiler, document, &adapter.connector, sets_session);
        adapter.session.extend(http::exchanged(settings));
        adapter.databases = databases::read(compiler, document, settings, adapter);
    }

    fn set_tenant(&mut self, compiler: &mut Compiler<'_>, document: &Document, adapter: &mut Adapter) {
        let dialect = find(&adapter.connector).and_then(|known| known.language.dialect());
        let Some(rule) = tenant::read(compiler, document, &adapter.connector, dialect) else { return };
        let place = document.root.entry("tenant").map_or(0, |entry| entry.key_range.start);
        let place = document.source.place(place);
        compiler.tenants.push(AdapterTenant { adapter: adapter.name.clone(), rule: rule.clone(), place });
        adapter.tenant = Some(Tenant { claim: rule.claim.clone(), statements: Vec::new() });
        self.tenants.insert(adapter.name.clone(), rule);
    }

    /// The `tenant` of an adapter in use.
    pub(crate) fn tenant(&self, used: UsedAdapter) -> Option<&TenantRule> {
        self.tenants.get(&self.list.get(used.index as usize)?.name)
    }

    /// The names of all adapters.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.known.keys().map(String::as_str).collect()
    }

    fn used(&mut self, name: &str, connector: Option<&str>) -> UsedAdapter {
        self.used.insert(name.to_owned());
        let connector = connector.and_then(find);
        let found = self.list.iter().position(|adapter| adapter.name == name).and_then(|index| u32::try_from(index).ok());
        let adapter = found.and_then(|index| self.list.get(index as usize));
        let read_only = adapter.is_some_and(|adapter| adapter.read_only);
        let used = adapter.and_then(|adapter| find(&adapter.connector));
        UsedAdapter {
            index: found.unwrap_or(0),
            language: connector.map(|connector| connector.language),
            read_only,
            max_values: used.and_then(|connector| connector.max_values),
        }
    }

    /// Looks whether the adapters that scripts name are there, and are of the kind that they are
    /// asked as.
    pub(crate) fn check_named(&self, compiler: &mut Compiler<'_>, named: &[ScriptReference]) {
        let is_api =
            |known: &DeclaredAdapter| known.connector.as_deref().and_then(find).map(|connector| connector.language == Language::Http);
        for place in named {
            let as_api = match place.part {
                AppPart::Adapter => false,
                AppPart::Api => true,
                _ => continue,
            };
            let name = &place.name;
            let (message, help) = match self.known.get(name).map(is_api) {
                None => {
                    let fits = |known: &DeclaredAdapter| is_api(known).is_none_or(|is_api| is_api == as_api);
                    let names: Vec<&str> = self.known.iter().filter(|(_, known)| fits(known)).map(|(name, _)| name.as_str()).collect();
                    let all = if as_api { "The adapters with connector `http` are" } else { "The adapters are" };
                    (format!("the adapter `{name}` does not exist"), meant(name, &names, all))
                }
                Some(Some(is_api)) if is_api != as_api => match is_api {
                    true => (format!("the adapter `{name}` is an API, which takes requests"), format!("Ask it by `ctx.api(\"{name}\")`.")),
                    false => {
                        (format!("the adapter `{name}` is a database, which takes statements"), format!("Ask it by `ctx.db(\"{name}\")`."))
                    }
                },
                // Of an adapter that is wrong itself, that has been said.
                Some(_) => continue,
            };
            compiler.findings.push(place.error(message, help));
        }
    }

    /// Notes adapters that no tool uses and no script names. Not before the app's mistakes are
    /// mended: a tool that could not be read may use any.
    pub(crate) fn warn_unused(&self, compiler: &mut Compiler<'_>, scripts: &[Script]) {
        if compiler.findings.has_errors() {
            return;
        }
        for (name, known) in self.known.iter().filter(|(name, _)| !self.used.contains(*name)) {
            let quoted = ['"', '\'', '`'].map(|quote| format!("{quote}{name}{quote}"));
            if scripts.iter().any(|script| quoted.iter().any(|name| script.program.contains(name.as_str()))) {
                continue;
            }
            let message = format!("no tool uses the adapter `{name}`");
            compiler.findings.warning(&known.source, known.range.clone(), message, "Remove it, or `use` it in a tool.");
        }
    }
}
