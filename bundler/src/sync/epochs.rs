//! Which epochs there are: those that a cached result depends on and that something in the app
//! begins anew.
//!
//! | name | begins anew with | is in the key of |
//! |---|---|---|
//! | `main/orders` | a write of the table | what reads the table |
//! | `main:*` | a write of tables that nobody can tell | whatever reads with the adapter |
//! | `main:**` | a write of any table | what reads tables that nobody can tell |
//! | `=orders.list` | a call that invalidates the key | the results of the tools with the key |
//!
//! `main:?` is set while a write may still be carried out. What nothing reads is not written, and
//! what nothing writes is not read: a tool whose results depend on nothing costs what it costs
//! without all of this.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::app::{Adapter, Audit, AuditTable, Auth, CachedReads, EpochWrites, MiddlewareAction, Tool, ToolSync};

use super::{SyncPolicies, SyncSettings, glob};
use crate::{
    compiler::Compiler,
    statement::{TableSet, tables},
};

/// The settings of the tools, by name.
pub(crate) type AllSettings = BTreeMap<String, SyncSettings>;

/// Who writes which tables.
#[derive(Default)]
struct Written {
    /// By adapter.
    named: BTreeMap<u32, BTreeSet<String>>,
    /// The adapters with writes of tables that nobody can tell.
    all: BTreeSet<u32>,
    /// The keys of the tools whose results something invalidates.
    keys: BTreeSet<String>,
}

/// What the results of the cached tools depend on.
#[derive(Default)]
struct Names {
    /// The names of epochs.
    read: BTreeSet<String>,
    /// The adapters, and the keys of their cached tools.
    adapters: BTreeSet<u32>,
    keys: BTreeMap<String, BTreeSet<u32>>,
}

fn table_epoch(adapter: &str, table: &str) -> String {
    format!("{adapter}/{table}")
}

/// Gives each tool what a host looks at. The result is
/// [`App::epochs`](millrace_core::app::App::epochs).
pub(crate) fn resolve(
    compiler: &mut Compiler<'_>,
    policies: &SyncPolicies,
    all: &AllSettings,
    tools: &mut [Tool],
    adapters: &[Adapter],
) -> Vec<String> {
    check_globs(compiler, policies, all);
    let writing = Writing::of(all, tools, adapters);
    let mut names = Names::default();
    let mut reads: BTreeMap<String, CachedNames> = BTreeMap::new();
    for tool in tools.iter().filter(|tool| tool.cache.is_some()) {
        let Some(settings) = all.get(&tool.name) else { continue };
        let found = writing.written.read_by(settings, adapters);
        if !found.is_empty() {
            let used: BTreeSet<u32> = settings.reads.keys().copied().chain(tool.execute.adapter()).collect();
            names.read.extend(found.iter().cloned());
            names.adapters.extend(&used);
            names.keys.entry(settings.key.clone()).or_default().extend(&used);
            reads.insert(tool.name.clone(), CachedNames { adapters: used, epochs: found });
        }
    }
    let epochs = Epochs::of(names, adapters);
    for tool in tools.iter_mut() {
        for entry in &mut tool.middleware {
            if let MiddlewareAction::Audit(Audit { table: Some(table), .. }) = &mut entry.action {
                table.writes = epochs.of_tables(table.adapter, &of_audit(table, adapters));
            }
        }
        let by_scripts = writing.by_scripts.get(&tool.name);
        let sync = epochs.of_tool(all.get(&tool.name), by_scripts, reads.get(&tool.name));
        for (adapter, tables) in by_scripts.into_iter().flatten().filter(|_| !sync.script_writes.is_empty()) {
            if *tables == TableSet::All {
                let value = format!("{}: *, where a script writes", name_of(adapters, *adapter));
                compiler.origin(&tool.name, "sync.writes", value, "default");
            }
        }
        tool.sync = (sync != ToolSync::default()).then_some(sync);
    }
    epochs.list
}

/// What the tools of an app write.
#[derive(Default)]
struct Writing {
    written: Written,
    /// What their scripts may write, by tool.
    by_scripts: BTreeMap<String, BTreeMap<u32, TableSet>>,
}

impl Writing {
    fn of(all: &AllSettings, tools: &[Tool], adapters: &[Adapter]) -> Self {
        let writable: Vec<u32> = (0..).zip(adapters).filter(|(_, adapter)| !adapter.read_only).map(|(index, _)| index).collect();
        let mut found = Self::default();
        for tool in tools {
            let settings = all.get(&tool.name);
            if let Some(settings) = settings {
                settings.writes.iter().for_each(|(adapter, tables)| found.written.add(*adapter, tables));
            }
            // Most tools invalidate none, and each would be held against all others.
            if let Some(settings) = settings.filter(|settings| !settings.invalidates.is_empty()) {
                found.written.keys.extend(all.values().map(|other| &other.key).filter(|key| settings.invalidates(key)).cloned());
            }
            if has_scripts(tool) {
                let by_hand = |index: &u32| settings.and_then(|settings| settings.script_writes.get(index)).cloned();
                let sets = writable.iter().map(|index| (*index, by_hand(index).unwrap_or(TableSet::All))).collect::<BTreeMap<_, _>>();
                sets.iter().for_each(|(adapter, tables)| found.written.add(*adapter, tables));
                found.by_scripts.insert(tool.name.clone(), sets);
            }
            for entry in &tool.middleware {
                if let MiddlewareAction::Audit(Audit { table: Some(table), .. }) = &entry.action {
                    found.written.add(table.adapter, &of_audit(table, adapters));
                }
            }
        }
        found
    }
}

/// What the results of a cached tool depend on.
struct CachedNames {
    adapters: BTreeSet<u32>,
    epochs: Vec<String>,
}

/// The epochs of an app.
struct Epochs<'a> {
    names: Names,
    adapters: &'a [Adapter],
    /// What is set while a write may still be carried out, by adapter.
    marks: BTreeMap<u32, String>,
    /// All of them, sorted.
    list: Vec<String>,
}

impl<'a> Epochs<'a> {
    fn of(names: Names, adapters: &'a [Adapter]) -> Self {
        let mark = |index: &u32| (*index, format!("{}:?", name_of(adapters, *index)));
        let marks: BTreeMap<u32, String> = names.adapters.iter().map(mark).collect();
        let list = names.read.iter().chain(marks.values()).cloned().collect::<BTreeSet<_>>().into_iter().collect();
        Self { names, adapters, marks, list }
    }

    fn index(&self, name: &String) -> Option<u32> {
        self.list.binary_search(name).ok().and_then(|index| u32::try_from(index).ok())
    }

    fn unsettled(&self, adapters: &BTreeSet<u32>) -> Vec<u32> {
        adapters.iter().filter_map(|adapter| self.marks.get(adapter)).filter_map(|mark| self.index(mark)).collect()
    }

    fn of_names(&self, found: &BTreeSet<String>, adapters: &BTreeSet<u32>) -> EpochWrites {
        EpochWrites { epochs: found.iter().filter_map(|name| self.index(name)).collect(), unsettled: self.unsettled(adapters) }
    }

    /// What begins anew with a write of tables.
    fn of_tables(&self, adapter: u32, tables: &TableSet) -> EpochWrites {
        self.of_names(&self.names.written(adapter, tables, self.adapters), &BTreeSet::from([adapter]))
    }

    fn of_tool(
        &self,
        settings: Option<&SyncSettings>,
        by_scripts: Option<&BTreeMap<u32, TableSet>>,
        reads: Option<&CachedNames>,
    ) -> ToolSync {
        let script_writes = by_scripts.into_iter().flatten().map(|(adapter, tables)| (*adapter, self.of_tables(*adapter, tables)));
        let (mut found, mut touched) = (BTreeSet::new(), BTreeSet::new());
        for (adapter, tables) in settings.iter().flat_map(|settings| &settings.writes) {
            let epochs = self.names.written(*adapter, tables, self.adapters);
            touched.extend((!epochs.is_empty()).then_some(*adapter));
            found.extend(epochs);
        }
        if let Some(settings) = settings.filter(|settings| !settings.invalidates.is_empty()) {
            for (key, of_adapters) in self.names.keys.iter().filter(|(key, _)| settings.invalidates(key)) {
                found.insert(format!("={key}"));
                touched.extend(of_adapters);
            }
        }
        ToolSync {
            reads: reads.map(|CachedNames { adapters, epochs }| CachedReads {
                epochs: epochs.iter().filter_map(|name| self.index(name)).collect(),
                unsettled: self.unsettled(adapters),
            }),
            writes: self.of_names(&found, &touched),
            script_writes: script_writes.filter(|(_, writes)| !writes.is_empty()).collect(),
            announces: settings.and_then(SyncSettings::announcement),
        }
    }
}

impl SyncSettings {
    fn invalidates(&self, key: &str) -> bool {
        self.invalidates.iter().any(|glob| glob.matches(key))
    }
}

fn name_of(adapters: &[Adapter], index: u32) -> &str {
    adapters.get(index as usize).map_or("", |adapter| adapter.name.as_str())
}

impl Written {
    fn add(&mut self, adapter: u32, tables: &TableSet) {
        match tables {
            TableSet::All => drop(self.all.insert(adapter)),
            TableSet::Named(names) => self.named.entry(adapter).or_default().extend(names.iter().cloned()),
        }
    }

    /// The epochs that the results of a tool depend on.
    fn read_by(&self, settings: &SyncSettings, adapters: &[Adapter]) -> Vec<String> {
        let nothing = BTreeSet::new();
        let mut found = BTreeSet::new();
        for (index, tables) in settings.reads.iter().filter(|(_, tables)| !tables.is_empty()) {
            let (adapter, named) = (name_of(adapters, *index), self.named.get(index).unwrap_or(&nothing));
            match tables {
                TableSet::Named(names) => found.extend(names.intersection(named).map(|table| table_epoch(adapter, table))),
                TableSet::All => found.extend((!named.is_empty()).then(|| format!("{adapter}:**"))),
            }
            found.extend(self.all.contains(index).then(|| format!("{adapter}:*")));
        }
        found.extend(self.keys.contains(&settings.key).then(|| format!("={}", settings.key)));
        found.into_iter().collect()
    }
}

impl Names {
    /// The epochs that a write begins, of those that something reads.
    fn written(&self, adapter: u32, tables: &TableSet, adapters: &[Adapter]) -> BTreeSet<String> {
        let adapter = name_of(adapters, adapter);
        let names: Vec<String> = match tables {
            TableSet::All => vec![format!("{adapter}:*")],
            TableSet::Named(names) if names.is_empty() => Vec::new(),
            TableSet::Named(names) => names.iter().map(|table| table_epoch(adapter, table)).chain([format!("{adapter}:**")]).collect(),
        };
        names.into_iter().filter(|name| self.read.contains(name)).collect()
    }
}

/// Whether a script takes part in a call. Which adapters it writes to is seen when it does so, and
/// nowhere before: nothing in its text says that it does not.
fn has_scripts(tool: &Tool) -> bool {
    let entries = tool.auth.iter().flat_map(Auth::entries);
    entries.into_iter().any(|entry| matches!(entry, Auth::Script { .. })) || tool.scripts().next().is_some()
}

/// The table of an audit entry.
fn of_audit(table: &AuditTable, adapters: &[Adapter]) -> TableSet {
    let connector = adapters.get(table.adapter as usize).and_then(|adapter| millrace_catalogue::find(&adapter.connector));
    let dialect = connector.and_then(|connector| connector.language.dialect());
    dialect.map_or(TableSet::All, |dialect| tables::of_text(&table.statement, dialect).writes)
}

fn check_globs(compiler: &mut Compiler<'_>, policies: &SyncPolicies, all: &AllSettings) {
    // A tool that could not be read may be the one that is meant.
    if compiler.findings.has_errors() {
        return;
    }
    let keys: BTreeSet<&str> = all.values().map(|settings| settings.key.as_str()).collect();
    let inherited = [&policies.defaults].into_iter().chain(policies.policies.iter().map(|(_, said)| said));
    let inherited = inherited.flat_map(|said| said.invalidates.iter().flat_map(|placed| &placed.value));
    let globs =
        policies.policies.iter().map(|(glob, _)| glob).chain(inherited).chain(all.values().flat_map(|settings| &settings.invalidates));
    for glob in glob::without_match(globs, &keys) {
        let help = if keys.is_empty() {
            String::new()
        } else {
            let some: Vec<String> = keys.iter().take(8).map(|key| format!("`{key}`")).collect();
            format!("The keys are {}{}.", some.join(", "), if keys.len() > some.len() { ", …" } else { "" })
        };
        compiler.findings.warning(&glob.source, glob.range.clone(), format!("no tool has a key that fits `{}`", glob.text), help);
    }
}
