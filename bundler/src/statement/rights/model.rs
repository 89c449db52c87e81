//! What rights are made of.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use sqlparser::{
    ast::{ObjectName, ObjectNamePart},
    parser::Parser,
    tokenizer::Token,
};

use crate::statement::{Dialect, fold};

/// A table, a view, a sequence, a function or a procedure, as statements name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The schema, for MySQL the database; `None` where the statement names none.
    pub schema: Option<String>,
    /// The name, as the database tells names apart.
    pub name: String,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.schema.iter().try_for_each(|schema| write!(f, "{schema}."))?;
        f.write_str(&self.name)
    }
}

/// What may be done with something of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    /// `SELECT`
    Select,
    /// `INSERT`
    Insert,
    /// `UPDATE`
    Update,
    /// `DELETE`
    Delete,
    /// `TRUNCATE`, which is `DROP` in MySQL
    Truncate,
    /// `USAGE` of a sequence
    Usage,
    /// `EXECUTE` of a function
    Execute,
    /// `EXECUTE` of a procedure
    Call,
    /// Another one of ClickHouse, as `GRANT` has it
    Other(&'static str),
}

impl Privilege {
    /// The word of `GRANT`.
    #[must_use]
    pub const fn word(self, dialect: Dialect) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Insert => "INSERT",
            Self::Update => match dialect {
                Dialect::ClickHouse => "ALTER UPDATE",
                _ => "UPDATE",
            },
            Self::Delete => match dialect {
                Dialect::ClickHouse => "ALTER DELETE",
                _ => "DELETE",
            },
            Self::Truncate => match dialect {
                Dialect::MySql => "DROP",
                _ => "TRUNCATE",
            },
            Self::Usage => "USAGE",
            Self::Execute | Self::Call => "EXECUTE",
            Self::Other(word) => word,
        }
    }
}

/// The columns that a right is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// All of them: the right is for the table.
    pub all: bool,
    /// These. Without any, and without `all`, one column of whatever name is enough, as for `count(*)`.
    pub names: BTreeSet<String>,
}

/// What a statement needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Of tables and views.
    pub tables: BTreeMap<(Named, Privilege), Columns>,
    /// Of sequences that the statement names.
    pub sequences: BTreeSet<(Named, Privilege)>,
    /// Functions that are not known as the database's own.
    pub functions: BTreeSet<Named>,
    /// Procedures.
    pub procedures: BTreeSet<Named>,
    /// What ClickHouse grants for no table: the right, and what it is on.
    pub server: BTreeSet<(&'static str, &'static str)>,
    /// Tables into which rows are inserted, and the columns whose values the statement gives: the others have their defaults, which can be a
    /// sequence's.
    pub filled: BTreeSet<(Named, BTreeSet<String>)>,
    /// Why more is needed than the statement seems to need, as a sentence.
    pub widened: BTreeSet<String>,
    /// What was not understood, as a clause: rights can be missing.
    pub unclear: BTreeSet<String>,
}

impl Rights {
    /// Adds a need.
    pub(super) fn need(&mut self, table: &Named, privilege: Privilege) -> &mut Columns {
        self.tables.entry((table.clone(), privilege)).or_default()
    }

    /// Adds those of another statement.
    pub(crate) fn extend(&mut self, other: Self) {
        for ((table, privilege), Columns { all, names }) in other.tables {
            let columns = self.need(&table, privilege);
            columns.all |= all;
            columns.names.extend(names);
        }
        self.sequences.extend(other.sequences);
        self.functions.extend(other.functions);
        self.procedures.extend(other.procedures);
        self.server.extend(other.server);
        self.filled.extend(other.filled);
        self.widened.extend(other.widened);
        self.unclear.extend(other.unclear);
    }

    /// Those of a statement that was not understood, and why.
    pub(super) fn unclear(why: impl Into<String>) -> Self {
        Self { unclear: BTreeSet::from([why.into()]), ..Self::default() }
    }
}

/// A name as a database tells names apart; `None` where only the deployment knows it, or it is not one.
pub(super) fn named(name: &ObjectName, dialect: Dialect) -> Option<Named> {
    let parts: Vec<&ObjectNamePart> = name.0.iter().collect();
    let (last, schema) = match parts.as_slice() {
        [last] => (last, None),
        // A database before the schema has to be the one that is connected to.
        [schema, last] | [_, schema, last] => (last, Some(schema)),
        _ => return None,
    };
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => match dialect {
            // Whether it tells capitals apart depends on its file system.
            Dialect::MySql | Dialect::ClickHouse => fold(ident, dialect).map(|_| ident.value.clone()),
            _ => fold(ident, dialect),
        },
        ObjectNamePart::Function(_) => None,
    };
    let schema = match schema {
        Some(schema) => Some(part(schema)?),
        None => None,
    };
    Some(Named { schema, name: part(last)? })
}

/// A name within a literal, such as that of a sequence in `nextval('orders_id_seq')`.
pub(super) fn named_in(text: &str, dialect: Dialect) -> Option<Named> {
    let mut parser = Parser::new(dialect.parser()).try_with_sql(text).ok()?;
    let name = parser.parse_object_name(false).ok()?;
    if parser.peek_token().token != Token::EOF {
        return None;
    }
    named(&name, dialect)
}
