//! `resources/read`: finds a resource by its URI, or a template that the URI fits, and writes what
//! it says, or what its tool says.
//!
//! A tool that fails with the code `NOT_FOUND` (`errors.on`, `toolError`) means that there is no
//! such resource.

use alloc::{format, string::String, vec::Vec};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, json};

use super::{
    encode,
    era::Era,
    exchange::Exchange,
    methods::text,
    prompts::{blob_contents, fill, text_contents},
    resource_index::MatchedResource,
    rpc_error::{INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError},
};
use crate::{
    Json,
    app::{Content, Embedded},
    hidden::{repeated, visible},
    pipeline::{ContentBlock, Operation, ToolResult},
};

/// The code by which a tool says that there is nothing at a URI.
const NOT_FOUND: &str = "NOT_FOUND";
/// The most characters of an unknown URI that are repeated.
pub(super) const SHOWN_URI: usize = 2048;

impl Exchange<'_> {
    pub(super) async fn read_resource(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let uri = text(params, "uri")?;
        let found = self.find_resource(&uri)?;
        let resource = found.resource;
        let tool = if let Content::Tool { used, .. } = &resource.content { Some(used.tool) } else { None };
        let operation = Operation { scopes: resource.scopes.as_ref(), tool, needs_caller: self.is_locked(), ..Operation::default() };
        self.admit(&uri, operation).await?;
        let value = |name: &str| found.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        let seen: Vec<_> = found.variables.iter().map(|(name, value)| (*name, visible(value))).collect();
        let shown = |name: &str| seen.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value);
        let rounds = self.rounds(params, usize::from(matches!(resource.content, Content::Tool { .. })))?;
        let mut contents = Vec::new();
        match &resource.content {
            Content::Tool { used, binary } => match self.use_tool(used, value, rounds, operation).await {
                Ok(ToolResult { input: Some(input), .. }) => return Ok(self.asking(&input)),
                Ok(result) => said_by_tool(&mut contents, &uri, &resource.mime_type, *binary, &result)?,
                Err(fault) if fault.code == NOT_FOUND => return Err(self.no_resource(&uri)),
                Err(fault) => return Err(self.failed(&fault)),
            },
            Content::Text(template) => text_contents(&mut contents, &uri, &resource.mime_type, template, shown),
            Content::Blob(bytes) => blob_contents(&mut contents, &uri, &resource.mime_type, bytes),
            Content::Files { name, files } => {
                let name = fill(name, value);
                let place = files.binary_search_by(|file| file.name.as_str().cmp(&name));
                let file = place.ok().and_then(|place| files.get(place)).ok_or_else(|| self.no_resource(&uri))?;
                match &file.content {
                    Embedded::Text(text) => text_contents(&mut contents, &uri, &file.mime_type, text, shown),
                    Embedded::Blob(bytes) => blob_contents(&mut contents, &uri, &file.mime_type, bytes),
                }
            }
        }
        let mut result = self.result();
        result.with("contents", |out| {
            out.push(b'[');
            out.extend_from_slice(&contents);
            out.push(b']');
        });
        if matches!(resource.content, Content::Tool { .. }) {
            result.not_cacheable();
        } else {
            result.cacheable(self.cache_scope(resource.scopes.is_some()));
        }
        Ok(result.finish())
    }

    /// `resources/subscribe` and `resources/unsubscribe` of the legacy era: resources do not change
    /// while a bundle is served.
    pub(super) fn subscribe(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let uri = text(params, "uri")?;
        self.find_resource(&uri)?;
        Ok(self.result().finish())
    }

    fn find_resource(&self, uri: &str) -> Result<MatchedResource<'_>, RpcError> {
        self.protocol.resources.find(self.app(), uri).ok_or_else(|| self.no_resource(uri))
    }

    fn no_resource(&self, uri: &str) -> RpcError {
        let code = match self.selected.era {
            Era::Modern => INVALID_PARAMS,
            Era::Legacy => RESOURCE_NOT_FOUND,
        };
        RpcError::new(code, "Resource not found").with_data(json!({ "uri": repeated(uri, SHOWN_URI) }))
    }
}

/// Appends what a tool says: one entry for each content block.
///
/// # Errors
/// Nothing was said, or the text of a resource whose MIME type is not one of text is not base64.
fn said_by_tool(out: &mut Vec<u8>, uri: &str, mime_type: &str, binary: bool, result: &ToolResult) -> Result<(), RpcError> {
    for block in &result.content {
        if !out.is_empty() {
            out.push(b',');
        }
        match block {
            ContentBlock::Text(text) if binary => {
                let is_base64 = STANDARD.decode(text).is_ok();
                is_base64.then_some(()).ok_or_else(|| {
                    let message = format!("The tool of this resource must return base64, because `{mime_type}` is not a text type");
                    RpcError::new(INTERNAL_ERROR, message)
                })?;
                contents(out, uri, mime_type, "blob", text);
            }
            ContentBlock::Text(text) => contents(out, uri, mime_type, "text", text),
            ContentBlock::Other(block) => {
                let member = |name: &str| block.get(name).and_then(Json::as_str);
                match (block.get("resource"), member("data"), member("text").or_else(|| member("uri"))) {
                    (Some(resource), ..) => encode::json(out, resource),
                    (None, Some(data), _) => contents(out, uri, member("mimeType").unwrap_or(mime_type), "blob", data),
                    (None, None, text) => contents(out, uri, mime_type, "text", text.unwrap_or_default()),
                }
            }
        }
    }
    if out.is_empty() { Err(RpcError::new(INTERNAL_ERROR, "The tool of this resource returns nothing")) } else { Ok(()) }
}

/// Appends a `ResourceContents`; `member` is `text` or `blob`.
fn contents(out: &mut Vec<u8>, uri: &str, mime_type: &str, member: &str, content: &str) {
    for (index, (name, value)) in [("uri", uri), ("mimeType", mime_type), (member, content)].into_iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        encode::string(out, name);
        out.push(b':');
        encode::string(out, value);
    }
    out.push(b'}');
}
