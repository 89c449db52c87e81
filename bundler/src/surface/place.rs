//! Where in the app's files a change of the surface stands.

use std::{collections::BTreeMap, fs, path::Path};

use super::changes::{Change, Item};
use crate::{
    LOCK_FILE, Origin, Report,
    findings::Findings,
    source::Source,
    tree::MAX_YAML,
    yaml::{Document, Node},
};

/// The files of an app, as far as they were looked into.
pub struct SurfacePlaces<'a> {
    folder: &'a Path,
    report: &'a Report,
    documents: BTreeMap<String, Option<Document>>,
}

impl<'a> SurfacePlaces<'a> {
    /// For an app in a folder, which was compiled.
    #[must_use]
    pub fn new(folder: &'a Path, report: &'a Report) -> Self {
        Self { folder, report, documents: BTreeMap::new() }
    }

    /// Where a change stands, as exactly as that is known: `app/tools/x/config.yaml:7:3`. What is
    /// gone stands in the lock file.
    pub fn of(&mut self, change: &Change) -> String {
        let file = match &change.item {
            Item::Server => Some(ROOT.to_owned()),
            Item::Tool(name) => self.report.tool_files.get(name).cloned(),
            Item::Prompt(name) => self.report.feature_files.get(name).cloned(),
            Item::Resource(uri) => self.report.feature_files.get(uri).cloned(),
        };
        let Some(file) = file else { return format!("{LOCK_FILE}:1:1") };
        if let Item::Tool(name) = &change.item {
            if let Some(place) = self.presented(&file, &change.path) {
                return place;
            }
            let is_here = change.path.first().is_none_or(|first| self.has(&file, first));
            if !is_here && let Some(place) = inherited(&self.report.origins, name, &change.path) {
                return place;
            }
        }
        self.within(&file, &change.path)
    }

    fn document(&mut self, file: &str) -> Option<&Document> {
        if !self.documents.contains_key(file) {
            let path = self.folder.join(file);
            let is_short = fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_YAML);
            let text = if is_short { fs::read_to_string(&path).ok() } else { None };
            let document = text.and_then(|text| Document::parse(Source::new(file, text), &mut Findings::default()));
            self.documents.insert(file.to_owned(), document);
        }
        self.documents.get(file)?.as_ref()
    }

    fn has(&mut self, file: &str, key: &str) -> bool {
        self.document(file).is_some_and(|document| document.root.entry(key).is_some())
    }

    /// The deepest key of a path that a file has.
    fn within(&mut self, file: &str, path: &[String]) -> String {
        let Some(document) = self.document(file) else { return format!("{file}:1:1") };
        let mut place = document.source.place(document.root.range.start);
        let mut node = &document.root;
        for step in path {
            let Some((at, next)) = enter(node, step) else { break };
            place = document.source.place(at);
            node = next;
        }
        place
    }

    /// A field of a result, in the file of the tool's presenter.
    fn presented(&mut self, file: &str, path: &[String]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        if !["output", "returns"].contains(&first.as_str()) || self.has(file, "output") {
            return None;
        }
        let name = self.document(file)?.root.text_at("returns")?.to_owned();
        let presenter = self.report.files.iter().find(|known| {
            let is_yaml = known.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
            let in_folder = known.parent().and_then(Path::file_name).is_some_and(|folder| folder == "presenters");
            is_yaml && in_folder && known.file_stem().is_some_and(|stem| stem == name.as_str())
        })?;
        let presenter = presenter.strip_prefix(self.folder).unwrap_or(presenter);
        let presenter = presenter.to_string_lossy().replace('\\', "/");
        let rest = if first == "output" { [vec!["schema".to_owned()], rest.to_vec()].concat() } else { rest.to_vec() };
        Some(self.within(&presenter, &rest))
    }
}

/// The file of the server's settings.
const ROOT: &str = "millrace.yaml";

/// What stands at a key, under the name that it has in a file of an app.
fn enter<'n>(node: &'n Node, step: &str) -> Option<(usize, &'n Node)> {
    let own = match step {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" => "min",
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" => "max",
        other => other,
    };
    // The members of an object are below `fields`, or below `properties` of a schema.
    let holders = [Some(node), node.at("fields"), node.at("properties"), node.at("items").and_then(|items| items.at("fields"))];
    let entry = holders.into_iter().flatten().find_map(|holder| holder.entry(own))?;
    Some((entry.key_range.start, &entry.value))
}

/// Where a setting stands that a tool has from a folder or the root file.
fn inherited(origins: &[Origin], tool: &str, path: &[String]) -> Option<String> {
    let of = |setting: &str| {
        let is_one = |origin: &&Origin| {
            let is_setting =
                origin.setting == setting || origin.setting.strip_prefix(setting).is_some_and(|rest| rest.starts_with(['.', ' ', '[']));
            origin.tool == tool && is_setting && origin.place.contains(':')
        };
        origins.iter().find(is_one).map(|origin| origin.place.clone())
    };
    of(&path.join(".")).or_else(|| of(path.first()?))
}
