//! The one error that ports return.

use alloc::{boxed::Box, string::String};
use core::{
    fmt,
    ops::{Deref, DerefMut},
};

use crate::Json;

/// What went wrong, seen by what the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A setting, a variable or a file is missing or wrong; no retry helps before the operator
    /// acts.
    Configuration,
    /// The upstream does not understand the statement or request.
    Syntax,
    /// The upstream understood and refused: a unique key, a foreign key, a check.
    Constraint,
    /// A value, or the result of a computation with one, is not what the upstream accepts: a text
    /// that is not a date, a number out of range, malformed JSON. Nothing was changed.
    Data,
    /// A step of a transaction did not return or change as many rows as is expected of it. Nothing
    /// was changed.
    Expectation,
    /// The upstream forbids the operation (a read-only database among others), or admits nobody
    /// from here.
    Denied,
    /// The upstream does not accept the user, the password or the token. Nothing was executed: with
    /// other credentials the same may succeed.
    Credentials,
    /// No answer before the deadline.
    TimedOut,
    /// The upstream cannot be reached, is starting or going away; nothing was executed.
    Unavailable,
    /// The upstream is locked or has too much to do; a retry can help.
    Busy,
    /// More rows or bytes than the limit allows.
    TooLarge,
    /// The upstream answered something that its protocol does not allow, or its data is damaged.
    Protocol,
    /// The caller went away.
    Cancelled,
}

impl ErrorKind {
    /// Its name, as scripts and the health endpoint tell it: `timed_out`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Syntax => "syntax",
            Self::Constraint => "constraint",
            Self::Data => "data",
            Self::Denied => "denied",
            Self::Credentials => "credentials",
            Self::TimedOut => "timed_out",
            Self::Unavailable => "unavailable",
            Self::Busy => "busy",
            Self::TooLarge => "too_large",
            Self::Protocol => "protocol",
            Self::Expectation => "expectation",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the same call, sent again later, may succeed.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::TimedOut | Self::Unavailable | Self::Busy)
    }
}

/// An error of a port: one pointer, so that a result is hardly larger than what it is of.
///
/// Its parts are read as members: `error.kind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorParts>);

/// What an [`Error`] says.
///
/// `message` is one clause that names the offending thing in backticks; it carries no secret, no
/// value of a statement, no address of a database and no upstream text, and may be shown to a
/// caller. `source` is the upstream's own words: for the log, and for callers only under
/// `errors.expose: full`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorParts {
    /// What the caller can do.
    pub kind: ErrorKind,
    /// One clause without secrets.
    pub message: String,
    /// The upstream's own words, for the log.
    pub source: Option<String>,
    /// What an API answered to a request that failed, `status` and `body`: for the rules of the
    /// app, `errors.on`. No message and no log has it.
    pub answer: Option<Json>,
}

impl Deref for Error {
    type Target = ErrorParts;

    fn deref(&self) -> &ErrorParts {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut ErrorParts {
        &mut self.0
    }
}

impl Error {
    /// An error without upstream text.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorParts { kind, message: message.into(), source: None, answer: None }))
    }

    /// Its clause and the upstream's own words, for the operator.
    #[must_use]
    pub fn in_full(&self) -> String {
        match &self.source {
            Some(source) => alloc::format!("{}: {source}", self.message),
            None => self.message.clone(),
        }
    }

    /// What it says, to be taken apart.
    #[must_use]
    pub fn into_parts(self) -> ErrorParts {
        *self.0
    }

    /// The same error, of another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same error, in other words.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same error, with what an API answered.
    #[must_use]
    pub fn with_answer(mut self, status: u16, body: Json) -> Self {
        let members = [("status", Json::from(status)), ("body", body)];
        self.answer = Some(members.into_iter().map(|(name, value)| (String::from(name), value)).collect());
        self
    }

    /// The status of what an API answered.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.answer.as_ref()?.get("status")?.as_u64()?.try_into().ok()
    }

    /// The same error, with the upstream's own words for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error, with where the upstream is and whom it was asked as, for the log: before the
    /// upstream's own words. `message` has none of that: callers have no business with the
    /// addresses and users of databases.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.source = Some(match self.source.take() {
            Some(words) => alloc::format!("{place}: {words}"),
            None => place.into(),
        });
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Error {}

/// A result with the crate's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;
