//! The bundler: an app folder in, diagnostics and a compiled [`App`] out.
//!
//! It runs at build time only and never stops at the first problem: every mistake of the folder is
//! a [`Diagnostic`] with its place and its remedy.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use millrace_core::{
    app::App,
    ports::{LoadCost, ScriptLoader},
};
use outline::Outlines;

mod adapter;
mod app_settings;
mod app_test;
mod argument;
mod auth;
mod authorization;
mod budget;
pub mod clients;
mod compiler;
mod context;
mod descriptor;
pub mod diagnostic;
pub mod editor;
mod expression;
mod fetches;
mod field;
mod findings;
mod guard;
mod header_field;
mod hidden_text;
mod identity;
mod input;
mod json_length;
mod link;
mod links;
mod load;
mod lock;
mod middleware;
mod names;
mod order;
mod outline;
pub mod placeholder;
mod portable;
mod presenter;
mod prompt;
mod render;
mod required_scopes;
mod resource;
mod root;
pub mod schema;
mod scope;
pub mod script;
mod search;
mod setting;
mod sizes;
mod skill;
mod source;
pub mod statement;
mod surface;
mod sync;
mod template;
mod terminal;
mod texts;
mod tool;
mod tool_use;
mod tree;
pub mod types;
mod walk;
mod yaml;

pub use app_test::{
    AppTest, Expectation, ExpectedError, ExpectedRows, HttpAnswer, TestAnswers, TestCaller, TestDatabase, TestSubject, TestTable,
    TextPattern,
};
pub use authorization::sign_in_summary;
pub use diagnostic::{Diagnostic, Problem, Severity};
pub use links::ScriptStatement;
pub use lock::{LOCK_FILE, Lock, LockedStatement, ToolStatement};
pub use sizes::{AnswerSize, ListSize, Sizes, tokens};
pub use surface::{
    ArgumentSurface, Change, ChangeClass, Item, PromptSurface, RateSurface, ResourceSurface, ScopesSurface, ServerSurface, Surface,
    SurfacePlaces, ToolDetails, ToolSurface, changes,
};
pub use terminal::printable;
pub use texts::Texts;

/// What the app is built for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The connectors that the target has; any other is a mistake of the app.
    pub connectors: Vec<String>,
    /// The D1 databases that are bound to the target. One with an adapter's name in capitals,
    /// `MAIN`, stands in for its `sqlite` where the target has no files.
    pub d1_bindings: Vec<String>,
    /// The clients that `check` looks for, by their [names](clients::names); none: those of
    /// `clients` in the root file.
    pub clients: Vec<String>,
    /// Whether the target is a Worker: it has bindings such as Hyperdrives, and trusts no
    /// certificates but those of the platform's list.
    pub is_worker: bool,
}

/// What the bundler found.
#[derive(Debug)]
pub struct Report {
    /// The app; `None` where a diagnostic is an error.
    pub app: Option<App>,
    /// Errors and warnings, ordered by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was read, and every folder that was listed: what `dev` watches.
    pub files: Vec<PathBuf>,
    /// Where each setting of each tool came from, for `millrace explain`.
    pub origins: Vec<Origin>,
    /// The adapters that have a seed, those whose `fallback` is used included.
    pub seeds: Vec<Seed>,
    /// The adapters that have a `tenant`, those whose `fallback` is used included.
    pub tenants: Vec<AdapterTenant>,
    /// What `millrace.lock` says; `None` where there is none, or it cannot be read.
    pub lock: Option<Lock>,
    /// The tools that have a statement, by name: what `millrace check --connect` asks their
    /// databases about.
    pub statements: Vec<ToolStatement>,
    /// The file of each tool, by the tool's name: `app/tools/x/config.yaml`.
    pub tool_files: BTreeMap<String, String>,
    /// The file of each prompt, by its name, and of each resource, by its URI.
    pub feature_files: BTreeMap<String, String>,
    /// Where the statements of each tool stand, in order, by the tool's name:
    /// `app/tools/x/config.yaml:3:12`.
    pub places: BTreeMap<String, Vec<String>>,
    /// The statements of scripts, and where one is not written out.
    pub scripted: Vec<ScriptStatement>,
    /// How long the app's answers can be; `None` where a mistake other than an exceeded `budget`
    /// was found.
    pub sizes: Option<Sizes>,
    /// How large the scripts are, in the order in which they are loaded.
    pub script_sizes: Vec<ScriptSize>,
    /// The app's tests, by file and place.
    pub tests: Vec<AppTest>,
}

/// How large a script is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptSize {
    /// The entry's path below the app's folder;
    /// [`Script::SHARED_PATH`](millrace_core::app::Script::SHARED_PATH) for what others share.
    pub path: String,
    /// The bytes of each package, and of each module of Node, in its program, by name; those of the
    /// app's own files have the name `""`.
    pub packages: BTreeMap<String, u64>,
    /// What loading it took; `None` where it was not loaded.
    pub load: Option<LoadCost>,
}

/// The SQL that creates an adapter's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The adapter's name.
    pub adapter: String,
    /// The file, relative to the app's folder.
    pub file: String,
}

/// `tenant` of an adapter, for whoever compares it with the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterTenant {
    /// The adapter's name.
    pub adapter: String,
    /// What it says.
    pub rule: statement::TenantRule,
    /// Where: `app/adapters/shop.yaml:4:1`.
    pub place: String,
}

/// Where one setting of a tool came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The tool's name.
    pub tool: String,
    /// The setting: `auth.plugin`, `limits.timeout`.
    pub setting: String,
    /// Its value, short; secrets stay placeholders.
    pub value: String,
    /// `app/tools/x/config.yaml:12:3`, `millrace.yaml:4:1`, or `default`.
    pub place: String,
}

/// Compiles an app folder. The same folder gives the same report, whatever order the file system
/// lists it in.
#[must_use]
pub fn bundle(folder: &Path, options: &Options) -> Report {
    bundle_with(folder, options, None, &Texts::default(), None).0
}

/// Compiles an app folder, and evaluates the modules of its scripts once: what cannot be loaded is
/// an error like any other.
#[must_use]
pub fn bundle_and_load(folder: &Path, options: &Options, loader: &dyn ScriptLoader) -> Report {
    bundle_with(folder, options, Some(loader), &Texts::default(), None).0
}

/// Compiles an app folder, with `texts` in place of files. With `outlines`, they come back with
/// what an editor asks about.
pub(crate) fn bundle_with(
    folder: &Path,
    options: &Options,
    loader: Option<&dyn ScriptLoader>,
    texts: &Texts,
    outlines: Option<Outlines>,
) -> (Report, Option<Outlines>) {
    let Some(tree) = tree::Tree::open(folder, texts) else {
        return (no_folder(folder), outlines);
    };
    let mut compiler = compiler::Compiler::new(tree, options, loader);
    compiler.outlines = outlines;
    let mut tests = Vec::new();
    let app = order::compile(&mut compiler, &mut tests);
    if let (Some(outlines), Some(app)) = (&mut compiler.outlines, &app) {
        outlines.add_scripts(app);
    }
    let app = app.filter(|_| !compiler.findings.has_errors());
    let outlines = compiler.outlines.take();
    (report(compiler, app, tests), outlines)
}

/// What is said where there is no such folder.
fn no_folder(folder: &Path) -> Report {
    let message = format!("the folder `{}` does not exist", folder.display());
    let help = "Name the folder of an app, or create one with `millrace new NAME`.";
    let mut findings = findings::Findings::default();
    findings.error(&source::Source::new(".", ""), 0..0, message, help);
    let files = vec![folder.to_owned()];
    let (diagnostics, origins, seeds, tenants) = (findings.into_sorted(), Vec::new(), Vec::new(), Vec::new());
    let (lock, statements) = (None, Vec::new());
    let (places, scripted) = (BTreeMap::new(), Vec::new());
    Report {
        app: None,
        diagnostics,
        files,
        origins,
        seeds,
        tenants,
        lock,
        statements,
        tool_files: BTreeMap::new(),
        feature_files: BTreeMap::new(),
        places,
        scripted,
        sizes: None,
        script_sizes: Vec::new(),
        tests: Vec::new(),
    }
}

/// What the bundler found.
fn report(mut compiler: compiler::Compiler<'_>, app: Option<App>, tests: Vec<AppTest>) -> Report {
    let mut origins = compiler.origins;
    origins.sort_by(|a, b| a.tool.cmp(&b.tool));
    let mut statements = compiler.statements;
    statements.sort_by(|a, b| a.tool.cmp(&b.tool));
    Report {
        app,
        diagnostics: compiler.findings.into_sorted(),
        files: compiler.tree.into_seen(),
        origins,
        seeds: compiler.seeds,
        tenants: compiler.tenants,
        lock: compiler.lock,
        statements,
        tool_files: compiler.tool_files,
        feature_files: compiler.feature_files,
        places: compiler.places,
        scripted: compiler.scripted,
        sizes: compiler.sizes,
        script_sizes: std::mem::take(&mut compiler.links.sizes),
        tests,
    }
}

/// Reads a test that a program says in place of a file of the app: the text of a file of tests with
/// one test, as YAML or JSON. Paths in it are relative to the app's folder.
///
/// # Errors
/// What is wrong with it.
pub fn test_said(folder: &Path, app: &App, text: &str) -> Result<AppTest, Vec<Diagnostic>> {
    let options = Options::default();
    let Some(tree) = tree::Tree::open(folder, &Texts::default()) else { return Err(no_folder(folder).diagnostics) };
    let mut compiler = compiler::Compiler::new(tree, &options, None);
    let test = app_test::read_said(&mut compiler, app, text);
    let found = compiler.findings;
    match test {
        Some(test) if !found.has_errors() => Ok(test),
        _ => Err(found.into_sorted()),
    }
}

/// Reads the YAML documents of a file that is no file of an app, as strictly as those are read.
/// `path` is what diagnostics call it.
///
/// # Errors
/// What is wrong with it.
pub fn yaml_documents(path: &str, text: &str) -> Result<Vec<serde_json::Value>, Vec<Diagnostic>> {
    let mut findings = findings::Findings::default();
    let documents = yaml::Document::parse_several(&source::Source::new(path, text), &mut findings).unwrap_or_default();
    if findings.has_errors() { Err(findings.into_sorted()) } else { Ok(documents.iter().map(yaml::Node::json).collect()) }
}

/// Reads a YAML file that somebody else wrote and an app is made from. It may be larger than a file
/// of an app. What is wrong with a part of it, such as a key that appears twice, comes beside what
/// could be read.
pub fn foreign_yaml(path: &str, text: &str) -> (Option<serde_json::Value>, Vec<Diagnostic>) {
    let mut findings = findings::Findings::default();
    let root = yaml::Document::parse_foreign(&source::Source::new(path, text), &mut findings);
    (root.map(|root| root.json()), findings.into_sorted())
}

/// Renders diagnostics for a terminal of 100 columns, with the lines they mean, and counts them.
#[must_use]
pub fn render(folder: &Path, diagnostics: &[Diagnostic], colour: bool) -> String {
    render::render(folder, diagnostics, colour)
}
