//! Files of the app that become part of the bundle.

use millrace_core::app::{Embedded, Template, TemplatePart};

use super::mime;
use crate::{
    compiler::Compiler,
    hidden_text,
    tree::{MAX_EMBEDDED, parent},
    yaml::{Document, Node},
};

/// The bytes of a file of the app's folder, which goes into the bundle.
pub(crate) fn file(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<Vec<u8>> {
    let text = node.text()?;
    named_file(compiler, document, node, text)
}

/// The bytes of the file that `text` names, which stands in `node` or follows from it.
pub(super) fn named_file(compiler: &mut Compiler<'_>, document: &Document, node: &Node, text: &str) -> Option<Vec<u8>> {
    let path = compiler.tree.resolve(parent(&document.source.path), text);
    let outcome = match &path {
        Some(path) => compiler.tree.read(path, MAX_EMBEDDED).map_err(|why| why.to_string()),
        None => Err("is outside of the app's folder".into()),
    };
    match outcome {
        Ok(bytes) => {
            if let (Some(path), Ok(text)) = (path, std::str::from_utf8(&bytes)) {
                hidden_text::check_file(&path, text, &mut compiler.findings);
            }
            Some(bytes)
        }
        Err(why) => {
            let help = "It takes a file of the app's folder, relative to this file.";
            compiler.error(document, node.range.clone(), format!("the file `{text}` {why}"), help);
            None
        }
    }
}

/// Text or bytes, by the MIME type.
pub(crate) fn embedded(bytes: Vec<u8>, mime_type: &str) -> Embedded {
    if !mime::is_text(mime_type) {
        return Embedded::Blob(bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Embedded::Text(verbatim(&text)),
        Err(error) => Embedded::Blob(error.into_bytes()),
    }
}

/// Text as a template without placeholders.
pub(super) fn verbatim(text: &str) -> Template {
    Template(if text.is_empty() { Vec::new() } else { vec![TemplatePart::Text(text.to_owned())] })
}
