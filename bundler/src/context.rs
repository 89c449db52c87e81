//! `context`: values for every call, of the root, the folders and the tool.

use millrace_core::app::{ContextLayer, ContextSettings, PROTOTYPE_NAMES, RESERVED_NAMES};

use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape, duration_ms},
    names::{all_of, is_header_token, is_input_name, meant},
    scope::{ContextShape, IN_CONTEXT, PathScope, ToolScope},
    tree::parent,
    yaml::{Document, Node},
};

/// `context`
pub(crate) static CONTEXT: Record = Record {
    name: "context",
    noun: "`context`",
    doc: "What scripts and placeholders find in `ctx`, beside what is always there. The root's is first, then each folder's, then the \
          tool's: a later value replaces an earlier one of the same name.",
    fields: &[
        Field::new(
            "values",
            Shape::Map(&Shape::Any),
            "Values by name, with placeholders: `tenant: \"{{ auth.claims.tenant }}\"`. A string that is one placeholder keeps the type of its value.",
        ).sees(IN_CONTEXT),
        Field::new(
            "factory",
            Shape::Text,
            "A script: `./context.ts`, with `#name` for a named export. It gets `{ auth, request, env }`; the object that it returns is merged over the values.",
        )
        .names(Named::Script),
        Field::new(
            "require",
            Shape::List(&Shape::Text),
            "Names of values: a call for which one of them is absent or null ends with `CONTEXT_FAILED`, before anything else of the tool runs.",
        ),
        Field::new(
            "headers",
            Shape::List(&Shape::Text),
            "The header fields of the request that scripts and placeholders see: `accept-language`. No others are visible.",
        ),
        Field::new("timeout", Shape::Duration, "How long all factories of a call may take together.").default("the limit of the call"),
    ],
};

/// Header fields that hold credentials: they are for `auth` alone.
const CREDENTIALS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// A `context` block, and the file in which it stands.
#[derive(Clone, Debug)]
pub(crate) struct ContextBlock {
    pub(crate) document: Document,
    pub(crate) node: Node,
}

impl ContextBlock {
    /// The block of a file, where it has one.
    pub(crate) fn of(document: &Document) -> Option<Self> {
        document.root.at("context").map(|node| Self { document: document.clone(), node: node.clone() })
    }
}

/// Reads the context of a tool from its blocks, the root's first. `scope` knows the tool's `auth`;
/// the shape becomes what `ctx` has.
pub(crate) fn read(
    compiler: &mut Compiler<'_>,
    blocks: &[ContextBlock],
    scope: &ToolScope<'_>,
    shape: &mut ContextShape,
) -> ContextSettings {
    let mut settings = ContextSettings::default();
    for block in blocks {
        headers(compiler, block, &mut settings.headers);
    }
    shape.headers.clone_from(&settings.headers);
    let paths = ToolScope { context: shape, ..*scope }.of_context();
    for block in blocks {
        let layer = layer(compiler, block, &paths, shape);
        if !layer.values.is_empty() || layer.factory.is_some() {
            settings.layers.push(layer);
        }
        if let Some(timeout_ms) = block.node.at("timeout").and_then(|node| duration_ms(node.text()?)) {
            settings.timeout_ms = Some(timeout_ms);
        }
    }
    for block in blocks {
        require(compiler, block, shape, &mut settings.require);
    }
    settings
}

fn layer(compiler: &mut Compiler<'_>, block: &ContextBlock, paths: &PathScope, shape: &mut ContextShape) -> ContextLayer {
    let ContextBlock { document, node } = block;
    let values = node.at("values").map(|values| compiler.context_values(document, values, paths, shape)).unwrap_or_default();
    let factory = node.at("factory").and_then(|node| compiler.script(document, node, parent(&document.source.path)));
    shape.is_open |= node.at("factory").is_some();
    ContextLayer { values, factory }
}

fn headers(compiler: &mut Compiler<'_>, block: &ContextBlock, listed: &mut Vec<String>) {
    for node in block.node.at("headers").map(Node::items).unwrap_or_default() {
        let name = node.text().unwrap_or_default().trim().to_ascii_lowercase();
        if !is_header_token(&name) {
            let help = "Write it as `accept-language`.";
            compiler.error(&block.document, node.range.clone(), format!("`{name}` is not the name of a header field"), help);
        } else if CREDENTIALS.contains(&name.as_str()) {
            let help = "Read it in a script of `auth`, and return what later stages need as claims.";
            let message = format!("the header field `{name}` holds credentials, which only `auth` sees");
            compiler.error(&block.document, node.range.clone(), message, help);
        } else if !listed.contains(&name) {
            listed.push(name);
        }
    }
}

fn require(compiler: &mut Compiler<'_>, block: &ContextBlock, shape: &ContextShape, required: &mut Vec<String>) {
    for node in block.node.at("require").map(Node::items).unwrap_or_default() {
        let name = node.text().unwrap_or_default();
        if !shape.may_have(name) {
            let help = match meant(name, &shape.names(), "The values are") {
                help if help.is_empty() => "Declare it under `values`, or return it from a `factory`.".to_owned(),
                help => help,
            };
            compiler.error(&block.document, node.range.clone(), format!("`ctx` never has `{name}`"), help);
        } else if !required.iter().any(|known| known == name) {
            required.push(name.to_owned());
        }
    }
}

/// Why a name cannot be one of `ctx`, and what helps.
pub(crate) fn unusable(name: &str) -> Option<(String, String)> {
    if RESERVED_NAMES.contains(&name) {
        return Some((format!("`ctx.{name}` is taken"), format!("Choose another name; {} are taken.", all_of(&RESERVED_NAMES))));
    }
    if PROTOTYPE_NAMES.contains(&name) {
        return Some((format!("`{name}` cannot be a name here"), "Choose another name.".to_owned()));
    }
    if !is_input_name(name) {
        return Some((
            format!("`{name}` is not a name"),
            "A name begins with a letter or `_`; letters, digits, `_` and `-` follow.".to_owned(),
        ));
    }
    None
}
