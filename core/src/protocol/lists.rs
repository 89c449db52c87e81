//! The lists: written once, when they are first asked for, and copied from then on.
//!
//! The order is the app's, so every page is the same bytes every time. Cursors are opaque, and
//! known by comparison only: nothing that a caller sends is decoded.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::cell::OnceCell;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, json};

use super::era::{Era, LEGACY, MODERN};
use crate::{
    Json,
    app::{App, Resource, Skill, Tool},
    pipeline::Pipeline,
};

/// The most entries of a page: many, since common clients read the first page only.
const PAGE_ENTRIES: usize = 1000;
/// The most bytes of a page, one entry apart: a host such as AWS Lambda bounds a response at 6 MB.
const PAGE_BYTES: usize = 2 << 20;

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
    Skills,
}

impl Kind {
    /// The member of the result.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Skills => "skills",
        }
    }
}

/// The lists of an app, each made at its first use.
#[derive(Default)]
pub(super) struct Lists {
    tools: OnceCell<List>,
    /// `None`: no tool looks different to the legacy era.
    legacy_tools: OnceCell<Option<List>>,
    prompts: OnceCell<List>,
    resources: OnceCell<List>,
    templates: OnceCell<List>,
    skills: OnceCell<List>,
    /// By the tool's place, its entry where the legacy era sees its `outputSchema` wrapped.
    wrapped: OnceCell<Vec<Option<String>>>,
}

impl Lists {
    /// Whether the legacy era sees what a tool gives as the member `result` of an object.
    pub(super) fn wraps(&self, pipeline: &Pipeline, tool: &str) -> bool {
        let Some((place, _)) = pipeline.tool(tool) else { return false };
        self.wrapped(pipeline.app()).get(place).is_some_and(Option::is_some)
    }

    /// The entry of a tool as an era sees it.
    pub(super) fn tool<'a>(&'a self, place: usize, era: Era, app: &'a App) -> &'a String {
        static NOTHING: String = String::new();
        let wrapped = || self.wrapped(app).get(place).and_then(Option::as_ref);
        let wrapped = (era == Era::Legacy).then(wrapped).flatten();
        wrapped.or_else(|| app.tools.get(place).map(|tool| &tool.descriptor)).unwrap_or(&NOTHING)
    }

    fn wrapped(&self, app: &App) -> &[Option<String>] {
        self.wrapped.get_or_init(|| app.tools.iter().map(|tool| wrap_output_schema(&tool.descriptor)).collect())
    }

    /// A list as an era sees it.
    pub(super) fn list(&self, kind: Kind, era: Era, app: &App) -> &List {
        let of_resources = |templates: bool| {
            let hidden = app.protected_files();
            let entries =
                app.resources.iter().zip(0..).filter(|(resource, place)| is_template(resource) == templates && !hidden.contains(place));
            List::new(kind, entries.map(|(resource, _)| resource.descriptor.as_str().into()))
        };
        match kind {
            Kind::Tools => {
                let legacy = || self.legacy_tools.get_or_init(|| legacy_tools(app)).as_ref();
                match (era == Era::Legacy).then(legacy).flatten() {
                    Some(legacy) => legacy,
                    None => self.tools.get_or_init(|| List::new(kind, listed(app).map(|tool| tool.descriptor.as_str().into()))),
                }
            }
            Kind::Prompts => {
                self.prompts.get_or_init(|| List::new(kind, app.prompts.iter().map(|prompt| prompt.descriptor.as_str().into())))
            }
            Kind::Resources => self.resources.get_or_init(|| of_resources(false)),
            Kind::Templates => self.templates.get_or_init(|| of_resources(true)),
            Kind::Skills => self.skills.get_or_init(|| List::new(kind, app.skills.iter().map(|skill| skill.descriptor.as_str().into()))),
        }
    }
}

/// One list, in pages.
pub(super) struct List {
    pages: Vec<Page>,
}

/// A page of a list.
pub(super) struct Page {
    /// The cursor that asks for it; the first page's is empty.
    cursor: String,
    /// A JSON array.
    pub(super) entries: String,
    /// The cursor of the page after it.
    pub(super) next: Option<String>,
}

impl List {
    pub(super) fn new<'a>(kind: Kind, entries: impl Iterator<Item = Cow<'a, str>>) -> Self {
        let mut pages: Vec<Page> = Vec::new();
        let mut page = Page { cursor: String::new(), entries: String::from("["), next: None };
        let mut count = 0;
        for (index, entry) in entries.enumerate() {
            if count == PAGE_ENTRIES || (count > 0 && page.entries.len() + entry.len() > PAGE_BYTES) {
                let cursor = URL_SAFE_NO_PAD.encode(format!("{}/{index}", kind.member()));
                page.next = Some(cursor.clone());
                page.entries.push(']');
                pages.push(core::mem::replace(&mut page, Page { cursor, entries: String::from("["), next: None }));
                count = 0;
            }
            if count > 0 {
                page.entries.push(',');
            }
            page.entries.push_str(&entry);
            count += 1;
        }
        page.entries.push(']');
        pages.push(page);
        Self { pages }
    }

    pub(super) fn page(&self, cursor: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.cursor == cursor)
    }
}

impl App {
    /// Whether a skill is for callers with certain scopes. What it has is in no list for everybody.
    pub(super) fn is_protected(&self, skill: &Skill) -> bool {
        self.resources.get(skill.resource as usize).is_some_and(|resource| resource.scopes.is_some())
    }

    /// The files of such skills, by their places in [`App::resources`].
    pub(super) fn protected_files(&self) -> Vec<u32> {
        let protected = self.skills.iter().filter(|skill| self.is_protected(skill));
        protected.flat_map(|skill| [Some(skill.resource), skill.files]).flatten().collect()
    }
}

pub(super) fn is_template(resource: &Resource) -> bool {
    !resource.uri.variables.is_empty()
}

/// How many bytes the entries of `tools/list` have in all its pages, for clients of the modern era
/// and for those of the legacy one, each with the newest revision of the era.
#[must_use]
pub fn tools_list_bytes(app: &App) -> [(&'static str, usize); 2] {
    let lists = Lists::default();
    [(Era::Modern, MODERN), (Era::Legacy, LEGACY[0])].map(|(era, revision)| {
        let pages = &lists.list(Kind::Tools, era, app).pages;
        (revision, pages.iter().map(|page| page.entries.len()).sum())
    })
}

/// The tools that `tools/list` names.
fn listed(app: &App) -> impl Iterator<Item = &Tool> {
    app.tools.iter().filter(|tool| tool.listed)
}

/// The tools as the legacy era must see them; `None` where that is how they are.
fn legacy_tools(app: &App) -> Option<List> {
    let wrapped = listed(app).map(|tool| wrap_output_schema(&tool.descriptor));
    let wrapped: Vec<Option<String>> = wrapped.collect();
    wrapped.iter().any(Option::is_some).then(|| {
        let entries = listed(app).zip(wrapped).map(|(tool, wrapped)| match wrapped {
            Some(wrapped) => Cow::Owned(wrapped),
            None => Cow::Borrowed(tool.descriptor.as_str()),
        });
        List::new(Kind::Tools, entries)
    })
}

/// In the legacy era `structuredContent` is an object, and so is what `outputSchema` describes: any
/// other schema becomes the member `result` of one. `None` where the descriptor can stay as it is.
fn wrap_output_schema(descriptor: &str) -> Option<String> {
    if !descriptor.contains("\"outputSchema\"") {
        return None;
    }
    let mut tool: Map<String, Json> = serde_json::from_str(descriptor).ok()?;
    let schema = tool.get_mut("outputSchema")?;
    if schema.get("type").is_some_and(|kind| kind == "object") {
        return None;
    }
    let mut inner = schema.take();
    let mut outer = Map::new();
    // References such as `#/$defs/x` are resolved from the root, so definitions stay there.
    for name in ["$schema", "$defs", "definitions"] {
        if let Some(value) = inner.as_object_mut().and_then(|inner| inner.shift_remove(name)) {
            outer.insert(name.into(), value);
        }
    }
    outer.insert("type".into(), json!("object"));
    outer.insert("properties".into(), json!({ "result": inner }));
    outer.insert("required".into(), json!(["result"]));
    *schema = Json::Object(outer);
    serde_json::to_string(&tool).ok()
}
