//! Plans of MySQL and MariaDB: <https://dev.mysql.com/doc/refman/8.4/en/explain-output.html>,
//! <https://mariadb.com/kb/en/explain-format-json/>.

use alloc::{borrow::ToOwned, format, vec, vec::Vec};

use millrace_core::{
    Json, PlanQuestion,
    app::InputKind,
    value::{Rows, Value},
};

use crate::plan::{Plans, RowsRead, TableAccess};

/// How they are asked. A value must be one that the column can have: of `NULL`, the server knows
/// that it equals nothing, and a number that a text is compared with rules out an index.
pub(super) const PLANS: Plans = Plans {
    question: PlanQuestion { texts: |text, _| vec![format!("EXPLAIN FORMAT=JSON {text}")], sample },
    read,
    indexes: "SELECT table_name, index_name, column_name, seq_in_index FROM information_schema.statistics \
              WHERE table_schema = DATABASE() ORDER BY 1, 2, 4",
    depends_on_rows: true,
};

fn sample(kind: Option<InputKind>) -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    match kind {
        Some(InputKind::Int) => Value::I64(1),
        Some(InputKind::Float) => Value::F64(1.5),
        Some(InputKind::Boolean) => Value::Bool(true),
        Some(InputKind::Datetime) => text("2026-01-01 00:00:00"),
        Some(InputKind::Date) => text("2026-01-01"),
        Some(InputKind::Uuid) => text("00000000-0000-4000-8000-000000000000"),
        Some(InputKind::Array | InputKind::Object | InputKind::Json) => text("[1]"),
        Some(InputKind::String) | None => text("1"),
    }
}

fn read(rows: &Rows) -> Option<Vec<TableAccess>> {
    let plan: Json = match rows.rows.first()?.first()? {
        Value::Json(plan) => plan.clone(),
        Value::Text(text) => text.parse().ok()?,
        _ => return None,
    };
    let block = plan.get("query_block")?;
    let mut found = Vec::new();
    walk(block, Around::default(), &mut found);
    Some(found)
}

/// What is around a part of a plan, in its query.
#[derive(Clone, Copy, Default)]
struct Around {
    /// It is not the first table of a join.
    is_inner: bool,
    /// Its rows are sorted or grouped before the first one is sent.
    is_collected: bool,
}

fn walk(part: &Json, around: Around, found: &mut Vec<TableAccess>) {
    match part {
        Json::Array(parts) => parts.iter().for_each(|part| walk(part, around, found)),
        Json::Object(members) => {
            let is_used = |name: &str| members.get(name) == Some(&Json::Bool(true));
            let is_collected = around.is_collected || is_used("using_filesort") || is_used("using_temporary_table");
            let around = Around { is_collected, ..around };
            for (name, part) in members {
                match (name.as_str(), part) {
                    ("query_block", _) => walk(part, Around::default(), found),
                    ("nested_loop", Json::Array(parts)) => {
                        for (place, part) in parts.iter().enumerate() {
                            walk(part, Around { is_inner: around.is_inner || place > 0, ..around }, found);
                        }
                    }
                    ("filesort" | "temporary_table", _) => walk(part, Around { is_collected: true, ..around }, found),
                    ("block-nl-join", _) => walk(part, Around { is_inner: true, ..around }, found),
                    ("table", Json::Object(_)) => {
                        found.extend(access(part, around));
                        walk(part, around, found);
                    }
                    (_, Json::Object(_) | Json::Array(_)) => walk(part, around, found),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn access(table: &Json, around: Around) -> Option<TableAccess> {
    let name = table["table_name"].as_str()?;
    let way = table["access_type"].as_str()?;
    if name.starts_with('<') {
        return None;
    }
    let is_whole = matches!(way, "ALL" | "index" | "hash_ALL" | "hash_index");
    let needs_all = around.is_inner || around.is_collected || table.get("attached_condition").is_some() || way.starts_with("hash");
    let rows = match (is_whole, needs_all) {
        (false, _) => RowsRead::Some,
        (true, true) => RowsRead::All,
        (true, false) => RowsRead::UntilLimit,
    };
    Some(TableAccess { name: name.to_owned(), table: None, rows, index: table["key"].as_str().map(ToOwned::to_owned) })
}
