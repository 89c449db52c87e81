//! What a database says of its tables, whichever database it is.

use super::names::can_be_written;

/// A table, and the number by which PostgreSQL's catalogue knows it.
pub(super) type NumberedTable = (Table, i64);

/// A schema, as far as tools are made from it.
pub(super) struct Found {
    pub(super) tables: Vec<Table>,
    /// The tables and views that nobody chose.
    pub(super) others: Vec<String>,
    /// Whether the command chose, and not whoever runs it.
    pub(super) is_choice: bool,
    /// Those that could not be read, and why.
    pub(super) unreadable: Vec<(String, String)>,
}

/// A table or a view.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The schema, where a statement has to name it.
    pub(super) schema: Option<String>,
    pub(super) name: String,
    pub(super) comment: Option<String>,
    /// Whether rows can be created and updated: a table, and not a view.
    pub(super) is_writable: bool,
    /// How far behind it is chosen: 0 for a table, 1 for one that inherits from another, 2 for a
    /// view, 3 for what belongs to an extension.
    pub(super) rank: i64,
    pub(super) columns: Vec<Column>,
    /// The places of the primary key's columns in `columns`, in the order of the key.
    pub(super) key: Vec<usize>,
    pub(super) references: Vec<Reference>,
    /// Columns that are left out because of their names.
    pub(super) unnamed: Vec<String>,
    /// Columns that whoever runs the command leaves out.
    pub(super) hidden: Vec<Column>,
}

/// A foreign key of one column.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The place of the column.
    pub(super) column: usize,
    /// The table that it refers to.
    pub(super) schema: Option<String>,
    pub(super) table: String,
    /// The column there; `None` for its key.
    pub(super) to: Option<String>,
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
    /// A literal that no input has as its default, in the database's own words.
    BySql(String),
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
    /// A number that names something, such as an `oid`, and is never summed up.
    Id,
    Float,
    /// A decimal with more digits than a float has: a text.
    Decimal,
    Boolean,
    Text,
    Date,
    DateTime,
    /// A date with a time of no zone: a text, because no format of JSON Schema has it.
    LocalTime,
    Uuid,
    Json,
    /// A list, and the type of its elements as inputs.
    List(&'static str),
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
        let left = self.leave_out(|column| !can_be_written(&column.name));
        self.is_writable &= !left.iter().any(Column::must_be_given);
        self.unnamed = left.into_iter().map(|column| column.name).collect();
    }

    /// Leaves out the columns that one of these names means, `COLUMN` or `TABLE.COLUMN`, and tells
    /// which names mean any.
    pub(super) fn hide(&mut self, names: &[String]) -> Vec<String> {
        let own = [self.shown(), self.name.clone()];
        let means = |name: &str, column: &Column| {
            let is_of_table = own.iter().any(|table| name.eq_ignore_ascii_case(&format!("{table}.{}", column.name)));
            is_of_table || name.eq_ignore_ascii_case(&column.name)
        };
        let known = names.iter().filter(|name| self.columns.iter().any(|column| means(name, column))).cloned().collect();
        self.hidden = self.leave_out(|column| names.iter().any(|name| means(name, column)));
        known
    }

    /// Takes columns away. A key with such a column is none.
    fn leave_out(&mut self, is_left_out: impl Fn(&Column) -> bool) -> Vec<Column> {
        let stays: Vec<bool> = self.columns.iter().map(|column| !is_left_out(column)).collect();
        let moved = |at: usize| stays.get(at).copied().unwrap_or(false).then(|| stays.iter().take(at).filter(|stays| **stays).count());
        self.key = self.key.iter().map(|at| moved(*at)).collect::<Option<_>>().unwrap_or_default();
        self.references.retain_mut(|reference| moved(reference.column).map(|at| reference.column = at).is_some());
        let (left, kept) = std::mem::take(&mut self.columns).into_iter().partition(is_left_out);
        self.columns = kept;
        left
    }
}

impl Kind {
    /// Whether it is a date, with or without a time.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::DateTime | Self::LocalTime)
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
    let whole = expression.trim();
    let (text, cast) = without_cast(whole);
    let literal = quoted(text).filter(|(_, rest)| rest.is_empty()).map(|(literal, _)| literal);
    if !is_cast(cast) || literal.is_none() && text.contains('\'') && !text.starts_with("ARRAY[") {
        return Filled::ByDefault;
    }
    if text.eq_ignore_ascii_case("null") {
        return Filled::ByNothing;
    }
    let word = literal.as_deref().unwrap_or(text);
    let is = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let by = |literal| Filled::ByLiteral(literal);
    let is_number =
        word.parse::<f64>().is_ok_and(f64::is_finite) && word.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    // JSON has no numbers such as `.5` and `1.`.
    let is_json_number = is_number && serde_json::from_str::<serde_json::Number>(word).is_ok();
    match kind {
        Kind::Int if word.parse::<i64>().is_ok_and(|number| number.unsigned_abs() < 1 << 53) && !word.starts_with('+') => {
            by(Literal::Number(word.to_owned()))
        }
        Kind::Float if is_json_number => by(Literal::Number(word.to_owned())),
        Kind::Decimal if is_json_number => by(Literal::Text(word.to_owned())),
        Kind::Boolean if is(&["1", "true", "t"]) => by(Literal::Boolean(true)),
        Kind::Boolean if is(&["0", "false", "f"]) => by(Literal::Boolean(false)),
        Kind::Text | Kind::Other | Kind::LocalTime => literal.map_or_else(|| sql(whole, text), |literal| by(Literal::Text(literal))),
        Kind::Date if literal.as_deref().is_some_and(is_date) => by(Literal::Text(word.to_owned())),
        _ if literal.is_some() || is_number => Filled::BySql(whole.to_owned()),
        _ => sql(whole, text),
    }
}

/// A list of literals in the database's own words, and nothing else.
fn sql(whole: &str, text: &str) -> Filled {
    let is_list = text.starts_with("ARRAY[") && text.ends_with(']') && !text.contains('(');
    if is_list { Filled::BySql(whole.to_owned()) } else { Filled::ByDefault }
}

fn is_date(text: &str) -> bool {
    let digits = |at: std::ops::Range<usize>| text.get(at).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    text.len() == 10 && digits(0..4) && digits(5..7) && digits(8..10) && text.get(4..5) == Some("-") && text.get(7..8) == Some("-")
}

/// An expression without the parentheses around it and without its casts, and these: PostgreSQL
/// writes `'open'::order_status` and `(0)::numeric(10,2)`, SQLite keeps the parentheses of
/// `DEFAULT (1)`.
fn without_cast(expression: &str) -> (&str, &str) {
    let mut text = expression.trim();
    let after_literal = quoted(text).map(|(_, rest)| rest.len());
    let (before, cast) = match after_literal {
        Some(rest) => text.split_at(text.len() - rest),
        None if text.starts_with("ARRAY[") => text.rfind(']').map_or((text, ""), |at| text.split_at(at + 1)),
        None => text.find("::").map_or((text, ""), |at| text.split_at(at)),
    };
    text = before.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).filter(|inner| !inner.contains(['(', ')'])) {
        text = inner.trim();
    }
    (text, cast.trim())
}

/// Whether this is a cast, several of them, or nothing.
fn is_cast(text: &str) -> bool {
    text.is_empty() || text.starts_with("::") && text.chars().all(|c| c.is_alphanumeric() || " _.\",()[]:".contains(c))
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
            ("99999999999999999", Kind::Int, Filled::BySql("99999999999999999".into())),
            ("1.50", Kind::Float, number("1.50")),
            (".5", Kind::Float, Filled::BySql(".5".into())),
            ("(0)::numeric(10,2)", Kind::Float, number("0")),
            ("0.00", Kind::Decimal, text("0.00")),
            ("'0.00'::numeric", Kind::Decimal, text("0.00")),
            ("'2024-01-01'::date", Kind::Date, text("2024-01-01")),
            ("'infinity'::date", Kind::Date, Filled::BySql("'infinity'::date".into())),
            ("'{}'::text[]", Kind::List("string"), Filled::BySql("'{}'::text[]".into())),
            ("ARRAY['a'::text, 'b'::text]", Kind::List("string"), Filled::BySql("ARRAY['a'::text, 'b'::text]".into())),
            ("ARRAY[]::text[]", Kind::List("string"), Filled::BySql("ARRAY[]::text[]".into())),
            ("ARRAY[lower('A'::text)]", Kind::List("string"), Filled::ByDefault),
            ("'{}'::jsonb", Kind::Json, Filled::BySql("'{}'::jsonb".into())),
            ("('{}'::text)::jsonb", Kind::Json, Filled::ByDefault),
            ("'1 day'::interval", Kind::Other, text("1 day")),
            ("'2024-01-01 00:00:00'::timestamp without time zone", Kind::LocalTime, text("2024-01-01 00:00:00")),
            ("CURRENT_DATE", Kind::Date, Filled::ByDefault),
            ("random()", Kind::Float, Filled::ByDefault),
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
