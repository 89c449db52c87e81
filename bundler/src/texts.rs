//! Texts that stand in place of files: what an editor has open and has not written yet.

use std::{collections::BTreeMap, sync::Arc};

/// Texts by their paths below the app's folder, with slashes. A text is a file of the app also
/// where nothing of that name is on the disk yet, in a folder that is there.
#[derive(Clone, Debug, Default)]
pub struct Texts(Arc<BTreeMap<String, Arc<str>>>);

impl Texts {
    /// Takes them.
    #[must_use]
    pub fn new(texts: BTreeMap<String, Arc<str>>) -> Self {
        Self(Arc::new(texts))
    }

    /// The text that stands in place of a file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(|text| &**text)
    }

    /// The names of the texts in a folder.
    pub(crate) fn names<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = &'t str> {
        let parts = self.0.keys().map(|path| path.rsplit_once('/').unwrap_or(("", path)));
        parts.filter(move |(parent, _)| *parent == folder).map(|(_, name)| name)
    }
}
