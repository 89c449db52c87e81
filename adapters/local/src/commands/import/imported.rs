//! What an import makes of a configuration, before anything is written.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::commands::new::from::yaml;

/// The most rounds in which tools are removed that the bundler rejects.
pub(super) const MOST_ROUNDS: usize = 3;

/// An app that is not written yet.
#[derive(Default)]
pub(super) struct ImportedApp {
    /// `auth` and the like, as lines of the root file.
    pub(super) root: String,
    /// The other files, by their paths.
    pub(super) files: BTreeMap<String, String>,
    /// The folder of each tool, by its name in the configuration.
    pub(super) tools: BTreeMap<String, String>,
    /// The variables that the app reads, and what `.env` sets them to.
    pub(super) variables: BTreeMap<String, Option<String>>,
    /// What did not carry over.
    pub(super) omitted: Vec<Omission>,
    /// What carried over in another way.
    pub(super) notes: Vec<String>,
}

/// Something that did not carry over.
pub(super) struct Omission {
    /// What it is: ``the tool `x` ``.
    pub(super) what: String,
    /// Why, in a clause.
    pub(super) why: String,
}

impl ImportedApp {
    /// Notes what does not carry over.
    pub(super) fn omit(&mut self, what: String, why: impl Into<String>) {
        self.omitted.push(Omission { what, why: why.into() });
    }

    /// Whether a tool uses an adapter.
    pub(super) fn uses(&self, adapter: &str) -> bool {
        let line = format!("use: {}\n", yaml::word(adapter));
        self.tools.values().filter_map(|place| self.files.get(&format!("{place}/config.yaml"))).any(|text| text.contains(&line))
    }

    /// Keeps the variables that a file reads.
    pub(super) fn keep_variables(&mut self, variables: BTreeMap<String, Option<String>>) {
        let is_read = |name: &str| {
            let placeholder = format!("{{{{ env.{name} }}}}");
            self.root.contains(&placeholder) || self.files.values().any(|text| text.contains(&placeholder))
        };
        self.variables = variables.into_iter().filter(|(name, _)| is_read(name)).collect();
    }
}

impl Omission {
    /// The line of the report.
    pub(super) fn line(&self) -> String {
        format!("  {}: {}", self.what, self.why)
    }
}

/// The name of an app that is made of a file: `Shop Tools.yaml` gives `shop-tools`. `otherwise` is
/// for a file whose name has no letters.
pub(super) fn folder_for(file: &Path, otherwise: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).trim_end_matches('-');
    PathBuf::from(if name.is_empty() { otherwise } else { name })
}
