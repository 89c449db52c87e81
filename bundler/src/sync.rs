//! `sync`: which cached results a call makes stale, and what clients are told of that.
//!
//! A tool has one key, by which `policies` and `invalidates` name it. What it says itself comes
//! before the first policy that fits its key, and that before `defaults`. [`epochs`] turns all of
//! it, and the tables of the statements, into what a host looks at.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use millrace_core::app::{Access, Announcement, Execute};
use millrace_languages::{Form, postgrest::is_name};

use crate::{
    adapter::Adapters,
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::{key_from_path, meant},
    source::Source,
    statement::{TableSet, Tables, tables},
    yaml::{Document, Node},
};

pub(crate) mod epochs;
mod glob;

use glob::Glob;

const CACHE: Shape = Shape::Word(&["no-store", "immutable"]);
const CACHE_DOC: &str =
    "Whether clients may keep a result: `no-store`, or `immutable` for one that never changes. The description says so.";
const INVALIDATES_DOC: &str =
    "Patterns of the keys of tools whose results a successful call makes stale: `invoices.*`. `*` is one segment, `**` any number.";

/// `sync` of a tool
pub(crate) static TOOL_SYNC: Record = Record {
    name: "sync",
    noun: "`sync`",
    doc: "Which results a call makes stale, and what clients are told of that.",
    fields: &[
        Field::new("key", Shape::Text, "The key by which `invalidates` and `policies` name the tool: `invoices.list`.")
            .default("the folders' names in lower case, joined by `.`"),
        Field::new("cache", CACHE, CACHE_DOC),
        Field::new("invalidates", Shape::List(&Shape::Text), INVALIDATES_DOC),
        Field::new(
            "reads",
            Shape::List(&Shape::Text),
            "Tables that the statement reads without naming them, as a view does, or that a handler with `cache` reads: `orders`, or `adapter:orders`.",
        ),
        Field::new(
            "writes",
            Shape::List(&Shape::Text),
            "Tables that a call writes and no statement names, as a trigger or a script does: `orders`, or `adapter:orders`.",
        ),
    ],
};

/// `sync` of the root file
pub(crate) static ROOT_SYNC: Record = Record {
    name: "root_sync",
    noun: "`sync`",
    doc: "What tools without a `sync` of their own invalidate, and what clients may keep.",
    fields: &[
        Field::new("defaults", Shape::Record(&DEFAULTS), "What holds where neither the tool nor a policy says otherwise."),
        Field::new("policies", Shape::List(&Shape::Record(&POLICY)), "Settings by key; the first policy that fits a tool's key applies."),
    ],
};

static DEFAULTS: Record = Record {
    name: "sync_defaults",
    noun: "`sync.defaults`",
    doc: "What holds where neither the tool nor a policy says otherwise.",
    fields: &[
        Field::new("cache", CACHE, CACHE_DOC),
        Field::new("invalidates", Shape::List(&Shape::Text), "Likewise, for every tool that is not a query."),
    ],
};

static POLICY: Record = Record {
    name: "sync_policy",
    noun: "a policy of `sync`",
    doc: "Settings of the tools whose key fits.",
    fields: &[
        Field::new("match", Shape::Text, "The pattern of the keys: `invoices.**`.").required(),
        Field::new("cache", CACHE, CACHE_DOC),
        Field::new("invalidates", Shape::List(&Shape::Text), "Likewise, for those of the tools that are not queries."),
    ],
};

/// A setting and its place.
#[derive(Clone, Debug)]
struct Placed<T> {
    value: T,
    source: Arc<Source>,
    range: Range<usize>,
}

impl<T> Placed<T> {
    fn place(&self) -> String {
        self.source.place(self.range.start)
    }
}

/// What one place says.
#[derive(Clone, Debug, Default)]
struct Said {
    cache: Option<Placed<&'static str>>,
    invalidates: Option<Placed<Vec<Glob>>>,
}

/// `sync` of the root file.
#[derive(Debug, Default)]
pub(crate) struct SyncPolicies {
    defaults: Said,
    policies: Vec<(Glob, Said)>,
}

/// What a tool says, with what it inherits.
#[derive(Debug)]
pub(crate) struct SyncSettings {
    pub(crate) key: String,
    cache: Option<Placed<&'static str>>,
    invalidates: Vec<Glob>,
    /// By the index of the adapter.
    reads: BTreeMap<u32, TableSet>,
    writes: BTreeMap<u32, TableSet>,
    /// What scripts write where they write with an adapter; all tables of one that is not here.
    script_writes: BTreeMap<u32, TableSet>,
}

/// The tool that has the settings.
pub(crate) struct SyncedTool<'a> {
    pub(crate) document: &'a Document,
    pub(crate) name: &'a str,
    /// Its folder below the folder of the tools.
    pub(crate) path: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) execute: &'a Execute,
    /// What its statement reads and writes.
    pub(crate) tables: Option<Tables>,
    /// Its results can be cached.
    pub(crate) is_cached: bool,
    /// It may be called again with the same inputs: it has `idempotency`.
    pub(crate) repeats: bool,
}

fn globs(compiler: &mut Compiler<'_>, source: &Arc<Source>, node: &Node) -> Vec<Glob> {
    node.items().iter().filter_map(|item| Glob::read(compiler, source, item)).collect()
}

impl Said {
    fn read(compiler: &mut Compiler<'_>, source: &Arc<Source>, node: &Node) -> Self {
        let placed = |node: &Node| (Arc::clone(source), node.range.clone());
        let cache = node.at("cache").and_then(|node| {
            let value = if node.text()? == "immutable" { "immutable" } else { "no-store" };
            let (source, range) = placed(node);
            Some(Placed { value, source, range })
        });
        let invalidates = node.at("invalidates").map(|node| {
            let (source, range) = placed(node);
            Placed { value: globs(compiler, &source, node), source, range }
        });
        Self { cache, invalidates }
    }
}

/// Reads `sync` of the root file.
pub(crate) fn policies(compiler: &mut Compiler<'_>, document: &Document) -> SyncPolicies {
    let Some(node) = document.root.at("sync") else { return SyncPolicies::default() };
    let source = &document.source;
    let defaults = node.at("defaults").map(|node| Said::read(compiler, source, node)).unwrap_or_default();
    let mut policies: Vec<(Glob, Said)> = Vec::new();
    for policy in node.at("policies").map(Node::items).unwrap_or_default() {
        let said = Said::read(compiler, source, policy);
        let Some(pattern) = policy.at("match").and_then(|pattern| Glob::read(compiler, source, pattern)) else { continue };
        if let Some((earlier, _)) = policies.iter().find(|(earlier, _)| earlier.covers(&pattern)) {
            let message = format!("this policy never applies: the earlier `{}` fits every key that `{}` fits", earlier.text, pattern.text);
            let help = format!("The first policy that fits a key applies, here {}. Put this one before it, or remove it.", {
                earlier.source.place(earlier.range.start)
            });
            compiler.error(document, pattern.range.clone(), message, help);
        }
        policies.push((pattern, said));
    }
    SyncPolicies { defaults, policies }
}

/// Reads `sync` of a tool.
pub(crate) fn read(compiler: &mut Compiler<'_>, root: &SyncPolicies, tool: SyncedTool<'_>, adapters: &mut Adapters) -> SyncSettings {
    let nothing = Node::nothing();
    let (document, source) = (tool.document, &tool.document.source);
    let node = document.root.at("sync").unwrap_or(&nothing);
    let key = key(compiler, &tool, node);
    let own = Said::read(compiler, source, node);
    let policy = root.policies.iter().find(|(pattern, _)| pattern.matches(&key)).map(|(_, said)| said);
    let inherited = [policy, Some(&root.defaults)];
    let writes = tool.execute.access() == Some(Access::Write);
    if let Some(own) = own.invalidates.as_ref().filter(|_| tool.kind == "query") {
        let help = "Give the tool `kind: mutation`, or remove `invalidates`.";
        compiler.error(document, own.range.clone(), "the tool is a query, and a query makes nothing stale", help);
    }
    let cache = own.cache.or_else(|| inherited.into_iter().flatten().find_map(|said| said.cache.clone()));
    let makes_stale = own.invalidates.is_some();
    check_immutable(compiler, &tool, cache.as_ref(), writes, makes_stale);
    let invalidates = match own.invalidates {
        Some(own) => Some(own),
        None if tool.kind == "query" => None,
        None => inherited.into_iter().flatten().find_map(|said| said.invalidates.clone()),
    };
    if let Some(cache) = &cache {
        compiler.origin(tool.name, "sync.cache", cache.value, cache.place());
    }
    if let Some(invalidates) = &invalidates {
        let texts: Vec<&str> = invalidates.value.iter().map(|glob| glob.text.as_str()).collect();
        compiler.origin(tool.name, "sync.invalidates", texts.join(", "), invalidates.place());
    }
    let by_hand = |compiler: &mut Compiler<'_>, adapters: &mut Adapters, key| tables_by_hand(compiler, &tool, node, key, adapters);
    let (reads_by_hand, writes_by_hand) = (by_hand(compiler, adapters, "reads"), by_hand(compiler, adapters, "writes"));
    // Nothing shows what a handler reads.
    let is_cached_script = tool.is_cached && matches!(tool.execute, Execute::Script(_));
    let reads_by_hand = match is_cached_script && node.at("reads").is_none() {
        true => (0..).zip(&adapters.list).map(|(index, _)| (index, TableSet::All)).collect(),
        false => reads_by_hand,
    };
    if let Some(reads) = node.at("reads").filter(|_| !tool.is_cached && (writes || matches!(tool.execute, Execute::Script(_)))) {
        let message = "`reads` has no effect: results of this tool are never cached";
        compiler.warning(
            document,
            reads.range.clone(),
            message,
            "Remove it. Only results of statements that read are cached, and of handlers with `kind: query` and `cache`.",
        );
    }
    if let Some(writes) = node.at("writes").filter(|_| tool.kind == "query") {
        let help = "Give the tool `kind: mutation`, or remove `writes`.";
        compiler.error(document, writes.range.clone(), "the tool is a query, and a query writes nothing", help);
    }
    let (mut reads, mut written) = (reads_by_hand.clone(), writes_by_hand.clone());
    if let (Some(adapter), Some(tables)) = (tool.execute.adapter(), tool.tables.clone()) {
        add(&mut reads, adapter, tables.reads);
        add(&mut written, adapter, tables.writes);
    }
    tell_tables(compiler, &tool, node, &[("reads", &reads), ("writes", &written)], adapters);
    // By hand, the tables of a statement say nothing of what the scripts around it do.
    let script_writes = if matches!(tool.execute, Execute::Script(_)) { writes_by_hand } else { BTreeMap::new() };
    let invalidates = invalidates.map(|placed| placed.value).unwrap_or_default();
    SyncSettings { key, cache, invalidates, reads, writes: written, script_writes }
}

/// Says why a result cannot be one that never changes.
fn check_immutable(
    compiler: &mut Compiler<'_>,
    tool: &SyncedTool<'_>,
    cache: Option<&Placed<&'static str>>,
    writes: bool,
    makes_stale: bool,
) {
    let Some(cache) = cache.filter(|cache| cache.value == "immutable") else { return };
    let why = match () {
        () if tool.kind == "mutation" => "is a mutation",
        () if writes => "has a statement that writes, or may write",
        () if tool.repeats => "has `idempotency`, which is for tools that change something",
        () if makes_stale => "makes other results stale",
        () => return,
    };
    let message = format!("`immutable` tells clients that a result never changes, but the tool `{}` {why}", tool.name);
    compiler.findings.error(&cache.source, cache.range.clone(), message, "Use `no-store` for it, or leave it out.");
}

/// Says which tables a tool reads and writes, for `millrace explain`.
fn tell_tables(
    compiler: &mut Compiler<'_>,
    tool: &SyncedTool<'_>,
    node: &Node,
    settings: &[(&str, &BTreeMap<u32, TableSet>)],
    adapters: &Adapters,
) {
    for (setting, tables) in settings {
        let place = node
            .at(setting)
            .or_else(|| tool.document.root.at("statement"))
            .or_else(|| tool.document.root.at("transaction"))
            .map_or(0, |node| node.range.start);
        for (adapter, tables) in tables.iter().filter(|(_, tables)| !tables.is_empty()) {
            let adapter = adapters.list.get(*adapter as usize).map_or("", |adapter| adapter.name.as_str());
            compiler.origin(
                tool.name,
                &format!("sync.{setting}"),
                format!("{adapter}: {}", words(tables)),
                tool.document.source.place(place),
            );
        }
    }
}

/// Adds what a statement shows to what its author names. Where a statement shows nothing, the
/// author knows better.
fn add(known: &mut BTreeMap<u32, TableSet>, adapter: u32, shown: TableSet) {
    match (known.get_mut(&adapter), shown) {
        (Some(_), TableSet::All) => {}
        (Some(tables), shown) => tables.extend(shown),
        (None, shown) => drop(known.insert(adapter, shown)),
    }
}

fn words(tables: &TableSet) -> String {
    match tables {
        TableSet::All => "*".to_owned(),
        TableSet::Named(names) => names.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
    }
}

fn key(compiler: &mut Compiler<'_>, tool: &SyncedTool<'_>, sync: &Node) -> String {
    let Some(node) = sync.at("key") else { return key_from_path(tool.path) };
    let key = node.text().unwrap_or_default().to_owned();
    if !glob::is_key(&key) {
        let help = "Write words of letters, digits, `_` and `-` with dots between them: `invoices.list`.";
        compiler.error(tool.document, node.range.clone(), format!("`{key}` is not a key"), help);
    }
    compiler.origin(tool.name, "sync.key", key.as_str(), tool.document.source.place(node.range.start));
    key
}

/// `reads` or `writes`: `orders`, `adapter:orders`, `adapter:*`.
fn tables_by_hand(
    compiler: &mut Compiler<'_>,
    tool: &SyncedTool<'_>,
    sync: &Node,
    key: &str,
    adapters: &mut Adapters,
) -> BTreeMap<u32, TableSet> {
    let mut found: BTreeMap<u32, TableSet> = BTreeMap::new();
    for node in sync.at(key).map(Node::items).unwrap_or_default() {
        let Some(text) = node.text() else { continue };
        let (adapter, name) = match text.split_once(':') {
            Some((adapter, name)) => (adapter.trim().to_owned(), name.trim()),
            None => match own_adapter(tool, adapters) {
                Some(adapter) => (adapter, text.trim()),
                None => {
                    let help = format!("Name the adapter before the table: `adapter:{text}`.");
                    compiler.error(
                        tool.document,
                        node.range.clone(),
                        format!("`{text}` may be a table of several adapters, or of none"),
                        help,
                    );
                    continue;
                }
            },
        };
        let Some(used) = adapters.named(&adapter) else {
            let help = meant(&adapter, &adapters.names(), "The adapters are");
            compiler.error(tool.document, node.range.clone(), format!("the adapter `{adapter}` does not exist"), help);
            continue;
        };
        let named = match used.language.map(|language| language.form()) {
            Some(Form::Statement(dialect)) => tables::named(name, dialect),
            // Its names are as they are.
            Some(Form::Request) => is_name(name).then(|| name.to_owned()),
            _ => continue,
        };
        let table = match name {
            "*" => Some(TableSet::All),
            _ => named.map(|name| TableSet::Named(BTreeSet::from([name]))),
        };
        match table {
            Some(table) => found.entry(used.index).or_default().extend(table),
            None => {
                let help = "Write `orders`, `schema.orders`, `adapter:orders`, or `adapter:*` for all tables of an adapter.";
                compiler.error(tool.document, node.range.clone(), format!("`{name}` is not the name of a table"), help);
            }
        }
    }
    found
}

/// The adapter that a tool uses, or the only one of the app.
fn own_adapter(tool: &SyncedTool<'_>, adapters: &Adapters) -> Option<String> {
    if let Some(adapter) = tool.execute.adapter() {
        return adapters.list.get(adapter as usize).map(|adapter| adapter.name.clone());
    }
    match adapters.names().as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}

impl SyncSettings {
    /// What the tool's description ends with.
    pub(crate) fn tag(&self) -> Option<&'static str> {
        self.cache.as_ref().map(|cache| if cache.value == "immutable" { IMMUTABLE } else { NO_STORE })
    }

    fn announcement(&self) -> Option<Announcement> {
        let domains: Vec<String> = self.invalidates.iter().map(|glob| glob.text.clone()).collect();
        (!domains.is_empty()).then(|| Announcement { cause: self.key.clone(), domains })
    }
}

const NO_STORE: &str = " [Cache-Control: no-store]";
const IMMUTABLE: &str = " [Cache-Control: immutable]";

/// A description without what [`SyncSettings::tag`] adds to it, which nobody searches for.
pub(crate) fn without_tag(description: &str) -> &str {
    description.strip_suffix(NO_STORE).or_else(|| description.strip_suffix(IMMUTABLE)).unwrap_or(description)
}
