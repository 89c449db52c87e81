//! Names, as a database tells them apart.

use std::fmt;

use sqlparser::{
    ast::{Expr, Ident, ObjectName, ObjectNamePart, Spanned as _},
    parser::Parser,
    tokenizer::{Span, Token},
};

use crate::statement::{Dialect, shown::Location};

/// What stands in a parsed statement for a name that only the deployment knows.
pub(in crate::statement) const UNKNOWN_NAME: &str = "millrace_env";
/// PostgreSQL cuts longer names, in bytes.
const LONGEST_POSTGRES_NAME: usize = 63;

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

/// The last part of a name.
pub(in crate::statement) fn last(name: &ObjectName) -> Option<&Ident> {
    match name.0.last()? {
        ObjectNamePart::Identifier(last) => Some(last),
        ObjectNamePart::Function(_) => None,
    }
}

/// A name as the database tells names apart. `None` for one that only the deployment knows, and for
/// PostgreSQL's `ONLY`, which the parser takes for a name.
pub(in crate::statement) fn fold(ident: &Ident, dialect: Dialect) -> Option<String> {
    let is_quoted = ident.quote_style.is_some();
    if ident.value == UNKNOWN_NAME || ident.value.is_empty() || (!is_quoted && ident.value.eq_ignore_ascii_case("only")) {
        return None;
    }
    let keeps_case = is_quoted && dialect.facts().resolution.quotes_keep_case;
    let mut name = if keeps_case { ident.value.clone() } else { ident.value.to_ascii_lowercase() };
    if dialect.facts().resolution.cuts_names
        && let Some(end) = (0..=LONGEST_POSTGRES_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end))
    {
        name.truncate(end);
    }
    Some(name)
}

/// A name as a database tells names apart; `None` where only the deployment knows it, or it is not
/// one.
pub(in crate::statement) fn named(name: &ObjectName, dialect: Dialect) -> Option<Named> {
    let (last, schema) = match name.0.as_slice() {
        [last] => (last, None),
        // A database before the schema has to be the one that is connected to.
        [schema, last] | [_, schema, last] => (last, Some(schema)),
        _ => return None,
    };
    let part = |part: &ObjectNamePart| {
        let ident = part.as_ident()?;
        let folded = fold(ident, dialect)?;
        Some(if dialect.facts().resolution.tables_keep_case { ident.value.clone() } else { folded })
    };
    let schema = match schema {
        Some(schema) => Some(part(schema)?),
        None => None,
    };
    Some(Named { schema, name: part(last)? })
}

/// The name that a text is; `None` where it is something else.
pub(in crate::statement) fn parsed(text: &str, dialect: Dialect) -> Option<ObjectName> {
    let mut parser = Parser::new(dialect.parser()).try_with_sql(text).ok()?;
    let name = parser.parse_object_name(false).ok()?;
    (parser.peek_token().token == Token::EOF).then_some(name)
}

/// A name within a literal, such as that of a sequence in `nextval('orders_id_seq')`.
pub(in crate::statement) fn named_in(text: &str, dialect: Dialect) -> Option<Named> {
    named(&parsed(text, dialect)?, dialect)
}

/// Where a name stands.
pub(in crate::statement) fn at(ident: &Ident) -> Option<Location> {
    start(ident.span)
}

/// Where an expression begins.
pub(super) fn begin(expression: &Expr) -> Option<Location> {
    start(expression.span())
}

fn start(span: Span) -> Option<Location> {
    (span.start.line > 0).then_some((span.start.line, span.start.column))
}
