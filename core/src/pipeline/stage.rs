//! Which stages of `tools/call` a tool has.

use crate::{
    app::{Root, TemplateReference, Tool, ToolSync},
    expression,
};

pub use crate::stage::Stage;

mod plan;

pub use plan::{Step, plan};

impl Stage {
    /// Whether a call of this tool has anything to do at this stage. The pipeline passes over a
    /// stage that does not apply, and [`plan`] says so.
    #[must_use]
    pub fn applies(self, tool: &Tool) -> bool {
        match self {
            Self::Resolve | Self::Signal | Self::Validate | Self::Execute | Self::Serialize => true,
            Self::Authenticate => tool.auth.is_some(),
            Self::Context => looks_at_context(tool),
            Self::MapInput => tool.map_input.is_some(),
            Self::Guard => {
                let limits = &tool.limits;
                limits.rate.is_some() || tool.idempotency.is_some() || tool.confirm.is_some() || limits.concurrency.is_some()
            }
            Self::MapOutput => tool.map_output.is_some() || !tool.errors.on.is_empty() || tool.results_as_rows,
            Self::Present => tool.output.is_some() || tool.returns.is_some(),
            Self::Middleware => !tool.middleware.is_empty(),
            Self::Sync => tool.sync.as_ref().is_some_and(ToolSync::changes),
        }
    }
}

/// Whether a script or a placeholder of the tool can see `ctx`, or a call can fail for what is
/// missing in it. (The authentication plugin has one of its own.)
fn looks_at_context(tool: &Tool) -> bool {
    if tool.context.must_be_made() || tool.scripts().next().is_some() {
        return true;
    }
    let mut found = false;
    tool.visit(&mut |_, named| {
        found |= match named {
            TemplateReference::Value(source) => source.root == Root::Ctx,
            TemplateReference::Path(path) => matches!(path.first(), Some(expression::Step::Member(root)) if root == "ctx"),
            TemplateReference::Variable(_) | TemplateReference::Secret(_) => false,
        };
    });
    found
}
