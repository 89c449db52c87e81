//! `require_scope`, and scopes wherever an author writes them.

use std::ops::Range;

use millrace_core::app::{RequiredScopes, is_scope};

use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    yaml::{Data, Document, Node},
};

/// `require_scope`
pub(crate) const REQUIRE_SCOPE: Shape = Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text), Shape::Record(&REQUIRED)]);
/// A scope, or a list of them.
pub(crate) const WORDS: Shape = Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text)]);

static REQUIRED: Record = Record {
    name: "required_scopes",
    noun: "`require_scope`",
    doc: "The scopes that a caller must have. As text, one scope; as a list, each of them.",
    fields: &[
        Field::new("all", WORDS, "Each of these.").names(Named::Scope),
        Field::new("any", WORDS, "One of these at least. A caller that has none of them is asked for the first.").names(Named::Scope),
    ],
};

/// Reads `require_scope`. `None` where it is wrong, which has been said.
pub(crate) fn required_scopes(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<RequiredScopes> {
    let required = if let Data::Map(_) = node.data {
        RequiredScopes { all: words(compiler, document, node.at("all"))?, any: words(compiler, document, node.at("any"))? }
    } else {
        RequiredScopes::all(words(compiler, document, Some(node))?)
    };
    if required.named().next().is_none() {
        let help = "Write `require_scope: orders:write`, a list of scopes, or `{ any: [orders:read, orders:write] }`.";
        compiler.error(document, node.range.clone(), "`require_scope` names no scope", help);
        return None;
    }
    Some(required)
}

/// A scope, or a list of them, each once. `None` where one is wrong, which has been said.
pub(crate) fn words(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>) -> Option<Vec<String>> {
    let nodes = match node {
        None => return Some(Vec::new()),
        Some(node) if node.text().is_some() => std::slice::from_ref(node),
        Some(node) => node.items(),
    };
    let mut words: Vec<String> = Vec::new();
    let mut are_good = true;
    for node in nodes {
        let word = node.text().unwrap_or_default().trim();
        if !is_scope(word) {
            not_a_scope(compiler, document, node.range.clone(), word);
            are_good = false;
        } else if !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    are_good.then_some(words)
}

/// Notes that a word cannot be a scope.
pub(crate) fn not_a_scope(compiler: &mut Compiler<'_>, document: &Document, range: Range<usize>, word: &str) {
    let help = "A scope is one word of ASCII characters, without blanks, `\"` and `\\`: `orders:write`.";
    compiler.error(document, range, format!("`{word}` is not a scope"), help);
}
