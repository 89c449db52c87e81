//! Plans of SQLite, libSQL and D1: <https://sqlite.org/eqp.html>.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use millrace_core::{
    PlanQuestion,
    value::{Rows, Value},
};

use crate::plan::{Plans, RowsRead, TableAccess};

/// How they are asked. The values do not matter: statistics of single values are not used.
pub(super) const PLANS: Plans = Plans {
    question: PlanQuestion { texts: |text, _| vec![format!("EXPLAIN QUERY PLAN {text}")], sample: |_| Value::Null },
    read,
    // The key of a table is the table itself, and in no list of indexes.
    indexes: "SELECT m.name, i.name, c.name, c.seqno FROM sqlite_master AS m, pragma_index_list(m.name) AS i, pragma_index_info(i.name) AS c \
              WHERE m.type = 'table' AND i.partial = 0 UNION ALL SELECT m.name, 'PRIMARY KEY', c.name, 0 FROM sqlite_master AS m, \
              pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.pk = 1 ORDER BY 1, 2, 4",
    depends_on_rows: false,
};

/// One line of a plan.
struct Line<'a> {
    parent: i64,
    detail: &'a str,
}

fn read(rows: &Rows) -> Option<Vec<TableAccess>> {
    // Of what has no row, D1 names no columns.
    if rows.rows.is_empty() {
        return Some(Vec::new());
    }
    let place = |name: &str| rows.columns.iter().position(|column| column == name);
    let (parent, detail) = (place("parent")?, place("detail")?);
    let line = |row: &'_ Vec<Value>| match (row.get(parent)?, row.get(detail)?) {
        (Value::I64(parent), Value::Text(_)) => Some(*parent),
        _ => None,
    };
    let mut lines = Vec::new();
    for row in &rows.rows {
        let Value::Text(text) = row.get(detail)? else { return None };
        lines.push(Line { parent: line(row)?, detail: text });
    }
    // What a part of the statement returns is read like a table, and is none.
    let parts: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.detail.strip_prefix("CO-ROUTINE ").or_else(|| line.detail.strip_prefix("MATERIALIZE ")))
        .collect();
    Some(lines.iter().enumerate().filter_map(|(place, _)| access(&lines, place, &parts)).collect())
}

fn access(lines: &[Line<'_>], place: usize, parts: &[&str]) -> Option<TableAccess> {
    let Line { parent, detail } = &lines[place];
    let (is_scan, rest) = match (detail.strip_prefix("SCAN "), detail.strip_prefix("SEARCH ")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return None,
    };
    // So did versions before 3.36 say it.
    let rest = rest.strip_prefix("TABLE ").unwrap_or(rest);
    let (name, how) = named(rest);
    if name.starts_with('(') || name.ends_with("CONSTANT ROW") || name.ends_with("CONSTANT ROWS") || parts.contains(&name) {
        return None;
    }
    let rows = match how {
        Some(how) if how.starts_with("VIRTUAL TABLE") => RowsRead::Unknown,
        // It is made of all rows, for this statement alone.
        Some(how) if how.contains("AUTOMATIC ") => RowsRead::All,
        None if !is_scan => RowsRead::FirstOfKey,
        _ if !is_scan => RowsRead::Some,
        _ => {
            let reads = |line: &Line<'_>| line.detail.starts_with("SCAN ") || line.detail.starts_with("SEARCH ");
            let is_inner = lines[..place].iter().any(|line| line.parent == *parent && reads(line));
            let is_collected = lines.iter().any(|line| line.parent == *parent && line.detail.starts_with("USE TEMP B-TREE"));
            if is_inner || is_collected { RowsRead::All } else { RowsRead::UntilLimit }
        }
    };
    Some(TableAccess { name: name.to_owned(), table: None, rows, index: how.and_then(index) })
}

/// The name of a table or its alias, and what stands behind it.
fn named(rest: &str) -> (&str, Option<&str>) {
    let end = |end: &str| rest.find(end);
    let how = [" USING ", " VIRTUAL TABLE "].into_iter().filter_map(end).min().map(|start| rest[start..].trim_start());
    let ends = [" USING ", " VIRTUAL TABLE ", " LEFT-JOIN", " FULL-JOIN", " RIGHT-JOIN", " EXISTS"];
    let name = ends.into_iter().filter_map(end).min().map_or(rest, |end| &rest[..end]);
    (name.rsplit_once(" AS ").map_or(name, |(_, alias)| alias), how)
}

fn index(how: &str) -> Option<String> {
    let rest = how.strip_prefix("USING ")?;
    let rest = rest.strip_prefix("COVERING ").unwrap_or(rest);
    match rest.strip_prefix("INDEX ") {
        Some(name) => Some(name.split(" (").next().unwrap_or(name).to_owned()),
        None if rest.contains("PRIMARY KEY") => Some("PRIMARY KEY".to_owned()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[(i64, &str)]) -> Vec<(String, RowsRead, Option<String>)> {
        let row =
            |(parent, detail): &(i64, &str)| vec![Value::I64(1), Value::I64(*parent), Value::I64(0), Value::Text((*detail).to_owned())];
        let columns = ["id", "parent", "notused", "detail"].map(ToOwned::to_owned).into_iter().collect();
        let rows = Rows { columns, rows: lines.iter().map(row).collect(), ..Rows::default() };
        read(&rows).unwrap().into_iter().map(|access| (access.name, access.rows, access.index)).collect()
    }

    fn one(detail: &str) -> (String, RowsRead, Option<String>) {
        of(&[(0, detail)]).remove(0)
    }

    #[test]
    fn each_form_of_a_line_is_read() {
        use RowsRead::{All, FirstOfKey, Some, Unknown, UntilLimit};
        let index = |name: &str| Option::Some(name.to_owned());
        for (detail, name, rows, used) in [
            ("SCAN orders", "orders", UntilLimit, None),
            ("SCAN a b", "a b", UntilLimit, None),
            ("SCAN TABLE orders AS o", "o", UntilLimit, None),
            ("SCAN orders USING COVERING INDEX by_day", "orders", UntilLimit, index("by_day")),
            ("SCAN o LEFT-JOIN", "o", UntilLimit, None),
            ("SEARCH o USING INDEX by_day (day=? AND n>?) LEFT-JOIN", "o", Some, index("by_day")),
            ("SEARCH o USING INTEGER PRIMARY KEY (rowid=?)", "o", Some, index("PRIMARY KEY")),
            ("SEARCH o USING AUTOMATIC COVERING INDEX (city=?)", "o", All, None),
            ("SEARCH o EXISTS USING COVERING INDEX by_day (day=?)", "o", Some, index("by_day")),
            ("SEARCH orders", "orders", FirstOfKey, None),
            ("SCAN f VIRTUAL TABLE INDEX 0:M1", "f", Unknown, None),
        ] {
            assert_eq!(one(detail), (name.to_owned(), rows, used), "{detail}");
        }
        for detail in ["SCAN 3 CONSTANT ROWS", "SCAN CONSTANT ROW", "SCAN (subquery-1)", "USE TEMP B-TREE FOR ORDER BY", "MULTI-INDEX OR"] {
            assert!(of(&[(0, detail)]).is_empty(), "{detail}");
        }
    }

    #[test]
    fn what_is_around_a_line_counts() {
        let rows = |lines: &[(i64, &str)]| of(lines).into_iter().map(|(name, rows, _)| (name, rows)).collect::<Vec<_>>();
        let (t, x) = ("t".to_owned(), "x".to_owned());
        assert_eq!(rows(&[(0, "SCAN t"), (0, "USE TEMP B-TREE FOR ORDER BY")]), [(t.clone(), RowsRead::All)]);
        assert_eq!(rows(&[(0, "SCAN t"), (0, "SCAN x")]), [(t.clone(), RowsRead::UntilLimit), (x, RowsRead::All)]);
        assert_eq!(rows(&[(0, "CO-ROUTINE x"), (2, "SCAN t"), (0, "SCAN x")]), [(t, RowsRead::UntilLimit)]);
    }
}
