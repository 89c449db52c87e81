//! The schema of a SQLite or libSQL database.
//!
//! A type of SQLite is a wish: a column may have values of any type. What a tool promises of a
//! result is therefore checked on the first rows.

use std::collections::{BTreeMap, BTreeSet};

use millrace_languages::sqlite::FACTS;

use super::{
    reader::Reader,
    schema::{Column, Filled, Kind, Reference, Table, filled_by},
};
use crate::output::CommandResult;

mod checks;

/// How many rows of a table are looked at.
const SAMPLE: usize = 1000;
const TABLES: &str = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') \
                      AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE '!_cf!_%' ESCAPE '!' AND name NOT LIKE '!_litestream%' ESCAPE '!' \
                      AND name NOT IN ('millrace_calls', 'd1_migrations', 'libsql_wasm_func_table') ORDER BY name";
/// A date, by which its texts can be compared and cut.
const DAY: &str = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
const COLUMNS: &str = "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid";
const REFERENCES: &str = "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
const DEFINITION: &str = "SELECT sql FROM sqlite_schema WHERE name = ?1 AND type = 'table'";

/// The names of all tables and views.
///
/// # Errors
/// The database does not answer.
pub(super) async fn names(reader: &Reader) -> CommandResult<Vec<Table>> {
    let rows = reader.rows(TABLES, &[]).await?;
    let table = |name: String, kind: Option<String>| {
        let rank = if kind.as_deref() == Some("view") { 2 } else { 0 };
        Table { name, is_writable: kind.as_deref() == Some("table"), rank, ..Table::default() }
    };
    Ok(rows.iter().filter_map(|row| Some(table(row.text(0)?, row.text(1)))).collect())
}

/// Reads the columns of a table.
///
/// # Errors
/// The database does not answer: for a view, what it is made of may be gone.
pub(super) async fn fill(reader: &Reader, table: &mut Table) -> CommandResult {
    let definition = reader.rows(DEFINITION, &[&table.name]).await?.first().and_then(|row| row.text(0)).unwrap_or_default();
    let mut allowed = checks::allowed_values(&definition);
    let (mut keys, mut defaults, mut is_numbered) = (BTreeMap::new(), BTreeMap::new(), false);
    for row in reader.rows(COLUMNS, &[&table.name]).await? {
        let Some(name) = row.text(0) else { continue };
        let (declared, hidden) = (row.text(1).unwrap_or_default(), row.int(5).unwrap_or(0));
        // What a virtual table hides is not for reading; 2 and 3 are generated columns.
        if hidden == 1 {
            continue;
        }
        if let Some(place) = row.int(4).filter(|place| *place > 0) {
            keys.insert(place, table.columns.len());
            is_numbered = declared.eq_ignore_ascii_case("integer");
        }
        let kind = declared_kind(&declared);
        let filled = match row.text(3) {
            _ if hidden > 1 => Filled::Always,
            Some(expression) => {
                let filled = filled_by(&expression, kind);
                defaults.insert(name.clone(), expression);
                filled
            }
            None => Filled::ByNothing,
        };
        let nullable = !row.is(2) && !keys.values().any(|at| *at == table.columns.len());
        let values = allowed.remove(&name.to_lowercase()).unwrap_or_default();
        table.columns.push(Column { name, comment: None, kind, nullable, values, max_length: None, filled });
    }
    table.key = keys.into_values().collect();
    // `INTEGER PRIMARY KEY` numbers rows by itself, and `INT PRIMARY KEY` does not.
    if let [only] = table.key.as_slice()
        && let Some(column) = table.columns.get_mut(*only)
        && is_numbered
        && table.is_writable
        && column.filled == Filled::ByNothing
    {
        column.filled = Filled::Always;
    }
    let mut references: BTreeMap<i64, Vec<Reference>> = BTreeMap::new();
    for row in reader.rows(REFERENCES, &[&table.name]).await? {
        let (Some(id), Some(other), Some(from)) = (row.int(0), row.text(1), row.text(2)) else { continue };
        let Some(column) = table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(&from)) else { continue };
        references.entry(id).or_default().push(Reference { column, schema: None, table: other, to: row.text(3) });
    }
    // A key of several columns is not one value of a tool.
    table.references = references.into_values().filter(|columns| columns.len() == 1).flatten().collect();
    table.leave_out_names_that_cannot_be_written();
    sample(reader, table).await;
    // A default is one of the type that the values have.
    for column in &mut table.columns {
        if let Some(expression) = defaults.get(&column.name) {
            column.filled = filled_by(expression, column.kind);
        }
    }
    Ok(())
}

/// Compares the declared types with the values of the first rows. Where they cannot be read,
/// anything may be there.
async fn sample(reader: &Reader, table: &mut Table) {
    const MOST: i64 = (1 << 53) - 1;
    let cells = table.columns.iter().map(|column| {
        let name = FACTS.quoted(&column.name);
        match column.kind {
            Kind::Boolean => format!("CASE WHEN {name} IN (0, 1) THEN 'truth' ELSE typeof({name}) END"),
            _ => format!(
                "CASE WHEN typeof({name}) = 'integer' AND {name} NOT BETWEEN -{MOST} AND {MOST} THEN 'big' \
                 WHEN typeof({name}) = 'text' AND {name} GLOB '{DAY}' THEN 'day' \
                 WHEN typeof({name}) = 'text' AND {name} GLOB '{DAY}[ T][0-9][0-9]:*' THEN 'moment' ELSE typeof({name}) END"
            ),
        }
    });
    let cells = cells.collect::<Vec<_>>().join(", ");
    let text = format!("SELECT DISTINCT {cells} FROM (SELECT * FROM {} LIMIT {SAMPLE})", FACTS.quoted(&table.name));
    let mut found: Vec<BTreeSet<String>> = vec![BTreeSet::new(); table.columns.len()];
    match reader.rows(&text, &[]).await {
        Ok(rows) => {
            for (set, cell) in rows.iter().flat_map(|row| found_in(row, table.columns.len())) {
                if let Some(set) = found.get_mut(set) {
                    set.insert(cell);
                }
            }
        }
        Err(_) => found.iter_mut().for_each(|set| set.extend(["text".to_owned(), "integer".to_owned()])),
    }
    for (column, types) in table.columns.iter_mut().zip(found) {
        column.kind = fitting(column.kind, &types);
        if column.kind != Kind::Text {
            column.values = Vec::new();
        }
        column.nullable |= types.contains("null");
    }
}

fn found_in(row: &super::reader::Row, columns: usize) -> Vec<(usize, String)> {
    row.texts().take(columns).enumerate().filter_map(|(at, cell)| Some((at, cell?))).collect()
}

/// The declared kind where all values are of it, and otherwise what they are.
fn fitting(kind: Kind, types: &BTreeSet<String>) -> Kind {
    let only = |allowed: &[&str]| types.iter().all(|found| found == "null" || allowed.contains(&found.as_str()));
    let (is_text, is_time) = (only(&["text", "day", "moment"]), only(&["day", "moment"]));
    let has_values = types.iter().any(|found| found != "null");
    match kind {
        _ if has_values && only(&["blob"]) => Kind::Binary,
        Kind::Int if only(&["integer"]) => Kind::Int,
        Kind::Int if only(&["integer", "big"]) => Kind::BigInt,
        Kind::Float if only(&["integer", "real"]) => Kind::Float,
        Kind::Boolean if only(&["truth"]) => Kind::Boolean,
        // Many have no other type for dates.
        Kind::Text | Kind::Any if has_values && is_time => Kind::LocalTime,
        Kind::Text | Kind::Uuid if is_text => kind,
        // A document that is a number is one to SQLite, too.
        Kind::Json if only(&["text", "day", "moment", "integer", "real"]) => kind,
        Kind::Date if only(&["day"]) => kind,
        Kind::Date | Kind::DateTime if is_time => Kind::LocalTime,
        Kind::Date | Kind::DateTime if is_text => Kind::Text,
        Kind::Binary if only(&["blob"]) => Kind::Binary,
        // Dates as numbers, and the columns of views, which have no types.
        Kind::Any | Kind::Date | Kind::DateTime if types.contains("integer") && only(&["integer"]) => Kind::Int,
        Kind::Any | Kind::Date | Kind::DateTime if types.contains("real") && only(&["integer", "real"]) => Kind::Float,
        Kind::Any if has_values && is_text => Kind::Text,
        _ => Kind::Any,
    }
}

/// What a declared type means, by SQLite's own rules and the names that people use. SQLite does not
/// enforce a number of characters.
fn declared_kind(declared: &str) -> Kind {
    let name = declared.to_ascii_uppercase();
    let word = name.split('(').next().unwrap_or_default().trim();
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    match word {
        "" => Kind::Any,
        "DATE" => Kind::Date,
        "DATETIME" => Kind::DateTime,
        "JSON" | "JSONB" => Kind::Json,
        "UUID" | "GUID" => Kind::Uuid,
        _ if has(&["TIMESTAMP"]) => Kind::DateTime,
        _ if has(&["BOOL"]) => Kind::Boolean,
        _ if has(&["INT"]) => Kind::Int,
        _ if has(&["CHAR", "CLOB", "TEXT", "STRING"]) => Kind::Text,
        _ if has(&["BLOB"]) => Kind::Binary,
        _ if has(&["REAL", "FLOA", "DOUB", "DEC", "NUMERIC", "MONEY"]) => Kind::Float,
        _ => Kind::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_are_known_and_values_decide() {
        for (declared, expected) in [
            ("INTEGER", Kind::Int),
            ("bigint unsigned", Kind::Int),
            ("VARCHAR(40)", Kind::Text),
            ("NUMERIC(10, 2)", Kind::Float),
            ("timestamp with time zone", Kind::DateTime),
            ("tinyint(1)", Kind::Int),
            ("BOOLEAN", Kind::Boolean),
            ("blob", Kind::Binary),
            ("POINT", Kind::Int),
            ("GEOMETRY", Kind::Any),
        ] {
            assert_eq!(declared_kind(declared), expected, "{declared}");
        }
        let types = |types: &[&str]| types.iter().map(|name| (*name).to_owned()).collect();
        for (kind, found, expected) in [
            (Kind::Int, &["integer", "null"][..], Kind::Int),
            (Kind::Int, &["integer", "text"], Kind::Any),
            (Kind::Int, &["big"], Kind::BigInt),
            (Kind::Date, &["integer"], Kind::Int),
            (Kind::Date, &[], Kind::Date),
            (Kind::Date, &["text", "integer"], Kind::Any),
            (Kind::Date, &["day", "null"], Kind::Date),
            (Kind::Date, &["day", "moment"], Kind::LocalTime),
            (Kind::Date, &["day", "text"], Kind::Text),
            (Kind::Text, &["day"], Kind::LocalTime),
            (Kind::Text, &["day", "text"], Kind::Text),
            (Kind::Text, &[], Kind::Text),
            (Kind::Text, &["blob"], Kind::Binary),
            (Kind::Boolean, &["integer"], Kind::Any),
            (Kind::Any, &["null"], Kind::Any),
            (Kind::Any, &["real", "integer"], Kind::Float),
            (Kind::Binary, &["text"], Kind::Any),
        ] {
            assert_eq!(fitting(kind, &types(found)), expected, "{kind:?} {found:?}");
        }
    }
}
