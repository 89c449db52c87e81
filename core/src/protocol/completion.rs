//! `completion/complete`: the suggestions for an argument that begin with what was typed.

use alloc::{format, string::String, vec::Vec};

use serde_json::{Map, json};

use super::{
    encode::Failure,
    methods::{Exchange, shorten, text},
    resources::pattern_text,
};
use crate::{Json, app::Argument};

/// The most values that MCP allows in one answer.
const MAX_VALUES: usize = 100;

impl Exchange<'_> {
    pub(super) fn complete(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, Failure> {
        let mut reference = object(params, "ref")?;
        let mut argument = object(params, "argument")?;
        let name = text(&mut argument, "name")?;
        let typed = text(&mut argument, "value")?;
        let arguments = self.arguments(&mut reference)?;
        let argument = arguments.iter().find(|argument| argument.name == name);
        let argument = argument.ok_or_else(|| Failure::invalid_params(format!("Unknown argument: `{}`", shorten(&name))))?;

        let matching: Vec<&str> = argument.completion.iter().map(String::as_str).filter(|value| value.starts_with(&typed)).collect();
        let values = &matching[..matching.len().min(MAX_VALUES)];
        let mut result = self.result();
        let completion = json!({ "values": values, "total": matching.len(), "hasMore": values.len() < matching.len() });
        result.member("completion", &completion);
        Ok(result.finish())
    }

    fn arguments(&self, reference: &mut Map<String, Json>) -> Result<&[Argument], Failure> {
        match text(reference, "type")?.as_str() {
            "ref/prompt" => {
                let name = text(reference, "name")?;
                let prompt = self.app().prompts.iter().find(|prompt| prompt.name == name);
                let prompt = prompt.ok_or_else(|| Failure::invalid_params(format!("Unknown prompt: `{}`", shorten(&name))))?;
                Ok(&prompt.arguments)
            }
            "ref/resource" => {
                let uri = text(reference, "uri")?;
                let resource = self.app().resources.iter().find(|resource| pattern_text(&resource.uri) == uri);
                let resource = resource.ok_or_else(|| Failure::invalid_params("Unknown resource").with_data(json!({ "uri": uri })))?;
                Ok(&resource.arguments)
            }
            _ => Err(Failure::invalid_params("Invalid params: `ref.type` has to be `ref/prompt` or `ref/resource`")),
        }
    }
}

fn object(params: &mut Map<String, Json>, name: &str) -> Result<Map<String, Json>, Failure> {
    match params.get_mut(name).map(Json::take) {
        Some(Json::Object(object)) => Ok(object),
        _ => Err(Failure::invalid_params(format!("Invalid params: `{name}` has to be an object"))),
    }
}
