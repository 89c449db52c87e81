//! Names for everything that stands in the one scope of a linked program.
//!
//! All modules share one function scope, so a top-level name of one module may be taken by another,
//! hidden by a local name where it is imported, or be that of a global which some module means.
//! Whatever collides gets a number: `format$1`. A script of one module keeps all its names.

use std::collections::{BTreeMap, BTreeSet};

use oxc::semantic::SymbolFlags;

use super::{
    graph::{Binding, Graph, Resolution},
    module::Name,
};

/// The names of a program.
#[derive(Debug)]
pub(super) struct Names {
    of: BTreeMap<Binding, String>,
    /// The modules whose namespace objects are needed, in the order of their names' choice.
    pub(super) namespaces: Vec<usize>,
    /// The exports of `"millrace"` that are needed.
    pub(super) host: Vec<String>,
}

impl Names {
    /// The name of a binding.
    pub(super) fn of(&self, binding: &Binding) -> &str {
        self.of.get(binding).map_or("undefined", String::as_str)
    }
}

/// Chooses the names.
pub(super) fn names(graph: &Graph<'_>, order: &[usize]) -> Names {
    let uses = uses(graph, order);
    let mut chooser = Chooser { of: BTreeMap::new(), taken: BTreeSet::new(), nested: Vec::new(), uses: &uses };
    for module in &graph.modules {
        let mut nested = BTreeSet::new();
        if let Some(code) = module.code() {
            let root = code.scoping.root_scope_id();
            let inner = code.scoping.symbol_ids().filter(|symbol| code.scoping.symbol_scope_id(*symbol) != root);
            nested.extend(inner.map(|symbol| code.scoping.symbol_name(symbol).to_owned()));
            // A class that gets another name keeps its own one inside.
            let symbols = code.scoping.get_bindings(root).values().copied();
            let classes = symbols.filter(|symbol| code.scoping.symbol_flags(*symbol).contains(SymbolFlags::Class));
            nested.extend(classes.map(|symbol| code.scoping.symbol_name(symbol).to_owned()));
            chooser.taken.extend(code.scoping.root_unresolved_references().keys().map(|name| name.as_str().to_owned()));
        }
        chooser.nested.push(nested);
    }
    let namespaces = namespaces(graph, &uses);
    if !namespaces.is_empty() {
        chooser.taken.insert("Object".to_owned());
    }

    // The entry first: its names are the ones that people look for in stacks.
    let modules: Vec<usize> = std::iter::once(0).chain(order.iter().copied().filter(|module| *module != 0)).collect();
    for &module in &modules {
        let Some(code) = graph.modules[module].code() else { continue };
        let imported: BTreeSet<_> = code.imports.iter().map(|import| import.symbol).collect();
        let mut symbols: Vec<_> = code.scoping.get_bindings(code.scoping.root_scope_id()).values().copied().collect();
        symbols.sort_unstable();
        for symbol in symbols.into_iter().filter(|symbol| !imported.contains(symbol)) {
            chooser.choose(Binding::Local(module, symbol), code.scoping.symbol_name(symbol), Some(module));
        }
    }
    for &module in &modules {
        chooser.choose(Binding::Default(module), &format!("{}_default", stem(graph, module)), None);
    }
    for &module in &namespaces {
        chooser.choose(Binding::Namespace(module), &format!("{}_exports", stem(graph, module)), None);
    }
    let mut host = Vec::new();
    for (binding, uses) in &uses {
        let Binding::Host(name) = binding else { continue };
        host.push(name.clone());
        let base = uses.first().map_or(name, |(_, alias)| alias).clone();
        chooser.choose(binding.clone(), &base, None);
    }
    chooser.choose(Binding::HostNamespace, "host", None);
    Names { of: chooser.of, namespaces, host }
}

type Uses = BTreeMap<Binding, Vec<(usize, String)>>;

/// Which module uses what, under which name of its own. What the entry exports, and what namespace
/// objects hold, counts as used.
fn uses(graph: &Graph<'_>, order: &[usize]) -> Uses {
    let mut uses = Uses::new();
    for &module in order {
        for import in graph.modules[module].code().iter().flat_map(|code| &code.imports) {
            if let Resolution::Found(binding) = graph.requested(module, import.request, &import.name) {
                uses.entry(binding).or_default().push((module, import.alias.clone()));
            }
        }
    }
    let mut open = vec![0];
    open.extend(uses.keys().filter_map(|binding| if let Binding::Namespace(module) = binding { Some(*module) } else { None }));
    let mut seen = BTreeSet::new();
    while let Some(module) = open.pop() {
        if !seen.insert(module) {
            continue;
        }
        for name in graph.names(module) {
            let Resolution::Found(binding) = graph.resolve(module, &name) else { continue };
            if let Binding::Namespace(inner) = binding {
                open.push(inner);
            }
            uses.entry(binding).or_default();
        }
    }
    uses
}

fn namespaces(_graph: &Graph<'_>, uses: &Uses) -> Vec<usize> {
    uses.keys().filter_map(|binding| if let Binding::Namespace(module) = binding { Some(*module) } else { None }).collect()
}

/// The file's name as a part of an identifier; the folder's, where the file is an `index`.
fn stem(graph: &Graph<'_>, module: usize) -> String {
    let path = &graph.modules[module].path;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().and_then(|parent| parent.file_name()).map(|name| name.to_string_lossy().into_owned());
    let text = if stem == "index" { folder.unwrap_or(stem) } else { stem };
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name
}

struct Chooser<'u> {
    of: BTreeMap<Binding, String>,
    /// Names that are chosen, and globals that some module means.
    taken: BTreeSet<String>,
    /// For each module, the names of its inner scopes, those of its classes among them.
    nested: Vec<BTreeSet<String>>,
    uses: &'u Uses,
}

impl Chooser<'_> {
    fn choose(&mut self, binding: Binding, base: &str, home: Option<usize>) {
        let mut number = 0;
        let mut name = base.to_owned();
        while !self.fits(&binding, &name, base, home) {
            number += 1;
            name = format!("{base}${number}");
        }
        self.taken.insert(name.clone());
        self.of.insert(binding, name);
    }

    fn fits(&self, binding: &Binding, name: &str, base: &str, home: Option<usize>) -> bool {
        if self.taken.contains(name) {
            return false;
        }
        // Where a module calls it by this very name, whatever hides it there was meant to.
        let hidden = |module: usize, alias: &str| alias != name && self.nested[module].contains(name);
        !home.is_some_and(|module| hidden(module, base))
            && !self.uses.get(binding).is_some_and(|uses| uses.iter().any(|(module, alias)| hidden(*module, alias)))
    }
}

/// The name that a module's import gets in the program.
pub(super) fn of_import<'n>(graph: &Graph<'_>, names: &'n Names, module: usize, request: usize, name: &Name) -> Option<&'n str> {
    match graph.requested(module, request, name) {
        Resolution::Found(binding) => Some(names.of(&binding)),
        _ => None,
    }
}
