//! The presenters that were read.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::app::Presenter;
use serde_json::Value;

use super::tell::WantedAction;
use crate::{
    compiler::Compiler,
    names::meant,
    yaml::{Document, Node},
};

/// The presenters so far.
#[derive(Default)]
pub(crate) struct Presenters {
    /// The presenters; an embedded one stands before those that embed it.
    pub(crate) list: Vec<Presenter>,
    /// The JSON Schema of an item of each, as it is sent.
    pub(super) schemas: Vec<Value>,
    /// What the result of each is, in the author's words.
    pub(super) descriptions: Vec<Option<String>>,
    pub(super) names: BTreeMap<String, u32>,
    /// The names of those that could not be read, which has been said.
    pub(super) broken: BTreeSet<String>,
    pub(super) used: BTreeSet<u32>,
    pub(super) actions: Vec<WantedAction>,
    /// Where each file's presenter is, for those that nothing uses.
    pub(super) files: Vec<(String, Document)>,
}

impl Presenters {
    /// Finds a presenter by its name, and says where there is none.
    pub(super) fn find(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<u32> {
        let name = node.text()?;
        if let Some(place) = self.names.get(name) {
            self.used.insert(*place);
            return Some(*place);
        }
        if !self.broken.contains(name) {
            let names: Vec<&str> = self.names.keys().chain(&self.broken).map(String::as_str).collect();
            let help = match meant(name, &names, "The presenters are") {
                help if help.is_empty() => format!("Create `presenters/{name}.yaml`."),
                help => help,
            };
            compiler.error(document, node.range.clone(), format!("the presenter `{name}` does not exist"), help);
        }
        None
    }

    /// The item schema of a presenter, as it is sent.
    pub(super) fn schema(&self, place: u32) -> &Value {
        self.schemas.get(place as usize).unwrap_or(&Value::Null)
    }

    /// What the result of a presenter is, in the author's words.
    pub(super) fn description(&self, place: u32) -> Option<&str> {
        self.descriptions.get(place as usize)?.as_deref()
    }

    /// Marks what a field embeds as used.
    pub(super) fn embeds(&mut self, place: u32) {
        self.used.insert(place);
    }
}
