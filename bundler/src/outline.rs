//! What an editor asks about an app, as the readers of its files found it: what each file defines
//! and names, with places.
//!
//! It is read off the same documents and tables that everything else is; nothing is collected where
//! nobody asks.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use millrace_core::app::{App, Execute};

use crate::{
    field::{Named, Record},
    placeholder::{self, Piece},
    scope::PathScope,
    script::ScriptReference,
    walk::Spot,
    yaml::{Document, Node},
};

/// The most names that are kept of one file.
const MOST_NAMES: usize = 10_000;

/// What was found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outlines {
    /// The files, by their paths.
    pub(crate) files: BTreeMap<String, Arc<Outline>>,
    /// What the placeholders of the statement of each tool can name, by the tool's name.
    pub(crate) scopes: BTreeMap<String, Arc<PathScope>>,
    /// The scripts of each tool, by its name; its handler is the first of them.
    pub(crate) scripts: BTreeMap<String, ToolScripts>,
    /// What the scripts name.
    pub(crate) script_names: Vec<ScriptReference>,
    /// Where the parts of the app are.
    pub(crate) layout: Layout,
    last_scope: Option<Arc<PathScope>>,
    /// Set where nobody waits for the result any more.
    stop: Arc<AtomicBool>,
}

/// The scripts of a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolScripts {
    /// The file of the handler, and its export.
    pub(crate) handler: Option<(String, String)>,
    /// The files of the others.
    pub(crate) others: BTreeSet<String>,
}

/// Where the parts of an app are, and what its root file lists.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) root: String,
    pub(crate) tools: String,
    pub(crate) adapters: String,
    pub(crate) prompts: String,
    pub(crate) resources: String,
    pub(crate) presenters: String,
    pub(crate) skills: String,
    pub(crate) env: Vec<String>,
    pub(crate) secrets: Vec<String>,
}

/// What one file defines and names.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    /// The table of its keys.
    pub(crate) record: &'static Record,
    /// The key `name`.
    pub(crate) name: Option<Mention>,
    /// The key `description`.
    pub(crate) description: String,
    /// The adapter that it uses, or the connector that it names.
    pub(crate) detail: String,
    /// The inputs or the arguments that it declares.
    pub(crate) inputs: Vec<Declared>,
    /// What it names.
    pub(crate) mentions: Vec<Mention>,
    /// The variables and secrets in its placeholders.
    pub(crate) variables: BTreeSet<Variable>,
}

/// A variable or a secret of the deployment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variable {
    pub(crate) is_secret: bool,
    pub(crate) name: String,
}

/// A name in a file.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    /// What it names.
    pub(crate) named: Named,
    /// The name.
    pub(crate) text: String,
    /// Its bytes in the file.
    pub(crate) range: Range<usize>,
}

/// An input that a file declares.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// Its name in the file.
    pub(crate) range: Range<usize>,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    pub(crate) optional: bool,
}

impl Default for Layout {
    fn default() -> Self {
        let of = |name: &str| format!("app/{name}");
        Self {
            root: "millrace.yaml".to_owned(),
            tools: of("tools"),
            adapters: of("adapters"),
            prompts: of("prompts"),
            resources: of("resources"),
            presenters: of("presenters"),
            skills: of("skills"),
            env: Vec::new(),
            secrets: Vec::new(),
        }
    }
}

impl Outlines {
    /// None yet; `stop` is set where nobody waits for them any more.
    pub(crate) fn until(stop: &Arc<AtomicBool>) -> Self {
        Self { stop: Arc::clone(stop), ..Self::default() }
    }

    /// Whether nobody waits for the result any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes what a file defines and names.
    pub(crate) fn add(&mut self, document: &Document, record: &'static Record) {
        self.files.insert(document.source.path.clone(), Arc::new(Outline::of(document, record)));
    }

    /// Notes what the placeholders of a tool can name. Neighbours often share it.
    pub(crate) fn add_scope(&mut self, tool: &str, scope: PathScope) {
        let scope = scope.without("inputs");
        let known = self.last_scope.as_ref().filter(|last| ***last == scope);
        let scope = known.cloned().unwrap_or_else(|| Arc::new(scope));
        self.last_scope = Some(Arc::clone(&scope));
        self.scopes.insert(tool.to_owned(), scope);
    }

    /// Notes which scripts the tools have.
    pub(crate) fn add_scripts(&mut self, app: &App) {
        let path = |script: u32| app.scripts.get(script as usize).map(|script| script.path.clone());
        for tool in &app.tools {
            let handler = match &tool.execute {
                Execute::Script(script) => path(script.script).map(|path| (path, script.export.clone())),
                _ => None,
            };
            let mut others: BTreeSet<String> = tool.scripts().filter_map(|script| path(script.script)).collect();
            if let Some((handler, _)) = &handler {
                others.remove(handler);
            }
            if handler.is_some() || !others.is_empty() {
                self.scripts.insert(tool.name.clone(), ToolScripts { handler, others });
            }
        }
    }
}

impl Outline {
    /// What a file defines and names.
    pub(crate) fn of(document: &Document, record: &'static Record) -> Self {
        let root = &document.root;
        let mut outline = Self {
            record,
            name: None,
            description: root.text_at("description").unwrap_or_default().to_owned(),
            detail: root.text_at("use").or_else(|| root.text_at("connector")).unwrap_or_default().to_owned(),
            inputs: root.at("inputs").or_else(|| root.at("arguments")).map(|inputs| declared(document, inputs)).unwrap_or_default(),
            mentions: Vec::new(),
            variables: BTreeSet::new(),
        };
        outline.name = root
            .at("name")
            .and_then(|node| Some(Mention { named: Named::Tool, text: node.text()?.to_owned(), range: inner_range(document, node) }));
        Spot::file(root, record).visit(&mut |child| {
            if outline.mentions.len() >= MOST_NAMES {
                return;
            }
            if let (Some(named), Some(entry)) = (child.key_names, child.entry) {
                outline.mentions.push(Mention { named, text: entry.key.clone(), range: entry.key_range.clone() });
            }
            let Some(text) = child.spot.node.text() else { return };
            if let Some(named) = child.spot.names() {
                outline.mentions.push(Mention { named, text: text.to_owned(), range: inner_range(document, child.spot.node) });
            }
            outline.variables.extend(variables(text));
        });
        outline
    }
}

/// The bytes of a text in its file, without quotes.
pub(crate) fn inner_range(document: &Document, node: &Node) -> Range<usize> {
    let length = node.text().map_or(0, str::len);
    if length == 0 { node.range.clone() } else { node.locate(&document.source, 0..length) }
}

fn declared(document: &Document, inputs: &Node) -> Vec<Declared> {
    let of = |entry: &crate::yaml::Entry| Declared {
        name: entry.key.clone(),
        range: entry.key_range.clone(),
        kind: entry.value.text_at("type").unwrap_or_default().to_owned(),
        description: entry.value.text_at("description").unwrap_or_default().to_owned(),
        default: entry.value.at("default").and_then(|node| node.written(&document.source)),
        optional: entry.value.bool_at("optional") == Some(true),
    };
    inputs.entries().iter().take(MOST_NAMES).map(of).collect()
}

fn variables(text: &str) -> Vec<Variable> {
    if !text.contains("{{") {
        return Vec::new();
    }
    let named = |piece: &Piece<'_>| match piece {
        Piece::Placeholder(placeholder) => match placeholder.path.as_slice() {
            ["env", name] | ["ctx", "env", name] => Some(Variable { is_secret: false, name: (*name).to_owned() }),
            ["secret", name, ..] => Some(Variable { is_secret: true, name: (*name).to_owned() }),
            _ => None,
        },
        Piece::Text(_) => None,
    };
    placeholder::scan(text).0.iter().filter_map(named).collect()
}
