//! `options.allow` of an adapter: what may be run though it is refused otherwise, commands of
//! Redis, or stages and operators of MongoDB.

use millrace_languages::{
    Form, Language, mongodb,
    redis::{Admission, allowed, find},
};

use crate::{
    compiler::Compiler,
    yaml::{Document, Node},
};

/// Reads the names of a list or of a text with commas; those of Redis in upper case.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, node: &Node, language: Language) -> Vec<String> {
    let nodes = if node.items().is_empty() { std::slice::from_ref(node) } else { node.items() };
    let mut names = Vec::new();
    for node in nodes {
        // What is not text has been said, or is a list without elements.
        let Some(text) = node.text() else { continue };
        for name in allowed(text) {
            if language.form() == Form::Document {
                match mongodb::may_be_allowed(name.trim()) {
                    Ok(()) => names.push(name.trim().to_owned()),
                    Err(message) => {
                        let help = "Name stages and operators that are refused otherwise: `allow: [$out, $where]`.";
                        compiler.error(document, node.range.clone(), message, help);
                    }
                }
                continue;
            }
            let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ").to_ascii_uppercase();
            match wrong(&name) {
                Some((message, help)) => compiler.error(document, node.range.clone(), message, help),
                None => names.push(name),
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

fn wrong(name: &str) -> Option<(String, &'static str)> {
    // A name of a module's: `FT.SEARCH`.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte)) {
        return Some((format!("`{name}` is not the name of a command"), "Name commands: `allow: [KEYS, EVAL, CONFIG GET]`."));
    }
    let (first, second) = name.split_once(' ').map_or((name, None), |(first, second)| (first, Some(second)));
    match find(first, second).map(|command| command.admission)? {
        Admission::Free => Some((format!("the command `{name}` needs no permission"), "Remove it from `allow`.")),
        Admission::Never(_) => {
            let help = "Remove it from `allow`: it waits on the server, or changes the connection, which other calls use.";
            Some((format!("the command `{name}` cannot be allowed"), help))
        }
        Admission::Named(_) | Admission::Container => None,
    }
}
