//! The settings of the root file, as the readers of all other files take them.

use millrace_core::app::{Auth, BatchLimits, ErrorStyle, Identity, Server};

use crate::{
    compiler::Located, context::ContextBlock, setting::LimitSettings, statement::Substitution, sync::SyncPolicies, yaml::Document,
};

/// What the root file says.
pub(crate) struct RootSettings {
    pub(crate) document: Document,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) identity: Identity,
    pub(crate) server: Server,
    pub(crate) batch: BatchLimits,
    pub(crate) limits: LimitSettings,
    pub(crate) env: Vec<String>,
    pub(crate) secrets: Vec<String>,
    pub(crate) required: Vec<String>,
    pub(crate) fetch_allow: Vec<String>,
    pub(crate) telemetry: bool,
    pub(crate) tools_folder: String,
    pub(crate) adapters_folder: String,
    pub(crate) prompts_folder: String,
    pub(crate) resources_folder: String,
    pub(crate) skills_folder: String,
    pub(crate) presenters_folder: String,
    pub(crate) auth: Option<Located<Auth>>,
    pub(crate) context: Option<ContextBlock>,
    pub(crate) middleware: Option<ContextBlock>,
    pub(crate) sync: SyncPolicies,
    pub(crate) cache_enabled: Located<bool>,
    pub(crate) cache_ttl_s: Located<u32>,
    pub(crate) error_style: Located<ErrorStyle>,
    pub(crate) expose: Located<bool>,
    pub(crate) substitution: Located<Substitution>,
    pub(crate) expose_tools: Located<Expose>,
    pub(crate) search_limit: u32,
}

/// `tools.expose`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expose {
    /// Every tool is in `tools/list`.
    Direct,
    /// Only `search` and `execute` are.
    Search,
    /// All of them are.
    Both,
}
