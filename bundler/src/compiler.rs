//! One run of the bundler: what the readers share.

use std::{collections::BTreeMap, ops::Range, path::PathBuf, sync::mpsc::sync_channel, thread};

use millrace_core::{app::EnvTemplate, ports::ScriptLoader};

use crate::{
    AdapterTenant, Options, Origin, Seed, Sizes,
    clients::Selection,
    field::{CheckMode, Record, check},
    findings::Findings,
    hidden_text,
    links::{Links, ScriptStatement},
    lock::{Lock, ToolStatement},
    outline::Outlines,
    source::Source,
    tree::{MAX_YAML, Tree, Unreadable},
    yaml::{Document, Node},
};

/// How many files are read ahead of what is made of them.
const READ_AHEAD: usize = 256;

/// What the readers share.
pub(crate) struct Compiler<'a> {
    /// The app's folder.
    pub(crate) tree: Tree,
    /// What was found.
    pub(crate) findings: Findings,
    /// What the app is built for.
    pub(crate) options: &'a Options,
    /// Evaluates the scripts' modules once; `None` where nobody asked for that.
    pub(crate) loader: Option<&'a dyn ScriptLoader>,
    /// The app is one of Hyperterse.
    pub(crate) imported: bool,
    /// The scripts.
    pub(crate) links: Links,
    /// Where the tools' settings came from.
    pub(crate) origins: Vec<Origin>,
    /// The seeds of the adapters.
    pub(crate) seeds: Vec<Seed>,
    /// What adapters say of tenants.
    pub(crate) tenants: Vec<AdapterTenant>,
    /// What `millrace.lock` says; `None` where there is none.
    pub(crate) lock: Option<Lock>,
    /// The statements of the tools that have one.
    pub(crate) statements: Vec<ToolStatement>,
    /// Where the statements of each tool stand, in order.
    pub(crate) places: BTreeMap<String, Vec<String>>,
    /// The statements of scripts.
    pub(crate) scripted: Vec<ScriptStatement>,
    /// `server.resource`, where it is a URL: for whom tokens are issued.
    pub(crate) resource: Option<EnvTemplate>,
    /// The clients that the app is checked for.
    pub(crate) clients: Selection,
    /// The file of each tool, by the tool's name.
    pub(crate) tool_files: BTreeMap<String, String>,
    /// The file of each prompt, by its name, and of each resource, by its URI.
    pub(crate) feature_files: BTreeMap<String, String>,
    /// The schema of what the presenter of each tool makes of its result, by the tool's name;
    /// clients see less exact ones.
    pub(crate) presented: BTreeMap<String, serde_json::Value>,
    /// How long the app's answers can be, once that is known.
    pub(crate) sizes: Option<Sizes>,
    /// What an editor asks about, where one does.
    pub(crate) outlines: Option<Outlines>,
}

/// A value, and where its author put it.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    /// The value.
    pub(crate) value: T,
    /// `millrace.yaml:4:1`, or `default`.
    pub(crate) place: String,
}

impl<T> Located<T> {
    /// A value that nobody set.
    pub(crate) fn default(value: T) -> Self {
        Self { value, place: "default".into() }
    }

    /// A value of a file.
    pub(crate) fn at(value: T, document: &Document, node: &Node) -> Self {
        Self { value, place: document.source.place(node.range.start) }
    }
}

impl<'a> Compiler<'a> {
    /// Starts a run.
    pub(crate) fn new(tree: Tree, options: &'a Options, loader: Option<&'a dyn ScriptLoader>) -> Self {
        let (findings, links) = (Findings::default(), Links::default());
        let (origins, seeds, tenants) = (Vec::new(), Vec::new(), Vec::new());
        let (lock, statements) = (None, Vec::new());
        let (places, scripted) = (BTreeMap::new(), Vec::new());
        Self {
            tree,
            findings,
            options,
            loader,
            imported: false,
            links,
            origins,
            seeds,
            tenants,
            lock,
            statements,
            places,
            scripted,
            resource: None,
            clients: Selection::default(),
            tool_files: BTreeMap::new(),
            feature_files: BTreeMap::new(),
            presented: BTreeMap::new(),
            sizes: None,
            outlines: None,
        }
    }

    /// Reads a YAML file and checks it against its table. What is wrong in it is taken out; `None`
    /// where nothing can be read.
    pub(crate) fn document(&mut self, path: &str, record: &'static Record) -> Option<Document> {
        let mut document = self.unchecked(path)?;
        check(&mut document, record, CheckMode::strict(self.imported), &mut self.findings);
        self.outline(&document, record);
        Some(document)
    }

    /// Reads many such files and hands each to `take`, in their order; a thread of its own reads
    /// ahead.
    pub(crate) fn documents<T>(
        &mut self,
        files: &[T],
        path: impl Fn(&T) -> &str + Copy + Send,
        record: &'static Record,
        mut take: impl FnMut(&mut Self, &T, Option<Document>),
    ) where
        T: Sync,
    {
        let (files_of_app, mode) = (self.tree.files(), CheckMode::strict(self.imported));
        thread::scope(|scope| {
            let (sender, read) = sync_channel(READ_AHEAD);
            let reading = move || {
                for file in files {
                    let mut findings = Findings::default();
                    let source = text_file(files_of_app.read(path(file), MAX_YAML), path(file), &mut findings);
                    let mut document = source.and_then(|source| parsed(source, &mut findings));
                    if let Some(document) = &mut document {
                        check(document, record, mode, &mut findings);
                    }
                    if sender.send((document, findings)).is_err() {
                        return;
                    }
                }
            };
            scope.spawn(reading);
            for (file, (document, findings)) in files.iter().zip(read) {
                if self.is_stopped() {
                    return;
                }
                self.tree.saw([PathBuf::from(path(file))]);
                self.findings.append(findings);
                if let Some(document) = &document {
                    self.outline(document, record);
                }
                take(self, file, document);
            }
        });
    }

    /// Whether nobody waits for the result any more: it is thrown away then.
    pub(crate) fn is_stopped(&self) -> bool {
        self.outlines.as_ref().is_some_and(Outlines::is_stopped)
    }

    /// Notes what an editor asks about a file, where one does.
    pub(crate) fn outline(&mut self, document: &Document, record: &'static Record) {
        if let Some(outlines) = &mut self.outlines {
            outlines.add(document, record);
        }
    }

    /// Reads a YAML file.
    pub(crate) fn unchecked(&mut self, path: &str) -> Option<Document> {
        let source = self.text(path, MAX_YAML)?;
        parsed(source, &mut self.findings)
    }

    /// Reads a text file that must be there.
    pub(crate) fn text(&mut self, path: &str, limit: u64) -> Option<Source> {
        text_file(self.tree.read(path, limit), path, &mut self.findings)
    }

    /// Notes a mistake of a document. An empty `help` means none.
    pub(crate) fn error(&mut self, document: &Document, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.findings.error(&document.source, range, message, help);
    }

    /// Notes something to look at. An empty `help` means none.
    pub(crate) fn warning(&mut self, document: &Document, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.findings.warning(&document.source, range, message, help);
    }

    /// Notes where a setting of a tool came from.
    pub(crate) fn origin(&mut self, tool: &str, setting: &str, value: impl Into<String>, place: impl Into<String>) {
        self.origins.push(Origin { tool: tool.into(), setting: setting.into(), value: value.into(), place: place.into() });
    }
}

fn parsed(source: Source, findings: &mut Findings) -> Option<Document> {
    let document = Document::parse(source, findings)?;
    hidden_text::check(&document, findings);
    Some(document)
}

/// What a file says, which someone listed.
fn text_file(read: Result<Vec<u8>, Unreadable>, path: &str, findings: &mut Findings) -> Option<Source> {
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(why) => {
            findings.error(&Source::new(path, ""), 0..0, format!("`{path}` {why}"), "");
            return None;
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Some(Source::new(path, text.strip_prefix('\u{feff}').unwrap_or(&text))),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
            let end = text.len();
            let help = "Save the file as UTF-8.";
            findings.error(&Source::new(path, text), end..end, "the file is not UTF-8 from here on", help);
            None
        }
    }
}
