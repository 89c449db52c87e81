//! The stages of `tools/call`: their names, their order, and which of them a tool has. This is the only list of them.

use crate::{
    app::{Root, TemplateReference, Tool, ToolSync},
    expression,
};

mod plan;

pub use plan::{Step, plan};

macro_rules! stages {
    ($($(#[$about:meta])+ $stage:ident => $name:literal),+ $(,)?) => {
        /// A stage of the pipeline, in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Stage {
            $($(#[$about])+ $stage),+
        }

        impl Stage {
            /// Every stage, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$stage),+];

            /// The stage's name on the wire, in traces and in logs: `map_input`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$stage => $name),+ }
            }
        }
    };
}

stages! {
    /// Finds the tool.
    Resolve => "resolve",
    /// Finds out who calls.
    Authenticate => "authenticate",
    /// Makes `ctx`.
    Context => "context",
    /// Ends calls whose time is over, or whose caller went away.
    Signal => "signal",
    /// Runs the input mapper.
    MapInput => "map_input",
    /// Checks the inputs.
    Validate => "validate",
    /// Runs the middleware of the tool.
    Middleware => "middleware",
    /// Counts the call, finds out whether it was made before, asks for confirmation, waits for a place.
    Guard => "guard",
    /// Does what the tool is for.
    Execute => "execute",
    /// Runs the output mapper and the rules of `errors.on`.
    MapOutput => "map_output",
    /// Makes of the result what the tool's presenter says, or holds it to the tool's `output`.
    Present => "present",
    /// Makes stale what is cached of what the call changed, and says so.
    Sync => "sync",
    /// Writes the result.
    Serialize => "serialize",
}

impl Stage {
    /// Whether a call of this tool has anything to do at this stage. The pipeline passes over a stage that does not apply, and [`plan`]
    /// says so.
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

/// Whether a script or a placeholder of the tool can see `ctx`, or a call can fail for what is missing in it. (The authentication plugin
/// has one of its own.)
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
