//! What the server declares that it can do.

use serde_json::{Map, json};

use super::era::Era;
use crate::{Json, app::App};

/// The identifier of the extension for skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// What the app has besides tools, and so what the server may say it can do.
#[derive(Clone, Copy)]
pub(super) struct Features {
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) completions: bool,
    pub(super) skills: bool,
    /// Scripts may log. [`capabilities`](Self::capabilities) leaves it out where it is deprecated.
    pub(super) logging: bool,
}

impl Features {
    pub(super) fn of(app: &App) -> Self {
        let of_prompts = app.prompts.iter().flat_map(|prompt| &prompt.arguments);
        let of_resources = app.resources.iter().flat_map(|resource| &resource.arguments);
        Self {
            prompts: !app.prompts.is_empty(),
            resources: !app.resources.is_empty(),
            completions: of_prompts.chain(of_resources).any(|argument| !argument.completion.is_empty() || argument.complete.is_some()),
            skills: !app.skills.is_empty(),
            logging: app.logs,
        }
    }

    /// As the server declares them to clients of an era.
    /// `lists_change`: whether the client is told when a list is another one.
    pub(super) fn capabilities(self, era: Era, lists_change: bool) -> Json {
        let mut capabilities = Map::new();
        let has = [
            ("tools", true),
            ("prompts", self.prompts),
            ("resources", self.resources),
            ("completions", self.completions),
            // The modern era deprecates it. Who asks for log lines gets them all the same.
            ("logging", self.logging && era == Era::Legacy),
        ];
        for (name, _) in has.into_iter().filter(|(_, has)| *has) {
            let is_list = matches!(name, "tools" | "prompts" | "resources");
            capabilities.insert(name.into(), if lists_change && is_list { json!({ "listChanged": true }) } else { json!({}) });
        }
        if self.skills {
            capabilities.insert("extensions".into(), json!({ SKILLS: { "directoryRead": true } }));
        }
        Json::Object(capabilities)
    }
}
