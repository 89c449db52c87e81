//! The surface as data. What is absent is not known, and not compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What callers of an app rely on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// What holds for all of it; `None` where a server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerSurface>,
    /// The tools, by name.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolSurface>,
    /// The prompts, by name.
    #[serde(default)]
    pub prompts: BTreeMap<String, PromptSurface>,
    /// The resources and resource templates, by URI.
    #[serde(default)]
    pub resources: BTreeMap<String, ResourceSurface>,
}

/// What holds for the whole server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSurface {
    /// `name`
    pub name: String,
    /// `server.title`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `instructions`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// `server.path`
    pub path: String,
    /// `server.hosts`
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hosts: BTreeSet<String>,
    /// `server.cors.origins`
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub origins: BTreeSet<String>,
    /// What of sign-in has to stay to the letter: `server.sign_in`, `server.resource`,
    /// `server.authorization_servers`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sign_in: BTreeMap<String, String>,
    /// `server.scopes`: what each scope implies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implied_scopes: BTreeMap<String, BTreeSet<String>>,
    /// The longest request, and the limits of batches, by their keys.
    pub limits: BTreeMap<String, u64>,
}

/// What callers rely on of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSurface {
    /// `title`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `description`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `tags`
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// The hints of `annotations`, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hints: BTreeMap<String, bool>,
    /// The schema of the inputs; of an app the exact one, with what clients are told in words.
    pub inputs: Value,
    /// `outputSchema`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// `securitySchemes`, as clients are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Value>,
    /// What the list does not say; `None` where a server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<ToolDetails>,
}

/// What the entry of a tool does not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDetails {
    /// Whether `tools/list` has it.
    pub listed: bool,
    /// The ways to be let in; a caller needs one of them.
    pub callers: Vec<Value>,
    /// `require_scope` of the middleware; a caller needs each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<ScopesSurface>,
    /// What else has to hold before the tool does anything, in words.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub conditions: BTreeSet<String>,
    /// `confirm`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// The codes of failures that the app itself writes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub codes: BTreeSet<String>,
    /// The exact schema of what the tool gives: `output`, or what its presenter lets through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What `redact` of the presenter replaces.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub redacted: BTreeSet<String>,
    /// What has to stay to the letter: how failures and results are written, and `idempotency.key`.
    pub forms: BTreeMap<String, String>,
    /// The limits, by their keys.
    pub limits: BTreeMap<String, u64>,
    /// `limits.rate`, and `rate_limit` of the middleware.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateSurface>,
}

/// Scopes that a caller needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopesSurface {
    /// Each of these.
    pub all: BTreeSet<String>,
    /// One of these, where there are any.
    pub any: BTreeSet<String>,
}

/// How often a tool may be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSurface {
    /// How many calls.
    pub max: u32,
    /// Within how many seconds.
    pub window_s: u32,
    /// Which calls are counted together.
    pub key: String,
}

/// What callers rely on of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptSurface {
    /// `title`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `description`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, ArgumentSurface>,
    /// `require_scope`; `None` also where a server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<ScopesSurface>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgumentSurface {
    /// Has to be given.
    pub required: bool,
    /// `title`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `description`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What callers rely on of a resource, or of a template of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceSurface {
    /// `name`
    pub name: String,
    /// `title`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `description`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `mime_type`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// `require_scope`; `None` also where a server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<ScopesSurface>,
}
