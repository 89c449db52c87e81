//! What clients see of the server itself: `server.title`, `server.website`, `server.icons`, and the
//! digest of what the lists show.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    app::{App, Identity},
    hex,
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    resource::{file, mime},
    yaml::{Document, Node},
};

/// The longest file of an icon, in bytes: it is part of the first answer that a client gets.
const MAX_ICON: usize = 32 << 10;
/// How many bytes of a digest clients see.
const DIGEST_BYTES: usize = 4;

/// One of `icons`
pub(crate) static ICON: Record = Record {
    name: "icon",
    noun: "an icon",
    doc: "One icon.",
    fields: &[
        Field::new(
            "src",
            Shape::Text,
            "Its address: an `https:` or `data:` URI; in `server.icons` also a file of the app, such as `icon.png`.",
        ),
        Field::new("mime_type", Shape::Text, "Its MIME type: `image/png`."),
        Field::new("sizes", Shape::List(&Shape::Text), "Its sizes: `48x48`, or `any`."),
        Field::new("theme", Shape::Word(&["light", "dark"]), "The background that it is designed for."),
    ],
};

/// Reads what `server` says of the server itself.
pub(crate) fn read(compiler: &mut Compiler<'_>, document: &Document, server: &Node) -> Identity {
    if let Some(node) = server.at("website")
        && !node.text().is_some_and(is_web_address)
    {
        let help = "Write an address with its scheme: `https://example.com`.";
        compiler.error(document, node.range.clone(), "`server.website` is not a URL of the web", help);
    }
    if let Some(node) = server.at("title")
        && node.text().is_some_and(|title| title.trim().is_empty())
    {
        compiler.error(document, node.range.clone(), "`server.title` is empty", "Write the name that people know the server by.");
    }
    let icons = icons(compiler, document, server.at("icons"), true);
    Identity {
        title: server.text_at("title").map(String::from),
        website: server.text_at("website").map(String::from),
        icons: if icons.is_empty() { String::new() } else { Value::from(icons).to_string() },
        surface: String::new(),
    }
}

fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')) && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// A digest of what clients keep by the version: the lists, and the instructions. Empty where the
/// author's version has a build part.
pub(crate) fn surface(app: &App) -> String {
    if app.version.contains('+') {
        return String::new();
    }
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    add(app.instructions.as_deref().unwrap_or_default());
    app.tools.iter().filter(|tool| tool.listed).for_each(|tool| add(&tool.descriptor));
    app.prompts.iter().for_each(|prompt| add(&prompt.descriptor));
    app.resources.iter().for_each(|resource| add(&resource.descriptor));
    app.skills.iter().for_each(|skill| add(&skill.descriptor));
    hex::encode(&digest.finalize()[..DIGEST_BYTES])
}

/// Reads `icons`. `takes_files`: an icon may be a file of the app, which becomes a `data:` URI.
pub(crate) fn icons(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, takes_files: bool) -> Vec<Value> {
    let mut icons = Vec::new();
    for node in node.map(Node::items).unwrap_or_default() {
        let Some(src) = node.at("src") else {
            let help =
                if takes_files { "Name its `https:` or `data:` URI, or a file of the app." } else { "Name its `https:` or `data:` URI." };
            compiler.error(document, node.range.clone(), "an icon needs `src`", help);
            continue;
        };
        let written = src.text().unwrap_or_default();
        let said = node.text_at("mime_type");
        let (src, mime_type) = if written.starts_with("https://") || written.starts_with("data:") {
            (written.to_owned(), said.map(String::from))
        } else if takes_files && !written.contains(':') {
            let Some((data, guessed)) = embedded(compiler, document, src, said) else { continue };
            (data, Some(guessed))
        } else {
            let help =
                if takes_files { "Use an `https:` or `data:` URI, or a file of the app." } else { "Use an `https:` or `data:` URI." };
            compiler.error(document, node.range.clone(), format!("`{written}` is not a valid `src` for an icon"), help);
            continue;
        };
        let mut icon = Map::new();
        icon.insert("src".into(), src.into());
        icon.extend(mime_type.map(|mime_type| ("mimeType".to_owned(), mime_type.into())));
        let sizes = node.texts_at("sizes");
        if !sizes.is_empty() {
            icon.insert("sizes".into(), sizes.into());
        }
        icon.extend(node.text_at("theme").map(|theme| ("theme".to_owned(), theme.into())));
        icons.push(icon.into());
    }
    icons
}

/// A file of the app as a `data:` URI, and its type.
fn embedded(compiler: &mut Compiler<'_>, document: &Document, node: &Node, said: Option<&str>) -> Option<(String, String)> {
    let name = node.text()?;
    let data = file(compiler, document, node)?;
    if data.len() > MAX_ICON {
        let message = format!("the icon `{name}` has {} bytes; {MAX_ICON} are the most", data.len());
        compiler.error(document, node.range.clone(), message, "Use a smaller one, or put it on the web and name its `https:` URI.");
        return None;
    }
    let mime_type = said.unwrap_or_else(|| mime::guess(name, &data)).to_owned();
    if !mime_type.starts_with("image/") {
        let help = "Use a PNG, JPEG, SVG or WebP file, or set `mime_type`.";
        compiler.error(document, node.range.clone(), format!("the icon `{name}` is not an image: it is `{mime_type}`"), help);
        return None;
    }
    Some((format!("data:{mime_type};base64,{}", STANDARD.encode(data)), mime_type))
}
