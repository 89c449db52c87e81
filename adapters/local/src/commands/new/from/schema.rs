//! What a database says of its tables, whichever database it is.

use super::names::can_be_written;

/// A table or a view.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The schema, where a statement has to name it.
    pub(super) schema: Option<String>,
    pub(super) name: String,
    pub(super) comment: Option<String>,
    /// Whether rows can be created and updated: a table, and not a view.
    pub(super) is_writable: bool,
    pub(super) columns: Vec<Column>,
    /// The places of the primary key's columns in `columns`, in the order of the key.
    pub(super) key: Vec<usize>,
    pub(super) references: Vec<Reference>,
    /// Columns that are left out because of their names.
    pub(super) unnamed: Vec<String>,
}

/// A foreign key of one column.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The place of the column.
    pub(super) column: usize,
    /// The table that it refers to.
    pub(super) schema: Option<String>,
    pub(super) table: String,
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) comment: Option<String>,
    pub(super) kind: Kind,
    pub(super) nullable: bool,
    /// The only values that it may have.
    pub(super) values: Vec<String>,
    /// The most characters.
    pub(super) max_length: Option<u32>,
    pub(super) filled: Filled,
}

/// What fills a column that an `INSERT` does not name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// `NULL`, or nothing where it may not be `NULL`.
    ByNothing,
    /// A literal, as the input's default can have it.
    ByLiteral(Literal),
    /// The database: an expression such as `now()`.
    ByDefault,
    /// The database, always: a generated or an identity column.
    Always,
}

/// A default that is written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    /// The digits, as the database has them.
    Number(String),
    Boolean(bool),
}

/// The type of a column, as far as a tool has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    /// An integer that JSON's readers do not tell from its neighbours: a text in inputs and
    /// results.
    BigInt,
    Float,
    /// A decimal with more digits than a float has: a text.
    Decimal,
    Boolean,
    Text,
    Date,
    DateTime,
    Uuid,
    Json,
    /// A list of values of a type of PostgreSQL that a cast can name: `text[]`.
    Array(&'static str),
    /// A list of values of any other type.
    OtherArray,
    /// Anything: the column has values of several types.
    Any,
    /// A type that is written as a text.
    Other,
    /// Bytes, and what only indexes use.
    Binary,
}

impl Table {
    /// The name as the user of the command would write it.
    pub(super) fn shown(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Leaves out the columns whose names no file of an app can have. A key with such a column is
    /// none, and a row that needs its value cannot be created.
    pub(super) fn leave_out_names_that_cannot_be_written(&mut self) {
        let stays: Vec<bool> = self.columns.iter().map(|column| can_be_written(&column.name)).collect();
        if stays.iter().all(|stays| *stays) {
            return;
        }
        let moved = |at: usize| stays.get(at).copied().unwrap_or(false).then(|| stays.iter().take(at).filter(|stays| **stays).count());
        self.key = self.key.iter().map(|at| moved(*at)).collect::<Option<_>>().unwrap_or_default();
        self.references.retain_mut(|reference| moved(reference.column).map(|at| reference.column = at).is_some());
        let (kept, left): (Vec<Column>, Vec<Column>) =
            std::mem::take(&mut self.columns).into_iter().partition(|column| can_be_written(&column.name));
        self.is_writable &= !left.iter().any(Column::must_be_given);
        self.columns = kept;
        self.unnamed = left.into_iter().map(|column| column.name).collect();
    }
}

impl Column {
    /// Whether a row cannot be created without a value of it.
    pub(super) fn must_be_given(&self) -> bool {
        !self.nullable && self.filled == Filled::ByNothing
    }
}

/// Reads a default. Only what is a literal is one; anything else stays the database's.
pub(super) fn filled_by(expression: &str, kind: Kind) -> Filled {
    let mut text = expression.trim();
    // PostgreSQL writes `'open'::order_status`, SQLite keeps the parentheses of `DEFAULT (1)`.
    while let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).filter(|inner| !inner.contains(['(', ')'])) {
        text = inner.trim();
    }
    let (literal, cast) = match quoted(text) {
        Some((literal, rest)) => (Some(literal), rest.trim()),
        None => {
            let (number, cast) = text.split_once("::").unwrap_or((text, ""));
            text = number.trim();
            (None, cast)
        }
    };
    if !cast.trim_start_matches("::").chars().all(|c| c.is_alphanumeric() || " _.\"".contains(c)) {
        return Filled::ByDefault;
    }
    if text.eq_ignore_ascii_case("null") {
        return Filled::ByNothing;
    }
    let word = literal.as_deref().unwrap_or(text);
    let is_number = |text: &str| {
        text.parse::<f64>().is_ok_and(f64::is_finite) && text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte))
    };
    let is_int = |text: &str| text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() < 1 << 53) && !text.starts_with('+');
    match kind {
        Kind::Int if is_int(word) => Filled::ByLiteral(Literal::Number(word.to_owned())),
        // JSON has no numbers such as `.5` and `1.`.
        Kind::Float if is_number(word) && serde_json::from_str::<serde_json::Number>(word).is_ok() => {
            Filled::ByLiteral(Literal::Number(word.to_owned()))
        }
        Kind::Boolean if ["1", "true", "t"].iter().any(|known| word.eq_ignore_ascii_case(known)) => {
            Filled::ByLiteral(Literal::Boolean(true))
        }
        Kind::Boolean if ["0", "false", "f"].iter().any(|known| word.eq_ignore_ascii_case(known)) => {
            Filled::ByLiteral(Literal::Boolean(false))
        }
        Kind::Text => literal.map_or(Filled::ByDefault, |literal| Filled::ByLiteral(Literal::Text(literal))),
        _ => Filled::ByDefault,
    }
}

/// The text of a literal in single quotes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut literal = String::new();
    loop {
        let (before, after) = rest.split_once('\'')?;
        literal += before;
        match after.strip_prefix('\'') {
            Some(after) => {
                literal.push('\'');
                rest = after;
            }
            None => return Some((literal, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literals_are_defaults_of_inputs() {
        let text = |text: &str| Filled::ByLiteral(Literal::Text(text.into()));
        let number = |text: &str| Filled::ByLiteral(Literal::Number(text.into()));
        for (expression, kind, expected) in [
            ("'open'", Kind::Text, text("open")),
            ("'it''s'::text", Kind::Text, text("it's")),
            ("'open'::order_status", Kind::Text, text("open")),
            ("'a' || 'b'", Kind::Text, Filled::ByDefault),
            ("'a'::text || now()", Kind::Text, Filled::ByDefault),
            ("0", Kind::Int, number("0")),
            ("(7)", Kind::Int, number("7")),
            ("'-5'::integer", Kind::Int, number("-5")),
            ("99999999999999999", Kind::Int, Filled::ByDefault),
            ("1.50", Kind::Float, number("1.50")),
            (".5", Kind::Float, Filled::ByDefault),
            ("0.0::double precision", Kind::Float, number("0.0")),
            ("true", Kind::Boolean, Filled::ByLiteral(Literal::Boolean(true))),
            ("0", Kind::Boolean, Filled::ByLiteral(Literal::Boolean(false))),
            ("NULL::text", Kind::Text, Filled::ByNothing),
            ("NULL", Kind::Int, Filled::ByNothing),
            ("now()", Kind::DateTime, Filled::ByDefault),
            ("CURRENT_TIMESTAMP", Kind::Text, Filled::ByDefault),
            ("nextval('x_id_seq'::regclass)", Kind::Int, Filled::ByDefault),
            ("abs(1)", Kind::Int, Filled::ByDefault),
            ("'open", Kind::Text, Filled::ByDefault),
        ] {
            assert_eq!(filled_by(expression, kind), expected, "{expression}");
        }
    }
}
