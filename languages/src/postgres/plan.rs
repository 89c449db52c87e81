//! Plans of PostgreSQL: <https://www.postgresql.org/docs/current/sql-explain.html>.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use millrace_core::{
    Json, PlanQuestion,
    app::ParamStyle,
    value::{Rows, Value},
};

use super::planned::{FOR_ANY_VALUES, PLANNED};
use crate::plan::{Plans, RowsRead, TableAccess};

/// How it is asked. With values, which stand for no call's, the statement is prepared and planned
/// for any values: with one that is `NULL` the server would know that no row fits.
pub(super) const PLANS: Plans = Plans {
    question: PlanQuestion { texts, sample: |_| Value::Null },
    read,
    indexes: "SELECT t.relname::text, i.relname::text, a.attname::text, k.place FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid \
              JOIN pg_class i ON i.oid = x.indexrelid JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (number, place) ON true \
              JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number JOIN pg_namespace n ON n.oid = t.relnamespace \
              WHERE x.indisvalid AND x.indpred IS NULL AND n.nspname NOT LIKE 'pg\\_%' AND k.place <= x.indnkeyatts ORDER BY 1, 2, 4",
    depends_on_rows: true,
};

const HEAD: &str = "EXPLAIN (FORMAT JSON, VERBOSE)";

fn texts(text: &str, count: usize) -> Vec<String> {
    if count == 0 {
        return vec![format!("{HEAD} {text}")];
    }
    let (name, values) = (name_of(text), vec!["NULL"; count].join(", "));
    vec![
        FOR_ANY_VALUES.to_owned(),
        format!("PREPARE {name} AS {text}"),
        format!("{HEAD} EXECUTE {name}({values})"),
        format!("DEALLOCATE {name}"),
    ]
}

/// A name of its own for each statement: one that could be prepared and not planned stays prepared
/// for as long as its connection.
fn name_of(text: &str) -> String {
    // FNV-1a: <https://datatracker.ietf.org/doc/html/rfc9923>.
    let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{PLANNED}{digest:016x}")
}

fn read(rows: &Rows) -> Option<Vec<TableAccess>> {
    let Value::Json(Json::Array(plans)) = rows.rows.first()?.first()? else { return None };
    let mut found = Vec::new();
    plans.iter().for_each(|plan| walk(&plan["Plan"], false, &mut found));
    Some(found)
}

/// Looks at a node and those below it. `is_limited`: whoever asks it for rows stops after some.
fn walk(node: &Json, is_limited: bool, found: &mut Vec<TableAccess>) {
    let kind = node["Node Type"].as_str().unwrap_or_default();
    found.extend(access(node, kind, is_limited));
    for (place, child) in node["Plans"].as_array().into_iter().flatten().enumerate() {
        let is_own = !matches!(child["Parent Relationship"].as_str(), Some("InitPlan" | "SubPlan"));
        let hands_on = match kind {
            "Limit" => true,
            "Result" | "Subquery Scan" | "ProjectSet" | "LockRows" | "Append" | "Merge Append" | "Gather" | "Gather Merge" | "Unique"
            | "Group" | "Incremental Sort" | "Merge Join" => is_limited,
            // One side is read whole before.
            "Hash Join" | "Nested Loop" => is_limited && place == 0,
            _ => false,
        };
        walk(child, hands_on && is_own, found);
    }
}

fn access(node: &Json, kind: &str, is_limited: bool) -> Option<TableAccess> {
    let table = node["Relation Name"].as_str()?;
    let is_found = match kind {
        "Seq Scan" | "Sample Scan" => false,
        "Index Scan" | "Index Only Scan" => node.get("Index Cond").is_some(),
        // What writes has the name of its table, too.
        "ModifyTable" | "Insert" | "Update" | "Delete" => return None,
        _ => true,
    };
    let rows = if is_found || is_limited && node.get("Filter").is_none() { RowsRead::Some } else { RowsRead::All };
    let quoted = |name: &str| ParamStyle::NumberedDollar.quoted(name);
    let schema = node["Schema"].as_str().map_or_else(String::new, |schema| format!("{}.", quoted(schema)));
    Some(TableAccess {
        name: node["Alias"].as_str().unwrap_or(table).to_owned(),
        table: Some(format!("{schema}{}", quoted(table))),
        rows,
        index: node["Index Name"].as_str().map(ToOwned::to_owned),
    })
}
