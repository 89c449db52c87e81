//! The schema of a PostgreSQL database, from its catalogue.

use std::collections::BTreeMap;

use millrace_core::ports::{Column as Described, ColumnKind};
use millrace_languages::postgres::FACTS;

use super::{
    reader::{Reader, Row},
    schema::{Column, Filled, Kind, Reference, Table, filled_by},
};
use crate::output::CommandResult;

/// How many rows of a table are looked at.
const SAMPLE: usize = 1000;
/// Tables and views that the user may read, without those of the system and without parts of
/// others.
const TABLES: &str = "SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, obj_description(c.oid, 'pg_class'), pg_table_is_visible(c.oid), \
    CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') THEN 3 \
    WHEN c.relkind IN ('v', 'm') THEN 2 WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid) THEN 1 ELSE 0 END \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
    AND n.nspname NOT LIKE 'pg!_%' ESCAPE '!' AND c.relname <> 'millrace_calls' \
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') \
    ORDER BY NOT pg_table_is_visible(c.oid), n.nspname, c.relname";
/// What the connector does not say of columns. A domain counts as the type that it is made of.
const COLUMNS: &str = "SELECT a.attnum::int, a.attname::text, col_description(a.attrelid, a.attnum::int), \
    CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, a.attnotnull OR t.typnotnull, a.attidentity::text, \
    a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid), a.attndims > 1, \
    (SELECT string_agg(l.enumlabel, chr(31) ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid IN (b.oid, b.typelem)) \
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
    JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END \
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";
const KEY: &str = "SELECT k.attnum::int FROM pg_catalog.pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place) \
    WHERE i.indrelid = $1::bigint::oid AND i.indisprimary ORDER BY k.place";
const REFERENCES: &str = "SELECT f.conkey[1]::int, n.nspname::text, c.relname::text, pg_table_is_visible(c.oid), a.attname::text \
    FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = f.confkey[1] JOIN pg_catalog.pg_class c ON c.oid = f.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE f.conrelid = $1::bigint::oid AND f.contype = 'f' AND cardinality(f.conkey) = 1 ORDER BY f.conname";

/// The tables and views, and the number by which the catalogue knows each. Those outside of the
/// search path have a schema.
///
/// # Errors
/// The database does not answer.
pub(super) async fn names(reader: &Reader) -> CommandResult<Vec<(Table, i64)>> {
    let rows = reader.rows(TABLES, &[]).await?;
    let table = |row: &Row| {
        let is_writable = row.text(3).is_some_and(|kind| kind == "r" || kind == "p");
        let schema = if row.is(5) { None } else { row.text(1) };
        let rank = row.int(6).unwrap_or_default();
        Some((Table { schema, name: row.text(2)?, comment: row.text(4), is_writable, rank, ..Table::default() }, row.int(0)?))
    };
    Ok(rows.iter().filter_map(table).collect())
}

/// Reads the columns of a table.
///
/// # Errors
/// The database does not answer.
pub(super) async fn fill(reader: &Reader, table: &mut Table, oid: i64) -> CommandResult {
    let oid = oid.to_string();
    let mut places = BTreeMap::new();
    let described = reader.columns(&format!("SELECT * FROM {}", quoted(table))).await?;
    for (row, described) in reader.rows(COLUMNS, &[&oid]).await?.iter().zip(&described) {
        let (Some(number), Some(name)) = (row.int(0), row.text(1)) else { continue };
        places.insert(number, table.columns.len());
        table.columns.push(column(row, name, described));
    }
    let place = |row: &Row| places.get(&row.int(0)?).copied();
    let key = reader.rows(KEY, &[&oid]).await?;
    table.key = key.iter().map(place).collect::<Option<Vec<usize>>>().unwrap_or_default();
    let references = reader.rows(REFERENCES, &[&oid]).await?;
    let reference = |row: &Row| {
        let schema = if row.is(3) { None } else { row.text(1) };
        Some(Reference { column: place(row)?, schema, table: row.text(2)?, to: row.text(4) })
    };
    table.references = references.iter().filter_map(reference).collect();
    table.leave_out_names_that_cannot_be_written();
    sample(reader, table).await;
    Ok(())
}

/// The table, in a statement of the reader's own.
fn quoted(table: &Table) -> String {
    let schema = table.schema.as_ref().map(|schema| format!("{}.", FACTS.quoted(schema))).unwrap_or_default();
    format!("{schema}{}", FACTS.quoted(&table.name))
}

fn column(row: &Row, name: String, described: &Described) -> Column {
    let modifier = row.int(3).filter(|modifier| *modifier >= 4).map(|modifier| modifier - 4);
    let values: Vec<String> = row.text(9).map(|labels| labels.split('\u{1f}').map(str::to_owned).collect()).unwrap_or_default();
    let kind = match kind(described, modifier) {
        Kind::Other if !values.is_empty() => Kind::Text,
        Kind::List(_) if row.is(8) => Kind::List("json"),
        kind => kind,
    };
    let filled = match (row.text(5).as_deref(), row.text(6).as_deref(), row.text(7)) {
        (Some("a" | "d"), ..) | (_, Some("s" | "v"), _) => Filled::Always,
        (.., Some(expression)) if expression.starts_with("nextval(") => Filled::Always,
        (.., Some(expression)) => filled_by(&expression, kind),
        (.., None) => Filled::ByNothing,
    };
    let is_limited = described.type_name.starts_with("character");
    Column {
        name,
        comment: row.text(2),
        kind,
        nullable: !row.is(4),
        values,
        max_length: modifier.filter(|_| is_limited && kind == Kind::Text).and_then(|length| u32::try_from(length).ok()),
        filled,
    }
}

/// What a column is to a tool: what the connector makes of it, and for a text, of which type.
fn kind(described: &Described, modifier: Option<i64>) -> Kind {
    match described.kind {
        ColumnKind::Boolean => Kind::Boolean,
        ColumnKind::Integer | ColumnKind::BigInteger if described.type_name == "oid" => Kind::Id,
        ColumnKind::Integer | ColumnKind::BigInteger => Kind::Int,
        ColumnKind::Float => Kind::Float,
        ColumnKind::Any => Kind::Json,
        ColumnKind::List => match described.type_name.trim_end_matches("[]") {
            "bytea" => Kind::Binary,
            "smallint" | "integer" | "bigint" | "oid" => Kind::List("int"),
            "real" | "double precision" => Kind::List("float"),
            "boolean" => Kind::List("boolean"),
            "uuid" => Kind::List("uuid"),
            "date" => Kind::List("date"),
            "numeric" | "text" | "character varying" | "character" | "name" | "inet" | "interval" => Kind::List("string"),
            name if name.starts_with("timestamp") => Kind::List("string"),
            // A domain may be a number, and all others are texts.
            _ => Kind::List("json"),
        },
        ColumnKind::Text => match described.type_name.as_str() {
            // A float has fifteen digits for certain.
            "numeric" if modifier.is_some_and(|modifier| (modifier >> 16) & 0xffff <= 15) => Kind::Float,
            "numeric" => Kind::Decimal,
            "text" | "character varying" | "character" | "name" => Kind::Text,
            // Extensions have texts of their own.
            name if name.ends_with("citext") => Kind::Text,
            "date" => Kind::Date,
            "timestamp with time zone" => Kind::DateTime,
            "timestamp without time zone" => Kind::LocalTime,
            "uuid" => Kind::Uuid,
            "bytea" | "tsvector" | "tsquery" => Kind::Binary,
            _ => Kind::Other,
        },
    }
}

/// Looks in the first rows for what a type allows and few think of: integers that readers of JSON
/// do not tell from their neighbours, numbers and times that no format has, and lists of lists.
async fn sample(reader: &Reader, table: &mut Table) {
    const MOST: i64 = (1 << 53) - 1;
    let doubt = |column: &Column| {
        let name = FACTS.quoted(&column.name);
        Some(match column.kind {
            Kind::Int => (format!("{name} NOT BETWEEN -{MOST} AND {MOST}"), Kind::BigInt),
            // Those of a float are NULL to a caller.
            Kind::Float | Kind::Decimal => {
                (format!("{name}::text IN ('NaN', 'Infinity', '-Infinity') AND pg_typeof({name}) = 'numeric'::regtype"), Kind::Other)
            }
            Kind::Date | Kind::DateTime | Kind::LocalTime => (format!("{name} NOT BETWEEN '0001-01-01' AND '9999-12-31'"), Kind::Other),
            Kind::List(_) => (format!("array_ndims({name}) > 1"), Kind::List("json")),
            _ => return None,
        })
    };
    let doubts: Vec<_> = table.columns.iter().enumerate().filter_map(|(at, column)| Some((at, doubt(column)?))).collect();
    if doubts.is_empty() {
        return;
    }
    let cells: Vec<String> = doubts.iter().map(|(_, (doubt, _))| format!("coalesce(bool_or({doubt}), false)")).collect();
    let text = format!("SELECT {} FROM (SELECT * FROM {} LIMIT {SAMPLE}) AS sample", cells.join(", "), quoted(table));
    // A table that cannot be read now has the types that it declares.
    let Ok(rows) = reader.rows(&text, &[]).await else { return };
    for (cell, (at, (_, kind))) in doubts.into_iter().enumerate() {
        if rows.first().is_some_and(|row| row.is(cell))
            && let Some(column) = table.columns.get_mut(at)
        {
            column.kind = kind;
        }
    }
}
