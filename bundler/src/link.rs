//! References to scripts: `./x.ts#name` in a file of the app, a [`ScriptRef`] in the bundle. Each
//! script is linked once.

use std::{ops::Range, path::Path};

use millrace_core::app::{Script, ScriptRef};

use crate::{
    ScriptSize,
    compiler::Compiler,
    links::{LinkedScript, ScriptStatement},
    names::{all_of, meant},
    script,
    source::Source,
    yaml::{Document, Node},
};

/// The export of a script of `middleware` that observes how a call ended.
const AFTER: &str = "after";

/// The extensions that a script may have.
const EXTENSIONS: [&str; 6] = ["ts", "mts", "tsx", "js", "mjs", "jsx"];

/// Whether a word refers to a script: it begins like a path, or ends like one.
pub(crate) fn is_reference(word: &str) -> bool {
    let path = word.split('#').next().unwrap_or_default();
    path.starts_with('.') || path.contains('/') || is_script(path)
}

/// Whether a file name is that of a script, type declarations and tests apart.
pub(crate) fn is_script(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some((stem, extension)) = lower.rsplit_once('.') else { return false };
    EXTENSIONS.contains(&extension) && !stem.ends_with(".d") && !stem.ends_with(".test") && !stem.ends_with(".spec")
}

impl Compiler<'_> {
    /// The function that a text such as `./x.ts#name` means in the folder `base`. `./` and `../`
    /// are relative to that folder; a bare path is so too where there is such a file, else it is
    /// relative to the app's folder.
    pub(crate) fn script(&mut self, document: &Document, node: &Node, base: &str) -> Option<ScriptRef> {
        let (path, export) = self.located(document, node, base)?;
        self.export(&document.source, node.range.clone(), &path, export)
    }

    /// The functions of a script of `middleware`: its default export, or the one after `#`, and its
    /// export `after`. It has at least one.
    pub(crate) fn middleware_script(
        &mut self,
        document: &Document,
        node: &Node,
        base: &str,
    ) -> Option<(Option<ScriptRef>, Option<ScriptRef>)> {
        let (path, export) = self.located(document, node, base)?;
        let known = self.linked(&path)?;
        let has = |name: &str| known.exports.iter().any(|known| known == name);
        let after = has(AFTER).then(|| ScriptRef { script: known.index, export: AFTER.to_owned() });
        if export == "default" && !has(export) && after.is_some() {
            return Some((None, after));
        }
        Some((Some(self.export(&document.source, node.range.clone(), &path, export)?), after))
    }

    /// The path of the script that a text such as `./x.ts#name` means, and the name of the export.
    fn located<'n>(&mut self, document: &Document, node: &'n Node, base: &str) -> Option<(String, &'n str)> {
        let text = node.text()?;
        let (reference, export) = text.rsplit_once('#').unwrap_or((text, "default"));
        let outside = |compiler: &mut Self| {
            let message = format!("`{reference}` is outside of the app's folder");
            compiler.error(document, node.range.clone(), message, "Move the script into the app's folder.");
        };
        let Some(mut path) = self.tree.resolve(base, reference) else {
            outside(self);
            return None;
        };
        if !reference.starts_with('.') && !self.tree.has_file(&path) {
            path = self.tree.resolve("", reference).filter(|path| self.tree.has_file(path)).unwrap_or(path);
        }
        if !self.tree.has_file(&path) {
            let files = self.tree.list(crate::tree::parent(&path));
            let scripts: Vec<String> =
                files.iter().filter(|file| is_script(&file.name)).map(|file| reference_like(reference, &file.name)).collect();
            let names: Vec<&str> = scripts.iter().map(String::as_str).collect();
            let help = meant(reference, &names, "The scripts there are");
            self.error(document, node.range.clone(), format!("the script `{reference}` does not exist"), help);
            return None;
        }
        if !is_script(&path) {
            let help = "A script ends in `.ts`, `.mts`, `.tsx`, `.js`, `.mjs` or `.jsx`.";
            self.error(document, node.range.clone(), format!("`{reference}` is not a script"), help);
            return None;
        }
        if self.tree.read(&path, crate::tree::MAX_EMBEDDED) == Err(crate::tree::Unreadable::Outside) {
            outside(self);
            return None;
        }
        Some((path, export))
    }

    /// The default export of a script that was found by its name.
    pub(crate) fn conventional_script(&mut self, path: &str) -> Option<ScriptRef> {
        self.export(&Source::new(path, ""), 0..0, path, "default")
    }

    fn export(&mut self, source: &Source, range: Range<usize>, path: &str, export: &str) -> Option<ScriptRef> {
        let known = self.linked(path)?;
        if let Some((_, finding)) = known.values.iter().find(|(name, _)| name == export) {
            self.findings.push(finding.clone());
            return None;
        }
        if known.exports.iter().any(|name| name == export) {
            return Some(ScriptRef { script: known.index, export: export.to_owned() });
        }
        let message = format!("`{path}` does not export `{export}`");
        let help = match (export, known.exports.as_slice()) {
            ("default", []) => "Begin its function with `export default function`.".to_owned(),
            ("default", [one, ..]) => format!("Export the function as default, or name one of its exports: `{path}#{one}`."),
            (_, exports) => format!("It exports {}.", all_of(exports)),
        };
        self.findings.error(source, range, message, help);
        None
    }

    fn linked(&mut self, path: &str) -> Option<LinkedScript> {
        if let Some(known) = self.links.known.get(path) {
            return known.clone();
        }
        let mut named = Vec::new();
        let outcome = script::link_and_collect(self.tree.folder(), Path::new(path), self.tree.texts(), &mut named);
        let (statements, named): (Vec<_>, Vec<_>) = named.into_iter().partition(|named| named.part.is_asked());
        if let Some(outlines) = &mut self.outlines {
            outlines.script_names.extend(named.iter().cloned());
        }
        self.links.named.extend(named);
        let known = match outcome {
            Ok(linked) => {
                self.tree.saw(linked.files);
                for missing in linked.intl.map(|used| self.links.uses_intl(used)).unwrap_or_default() {
                    self.findings.push(missing);
                }
                let index = u32::try_from(self.links.scripts.len()).unwrap_or(u32::MAX);
                self.links.statements.extend(statements.into_iter().map(|place| ScriptStatement { script: index, place }));
                linked.warnings.into_iter().for_each(|warning| self.findings.push(warning));
                self.links.waits.push(linked.waits);
                self.links.sizes.push(ScriptSize { path: path.to_owned(), packages: linked.packages, load: None });
                self.links.scripts.push(Script {
                    path: path.to_owned(),
                    program: script::with_env(linked.program, &self.links.env),
                    map: Some(linked.map),
                    loads_without_clock: false,
                });
                Some(LinkedScript { index, exports: linked.exports, values: linked.values })
            }
            Err(diagnostics) => {
                self.tree.saw(std::iter::once(path.into()).chain(diagnostics.iter().map(|found| found.file.clone())));
                for diagnostic in diagnostics {
                    self.findings.push(diagnostic);
                }
                None
            }
        };
        self.links.known.insert(path.to_owned(), known.clone());
        known
    }
}

/// A file's name, written the way a reference was.
fn reference_like(reference: &str, name: &str) -> String {
    match reference.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    }
}
