//! The linker of scripts: TypeScript or JavaScript modules in, one program out.
//!
//! # The program
//! One JavaScript expression: a strict function that takes `host`, the exports of the module
//! `"millrace"`, and returns the exports of the entry, as an object without prototype. Where a
//! module awaits outside of its functions the function is `async` and returns a promise of them.
//! The engine calls it with `this` undefined, which runs every module's body.
//!
//! All modules stand in that one function, in the order of ECMAScript (what is imported first), and
//! share its scope; an import *is* the binding that it imports. So live bindings, hoisted
//! functions, cycles and the temporal dead zone are those of ECMAScript, without any work at run
//! time. Names that collide get a number (`format$1`). `import * as x` and `export * as x` make one
//! frozen object with getters.
//!
//! What differs from ECMAScript: a module that awaits holds up the modules after it even where they
//! do not import it; what a module declares with `using` outside of its functions is disposed of
//! when all modules have run; the `name` of a default export without a name is that of its file
//! (`handler_default`), and that of a function whose name collided has the number.
//!
//! # Places
//! Lines and columns are those of the program; [`Linked::map`] leads from both to the author's.
//!
//! # Packages
//! A package is found by the rules of Node, see `npm`, and its files are modules like the others;
//! those that are CommonJS are rewritten first, see `commonjs`. A file of a package whose
//! `package.json` says that it has no side effects is left out where nothing of it is used, and so
//! is each statement of a package that does nothing but declare what nobody uses, see `shake`. The
//! app's own modules are kept whole.
//!
//! # Syntax
//! What the engine does not know is lowered: types, decorators, `accessor`, JSX; see `lower` and
//! `settings`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, panic,
    path::{Path, PathBuf},
    thread,
};

use millrace_core::app::ScriptMap;
use oxc::{allocator::Allocator, span::GetSpan};

use crate::{Diagnostic, Severity, texts::Texts};

pub use globals::GLOBALS;
pub(crate) use inputs::{UseForm, export_range, handler_inputs, names};
pub use named::{AppPart, ScriptReference};

mod check;
mod commonjs;
mod globals;
mod graph;
mod inputs;
pub(crate) mod intl;
mod language;
mod lower;
mod module;
mod name;
mod named;
mod nesting;
mod node;
mod npm;
mod place;
mod print;
mod resolve;
mod settings;
mod shake;
mod statements;

/// A linked script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The program; see [`Script::program`](millrace_core::app::Script).
    pub program: String,
    /// The names that the entry exports.
    pub exports: Vec<String>,
    /// Every file that went in, relative to the app's folder.
    pub files: Vec<PathBuf>,
    /// Leads from the program to the files.
    pub map: ScriptMap,
    /// What to say where a module turns out to wait for the outside at its top level. `None`: no
    /// module waits there.
    pub waits: Option<Diagnostic>,
    /// What works in part only.
    pub warnings: Vec<Diagnostic>,
    /// The exports that are plainly no functions, and what to say where one is used as such.
    pub(crate) values: Vec<(String, Diagnostic)>,
    /// The bytes of each package that are part of it, by name; those of the app's own files have
    /// the name `""`.
    pub(crate) packages: BTreeMap<String, u64>,
    /// What it uses of `Intl` and the methods of locales.
    pub intl: Option<IntlUse>,
}

/// What a script uses of `Intl`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntlUse {
    /// The parts of it.
    pub parts: BTreeSet<intl::Part>,
    /// The locales that it writes out, and where, as the error that it is where the app does not
    /// have them. Those of packages are warnings.
    pub locales: Vec<(String, Diagnostic)>,
    /// The first comparison in the order of the app's first locale, as the warning that it is where
    /// scripts do not have that order.
    pub compared: Option<Diagnostic>,
}

/// Links the script `entry` (relative to `folder`) with everything it imports.
///
/// The same files give the same program, wherever the folder is.
///
/// # Errors
/// Every [`Diagnostic`] of every module.
pub fn link(folder: &Path, entry: &Path) -> Result<Linked, Vec<Diagnostic>> {
    link_and_collect(folder, entry, &Texts::default(), &mut Vec::new())
}

/// Does what [`link`] does, and gives the parts of the app that the script names, also where
/// something is wrong with it. `texts` stand in place of the app's own files.
pub(crate) fn link_and_collect(
    folder: &Path,
    entry: &Path,
    texts: &Texts,
    named: &mut Vec<ScriptReference>,
) -> Result<Linked, Vec<Diagnostic>> {
    // Whoever reads a tree calls itself for each level.
    thread::scope(|scope| {
        let work = || link_here(folder, entry, texts, named);
        match thread::Builder::new().stack_size(nesting::STACK_BYTES).spawn_scoped(scope, work) {
            Ok(linking) => linking.join().unwrap_or_else(|payload| panic::resume_unwind(payload)),
            Err(error) => Err(vec![place::whole_file(entry, format!("no thread is available to read the script: {error}"), "try again")]),
        }
    })
}

fn link_here(folder: &Path, entry: &Path, texts: &Texts, named: &mut Vec<ScriptReference>) -> Result<Linked, Vec<Diagnostic>> {
    let Ok(folder) = fs::canonicalize(folder) else {
        return Err(vec![place::whole_file(entry, "the app's folder cannot be read", "check that it exists")]);
    };
    let entry = resolve::entry(&folder, entry).map_err(|missing| vec![entry_missing(entry, missing)])?;
    let allocator = Allocator::default();
    let mut diagnostics = Vec::new();
    let mut graph = graph::load(&allocator, &folder, &entry, texts, &mut diagnostics);
    let mut warnings = std::mem::take(&mut graph.warnings);
    diagnostics.extend(graph.check());
    let mut files: BTreeSet<PathBuf> = graph.files().into_iter().collect();
    files.extend(graph.settings.iter().cloned());
    named.extend(named_parts(&graph));

    if graph.uses_packages {
        files.insert(PathBuf::from("package.json"));
    }
    // A package outside of the app's folder keeps its absolute path.
    let files = files.into_iter().map(|file| if file.starts_with("..") { npm::flat(&folder.join(file)) } else { file }).collect();
    if !diagnostics.is_empty() {
        return Err(sorted(diagnostics));
    }
    let exports = graph.names(0).into_iter().collect();
    let kept = graph.kept();
    let waits = waits(&graph, &kept, &entry);
    warnings.extend(graph.assigned_in_calls());
    let intl = intl_use(&graph, &kept, &mut warnings);
    let errors: Vec<Diagnostic> = warnings.iter().filter(|found| found.severity == Severity::Error).cloned().collect();
    if !errors.is_empty() {
        return Err(sorted(errors));
    }
    let values = graph.modules[0].values();
    let print::Printed { program, map, packages } = print::program(&allocator, graph, &kept);
    Ok(Linked { program, exports, files, map, waits, warnings, values, packages, intl })
}

/// What the statements that the program needs use of `Intl`. What scripts do not have of it is
/// said.
fn intl_use(graph: &graph::Graph<'_>, kept: &graph::Kept, said: &mut Vec<Diagnostic>) -> Option<IntlUse> {
    let mut found = IntlUse::default();
    for &index in &kept.modules {
        let module = &graph.modules[index];
        // The statements by where they begin; a compiler may have put some among them.
        let code = module.code().filter(|_| !module.is_lowered);
        let mut statements: Vec<(oxc::span::Span, usize)> = code.map_or_else(Vec::new, |code| {
            let spans = code.program.body.iter().enumerate().map(|(number, statement)| (statement.span(), number));
            spans.filter(|(span, _)| !span.is_empty()).collect()
        });
        statements.sort_by_key(|(span, _)| span.start);
        let is_kept = |span: oxc::span::Span| {
            let before = statements.partition_point(|(statement, _)| statement.start <= span.start);
            let statement = before.checked_sub(1).map(|at| statements[at]).filter(|(statement, _)| statement.contains_inclusive(span));
            statement.is_none_or(|(_, number)| kept.has(index, number))
        };
        let is_own = graph.is_own(index);
        let severity = if is_own { Severity::Error } else { Severity::Warning };
        let place = |span, message: String, help: &str| Diagnostic { severity, ..module.place(place::Finding::new(span, message, help)) };
        found.parts.extend(module.intl.parts.iter().filter(|(_, span)| is_kept(*span)).map(|(part, _)| *part));
        for (message, help, span) in module.intl.absent.iter().filter(|(.., span)| is_kept(*span)) {
            said.push(place(*span, message.clone(), help));
        }
        for (locale, span) in module.intl.locales.iter().filter(|(_, span)| is_kept(*span)) {
            let help = "list it under `locales` in `millrace.yaml`";
            found.locales.push((locale.clone(), place(*span, format!("the app does not have the locale `{locale}`"), help)));
        }
        if let (Some(span), None) = (module.intl.compared.iter().find(|span| is_kept(**span)), &found.compared) {
            let warning = place(*span, String::new(), "let the database sort, or name a language whose order they have, such as `en`");
            found.compared = Some(Diagnostic { severity: Severity::Warning, ..warning });
        }
    }
    (!found.parts.is_empty()).then_some(found)
}

/// Says where a module waits: one of the app, else, without a place, that one of a package does.
fn waits(graph: &graph::Graph<'_>, kept: &graph::Kept, entry: &Path) -> Option<Diagnostic> {
    let mut waiting = kept.modules.iter().filter_map(|module| {
        let module = &graph.modules[*module];
        Some((module, module.code()?.awaits?))
    });
    let is_own = |path: &Path| !path.components().any(|part| part.as_os_str() == "node_modules");
    let first = waiting.next()?;
    let (module, span) = std::iter::once(first).chain(waiting).find(|(module, _)| is_own(&module.path)).unwrap_or(first);
    let told = waits_somewhere(entry);
    if !is_own(&module.path) {
        return Some(told);
    }
    let place = module.place(place::Finding::new(span, "", ""));
    Some(Diagnostic { severity: told.severity, message: told.message, help: told.help, ..place })
}

/// That a module of a script waits for the outside at its top level.
pub(crate) fn waits_somewhere(entry: &Path) -> Diagnostic {
    let message = "a module waits for something outside when it is loaded, so the modules of the script run anew in each call";
    let help = "Wait in the function that needs it: then each call begins with what the modules have computed.";
    Diagnostic { severity: Severity::Warning, ..place::whole_file(entry, message, help) }
}

/// The program with the names of the variables that the app lists, which `process.env` has.
pub(crate) fn with_env(program: String, names: &[String]) -> String {
    if program.contains(node::ENV) { program.replace(node::ENV, &names.join(" ")) } else { program }
}

/// The name of the package that a path below `node_modules` begins with.
pub(crate) fn package(path: &str) -> &str {
    npm::package(path)
}

fn named_parts(graph: &graph::Graph<'_>) -> Vec<ScriptReference> {
    let named = graph.modules.iter().flat_map(|module| module.named.iter().map(move |named| (module, named)));
    let placed = named.map(|(module, named)| {
        // In what was parsed, which may have a line before the text of the file.
        let (start, end) =
            ((named.span.start as usize).saturating_sub(module.shift), (named.span.end as usize).saturating_sub(module.shift));
        let (line, column) = place::line_and_column(module.source, start);
        let length = module.source.get(start..end).map_or(0, |text| text.chars().count());
        ScriptReference {
            part: named.part,
            name: named.name.clone(),
            adapter: named.adapter.clone(),
            file: module.path.clone(),
            line,
            column,
            length,
        }
    });
    placed.collect()
}

fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by(|a, b| (&a.file, a.line, a.column, &a.message).cmp(&(&b.file, b.line, b.column, &b.message)));
    diagnostics.dedup();
    diagnostics
}

fn entry_missing(entry: &Path, missing: resolve::Missing) -> Diagnostic {
    let name = resolve::slashes(entry);
    match missing {
        resolve::Missing::Outside => {
            place::whole_file(entry, format!("the script `{name}` is outside of the app's folder"), "move it into the app's folder")
        }
        resolve::Missing::NotAModule(_) => place::whole_file(
            entry,
            format!("`{name}` is not a script"),
            "scripts are `.ts`, `.mts`, `.tsx`, `.js`, `.mjs` and `.jsx` files",
        ),
        resolve::Missing::NotFound { near: Some(near), .. } => place::whole_file(
            entry,
            format!("the script `{name}` does not exist"),
            format!("there is `{near}`, which differs in upper and lower case"),
        ),
        resolve::Missing::NotFound { near: None, .. } => {
            place::whole_file(entry, format!("the script `{name}` does not exist"), "create it, or correct the path")
        }
    }
}
