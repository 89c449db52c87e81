//! The scripts of a tool's folder that play a part by their names.

use millrace_core::app::ScriptRef;

use super::reader::ToolReader;
use crate::{compiler::Compiler, link::is_script, names::all_of, source::Source, tree::stem};

/// A part that a script plays by its name, where no key of the tool names one.
pub(super) struct Convention {
    /// The key that names another script.
    pub(super) key: &'static str,
    /// What the part is, in words.
    what: &'static str,
    /// The name of the script without its extension.
    stem: &'static str,
    /// The words that another name has to have, in this order.
    words: &'static [&'static str],
}

/// What does the work.
pub(super) static HANDLER: Convention = Convention { key: "handler", what: "the handler", stem: "handler", words: &["handler"] };

/// What changes the inputs.
pub(super) static INPUT: Convention = Convention { key: "input", what: "the input mapper", stem: "input", words: &["input", "validator"] };

/// What changes the result.
pub(super) static OUTPUT: Convention = Convention { key: "output", what: "the output mapper", stem: "output", words: &["data", "mapper"] };

impl Convention {
    /// The script of the folder that plays the part: its path, and its default export unless that
    /// is wrong, which has been said. `None` where no script has such a name.
    pub(super) fn script(&self, compiler: &mut Compiler<'_>, reading: &ToolReader<'_>) -> Option<(String, Option<ScriptRef>)> {
        let mut scripts: Vec<&String> = reading.files.iter().filter(|name| self.is_exact(name) || self.fits(name)).collect();
        scripts.sort_by_key(|name| (!self.is_exact(name), !name.ends_with(".ts")));
        let (first, others) = scripts.split_first()?;
        let path = format!("{}/{first}", reading.folder);
        let script = compiler.conventional_script(&path);
        // A script that the first one imports is a module of it.
        let is_rival = |name: &&&String| self.is_exact(name) || !compiler.tree.has_seen(&format!("{}/{name}", reading.folder));
        let rivals: Vec<&str> = std::iter::once(first).chain(others.iter().filter(is_rival)).map(|name| name.as_str()).collect();
        if rivals.len() > 1 {
            let message = format!("{} could each be {} of the tool by their names", all_of(&rivals), self.what);
            let named =
                if self.key == HANDLER.key { format!("handler: ./{first}") } else { format!("mappers: {{ {}: ./{first} }}", self.key) };
            compiler.error(reading.document, 0..0, message, format!("Keep one of them, or name the script: `{named}`."));
            return Some((path, None));
        }
        Some((path, script))
    }

    /// Says of a script with the very name of the part that it plays none, because the tool has
    /// `instead`.
    pub(super) fn reject(&self, compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, instead: &str) {
        for name in reading.files.iter().filter(|name| self.is_exact(name)) {
            let source = Source::new(format!("{}/{name}", reading.folder), "");
            let message = format!("`{name}` never runs: the tool `{}` has `{instead}`", reading.name);
            let help = format!("Remove the script, or `{instead}` with what it runs; a script that others import needs another name.");
            compiler.findings.error(&source, 0..0, message, help);
        }
    }

    fn is_exact(&self, name: &str) -> bool {
        is_script(name) && stem(name).eq_ignore_ascii_case(self.stem)
    }

    fn fits(&self, name: &str) -> bool {
        let stem = stem(name).to_ascii_lowercase();
        is_script(name) && self.words.iter().all(|word| stem.contains(word))
    }
}
