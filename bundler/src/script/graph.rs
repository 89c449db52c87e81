//! The modules of a script, in the order in which they run, and what each name of theirs means.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use oxc::{allocator::Allocator, semantic::SymbolId};

use super::{
    module::{self, Module, Name, Origin},
    nesting,
    place::{Finding, whole_file},
    resolve::{self, Missing, Specifier},
};
use crate::{Diagnostic, Severity};

/// The names that `"millrace"` exports.
pub(super) const HOST: [&str; 9] =
    ["elicit", "error", "listRoots", "requireInput", "required", "response", "sample", "success", "toolError"];

/// Where a request leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A module of the script.
    Module(usize),
    /// `"millrace"`
    Host,
    /// Nowhere: it was reported, or belongs to a package.
    Nowhere,
}

/// One thing that a name can mean. Everything has one of these, whatever it is called where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    /// A binding of a module.
    Local(usize, SymbolId),
    /// The default export of a module, where it has no name of its own.
    Default(usize),
    /// All exports of a module.
    Namespace(usize),
    /// One export of `"millrace"`.
    Host(String),
    /// All of `"millrace"`.
    HostNamespace,
}

/// What a name of a module resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    Found(Binding),
    /// A type: nothing at run time.
    Type,
    /// Two `export *` have it.
    Ambiguous,
    Missing,
    /// Something was already reported.
    Unknown,
}

/// The modules of a script.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub(super) modules: Vec<Module<'a>>,
    /// For each module, where each of its requests leads.
    pub(super) targets: Vec<Vec<Target>>,
    /// Imports of packages: module, place of the request, specifier.
    pub(super) packages: Vec<(usize, usize)>,
}

/// Reads the entry and everything it imports. `folder` is canonical.
pub(super) fn load<'a>(allocator: &'a Allocator, folder: &Path, entry: &Path, diagnostics: &mut Vec<Diagnostic>) -> Graph<'a> {
    let mut graph = Graph { modules: Vec::new(), targets: Vec::new(), packages: Vec::new() };
    let mut found = BTreeMap::from([(entry.to_path_buf(), 0)]);
    let mut queue = vec![entry.to_path_buf()];
    let mut next = 0;
    while let Some(path) = queue.get(next).cloned() {
        let index = next;
        next += 1;
        let source: &'a str = match fs::read(folder.join(&path)).map(String::from_utf8) {
            Ok(Ok(text)) => allocator.alloc_str(text.strip_prefix('\u{feff}').unwrap_or(&text)),
            Ok(Err(_)) => {
                diagnostics.push(whole_file(&path, format!("`{}` is not UTF-8", path.display()), "save it as UTF-8"));
                ""
            }
            Err(error) => {
                let message = format!("`{}` cannot be read: {}", path.display(), error.kind());
                diagnostics.push(whole_file(&path, message, "check the file's permissions"));
                ""
            }
        };
        let too_deep = nesting::too_deep(source);
        diagnostics.extend(too_deep.as_ref().map(|finding| finding.clone().place(&path, source)));
        let source = if too_deep.is_some() { "" } else { source };
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let (module, findings) = if is_json { module::json(&path, source) } else { module::code(allocator, &path, source, false) };
        diagnostics.extend(findings.into_iter().map(|finding| finding.place(&path, source)));
        let from = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut targets = Vec::new();
        for (place, request) in module.requests.iter().enumerate() {
            let target = match resolve::classify(&request.specifier) {
                Specifier::Host => Target::Host,
                Specifier::Package => {
                    graph.packages.push((index, place));
                    Target::Nowhere
                }
                Specifier::Relative(specifier) => match resolve::relative(folder, &from, specifier) {
                    Ok(file) => Target::Module(*found.entry(file.clone()).or_insert_with(|| {
                        queue.push(file);
                        queue.len() - 1
                    })),
                    Err(missing) => {
                        diagnostics.push(unresolved(&request.specifier, missing, request.span, &from).place(&path, source));
                        Target::Nowhere
                    }
                },
                Specifier::Builtin(name) => {
                    let message = format!("`{}` is a module of Node, which scripts do not have", request.specifier);
                    diagnostics.push(Finding::new(request.span, message, resolve::builtin_remedy(name)).place(&path, source));
                    Target::Nowhere
                }
                Specifier::Absolute => {
                    let message = format!("`{}` is neither a relative path nor a package", request.specifier);
                    let help = "write a path below the app's folder that starts with `./` or `../`";
                    diagnostics.push(Finding::new(request.span, message, help).place(&path, source));
                    Target::Nowhere
                }
            };
            targets.push(target);
        }
        graph.modules.push(module);
        graph.targets.push(targets);
    }
    graph
}

fn unresolved(specifier: &str, missing: Missing, span: oxc::span::Span, from: &Path) -> Finding {
    match missing {
        Missing::Outside => Finding::new(
            span,
            format!("`{specifier}` leads out of the app's folder"),
            "move the file into the app's folder; links that lead out of it are refused, too",
        ),
        Missing::NotAModule(file) => {
            Finding::new(span, format!("`{file}` is not a module"), "scripts import `.ts`, `.mts`, `.js`, `.mjs` and `.json` files")
        }
        Missing::NotFound { tried, near: Some(near) } => Finding::new(
            span,
            format!("`{specifier}` names no file"),
            format!("there is `{near}`, which differs from `{}` in upper and lower case", closest(&tried, &near)),
        ),
        Missing::NotFound { tried, near: None } => {
            let place = if from.as_os_str().is_empty() { String::new() } else { format!(" from `{}`", resolve::slashes(from)) };
            let tried = tried.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
            Finding::new(span, format!("`{specifier}` names no file"), format!("create it; tried{place}: {tried}"))
        }
    }
}

fn closest<'t>(tried: &'t [String], near: &'t str) -> &'t str {
    tried.iter().find(|candidate| candidate.eq_ignore_ascii_case(near)).map_or(near, String::as_str)
}

impl Graph<'_> {
    /// What someone should look at, in every module.
    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        let places = self.modules.iter().flat_map(|module| module.warnings.iter().map(move |finding| (module, finding.clone())));
        places.map(|(module, finding)| Diagnostic { severity: Severity::Warning, ..finding.place(&module.path, module.source) }).collect()
    }

    /// The modules in the order of ECMAScript: what is imported first, each once, in the order of the imports.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::from([0]);
        let mut stack = vec![(0, 0)];
        while let Some((module, place)) = stack.pop() {
            match self.targets[module].get(place) {
                None => order.push(module),
                Some(target) => {
                    stack.push((module, place + 1));
                    if let Target::Module(next) = *target
                        && seen.insert(next)
                    {
                        stack.push((next, 0));
                    }
                }
            }
        }
        order
    }

    /// What `request` of `module` gives under `name`.
    pub(super) fn requested(&self, module: usize, request: usize, name: &Name) -> Resolution {
        self.through(module, request, name, &mut BTreeSet::new())
    }

    /// What `module` exports as `name`.
    pub(super) fn resolve(&self, module: usize, name: &str) -> Resolution {
        self.export(module, name, &mut BTreeSet::new())
    }

    /// The names that a module exports, sorted.
    pub(super) fn names(&self, module: usize) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.collect(module, &mut names, &mut BTreeSet::new());
        names.retain(|name| matches!(self.resolve(module, name), Resolution::Found(_)));
        names
    }

    fn collect(&self, module: usize, names: &mut BTreeSet<String>, seen: &mut BTreeSet<usize>) {
        if !seen.insert(module) {
            return;
        }
        let Some(code) = self.modules[module].code() else {
            names.insert("default".to_owned());
            return;
        };
        names.extend(code.exports.keys().cloned());
        for &star in &code.stars {
            let mut inner = BTreeSet::new();
            match self.targets[module][star] {
                Target::Module(next) => self.collect(next, &mut inner, seen),
                Target::Host => inner.extend(HOST.map(str::to_owned)),
                Target::Nowhere => {}
            }
            inner.remove("default");
            names.append(&mut inner);
        }
    }

    fn through(&self, module: usize, request: usize, name: &Name, seen: &mut BTreeSet<(usize, String)>) -> Resolution {
        match (self.targets[module][request], name) {
            (Target::Nowhere, _) => Resolution::Unknown,
            (Target::Host, Name::All) => Resolution::Found(Binding::HostNamespace),
            (Target::Host, Name::One(name)) => match HOST.contains(&name.as_str()) {
                true => Resolution::Found(Binding::Host(name.clone())),
                false => Resolution::Missing,
            },
            (Target::Module(next), Name::All) => Resolution::Found(Binding::Namespace(next)),
            (Target::Module(next), Name::One(name)) => self.export(next, name, seen),
        }
    }

    /// [`ResolveExport`](https://tc39.es/ecma262/#sec-resolveexport)
    fn export(&self, module: usize, name: &str, seen: &mut BTreeSet<(usize, String)>) -> Resolution {
        if !seen.insert((module, name.to_owned())) {
            return Resolution::Missing;
        }
        let Some(code) = self.modules[module].code() else {
            return if name == "default" { Resolution::Found(Binding::Default(module)) } else { Resolution::Missing };
        };
        if let Some(export) = code.exports.get(name) {
            return match &export.origin {
                Origin::Local(symbol) => Resolution::Found(Binding::Local(module, *symbol)),
                Origin::Default => Resolution::Found(Binding::Default(module)),
                Origin::From { request, name } => self.through(module, *request, name, seen),
            };
        }
        if code.types.contains(name) {
            return Resolution::Type;
        }
        if name == "default" {
            return Resolution::Missing;
        }
        let mut found = Resolution::Missing;
        for &star in &code.stars {
            match self.through(module, star, &Name::One(name.to_owned()), seen) {
                Resolution::Missing => {}
                other if found == Resolution::Missing || found == other => found = other,
                _ => return Resolution::Ambiguous,
            }
        }
        found
    }

    /// Checks that every imported and re-exported name exists, and that nothing assigns to an import.
    pub(super) fn check(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for (index, module) in self.modules.iter().enumerate() {
            let Some(code) = module.code() else { continue };
            let mut report = |finding: Finding| diagnostics.push(finding.place(&module.path, module.source));
            for import in &code.imports {
                let exported = code.exports.values().filter(|export| self.exports_import(export, import)).count();
                let is_used = code.scoping.get_resolved_reference_ids(import.symbol).len() > exported;
                if let Some(finding) = self.problem(index, import.request, &import.name, import.span, is_used) {
                    report(finding);
                }
                if code.scoping.get_resolved_references(import.symbol).any(|reference| reference.is_write()) {
                    report(Finding::new(
                        import.span,
                        format!("`{}` is imported and assigned to", import.alias),
                        "imports cannot be changed: export a function that changes the variable in its own module",
                    ));
                }
            }
            for export in code.exports.values() {
                let Origin::From { request, name } = &export.origin else { continue };
                if let Some(finding) = self.problem(index, *request, name, export.span, false) {
                    let is_import = code.imports.iter().any(|import| self.exports_import(export, import));
                    if !is_import {
                        report(finding);
                    }
                }
            }
        }
        diagnostics
    }

    fn exports_import(&self, export: &module::Export, import: &module::Import) -> bool {
        matches!(&export.origin, Origin::From { request, name } if *request == import.request && *name == import.name)
    }

    fn problem(&self, module: usize, request: usize, name: &Name, span: oxc::span::Span, is_value: bool) -> Option<Finding> {
        let Name::One(name) = name else { return None };
        let specifier = &self.modules[module].requests[request].specifier;
        match self.requested(module, request, &Name::One(name.clone())) {
            Resolution::Found(_) | Resolution::Unknown => None,
            Resolution::Type if !is_value => None,
            Resolution::Type => Some(Finding::new(
                span,
                format!("`{name}` of `{specifier}` is a type, and is used as a value"),
                format!("write `import type {{ {name} }}`, and use it in types only"),
            )),
            Resolution::Ambiguous => Some(Finding::new(
                span,
                format!("`{name}` comes from two `export *` of `{specifier}`"),
                "export it by name there: `export { … } from \"…\"`",
            )),
            Resolution::Missing => {
                let help = match self.targets[module][request] {
                    Target::Host => format!("`\"millrace\"` exports {}", list(HOST.iter().copied())),
                    Target::Module(next) if self.modules[next].code().is_none() => {
                        "a JSON file has a default export only: `import data from \"./data.json\"`".to_owned()
                    }
                    Target::Module(next) => {
                        let names = self.names(next);
                        let file = resolve::slashes(&self.modules[next].path);
                        match names.is_empty() {
                            true => format!("`{file}` exports nothing"),
                            false => format!("`{file}` exports {}", list(names.iter().map(String::as_str))),
                        }
                    }
                    Target::Nowhere => return None,
                };
                Some(Finding::new(span, format!("`{specifier}` has no export `{name}`"), help))
            }
        }
    }

    /// The files, sorted.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.modules.iter().map(|module| module.path.clone()).collect();
        files.sort();
        files
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
