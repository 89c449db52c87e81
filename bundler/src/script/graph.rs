//! The modules of a script, in the order in which they run, and what each name of theirs means.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
};

use base64::Engine as _;
use oxc::{allocator::Allocator, semantic::SymbolId};

use super::{
    commonjs::{self, Bridge, Format, Load, Place},
    intl, lower,
    module::{self, Module, Name, Origin, Request},
    nesting, node,
    npm::{self, Brought, Packages},
    place::{Finding, whole_file},
    resolve::{self, Missing, Specifier},
    settings::Configs,
    shake,
};
use crate::{Diagnostic, Severity, texts::Texts};

/// The names that `"millrace"` exports.
pub(super) const HOST: [&str; 18] = [
    "anonymous",
    "code",
    "echarts",
    "elicit",
    "error",
    "json",
    "list",
    "listRoots",
    "markdown",
    "mermaid",
    "requireInput",
    "required",
    "response",
    "sample",
    "success",
    "summary",
    "table",
    "toolError",
];

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
    /// The app imports packages.
    pub(super) uses_packages: bool,
    /// A file of a package cannot be used, so that what it exports is not known.
    pub(super) is_broken: bool,
    /// Modules and their requests that are an `import()` of what runs when the script is loaded.
    late: BTreeSet<(usize, usize)>,
    /// What works in part only, for the reader of `check`.
    pub(super) warnings: Vec<Diagnostic>,
    /// The files of settings that took part.
    pub(super) settings: BTreeSet<PathBuf>,
}

/// A file to read.
struct Queued {
    path: PathBuf,
    /// Where it belongs to a package: what is known of it, and how it came into the app.
    package: Option<(npm::File, Brought)>,
}

/// A request whose target depends on what kind of module it is.
struct Pending {
    module: usize,
    request: usize,
    wanted: Wanted,
}

/// What a request of the linker's own is for.
enum Wanted {
    /// The module that runs CommonJS.
    Runner,
    /// The module that stands for `import()` of what is not linked.
    Importer,
    Load(usize, Load),
}

/// What is read, and what is still to be read.
struct Reading<'a, 'd> {
    allocator: &'a Allocator,
    folder: &'d Path,
    /// What stands in place of the app's own files.
    texts: &'d Texts,
    /// `None` where the app cannot have packages.
    packages: Option<Packages>,
    graph: Graph<'a>,
    found: BTreeMap<PathBuf, usize>,
    queue: Vec<Queued>,
    pending: Vec<Pending>,
    /// What the CommonJS modules seem to export.
    common_js: BTreeMap<usize, BTreeSet<String>>,
    /// The modules that take the default export of CommonJS as Node does.
    node: BTreeSet<usize>,
    bytes: usize,
    /// The modules of Node that scripts do not have, by the package that imports them.
    absent: BTreeSet<(String, &'static str)>,
    configs: Configs,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// Reads the entry and everything it imports. `folder` is canonical.
pub(super) fn load<'a>(
    allocator: &'a Allocator,
    folder: &Path,
    entry: &Path,
    texts: &Texts,
    diagnostics: &mut Vec<Diagnostic>,
) -> Graph<'a> {
    let mut reading = Reading {
        allocator,
        folder,
        texts,
        packages: folder.join("package.json").is_file().then(|| Packages::new(folder)),
        graph: Graph {
            modules: Vec::new(),
            targets: Vec::new(),
            uses_packages: false,
            is_broken: false,
            late: BTreeSet::new(),
            warnings: Vec::new(),
            settings: BTreeSet::new(),
        },
        found: BTreeMap::from([(entry.to_path_buf(), 0)]),
        queue: vec![Queued { path: entry.to_path_buf(), package: None }],
        pending: Vec::new(),
        common_js: BTreeMap::new(),
        node: BTreeSet::new(),
        bytes: 0,
        absent: BTreeSet::new(),
        configs: Configs::new(folder),
        diagnostics,
    };
    let mut next = 0;
    while next < reading.queue.len() {
        reading.module(next);
        next += 1;
    }
    reading.join();
    reading.graph.settings = std::mem::take(&mut reading.configs.files);
    reading.graph
}

impl<'a> Reading<'a, '_> {
    /// The module of a file, which is read later.
    fn queue(&mut self, path: PathBuf, package: Option<(npm::File, Brought)>) -> Target {
        let index = *self.found.entry(path.clone()).or_insert_with(|| {
            self.queue.push(Queued { path, package });
            self.queue.len() - 1
        });
        Target::Module(index)
    }

    /// The text of a file. `None` where it was reported.
    fn text(&mut self, path: &Path, brought: Option<&Brought>) -> Option<&'a str> {
        let remedy = |own: &str| brought.map_or_else(|| own.to_owned(), |brought| npm::another(Some(brought)));
        let written = path.to_str().filter(|_| brought.is_none()).and_then(|path| self.texts.get(path));
        let bytes = written.map_or_else(|| fs::read(self.folder.join(path)), |text| Ok(text.as_bytes().to_vec()));
        let text = match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => {
                let message = format!("`{}` is not UTF-8", path.display());
                self.diagnostics.push(whole_file(path, message, remedy("save it as UTF-8")));
                return None;
            }
            Err(error) => {
                let message = format!("`{}` cannot be read: {}", path.display(), error.kind());
                self.diagnostics.push(whole_file(path, message, remedy("check the file's permissions")));
                return None;
            }
        };
        self.bytes = self.bytes.saturating_add(text.len());
        if brought.is_some() && self.bytes > npm::LIMIT_BYTES {
            if self.bytes - text.len() <= npm::LIMIT_BYTES {
                let message = format!("the script and its packages have more than {} MB of text", npm::LIMIT_BYTES >> 20);
                self.diagnostics.push(whole_file(path, message, npm::another(brought)));
            }
            return None;
        }
        let source: &'a str = self.allocator.alloc_str(text.strip_prefix('\u{feff}').unwrap_or(&text));
        match nesting::too_deep(source) {
            Some(finding) => {
                let help = if brought.is_some() { Some(npm::another(brought)) } else { finding.help.clone() };
                self.diagnostics.push(Finding { help, ..finding }.place(path, source));
                None
            }
            None => Some(source),
        }
    }

    fn module(&mut self, index: usize) {
        let Queued { path, package } = &self.queue[index];
        let (path, package) = (path.clone(), package.clone());
        if let Some(builtin) = path.to_str().filter(|path| path.starts_with(node::PREFIX)).and_then(node::find) {
            return self.of_node(&path, builtin);
        }
        if let Some((text, is_json)) = path.to_str().and_then(made_text) {
            return self.of_url(&path, &text, is_json);
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if let (Some((_, brought)), false) =
            (&package, matches!(extension, "" | "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "json"))
        {
            let message = format!("`{}` is neither a module nor JSON", path.display());
            self.diagnostics.push(whole_file(&path, message, npm::another(Some(brought))));
            self.nothing(&path);
            return;
        }
        let source = match (self.text(&path, package.as_ref().map(|(_, brought)| brought)), &package) {
            (Some(source), _) => source,
            (None, None) => "",
            (None, Some(_)) => return self.nothing(&path),
        };
        if extension == "json" {
            let (module, findings) = module::json(&path, source);
            return self.add(module, findings, Vec::new(), package.as_ref().map(|(_, brought)| brought));
        }
        let Some((file, brought)) = package else { return self.own(index, &path, source) };
        self.of_package(index, &path, source, &file, &brought);
    }

    /// A module whose text is a helper, or stands in a URL.
    fn of_url(&mut self, path: &Path, text: &str, is_json: bool) {
        let text = self.allocator.alloc_str(text);
        let (mut module, findings) = if is_json { module::json(path, text) } else { module::code(self.allocator, path, text, true) };
        module.is_made = true;
        module.has_effects = path.to_str().is_none_or(|path| !path.starts_with(lower::HELPERS));
        let targets = module.requests.iter().map(|_| Target::Nowhere).collect();
        self.add(module, findings, targets, None);
    }

    /// What stands in for a file of a package that cannot be used.
    fn nothing(&mut self, path: &Path) {
        self.graph.is_broken = true;
        let (module, findings) = module::code(self.allocator, path, "", true);
        self.add(module, findings, Vec::new(), None);
    }

    fn add(&mut self, module: Module<'a>, findings: Vec<Finding>, targets: Vec<Target>, brought: Option<&Brought>) {
        self.graph.is_broken |= brought.is_some() && !findings.is_empty();
        self.diagnostics.extend(findings.into_iter().map(|finding| match brought {
            Some(_) => module.place(Finding { help: Some(npm::another(brought)), ..finding }),
            None => module.place(finding),
        }));
        self.graph.modules.push(module);
        self.graph.targets.push(targets);
    }

    /// A module of Node.
    fn of_node(&mut self, path: &Path, builtin: &node::Builtin) {
        let (mut module, findings) = module::code(self.allocator, path, self.allocator.alloc_str(&builtin.text()), true);
        (module.is_made, module.has_effects, module.intl) = (true, false, intl::Use::default());
        let requests = std::mem::take(&mut module.requests);
        let targets = requests.iter().map(|request| self.node(&request.specifier)).collect();
        module.requests = requests;
        self.add(module, findings, targets, None);
    }

    /// The module of Node behind a specifier.
    fn node(&mut self, specifier: &str) -> Target {
        match node::find(specifier) {
            Some(builtin) => self.queue(PathBuf::from(format!("{}{}", node::PREFIX, builtin.name)), None),
            None => Target::Nowhere,
        }
    }

    /// The module of Node behind a specifier in a package, unless the package says what it stands
    /// for.
    fn node_of_package(&mut self, path: &Path, specifier: &str, brought: &Brought) -> Option<Target> {
        let builtin = node::find(specifier)?;
        if self.packages.as_ref().is_some_and(|packages| packages.replaces(path, specifier)) {
            return None;
        }
        let package = npm::package(path.to_str().unwrap_or_default().rsplit_once("node_modules/")?.1).to_owned();
        if !builtin.is_given && self.absent.insert((package.clone(), builtin.name)) {
            let message = format!("the package `{package}` imports `{}`, a module of Node that scripts do not have", builtin.name);
            let help = format!("what of it needs that module fails when it is called; `{}` imports `{}`", brought.file, brought.package);
            let warning = Finding::new(oxc::span::Span::new(0, 0), message, help).place(Path::new(&brought.file), "");
            self.graph.warnings.push(Diagnostic { severity: Severity::Warning, ..warning });
        }
        Some(self.node(specifier))
    }

    /// A file of the app.
    fn own(&mut self, index: usize, path: &Path, source: &'a str) {
        let settings = self.configs.settings(path, self.diagnostics);
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("cjs" | "cts") => Format::Unknown,
            _ => Format::Module,
        };
        let mut scan = if format == Format::Unknown || commonjs::may_load(source) {
            commonjs::scan(path, source, format).unwrap_or_default()
        } else {
            commonjs::Scan::default()
        };
        if index == 0 && scan.is_common_js {
            // What a script exports is what a module exports: the checks of modules say so.
            scan = commonjs::Scan::default();
        }
        scan.has_what_it_looks_for();
        let mut loads = Vec::new();
        for load in &scan.loads {
            let kind = if load.kind == Load::Require { npm::Kind::Require } else { npm::Kind::Import };
            match self.own_target(path, &load.specifier, load.at, kind) {
                Ok(Target::Module(target)) => loads.push(Some((target, load.kind))),
                Ok(_) => loads.push(None),
                Err(finding) => {
                    if !load.is_tried {
                        self.diagnostics.push(finding.place(path, source));
                    }
                    loads.push(None);
                }
            }
        }
        let found = |number: usize| if loads.get(number).is_some_and(Option::is_some) { Place::Module } else { Place::Nowhere };
        let (text, shift) = commonjs::rewritten(path, source, &scan, found);
        let from_packages = scan.is_common_js;
        let (mut module, findings) = module::code_with(self.allocator, path, self.allocator.alloc_str(&text), from_packages, &settings);
        (module.source, module.shift) = (source, shift);
        if path.extension().is_some_and(|extension| extension == "mjs" || extension == "mts")
            || self.packages.as_ref().is_some_and(|packages| packages.is_module(path))
        {
            self.node.insert(index);
        }
        let mut targets = Vec::new();
        for (request, Request { specifier, span }) in module.requests.iter().enumerate() {
            if let Some(target) = self.of_linker(index, request, specifier, &loads) {
                targets.push(target);
                continue;
            }
            targets.push(match self.own_target(path, specifier, *span, npm::Kind::Import) {
                Ok(target) => target,
                Err(finding) => {
                    self.diagnostics.push(module.place(finding));
                    Target::Nowhere
                }
            });
        }
        for (number, target) in targets.iter().enumerate() {
            if matches!(target, Target::Module(target) if is_of_node(&self.queue[*target].path)) {
                self.diagnostics.extend(absent_members(&module, number));
            }
        }
        if scan.is_common_js {
            self.common_js.insert(index, scan.exports);
        }
        self.add(module, findings, targets, None);
    }

    /// Where a request leads that the linker has put into a file.
    fn of_linker(&mut self, module: usize, request: usize, specifier: &str, loads: &[Option<(usize, Load)>]) -> Option<Target> {
        if specifier.strip_prefix(lower::HELPERS).is_some_and(|name| lower::helper(name).is_some()) {
            return Some(self.queue(PathBuf::from(specifier), None));
        }
        let load = specifier.strip_prefix(commonjs::LOAD).and_then(|number| number.parse::<usize>().ok());
        let load = load.and_then(|number| loads.get(number).copied().flatten());
        let wanted = match (specifier, load) {
            (commonjs::RUNNER, _) => Wanted::Runner,
            (commonjs::IMPORTER, _) => Wanted::Importer,
            (_, Some((target, kind))) => Wanted::Load(target, kind),
            (_, None) => return None,
        };
        self.pending.push(Pending { module, request, wanted });
        Some(Target::Nowhere)
    }

    /// Where a specifier in a file of the app leads.
    fn own_target(&mut self, path: &Path, specifier: &str, span: oxc::span::Span, kind: npm::Kind) -> Result<Target, Finding> {
        let from = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let class = resolve::classify(specifier);
        // What `paths` names goes before modules of Node, but where it says `node:`.
        if !matches!(class, Specifier::Host | Specifier::Relative(_)) && !specifier.starts_with("node:") {
            let paths = self.configs.paths(path, specifier, self.diagnostics);
            let file = |below: &PathBuf| resolve::relative(self.folder, Path::new(""), &format!("./{}", resolve::slashes(below))).ok();
            if let Some(file) = paths.iter().find_map(file) {
                return Ok(self.queue(file, None));
            }
        }
        match class {
            Specifier::Host => Ok(Target::Host),
            Specifier::Package => {
                self.graph.uses_packages = true;
                let name = npm::package(specifier);
                let found = match &self.packages {
                    Some(packages) => packages.find(path, specifier, kind, None),
                    None => Err(npm::Nowhere {
                        message: format!("`{name}` is a package, and the app's folder has no `package.json`"),
                        help: format!("run `npm init -y && npm install {name}` there; a file of the app starts with `./`"),
                        is_missing: false,
                        is_empty: false,
                    }),
                };
                let file = found.map_err(|nowhere| Finding::new(span, nowhere.message, nowhere.help))?;
                if self.packages.as_ref().is_some_and(|packages| packages.is_own(specifier, &file.path)) {
                    return Ok(self.queue(file.path, None));
                }
                let brought = Brought { package: name.to_owned(), file: resolve::slashes(path) };
                Ok(self.queue(file.path.clone(), Some((file, brought))))
            }
            Specifier::Relative(relative) => match resolve::relative(self.folder, &from, relative) {
                Ok(file) => Ok(self.queue(file, None)),
                Err(missing) => Err(unresolved(specifier, missing, span, &from)),
            },
            Specifier::Builtin(_) if node::find(specifier).is_some_and(|builtin| builtin.is_given) => Ok(self.node(specifier)),
            Specifier::Builtin(name) => {
                let message = format!("`{specifier}` is a module of Node, which scripts do not have");
                Err(Finding::new(span, message, node::remedy(name)))
            }
            Specifier::Absolute => match made_text(specifier).map(|(text, is_json)| problem_of_url(&text, is_json)) {
                Some(None) => Ok(self.queue(PathBuf::from(specifier), None)),
                Some(Some(problem)) => {
                    let message = format!("the module in the `data:` URL cannot be used: {problem}");
                    Err(Finding::new(span, message, "move it into a file of its own, and import that"))
                }
                None => {
                    let message = format!("`{specifier}` is neither a relative path nor a package");
                    let help = "write a path below the app's folder that starts with `./` or `../`";
                    Err(Finding::new(span, message, help))
                }
            },
        }
    }

    /// A file of a package.
    fn of_package(&mut self, index: usize, path: &Path, source: &'a str, file: &npm::File, brought: &Brought) {
        let scan = commonjs::scan(path, source, file.format).unwrap_or_default();
        let (mut loads, mut empty) = (Vec::new(), BTreeSet::new());
        for load in &scan.loads {
            let has = node::find(&load.specifier).is_some_and(|builtin| builtin.is_given);
            if let Some(target) = if load.specifier == "millrace" {
                Some(Target::Host)
            } else if load.is_tried && !has {
                None
            } else {
                self.node_of_package(path, &load.specifier, brought)
            } {
                loads.push(if let Target::Module(target) = target { Some((target, load.kind)) } else { None });
                continue;
            }
            let kind = if load.kind == Load::Require { npm::Kind::Require } else { npm::Kind::Import };
            match self.found_from(path, &load.specifier, kind, brought) {
                Ok(file) => match self.queue(file.path.clone(), Some((file, brought.clone()))) {
                    Target::Module(target) => loads.push(Some((target, load.kind))),
                    _ => loads.push(None),
                },
                Err(nowhere) if nowhere.is_empty => {
                    empty.insert(loads.len());
                    loads.push(None);
                }
                Err(nowhere) => {
                    if !(nowhere.is_missing && (load.is_tried || load.is_conditional)) {
                        self.diagnostics.push(Finding::new(load.at, nowhere.message, nowhere.help).place(path, source));
                    }
                    loads.push(None);
                }
            }
        }
        let found = |number: usize| match loads.get(number) {
            Some(Some(_)) => Place::Module,
            _ if empty.contains(&number) => Place::Empty,
            _ => Place::Nowhere,
        };
        let (text, shift) = commonjs::rewritten(path, source, &scan, found);
        let (mut module, findings) = module::code(self.allocator, path, self.allocator.alloc_str(&text), true);
        (module.source, module.shift, module.has_effects) = (source, shift, file.has_effects);
        module.stands_for_common_js = file.format == Format::Unknown && !scan.is_common_js;
        let mut targets = Vec::new();
        for (request, Request { specifier, span }) in module.requests.iter().enumerate() {
            if let Some(target) = self.of_linker(index, request, specifier, &loads) {
                targets.push(target);
                continue;
            }
            targets.push(self.imported(path, specifier, brought).unwrap_or_else(|nowhere| {
                self.diagnostics.push(module.place(Finding::new(*span, nowhere.message, nowhere.help)));
                Target::Nowhere
            }));
        }
        if file.format == Format::Module {
            self.node.insert(index);
        }
        if scan.is_common_js {
            self.common_js.insert(index, scan.exports);
        }
        self.add(module, findings, targets, Some(brought));
    }

    /// What a file of a package imports.
    fn imported(&mut self, path: &Path, specifier: &str, brought: &Brought) -> Result<Target, npm::Nowhere> {
        if specifier == "millrace" {
            return Ok(Target::Host);
        }
        if let Some(target) = self.node_of_package(path, specifier, brought) {
            return Ok(target);
        }
        match self.found_from(path, specifier, npm::Kind::Import, brought) {
            Ok(file) => Ok(self.queue(file.path.clone(), Some((file, brought.clone())))),
            Err(nowhere) if nowhere.is_empty => Ok(Target::Nowhere),
            Err(nowhere) => Err(nowhere),
        }
    }

    /// The file that a file of a package means.
    fn found_from(&self, path: &Path, specifier: &str, kind: npm::Kind, brought: &Brought) -> Result<npm::File, npm::Nowhere> {
        let nowhere = npm::Nowhere { message: String::new(), help: String::new(), is_missing: true, is_empty: false };
        self.packages.as_ref().map_or(Err(nowhere), |packages| packages.find(path, specifier, kind, Some(brought)))
    }

    /// Joins modules of both kinds.
    fn join(&mut self) {
        let imports = self.imports_of_common_js();
        for (&(_, target), names) in &imports {
            if let Some(known) = self.common_js.get_mut(&target) {
                known.extend(names.iter().cloned());
            }
        }
        let mut bridges = BTreeMap::new();
        let (mut runner, mut importer) = (None, None);
        for Pending { module, request, wanted } in std::mem::take(&mut self.pending) {
            let index = match wanted {
                Wanted::Runner => *runner.get_or_insert_with(|| self.made(Path::new("commonjs.js"), commonjs::RUNNER_TEXT, None)),
                Wanted::Importer => *importer.get_or_insert_with(|| self.made(Path::new("import.js"), commonjs::IMPORTER_TEXT, None)),
                Wanted::Load(target, kind) => match (kind, self.common_js.contains_key(&target), self.graph.modules[target].code()) {
                    (Load::Require, true, _) => target,
                    (Load::Require, false, None) => self.bridge(&mut bridges, target, Bridge::RequiredDefault),
                    (Load::Require, false, Some(_)) if is_of_node(&self.graph.modules[target].path) => {
                        self.bridge(&mut bridges, target, Bridge::RequiredDefault)
                    }
                    (Load::Require, false, Some(_)) => self.bridge(&mut bridges, target, Bridge::RequiredModule),
                    (Load::Import, true, _) => {
                        let node = self.node.contains(&module);
                        self.bridge(&mut bridges, target, Bridge::PromisedCommonJs { node })
                    }
                    (Load::Import, false, _) => {
                        self.graph.late.insert((module, request));
                        self.bridge(&mut bridges, target, Bridge::Promised)
                    }
                },
            };
            self.graph.targets[module][request] = Target::Module(index);
        }
        for (module, target) in imports.into_keys() {
            let bridge = self.bridge(&mut bridges, target, Bridge::Imported { node: self.node.contains(&module) });
            for place in &mut self.graph.targets[module] {
                if *place == Target::Module(target) {
                    *place = Target::Module(bridge);
                }
            }
        }
    }

    /// What modules of ECMAScript import of CommonJS ones, by importer and imported.
    fn imports_of_common_js(&self) -> BTreeMap<(usize, usize), BTreeSet<String>> {
        let mut imports: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
        for (index, module) in self.graph.modules.iter().enumerate() {
            let Some(code) = module.code() else { continue };
            let target = |request: usize| match self.graph.targets[index].get(request) {
                Some(Target::Module(target)) if self.common_js.contains_key(target) => Some(*target),
                _ => None,
            };
            for target in (0..module.requests.len()).filter_map(target) {
                imports.entry((index, target)).or_default();
            }
            let exported = code.exports.values().filter_map(|export| match &export.origin {
                Origin::From { request, name: Name::One(name) } => Some((*request, name)),
                _ => None,
            });
            let imported = code.imports.iter().filter_map(|import| match &import.name {
                Name::One(name) => Some((import.request, name)),
                Name::All => None,
            });
            for (request, name) in exported.chain(imported) {
                if let Some(target) = target(request) {
                    imports.entry((index, target)).or_default().insert(name.clone());
                }
            }
            let all: Vec<_> = code.imports.iter().filter(|import| import.name == Name::All && target(import.request).is_some()).collect();
            let symbols: Vec<SymbolId> = all.iter().map(|import| import.symbol).collect();
            if symbols.is_empty() {
                continue;
            }
            for (symbol, name) in commonjs::members(&code.program, &code.scoping, &symbols) {
                if let Some(target) = all.iter().find(|import| import.symbol == symbol).and_then(|import| target(import.request)) {
                    imports.entry((index, target)).or_default().insert(name);
                }
            }
        }
        imports
    }

    fn bridge(&mut self, bridges: &mut BTreeMap<(usize, Bridge), usize>, target: usize, bridge: Bridge) -> usize {
        if let Some(made) = bridges.get(&(target, bridge)) {
            return *made;
        }
        let names = self.common_js.get(&target).cloned().unwrap_or_default();
        let path = self.graph.modules[target].path.clone();
        let made = self.made(&path, &bridge.text(&names), Some(target));
        self.graph.modules[made].has_effects = matches!(bridge, Bridge::Imported { .. }) && self.graph.modules[target].has_effects;
        bridges.insert((target, bridge), made);
        made
    }

    /// A module that has no file.
    fn made(&mut self, path: &Path, text: &str, target: Option<usize>) -> usize {
        let (mut module, findings) = module::code(self.allocator, path, self.allocator.alloc_str(text), true);
        (module.is_made, module.has_effects) = (true, false);
        let targets = module.requests.iter().map(|_| target.map_or(Target::Nowhere, Target::Module)).collect();
        self.add(module, findings, targets, None);
        self.graph.modules.len() - 1
    }
}

/// The text behind a path that is not one: a helper, or a `data:` URL. And whether it is JSON.
fn made_text(path: &str) -> Option<(String, bool)> {
    if let Some(text) = path.strip_prefix(lower::HELPERS).and_then(lower::helper) {
        return Some((text.to_owned(), false));
    }
    let (kind, data) = path.strip_prefix("data:")?.split_once(',')?;
    let mut words = kind.split(';');
    let is_json = match words.next()?.trim() {
        "text/javascript" | "application/javascript" => false,
        "application/json" => true,
        _ => return None,
    };
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(data).collect();
    let bytes = match words.next_back() {
        Some("base64") => base64::engine::general_purpose::STANDARD.decode(bytes).ok()?,
        _ => bytes,
    };
    Some((String::from_utf8(bytes).ok()?, is_json))
}

/// Why the text of a `data:` URL is not used as a module. Its places would be places in the URL: it
/// is said where the URL is.
fn problem_of_url(text: &str, is_json: bool) -> Option<String> {
    if is_json {
        let (_, findings) = module::json(Path::new("data:"), text);
        return findings.into_iter().next().map(|finding| finding.message);
    }
    if let Some(finding) = nesting::too_deep(text) {
        return Some(finding.message);
    }
    let path = Path::new("data.js");
    let allocator = Allocator::default();
    let (module, findings) = module::code(&allocator, path, text, true);
    if let Some(finding) = findings.into_iter().next() {
        return Some(finding.message);
    }
    let loads = commonjs::scan(path, text, Format::Module).unwrap_or_default().loads;
    let imported = module.requests.iter().map(|request| &request.specifier).chain(loads.iter().map(|load| &load.specifier)).next()?;
    Some(format!("it imports `{imported}`, and only files import others"))
}

/// Whether it is the path of a module of Node.
fn is_of_node(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with(node::PREFIX))
}

/// What a file of the app takes of a module of Node, and is not there.
fn absent_members(module: &Module<'_>, request: usize) -> Vec<Diagnostic> {
    let (Some(code), Some(builtin)) = (module.code(), node::find(&module.requests[request].specifier)) else { return Vec::new() };
    let mut found = BTreeMap::new();
    let mut whole = Vec::new();
    for import in code.imports.iter().filter(|import| import.request == request) {
        match &import.name {
            Name::One(name) if name != "default" => {
                found.insert(name.clone(), import.span);
            }
            _ => whole.push(import),
        }
    }
    let symbols: Vec<SymbolId> = whole.iter().map(|import| import.symbol).collect();
    for (symbol, name) in commonjs::members(&code.program, &code.scoping, &symbols) {
        if let Some(import) = whole.iter().find(|import| import.symbol == symbol) {
            found.entry(name).or_insert(import.span);
        }
    }
    let absent = found.into_iter().filter(|(name, _)| builtin.absent.contains(&name.as_str()));
    let finding = |(name, span)| {
        let message = format!("`{name}` of Node's module `{}` is not available in scripts", builtin.name);
        module.place(Finding::new(span, message, node::remedy(builtin.name)))
    };
    absent.map(finding).collect()
}

fn unresolved(specifier: &str, missing: Missing, span: oxc::span::Span, from: &Path) -> Finding {
    match missing {
        Missing::Outside => Finding::new(
            span,
            format!("`{specifier}` leads out of the app's folder"),
            "move the file into the app's folder; links that lead out of it are refused, too",
        ),
        Missing::NotAModule(file) => Finding::new(
            span,
            format!("`{file}` is not a module"),
            "scripts import modules of TypeScript and JavaScript, and `.json` files",
        ),
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

/// The parts of a script that its program needs.
#[derive(Debug)]
pub(super) struct Kept {
    /// The modules, in their order.
    pub(super) modules: Vec<usize>,
    /// Modules and the numbers of their statements.
    statements: BTreeSet<(usize, usize)>,
}

impl Kept {
    pub(super) fn has(&self, module: usize, statement: usize) -> bool {
        self.statements.contains(&(module, statement))
    }
}

/// Follows names to the statements that declare them.
struct Walk<'g, 'a> {
    graph: &'g Graph<'a>,
    facts: Vec<Option<shake::Facts>>,
    /// For each module, the imports behind its names.
    imports: Vec<BTreeMap<SymbolId, usize>>,
    modules: Vec<usize>,
    bindings: Vec<Binding>,
    statements: Vec<(usize, usize)>,
    needed: BTreeSet<usize>,
    namespaces: BTreeSet<usize>,
    kept: BTreeSet<(usize, usize)>,
}

impl<'g, 'a> Walk<'g, 'a> {
    fn new(graph: &'g Graph<'a>) -> Self {
        let imports = |module: &Module<'_>| {
            let imports = module.code().map_or(&[] as &[_], |code| &code.imports);
            imports.iter().enumerate().map(|(number, import)| (import.symbol, number)).collect()
        };
        Self {
            graph,
            facts: graph.modules.iter().map(|module| module.code().map(shake::facts)).collect(),
            imports: graph.modules.iter().map(imports).collect(),
            modules: Vec::new(),
            bindings: Vec::new(),
            statements: Vec::new(),
            needed: BTreeSet::new(),
            namespaces: BTreeSet::new(),
            kept: BTreeSet::new(),
        }
    }

    /// `runs`: modules are run, so that what has effects is needed, too.
    fn run(&mut self, runs: bool) {
        loop {
            if let Some(binding) = self.bindings.pop() {
                self.binding(&binding);
            } else if let Some((module, statement)) = self.statements.pop() {
                self.statement(module, statement);
            } else if let Some(module) = self.modules.pop() {
                if runs && self.needed.insert(module) {
                    self.module(module);
                }
            } else {
                return;
            }
        }
    }

    fn binding(&mut self, binding: &Binding) {
        match *binding {
            Binding::Local(module, symbol) => {
                self.modules.push(module);
                self.declared(module, symbol);
            }
            Binding::Default(module) => {
                self.modules.push(module);
                let default = self.facts[module].as_ref().and_then(|facts| facts.default);
                self.statements.extend(default.map(|statement| (module, statement)));
            }
            Binding::Namespace(module) if self.namespaces.insert(module) => {
                self.modules.push(module);
                let graph = self.graph;
                self.bindings.extend(graph.names(module).iter().filter_map(|name| found(graph.resolve(module, name))));
            }
            Binding::Namespace(_) | Binding::Host(_) | Binding::HostNamespace => {}
        }
    }

    fn declared(&mut self, module: usize, symbol: SymbolId) {
        let statements = self.facts[module].as_ref().and_then(|facts| facts.declared.get(&symbol));
        self.statements.extend(statements.into_iter().flatten().map(|statement| (module, *statement)));
    }

    fn statement(&mut self, module: usize, statement: usize) {
        if !self.kept.insert((module, statement)) {
            return;
        }
        let uses = self.facts[module].as_ref().map(|facts| facts.statements[statement].uses.clone()).unwrap_or_default();
        for symbol in uses {
            match (self.imports[module].get(&symbol), self.graph.modules[module].code()) {
                (Some(import), Some(code)) => {
                    let import = &code.imports[*import];
                    self.bindings.extend(found(self.graph.requested(module, import.request, &import.name)));
                }
                _ => self.declared(module, symbol),
            }
        }
    }

    fn module(&mut self, module: usize) {
        for target in &self.graph.targets[module] {
            if let Target::Module(target) = target
                && self.graph.modules[*target].has_effects
            {
                self.modules.push(*target);
            }
        }
        let keeps_all = self.graph.is_own(module);
        let Some(facts) = &self.facts[module] else { return };
        let statements = facts.statements.iter().enumerate().filter(|(_, fact)| keeps_all || fact.has_effects);
        self.statements.extend(statements.map(|(statement, _)| (module, statement)));
    }
}

fn found(resolution: Resolution) -> Option<Binding> {
    if let Resolution::Found(binding) = resolution { Some(binding) } else { None }
}

impl Graph<'_> {
    /// The modules in the order of ECMAScript: what is imported first, each once, in the order of
    /// the imports. What only `import()` loads comes last, as its promise is kept when all others
    /// have run. Where a module awaits it may be awaited there, and comes after the imports of its
    /// module.
    pub(super) fn order(&self) -> Vec<usize> {
        let waits = self.modules.iter().any(|module| module.code().is_some_and(|code| code.awaits.is_some()));
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        let mut late = VecDeque::from([0]);
        while let Some(first) = late.pop_front() {
            if !seen.insert(first) {
                continue;
            }
            let mut stack = vec![(first, 0)];
            while let Some((module, place)) = stack.pop() {
                let Some(target) = self.targets[module].get(place) else {
                    order.push(module);
                    continue;
                };
                stack.push((module, place + 1));
                let Target::Module(next) = *target else { continue };
                if !waits && self.late.contains(&(module, place)) {
                    late.push_back(next);
                } else if seen.insert(next) {
                    stack.push((next, 0));
                }
            }
        }
        order
    }

    /// What the program needs. A module without effects is needed where something of it is used; of
    /// a package, only the statements that do something, and what they and others use.
    pub(super) fn kept(&self) -> Kept {
        let mut walk = Walk::new(self);
        walk.modules.push(0);
        let names = self.names(0);
        walk.bindings.extend(names.iter().filter_map(|name| found(self.resolve(0, name))));
        walk.run(true);
        let modules = self.order().into_iter().filter(|module| walk.needed.contains(module)).collect();
        Kept { modules, statements: walk.kept }
    }

    /// The variables of the app's own modules that a call assigns, each once: those that functions
    /// assign which can be reached from the exports of the script.
    pub(super) fn assigned_in_calls(&self) -> Vec<Diagnostic> {
        let mut walk = Walk::new(self);
        walk.bindings.extend(self.names(0).iter().filter_map(|name| found(self.resolve(0, name))));
        walk.run(false);
        let mut places = BTreeMap::new();
        for &(index, statement) in &walk.kept {
            let (Some(facts), Some(code)) = (&walk.facts[index], self.modules[index].code()) else { continue };
            if !self.is_own(index) {
                continue;
            }
            for (symbol, span) in &facts.statements[statement].assigned {
                let place = places.entry((index, *symbol)).or_insert((*span, code.scoping.symbol_name(*symbol)));
                if span.start < place.0.start {
                    place.0 = *span;
                }
            }
        }
        let warning = |((index, _), (span, name)): ((usize, SymbolId), (oxc::span::Span, &str))| {
            let finding = Finding::new(
                span,
                format!("`{name}` is a variable of the module, and what a call assigns to it does not outlive the call"),
                "each call begins with what the modules were when they were loaded: keep what must last in a database, or pass the value on",
            );
            Diagnostic { severity: Severity::Warning, ..self.modules[index].place(finding) }
        };
        places.into_iter().map(warning).collect()
    }

    /// Whether a module is a file of the app.
    pub(super) fn is_own(&self, module: usize) -> bool {
        let module = &self.modules[module];
        let outside = |part: std::path::Component<'_>| part.as_os_str() == "node_modules" || part == std::path::Component::ParentDir;
        !module.is_made && !module.path.components().any(outside)
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
            (Target::Module(next), Name::One(name)) => match self.export(next, name, seen) {
                // Where Node would read a file of CommonJS instead, all of it is the default
                // export.
                Resolution::Missing if name == "default" && self.modules[next].stands_for_common_js => {
                    Resolution::Found(Binding::Namespace(next))
                }
                resolution => resolution,
            },
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

    /// Checks that every imported and re-exported name exists, and that nothing assigns to an
    /// import.
    pub(super) fn check(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        if self.is_broken {
            return diagnostics;
        }
        for (index, module) in self.modules.iter().enumerate() {
            let Some(code) = module.code() else { continue };
            let mut report = |finding: Finding| diagnostics.push(module.place(finding));
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
        let mut files: Vec<PathBuf> = self.modules.iter().filter(|module| !module.is_made).map(|module| module.path.clone()).collect();
        files.sort();
        files
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
