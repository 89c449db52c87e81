//! The languages of statements.

use millrace_catalogue::Language;
use millrace_core::app::{InputKind, ParamStyle};
use sqlparser::dialect::{ClickHouseDialect, Dialect as SqlDialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};

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
    /// The dialect of a connector's language; `None` for one that has no statements.
    #[must_use]
    pub const fn of(language: Language) -> Option<Self> {
        match language {
            Language::Sqlite => Some(Self::Sqlite),
            Language::Postgres => Some(Self::Postgres),
            Language::MySql => Some(Self::MySql),
            Language::ClickHouse => Some(Self::ClickHouse),
            Language::PartiQl => Some(Self::PartiQl),
            Language::Arguments | Language::Documents | Language::Requests => None,
        }
    }

    /// How its connectors write parameters.
    #[must_use]
    pub const fn style(self) -> ParamStyle {
        match self {
            Self::Sqlite => ParamStyle::NumberedQuestion,
            Self::Postgres => ParamStyle::NumberedDollar,
            Self::MySql => ParamStyle::Question,
            Self::ClickHouse => ParamStyle::Name,
            Self::PartiQl => ParamStyle::PartiQl,
        }
    }

    /// How many values its databases take in one statement, unless a connector takes fewer.
    #[must_use]
    pub const fn max_values(self) -> u32 {
        match self {
            Self::Sqlite => 32_766,
            Self::Postgres | Self::MySql | Self::ClickHouse => 65_535,
            // A statement has at most 8,192 characters.
            Self::PartiQl => 2_000,
        }
    }

    /// Its name, for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::ClickHouse => "ClickHouse",
            Self::PartiQl => "PartiQL",
        }
    }

    pub(super) fn parser(self) -> &'static dyn SqlDialect {
        match self {
            Self::Sqlite => &SQLiteDialect {},
            // Only names of it are parsed.
            Self::PartiQl => &GenericDialect {},
            Self::Postgres => &PostgreSqlDialect {},
            Self::MySql => &MySqlDialect {},
            Self::ClickHouse => &ClickHouseDialect {},
        }
    }

    /// Whether a backslash escapes in every literal.
    pub(super) const fn has_backslashes(self) -> bool {
        matches!(self, Self::MySql | Self::ClickHouse)
    }

    /// The `number`th parameter, from 1.
    pub(super) fn parameter(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres => format!("${number}"),
            Self::MySql | Self::PartiQl => "?".to_owned(),
            // Its braces and its type are text around it.
            Self::ClickHouse => format!("p{number}"),
        }
    }

    /// The `number`th parameter as the parser knows one.
    pub(super) fn probed(self, number: usize) -> String {
        if self == Self::ClickHouse { "?".to_owned() } else { self.parameter(number) }
    }

    /// An `INSERT` of one row with a parameter for each column. `None` where the table's name is not one.
    pub(crate) fn insert(self, table: &str, columns: &[&str]) -> Option<String> {
        let columns: Option<Vec<String>> = columns.iter().map(|column| self.identifier(column)).collect();
        let columns = columns?;
        let parameters: Vec<String> = (1..=columns.len())
            .map(|number| match self {
                // It makes of a text what the column has.
                Self::ClickHouse => format!("{{{}:Nullable(String)}}", self.parameter(number)),
                _ => self.parameter(number),
            })
            .collect();
        Some(format!("INSERT INTO {} ({}) VALUES ({})", self.identifier(table)?, columns.join(", "), parameters.join(", ")))
    }

    /// A name as a quoted identifier, each part between dots of its own. `None` where a part is empty.
    pub(super) fn identifier(self, name: &str) -> Option<String> {
        self.style().identifier(name)
    }

    /// What a literal after this type name is cast to: `DATE '…'`. `None` where the dialect has no such literal.
    pub(super) fn typed_literal(self, word: &str) -> Option<&'static str> {
        match self {
            Self::Sqlite | Self::PartiQl => None,
            Self::MySql => [("DATE", "DATE"), ("TIME", "TIME(6)"), ("TIMESTAMP", "DATETIME(6)")]
                .into_iter()
                .find_map(|(name, cast)| name.eq_ignore_ascii_case(word).then_some(cast)),
            Self::ClickHouse => [("DATE", "Date"), ("TIMESTAMP", "DateTime")]
                .into_iter()
                .find_map(|(name, cast)| name.eq_ignore_ascii_case(word).then_some(cast)),
            Self::Postgres => POSTGRES_TYPES.iter().find(|name| name.eq_ignore_ascii_case(word)).copied(),
        }
    }

    /// A subselect without rows.
    ///
    /// PostgreSQL compares types even there, so it repeats the compared column where that is known, and otherwise has a
    /// null of the elements' type.
    pub(super) fn empty(self, kind: Option<InputKind>, column: Option<&str>) -> String {
        match (self, column) {
            (Self::Sqlite | Self::ClickHouse, _) => "SELECT NULL WHERE 0".to_owned(),
            (Self::MySql, _) => "SELECT NULL FROM DUAL WHERE FALSE".to_owned(),
            // There are no subselects: an empty list is refused.
            (Self::PartiQl, _) => String::new(),
            (Self::Postgres, Some(column)) => format!("SELECT {column} LIMIT 0"),
            (Self::Postgres, None) => format!("SELECT CAST(NULL AS {}) LIMIT 0", postgres_type(kind)),
        }
    }
}

/// The PostgreSQL type of an input.
pub(super) fn postgres_type(kind: Option<InputKind>) -> &'static str {
    match kind {
        Some(InputKind::Int) => "bigint",
        Some(InputKind::Float) => "double precision",
        Some(InputKind::Boolean) => "boolean",
        Some(InputKind::Datetime) => "timestamptz",
        Some(InputKind::Date) => "date",
        Some(InputKind::Uuid) => "uuid",
        Some(InputKind::Array | InputKind::Object | InputKind::Json) => "jsonb",
        Some(InputKind::String) | None => "text",
    }
}

/// The types of PostgreSQL whose name before a literal makes a typed literal.
const POSTGRES_TYPES: &[&str] = &[
    "INTERVAL",
    "DATE",
    "TIME",
    "TIMETZ",
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "UUID",
    "JSON",
    "JSONB",
    "JSONPATH",
    "TEXT",
    "VARCHAR",
    "BYTEA",
    "NUMERIC",
    "DECIMAL",
    "INT",
    "INTEGER",
    "BIGINT",
    "SMALLINT",
    "INT2",
    "INT4",
    "INT8",
    "FLOAT4",
    "FLOAT8",
    "REAL",
    "BOOL",
    "BOOLEAN",
    "MONEY",
    "INET",
    "CIDR",
    "MACADDR",
    "TSVECTOR",
    "TSQUERY",
    "POINT",
    "LINE",
    "LSEG",
    "BOX",
    "PATH",
    "POLYGON",
    "CIRCLE",
    "XML",
    "INT4RANGE",
    "INT8RANGE",
    "NUMRANGE",
    "DATERANGE",
    "TSRANGE",
    "TSTZRANGE",
    "REGCLASS",
    "REGPROC",
    "REGTYPE",
    "CITEXT",
    "LTREE",
];
