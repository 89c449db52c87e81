//! The stages of `tools/call`: their names and their order. This is the only list of them.

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

            /// Whether the tool is one of the app by then: before, its name is what its caller
            /// wrote.
            #[must_use]
            pub const fn has_tool(self) -> bool {
                !matches!(self, Self::Resolve)
            }

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
    /// Counts the call, finds out whether it was made before, asks for confirmation, waits for a
    /// place.
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
