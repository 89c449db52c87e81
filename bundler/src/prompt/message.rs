//! One message of a prompt: who says it, and what.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::app::{Embedded, Media, PromptContent, PromptMessage};

use crate::{
    compiler::Compiler,
    names::one_of,
    resource::{embedded, file, mime},
    tool_use::{self, ToolCaller, Tools},
    yaml::{Document, Entry, Node},
};

const WAYS: [&str; 5] = ["text", "image", "audio", "resource", "tool"];

/// Reads a message. `None` where it says nothing that can be sent, which has been said.
pub(super) fn read(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    known: &ToolCaller<'_>,
    tools: &Tools,
) -> Option<PromptMessage> {
    let role = role(compiler, document, node);
    let way = only(compiler, document, node, "the message", &WAYS)?;
    for (key, of) in [("mime_type", &["image", "audio"][..]), ("args", &["tool"])] {
        if let Some(entry) = node.entry(key).filter(|_| !of.contains(&way.key.as_str())) {
            let message = format!("`{key}` belongs to {}, and the message has `{}`", one_of(of), way.key);
            compiler.error(document, entry.key_range.clone(), message, "Remove it.");
        }
    }
    let value = &way.value;
    let content = match way.key.as_str() {
        "text" => PromptContent::Text(compiler.arguments_template(document, value, known.names)),
        "image" => PromptContent::Image(media(compiler, document, node, value, "image/")?),
        "audio" => PromptContent::Audio(media(compiler, document, node, value, "audio/")?),
        "resource" => resource(compiler, document, value, known)?,
        _ => PromptContent::Tool(tool_use::read(compiler, document, value, node.at("args"), known, tools)?),
    };
    Some(PromptMessage { role: role.to_owned(), content })
}

fn role(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> &'static str {
    let Some(role) = node.at("role") else { return "user" };
    match role.text().unwrap_or_default() {
        "assistant" => return "assistant",
        "user" => {}
        "system" if compiler.imported => {
            let message = "MCP has no role `system`; the message is sent as `user`";
            compiler.warning(document, role.range.clone(), message, "Use `user` or `assistant`.");
        }
        other => compiler.error(document, role.range.clone(), format!("the role `{other}` does not exist"), "It is `user` or `assistant`."),
    }
    "user"
}

/// The one key of `ways` that is there, with a value that is not wrong.
fn only<'n>(compiler: &mut Compiler<'_>, document: &Document, node: &'n Node, what: &str, ways: &[&str]) -> Option<&'n Entry> {
    let mut found = node.entries().iter().filter(|entry| ways.contains(&entry.key.as_str()));
    let Some(way) = found.next() else {
        compiler.error(document, node.range.clone(), format!("{what} has no content"), format!("Give it {}.", one_of(ways)));
        return None;
    };
    if let Some(other) = found.next() {
        let message = format!("{what} has both `{}` and `{}`", way.key, other.key);
        compiler.error(document, other.key_range.clone(), message, "Keep one of them.");
        return None;
    }
    node.at(&way.key).is_some().then_some(way)
}

fn media(compiler: &mut Compiler<'_>, document: &Document, node: &Node, value: &Node, family: &str) -> Option<Media> {
    let data = file(compiler, document, value)?;
    let name = value.text()?;
    let (mime_type, place) = match node.at("mime_type") {
        Some(said) => (said.text()?, said),
        None => (mime::guess(name, &data), value),
    };
    if !mime_type.starts_with(family) {
        let message = format!("`{mime_type}` is not a type that begins with `{family}`");
        compiler.error(document, place.range.clone(), message, format!("Use another file, or set `mime_type: {family}…`."));
    }
    Some(Media { mime_type: mime_type.to_owned(), data })
}

fn resource(compiler: &mut Compiler<'_>, document: &Document, node: &Node, known: &ToolCaller<'_>) -> Option<PromptContent> {
    let way = only(compiler, document, node, "the resource", &["text", "file", "blob"])?;
    let uri = compiler.arguments_template(document, node.at("uri")?, known.names);
    let said = node.text_at("mime_type").map(String::from);
    let text = way.value.text()?;
    let (mime_type, content) = match way.key.as_str() {
        "text" => {
            let template = compiler.arguments_template(document, &way.value, known.names);
            (said.unwrap_or_else(|| "text/plain; charset=utf-8".into()), Embedded::Text(template))
        }
        "file" => {
            let bytes = file(compiler, document, &way.value)?;
            let mime_type = said.unwrap_or_else(|| mime::guess(text, &bytes).into());
            let content = embedded(bytes, &mime_type);
            (mime_type, content)
        }
        _ => {
            let Ok(bytes) = STANDARD.decode(text) else {
                compiler.error(document, way.value.range.clone(), "`blob` is not base64", "Use the standard alphabet, with padding.");
                return None;
            };
            (said.unwrap_or_else(|| "application/octet-stream".into()), Embedded::Blob(bytes))
        }
    };
    Some(PromptContent::Resource { uri, mime_type, content })
}
