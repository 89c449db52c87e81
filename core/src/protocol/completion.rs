//! `completion/complete`: the suggestions for an argument that begin with what was typed.
//!
//! They are the argument's list, then what its tool finds. The tool runs as in `tools/call`, so a
//! caller whom it does not let in is refused; inputs that do not fit (yet: half a word is no order
//! id) mean that there is nothing to suggest.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, json};

use super::{
    exchange::Exchange,
    methods::{shorten, text},
    resource_index::pattern_text,
    resources::SHOWN_URI,
    rpc_error::{INTERNAL_ERROR, RpcError},
};
use crate::{
    Json,
    app::{Argument, Completer, Prompt, RequiredScopes, Resource},
    fault::Stage,
    hidden::repeated,
    pipeline::{Callable, ContentBlock, Operation, Rounds, ToolResult},
};

/// The most values that MCP allows in one answer.
const MAX_VALUES: usize = 100;

/// Whose argument it is.
#[derive(Clone, Copy)]
enum Owner<'a> {
    Prompt(&'a Prompt),
    Resource(&'a Resource),
}

impl<'a> Owner<'a> {
    fn scopes(self) -> Option<&'a RequiredScopes> {
        match self {
            Self::Prompt(prompt) => prompt.scopes.as_ref(),
            Self::Resource(resource) => resource.scopes.as_ref(),
        }
    }

    async fn is_callable(self, callable: &Callable<'a>) -> bool {
        match self {
            Self::Prompt(prompt) => callable.prompt(prompt).await,
            Self::Resource(resource) => callable.resource(resource).await,
        }
    }
}

impl Exchange<'_> {
    pub(super) async fn complete(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let mut reference = object(params, "ref")?;
        let mut argument = object(params, "argument")?;
        let name = text(&mut argument, "name")?;
        let typed = text(&mut argument, "value")?;
        let context = context(params)?;
        let (owner, arguments) = self.owner(&mut reference)?;
        let argument = arguments.iter().find(|argument| argument.name == name);
        let argument = argument.ok_or_else(|| RpcError::invalid_params(format!("Unknown argument: `{}`", shorten(&name))))?;

        let callable = self.app().authorization.lists_callable.then(|| self.protocol.pipeline.callable(self.caller()));
        if let Some(callable) = &callable
            && !owner.is_callable(callable).await
        {
            return Ok(self.completion(Vec::new()));
        }
        let tool = argument.complete.as_ref().map(|completer| completer.tool);
        let operation = Operation { scopes: owner.scopes(), tool, needs_caller: self.is_locked(), ..Operation::default() };
        self.admit(&name, operation).await?;
        let mut values: Vec<String> = argument.completion.iter().filter(|value| value.starts_with(&typed)).cloned().collect();
        let completer = match (&argument.complete, &callable) {
            (Some(completer), Some(callable)) if !callable.completer(completer).await => None,
            (completer, _) => completer.as_ref(),
        };
        if let Some(completer) = completer {
            let mut seen = BTreeSet::new();
            seen.extend(values.iter().cloned());
            let found = self.found(argument, completer, &typed, &context, operation).await?;
            values.extend(found.into_iter().filter(|value| value.starts_with(&typed) && seen.insert(value.clone())));
        }
        Ok(self.completion(values))
    }

    fn completion(&self, mut values: Vec<String>) -> Vec<u8> {
        let total = values.len();
        values.truncate(MAX_VALUES);
        let mut result = self.result();
        let completion = json!({ "values": values, "total": total, "hasMore": values.len() < total });
        result.member("completion", &completion);
        result.finish()
    }

    /// What an argument's tool finds.
    async fn found(
        &self,
        argument: &Argument,
        completer: &Completer,
        typed: &str,
        context: &Map<String, Json>,
        operation: Operation<'_>,
    ) -> Result<Vec<String>, RpcError> {
        let mut inputs = Map::new();
        for name in &completer.inputs {
            // Nothing was typed is not the same as an empty text was.
            let value = if *name == argument.name { (!typed.is_empty()).then(|| typed.into()) } else { context.get(name).cloned() };
            if let Some(value) = value {
                inputs.insert(name.clone(), value);
            }
        }
        match self.fetch(completer.tool, inputs, Rounds::default(), operation).await {
            Ok(result) => suggestions(&result, completer.field.as_deref()).ok_or_else(|| {
                RpcError::new(INTERNAL_ERROR, format!("The tool that completes `{}` returns no list of suggestions", argument.name))
            }),
            Err(fault) if fault.stage == Stage::Validate => Ok(Vec::new()),
            Err(fault) => Err(self.failed(&fault)),
        }
    }

    /// The prompt or the resource, and its arguments.
    fn owner(&self, reference: &mut Map<String, Json>) -> Result<(Owner<'_>, &[Argument]), RpcError> {
        match text(reference, "type")?.as_str() {
            "ref/prompt" => {
                let name = text(reference, "name")?;
                let prompt = self.app().prompts.iter().find(|prompt| prompt.name == name);
                let prompt = prompt.ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: `{}`", shorten(&name))))?;
                Ok((Owner::Prompt(prompt), &prompt.arguments))
            }
            "ref/resource" => {
                let uri = text(reference, "uri")?;
                let resource = self.app().resources.iter().find(|resource| pattern_text(&resource.uri) == uri);
                let resource = resource
                    .ok_or_else(|| RpcError::invalid_params("Unknown resource").with_data(json!({ "uri": repeated(&uri, SHOWN_URI) })))?;
                Ok((Owner::Resource(resource), &resource.arguments))
            }
            _ => Err(RpcError::invalid_params("Invalid params: `ref.type` must be `ref/prompt` or `ref/resource`")),
        }
    }
}

fn object(params: &mut Map<String, Json>, name: &str) -> Result<Map<String, Json>, RpcError> {
    match params.get_mut(name).map(Json::take) {
        Some(Json::Object(object)) => Ok(object),
        _ => Err(RpcError::invalid_params(format!("Invalid params: `{name}` must be an object"))),
    }
}

/// `context.arguments`: what the caller has filled in already. All of them are strings.
fn context(params: &mut Map<String, Json>) -> Result<Map<String, Json>, RpcError> {
    let wrong = |name: &str, what: &str| Err(RpcError::invalid_params(format!("Invalid params: `{name}` must be {what}")));
    let mut context = match params.get_mut("context").map(Json::take) {
        None | Some(Json::Null) => return Ok(Map::new()),
        Some(Json::Object(context)) => context,
        Some(_) => return wrong("context", "an object"),
    };
    match context.get_mut("arguments").map(Json::take) {
        None | Some(Json::Null) => Ok(Map::new()),
        Some(Json::Object(arguments)) if arguments.values().all(Json::is_string) => Ok(arguments),
        Some(Json::Object(_)) => wrong("context.arguments", "an object of strings"),
        Some(_) => wrong("context.arguments", "an object"),
    }
}

/// The suggestions in a tool's result: a list of texts, numbers or truth values, or with `field` a
/// list of objects that have one. `None` where it is not a list.
fn suggestions(result: &ToolResult, field: Option<&str>) -> Option<Vec<String>> {
    let parsed;
    let list = match (&result.structured, result.content.first()) {
        (Some(structured), _) => structured,
        (None, Some(ContentBlock::Text(text))) => {
            parsed = serde_json::from_str::<Json>(text).ok()?;
            &parsed
        }
        (None, Some(ContentBlock::Other(_)) | None) => return None,
    };
    let value = |element: &Json| match element {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(element.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    };
    let elements = list.as_array()?.iter();
    Some(match field {
        Some(field) => elements.filter_map(|row| row.get(field)).filter_map(value).collect(),
        None => elements.filter_map(value).collect(),
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn suggestions_are_what_a_list_says() {
        let cases = [
            (json!([{"id": 7}, {"id": "a"}, {"id": null}, {"x": 1}, 3]), Some("id"), Some(vec!["7", "a"])),
            (json!(["a", 1.5, true, null, {}]), None, Some(vec!["a", "1.5", "true"])),
            (json!([]), None, Some(vec![])),
            (json!({"id": 7}), Some("id"), None),
        ];
        for (value, field, expected) in cases {
            let text = ToolResult { content: vec![ContentBlock::Text(value.to_string())], ..ToolResult::default() };
            let structured = ToolResult { structured: Some(value), ..ToolResult::default() };
            let expected = expected.map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!((suggestions(&text, field), suggestions(&structured, field)), (expected.clone(), expected));
        }
        let prose = ToolResult { content: vec![ContentBlock::Text("no list".into())], ..ToolResult::default() };
        assert_eq!(suggestions(&prose, None), None);
    }
}
