//! The two forms of a configuration: maps of names (`sources:`, `tools:` …), and a document for
//! each thing (`kind: source`, `name: …`, `type: …`).

use std::collections::BTreeMap;

use millrace_core::Json;
use serde_json::Map;

/// A configuration.
#[derive(Default)]
pub(super) struct Config {
    pub(super) sources: Vec<Entry>,
    pub(super) services: Vec<Entry>,
    pub(super) tools: Vec<Entry>,
    pub(super) prompts: Vec<Entry>,
    /// The toolsets and groups of each tool.
    pub(super) toolsets: BTreeMap<String, Vec<String>>,
    /// What an app cannot have: its kind and its name.
    pub(super) others: Vec<(String, String)>,
}

/// A source, a tool, a service or a prompt.
pub(super) struct Entry {
    pub(super) name: String,
    /// `postgres`, `postgres-sql`
    pub(super) kind: String,
    pub(super) body: Map<String, Json>,
}

/// The keys of the first form, and the kind of what is below each.
const MAPS: [(&str, &str); 8] = [
    ("sources", "source"),
    ("authServices", "authService"),
    ("authSources", "authService"),
    ("tools", "tool"),
    ("toolsets", "toolset"),
    ("prompts", "prompt"),
    ("promptsets", "promptset"),
    ("embeddingModels", "embeddingModel"),
];

impl Config {
    /// Reads documents of either form.
    ///
    /// # Errors
    /// Why they are no configuration.
    pub(super) fn read(documents: &[Json]) -> Result<Self, String> {
        let mut config = Self::default();
        for (at, document) in documents.iter().enumerate().filter(|(_, document)| !document.is_null()) {
            let Json::Object(body) = document else { return Err(format!("document {} is not a map", at + 1)) };
            if let Some(Json::String(kind)) = body.get("kind") {
                let name = body.get("name").and_then(Json::as_str).unwrap_or_default();
                config.add(kind.strip_suffix('s').unwrap_or(kind), name, body.get("type"), body.clone())?;
                continue;
            }
            for (key, below) in body {
                let Some((_, kind)) = MAPS.iter().find(|(name, _)| name == key) else {
                    return Err(format!("`{key}` is not one of its keys, and document {} has no `kind`", at + 1));
                };
                for (name, body) in below.as_object().into_iter().flatten() {
                    let body = match body {
                        Json::Object(body) => body.clone(),
                        // A toolset is the list itself.
                        list => Map::from_iter([("tools".to_owned(), list.clone())]),
                    };
                    config.add(kind, name, body.get("kind"), body.clone())?;
                }
            }
        }
        Ok(config)
    }

    fn add(&mut self, kind: &str, name: &str, of_type: Option<&Json>, body: Map<String, Json>) -> Result<(), String> {
        if name.is_empty() && kind != "group" {
            return Err(format!("a {kind} has no `name`"));
        }
        let entry = |body| Entry { name: name.to_owned(), kind: of_type.and_then(Json::as_str).unwrap_or_default().to_owned(), body };
        let list = match kind {
            "source" => &mut self.sources,
            "authService" | "authSource" => &mut self.services,
            "tool" => &mut self.tools,
            "prompt" => &mut self.prompts,
            "toolset" | "group" => {
                // A group without a name is that of all tools.
                for tool in texts(body.get("tools")).filter(|_| !name.is_empty()) {
                    self.toolsets.entry(tool.to_owned()).or_default().push(name.to_owned());
                }
                return Ok(());
            }
            other => {
                self.others.push((other.to_owned(), name.to_owned()));
                return Ok(());
            }
        };
        if list.iter().any(|other| other.name == name) {
            return Err(format!("it has two {kind}s `{name}`"));
        }
        list.push(entry(body));
        Ok(())
    }
}

impl Entry {
    /// A text, or a number or truth value as its text.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        scalar(self.body.get(key)?)
    }

    /// Whether a key is `true`.
    pub(super) fn is(&self, key: &str) -> bool {
        self.text(key).as_deref() == Some("true")
    }
}

/// The text of a value other than a list or a map.
pub(super) fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// The texts of a list.
pub(super) fn texts(list: Option<&Json>) -> impl Iterator<Item = &str> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}
