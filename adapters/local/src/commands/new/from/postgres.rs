//! The schema of a PostgreSQL database, from its catalogue.

use std::collections::BTreeMap;

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
const TABLES: &str = "SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, obj_description(c.oid, 'pg_class'), pg_table_is_visible(c.oid) \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
    AND n.nspname NOT LIKE 'pg!_%' ESCAPE '!' AND c.relname <> 'millrace_calls' \
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') \
    ORDER BY NOT pg_table_is_visible(c.oid), n.nspname, c.relname";
/// A domain counts as the type that it is made of.
const COLUMNS: &str = "SELECT a.attnum::int, a.attname::text, col_description(a.attrelid, a.attnum::int), b.typname::text, b.typtype::text, b.typcategory::text, \
    bn.nspname = 'pg_catalog', CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, a.attnotnull OR t.typnotnull, a.attidentity::text, \
    a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid), b.oid::bigint, e.typname::text, \
    (SELECT string_agg(l.enumlabel, chr(31) ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid = b.oid) \
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
    JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END \
    JOIN pg_catalog.pg_namespace bn ON bn.oid = b.typnamespace \
    LEFT JOIN pg_catalog.pg_type e ON e.oid = b.typelem AND b.typcategory = 'A' AND e.typnamespace = bn.oid \
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";
const KEY: &str = "SELECT k.attnum::int FROM pg_catalog.pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place) \
    WHERE i.indrelid = $1::bigint::oid AND i.indisprimary ORDER BY k.place";
const REFERENCES: &str = "SELECT f.conkey[1]::int, n.nspname::text, c.relname::text, pg_table_is_visible(c.oid) \
    FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
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
        Some((Table { schema, name: row.text(2)?, comment: row.text(4), is_writable, ..Table::default() }, row.int(0)?))
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
    for row in reader.rows(COLUMNS, &[&oid]).await? {
        let (Some(number), Some(name)) = (row.int(0), row.text(1)) else { continue };
        places.insert(number, table.columns.len());
        table.columns.push(column(&row, name));
    }
    let place = |row: &Row| places.get(&row.int(0)?).copied();
    let key = reader.rows(KEY, &[&oid]).await?;
    table.key = key.iter().map(place).collect::<Option<Vec<usize>>>().unwrap_or_default();
    let references = reader.rows(REFERENCES, &[&oid]).await?;
    let reference = |row: &Row| {
        let schema = if row.is(3) { None } else { row.text(1) };
        Some(Reference { column: place(row)?, schema, table: row.text(2)? })
    };
    table.references = references.iter().filter_map(reference).collect();
    table.leave_out_names_that_cannot_be_written();
    sample(reader, table).await;
    Ok(())
}

fn column(row: &Row, name: String) -> Column {
    let is_built_in = row.is(6);
    let modifier = row.int(7).filter(|modifier| *modifier >= 4).map(|modifier| modifier - 4);
    let type_name = row.text(3).unwrap_or_default();
    let labels = row.text(14);
    let kind = match row.text(4).as_deref() {
        Some("e") => Kind::Text,
        // Extensions have texts of their own: `citext`.
        _ if is_built_in || type_name == "citext" => kind(&type_name, row.text(5).as_deref(), row.text(13).as_deref(), modifier),
        _ if row.text(5).as_deref() == Some("A") => Kind::OtherArray,
        _ => Kind::Other,
    };
    let filled = match (row.text(9).as_deref(), row.text(10).as_deref(), row.text(11)) {
        (Some("a" | "d"), ..) | (_, Some("s" | "v"), _) => Filled::Always,
        (.., Some(expression)) if expression.starts_with("nextval(") => Filled::Always,
        (.., Some(expression)) => filled_by(&expression, kind),
        (.., None) => Filled::ByNothing,
    };
    let is_text = ["varchar", "bpchar"].contains(&type_name.as_str());
    Column {
        name,
        comment: row.text(2),
        kind,
        nullable: !row.is(8),
        values: labels.map(|labels| labels.split('\u{1f}').map(str::to_owned).collect()).unwrap_or_default(),
        max_length: modifier.filter(|_| is_text).and_then(|length| u32::try_from(length).ok()),
        filled,
    }
}

/// The kind of a built-in type, by its name and category; for an array, that of its elements.
fn kind(name: &str, category: Option<&str>, element: Option<&str>, modifier: Option<i64>) -> Kind {
    match name {
        "int2" | "int4" | "int8" => Kind::Int,
        "float4" | "float8" => Kind::Float,
        // A float has fifteen digits for certain.
        "numeric" if modifier.is_some_and(|modifier| (modifier >> 16) & 0xffff <= 15) => Kind::Float,
        "numeric" => Kind::Decimal,
        "bool" => Kind::Boolean,
        "text" | "varchar" | "bpchar" | "citext" | "name" => Kind::Text,
        "date" => Kind::Date,
        // A time without a zone is a text: no format of JSON Schema has it.
        "timestamptz" => Kind::DateTime,
        "uuid" => Kind::Uuid,
        "json" | "jsonb" => Kind::Json,
        "bytea" | "tsvector" | "tsquery" => Kind::Binary,
        _ if category == Some("A") => match element {
            Some("text" | "varchar" | "bpchar") => Kind::Array("text[]"),
            Some("int2" | "int4") => Kind::Array("integer[]"),
            Some("bool") => Kind::Array("boolean[]"),
            Some("uuid") => Kind::Array("uuid[]"),
            Some("date") => Kind::Array("date[]"),
            _ => Kind::OtherArray,
        },
        _ => Kind::Other,
    }
}

/// Looks for integers in the first rows that readers of JSON do not tell from their neighbours.
async fn sample(reader: &Reader, table: &mut Table) {
    const MOST: i64 = (1 << 53) - 1;
    let places: Vec<usize> =
        (0..table.columns.len()).filter(|at| table.columns.get(*at).is_some_and(|column| column.kind == Kind::Int)).collect();
    let cells: Vec<String> = places
        .iter()
        .filter_map(|at| {
            Some(format!("coalesce(bool_or({} NOT BETWEEN -{MOST} AND {MOST}), false)", FACTS.quoted(&table.columns.get(*at)?.name)))
        })
        .collect();
    if cells.is_empty() {
        return;
    }
    let schema = table.schema.as_ref().map(|schema| format!("{}.", FACTS.quoted(schema))).unwrap_or_default();
    let text = format!("SELECT {} FROM (SELECT * FROM {schema}{} LIMIT {SAMPLE}) AS sample", cells.join(", "), FACTS.quoted(&table.name));
    // A table that cannot be read now has the types that it declares.
    let Ok(rows) = reader.rows(&text, &[]).await else { return };
    for (cell, at) in places.into_iter().enumerate() {
        if rows.first().is_some_and(|row| row.is(cell))
            && let Some(column) = table.columns.get_mut(at)
        {
            column.kind = Kind::BigInt;
        }
    }
}
