//! The surface of an app: everything that its callers rely on, as data that can be kept, read from
//! a server, and compared.
//!
//! [`Surface::of`] makes it of a compiled app, [`Surface::listed`] what of that clients are told by
//! the lists, and [`Surface::of_lists`] the same of the lists of a server. [`changes`] compares
//! two. What only one of the two knows, such as the limits of a server that was asked, is not
//! compared.

use millrace_core::app::App;
use serde_json::{Map, Value};

mod access;
mod changes;
mod class;
mod details;
mod exact;
mod lists;
mod model;
mod place;
mod schema;

pub use changes::{Change, Item, changes};
pub use class::ChangeClass;
pub use model::{
    ArgumentSurface, PromptSurface, RateSurface, ResourceSurface, ScopesSurface, ServerSurface, Surface, ToolDetails, ToolSurface,
};
pub use place::SurfacePlaces;

impl Surface {
    /// The surface of a compiled app.
    #[must_use]
    pub fn of(app: &App) -> Self {
        let mut surface = Self::with(app, |_| true);
        surface.server = Some(details::of_server(app));
        for tool in &app.tools {
            let Some(known) = surface.tools.get_mut(&tool.name) else { continue };
            if tool.input_schema.is_none() {
                exact::complete(&mut known.inputs, &tool.inputs);
            }
            known.details = Some(details::of_tool(app, tool));
        }
        for prompt in &app.prompts {
            if let (Some(known), Some(scopes)) = (surface.prompts.get_mut(&prompt.name), &prompt.scopes) {
                known.scopes = Some(access::scopes(scopes));
            }
        }
        for (resource, entry) in app.resources.iter().zip(app.resources.iter().map(|resource| lists::entry(&resource.descriptor))) {
            if let (Some(known), Some(scopes)) = (lists::uri(&entry).and_then(|uri| surface.resources.get_mut(uri)), &resource.scopes) {
                known.scopes = Some(access::scopes(scopes));
            }
        }
        surface
    }

    /// What the lists tell a client of an app that may call everything.
    #[must_use]
    pub fn listed(app: &App) -> Self {
        Self::with(app, |is_listed| is_listed)
    }

    fn with(app: &App, takes: impl Fn(bool) -> bool) -> Self {
        let entries = |descriptors: Vec<&String>| -> Vec<Map<String, Value>> {
            descriptors.into_iter().map(|descriptor| lists::entry(descriptor)).collect()
        };
        Self::of_lists(
            &entries(app.tools.iter().filter(|tool| takes(tool.listed)).map(|tool| &tool.descriptor).collect()),
            &entries(app.prompts.iter().map(|prompt| &prompt.descriptor).collect()),
            &entries(app.resources.iter().map(|resource| &resource.descriptor).collect()),
        )
    }

    /// How much it has, in words: `3 tools, 1 prompt and 2 resources`.
    #[must_use]
    pub fn summary(&self) -> String {
        let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        format!(
            "{}, {} and {}",
            count(self.tools.len(), "tool"),
            count(self.prompts.len(), "prompt"),
            count(self.resources.len(), "resource")
        )
    }
}
