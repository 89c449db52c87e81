//! The scripts of an app that were linked.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::app::Script;

use crate::{
    Diagnostic, ScriptSize, Severity,
    script::{IntlUse, ScriptReference, intl},
};

/// The scripts that were linked.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// In the order of their first use.
    pub(crate) scripts: Vec<Script>,
    /// For each of them, what to say where a module of it turns out to wait for the outside.
    pub(crate) waits: Vec<Option<Diagnostic>>,
    /// By path; `None` where a script could not be linked, which has been said.
    pub(crate) known: BTreeMap<String, Option<LinkedScript>>,
    /// How large they are, in their order.
    pub(crate) sizes: Vec<ScriptSize>,
    /// The parts of the app that they name.
    pub(crate) named: Vec<ScriptReference>,
    /// The variables and secrets that the app lists.
    pub(crate) env: Vec<String>,
    /// The locales that the app lists.
    pub(crate) locales: Option<Vec<String>>,
    /// What the scripts use of `Intl`.
    pub(crate) intl: Option<Intl>,
    /// Their statements.
    pub(crate) statements: Vec<ScriptStatement>,
}

/// The script that has `Intl`, which is made of what all scripts use.
#[derive(Debug)]
pub(crate) struct Intl {
    index: usize,
    /// The locales, that of whoever names none first.
    locales: Vec<&'static str>,
    parts: BTreeSet<intl::Part>,
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
    /// The parts of the app that the scripts name, each place once for each script that it is part
    /// of.
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

    /// Takes up what a script uses of `Intl`, before the script itself has its place: what it uses
    /// is evaluated first. Gives what the app does not have.
    pub(crate) fn uses_intl(&mut self, used: IntlUse) -> Vec<Diagnostic> {
        let intl = self.intl.get_or_insert_with(|| {
            let listed = self.locales.as_deref().unwrap_or_default();
            let mut locales: Vec<&str> = Vec::new();
            for locale in listed.iter().filter_map(|name| intl::covering(name)) {
                if !locales.contains(&locale) {
                    locales.push(locale);
                }
            }
            if locales.is_empty() {
                locales.push("en");
            }
            self.scripts.push(Script {
                path: Script::SHARED_PATH.to_owned(),
                program: String::new(),
                map: None,
                loads_without_clock: false,
            });
            self.waits.push(None);
            self.sizes.push(ScriptSize { path: Script::SHARED_PATH.to_owned(), ..ScriptSize::default() });
            Intl { index: self.scripts.len() - 1, locales, parts: BTreeSet::new() }
        });
        intl.parts.extend(used.parts);
        let mut missing = Vec::new();
        if let (Some(warning), Some(first)) = (used.compared, intl.locales.first().filter(|first| !intl::is_ordered(first))) {
            let message = format!("scripts do not have the order of texts of `{first}`: this compares in that of English");
            missing.push(Diagnostic { message, ..warning });
        }
        for (locale, diagnostic) in used.locales {
            let covering = intl::covering(&locale);
            match covering {
                Some(covering) if intl.locales.contains(&covering) => {}
                // Where the app lists none, it has those that its own files write out.
                Some(covering) if self.locales.is_none() && diagnostic.severity == Severity::Error => intl.locales.push(covering),
                Some(_) => missing.push(diagnostic),
                None => {
                    let all = intl::names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                    let message = format!("scripts do not have the locale `{locale}`");
                    missing.push(Diagnostic { message, help: Some(format!("They can have {all}.")), ..diagnostic });
                }
            }
        }
        missing
    }

    /// The scripts, in the order of their first use.
    pub(crate) fn take_scripts(&mut self) -> Vec<Script> {
        if let Some(Intl { index, locales, parts }) = &self.intl
            && let Some(script) = self.scripts.get_mut(*index)
        {
            script.program = intl::program(locales, parts);
            if let Some(size) = self.sizes.get_mut(*index) {
                size.packages.insert("Intl".to_owned(), script.program.len() as u64);
            }
        }
        std::mem::take(&mut self.scripts)
    }
}
