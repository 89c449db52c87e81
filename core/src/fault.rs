//! The one error of the pipeline. A stage makes it, stage *serialize* renders it; nothing parses text back.

use alloc::{string::String, vec::Vec};

/// A stage of the pipeline, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is documented in its module of `pipeline`")]
pub enum Stage {
    Resolve,
    Authenticate,
    Context,
    Signal,
    MapInput,
    Validate,
    Middleware,
    Guard,
    Execute,
    MapOutput,
    Present,
    Sync,
    Serialize,
}

impl Stage {
    /// The stage's name on the wire and in spans: `map_input`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Authenticate => "authenticate",
            Self::Context => "context",
            Self::Signal => "signal",
            Self::MapInput => "map_input",
            Self::Validate => "validate",
            Self::Middleware => "middleware",
            Self::Guard => "guard",
            Self::Execute => "execute",
            Self::MapOutput => "map_output",
            Self::Present => "present",
            Self::Sync => "sync",
            Self::Serialize => "serialize",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Severity {
    /// The result stands; `isError` is false.
    Warning,
    /// The call failed.
    #[default]
    Error,
    /// The call failed, and so will others.
    Critical,
}

impl Severity {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

/// One problem of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The input, with the path into it: `user.address[2].zip`; `(root)` for undeclared ones.
    pub field: String,
    /// What is wrong, what was sent, what is expected.
    pub message: String,
}

/// How authentication failed, for the HTTP status and `WWW-Authenticate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 401: no credentials, or wrong ones.
    Unauthorized,
    /// 403: good credentials that lack these scopes.
    Forbidden(Vec<String>),
}

/// Why a call failed.
///
/// `code`, `message` and the other public parts reach the caller; `log` never does, unless the tool's
/// `errors.expose` is `full` (then it is appended to the message of a connector's fault).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it happened.
    pub stage: Stage,
    /// The machine-readable code: `NOT_FOUND`, `TIMEOUT`.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub suggestion: Option<String>,
    /// Tools that help.
    pub available_actions: Vec<String>,
    /// Further facts, in order.
    pub details: Vec<(String, String)>,
    /// How bad it is.
    pub severity: Severity,
    /// When to try again, in seconds.
    pub retry_after_s: Option<u64>,
    /// Whether the same call can succeed later.
    pub retryable: bool,
    /// The problems of the inputs (stage *validate*); rendered as `<validation_error>`.
    pub issues: Vec<Issue>,
    /// Set by stage *authenticate*.
    pub refusal: Option<Refusal>,
    /// What only the log may see: upstream text, stacks.
    pub log: Option<String>,
}

impl Fault {
    /// A fault that no retry mends.
    pub fn new(stage: Stage, code: &str, message: impl Into<String>) -> Self {
        Self {
            stage,
            code: code.into(),
            message: message.into(),
            suggestion: None,
            available_actions: Vec::new(),
            details: Vec::new(),
            severity: Severity::Error,
            retry_after_s: None,
            retryable: false,
            issues: Vec::new(),
            refusal: None,
            log: None,
        }
    }
}

/// A result with a [`Fault`]. The fault is boxed: it is big, and the good case is the usual one.
pub type Faulty<T> = Result<T, alloc::boxed::Box<Fault>>;
