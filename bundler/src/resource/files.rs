//! `file_template` of a resource: the files that it can name, embedded at build time, so that a
//! value can name no other.

use std::collections::BTreeSet;

use millrace_core::app::{Argument, File, Template, TemplatePart, UriPattern};

use super::{
    embedded::{embedded, named_file},
    mime,
};
use crate::{
    Problem, Severity,
    compiler::Compiler,
    tree::{MAX_EMBEDDED, parent},
    yaml::{Document, Node},
};

/// The most files of one template.
const MAX_FILES: usize = 1000;

/// The files of a template.
pub(super) struct MatchedFiles {
    /// The template of their names.
    pub(super) name: Template,
    /// The files, sorted by name.
    pub(super) files: Vec<File>,
    /// The variable that alone tells them apart, and its values.
    values: Option<(String, Vec<String>)>,
}

impl MatchedFiles {
    /// Gives the values of the variable to clients as completions, where the author says none.
    pub(super) fn suggest(&self, arguments: &mut Vec<Argument>) {
        let Some((name, values)) = &self.values else { return };
        match arguments.iter_mut().find(|argument| argument.name == *name) {
            Some(argument) if argument.completion.is_empty() && argument.complete.is_none() => argument.completion.clone_from(values),
            Some(_) => {}
            None => arguments.push(Argument { name: name.clone(), required: false, completion: values.clone(), complete: None }),
        }
    }
}

/// A part of a name.
enum NamePart<'a> {
    Text(&'a str),
    /// A variable. Only the value of one that is written `{+path}` in the URI may have `/`.
    Variable {
        name: &'a str,
        has_slashes: bool,
    },
}

/// Finds and embeds the files that `name` can name; what is wrong is reported.
pub(super) fn find(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    name: Template,
    pattern: &UriPattern,
    mime_type: Option<&str>,
) -> Option<MatchedFiles> {
    let pieces = name_parts(&name, pattern);
    let first = if let Some(NamePart::Text(text)) = pieces.first() { text } else { "" };
    let folder = first.rfind('/').map_or("", |slash| &first[..=slash]);
    let Some(below) = compiler.tree.resolve(parent(&document.source.path), folder) else {
        let help = "It takes files of the app's folder, relative to this file.";
        compiler.error(document, node.range.clone(), format!("the folder `{folder}` is outside of the app's folder"), help);
        return None;
    };
    let items = if is_deep(&pieces, folder) { compiler.tree.walk(&below) } else { compiler.tree.list(&below) };
    let skip = if below.is_empty() { 0 } else { below.len() + 1 };
    let names: BTreeSet<String> = items
        .into_iter()
        .filter(|item| !item.is_folder && !item.name.starts_with('.') && item.path != document.source.path)
        .filter_map(|item| Some(format!("{folder}{}", item.path.get(skip..)?)))
        .filter(|name| fits(&pieces, name))
        .collect();
    let is_mistaken = pieces.len() < name.0.len();
    if names.is_empty() && !is_mistaken {
        let problem = Problem {
            severity: Severity::Warning,
            range: 0..node.text().unwrap_or_default().len(),
            message: format!("no file fits `{}`", node.text().unwrap_or_default()),
            help: Some("There is nothing at any of its URIs. Files are embedded when the app is built; hidden ones are not.".into()),
        };
        compiler.findings.problem(document, node, problem);
    }
    if names.len() > MAX_FILES {
        let help = "Give it a folder or a longer name, or use a tool: `tool: get-order`.";
        let message = format!("{} files fit; a template takes at most {MAX_FILES}", names.len());
        compiler.error(document, node.range.clone(), message, help);
        return None;
    }
    let values = values(&pieces, &names);
    let mut size = 0_u64;
    let mut files = Vec::new();
    for name in names {
        let bytes = named_file(compiler, document, node, &name)?;
        size = size.saturating_add(bytes.len() as u64);
        if size > MAX_EMBEDDED {
            let help = "Everything embedded is in the bundle. Keep large files in a database or a bucket, and use a tool.";
            let message = format!("the files that fit are longer than {} MB together", MAX_EMBEDDED >> 20);
            compiler.error(document, node.range.clone(), message, help);
            return None;
        }
        let mime_type = mime_type.map_or_else(|| mime::guess(&name, &bytes).to_owned(), String::from);
        files.push(File { content: embedded(bytes, &mime_type), name, mime_type });
    }
    Some(MatchedFiles { name, files, values })
}

fn name_parts<'a>(name: &'a Template, pattern: &'a UriPattern) -> Vec<NamePart<'a>> {
    let reserved = pattern.reserved.and_then(|place| pattern.variables.get(place as usize));
    let part = |part: &'a TemplatePart| match part {
        TemplatePart::Text(text) => Some(NamePart::Text(text)),
        TemplatePart::Source(source) => {
            let name = source.path.first()?;
            // A name that the URI does not have was reported; it is filled in with nothing.
            let is_known = pattern.variables.contains(name);
            is_known.then(|| NamePart::Variable { name, has_slashes: reserved == Some(name) })
        }
    };
    name.0.iter().filter_map(part).collect()
}

/// Whether files in folders of the folder may fit.
fn is_deep(pieces: &[NamePart<'_>], folder: &str) -> bool {
    pieces.iter().enumerate().any(|(place, piece)| match piece {
        NamePart::Text(text) if place == 0 => text[folder.len()..].contains('/'),
        NamePart::Text(text) => text.contains('/'),
        NamePart::Variable { has_slashes, .. } => *has_slashes,
    })
}

/// Whether values of the variables make `name`. All places that can be reached are kept, so the
/// time is bounded by the lengths.
fn fits(pieces: &[NamePart<'_>], name: &str) -> bool {
    let mut reached = BTreeSet::from([0]);
    for piece in pieces {
        reached = match piece {
            NamePart::Text(text) => reached.iter().filter(|at| name[**at..].starts_with(text)).map(|at| at + text.len()).collect(),
            NamePart::Variable { has_slashes, .. } => {
                let ends = |at: &usize| {
                    let rest = &name[*at..];
                    let longest = if *has_slashes { rest.len() } else { rest.find('/').unwrap_or(rest.len()) };
                    let at = *at;
                    rest[..longest].char_indices().map(move |(place, c)| at + place + c.len_utf8()).collect::<Vec<_>>()
                };
                reached.iter().flat_map(ends).collect()
            }
        };
    }
    reached.contains(&name.len())
}

/// The values of the only variable, where there is one and it stands in the names once.
fn values(pieces: &[NamePart<'_>], names: &BTreeSet<String>) -> Option<(String, Vec<String>)> {
    let place = pieces.iter().position(|piece| matches!(piece, NamePart::Variable { .. }))?;
    let (before, after) = (pieces.get(..place)?, pieces.get(place + 1..)?);
    let Some(NamePart::Variable { name, .. }) = pieces.get(place) else { return None };
    let length = |pieces: &[NamePart<'_>]| {
        pieces.iter().try_fold(0, |sum, piece| if let NamePart::Text(text) = piece { Some(sum + text.len()) } else { None })
    };
    let (start, end) = (length(before)?, length(after)?);
    let values = names.iter().filter_map(|full| full.get(start..full.len().checked_sub(end)?)).map(String::from).collect();
    Some(((*name).to_owned(), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_or_do_not() {
        let id = || NamePart::Variable { name: "id", has_slashes: false };
        let path = || NamePart::Variable { name: "path", has_slashes: true };
        let json = [NamePart::Text("./"), id(), NamePart::Text(".json")];
        for (name, expected) in
            [("./1.json", true), ("./a.json.json", true), ("./.json", false), ("./a/b.json", false), ("./1.jsonx", false)]
        {
            assert_eq!(fits(&json, name), expected, "{name}");
        }
        let two = [id(), NamePart::Text("-"), id()];
        for (name, expected) in [("a-b", true), ("a-b-c", true), ("€-€", true), ("-b", false), ("a-", false), ("--", false)] {
            assert_eq!(fits(&two, name), expected, "{name}");
        }
        let deep = [NamePart::Text("d/"), path(), NamePart::Text(".md")];
        assert!(fits(&deep, "d/a/b.md") && !fits(&deep, "e/a.md") && !fits(&deep, "d/.md"));
        let names = BTreeSet::from(["./1.json".to_owned(), "./x.json".to_owned()]);
        assert_eq!(values(&json, &names), Some(("id".into(), vec!["1".into(), "x".into()])));
        assert_eq!(values(&two, &names), None);
    }

    #[test]
    fn a_hostile_template_takes_no_exponential_time() {
        let pieces: Vec<NamePart<'_>> = (0..200)
            .flat_map(|_| [NamePart::Variable { name: "a", has_slashes: true }, NamePart::Text("x")])
            .chain([NamePart::Text("y")])
            .collect();
        assert!(!fits(&pieces, &"x".repeat(255)));
    }
}
