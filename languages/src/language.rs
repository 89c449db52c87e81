//! The languages of connectors, and those of them that have statements.

use alloc::{string::String, vec::Vec};

use crate::{
    Facts, clickhouse,
    lex::{Token, Unread},
    mysql, partiql, postgres, sqlite,
};

/// The language of a connector's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Statements in SQLite's SQL.
    Sqlite,
    /// Statements in PostgreSQL's SQL.
    Postgres,
    /// Statements in MySQL's SQL.
    MySql,
    /// Statements in ClickHouse's SQL.
    ClickHouse,
    /// A command and its arguments, as Redis takes them.
    Arguments,
    /// Documents, as MongoDB takes them.
    Documents,
    /// Requests for tables and functions, as PostgREST takes them.
    Requests,
    /// Statements in DynamoDB's PartiQL.
    PartiQl,
    /// Requests of HTTP, as an API of any kind takes them.
    Http,
}

/// The form of what a connector takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A statement as text.
    Statement(Dialect),
    /// A command and its arguments, as text.
    Command,
    /// A document.
    Document,
    /// A request for tables or functions, as a map.
    Request,
    /// A request of HTTP: a method, a path with its query, header fields and a body.
    Api,
}

impl Language {
    /// The form of what is written in it.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::Sqlite => Form::Statement(Dialect::Sqlite),
            Self::Postgres => Form::Statement(Dialect::Postgres),
            Self::MySql => Form::Statement(Dialect::MySql),
            Self::ClickHouse => Form::Statement(Dialect::ClickHouse),
            Self::PartiQl => Form::Statement(Dialect::PartiQl),
            Self::Arguments => Form::Command,
            Self::Documents => Form::Document,
            Self::Requests => Form::Request,
            Self::Http => Form::Api,
        }
    }

    /// Its dialect; `None` for one that does not have statements.
    #[must_use]
    pub const fn dialect(self) -> Option<Dialect> {
        match self.form() {
            Form::Statement(dialect) => Some(dialect),
            Form::Command | Form::Document | Form::Request | Form::Api => None,
        }
    }

    /// What a command of it is, in messages.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self.form() {
            Form::Statement(_) => "statements",
            Form::Command => "commands of Redis",
            Form::Document => "documents",
            Form::Request => "requests",
            Form::Api => "requests of HTTP",
        }
    }
}

impl Form {
    /// Whether it is a map in an app's file, and not a text.
    #[must_use]
    pub const fn is_map(self) -> bool {
        matches!(self, Self::Document | Self::Request)
    }

    /// Whether `options.allow` of an adapter names what is refused otherwise.
    #[must_use]
    pub const fn takes_allowed(self) -> bool {
        matches!(self, Self::Command | Self::Document)
    }

    /// Why the values of a call cannot become part of the text; `None` where they can.
    #[must_use]
    pub const fn why_not_textual(self) -> Option<&'static str> {
        match self {
            Self::Statement(dialect) => dialect.facts().why_not_textual,
            Self::Command => Some("the values of a command are always arguments"),
            Self::Document => Some("the values of a document are always values"),
            Self::Request | Self::Api => Some("the values of a request are always values"),
        }
    }
}

/// The language of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite, libSQL, D1
    Sqlite,
    /// PostgreSQL
    Postgres,
    /// MySQL, MariaDB
    MySql,
    /// ClickHouse
    ClickHouse,
    /// DynamoDB's PartiQL
    PartiQl,
}

impl Dialect {
    /// What is true of it.
    #[must_use]
    pub const fn facts(self) -> &'static Facts {
        match self {
            Self::Sqlite => &sqlite::FACTS,
            Self::Postgres => &postgres::FACTS,
            Self::MySql => &mysql::FACTS,
            Self::ClickHouse => &clickhouse::FACTS,
            Self::PartiQl => &partiql::FACTS,
        }
    }

    /// Cuts a text into tokens that cover all of it.
    ///
    /// # Errors
    /// It cannot be cut.
    pub fn lex(self, text: &str) -> Result<Vec<Token>, Unread> {
        (self.facts().lex)(text)
    }

    /// The `number`th parameter, from 1.
    #[must_use]
    pub fn parameter(self, number: usize) -> String {
        self.facts().parameter(number)
    }

    /// A name as a quoted identifier, each part between dots of its own. `None` where a part is
    /// empty.
    #[must_use]
    pub fn identifier(self, name: &str) -> Option<String> {
        self.facts().identifier(name)
    }

    /// Which dialect of the parser it is.
    #[cfg(feature = "parser")]
    #[must_use]
    pub fn parser(self) -> &'static dyn sqlparser::dialect::Dialect {
        self.facts().parser
    }
}
