//! Scopes: which ones a caller was granted, and which ones its request can need.
//!
//! What a request can need is known before anything of it runs: the bundle has the policies and the
//! `require_scope` of every tool that it runs. So one challenge names all of it, and a client signs
//! in once ([MCP, scope challenge
//! handling](https://modelcontextprotocol.io/specification/draft/basic/authorization#scope-challenge-handling)).

use alloc::{string::String, vec::Vec};
use core::cell::Cell;

use crate::{
    Json,
    app::{App, Auth, Authorization, MiddlewareAction, PromptContent, PromptMessage, RequiredScopes, Tool},
};

/// What a call is a part of: the scopes of the whole are asked for at once.
#[derive(Clone, Copy, Default)]
pub struct Operation<'a> {
    /// `require_scope` of the prompt or the resource.
    pub scopes: Option<&'a RequiredScopes>,
    /// The messages of the prompt, whose tools all run.
    pub messages: &'a [PromptMessage],
    /// The tool of the resource or the completion; its place in [`App::tools`].
    pub tool: Option<u32>,
    /// Whether a caller whom the tool's `auth` lets in without saying who it is, is refused.
    pub needs_caller: bool,
    /// Becomes true once stage *authenticate* begins. What fails before that, such as the inputs of
    /// `execute`, answers a caller that nobody has looked at.
    pub was_asked: Option<&'a Cell<bool>>,
}

/// The scopes of a principal.
pub(in crate::pipeline) fn granted(principal: Option<&Json>) -> Vec<&str> {
    let scopes = principal.and_then(|principal| principal.get("scopes")).and_then(Json::as_array);
    scopes.into_iter().flatten().filter_map(Json::as_str).collect()
}

/// What the middleware of a tool requires.
pub(in crate::pipeline) fn required(tool: &Tool) -> impl Iterator<Item = &RequiredScopes> {
    tool.middleware.iter().filter_map(|entry| match &entry.action {
        MiddlewareAction::RequireScope(scopes) => Some(scopes),
        _ => None,
    })
}

/// The scopes that a request can need, each once, in the order in which they are asked for. Of
/// alternatives it is the one that the caller has, else one that is needed anyway, else the first.
pub(in crate::pipeline) fn needed<'a>(app: &'a App, tool: Option<&'a Tool>, operation: Operation<'a>, granted: &[&str]) -> Vec<&'a str> {
    let of_prompt = operation.messages.iter().filter_map(|message| match &message.content {
        PromptContent::Tool(used) => app.tools.get(used.tool as usize),
        _ => None,
    });
    let of_resource = operation.tool.and_then(|place| app.tools.get(place as usize));
    let tools: Vec<&Tool> = tool.into_iter().chain(of_prompt).chain(of_resource).collect();
    let of_feature = operation.scopes.and(app.feature_auth.as_ref());
    let auths = of_feature.into_iter().chain(tools.iter().filter_map(|tool| tool.auth.as_ref()));
    let rules: Vec<&RequiredScopes> = operation.scopes.into_iter().chain(tools.iter().flat_map(|tool| required(tool))).collect();
    chosen(&app.authorization, auths, &rules, granted)
}

/// The scopes that a call of a tool can need; for what the tool says of itself.
#[must_use]
pub fn of_tool<'a>(app: &'a App, tool: &'a Tool) -> Vec<&'a str> {
    needed(app, Some(tool), Operation::default(), &[])
}

/// The scopes that anything in an app can need, of alternatives one.
#[must_use]
pub fn of_app(app: &App) -> Vec<&str> {
    let auths = app.feature_auth.iter().chain(app.tools.iter().filter_map(|tool| tool.auth.as_ref()));
    let of_prompts = app.prompts.iter().filter_map(|prompt| prompt.scopes.as_ref());
    let of_resources = app.resources.iter().filter_map(|resource| resource.scopes.as_ref());
    let rules: Vec<&RequiredScopes> = app.tools.iter().flat_map(required).chain(of_prompts).chain(of_resources).collect();
    chosen(&app.authorization, auths, &rules, &[])
}

/// Each scope of policies and rules once; of the alternatives of a rule, one.
fn chosen<'a>(
    authorization: &Authorization,
    auths: impl Iterator<Item = &'a Auth>,
    rules: &[&'a RequiredScopes],
    granted: &[&str],
) -> Vec<&'a str> {
    let mut needed: Vec<&str> = Vec::new();
    let policies = auths.flat_map(|auth| auth.required_scopes());
    for scope in policies.chain(rules.iter().flat_map(|rule| &rule.all)) {
        if !needed.contains(&scope.as_str()) {
            needed.push(scope);
        }
    }
    for rule in rules {
        let has = |scopes: &[&str]| rule.any.iter().find(|scope| authorization.grants(scopes, scope));
        if has(&needed).is_some() {
            continue;
        }
        if let Some(scope) = has(granted).or_else(|| rule.any.first()) {
            needed.push(scope);
        }
    }
    needed
}

/// The same as text of a fault.
pub(in crate::pipeline) fn advised(app: &App, tool: Option<&Tool>, operation: Operation<'_>, principal: Option<&Json>) -> Vec<String> {
    needed(app, tool, operation, &granted(principal)).into_iter().map(String::from).collect()
}
