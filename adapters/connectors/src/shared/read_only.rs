//! Who has a database refuse what writes, for the words of the refusal.

use millrace_core::{Error, ErrorKind, ports::Query};

/// Who says that a statement must not write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReadOnly {
    /// Nobody, so that a refusal is the database's own: it is a replica, or set so.
    #[default]
    Database,
    /// The adapter is read-only.
    Adapter,
    /// `kind: query` of the tool, for a statement of which nobody can tell what it does.
    Tool,
}

impl ReadOnly {
    /// For a query. `adapter`: it is read-only.
    pub(crate) fn of(query: &Query<'_>, adapter: bool) -> Self {
        match adapter {
            true => Self::Adapter,
            false if query.is_guarded() => Self::Tool,
            false => Self::Database,
        }
    }

    /// For what no query is known of yet.
    pub(crate) const fn of_adapter(read_only: bool) -> Self {
        if read_only { Self::Adapter } else { Self::Database }
    }

    /// Whether the database has to be told.
    pub(crate) fn is_demanded(self) -> bool {
        self != Self::Database
    }

    /// What is said of a statement that writes.
    pub(crate) const fn refusal(self) -> &'static str {
        match self {
            Self::Database => "the statement writes, and the database is read-only",
            Self::Adapter => "the statement writes, and the adapter is read-only",
            Self::Tool => "the statement writes, and `kind: query` of its tool says that it only reads",
        }
    }

    /// Refuses a statement that writes.
    pub(crate) fn refuse(self) -> Error {
        Error::new(ErrorKind::Denied, self.refusal())
    }
}
