//! How a database writes SQL.

/// The SQL that a database takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
    /// That of MySQL and of MariaDB.
    MySql,
}

impl Dialect {
    /// The type of `CAST` that makes a text.
    pub(super) fn text_type(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "text",
            Self::MySql => "CHAR",
        }
    }

    /// The first parameter in a statement of a script.
    pub(super) fn parameter(self) -> &'static str {
        match self {
            Self::Sqlite => "?1",
            Self::Postgres => "$1",
            Self::MySql => "?",
        }
    }

    /// A name in the quotes of names.
    pub(super) fn quoted(self, name: &str) -> String {
        let quote = match self {
            Self::Sqlite | Self::Postgres => "\"",
            Self::MySql => "`",
        };
        format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)))
    }
}
