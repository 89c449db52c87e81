//! `cache` of a tool.

use millrace_core::app::{Access, Auth, Cache, CacheScope, Execute, Template};

use super::reader::ToolReader;
use crate::{
    compiler::{Compiler, Located},
    root::seconds,
    scope::PathScope,
    yaml::Node,
};

/// The cache of a tool, its own block over the root's. `kind` is what the tool says, or what its
/// statement does; the root's block is for statements only, because nothing shows what a handler
/// does.
pub(super) fn read(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    execute: &Execute,
    kind: &str,
    auth: Option<&Auth>,
    scope_of_key: &PathScope,
) -> Option<Cache> {
    let document = reading.document;
    let own = document.root.at("cache");
    let is_script = matches!(execute, Execute::Script(_));
    let reads = kind == "query" && execute.access().map_or(is_script, Access::reads);
    let enabled = match own {
        Some(node) => match node.at("enabled") {
            Some(value) => Located::at(value.bool().unwrap_or(false), document, value),
            // Hyperterse takes what a block does not say from the root.
            None if compiler.imported => reading.root.cache_enabled.clone(),
            None => Located::at(true, document, node),
        },
        None if is_script => Located::default(false),
        None => reading.root.cache_enabled.clone(),
    };
    if !reads || (is_script && compiler.imported) {
        if let Some(node) = own.filter(|_| enabled.value && !compiler.imported) {
            let message = format!("the tool `{}` cannot be cached", reading.name);
            let help = if is_script {
                "Only a tool that reads can. If the handler changes nothing, write `kind: query`; else remove `cache`."
            } else {
                "Only a query with a statement that only reads can. Remove `cache`."
            };
            compiler.error(document, node.range.clone(), message, help);
        }
        compiler.origin(reading.name, "cache.enabled", "false", "default");
        return None;
    }
    compiler.origin(reading.name, "cache.enabled", enabled.value.to_string(), enabled.place);
    if !enabled.value {
        return None;
    }
    let key = own.and_then(|node| node.at("key")).and_then(|node| key(compiler, reading, node, is_script, scope_of_key));
    let ttl = own.and_then(|node| node.at("ttl")).and_then(|node| Some(Located::at(seconds(node)?, document, node)));
    let ttl = ttl.unwrap_or_else(|| reading.root.cache_ttl_s.clone());
    let scope = match own.and_then(|node| node.at("scope")).map(|node| (node, node.text())) {
        Some((node, Some("public"))) => Located::at(CacheScope::Public, document, node),
        Some((node, _)) => Located::at(CacheScope::Principal, document, node),
        None => Located::default(if knows_callers(auth) { CacheScope::Principal } else { CacheScope::Public }),
    };
    let word = if scope.value == CacheScope::Public { "public" } else { "principal" };
    compiler.origin(reading.name, "cache.ttl", format!("{} s", ttl.value), ttl.place);
    compiler.origin(reading.name, "cache.scope", word, scope.place);
    Some(Cache { ttl_s: ttl.value, scope: scope.value, key })
}

/// `cache.key`, of a handler.
fn key(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, node: &Node, is_script: bool, scope: &PathScope) -> Option<Template> {
    if !is_script {
        let help = "Remove it: calls with the same statement and the same values have the same result.";
        compiler.error(reading.document, node.range.clone(), "`cache.key` is for tools with a handler", help);
        return None;
    }
    compiler.origin(reading.name, "cache.key", node.text().unwrap_or_default(), reading.document.source.place(node.range.start));
    if !node.text().is_some_and(|text| text.contains("{{")) {
        let help = "Write what calls with the same result have in common, as `{{ inputs.city }}`; without `key` it is all inputs.";
        compiler.error(reading.document, node.range.clone(), "`cache.key` has no placeholder, so all calls would have one result", help);
        return None;
    }
    Some(compiler.message(reading.document, node, scope))
}

/// Whether callers have a principal of their own.
fn knows_callers(auth: Option<&Auth>) -> bool {
    match auth {
        None | Some(Auth::AllowAll) => false,
        Some(Auth::ApiKey(_) | Auth::Script { .. } | Auth::Jwt(_) | Auth::Any(_)) => true,
    }
}
