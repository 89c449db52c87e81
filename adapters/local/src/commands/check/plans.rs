//! How databases would run the statements of tools: which tables they read whole, how large these
//! are, and which index would help.

use std::collections::BTreeMap;

use millrace_bundler::{
    Report,
    statement::{Dialect, TableRead, table_reads},
};
use millrace_catalogue::{D1, find};
use millrace_core::{
    Endpoint, Json, StatementPlan,
    value::{Rows, Value},
};
use millrace_languages::plan::{Plans, RowsRead, TableAccess};
use serde_json::json;

use crate::{app::count, output::in_full};

/// Up to how many rows of a table are counted: counting reads them.
const MOST_COUNTED: u64 = 1_000_000;
/// The most indexes of a database that are known.
const MOST_INDEXES: usize = 20_000;
/// What reading a thousand million rows costs in D1, beyond those that a plan includes, in US
/// dollars: <https://developers.cloudflare.com/d1/platform/pricing/>, as of November 2026.
const D1_DOLLARS: u64 = 1;

/// How a database would run one statement of a tool.
pub(super) struct PlannedStatement {
    tool: String,
    /// `app/tools/x/config.yaml:3:6`
    place: String,
    /// The step, in a transaction.
    step: Option<String>,
    /// The database, where the adapter has several.
    database: Option<String>,
    /// Why the statement may read large tables whole.
    allowed: Option<String>,
    /// Its tables, or why nothing is known of them.
    tables: Result<Vec<PlannedTable>, String>,
    is_billed: bool,
}

/// How a statement reads a table.
struct PlannedTable {
    /// Its name, as the statement has it.
    name: String,
    index: Option<String>,
    reads_all: bool,
    /// No row of it is read that an index does not find, whatever rows there are.
    is_sure: bool,
    /// Looked up where all rows are read.
    size: Option<Size>,
    /// What would help.
    remedy: String,
}

/// How many rows a table has.
#[derive(Clone, Copy)]
struct Size {
    rows: u64,
    /// It has more than that.
    is_least: bool,
}

impl Size {
    fn is_beyond(self, limit: u64) -> bool {
        self.rows > limit || self.is_least
    }

    fn shown(self) -> String {
        if self.is_least { format!("more than {}", grouped(self.rows)) } else { grouped(self.rows) }
    }
}

/// An index of all rows of a table.
struct Index {
    table: String,
    name: String,
    columns: Vec<String>,
}

/// Asks the databases of tools, and keeps what tools have in common.
pub(super) struct Planner<'a> {
    endpoint: &'a Endpoint,
    report: &'a PlannerReport,
    /// By the adapter.
    indexes: BTreeMap<usize, Vec<Index>>,
    /// By the adapter and the name of the table.
    sizes: BTreeMap<(usize, String), Option<Size>>,
}

/// What of a [`Report`] a planner needs.
#[derive(Clone, Default)]
pub(super) struct PlannerReport {
    /// The places of each tool's statements.
    places: BTreeMap<String, Vec<String>>,
    /// Why tools may read large tables whole.
    allowed: BTreeMap<String, String>,
}

impl PlannerReport {
    pub(super) fn of(report: &Report) -> Self {
        let reason = |origin: &&millrace_bundler::Origin| origin.setting == "scan.allowed";
        let allowed = report.origins.iter().filter(reason).map(|origin| (origin.tool.clone(), origin.value.clone())).collect();
        Self { places: report.places.clone(), allowed }
    }
}

impl<'a> Planner<'a> {
    pub(super) fn new(endpoint: &'a Endpoint, report: &'a PlannerReport) -> Self {
        Self { endpoint, report, indexes: BTreeMap::new(), sizes: BTreeMap::new() }
    }

    /// The plans of the statements of the tool with this index.
    pub(super) async fn of_tool(&mut self, tool: usize) -> Vec<PlannedStatement> {
        let endpoint = self.endpoint;
        let declared = &endpoint.app().tools[tool];
        let Some(adapter) = declared.execute.adapter().map(|adapter| adapter as usize) else { return Vec::new() };
        let connector = &endpoint.app().adapters[adapter].connector;
        let Some(dialect) = find(connector).and_then(|known| known.language.dialect()) else { return Vec::new() };
        let Some(plans) = dialect.facts().plans else { return Vec::new() };
        let mut planned: Vec<PlannedStatement> = Vec::new();
        for StatementPlan { statement, step, database, text, rows } in endpoint.pipeline().plans(tool, plans.question).await {
            let accesses = match rows {
                Ok(rows) => (plans.read)(&rows).ok_or_else(|| "the plan is of a form that is not known".to_owned()),
                Err(error) => Err(in_full(error)),
            };
            let tables = match accesses {
                Ok(accesses) => Ok(self.tables(adapter, dialect, plans, &text, &accesses).await),
                // A row that is written may need values that nobody can make up.
                Err(_) if table_reads(&text, dialect).is_some_and(|reads| reads.is_empty()) => Ok(Vec::new()),
                Err(why) => Err(why),
            };
            let places = self.report.places.get(&declared.name);
            let place = places.and_then(|places| places.get(statement).or_else(|| places.first())).cloned().unwrap_or_default();
            let allowed = self.report.allowed.get(&declared.name).cloned();
            let is_billed = *connector == D1.name;
            planned.push(PlannedStatement { tool: declared.name.clone(), place, step, database, allowed, tables, is_billed });
        }
        planned
    }

    async fn tables(&mut self, adapter: usize, dialect: Dialect, plans: &Plans, text: &str, accesses: &[TableAccess]) -> Vec<PlannedTable> {
        let reads = table_reads(text, dialect).unwrap_or_default();
        let mut tables = Vec::new();
        for access in accesses {
            let read = reads.iter().find(|read| read.name.eq_ignore_ascii_case(&access.name)).cloned().unwrap_or_default();
            let bare = bare(read.table.as_str()).unwrap_or(&access.name).to_owned();
            let is_known = self.indexes.contains_key(&adapter);
            if !is_known {
                let indexes = self.indexes_of(adapter, plans).await;
                self.indexes.insert(adapter, indexes);
            }
            let own: Vec<&Index> =
                self.indexes.get(&adapter).into_iter().flatten().filter(|index| index.table.eq_ignore_ascii_case(&bare)).collect();
            let is_key = |column: &str| {
                own.iter().any(|index| {
                    index.name == "PRIMARY KEY" && index.columns.first().is_some_and(|first| first.eq_ignore_ascii_case(column))
                })
            };
            let reads_all = read.reads_all(access, is_key);
            let is_sure = !reads_all && !plans.depends_on_rows && access.rows != RowsRead::Unknown;
            let remedy = if reads_all { remedy(&read, &bare, &own, dialect) } else { String::new() };
            let name = if read.table.is_empty() { access.name.clone() } else { read.table.clone() };
            let asked = access
                .table
                .clone()
                .unwrap_or_else(|| if read.table.is_empty() { dialect.facts().quoted(&access.name) } else { read.table });
            let size = if reads_all { self.size(adapter, &asked).await } else { None };
            tables.push(PlannedTable { name, index: access.index.clone(), reads_all, is_sure, size, remedy });
        }
        tables
    }

    async fn indexes_of(&self, adapter: usize, plans: &Plans) -> Vec<Index> {
        // Without it, an index may be advised that is there.
        let Ok(Rows { rows, .. }) = self.endpoint.pipeline().look_up(adapter, plans.indexes, &[]).await else { return Vec::new() };
        let mut indexes: Vec<Index> = Vec::new();
        for row in rows.into_iter().take(MOST_INDEXES) {
            let [Value::Text(table), Value::Text(name), column, ..] = row.as_slice() else { continue };
            // An expression is not a column.
            let column = if let Value::Text(column) = column { column.clone() } else { String::new() };
            match indexes.last_mut().filter(|last| last.table == *table && last.name == *name) {
                Some(last) => last.columns.push(column),
                None => indexes.push(Index { table: table.clone(), name: name.clone(), columns: vec![column] }),
            }
        }
        indexes
    }

    async fn size(&mut self, adapter: usize, table: &str) -> Option<Size> {
        let key = (adapter, table.to_owned());
        if let Some(size) = self.sizes.get(&key) {
            return *size;
        }
        let text = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {}) AS counted", MOST_COUNTED + 1);
        let counted = self.endpoint.pipeline().look_up(adapter, &text, &[]).await.ok();
        // One row for each database that has another number.
        let rows = counted.and_then(|counted| counted.rows.iter().filter_map(|row| row.first().and_then(number)).max());
        let size = rows.map(|rows| Size { rows: rows.min(MOST_COUNTED), is_least: rows > MOST_COUNTED });
        self.sizes.insert(key, size);
        size
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::I64(number) => u64::try_from(*number).ok(),
        Value::U64(number) => Some(*number),
        Value::Decimal(text) | Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// The last part of a name, without quotes.
fn bare(name: &str) -> Option<&str> {
    Some(name.rsplit('.').next()?.trim_matches(['"', '`', '[', ']'])).filter(|name| !name.is_empty())
}

/// What would spare the database from reading all rows.
fn remedy(read: &TableRead, table: &str, indexes: &[&Index], dialect: Dialect) -> String {
    let columns = read.index_columns();
    let is_prefix = |index: &&&Index| {
        index.columns.len() >= columns.len()
            && columns.iter().zip(&index.columns).all(|(wanted, column)| column.eq_ignore_ascii_case(wanted))
    };
    if columns.is_empty() {
        return match read.has_where {
            true => "its conditions do not compare a column of the table as it is, so an index cannot find the rows".to_owned(),
            false => "it has no condition on the table; a `LIMIT` would end it".to_owned(),
        };
    }
    let named = columns.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ");
    if let Some(index) = indexes.iter().find(is_prefix) {
        return format!("the database does not use its index `{}` on {named}", index.name);
    }
    let quoted = |name: &str| if is_plain(name) { name.to_owned() } else { dialect.facts().quoted(name) };
    let name = quoted(&format!("{table}_{}", columns.join("_")));
    let listed = columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
    format!("an index on {named} could help: `CREATE INDEX {name} ON {} ({listed})`", read.table)
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
}

/// A number whose thousands are apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl PlannedStatement {
    /// What is wrong with it: it reads large tables whole, and no reason is given.
    fn problems(&self, limit: u64) -> Vec<String> {
        if self.allowed.is_some() {
            return Vec::new();
        }
        let large = |table: &&PlannedTable| table.reads_all && table.size.is_some_and(|size| size.is_beyond(limit));
        let said = |table: &PlannedTable| {
            let size = table.size.map_or_else(String::new, Size::shown);
            format!("{} reads all of the {size} rows of `{}`: {}{}", self.subject(), table.name, table.remedy, self.cost(table))
        };
        self.tables.iter().flatten().filter(large).map(said).collect()
    }

    /// What its plan does not say, or what could not be counted.
    fn unknown(&self) -> Vec<String> {
        let subject = self.subject();
        let is_uncounted = |table: &&PlannedTable| table.reads_all && table.size.is_none();
        match &self.tables {
            Err(why) => vec![format!("how the database runs {subject} is not known: {why}")],
            Ok(tables) => tables
                .iter()
                .filter(is_uncounted)
                .map(|table| format!("{subject} reads all rows of `{}`, which could not be counted: {}", table.name, table.remedy))
                .collect(),
        }
    }

    /// `the tool 'x'`, or a step of it.
    fn subject(&self) -> String {
        let database = self.database.as_ref().map_or_else(String::new, |database| format!(" in the database `{database}`"));
        match &self.step {
            Some(step) => format!("the step `{step}` of the tool `{}`{database}", self.tool),
            None => format!("the tool `{}`{database}", self.tool),
        }
    }

    /// What reading the rows costs, where the platform bills them.
    fn cost(&self, table: &PlannedTable) -> String {
        let Some(size) = table.size.filter(|_| self.is_billed) else { return String::new() };
        // A million calls read a million times the rows.
        let cents = size.rows * D1_DOLLARS / 10;
        format!(
            "; a million calls cost at least ${}.{:02} in rows read, beyond those that the plan includes",
            grouped(cents / 100),
            cents % 100
        )
    }

    /// It is allowed to do what it does not do.
    fn is_spared(&self) -> bool {
        self.tables.as_ref().is_ok_and(|tables| tables.iter().all(|table| table.is_sure))
    }
}

/// The scans that are mistakes: the place, and a clause; each once, whatever a caller chooses.
pub(super) fn problems(planned: &[PlannedStatement], limit: u64) -> Vec<(String, String)> {
    let mut problems: Vec<(String, String)> = Vec::new();
    for statement in planned {
        for problem in statement.problems(limit) {
            if !problems.iter().any(|(place, known)| *place == statement.place && *known == problem) {
                problems.push((statement.place.clone(), problem));
            }
        }
    }
    problems
}

/// What is not known of the plans: the place, and a clause; each once.
pub(super) fn unknown(planned: &[PlannedStatement]) -> Vec<(String, String)> {
    let mut unknown: Vec<(String, String)> = Vec::new();
    for statement in planned.iter().filter(|statement| statement.allowed.is_none()) {
        for clause in statement.unknown() {
            if !unknown.iter().any(|(place, known)| *place == statement.place && *known == clause) {
                unknown.push((statement.place.clone(), clause));
            }
        }
    }
    unknown
}

/// The tools whose `scan` allows what none of their statements does.
pub(super) fn unneeded(planned: &[PlannedStatement]) -> Vec<String> {
    let mut tools: BTreeMap<&str, bool> = BTreeMap::new();
    for statement in planned.iter().filter(|statement| statement.allowed.is_some()) {
        *tools.entry(&statement.tool).or_insert(true) &= statement.is_spared();
    }
    tools.into_iter().filter(|(_, spared)| *spared).map(|(tool, _)| tool.to_owned()).collect()
}

/// How the statements read their tables, for `--plans`.
pub(super) fn lines(planned: &[PlannedStatement]) -> Vec<String> {
    let mut lines = vec![format!("How the databases run {}:", count(planned.len(), "statement"))];
    for statement in planned {
        let subject = statement.subject();
        match &statement.tables {
            Err(why) => lines.push(format!("  {subject}: {why}")),
            Ok(tables) if tables.is_empty() => lines.push(format!("  {subject}: reads no table")),
            Ok(tables) => lines.extend(tables.iter().map(|table| format!("  {subject}: {}", table.said()))),
        }
    }
    lines.dedup();
    lines
}

impl PlannedTable {
    fn said(&self) -> String {
        let by = self.index.as_ref().map_or_else(String::new, |index| format!(", by `{index}`"));
        match (self.reads_all, self.size) {
            (true, Some(size)) => format!("all {} rows of `{}`{by}", size.shown(), self.name),
            (true, None) => format!("all rows of `{}`{by}", self.name),
            (false, _) => format!("some rows of `{}`{by}", self.name),
        }
    }
}

pub(super) fn plans_json(planned: &[PlannedStatement]) -> Json {
    let table = |table: &PlannedTable| {
        json!({
            "table": table.name,
            "index": table.index,
            "reads_all": table.reads_all,
            "rows": table.size.map(|size| size.rows),
            "remedy": Some(&table.remedy).filter(|remedy| !remedy.is_empty()),
        })
    };
    let statement = |statement: &PlannedStatement| {
        json!({
            "tool": statement.tool,
            "place": statement.place,
            "step": statement.step,
            "database": statement.database,
            "allowed": statement.allowed,
            "error": statement.tables.as_ref().err(),
            "tables": statement.tables.iter().flatten().map(table).collect::<Vec<_>>(),
        })
    };
    Json::Array(planned.iter().map(statement).collect())
}
