//! `cache` of a tool.

use millrace_core::app::{Auth, Cache, CacheScope};

use super::reader::ToolReader;
use crate::{
    compiler::{Compiler, Located},
    root::seconds,
};

/// The cache of a tool, its own block over the root's. `reads`: the tool runs a statement and says that it only reads.
pub(super) fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, reads: bool, auth: Option<&Auth>) -> Option<Cache> {
    let document = reading.document;
    let own = document.root.at("cache");
    let enabled = match own {
        Some(node) => match node.at("enabled") {
            Some(value) => Located::at(value.bool().unwrap_or(false), document, value),
            // Hyperterse takes what a block does not say from the root.
            None if compiler.imported => reading.root.cache_enabled.clone(),
            None => Located::at(true, document, node),
        },
        None => reading.root.cache_enabled.clone(),
    };
    if !reads {
        if let Some(node) = own.filter(|_| enabled.value && !compiler.imported) {
            let message = format!("the tool `{}` cannot be cached", reading.name);
            compiler.error(document, node.range.clone(), message, "Only a query with a statement that only reads can. Remove `cache`.");
        }
        compiler.origin(reading.name, "cache.enabled", "false", "default");
        return None;
    }
    compiler.origin(reading.name, "cache.enabled", enabled.value.to_string(), enabled.place);
    if !enabled.value {
        return None;
    }
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
    Some(Cache { ttl_s: ttl.value, scope: scope.value })
}

/// Whether callers have a principal of their own.
fn knows_callers(auth: Option<&Auth>) -> bool {
    match auth {
        None | Some(Auth::AllowAll) => false,
        Some(Auth::ApiKey(_) | Auth::Script { .. } | Auth::Jwt(_) | Auth::Any(_)) => true,
    }
}
