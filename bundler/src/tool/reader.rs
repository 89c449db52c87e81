//! What the readers of a tool share.

use crate::{app_settings::RootSettings, setting::FolderSettings, yaml::Document};

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
