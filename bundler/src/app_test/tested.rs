//! What tests are of, and what their readers share.

use std::collections::BTreeMap;

use millrace_core::app::App;

use crate::{
    compiler::Compiler,
    names::all_of,
    yaml::{Document, Entry, Node},
};

/// The app that tests are of.
#[derive(Clone, Copy)]
pub(super) struct TestedApp<'a> {
    pub(super) app: &'a App,
    /// Whether all of it could be read: what is not there may be broken otherwise.
    pub(super) is_whole: bool,
    /// The tools by the folders of their files.
    pub(super) tools: &'a BTreeMap<String, String>,
}

/// What a test calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestSubject {
    /// A tool, by its name.
    Tool(String),
    /// A prompt, by its name.
    Prompt(String),
    /// A resource, by a URI.
    Resource(String),
}

/// The one of some keys that is there. More than one is an error.
pub(super) fn only<'n>(compiler: &mut Compiler<'_>, document: &Document, node: &'n Node, keys: &[&str]) -> Option<&'n Entry> {
    let mut found = node.entries().iter().filter(|entry| keys.contains(&entry.key.as_str()));
    let first = found.next();
    if let Some(other) = found.next() {
        compiler.error(document, other.key_range.clone(), format!("{} exclude each other", all_of(keys)), "Keep one of them.");
    }
    first
}
