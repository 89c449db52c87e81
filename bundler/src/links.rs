//! The scripts of an app that were linked.

use std::collections::BTreeMap;

use millrace_core::app::Script;

use crate::{Diagnostic, script::ScriptReference};

/// The scripts that were linked.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// In the order of their first use.
    pub(crate) scripts: Vec<Script>,
    /// For each of them, what to say where a module of it turns out to wait for the outside.
    pub(crate) waits: Vec<Option<Diagnostic>>,
    /// By path; `None` where a script could not be linked, which has been said.
    pub(crate) known: BTreeMap<String, Option<LinkedScript>>,
    /// The parts of the app that they name.
    pub(crate) named: Vec<ScriptReference>,
    /// Their statements.
    pub(crate) statements: Vec<ScriptStatement>,
}

/// A statement of a script.
#[derive(Clone, Debug)]
pub struct ScriptStatement {
    /// The script that it is part of: its place in the app's.
    pub script: u32,
    /// The statement, where it is written out, and where it stands.
    pub place: ScriptReference,
}

/// A script that was linked: its place in the bundle, and its exports.
#[derive(Clone, Debug)]
pub(crate) struct LinkedScript {
    pub(crate) index: u32,
    pub(crate) exports: Vec<String>,
    /// Those that are plainly not functions, and what to say where one is used as such.
    pub(crate) values: Vec<(String, Diagnostic)>,
}

impl Links {
    /// The parts of the app that the scripts name, each place once for each script that it is part of.
    pub(crate) fn take_named(&mut self) -> Vec<ScriptReference> {
        std::mem::take(&mut self.named)
    }

    /// The statements of the scripts.
    pub(crate) fn take_statements(&mut self) -> Vec<ScriptStatement> {
        std::mem::take(&mut self.statements)
    }

    /// For each script, what to say where a module of it turns out to wait for the outside.
    pub(crate) fn take_waits(&mut self) -> Vec<Option<Diagnostic>> {
        std::mem::take(&mut self.waits)
    }

    /// The scripts, in the order of their first use.
    pub(crate) fn take_scripts(&mut self) -> Vec<Script> {
        std::mem::take(&mut self.scripts)
    }
}
