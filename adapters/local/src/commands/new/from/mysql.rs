//! The schema of a MySQL or MariaDB database, from its `information_schema`.

use std::collections::BTreeSet;

use millrace_languages::mysql::FACTS;

use super::{
    reader::{Reader, Row},
    schema::{Column, Filled, Kind, Reference, Table, filled_by},
};
use crate::output::CommandResult;

/// How many rows of a table are looked at.
const SAMPLE: usize = 1000;
/// Tables and views of the connection's database. `information_schema` has what the user may read
/// only.
const TABLES: &str = "SELECT TABLE_NAME, TABLE_TYPE = 'VIEW', TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
    AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') AND TABLE_NAME <> 'millrace_calls' ORDER BY TABLE_NAME";
// The names of tables are compared without regard to case there, and a server may have `Orders`
// beside `orders`: each row begins with the name.
const COLUMNS: &str = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE = 'YES', COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT, \
    CHARACTER_MAXIMUM_LENGTH, COALESCE(GENERATION_EXPRESSION, '') <> '' FROM information_schema.COLUMNS \
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION";
const KEY: &str = "SELECT TABLE_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS \
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX";
const REFERENCES: &str = "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND REFERENCED_TABLE_SCHEMA = DATABASE() ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION";
/// MariaDB's `JSON` is a `LONGTEXT` with a check of this form.
const DOCUMENTS: &str = "SELECT TABLE_NAME, CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS \
    WHERE CONSTRAINT_SCHEMA = DATABASE() AND TABLE_NAME = ? AND CHECK_CLAUSE = CONCAT('json_valid(`', CONSTRAINT_NAME, '`)')";

/// The names of all tables and views.
///
/// # Errors
/// The database does not answer.
pub(super) async fn names(reader: &Reader) -> CommandResult<Vec<Table>> {
    let rows = reader.rows(TABLES, &[]).await?;
    let table = |row: &Row| {
        let is_view = row.is(1);
        // The comment of a view is `VIEW`.
        let comment = said(row.text(2)).filter(|_| !is_view);
        Some(Table { name: row.text(0)?, comment, is_writable: !is_view, rank: if is_view { 2 } else { 0 }, ..Table::default() })
    };
    Ok(rows.iter().filter_map(table).collect())
}

/// Reads the columns of a table.
///
/// # Errors
/// The database does not answer.
pub(super) async fn fill(reader: &Reader, table: &mut Table) -> CommandResult {
    let is_mariadb =
        reader.rows("SELECT VERSION()", &[]).await?.first().and_then(|row| row.text(0)).is_some_and(|it| it.contains("MariaDB"));
    let documents: BTreeSet<String> = match is_mariadb {
        true => rows_of(reader, table, DOCUMENTS).await?.iter().filter_map(|row| row.text(1)).collect(),
        false => BTreeSet::new(),
    };
    for row in rows_of(reader, table, COLUMNS).await? {
        if let Some(name) = row.text(1) {
            let is_document = documents.contains(&name);
            table.columns.push(column(&row, name, is_mariadb, is_document));
        }
    }
    let place = |name: Option<String>| table.columns.iter().position(|column| Some(&column.name) == name.as_ref());
    // A key of the first characters of a text does not tell rows apart by what it says.
    let key = rows_of(reader, table, KEY).await?;
    let key = key.iter().map(|row| place(row.text(1)).filter(|_| row.int(2).is_none()));
    let key = key.collect::<Option<Vec<usize>>>().unwrap_or_default();
    let rows = rows_of(reader, table, REFERENCES).await?;
    let mut references = Vec::new();
    for row in &rows {
        // A key of several columns is not one value of a tool.
        let is_alone = rows.iter().filter(|other| other.text(1) == row.text(1)).count() == 1;
        if let (Some(column), Some(other), true) = (place(row.text(2)), row.text(3), is_alone) {
            references.push(Reference { column, schema: None, table: other, to: row.text(4) });
        }
    }
    (table.key, table.references) = (key, references);
    table.leave_out_names_that_cannot_be_written();
    sample(reader, table).await
}

/// The rows that begin with the table's own name.
async fn rows_of(reader: &Reader, table: &Table, question: &str) -> CommandResult<Vec<Row>> {
    let mut rows = reader.rows(question, &[&table.name]).await?;
    rows.retain(|row| row.text(0).as_ref() == Some(&table.name));
    Ok(rows)
}

fn said(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn column(row: &Row, name: String, is_mariadb: bool, is_document: bool) -> Column {
    let column_type = row.text(3).unwrap_or_default();
    let kind = if is_document { Kind::Json } else { kind(&row.text(2).unwrap_or_default().to_ascii_lowercase(), &column_type) };
    let extra = row.text(6).unwrap_or_default().to_ascii_lowercase();
    let filled = match row.text(5) {
        _ if row.is(9) || extra.contains("auto_increment") => Filled::Always,
        Some(expression) => filled(&expression, kind, is_mariadb || extra.contains("default_generated")),
        None => Filled::ByNothing,
    };
    Column {
        name,
        comment: said(row.text(7)),
        kind,
        nullable: row.is(4),
        values: if column_type.starts_with("enum(") { labels(&column_type) } else { Vec::new() },
        // A `TEXT` is limited by bytes, far beyond what a caller sends.
        max_length: row.int(8).and_then(|most| u32::try_from(most).ok()).filter(|most| kind == Kind::Text && *most < 65_535),
        filled,
    }
}

/// What a default fills in. MySQL shows a literal as its bare text, and MariaDB as an expression.
fn filled(default: &str, kind: Kind, is_expression: bool) -> Filled {
    if let Some(bits) = default.strip_prefix("b'").and_then(|rest| rest.strip_suffix('\''))
        && let Ok(number) = u64::from_str_radix(bits, 2)
    {
        return filled_by(&number.to_string(), kind);
    }
    match is_expression {
        // How a server writes a backslash within a literal depends on a mode of the session.
        true if default.contains('\\') => Filled::ByDefault,
        true => filled_by(default, kind),
        false if default.to_ascii_uppercase().starts_with("CURRENT_TIMESTAMP") => Filled::ByDefault,
        false => filled_by(&format!("'{}'", default.replace('\'', "''")), kind),
    }
}

/// The kind of a type, by its name and by how the column declares it.
fn kind(name: &str, declared: &str) -> Kind {
    match name {
        // These are what `BOOLEAN` and most libraries make for a truth value.
        "tinyint" if declared.starts_with("tinyint(1)") => Kind::Boolean,
        "bit" if declared == "bit(1)" => Kind::Boolean,
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" | "bit" => Kind::Int,
        "float" | "double" => Kind::Float,
        "decimal" => Kind::Decimal,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" => Kind::Text,
        "date" => Kind::Date,
        "timestamp" => Kind::DateTime,
        "uuid" => Kind::Uuid,
        "json" => Kind::Json,
        "datetime" => Kind::LocalTime,
        "time" | "set" | "inet4" | "inet6" => Kind::Other,
        // Bytes, places and vectors.
        _ => Kind::Binary,
    }
}

/// The values of `enum('new','it''s')`.
fn labels(declared: &str) -> Vec<String> {
    let list = declared.strip_prefix("enum(").and_then(|list| list.strip_suffix(')')).unwrap_or_default();
    let mut labels = Vec::new();
    let mut rest = list.chars().peekable();
    while rest.next() == Some('\'') {
        let mut label = String::new();
        while let Some(character) = rest.next() {
            if character == '\'' && rest.next_if_eq(&'\'').is_none() {
                break;
            }
            label.push(character);
        }
        labels.push(label);
        // The comma.
        rest.next();
    }
    labels
}

/// Looks in the first rows for what a type allows and few think of: integers that readers of JSON
/// do not tell from their neighbours, a `TINYINT(1)` that is no truth value, and dates such as
/// `0000-00-00`.
///
/// # Errors
/// The table cannot be read: what a view is made of may be gone.
async fn sample(reader: &Reader, table: &mut Table) -> CommandResult {
    const MOST: i64 = (1 << 53) - 1;
    let cells: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let name = FACTS.quoted(&column.name);
            match column.kind {
                Kind::Int => format!("COALESCE(MAX({name} NOT BETWEEN -{MOST} AND {MOST}), 0)"),
                Kind::Boolean => format!("COALESCE(MAX({name} NOT IN (0, 1)), 0)"),
                Kind::Date | Kind::DateTime => {
                    format!("COALESCE(MAX(CAST({name} AS CHAR) LIKE '0000%' OR CAST({name} AS CHAR) LIKE '%-00%'), 0)")
                }
                _ => "0".to_owned(),
            }
        })
        .collect();
    // A view that cannot be read has no columns; why, the server says.
    if cells.is_empty() {
        return reader.columns(&format!("SELECT * FROM {}", FACTS.quoted(&table.name))).await.map(drop);
    }
    let text = format!("SELECT {} FROM (SELECT * FROM {} LIMIT {SAMPLE}) AS sample", cells.join(", "), FACTS.quoted(&table.name));
    let rows = reader.rows(&text, &[]).await?;
    for (at, column) in table.columns.iter_mut().enumerate() {
        if rows.first().is_some_and(|row| row.is(at)) {
            column.kind = match column.kind {
                Kind::Boolean => Kind::Int,
                Kind::Int => Kind::BigInt,
                _ => Kind::Other,
            };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::schema::Literal, *};

    #[test]
    fn labels_are_those_of_the_type() {
        assert_eq!(labels("enum('new','it''s','a,b','')"), ["new", "it's", "a,b", ""]);
        assert!(labels("set('a')").is_empty() && labels("enum(").is_empty());
    }

    #[test]
    fn a_default_is_a_bare_text_or_an_expression() {
        let text = |text: &str| Filled::ByLiteral(Literal::Text(text.into()));
        for (default, kind, is_expression, expected) in [
            ("it's", Kind::Text, false, text("it's")),
            ("NULL", Kind::Text, false, text("NULL")),
            ("5", Kind::Int, false, Filled::ByLiteral(Literal::Number("5".into()))),
            ("0", Kind::Boolean, false, Filled::ByLiteral(Literal::Boolean(false))),
            ("CURRENT_TIMESTAMP", Kind::Other, false, Filled::ByDefault),
            ("b'0'", Kind::Boolean, false, Filled::ByLiteral(Literal::Boolean(false))),
            ("b'101'", Kind::Int, false, Filled::ByLiteral(Literal::Number("5".into()))),
            ("'it''s'", Kind::Text, true, text("it's")),
            ("NULL", Kind::Text, true, Filled::ByNothing),
            ("uuid()", Kind::Text, true, Filled::ByDefault),
            ("'a\\\\b'", Kind::Text, true, Filled::ByDefault),
        ] {
            assert_eq!(filled(default, kind, is_expression), expected, "{default}");
        }
    }

    #[test]
    fn types_have_the_kinds_that_the_driver_gives_them() {
        for (name, declared, expected) in [
            ("tinyint", "tinyint(1)", Kind::Boolean),
            ("tinyint", "tinyint(4)", Kind::Int),
            ("tinyint", "tinyint unsigned", Kind::Int),
            ("bit", "bit(1)", Kind::Boolean),
            ("bit", "bit(8)", Kind::Int),
            ("bigint", "bigint unsigned", Kind::Int),
            ("decimal", "decimal(10,2)", Kind::Decimal),
            ("datetime", "datetime(6)", Kind::LocalTime),
            ("timestamp", "timestamp", Kind::DateTime),
            ("geometry", "geometry", Kind::Binary),
            ("varbinary", "varbinary(16)", Kind::Binary),
        ] {
            assert_eq!(kind(name, declared), expected, "{declared}");
        }
    }
}
