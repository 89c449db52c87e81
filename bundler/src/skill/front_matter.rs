//! The front matter of a `SKILL.md`, as the [Agent Skills
//! specification](https://agentskills.io/specification) has it.
//!
//! Keys that the specification does not have are passed on: clients have some of their own.

use std::ops::Range;

use crate::{
    compiler::Compiler,
    hidden_text,
    names::nearest,
    source::Source,
    tree::MAX_YAML,
    yaml::{Data, Document, Node},
};

/// The keys of the specification.
const KEYS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// The longest name, description and `compatibility`, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;
/// What keys of `metadata` begin with that belong to MCP.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Reads the front matter. What is wrong is reported; `None` where it cannot be read.
pub(super) fn read(compiler: &mut Compiler<'_>, manifest: &Source, folder: &str) -> Option<Document> {
    let help = format!("Begin the file with `---`, `name: {folder}`, `description: …` and `---`, a line each.");
    // A byte order mark is no part of the text here, and clients look for the line at the very
    // beginning.
    if compiler.tree.read(&manifest.path, MAX_YAML).is_ok_and(|bytes| bytes.starts_with("\u{feff}".as_bytes())) {
        let message = "the file begins with a byte order mark, so clients do not find its front matter";
        compiler.findings.error(manifest, 0..0, message, "Save it as UTF-8 without one.");
    }
    let Some(end) = end(manifest) else {
        let range = manifest.line(0).unwrap_or(0..0);
        let message = match manifest.slice(range.clone()) {
            "---" => "the front matter is not closed by a line `---`",
            _ => "the file has no front matter",
        };
        compiler.findings.error(manifest, range, message, help);
        return None;
    };
    let part = Source::new(&manifest.path, manifest.slice(0..end));
    let document = Document::parse(part, &mut compiler.findings)?;
    hidden_text::check(&document, &mut compiler.findings);
    if !matches!(document.root.data, Data::Map(_)) {
        compiler.error(&document, 0..3, "the front matter is not a map", help);
        return None;
    }
    name(compiler, &document, folder);
    let about = "It says what the skill does and when to use it: clients show it, and a model chooses by it.";
    required(compiler, &document, "description", about);
    text(compiler, &document, "description", MAX_DESCRIPTION);
    text(compiler, &document, "license", usize::MAX);
    text(compiler, &document, "compatibility", MAX_COMPATIBILITY);
    metadata(compiler, &document);
    for entry in document.root.entries() {
        if let Some(near) =
            nearest(&entry.key, KEYS).filter(|near| *near != entry.key && !document.root.entries().iter().any(|e| e.key == **near))
        {
            let message = format!("`{}` is not a key of a skill", entry.key);
            compiler.error(&document, entry.key_range.clone(), message, format!("Did you mean `{near}`?"));
        }
    }
    Some(document)
}

/// Where the line begins that closes the front matter.
pub(super) fn end(manifest: &Source) -> Option<usize> {
    if manifest.slice(manifest.line(0)?) != "---" {
        return None;
    }
    let mut index = 1;
    loop {
        let line = manifest.line(index)?;
        if manifest.slice(line.clone()).trim_end_matches([' ', '\t']) == "---" {
            return Some(line.start);
        }
        index += 1;
    }
}

fn name(compiler: &mut Compiler<'_>, document: &Document, folder: &str) {
    required(compiler, document, "name", &format!("It is the name of the folder: `name: {folder}`."));
    text(compiler, document, "name", MAX_NAME);
    let Some(node) = document.root.at("name") else { return };
    let Some(name) = node.text() else { return };
    if name != folder {
        let message = format!("the skill is called `{name}`, and its folder `{folder}`");
        compiler.error(document, node.range.clone(), message, "Give both the same name.");
    } else if !is_name(name) {
        let help = "It takes small letters and digits, with single `-` between them: `refund-orders`.";
        compiler.error(document, node.range.clone(), format!("`{name}` is not a valid name for a skill"), help);
    }
}

/// Whether it is letters and digits with single hyphens between them.
fn is_name(name: &str) -> bool {
    name.split('-').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

fn required(compiler: &mut Compiler<'_>, document: &Document, key: &str, help: &str) {
    let missing = match document.root.at(key).map(|node| &node.data) {
        None => Some(0..3),
        Some(Data::Null) => document.root.entry(key).map(|entry| entry.key_range.clone()),
        Some(Data::Text(text)) if text.trim().is_empty() => document.root.at(key).map(|node| node.range.clone()),
        Some(_) => None,
    };
    if let Some(range) = missing {
        compiler.error(document, range, format!("`{key}` is missing"), help);
    }
}

/// Notes that a key has something else than text, or a longer one than clients take.
fn text(compiler: &mut Compiler<'_>, document: &Document, key: &str, max: usize) {
    let Some(node) = document.root.at(key) else { return };
    match &node.data {
        Data::Null | Data::Wrong => {}
        Data::Text(text) => {
            let length = text.chars().count();
            if length > max {
                let message = format!("`{key}` has {length} characters, more than the {max} that clients take");
                compiler.error(document, node.range.clone(), message, "Shorten it.");
            }
        }
        _ => wrong(compiler, document, node.range.clone(), key, "text", node),
    }
}

fn metadata(compiler: &mut Compiler<'_>, document: &Document) {
    let Some(node) = document.root.at("metadata") else { return };
    if !matches!(node.data, Data::Map(_) | Data::Null) {
        wrong(compiler, document, node.range.clone(), "metadata", "a map", node);
    }
    for entry in node.entries().iter().filter(|entry| entry.key.starts_with(RESERVED)) {
        let help = "MCP defines what begins with `io.modelcontextprotocol/`. Use a prefix of your own.";
        compiler.error(document, entry.key_range.clone(), format!("the key `{}` is reserved", entry.key), help);
    }
}

fn wrong(compiler: &mut Compiler<'_>, document: &Document, range: Range<usize>, key: &str, takes: &str, node: &Node) {
    compiler.error(
        document,
        range,
        format!("`{key}` takes {takes}, not {}", node.kind()),
        "Put text into quotes where it looks like something else.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_names_from_others() {
        for good in ["a", "refund-orders", "a-1-b", "7"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-", "-a", "a-", "a--b", "A", "a_b", "a b", "ä"] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn finds_where_it_ends() {
        let ends = |text: &str| end(&Source::new("SKILL.md", text));
        assert_eq!(ends("---\nname: a\n---\nbody"), Some(12));
        assert_eq!(ends("---\r\nname: a\r\n--- \t\r\n"), Some(14));
        assert_eq!(ends("---\n---"), Some(4));
        for without in ["", "---", "---\nname: a\n", "\n---\n---\n", "# a\n", "---\n ---\n", "--- \n---\n"] {
            assert_eq!(ends(without), None, "{without:?}");
        }
    }
}
