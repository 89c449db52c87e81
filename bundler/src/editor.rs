//! What an editor asks about an app: what can be written at a place, what stands there, where it is
//! defined, and where else it is named.
//!
//! An [`AppIndex`] is what a run of the bundler found of all files. The file in which somebody
//! types is read anew for each question, also where it is no YAML at the moment: see `cursor`. All
//! places are bytes of a file's text.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use millrace_core::ports::ScriptLoader;

use crate::{
    Lock, Options, Report, Texts, bundle_with,
    field::{Named, Record},
    outline::{Layout, Outline, Outlines},
    tree::{MAX_YAML, parent, stem},
};

mod complete;
mod completion;
mod cursor;
mod describe;
mod files;
mod goto;
mod hover;
mod members;
mod rename;
mod scripts;
mod symbols;

pub use completion::{Completion, CompletionKind, Completions};
pub use hover::Hover;
pub use rename::Edit;
pub use symbols::Symbol;

/// The longest file that an editor asks about, in bytes.
pub const MAX_FILE: u64 = MAX_YAML;

/// What a run of the bundler found of an app's files.
#[derive(Debug)]
pub struct AppIndex {
    folder: PathBuf,
    outlines: Outlines,
    connectors: Vec<String>,
    lock: Option<Lock>,
    /// The files that could not be read this time.
    unreadable: Vec<String>,
    /// The file of each definition that others name, by kind and name.
    names: BTreeMap<Kind, BTreeMap<String, String>>,
}

/// A text of the app, and its path below the app's folder, with slashes.
#[derive(Clone, Copy, Debug)]
pub struct OpenFile<'t> {
    /// The path.
    pub path: &'t str,
    /// The text.
    pub text: &'t str,
}

/// Some bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file below the app's folder, with slashes.
    pub file: String,
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Place {
    fn new(file: &str, range: &Range<usize>) -> Self {
        Self { file: file.to_owned(), start: range.start, end: range.end }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A kind of what others name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Adapter,
    Tool,
    Presenter,
    Prompt,
}

impl Kind {
    fn of(named: Named) -> Option<Self> {
        match named {
            Named::Adapter => Some(Self::Adapter),
            Named::Tool => Some(Self::Tool),
            Named::Presenter => Some(Self::Presenter),
            Named::Prompt => Some(Self::Prompt),
            _ => None,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Adapter => "adapter",
            Self::Tool => "tool",
            Self::Presenter => "presenter",
            Self::Prompt => "prompt",
        }
    }
}

/// Compiles an app folder with `texts` in place of files, and gives what an editor asks about, too.
/// Of a file that cannot be read, it is what `previous` knew. Where `stop` was set meanwhile, it
/// ends early, and what comes of it means nothing.
#[must_use]
pub fn analyse(
    folder: &Path,
    options: &Options,
    loader: Option<&dyn ScriptLoader>,
    texts: &Texts,
    previous: Option<&AppIndex>,
    stop: &Arc<AtomicBool>,
) -> (Report, AppIndex) {
    let outlines = Outlines::until(stop);
    let (report, outlines) = bundle_with(folder, options, loader, texts, Some(outlines));
    let mut outlines = outlines.unwrap_or_default();
    let seen = report.files.iter().filter_map(|file| below(folder, file));
    let is_lost = |file: &String| files::record_of(&outlines.layout, file).is_some() && !outlines.files.contains_key(file);
    let unreadable: Vec<String> = seen.filter(is_lost).filter(|file| is_there(folder, texts, file)).collect();
    if let Some(previous) = previous {
        let seen: BTreeSet<&Path> = report.files.iter().map(PathBuf::as_path).collect();
        keep(&mut outlines, &previous.outlines, |file| seen.contains(folder.join(file).as_path()) && is_there(folder, texts, file));
    }
    let lock = report.lock.clone();
    let index = AppIndex::new(folder.to_owned(), outlines, options.connectors.clone(), lock);
    (report, AppIndex { unreadable, ..index })
}

/// The path of a file below a folder, with slashes.
fn below(folder: &Path, file: &Path) -> Option<String> {
    let below = file.strip_prefix(folder).ok()?;
    let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn is_there(folder: &Path, texts: &Texts, file: &str) -> bool {
    texts.get(file).is_some() || folder.join(file).is_file()
}

/// Takes over what was known of files that could not be read this time.
fn keep(outlines: &mut Outlines, previous: &Outlines, is_there: impl Fn(&str) -> bool) {
    if !outlines.files.contains_key(&outlines.layout.root) && !previous.files.is_empty() {
        outlines.layout = previous.layout.clone();
    }
    for (file, outline) in &previous.files {
        if !outlines.files.contains_key(file) && is_there(file) {
            outlines.files.insert(file.clone(), Arc::clone(outline));
        }
    }
    for (tool, scope) in &previous.scopes {
        outlines.scopes.entry(tool.clone()).or_insert_with(|| Arc::clone(scope));
    }
    for (tool, scripts) in &previous.scripts {
        outlines.scripts.entry(tool.clone()).or_insert_with(|| scripts.clone());
    }
}

impl AppIndex {
    fn new(folder: PathBuf, outlines: Outlines, connectors: Vec<String>, lock: Option<Lock>) -> Self {
        let mut names: BTreeMap<Kind, BTreeMap<String, String>> = BTreeMap::new();
        for (file, outline) in &outlines.files {
            if let Some((kind, name)) = defined(&outlines.layout, file, outline) {
                names.entry(kind).or_default().entry(name).or_insert_with(|| file.clone());
            }
        }
        // What is not there any more has no scope and no scripts.
        let mut outlines = outlines;
        let is_tool = |name: &String| names.get(&Kind::Tool).is_some_and(|tools| tools.contains_key(name));
        outlines.scopes.retain(|tool, _| is_tool(tool));
        outlines.scripts.retain(|tool, _| is_tool(tool));
        Self { folder, outlines, connectors, lock, unreadable: Vec::new(), names }
    }

    /// The number of files that the app has, as far as they say something.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.outlines.files.len()
    }

    fn outline(&self, file: &str) -> Option<&Outline> {
        self.outlines.files.get(file).map(|outline| &**outline)
    }

    /// The names of a kind, and the files that define them.
    fn all(&self, kind: Kind) -> impl Iterator<Item = (&str, &str)> {
        self.names.get(&kind).into_iter().flatten().map(|(name, file)| (name.as_str(), file.as_str()))
    }

    fn file_of(&self, kind: Kind, name: &str) -> Option<&str> {
        self.names.get(&kind)?.get(name).map(String::as_str)
    }

    /// The name of what a file defines.
    fn name_of(&self, file: &str) -> Option<(Kind, String)> {
        defined(&self.outlines.layout, file, self.outline(file)?)
    }

    /// The table of a file, by its place in the app.
    fn record_of(&self, file: &str) -> Option<&'static Record> {
        files::record_of(&self.outlines.layout, file)
    }

    /// The tool of a file of tests: the one that it names, or that of its folder.
    fn tested_tool(&self, file: &str, named: Option<&str>) -> Option<String> {
        if let Some(named) = named {
            return Some(named.to_owned());
        }
        let own = |(_, config): &(&str, &str)| parent(config) == parent(file);
        self.all(Kind::Tool).find(own).map(|(name, _)| name.to_owned())
    }

    /// The text of a file as it is on the disk, or stands in its place.
    fn text(&self, texts: &Texts, file: &str) -> Option<String> {
        if let Some(text) = texts.get(file) {
            return Some(text.to_owned());
        }
        let path = self.folder.join(file);
        let is_short = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE);
        let text = is_short.then(|| fs::read_to_string(path).ok()).flatten()?;
        Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }
}

/// What a file defines that others name.
fn defined(layout: &Layout, file: &str, outline: &Outline) -> Option<(Kind, String)> {
    let named = || outline.name.as_ref().map(|name| name.text.clone());
    let stem = || stem(file.rsplit_once('/').map_or(file, |(_, name)| name)).to_owned();
    match outline.record.name {
        "adapter" => Some((Kind::Adapter, named().unwrap_or_else(stem))),
        "presenter" => Some((Kind::Presenter, stem())),
        "prompt" => Some((Kind::Prompt, named().unwrap_or_else(stem))),
        "tool" => {
            let folder = parent(file);
            let below = folder.strip_prefix(&layout.tools).unwrap_or(folder).trim_start_matches('/');
            Some((Kind::Tool, named().unwrap_or_else(|| crate::names::from_path(below))))
        }
        _ => None,
    }
}
