//! `millrace check`: every mistake of an app, and how long its answers can be.

use std::{collections::BTreeMap, fs, path::Path};

use millrace_bundler::{
    AnswerSize, LOCK_FILE, ListSize, Lock, Report, ScriptSize, Severity, Sizes, Surface, SurfacePlaces, ToolStatement, changes,
    sign_in_summary, statement::Dialect, tokens,
};
use millrace_catalogue::{HTTP, find};
use millrace_core::{
    Endpoint, ErrorKind, Json,
    app::{App, Audit, AuditTable, MiddlewareAction},
    ports::Column,
    value::Value,
};
use millrace_native::{cache::CacheChoice, isolate, wait_until::Tasks};
use serde_json::json;

mod plans;

use plans::{PlannedStatement, Planner, PlannerReport};

use crate::{
    app::{self, count, summary},
    cli::{Check, Target},
    commands::{
        build::{self, worker::wrangler::Selection},
        doctor, metrics,
        surface::{self, PlacedChange},
    },
    output::{CommandError, CommandResult, in_full, note, print, print_json},
};

/// The columns of a table of audits, in the SQL of every database but ClickHouse.
const AUDIT_TABLE: &str = "at TEXT NOT NULL, request_id TEXT NOT NULL, tool TEXT NOT NULL, subject TEXT, decision TEXT NOT NULL, decided_by TEXT, \
                           outcome TEXT NOT NULL, code TEXT, duration_ms INTEGER NOT NULL, inputs TEXT, change_made TEXT";
/// The further ones with `columns: all`.
const MORE_COLUMNS: [&str; 5] = ["tenant TEXT", "row_count INTEGER", "chain TEXT", "seq INTEGER", "mac TEXT"];

/// What a database answered.
struct Connection {
    adapter: String,
    connector: String,
    failure: Option<String>,
}

/// What a database said of a tool's statement.
struct RejectedStatement {
    tool: String,
    /// `app/tools/x/config.yaml:3:6`
    place: String,
    problem: String,
}

/// A table that does not take the rows of an audit.
struct RejectedAudit {
    adapter: String,
    problem: String,
}

/// What databases said.
#[derive(Default)]
struct ConnectReport {
    connections: Vec<Connection>,
    refused: Vec<RejectedStatement>,
    audits: Vec<RejectedAudit>,
    /// What an adapter's `tenant` says otherwise than its database: the place, and a clause.
    tenants: Vec<(String, String)>,
    /// What statements return, by the tool.
    described: BTreeMap<String, Vec<Column>>,
    /// How the databases would run the statements.
    planned: Vec<PlannedStatement>,
}

pub(super) fn run(arguments: &Check) -> CommandResult {
    if arguments.env.is_some() && arguments.target != Some(Target::Worker) {
        return Err(CommandError::Usage("`--env` belongs to the target `worker`".to_owned()));
    }
    if !arguments.access.headers.is_empty() && arguments.against.is_none() {
        return Err(CommandError::Usage("`--header` belongs to `--against`".to_owned()));
    }
    let mut report = match arguments.target {
        Some(Target::Worker) => build::worker::compile(&arguments.app, &Selection::of(arguments.env.as_deref()), false, &arguments.clients),
        Some(Target::Lambda) => build::lambda::compile(&arguments.app, &arguments.clients),
        Some(Target::Mcpb) => build::mcpb::compile(&arguments.app, &arguments.clients),
        Some(Target::Local | Target::Registry) | None => app::compile_checked(&arguments.app, &arguments.clients),
    };
    // Elsewhere it is not read.
    if matches!(arguments.target, Some(Target::Local) | None) {
        report.diagnostics.extend(app::broken_env_file(&arguments.app));
    }
    let has_errors = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if !arguments.json {
        app::show(&arguments.app, &report.diagnostics);
    }
    let mut answers = match &report.app {
        Some(app) if arguments.connect && !has_errors => connect(app, &report, arguments)?,
        _ => ConnectReport::default(),
    };
    let silent = answers.connections.iter().filter(|connection| connection.failure.is_some()).count();
    let scans = plans::problems(&answers.planned, arguments.scan_rows);
    let mut good = scans.is_empty()
        && !has_errors
        && silent == 0
        && answers.refused.is_empty()
        && answers.audits.is_empty()
        && answers.tenants.is_empty();
    let described = std::mem::take(&mut answers.described);
    let (differences, locked) = match &report.lock {
        // What could not be asked is not known.
        _ if arguments.lock && good => (Vec::new(), Some(write_lock(arguments, &report, described)?)),
        Some(lock) if arguments.connect && !arguments.lock && silent == 0 => {
            let is_refused = |statement: &ToolStatement| answers.refused.iter().any(|refused| refused.tool == statement.tool);
            let asked: Vec<ToolStatement> = report.statements.iter().filter(|statement| !is_refused(statement)).cloned().collect();
            (lock.differences(&asked, &report.statements, &described), None)
        }
        _ => (Vec::new(), None),
    };
    let of_specs = match &report.app {
        Some(app) if !has_errors => spec_differences(app, &report, arguments)?,
        _ => Vec::new(),
    };
    let changed = if arguments.accept { Vec::new() } else { surface_changes(arguments, &report) };
    good &= differences.is_empty() && of_specs.is_empty() && !surface::breaks(&changed);
    let deployed = match &report.app {
        Some(app) if !has_errors => deployed_changes(app, &report, arguments)?,
        _ => Vec::new(),
    };
    good &= !surface::breaks(&deployed);
    let accepted = if arguments.accept && good { accept(arguments, &report)? } else { None };
    let sign_in = report.app.as_ref().filter(|_| !has_errors).and_then(sign_in_summary);
    let outcome =
        Outcome { arguments, report: &report, answers, scans, differences, of_specs, changed, deployed, locked, accepted, sign_in };
    if arguments.json {
        print_json(&outcome.json(good))?;
    } else {
        outcome.print()?;
    }
    if good { Ok(()) } else { Err(CommandError::Told) }
}

/// What was found out.
struct Outcome<'a> {
    arguments: &'a Check,
    report: &'a Report,
    answers: ConnectReport,
    /// Large tables that a statement reads whole: the place, and a clause.
    scans: Vec<(String, String)>,
    /// What a statement returns otherwise than the lock file says: the place, and a clause.
    differences: Vec<(String, String)>,
    /// What a tool uses of an API otherwise than its specification says: the file, and a clause.
    of_specs: Vec<(String, String)>,
    /// What callers rely on otherwise than the lock file says.
    changed: Vec<PlacedChange>,
    /// What callers rely on otherwise than the server of `--against` offers.
    deployed: Vec<PlacedChange>,
    /// The number of tools in the lock file, where it was written.
    locked: Option<usize>,
    /// What callers rely on, in short, where it was accepted.
    accepted: Option<String>,
    sign_in: Option<String>,
}

impl Outcome<'_> {
    fn json(&self, good: bool) -> Json {
        let ConnectReport { connections, refused, audits, tenants, planned, .. } = &self.answers;
        let mut said = json!({
            "ok": good,
            "diagnostics": app::diagnostics_json(&self.report.diagnostics),
            "tenants": tenants.iter().map(|(place, problem)| json!({ "place": place, "error": problem })).collect::<Vec<_>>(),
            "lock": self.differences.iter().map(|(place, problem)| json!({ "place": place, "error": problem })).collect::<Vec<_>>(),
            "scans": self.scans.iter().map(|(place, problem)| json!({ "place": place, "error": problem })).collect::<Vec<_>>(),
            "plans": plans::plans_json(planned),
            "changes": surface::json(&self.changed),
            "against": surface::json(&self.deployed),
            "specs": self.of_specs.iter().map(|(place, problem)| json!({ "place": place, "error": problem })).collect::<Vec<_>>(),
            "connections": connections.iter().map(connection).collect::<Vec<_>>(),
            "sign_in": self.sign_in,
            "sizes": self.report.sizes.as_ref().map(sizes),
            "scripts": self.report.script_sizes.iter().map(script_size).collect::<Vec<_>>(),
            "audits": audits.iter().map(|audit| json!({ "adapter": audit.adapter, "error": audit.problem })).collect::<Vec<_>>(),
            "statements": refused.iter().map(|refused| json!({ "tool": refused.tool, "place": refused.place, "error": refused.problem })).collect::<Vec<_>>(),
        });
        if let Some(app) = self.report.app.as_ref().filter(|_| self.arguments.metrics) {
            said["metrics"] = metrics::json(app);
        }
        said
    }

    fn print(&self) -> CommandResult {
        let arguments = self.arguments;
        if let Some(sign_in) = &self.sign_in {
            print(format_args!("sign-in: {sign_in}"))?;
        }
        if let Some(sizes) = self.report.sizes.as_ref().filter(|sizes| arguments.sizes || sizes.has_budget) {
            print_sizes(sizes)?;
        }
        if arguments.sizes && !self.report.script_sizes.is_empty() {
            print_script_sizes(&self.report.script_sizes)?;
        }
        if let Some(app) = self.report.app.as_ref().filter(|_| arguments.metrics) {
            metrics::show(app)?;
        }
        let ConnectReport { connections, refused, audits, tenants, .. } = &self.answers;
        for Connection { adapter, connector, failure } in connections {
            match failure {
                None => print(format_args!("adapter `{adapter}` ({connector}): connected"))?,
                Some(failure) => note(format_args!("adapter `{adapter}` ({connector}): {failure}")),
            }
        }
        for RejectedStatement { tool, place, problem } in refused {
            note(format_args!("{place}: the database does not take the statement of the tool `{tool}`: {problem}"));
        }
        for RejectedAudit { adapter, problem } in audits {
            note(format_args!("the adapter `{adapter}` does not take the rows of `audit`: {problem}"));
        }
        for (place, problem) in tenants {
            note(format_args!("{place}: `tenant` does not fit the database: {problem}"));
        }
        self.print_plans()?;
        for (place, problem) in &self.differences {
            note(format_args!("{place}: {problem}"));
        }
        for (place, problem) in &self.of_specs {
            note(format_args!("{place}: {problem}"));
        }
        if !self.differences.is_empty() {
            note(format_args!("If that is as it should be, write `{LOCK_FILE}` anew: `millrace check --connect --lock`."));
        }
        surface::tell(&self.changed);
        if !self.changed.is_empty() {
            let remedy = if surface::breaks(&self.changed) { "Keep what callers rely on; or, if" } else { "If" };
            note(format_args!("{remedy} the change is as it should be, write `{LOCK_FILE}` anew: `millrace check --accept`."));
        }
        surface::tell(&self.deployed);
        match &self.accepted {
            Some(surface) => print(format_args!("`{LOCK_FILE}` has what callers rely on: {surface}"))?,
            None if arguments.accept => note(format_args!("`{LOCK_FILE}` was not written, because of what is said above.")),
            None => {}
        }
        if let Some(count_of_tools) = self.locked {
            print(format_args!("`{LOCK_FILE}` has what the statements of {} return", count(count_of_tools, "tool")))?;
        } else if arguments.lock {
            note(format_args!("`{LOCK_FILE}` was not written, because of what is said above."));
        }
        match &self.report.app {
            Some(app) => print(format_args!("{}: {}", contents(app), self.summary())),
            None => Ok(()),
        }
    }

    /// How the databases run the statements, as far as that is asked for or wrong.
    fn print_plans(&self) -> CommandResult {
        let planned = &self.answers.planned;
        if self.arguments.plans && !planned.is_empty() {
            print(plans::lines(planned).join("\n"))?;
        }
        for (place, problem) in &self.scans {
            note(format_args!("{place}: {problem}"));
        }
        if !self.scans.is_empty() {
            note("If a tool should read a whole table, say why in its file: `scan: { allowed: REASON }`.");
        }
        for (place, clause) in plans::unknown(planned) {
            note(format_args!("{place}: {clause}"));
        }
        for tool in plans::unneeded(planned) {
            note(format_args!("the tool `{tool}` has `scan`, and reads no table whole: remove it"));
        }
        Ok(())
    }

    /// How much of each kind is wrong.
    fn summary(&self) -> String {
        let answers = &self.answers;
        let silent = answers.connections.iter().filter(|connection| connection.failure.is_some()).count();
        let parts = [
            (silent, "database", "could not be reached"),
            (answers.refused.len(), "statement", "that a database does not take"),
            (answers.audits.len(), "table", "of `audit` that cannot be written"),
            (self.scans.len(), "large table", "read whole"),
            (plans::unknown(&answers.planned).len(), "plan", "not known in full"),
            (answers.tenants.len(), "difference", "between `tenant` and a database"),
        ];
        let mut said = summary(&self.report.diagnostics);
        for (number, noun, what) in parts.into_iter().filter(|(number, ..)| *number > 0) {
            said.push_str(&format!(", {} {what}", count(number, noun)));
        }
        if !self.differences.is_empty() {
            said.push_str(&format!(", {} from `{LOCK_FILE}`", count(self.differences.len(), "difference")));
        }
        if !self.changed.is_empty() {
            said.push_str(&format!("; since `{LOCK_FILE}` was written, {}", surface::summary(&self.changed)));
        }
        if let Some(url) = &self.arguments.against {
            said.push_str(&format!("; from what {url} offers, {}", surface::summary(&self.deployed)));
        }
        if !self.of_specs.is_empty() {
            said.push_str(&format!(", {} from a specification", count(self.of_specs.len(), "difference")));
        }
        said
    }
}

/// What the specifications of `--spec` say otherwise than the tools that use their APIs.
fn spec_differences(app: &App, report: &Report, arguments: &Check) -> CommandResult<Vec<(String, String)>> {
    let mut found = Vec::new();
    let apis: Vec<&str> =
        app.adapters.iter().filter(|adapter| adapter.connector == HTTP.name).map(|adapter| adapter.name.as_str()).collect();
    for given in &arguments.specs {
        let named = given.split_once('=').filter(|(name, _)| apis.contains(name));
        let (adapter, spec) = match (named, apis.as_slice()) {
            (Some(named), _) => named,
            (None, [only]) => (*only, given.as_str()),
            (None, _) => {
                let names = if apis.is_empty() { "none".to_owned() } else { format!("`{}`", apis.join("`, `")) };
                return Err(CommandError::Usage(format!(
                    "`--spec` needs to say of which adapter it is, `ADAPTER=SPEC`; adapters on `http`: {names}"
                )));
            }
        };
        found.extend(super::import::openapi::differences(&arguments.app, adapter, spec, report.tool_files.values())?);
    }
    Ok(found)
}

/// What callers rely on otherwise than the lock file says. It is of this machine: of another host,
/// an app may have other adapters.
fn surface_changes(arguments: &Check, report: &Report) -> Vec<PlacedChange> {
    let accepted = report.lock.as_ref().and_then(|lock| lock.surface.as_ref());
    let (Some(app), Some(accepted), None) = (&report.app, accepted, arguments.target) else { return Vec::new() };
    let mut places = SurfacePlaces::new(&arguments.app, report);
    let placed = |change| PlacedChange { place: Some(places.of(&change)), change };
    changes(accepted, &Surface::of(app)).into_iter().map(placed).collect()
}

/// What callers rely on otherwise than the server of `--against` offers.
fn deployed_changes(app: &App, report: &Report, arguments: &Check) -> CommandResult<Vec<PlacedChange>> {
    let Some(url) = &arguments.against else { return Ok(Vec::new()) };
    let lists = doctor::server_lists(url, &arguments.access)?;
    let before = Surface::of_lists(&lists.tools, &lists.prompts, &lists.resources);
    let mut places = SurfacePlaces::new(&arguments.app, report);
    let placed = |change| PlacedChange { place: Some(places.of(&change)), change };
    Ok(changes(&before, &Surface::listed(app)).into_iter().map(placed).collect())
}

/// Writes what callers rely on, where that is not what the file says; in short.
fn accept(arguments: &Check, report: &Report) -> CommandResult<Option<String>> {
    let Some(app) = &report.app else { return Ok(None) };
    let surface = Surface::of(app);
    let summary = surface.summary();
    // What `--lock` has written just now counts.
    let path = arguments.app.join(LOCK_FILE);
    let before = if arguments.lock { fs::read_to_string(&path).ok().and_then(|text| Lock::parse(&text).ok()) } else { report.lock.clone() };
    let lock = Lock::accepting(before.clone(), surface);
    write(&path, before.as_ref(), &lock)?;
    Ok(Some(summary))
}

fn write(path: &Path, before: Option<&Lock>, lock: &Lock) -> CommandResult {
    if before == Some(lock) {
        return Ok(());
    }
    fs::write(path, lock.text()).map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())))
}

/// Writes what the statements return, where that is not what the file says; the number of tools in
/// it.
fn write_lock(arguments: &Check, report: &Report, described: BTreeMap<String, Vec<Column>>) -> CommandResult<usize> {
    let accepted = report.lock.as_ref().and_then(|lock| lock.surface.clone());
    let lock = Lock::of(&report.statements, described, accepted);
    write(&arguments.app.join(LOCK_FILE), report.lock.as_ref(), &lock)?;
    Ok(lock.tools.len())
}

fn connect(app: &App, report: &Report, arguments: &Check) -> CommandResult<ConnectReport> {
    let Report { origins, tenants, lock, statements, .. } = report;
    let variables = app::variables(&arguments.app)?;
    let (compiled, base) = (app.clone(), arguments.app.clone());
    let used = origins.iter().filter(|origin| origin.setting == "use").map(|origin| (origin.tool.clone(), origin.place.clone()));
    let written = statements.iter().map(|statement| (statement.tool.clone(), statement.place.clone()));
    let places: BTreeMap<String, String> = used.chain(written).collect();
    let tenants = tenants.clone();
    let of_plans = PlannerReport::of(report);
    let describes = arguments.lock || lock.is_some();
    let ping_all = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(compiled, base, variables, &CacheChoice::Memory, &tasks);
        let mut answers = ConnectReport::default();
        for (index, adapter) in endpoint.app().adapters.iter().enumerate() {
            let failure = endpoint.pipeline().ping_all(index).await.err().map(in_full);
            answers.connections.push(Connection { adapter: adapter.name.clone(), connector: adapter.connector.clone(), failure });
        }
        let mut planner = Planner::new(&endpoint, &of_plans);
        for (index, tool) in endpoint.app().tools.iter().enumerate() {
            let Some(adapter) = tool.execute.adapter() else { continue };
            if answers.connections.get(adapter as usize).is_some_and(|connection| connection.failure.is_some()) {
                continue;
            }
            let mut refuse = |error| {
                let place = places.get(&tool.name).cloned().unwrap_or_default();
                answers.refused.push(RejectedStatement { tool: tool.name.clone(), place, problem: in_full(error) });
            };
            if let Some(Err(error)) = endpoint.pipeline().rehearse(index).await {
                refuse(error);
                continue;
            }
            let planned = planner.of_tool(index).await;
            match if describes { endpoint.pipeline().describe(index).await } else { None } {
                Some(Ok(columns)) => drop(answers.described.insert(tool.name.clone(), columns)),
                Some(Err(error)) => refuse(error),
                None => {}
            }
            answers.planned.extend(planned);
        }
        for table in audit_tables(endpoint.app()) {
            let adapter = table.adapter as usize;
            if answers.connections.get(adapter).is_some_and(|connection| connection.failure.is_none()) {
                answers.audits.extend(rejected_audit(&endpoint, table).await);
            }
        }
        for (index, adapter) in endpoint.app().adapters.iter().enumerate() {
            let reached = answers.connections.get(index).is_some_and(|connection| connection.failure.is_none());
            let Some(tenant) = tenants.iter().find(|tenant| reached && tenant.adapter == adapter.name) else { continue };
            // Only statements are kept to a tenant.
            let Some(dialect) = dialect_of(&adapter.connector) else { continue };
            let problems = match tables_with(&endpoint, index, dialect, &tenant.rule.column).await {
                Ok(tables) => tenant.rule.differences(&tables, dialect),
                Err(error) => {
                    vec![format!("the tables that have the column `{}` could not be read: {}", tenant.rule.column, in_full(error))]
                }
            };
            answers.tenants.extend(problems.into_iter().map(|problem| (tenant.place.clone(), problem)));
        }
        tasks.drained().await;
        answers
    };
    isolate::run(ping_all).map_err(CommandError::wrong)
}

/// The tables that audits are written to, each once.
fn audit_tables(app: &App) -> Vec<&AuditTable> {
    let mut tables: Vec<&AuditTable> = Vec::new();
    for entry in app.tools.iter().flat_map(|tool| &tool.middleware) {
        if let MiddlewareAction::Audit(Audit { table: Some(table), .. }) = &entry.action
            && !tables.iter().any(|known| (known.adapter, &known.statement) == (table.adapter, &table.statement))
        {
            tables.push(table);
        }
    }
    tables
}

/// What a database says against the rows of an audit: its `INSERT` is explained, which writes
/// nothing.
async fn rejected_audit(
    endpoint: &Endpoint,
    AuditTable { adapter, statement: insert, has_all_columns, .. }: &AuditTable,
) -> Option<RejectedAudit> {
    let adapter = *adapter as usize;
    let declared = endpoint.app().adapters.get(adapter)?;
    let (name, columns) = insert.strip_prefix("INSERT INTO ")?.split_once(" VALUES ")?.0.split_once(" (")?;
    let is_explained = dialect_of(&declared.connector)?.facts().explains_inserts;
    let (text, values) = match is_explained {
        true => (format!("EXPLAIN {insert}"), vec![Value::Null; columns.split(", ").count()]),
        false => (format!("SELECT {} FROM {name} LIMIT 0", columns.trim_end_matches(')')), Vec::new()),
    };
    let error = endpoint.pipeline().look_up(adapter, &text, &values).await.err()?;
    // What a column does not take are the values here.
    if error.kind == ErrorKind::Constraint {
        return None;
    }
    let mut problem = in_full(error);
    if is_explained {
        // Quotes that nothing needs are noise.
        let plain = name.replace(['"', '`'], "");
        let is_plain =
            plain.chars().all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || "_.".contains(character));
        let shown = if is_plain { plain.as_str() } else { name };
        let more: String = MORE_COLUMNS.iter().filter(|_| *has_all_columns).map(|column| format!(", {column}")).collect();
        problem.push_str(&format!("; make the table with `CREATE TABLE {shown} ({AUDIT_TABLE}{more})`"));
        if *has_all_columns {
            let added: Vec<String> = MORE_COLUMNS.iter().map(|column| format!("`ALTER TABLE {shown} ADD COLUMN {column}`")).collect();
            problem.push_str(&format!(", or add to a table with the columns of `base`: {}", added.join(", ")));
        }
    }
    Some(RejectedAudit { adapter: declared.name.clone(), problem })
}

/// The SQL of a connector.
fn dialect_of(connector: &str) -> Option<Dialect> {
    find(connector)?.language.dialect()
}

/// The tables and views of a database that have a column.
async fn tables_with(endpoint: &Endpoint, adapter: usize, dialect: Dialect, column: &str) -> millrace_core::Result<Vec<String>> {
    let text = dialect.facts().tables_with_column;
    let rows = endpoint.pipeline().look_up(adapter, text, &[Value::Text(column.to_owned())]).await?;
    let names = rows.rows.into_iter().flatten().filter_map(|value| if let Value::Text(name) = value { Some(name) } else { None });
    Ok(names.collect())
}

/// What a model may have to read, in bytes, as limits and budgets count.
fn print_sizes(sizes: &Sizes) -> CommandResult {
    match sizes.lists.as_slice() {
        [newest, older] if newest.bytes != older.bytes => {
            print(format_args!("`tools/list`: {} bytes; before {}: {} bytes", newest.bytes, newest.revision, older.bytes))?;
        }
        lists => {
            if let Some(list) = lists.first() {
                print(format_args!("`tools/list`: {} bytes", list.bytes))?;
            }
        }
    }
    if sizes.answers.is_empty() {
        return Ok(());
    }
    let mut lines = vec!["The longest answers, in bytes, and the files that decide:".to_owned()];
    let widest = |part: fn(&AnswerSize) -> &str| sizes.answers.iter().map(|answer| part(answer).chars().count()).max().unwrap_or(0);
    let (tools, files) = (widest(|answer| &answer.tool).min(48), widest(|answer| &answer.file).min(64));
    for AnswerSize { tool, file, bytes, open } in &sizes.answers {
        let limit = open.as_ref().map_or_else(String::new, |open| format!("`limits.output`: {open}"));
        lines.push(format!("  {tool:tools$}  {bytes:>8}  {file:files$}  {limit}").trim_end().to_owned());
    }
    print(lines.join("\n"))
}

/// The most packages of a script that are named.
const MOST_PACKAGES: usize = 5;

fn print_script_sizes(scripts: &[ScriptSize]) -> CommandResult {
    let whole = |script: &ScriptSize| script.packages.values().sum::<u64>();
    let memory: u64 = scripts.iter().filter_map(|script| script.load).map(|load| load.memory_bytes).sum();
    let mut lines =
        vec![format!("Scripts: bytes of the program, milliseconds of loading, KB of memory ({} in all), and the packages:", memory >> 10)];
    let widest = scripts.iter().map(|script| script.path.chars().count()).max().unwrap_or(0).min(64);
    for script in scripts {
        let load = script.load.map_or_else(
            || format!("{:>8}  {:>6}", "-", "-"),
            |load| format!("{:>8.1}  {:>6}", load.micros as f64 / 1000.0, load.memory_bytes >> 10),
        );
        let mut packages: Vec<(&String, u64)> =
            script.packages.iter().filter(|(name, _)| !name.is_empty()).map(|(name, bytes)| (name, *bytes)).collect();
        packages.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), (*name).clone()));
        let mut named: Vec<String> = packages.iter().take(MOST_PACKAGES).map(|(name, bytes)| format!("{name} {bytes}")).collect();
        if packages.len() > MOST_PACKAGES {
            named.push(format!("{} more", packages.len() - MOST_PACKAGES));
        }
        let path = &script.path;
        lines.push(format!("  {path:widest$}  {:>9}  {load}  {}", whole(script), named.join(", ")).trim_end().to_owned());
    }
    print(lines.join("\n"))
}

fn script_size(script: &ScriptSize) -> Json {
    let own = script.packages.get("").copied().unwrap_or_default();
    let packages: BTreeMap<&String, u64> =
        script.packages.iter().filter(|(name, _)| !name.is_empty()).map(|(name, bytes)| (name, *bytes)).collect();
    json!({
        "path": script.path,
        "own_bytes": own,
        "packages": packages,
        "load_ms": script.load.map(|load| load.micros as f64 / 1000.0),
        "memory_bytes": script.load.map(|load| load.memory_bytes),
    })
}

fn sizes(sizes: &Sizes) -> Json {
    let list = |list: &ListSize| json!({ "revision": list.revision, "bytes": list.bytes, "tokens": tokens(list.bytes) });
    let answer = |answer: &AnswerSize| {
        json!({
            "tool": answer.tool,
            "file": answer.file,
            "bytes": answer.bytes,
            "tokens": tokens(answer.bytes),
            "limit": if answer.open.is_some() { "limits.output" } else { "output" },
            "reason": answer.open,
        })
    };
    json!({
        "lists": sizes.lists.iter().map(list).collect::<Vec<_>>(),
        "answers": sizes.answers.iter().map(answer).collect::<Vec<_>>(),
    })
}

fn contents(app: &App) -> String {
    // The files of a skill are resources, too.
    let of_skills: usize = app.skills.iter().map(|skill| 1 + usize::from(skill.files.is_some())).sum();
    let mut parts = vec![
        count(app.tools.len(), "tool"),
        count(app.adapters.len(), "adapter"),
        count(app.scripts.len(), "script"),
        count(app.prompts.len(), "prompt"),
        count(app.resources.len().saturating_sub(of_skills), "resource"),
    ];
    if !app.skills.is_empty() {
        parts.push(count(app.skills.len(), "skill"));
    }
    format!("`{}` has {}", app.name, parts.join(", "))
}

fn connection(connection: &Connection) -> Json {
    json!({
        "adapter": connection.adapter,
        "connector": connection.connector,
        "ok": connection.failure.is_none(),
        "error": connection.failure,
    })
}
