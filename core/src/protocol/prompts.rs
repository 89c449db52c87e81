//! `prompts/get`: the messages of a prompt, its arguments filled in, its tools run.
//!
//! A message of a tool becomes one message for each content block of the tool's result, since a
//! message has one block.

use alloc::{format, string::String, vec::Vec};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Map;

use super::{
    encode,
    exchange::Exchange,
    methods::{shorten, text},
    rpc_error::RpcError,
    tools,
};
use crate::{
    Json,
    app::{Embedded, Media, Prompt, PromptContent, Root, Template, TemplatePart},
    hidden::reveal_json,
    pipeline::{EMPTY, InputRequired, Operation, Rounds},
};

impl Exchange<'_> {
    pub(super) async fn get_prompt(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let name = text(params, "name")?;
        let prompt = self.app().prompts.iter().find(|prompt| prompt.name == name);
        let prompt = prompt.ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: `{}`", shorten(&name))))?;
        let (scopes, needs_caller) = (prompt.scopes.as_ref(), self.is_locked());
        let operation = Operation { scopes, messages: &prompt.messages, needs_caller, ..Operation::default() };
        self.admit(&name, operation).await?;
        let arguments = arguments(prompt, params)?;
        let tools = prompt.messages.iter().filter(|message| matches!(message.content, PromptContent::Tool(_))).count();
        let rounds = self.rounds(params, tools)?;
        let messages = match self.messages(prompt, &arguments, rounds, operation).await? {
            Ok(messages) => messages,
            Err(input) => return Ok(self.asking(&input)),
        };

        let mut result = self.result();
        if let Some(description) = &prompt.description {
            result.text("description", description);
        }
        result.with("messages", |out| out.extend_from_slice(&messages));
        Ok(result.finish())
    }

    /// The messages, as a JSON array; or what their tool asks its caller first.
    async fn messages(
        &self,
        prompt: &Prompt,
        arguments: &Map<String, Json>,
        rounds: Rounds<'_>,
        operation: Operation<'_>,
    ) -> Result<Result<Vec<u8>, InputRequired>, RpcError> {
        let value = |name: &str| arguments.get(name).and_then(Json::as_str);
        let mut shown = arguments.clone();
        for argument in shown.values_mut() {
            reveal_json(argument, &[]);
        }
        let shown = |name: &str| shown.get(name).and_then(Json::as_str);
        let mut out = Vec::with_capacity(512);
        for message in &prompt.messages {
            match &message.content {
                PromptContent::Text(template) => self::message(&mut out, &message.role, |out| {
                    out.extend_from_slice(br#"{"type":"text","text":"#);
                    let text = fill(template, shown);
                    encode::string(out, if text.trim().is_empty() { EMPTY } else { &text });
                    out.push(b'}');
                }),
                PromptContent::Image(media) => self::message(&mut out, &message.role, |out| self::media(out, "image", media)),
                PromptContent::Audio(media) => self::message(&mut out, &message.role, |out| self::media(out, "audio", media)),
                PromptContent::Resource { uri, mime_type, content } => self::message(&mut out, &message.role, |out| {
                    out.extend_from_slice(br#"{"type":"resource","resource":"#);
                    let uri = fill(uri, shown);
                    match content {
                        Embedded::Text(template) => text_contents(out, &uri, mime_type, template, shown),
                        Embedded::Blob(bytes) => blob_contents(out, &uri, mime_type, bytes),
                    }
                    out.push(b'}');
                }),
                PromptContent::Tool(used) => {
                    let result = self.use_tool(used, value, rounds, operation).await.map_err(|fault| self.failed(&fault))?;
                    if let Some(input) = result.input {
                        return Ok(Err(input));
                    }
                    for block in &result.content {
                        self::message(&mut out, &message.role, |out| tools::block(out, block, self.selected.version));
                    }
                }
            }
        }
        out.insert(0, b'[');
        out.push(b']');
        Ok(Ok(out))
    }
}

/// Appends one message.
fn message(out: &mut Vec<u8>, role: &str, content: impl FnOnce(&mut Vec<u8>)) {
    if !out.is_empty() {
        out.push(b',');
    }
    out.extend_from_slice(br#"{"role":"#);
    encode::string(out, role);
    out.extend_from_slice(br#","content":"#);
    content(out);
    out.push(b'}');
}

fn media(out: &mut Vec<u8>, kind: &str, media: &Media) {
    out.extend_from_slice(br#"{"type":"#);
    encode::string(out, kind);
    out.extend_from_slice(br#","data":""#);
    out.extend_from_slice(STANDARD.encode(&media.data).as_bytes());
    out.extend_from_slice(br#"","mimeType":"#);
    encode::string(out, &media.mime_type);
    out.push(b'}');
}

/// Appends a `ResourceContents` of text.
pub(super) fn text_contents<'v>(out: &mut Vec<u8>, uri: &str, mime_type: &str, text: &Template, value: impl Fn(&str) -> Option<&'v str>) {
    contents(out, uri, mime_type, |out| {
        out.extend_from_slice(br#","text":"#);
        encode::string(out, &fill(text, value));
    });
}

/// Appends a `ResourceContents` of bytes.
pub(super) fn blob_contents(out: &mut Vec<u8>, uri: &str, mime_type: &str, bytes: &[u8]) {
    contents(out, uri, mime_type, |out| {
        out.extend_from_slice(br#","blob":""#);
        out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
        out.push(b'"');
    });
}

fn contents(out: &mut Vec<u8>, uri: &str, mime_type: &str, content: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(br#"{"uri":"#);
    encode::string(out, uri);
    out.extend_from_slice(br#","mimeType":"#);
    encode::string(out, mime_type);
    content(out);
    out.push(b'}');
}

/// The arguments, all of them strings, none unknown and none missing.
fn arguments(prompt: &Prompt, params: &mut Map<String, Json>) -> Result<Map<String, Json>, RpcError> {
    let arguments = match params.get_mut("arguments").map(Json::take) {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(arguments)) => arguments,
        Some(_) => return Err(RpcError::invalid_params("Invalid params: `arguments` must be an object")),
    };
    for (name, value) in &arguments {
        if !prompt.arguments.iter().any(|argument| argument.name == *name) {
            return Err(RpcError::invalid_params(format!("Invalid params: `{}` has no argument `{}`", prompt.name, shorten(name))));
        }
        if !value.is_string() {
            return Err(RpcError::invalid_params(format!("Invalid params: the argument `{}` must be a string", shorten(name))));
        }
    }
    let missing = prompt.arguments.iter().filter(|argument| argument.required && !arguments.contains_key(&argument.name));
    let missing: Vec<String> = missing.map(|argument| format!("`{}`", argument.name)).collect();
    if missing.is_empty() {
        return Ok(arguments);
    }
    Err(RpcError::invalid_params(format!("Invalid params: `{}` needs the argument {}", prompt.name, missing.join(", "))))
}

/// Fills in a template whose placeholders are arguments. What is not given is empty, or the text
/// that the template has for it.
pub(super) fn fill<'v>(template: &Template, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut filled = String::new();
    for part in &template.0 {
        match part {
            TemplatePart::Text(text) => filled.push_str(text),
            TemplatePart::Source(source) if source.root == Root::Arguments => {
                let absent = source.path.get(1).map_or("", String::as_str);
                filled.push_str(source.path.first().and_then(|name| value(name)).unwrap_or(absent));
            }
            // The bundler lets no other root into such a template.
            TemplatePart::Source(_) => {}
        }
    }
    filled
}
