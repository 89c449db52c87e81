//! `app/adapters/*.yaml`: the connections.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    rc::Rc,
};

use millrace_core::app::{Adapter, EnvPart, EnvTemplate, Script};

use crate::{
    Diagnostic, Severity,
    compiler::Compiler,
    field::{Field, Record, Shape, duration_ms},
    names::{all_of, is_name, meant, nearest},
    script::AskedAdapter,
    source::Source,
    statement::Dialect,
    tree::{Item, MAX_EMBEDDED, is_yaml, parent, stem},
    yaml::{Data, Document, Entry, Node},
};

mod postgres;

/// `app/adapters/*.yaml`
pub(crate) static ADAPTER: Record = Record {
    name: "adapter",
    noun: "an adapter",
    doc: "One connection. `{{ env.X }}` works in every text of the file.",
    fields: &[
        Field::new("name", Shape::Text, "The name that tools `use`; without it, the file's name."),
        Field::new("connector", Shape::Text, "What it connects to: `sqlite`, `libsql`, `d1` or `postgres`.").required(),
        Field::new(
            "connection_string",
            Shape::Text,
            "Where to connect. For `sqlite` a file, relative to the app's folder, or `:memory:`; for `libsql` `libsql://host`, \
             `https://host` or `http://host:port`; for `d1` \
             `d1://ACCOUNT_ID/DATABASE_ID`, or in a Worker the name of a binding, `d1:DB`; for `postgres` `postgres://user:password@host/database`, \
             or in a Worker the name of a Hyperdrive, `hyperdrive:DB`.",
        )
        .required(),
        Field::new(
            "options",
            Shape::Map(&Shape::Scalar),
            "`timeout` (of one statement, `30s`), `max_rows` (`10000`), `read_only` (`false`); for `sqlite` also `seed` (a file of SQL, relative to \
             this file, that fills a database which does not exist yet), `create`, `busy_timeout`, `foreign_keys`, `journal_mode`, \
             `statement_cache`; for `libsql` `auth_token` (or `authToken`, or `jwt`) and `tls`; for `d1` `api_token` and `base_url`; for `postgres` \
             `ca_certificate`, `connect_timeout`, `max_connections`, `password`, `sslmode`, `sslrootcert` and others.",
        ),
        Field::new(
            "fallback",
            Shape::Record(&FALLBACK),
            "What stands in on a host that does not have the connector, such as `d1` for `sqlite` in a Worker. It speaks the same SQL.",
        ),
    ],
};

/// `fallback` of an adapter.
static FALLBACK: Record = Record {
    name: "fallback",
    noun: "`fallback`",
    doc: "What stands in on a host that does not have the adapter's connector.",
    fields: &[
        Field::new("connector", Shape::Text, "What it connects to: `d1`.").required(),
        Field::new("connection_string", Shape::Text, "Where to connect: `d1:DB` is the binding `DB` of a Worker.").required(),
        Field::new("options", Shape::Map(&Shape::Scalar), "As of an adapter."),
    ],
};

/// The options of every connector.
const COMMON_OPTIONS: [&str; 3] = ["timeout", "max_rows", "read_only"];

/// The options of a connector beyond those of every one; `None` where its own are not known here.
fn own_options(connector: &str) -> Option<&'static [&'static str]> {
    match connector {
        "sqlite" => Some(&["busy_timeout", "create", "foreign_keys", "journal_mode", "seed", "statement_cache"]),
        "libsql" => Some(&["authToken", "auth_token", "jwt", "tls"]),
        "d1" => Some(&["api_token", "base_url"]),
        "postgres" => Some(&[
            "application_name",
            "ca_certificate",
            "channel_binding",
            "connect_timeout",
            "max_connections",
            "options",
            "password",
            "search_path",
            "sslmode",
            "sslrootcert",
            "timezone",
            "user",
        ]),
        _ => None,
    }
}

/// The adapters of the app.
#[derive(Debug, Default)]
pub(crate) struct Adapters {
    /// Those that could be read, sorted by name.
    pub(crate) list: Vec<Adapter>,
    known: BTreeMap<String, Known>,
    used: BTreeSet<String>,
}

#[derive(Debug)]
struct Known {
    source: Rc<Source>,
    range: Range<usize>,
    connector: Option<String>,
}

/// How many values D1 takes in one statement.
const D1_VALUES: u32 = 100;

/// An adapter that a tool uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// Index into [`Adapters::list`].
    pub(crate) index: u32,
    /// The language of its statements; `None` where its file is wrong, which has been said.
    pub(crate) dialect: Option<Dialect>,
    /// `options.read_only`
    pub(crate) read_only: bool,
    /// How many values its connector takes in one statement, where that is less than the language's databases take.
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
        let source = Rc::new(Source::new(file.path.as_str(), ""));
        adapters.known.entry(stem(&file.name).to_owned()).or_insert(Known { source, range: 0..0, connector: None });
        return;
    };
    let root = &document.root;
    let name_node = root.at("name");
    let name = name_node.and_then(Node::text).unwrap_or_else(|| stem(&file.name)).to_owned();
    let range = name_node.or_else(|| root.at("connector")).map_or(0..0, |node| node.range.clone());
    if !is_name(&name) {
        let help = "A name begins with a letter; letters, digits, `_` and `-` follow.";
        compiler.error(&document, range.clone(), format!("`{name}` is no name of an adapter"), help);
    }
    let settings = on_this_host(compiler, &document);
    let connector = connector_of(settings).map(str::to_owned);
    let connection_string = match settings.at("connection_string") {
        Some(node) => compiler.env_template(&document, node),
        None => EnvTemplate::default(),
    };
    let bound = connector.as_deref().and_then(|word| bound(compiler, &name, word, &connection_string));
    let supported = connector.as_deref().is_some_and(|word| bound.is_some() || supported(compiler, &document, settings, &name, word));
    let is_first = match adapters.known.get(&name) {
        Some(other) => {
            let help = format!("The other one is {}. Give one of them another `name`.", other.source.place(other.range.start));
            compiler.error(&document, range, format!("there are two adapters `{name}`"), help);
            false
        }
        None => {
            let known = Known { source: Rc::clone(&document.source), range, connector: connector.clone() };
            adapters.known.insert(name.clone(), known);
            true
        }
    };
    let Some(mut connector) = connector else { return };
    if let Some(binding) = bound {
        let mut adapter =
            options(compiler, &document, settings, name, connector, EnvTemplate(vec![EnvPart::Text(format!("d1:{binding}"))]));
        adapter.connector = "d1".to_owned();
        // What else there is, is about a file.
        adapter.options.clear();
        adapter.seed = None;
        if is_first {
            adapters.list.push(adapter);
        }
        return;
    }
    if supported
        && connector == "sqlite"
        && let Some(scheme) = remote(&connection_string)
    {
        // There one name stands for both, as long as it is HTTP.
        if compiler.imported && !scheme.starts_with("ws") && compiler.options.connectors.iter().any(|known| known == "libsql") {
            connector = "libsql".to_owned();
        } else {
            refuse_remote(compiler, &document, scheme);
        }
    }
    let adapter = options(compiler, &document, settings, name, connector, connection_string);
    if supported && adapter.connector == "postgres" {
        postgres::check(compiler, &document, settings, &adapter);
    }
    if is_first {
        adapters.list.push(adapter);
    }
}

fn connector_of(settings: &Node) -> Option<&str> {
    settings.text_at("connector").map(str::trim)
}

/// The settings that hold on the host that the app is built for: the adapter's own, or its `fallback`.
fn on_this_host<'d>(compiler: &mut Compiler<'_>, document: &'d Document) -> &'d Node {
    let root = &document.root;
    let (Some(fallback), Some(connector)) = (root.at("fallback"), connector_of(root)) else { return root };
    let Some(other) = connector_of(fallback) else { return root };
    if dialect(connector).is_some() && dialect(other).is_some() && dialect(connector) != dialect(other) {
        let range = fallback.at("connector").map_or(0..0, |node| node.range.clone());
        let message = format!("the fallback `{other}` does not speak the SQL of `{connector}`");
        compiler.error(document, range, message, "Name a connector of the same SQL: `sqlite`, `libsql` and `d1` have one.");
    }
    let has = |word: &str| compiler.options.connectors.iter().any(|known| known == word);
    if !has(connector) && has(other) { fallback } else { root }
}

/// The D1 database that stands in for a file which the target does not have.
fn bound(compiler: &Compiler<'_>, name: &str, connector: &str, connection_string: &EnvTemplate) -> Option<String> {
    let has = |word: &str| compiler.options.connectors.iter().any(|known| known == word);
    let stands_in = connector == "sqlite" && !has("sqlite") && has("d1") && remote(connection_string).is_none();
    Some(binding_of(name)).filter(|binding| stands_in && compiler.options.d1_bindings.contains(binding))
}

/// The name that a binding has for an adapter: `main` → `MAIN`, `user-data` → `USER_DATA`.
fn binding_of(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

fn supported(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, name: &str, word: &str) -> bool {
    if compiler.options.connectors.iter().any(|known| known == word) {
        return true;
    }
    let range = settings.at("connector").map_or(0..0, |node| node.range.clone());
    if word == "sqlite" {
        // In an imported app it may be a remote database, which becomes `libsql`.
        let url = settings.text_at("connection_string").unwrap_or_default().trim_start().to_ascii_lowercase();
        if compiler.imported && ["libsql://", "http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            return true;
        }
        let message = "connector `sqlite` needs files, which this target does not have";
        let help = format!(
            "Use `d1` or `libsql`, which speak the same SQL, or name one of them as `fallback` for this target, or bind a D1 database to it as `{}`.",
            binding_of(name)
        );
        compiler.error(document, range, message, help);
        return false;
    }
    let connectors: Vec<&str> = compiler.options.connectors.iter().map(String::as_str).collect();
    let (message, help) = match nearest(word, connectors.iter().copied()) {
        Some(near) if dialect(word).is_none() => (format!("there is no connector `{word}`"), format!("Did you mean `{near}`?")),
        _ => (format!("connector `{word}` is not supported yet"), format!("This build has {}.", all_of(&connectors))),
    };
    compiler.error(document, range, message, help);
    false
}

/// The scheme of a remote database's URL, which `sqlite` of Hyperterse takes, too.
fn remote(connection_string: &EnvTemplate) -> Option<&'static str> {
    let Some(EnvPart::Text(start)) = connection_string.0.first() else { return None };
    let start = start.trim_start().to_ascii_lowercase();
    ["libsql://", "http://", "https://", "ws://", "wss://"].into_iter().find(|scheme| start.starts_with(scheme))
}

fn refuse_remote(compiler: &mut Compiler<'_>, document: &Document, scheme: &str) {
    let Some(node) = document.root.at("connection_string") else { return };
    let message = format!("`sqlite` opens files, and this is a database at `{scheme}`");
    compiler.error(document, node.range.clone(), message, "Write `connector: libsql`, or name a file, `file:…` or `:memory:`.");
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
    };
    let own = own_options(&adapter.connector);
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
            "seed" if adapter.connector == "sqlite" => adapter.seed = seed(compiler, document, &entry.value),
            key if let Some(own) = own.filter(|own| !own.contains(&key)) => {
                let names: Vec<&str> = COMMON_OPTIONS.into_iter().chain(own.iter().copied()).collect();
                // Hyperterse hands them on, and the database never looks at them.
                let severity = if compiler.imported { Severity::Warning } else { Severity::Error };
                let message = format!("`{}` has no option `{key}`", adapter.connector);
                let help = meant(key, &names, "Its options are");
                compiler.findings.report(severity, &document.source, entry.key_range.clone(), message, help);
            }
            _ => adapter.options.push((entry.key.clone(), compiler.env_template(document, &entry.value))),
        }
    }
    adapter.options.sort_by(|a, b| a.0.cmp(&b.0));
    adapter
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
    /// The adapter that a tool names. `None` where there is none, or where its file is wrong; both have been said.
    pub(crate) fn find(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<Used> {
        let name = node.text()?;
        let Some(known) = self.known.get(name) else {
            let names: Vec<&str> = self.known.keys().map(String::as_str).collect();
            let help = match names.as_slice() {
                [] => "The app has no adapters yet: describe one under `app/adapters`.".to_owned(),
                names => meant(name, names, "The adapters are"),
            };
            compiler.error(document, node.range.clone(), format!("there is no adapter `{name}`"), help);
            return None;
        };
        self.used.insert(name.to_owned());
        let dialect = known.connector.as_deref().and_then(dialect);
        let found = self.list.iter().position(|adapter| adapter.name == name).and_then(|index| u32::try_from(index).ok());
        let adapter = found.and_then(|index| self.list.get(index as usize));
        let read_only = adapter.is_some_and(|adapter| adapter.read_only);
        let max_values = adapter.filter(|adapter| adapter.connector == "d1").map(|_| D1_VALUES);
        Some(Used { index: found.unwrap_or(0), dialect, read_only, max_values })
    }

    /// Looks whether the adapters that scripts ask are there.
    pub(crate) fn check_asked(&self, compiler: &mut Compiler<'_>, asked: &[AskedAdapter]) {
        for place in asked.iter().filter(|place| !self.known.contains_key(&place.name)) {
            let names: Vec<&str> = self.known.keys().map(String::as_str).collect();
            compiler.findings.push(Diagnostic {
                severity: Severity::Error,
                file: place.file.clone(),
                line: place.line,
                column: place.column,
                length: place.length,
                message: format!("there is no adapter `{}`", place.name),
                help: Some(meant(&place.name, &names, "The adapters are")).filter(|help| !help.is_empty()),
            });
        }
    }

    /// Notes adapters that no tool uses and no script names. Not before the app's mistakes are mended: a tool that could not be read may
    /// use any.
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

/// The language that a connector's statements are written in.
fn dialect(connector: &str) -> Option<Dialect> {
    match connector {
        "sqlite" | "libsql" | "d1" => Some(Dialect::Sqlite),
        "postgres" => Some(Dialect::Postgres),
        "mysql" => Some(Dialect::MySql),
        _ => None,
    }
}
