//! `prompts/get`: the messages of a prompt, its arguments filled in.

use alloc::{format, string::String, vec::Vec};

use serde_json::Map;

use super::{
    encode::{self, Failure},
    methods::{Exchange, shorten, text},
};
use crate::{
    Json,
    app::{Prompt, Root, Template, TemplatePart},
};

impl Exchange<'_> {
    pub(super) fn get_prompt(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, Failure> {
        let name = text(params, "name")?;
        let prompt = self.app().prompts.iter().find(|prompt| prompt.name == name);
        let prompt = prompt.ok_or_else(|| Failure::invalid_params(format!("Unknown prompt: `{}`", shorten(&name))))?;
        let arguments = arguments(prompt, params)?;

        let mut result = self.result();
        if let Some(description) = &prompt.description {
            result.text("description", description);
        }
        result.with("messages", |out| {
            out.push(b'[');
            for (index, message) in prompt.messages.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(br#"{"role":"#);
                encode::string(out, &message.role);
                out.extend_from_slice(br#","content":{"type":"text","text":"#);
                encode::string(out, &fill(&message.text, |name| arguments.get(name).and_then(Json::as_str)));
                out.extend_from_slice(b"}}");
            }
            out.push(b']');
        });
        Ok(result.finish())
    }
}

/// The arguments, all of them strings, none unknown and none missing.
fn arguments(prompt: &Prompt, params: &mut Map<String, Json>) -> Result<Map<String, Json>, Failure> {
    let arguments = match params.get_mut("arguments").map(Json::take) {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(arguments)) => arguments,
        Some(_) => return Err(Failure::invalid_params("Invalid params: `arguments` has to be an object")),
    };
    for (name, value) in &arguments {
        if !prompt.arguments.iter().any(|argument| argument.name == *name) {
            return Err(Failure::invalid_params(format!("Invalid params: `{}` has no argument `{}`", prompt.name, shorten(name))));
        }
        if !value.is_string() {
            return Err(Failure::invalid_params(format!("Invalid params: the argument `{}` has to be a string", shorten(name))));
        }
    }
    let missing = prompt.arguments.iter().filter(|argument| argument.required && !arguments.contains_key(&argument.name));
    let missing: Vec<String> = missing.map(|argument| format!("`{}`", argument.name)).collect();
    if missing.is_empty() {
        return Ok(arguments);
    }
    Err(Failure::invalid_params(format!("Invalid params: `{}` needs the argument {}", prompt.name, missing.join(", "))))
}

/// Fills in a template whose placeholders are arguments. What is not given is empty.
pub(super) fn fill<'v>(template: &'v Template, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut filled = String::new();
    for part in &template.0 {
        match part {
            TemplatePart::Text(text) => filled.push_str(text),
            TemplatePart::Source(source) if source.root == Root::Arguments => {
                filled.push_str(source.path.first().and_then(|name| value(name)).unwrap_or_default());
            }
            // The bundler lets no other root into such a template.
            TemplatePart::Source(_) => {}
        }
    }
    filled
}
