//! The rights that a statement needs in its database: which columns of which tables it reads and writes, which sequences, functions and
//! procedures it uses.
//!
//! The parsed statement is walked query by query, so that each column is looked for in the tables that it can be of. A column that can be of
//! several tables is one of each as far as the walk knows, and it says so: the whole tables are needed then. What it does not understand is
//! said, too. Afterwards the tables and queries that it has seen are counted against those that are there, so that nothing is passed over.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use sqlparser::{
    ast::{ObjectName, ObjectNamePart, Statement as Sql, Visit as _},
    parser::Parser,
    tokenizer::Token,
};

use super::{
    Dialect,
    count::Count,
    lex::{self, Kind},
    probe,
};

mod known;
mod read;
mod scope;
mod text;
mod write;

pub use known::{Known, KnownTable};
pub(crate) use text::{Unwritten, written};

use scope::Walk;

/// The longest statement that is looked at, in bytes.
const MAX_BYTES: usize = 100_000;

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
}

impl Privilege {
    /// The word of `GRANT`.
    #[must_use]
    pub const fn word(self, dialect: Dialect) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Truncate => match dialect {
                Dialect::MySql => "DROP",
                _ => "TRUNCATE",
            },
            Self::Usage => "USAGE",
            Self::Execute | Self::Call => "EXECUTE",
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
    fn need(&mut self, table: &Named, privilege: Privilege) -> &mut Columns {
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
        self.filled.extend(other.filled);
        self.widened.extend(other.widened);
        self.unclear.extend(other.unclear);
    }

    fn unclear(why: impl Into<String>) -> Self {
        Self { unclear: BTreeSet::from([why.into()]), ..Self::default() }
    }
}

/// The rights that a statement of PostgreSQL or MySQL needs, which has parameters in the place of values. `known` is what is known of the
/// database.
#[must_use]
pub fn rights(text: &str, dialect: Dialect, known: &Known) -> Rights {
    if text.len() > MAX_BYTES {
        return Rights::unclear("it is too long");
    }
    let Ok(tokens) = lex::lex(text, dialect) else { return Rights::unclear("something in it is not closed") };
    // What the parser takes for a comment, and the database does not.
    if text.contains('\0') || tokens.iter().any(|token| token.kind == Kind::Comment { executable: true }) {
        return Rights::unclear("it has a character or a comment that is not understood");
    }
    let found = probe::with_stack(tokens.len(), || {
        let statements = match Parser::parse_sql(dialect.parser(), text) {
            Ok(statements) => statements,
            Err(error) => {
                let error = error.to_string();
                let why = error.trim_start_matches("sql parser error: ");
                return Rights::unclear(why.rsplit_once(" at Line: ").map_or(why, |(why, _)| why));
            }
        };
        match statements.as_slice() {
            [statement] => of_statement(statement, dialect, known),
            _ => Rights::unclear("it is not one statement"),
        }
    });
    found.unwrap_or_else(|| Rights::unclear("it is too long"))
}

fn of_statement(statement: &Sql, dialect: Dialect, known: &Known) -> Rights {
    let mut walk = Walk::new(dialect, known);
    walk.statement(statement, &[]);
    let (mut rights, seen) = walk.finish();
    let mut there = Count::default();
    let _ = statement.visit(&mut there);
    if rights.unclear.is_empty() && there != seen {
        rights.unclear.insert("it has a table in a place that is not understood".to_owned());
    }
    rights
}

/// A name as a database tells names apart; `None` where only the deployment knows it, or it is not one.
fn named(name: &ObjectName, dialect: Dialect) -> Option<Named> {
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
            Dialect::MySql => super::fold(ident, dialect).map(|_| ident.value.clone()),
            _ => super::fold(ident, dialect),
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
fn named_in(text: &str, dialect: Dialect) -> Option<Named> {
    let mut parser = Parser::new(dialect.parser()).try_with_sql(text).ok()?;
    let name = parser.parse_object_name(false).ok()?;
    if parser.peek_token().token != Token::EOF {
        return None;
    }
    named(&name, dialect)
}

#[cfg(test)]
mod tests;
