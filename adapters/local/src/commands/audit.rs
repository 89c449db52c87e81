//! `millrace audit verify`: whether audit entries are all there, and as they were written.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use millrace_catalogue::find;
use millrace_core::{
    app::{AUDIT_COLUMNS, App, AuditTable, MORE_AUDIT_COLUMNS, MiddlewareAction},
    audit_chain::{AUDIT_KEY, ChainKey, moment},
    ports::Env as _,
    value::Value,
};
use millrace_native::{cache::CacheChoice, env::Variables, isolate, wait_until::Tasks};
use serde_json::json;

use crate::{
    app::{self, BundledApp, count},
    audit_verify::{Entry, RowSeal, Verifier},
    cli::{Audit, AuditCommand, AuditVerify},
    output::{CommandError, CommandResult, in_full, note, print, print_json},
};

/// The most findings that are told one by one.
const MOST_FINDINGS: usize = 100;
/// How many rows are read at once.
const PAGE: usize = 5_000;

pub(super) fn run(Audit { command: AuditCommand::Verify(arguments) }: &Audit) -> CommandResult {
    if arguments.files.is_empty() && arguments.adapter.is_none() {
        return Err(CommandError::Usage("name the log files, `-` for standard input, or `--adapter NAME`".to_owned()));
    }
    let variables = match &arguments.adapter {
        Some(_) => app::variables(&arguments.app)?,
        None => Variables::of_process(),
    };
    let key = variables.var(AUDIT_KEY).and_then(|key| ChainKey::of(key.expose()));
    let key = key.ok_or_else(|| CommandError::unable(format!("the variable `{AUDIT_KEY}` with the key of the chains is not set")))?;
    let mut verifier = Verifier::new(key);
    for file in &arguments.files {
        read(&mut verifier, file)?;
    }
    let is_whole = match &arguments.adapter {
        Some(name) => rows(&mut verifier, arguments, name, variables)?,
        None => false,
    };
    let open = verifier.finish(is_whole);
    told(arguments, &verifier, &open)
}

/// Says what was found.
fn told(arguments: &AuditVerify, verifier: &Verifier, open: &[String]) -> CommandResult {
    let findings = &verifier.findings;
    let holds = findings.is_empty() && (open.is_empty() || !arguments.closed);
    if arguments.json {
        print_json(&json!({ "ok": holds, "entries": verifier.entries, "findings": findings, "open": open }))?;
    } else {
        findings.iter().take(MOST_FINDINGS).for_each(note);
        if let Some(more) = findings.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0) {
            note(format_args!("and {more} more"));
        }
        for chain in open {
            note(format_args!("{chain}, has no recorded end: what came after it and is gone cannot be known"));
        }
        let entries = format!("{} {}", verifier.entries, if verifier.entries == 1 { "entry" } else { "entries" });
        print(format_args!("{entries}, {}, {} without a recorded end", count(findings.len(), "finding"), count(open.len(), "chain")))?;
    }
    if holds { Ok(()) } else { Err(CommandError::Told) }
}

fn read(verifier: &mut Verifier, file: &Path) -> CommandResult {
    let shown = file.display();
    let unable = |error: io::Error| CommandError::unable(format!("`{shown}`: {error}"));
    let reader: Box<dyn BufRead> = match file.to_str() {
        Some("-") => Box::new(BufReader::new(io::stdin())),
        _ => Box::new(BufReader::new(File::open(file).map_err(unable)?)),
    };
    for (number, line) in (1_u64..).zip(reader.split(b'\n')) {
        // Others may write to the same file, in whatever characters.
        verifier.line(&format!("{shown}:{number}"), &String::from_utf8_lossy(&line.map_err(unable)?));
    }
    Ok(())
}

/// Reads the rows of the tables of an adapter; whether they have every entry of the app.
fn rows(verifier: &mut Verifier, arguments: &AuditVerify, name: &str, variables: Variables) -> CommandResult<bool> {
    let BundledApp { app, .. } = app::load(&arguments.app)?;
    let Some(adapter) = app.adapters.iter().position(|adapter| adapter.name == name) else {
        return Err(CommandError::Usage(format!("`--adapter {name}`: the app has no adapter of this name")));
    };
    let tables = tables(&app, adapter);
    if tables.is_empty() {
        let message = format!("no `audit` with `columns: all` is written to the adapter `{name}`, so its rows have no chain");
        return Err(CommandError::unable(message));
    }
    let is_whole = tables.len() == 1 && audits(&app).all(|table| table.is_some_and(|table| is_of(table, adapter)));
    verifier.reads_rows();
    let (connector, base) = (app.adapters.get(adapter).map(|adapter| adapter.connector.clone()), arguments.app.clone());
    let quoted = |column: &str| {
        let facts = find(connector.as_deref()?)?.language.dialect()?.facts();
        facts.identifier(column)
    };
    let columns: Option<Vec<String>> = AUDIT_COLUMNS.into_iter().chain(MORE_AUDIT_COLUMNS).map(quoted).collect();
    let (Some(columns), [.., chain, seq, mac]) = (columns, MORE_AUDIT_COLUMNS.map(quoted)) else {
        return Err(CommandError::unable(format!("the adapter `{name}` has no tables")));
    };
    let order = [chain, seq, mac].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let read_all = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(app, base, variables, &CacheChoice::Memory, &tasks);
        let mut pages = Vec::new();
        for table in tables {
            for page in 0.. {
                // Numbers of our own, which no caller says.
                let text = format!("SELECT {} FROM {table} ORDER BY {order} LIMIT {PAGE} OFFSET {}", columns.join(", "), page * PAGE);
                let rows = match endpoint.pipeline().look_up(adapter, &text, &[]).await {
                    Ok(rows) => rows,
                    Err(error) => return Err(in_full(error)),
                };
                let is_last = rows.rows.len() < PAGE;
                pages.push((table.clone(), rows.rows));
                if is_last {
                    break;
                }
            }
        }
        tasks.drained().await;
        Ok(pages)
    };
    let pages = isolate::run(read_all).map_err(CommandError::wrong)?;
    let pages = pages.map_err(|problem| CommandError::unable(format!("the adapter `{name}`: {problem}")))?;
    for (table, rows) in pages {
        take(verifier, &table, rows);
    }
    Ok(is_whole)
}

/// The tables of the audits of an app, those of its tools one after the other.
fn audits(app: &App) -> impl Iterator<Item = Option<&AuditTable>> {
    app.tools.iter().flat_map(|tool| &tool.middleware).filter_map(|entry| match &entry.action {
        MiddlewareAction::Audit(audit) => Some(audit.table.as_ref()),
        _ => None,
    })
}

fn is_of(table: &AuditTable, adapter: usize) -> bool {
    table.adapter as usize == adapter && table.has_all_columns
}

/// The names of the tables of an adapter, as its statements have them, each once.
fn tables(app: &App, adapter: usize) -> Vec<String> {
    let named = |table: &AuditTable| table.statement.strip_prefix("INSERT INTO ")?.split_once(" (").map(|(name, _)| name.to_owned());
    let mut tables: Vec<String> = audits(app).flatten().filter(|table| is_of(table, adapter)).filter_map(named).collect();
    tables.sort_unstable();
    tables.dedup();
    tables
}

fn take(verifier: &mut Verifier, table: &str, rows: Vec<Vec<Value>>) {
    for (number, row) in (1_u64..).zip(rows) {
        let mut values = row.into_iter();
        let mut texts: Vec<Value> = values.by_ref().take(AUDIT_COLUMNS.len()).collect();
        let mut value = || values.next().unwrap_or(Value::Null);
        let (tenant, rows, chain, seq, mac) = (value(), value(), value(), value(), value());
        // As lines have them, where `ms` is a number.
        let ms = if texts.len() == AUDIT_COLUMNS.len() { texts.remove(8) } else { Value::Null };
        let mut entry = Entry { ms: number_of(&ms).unwrap_or(0), rows: number_of(&rows), ..Entry::default() };
        for (text, value) in entry.texts.iter_mut().zip(texts.into_iter().chain([tenant])) {
            *text = text_of(value);
        }
        if let Some(at) = entry.texts.first_mut()
            && let Some(moment) = moment(at)
        {
            *at = moment;
        }
        let place =
            format!("row {} of {table}", entry.texts.get(1).filter(|id| !id.is_empty()).cloned().unwrap_or_else(|| number.to_string()));
        let seal = match text_of(chain) {
            chain if chain.is_empty() => None,
            chain => Some(RowSeal { chain, seq: number_of(&seq), mac: text_of(mac) }),
        };
        verifier.row(&place, seal, entry);
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::Text(text) | Value::Timestamp(text) | Value::Decimal(text) => text,
        Value::Null => String::new(),
        other => format!("{other:?}"),
    }
}

fn number_of(value: &Value) -> Option<u64> {
    match value {
        Value::I64(number) => u64::try_from(*number).ok(),
        Value::U64(number) => Some(*number),
        Value::Text(text) | Value::Decimal(text) => text.parse().ok(),
        _ => None,
    }
}
