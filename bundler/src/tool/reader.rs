//! What the readers of a tool share.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use crate::{
    adapter::Adapters, app_settings::RootSettings, presenter::Presenters, setting::FolderSettings, source::Source, yaml::Document,
};

/// What a tool's readers share.
pub(super) struct ToolReader<'a> {
    pub(super) document: &'a Document,
    pub(super) name: &'a str,
    /// The tool's folder below the folder of the tools.
    pub(super) path: &'a str,
    /// The tool's folder below the app's folder.
    pub(super) folder: &'a str,
    /// The names of the files of that folder.
    pub(super) files: &'a [String],
    pub(super) root: &'a RootSettings,
    pub(super) outer: &'a FolderSettings,
}

/// A name of a tool that must be there once all are known.
pub(super) struct ToolReference {
    pub(super) source: Arc<Source>,
    pub(super) range: Range<usize>,
    pub(super) name: String,
}

/// What all tools of an app are read with.
pub(super) struct AppParts<'a> {
    pub(super) root: &'a RootSettings,
    pub(super) adapters: &'a mut Adapters,
    pub(super) presenters: &'a mut Presenters,
    /// Where each tool is, by its name.
    pub(super) places: BTreeMap<String, String>,
    /// The tools that others name.
    pub(super) wanted: Vec<ToolReference>,
    /// What tools say of themselves.
    pub(super) described: Vec<ToolDescription>,
}

/// What a tool says of itself, in small letters, and where it stands.
pub(super) struct ToolDescription {
    pub(super) source: Arc<Source>,
    pub(super) range: Range<usize>,
    pub(super) tool: String,
    pub(super) text: String,
}
