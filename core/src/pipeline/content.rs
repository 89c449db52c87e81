//! Results that a script built with `response()`: what comes out of a script engine as JSON is
//! checked here, and nowhere else.
//!
//! In comes
//! `{ data?, content: [block], structured?, meta?, ui: [block], hints: [text], rules: [text], actions: [{tool, reason, args?}] }`,
//! out [`AuthoredContent`], whose blocks hide nothing. Whatever the order in which a script made
//! them, they are sent in this one: data, UI blocks, content, hints, rules, actions; see
//! [`blocks`](crate::pipeline::content::blocks). A block of the content is one of MCP's
//! ([specification](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result)).
//! Refused, with the block's number: an unknown type or member, invalid base64, an image without an
//! `image/…` MIME type, a URI without a scheme, annotations that MCP does not know, a suggested
//! tool that the app does not have.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Map;

use crate::pipeline::{call::names::shown, content::blocks::Action, content::json_text::text_of, content::result::ContentBlock};
use crate::{
    Json,
    fault::{Fault, FaultResult, Stage},
    hidden,
};

pub(super) mod blocks;
pub(super) mod json_text;
pub(super) mod length;
pub(super) mod output;
pub(super) mod result;
pub(super) mod shrink;

/// The most blocks of one result.
const MAX_BLOCKS: usize = 1000;

/// A result with content blocks of its own, in the order in which they are sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AuthoredContent {
    /// Written as the first block, and sent as structured content where the tool declares `output`.
    pub(super) data: Option<Json>,
    /// The data, or the structured content where there is none, is written as the first block in
    /// this format, whatever the other blocks.
    pub(super) format: Option<DataFormat>,
    /// What tells that rows are left out of the data.
    pub(super) limited: Option<ContentBlock>,
    /// UI blocks and notices.
    pub(super) ui: Vec<ContentBlock>,
    pub(super) blocks: Vec<ContentBlock>,
    pub(super) hints: Vec<String>,
    pub(super) rules: Vec<String>,
    pub(super) actions: Vec<Action>,
    pub(super) structured: Option<Json>,
    pub(super) meta: Map<String, Json>,
}

/// How data is written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataFormat {
    Json,
    Toon,
}

impl AuthoredContent {
    /// The blocks for models that come after all others: hints, rules, actions.
    pub(super) fn last_blocks(&self) -> impl Iterator<Item = ContentBlock> {
        [blocks::hints(&self.hints), blocks::rules(&self.rules), blocks::actions(&self.actions)].into_iter().flatten()
    }

    /// Where the text is a copy of the structured content, makes it one of its own.
    pub(super) fn double_structured(&mut self) {
        if self.data.is_none() && (self.format.is_some() || self.is_bare()) {
            self.data.clone_from(&self.structured);
        }
    }

    /// Whether there is nothing but data and structured content.
    pub(super) fn is_bare(&self) -> bool {
        self.limited.is_none()
            && self.ui.is_empty()
            && self.blocks.is_empty()
            && self.hints.is_empty()
            && self.rules.is_empty()
            && self.actions.is_empty()
    }
}

/// Reads what a script built. `has_tool` tells whether the app has a tool of a name.
///
/// # Errors
/// `SCRIPT_RESULT` with the place and the problem.
pub(super) fn read(stage: Stage, built: Json, has_tool: impl Fn(&str) -> bool) -> FaultResult<Box<AuthoredContent>> {
    let fault = |problem: String| {
        Fault::new(stage, "SCRIPT_RESULT", format!("The script built a result that cannot be sent: {problem}.")).by_author()
    };
    let Json::Object(mut built) = built else { return Err(fault("it is not an object".into()).into()) };
    // The data is looked at once the app has done with it, when it is known what of it stays as it
    // is.
    for (_, part) in built.iter_mut().filter(|(name, _)| !["data", "structured"].contains(&name.as_str())) {
        hidden::reveal_json(part, &[]);
    }
    let blocks = match built.get_mut("content").map(Json::take) {
        Some(Json::Array(blocks)) if blocks.len() <= MAX_BLOCKS => blocks,
        _ => return Err(fault(format!("it may have {MAX_BLOCKS} blocks")).into()),
    };
    let mut list = |name: &str| match built.get_mut(name).map(Json::take) {
        Some(Json::Array(elements)) => elements,
        _ => Vec::new(),
    };
    let (pictures, hints, rules, actions) = (list("ui"), list("hints"), list("rules"), list("actions"));
    if blocks.len() + pictures.len() + hints.len() + rules.len() + actions.len() > MAX_BLOCKS {
        return Err(fault(format!("it may have {MAX_BLOCKS} blocks")).into());
    }
    let mut ui = Vec::with_capacity(pictures.len());
    for (index, picture) in pictures.iter().enumerate() {
        ui.push(blocks::ui(picture).map_err(|problem| fault(format!("ui[{index}]: {problem}")))?);
    }
    let mut checked = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        checked.push(self::block(block).map_err(|problem| fault(format!("content[{index}]: {problem}")))?);
    }
    let texts = |texts: Vec<Json>| texts.iter().map(text_of).collect::<Vec<_>>();
    let actions = actions.iter().map(|action| self::action(action, &has_tool)).collect::<Result<Vec<_>, _>>().map_err(fault)?;
    let meta = match built.get_mut("meta").map(Json::take) {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(meta)) if meta.keys().all(|key| is_meta_key(key)) => meta,
        Some(_) => return Err(fault("`meta` must be an object, and none of its keys may be MCP's".into()).into()),
    };
    let content = AuthoredContent {
        data: built.get_mut("data").map(Json::take),
        structured: built.get_mut("structured").map(Json::take),
        format: None,
        limited: None,
        ui,
        blocks: checked,
        hints: texts(hints),
        rules: texts(rules),
        actions,
        meta,
    };
    Ok(Box::new(content))
}

fn action(action: &Json, has_tool: impl Fn(&str) -> bool) -> Result<Action, String> {
    let text = |name: &str| action.get(name).map(text_of).unwrap_or_default();
    let (tool, args) = (text("tool"), action.get("args").filter(|args| !args.is_null()).cloned());
    if !has_tool(&tool) {
        return Err(format!("it suggests the tool `{}`, which the app does not have", shown(&tool)));
    }
    if args.as_ref().is_some_and(|args| !args.is_object()) {
        return Err(format!("the arguments that it suggests for `{tool}` are not an object"));
    }
    Ok(Action { tool, reason: text("reason"), args })
}

/// Prefixes whose second label is `modelcontextprotocol` or `mcp` are reserved, and so are the
/// protocol's and this server's own.
fn is_meta_key(key: &str) -> bool {
    let prefix = key.split_once('/').map_or("", |(prefix, _)| prefix);
    let second = prefix.split('.').nth(1).unwrap_or_default();
    !key.is_empty() && second != "modelcontextprotocol" && second != "mcp" && prefix != "millrace"
}

fn block(block: Json) -> Result<ContentBlock, String> {
    let Json::Object(mut block) = block else { return Err("it is not an object".into()) };
    let kind = block.get("type").and_then(Json::as_str).unwrap_or_default();
    match kind {
        "text" => {
            only(&block, &["text"])?;
            text(&block, "text")?;
        }
        "image" | "audio" => {
            let kind = String::from(kind);
            only(&block, &["data", "mimeType"])?;
            base64(&block, "data")?;
            let mime_type = mime_type(&block)?;
            if !mime_type.starts_with(&format!("{kind}/")) {
                return Err(format!("the `mimeType` of {kind} must begin with `{kind}/`"));
            }
        }
        "resource" => {
            only(&block, &["resource"])?;
            match block.get("resource") {
                Some(Json::Object(resource)) => embedded(resource)?,
                _ => return Err("`resource` must be an object".into()),
            }
        }
        "resource_link" => {
            only(&block, &["uri", "name", "title", "description", "mimeType", "size", "icons"])?;
            uri(text(&block, "uri")?)?;
            text(&block, "name")?;
            for member in ["title", "description"] {
                if block.contains_key(member) {
                    text(&block, member)?;
                }
            }
            if block.contains_key("mimeType") {
                mime_type(&block)?;
            }
            if block.get("size").is_some_and(|size| !size.is_u64()) {
                return Err("`size` must be a number of bytes".into());
            }
            icons(block.get("icons"))?;
        }
        _ => return Err("its `type` must be text, image, audio, resource or resource_link".into()),
    }
    annotations(block.get("annotations"))?;
    if block.len() == 2
        && let Some(Json::String(text)) = block.get_mut("text")
    {
        return Ok(ContentBlock::Text(core::mem::take(text)));
    }
    Ok(ContentBlock::Other(block))
}

/// A member that MCP does not know is more likely a slip than a wish.
fn only(block: &Map<String, Json>, members: &[&str]) -> Result<(), String> {
    let known = |name: &str| members.contains(&name) || ["type", "annotations", "_meta"].contains(&name);
    match block.keys().find(|name| !known(name)) {
        Some(unknown) => Err(format!("it has no member `{unknown}`")),
        None if block.get("_meta").is_some_and(|meta| !meta.is_object()) => Err("`_meta` must be an object".into()),
        None => Ok(()),
    }
}

fn text<'b>(block: &'b Map<String, Json>, member: &str) -> Result<&'b str, String> {
    block.get(member).and_then(Json::as_str).ok_or_else(|| format!("`{member}` must be a string"))
}

fn base64(block: &Map<String, Json>, member: &str) -> Result<(), String> {
    match STANDARD.decode(text(block, member)?) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("`{member}` must be base64, in the standard alphabet and padded")),
    }
}

fn mime_type(block: &Map<String, Json>) -> Result<&str, String> {
    let mime_type = text(block, "mimeType")?;
    let is_token = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte));
    let (kind, rest) = mime_type.split_once('/').unwrap_or_default();
    let subtype = rest.split(';').next().unwrap_or_default().trim_end();
    if is_token(kind) && is_token(subtype) && !mime_type.contains(char::is_control) {
        return Ok(mime_type);
    }
    Err("`mimeType` must be a MIME type, such as `image/png`".into())
}

fn uri(uri: &str) -> Result<(), String> {
    let (scheme, rest) = uri.split_once(':').unwrap_or_default();
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if is_scheme && !rest.is_empty() && !uri.contains(|c: char| c.is_control() || c == ' ') {
        Ok(())
    } else {
        Err("`uri` must be a URI with a scheme".into())
    }
}

fn embedded(resource: &Map<String, Json>) -> Result<(), String> {
    if let Some(unknown) = resource.keys().find(|name| !["uri", "mimeType", "text", "blob", "_meta"].contains(&name.as_str())) {
        return Err(format!("a resource has no member `{unknown}`"));
    }
    uri(text(resource, "uri")?)?;
    if resource.contains_key("mimeType") {
        mime_type(resource)?;
    }
    match (resource.contains_key("text"), resource.contains_key("blob")) {
        (true, false) => text(resource, "text").map(drop),
        (false, true) => base64(resource, "blob"),
        _ => Err("a resource has either `text` or `blob`".into()),
    }
}

fn annotations(annotations: Option<&Json>) -> Result<(), String> {
    let annotations = match annotations {
        None => return Ok(()),
        Some(Json::Object(annotations)) => annotations,
        Some(_) => return Err("`annotations` must be an object".into()),
    };
    for (name, value) in annotations {
        let is_role = |role: &Json| role == "user" || role == "assistant";
        let fits = match name.as_str() {
            "audience" => value.as_array().is_some_and(|roles| !roles.is_empty() && roles.iter().all(is_role)),
            "priority" => value.as_f64().is_some_and(|priority| (0.0..=1.0).contains(&priority)),
            "lastModified" => value.is_string(),
            _ => return Err(format!("`{name}` is not an annotation")),
        };
        if !fits {
            return Err(match name.as_str() {
                "audience" => "`audience` must list `user`, `assistant` or both".into(),
                "priority" => "`priority` must be a number from 0 to 1".into(),
                _ => format!("`{name}` must be a date in ISO 8601"),
            });
        }
    }
    Ok(())
}

fn icons(icons: Option<&Json>) -> Result<(), String> {
    let is_icon =
        |icon: &Json| icon.get("src").and_then(Json::as_str).is_some_and(|src| src.starts_with("https://") || src.starts_with("data:"));
    match icons {
        None => Ok(()),
        Some(Json::Array(icons)) if icons.iter().all(is_icon) => Ok(()),
        Some(_) => Err("`icons` must be a list of objects whose `src` is an https or data URI".into()),
    }
}
