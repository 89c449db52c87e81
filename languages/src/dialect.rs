//! The languages of statements.

use alloc::string::String;

use crate::{Facts, clickhouse, mysql, partiql, postgres, sqlite};

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

    /// The `number`th parameter, from 1.
    #[must_use]
    pub fn parameter(self, number: usize) -> String {
        self.facts().parameter(number)
    }

    /// A name as a quoted identifier, each part between dots of its own. `None` where a part is empty.
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
