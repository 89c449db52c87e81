//! `millrace new NAME --from DATABASE`: tools for the tables of a database that is there.
//!
//! The schema is read by the drivers, on a connection that only reads; what comes of it are the
//! files that an author would write, who owns them from then on. Names and comments of the database
//! are data: they get into a file as texts, quoted, and never as a placeholder.

use millrace_core::secret::Secret;
use millrace_languages::Dialect;
use millrace_native::isolate;

use super::{
    folder::AppFolder,
    project::{Example, Project, TableExample},
};
use crate::{
    cli::New,
    output::{CommandError, CommandResult, note},
};

mod choice;
mod mysql;
pub(in crate::commands) mod names;
mod postgres;
mod prepared;
mod reader;
mod schema;
mod source;
mod sqlite;
mod table_tools;
pub(in crate::commands) mod yaml;

use reader::Reader;
use schema::{Found, NumberedTable, Reference, Table};
use source::{Source, VARIABLE};
use table_tools::{Referred, TableTools};

/// What whoever runs the command wants.
struct Wish {
    /// The tables to write tools for; none: the first.
    tables: Vec<String>,
    /// The columns to leave out.
    hidden: Vec<String>,
}

/// Writes the app's own files.
///
/// # Errors
/// The database cannot be read, or a file cannot be written. Nothing is written before the database
/// was read.
pub(super) fn write(folder: &AppFolder<'_>, database: &str, arguments: &New) -> CommandResult<Project> {
    let source = Source::parse(database, folder.path)?;
    if !arguments.only.is_empty() || !arguments.tags.is_empty() {
        return Err(CommandError::Usage("`--only` and `--tag` are for APIs; choose tables with `--tables`".to_owned()));
    }
    let wish = Wish { tables: trimmed(&arguments.tables), hidden: trimmed(&arguments.hide) };
    let (connector, file, address) = (source.connector.name, source.file.clone(), source.address.clone());
    let Some(dialect) = source.connector.language.dialect() else {
        return Err(unread(connector));
    };
    let adapter = names::of_tools(&source.name, &[]);
    let adapter = if names::of_tools("", &[]) == adapter { "main".to_owned() } else { adapter };
    let found = isolate::run(move || read(source, dialect, wish)).map_err(CommandError::wrong)??;
    let named = name_all(&found.tables);
    let referred = |reference: &Reference| {
        let is_it = |table: &Table| {
            table.schema == reference.schema
                && (table.name == reference.table
                    || (dialect.facts().ignores_capitals && table.name.eq_ignore_ascii_case(&reference.table)))
        };
        let (table, name) = named.iter().find(|(table, _)| is_it(table))?;
        let key = if let [only] = table.key.as_slice() { table.columns.get(*only).map(|column| column.name.clone()) } else { None };
        let is_shown = |name: &String| {
            let is_there = table.columns.iter().any(|column| column.name == *name);
            is_there && !names::is_secret(name) && names::of_field(name, &[]) == *name
        };
        Some(Referred { tools: name.clone(), column: reference.to.clone().or(key).filter(is_shown) })
    };
    let planned: Vec<TableTools<'_>> =
        named.iter().filter_map(|(table, name)| TableTools::new(table, name.clone(), &adapter, dialect, referred)).collect();
    if planned.is_empty() {
        let problem = "the database of `--from` has no table or view that tools can be made for; its user finds only what it may read";
        return Err(CommandError::Wrong(problem.to_owned()));
    }
    let write = arguments.write;
    let instructions = format!("Data of the database `{adapter}`{}.", if write { "" } else { ", to read" });
    let (name, instructions) = (yaml::word(folder.name), yaml::quoted(&instructions));
    folder.write("millrace.yaml", &format!("name: {name}\nversion: 0.1.0\ninstructions: {instructions}\n"))?;
    folder.write(&format!("app/adapters/{adapter}.yaml"), &adapter_file(connector, file.as_deref(), write))?;
    if file.is_none() {
        write_address(folder, connector, &address)?;
    }
    let written = prepared::write(folder, &planned, write, &address)?;
    // A table whose name needs no quotes makes the examples easier to read.
    let Some(first) = written.iter().find(|table| !table.table_name().contains(['"', '`'])).or(written.first()) else {
        return Err(CommandError::Wrong("the database takes no statement that was made for its tables".to_owned()));
    };
    choice::tell(&found, &written, write)?;
    Ok(project(first, &adapter, dialect, file.as_deref(), write))
}

/// Names of an option, without what is around them.
fn trimmed(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Writes the address of a server where the app and its author find it.
fn write_address(folder: &AppFolder<'_>, connector: &str, address: &Secret<String>) -> CommandResult {
    folder.write_private(".env", &env_file(address)?)?;
    if std::env::var_os(VARIABLE).is_some() {
        note(format_args!("note: the variable `{VARIABLE}` is set here; commands take it before the one in `.env`"));
    }
    folder.write(".env.example", &format!("# Copy this to `.env`, which git ignores.\n{VARIABLE}={}\n", example_address(connector)))
}

/// The names of the tables' tools, in the order of the tables. A table that has such a name itself
/// gets it before another.
fn name_all(tables: &[Table]) -> Vec<(&Table, String)> {
    let (mut taken, mut named) = (Vec::new(), Vec::new());
    let is_own = |table: &Table| names::of_tools(&table.shown(), &[]) == table.shown().replace('_', "-");
    for own in [true, false] {
        for (at, table) in tables.iter().enumerate().filter(|(_, table)| is_own(table) == own) {
            let name = names::of_tools(&table.shown(), &taken);
            taken.push(name.clone());
            named.push((at, table, name));
        }
    }
    named.sort_by_key(|(at, ..)| *at);
    named.into_iter().map(|(_, table, name)| (table, name)).collect()
}

/// What is said of a database whose schema `--from` does not read.
fn unread(connector: &str) -> CommandError {
    CommandError::Usage(format!("`--from` cannot read a database of the connector `{connector}`; name one of SQL"))
}

/// Reads the schema of the tables that were chosen.
async fn read(source: Source, dialect: Dialect, Wish { tables: wanted, hidden }: Wish) -> CommandResult<Found> {
    let reader = Reader::open(&source)?;
    let all: Vec<NumberedTable> = match dialect {
        Dialect::Sqlite => sqlite::names(&reader).await?.into_iter().map(|table| (table, 0)).collect(),
        Dialect::Postgres => postgres::names(&reader).await?,
        Dialect::MySql => mysql::names(&reader).await?.into_iter().map(|table| (table, 0)).collect(),
        _ => return Err(unread(source.connector.name)),
    };
    let (chosen, others) = choice::choose(all, &wanted)?;
    let mut found = Found { tables: Vec::new(), others, is_choice: wanted.is_empty(), unreadable: Vec::new() };
    let mut known = Vec::new();
    for (mut table, oid) in chosen {
        if !names::can_be_written(&table.name) || !table.schema.as_deref().is_none_or(names::can_be_written) {
            found.unreadable.push((table.shown(), "a statement cannot have its name".to_owned()));
            continue;
        }
        let filled = match dialect {
            Dialect::Sqlite => sqlite::fill(&reader, &mut table).await,
            Dialect::Postgres => postgres::fill(&reader, &mut table, oid).await,
            Dialect::MySql => mysql::fill(&reader, &mut table).await,
            _ => Err(unread(source.connector.name)),
        };
        known.append(&mut table.hide(&hidden));
        match filled {
            Ok(()) if table.columns.is_empty() => found.unreadable.push((table.shown(), "it has no columns that can be read".to_owned())),
            Ok(()) => found.tables.push(table),
            // A view whose tables are gone is no reason to give up the others.
            Err(CommandError::Wrong(why) | CommandError::Usage(why)) => found.unreadable.push((table.shown(), why)),
            Err(error) => return Err(error),
        }
    }
    if found.tables.is_empty()
        && let Some((table, why)) = found.unreadable.first()
    {
        return Err(CommandError::Wrong(format!("the table {} cannot be read: {why}", yaml::in_comment(table))));
    }
    if let Some(unknown) = hidden.iter().find(|name| !known.contains(name)) {
        let message = format!("`--hide` names `{unknown}`, and no table that tools are written for has such a column");
        return Err(CommandError::Usage(format!("{message}; write `COLUMN` or `TABLE.COLUMN`")));
    }
    Ok(found)
}

fn adapter_file(connector: &str, file: Option<&str>, write: bool) -> String {
    let (comment, connection_string) = match file {
        Some(file) => {
            ("# The SQLite database that the tools were made from. A relative path starts in the app's folder.", yaml::quoted(file))
        }
        None => (
            "# The server's address is the variable `DATABASE_URL`, which `.env` sets on this machine.",
            format!("\"{{{{ env.{VARIABLE} }}}}\""),
        ),
    };
    let read_only = if write { "" } else { "options: { read_only: true }\n" };
    let fallback = match file {
        Some(_) => {
            let options = if write { "" } else { ", options: { read_only: true }" };
            format!(
                "# A Worker has no files: there the rows are in the D1 database that wrangler.toml binds.\nfallback: {{ connector: d1, connection_string: \"d1:DB\"{options} }}\n"
            )
        }
        None => String::new(),
    };
    format!("{comment}\nconnector: {connector}\nconnection_string: {connection_string}\n{read_only}{fallback}")
}

/// A line of `.env`. Within single quotes every character is itself.
fn env_file(address: &Secret<String>) -> CommandResult<String> {
    let address = address.expose();
    if address.chars().any(char::is_control) {
        return Err(CommandError::Usage("`--from` has a control character in it".to_owned()));
    }
    Ok(format!("{VARIABLE}='{}'\n", address.replace('\'', "%27")))
}

fn example_address(connector: &str) -> &'static str {
    match connector {
        "postgres" => "postgres://USER:PASSWORD@HOST:5432/DATABASE",
        "mysql" => "mysql://USER:PASSWORD@HOST:3306/DATABASE",
        _ => "libsql://HOST?authToken=TOKEN",
    }
}

fn project(first: &TableTools<'_>, adapter: &str, dialect: Dialect, file: Option<&str>, write: bool) -> Project {
    let example = Example {
        call: format!("{}-list limit=3", first.name),
        adapter: adapter.to_owned(),
        table: Some(TableExample {
            noun: first.noun(),
            name: first.table_name(),
            script_name: first.table_name().replace("{{ '{{' }}", "{{").replace('\\', "\\\\").replace('"', "\\\""),
            column: first.a_text(),
            parameter: dialect.parameter(1),
        }),
    };
    let rights = match write {
        true => "The app reads and writes it",
        false => "The app only reads it: `read_only` in the adapter refuses every statement that writes",
    };
    let (data, worker, lambda) = match file {
        Some(file) => (
            format!("## Data\n\nThe data are in the SQLite database `{}`, which the app uses where it is. {rights}.\n\n", file.replace('`', "'")),
            "In a Worker the rows are in a D1 database, which the first deployment creates. Import the data of the file once, as Cloudflare's guide\n\
             [Import and export data](https://developers.cloudflare.com/d1/best-practices/import-export-data/) describes.\n"
                .to_owned(),
            "Lambda gets the files of this folder only: move the database into it and change `connection_string` in the adapter. The function then has a copy of it, \
             and what is\nwritten there is lost when Lambda ends the instance. For data that must last, use the connector `libsql`, `d1` or `postgres`."
                .to_owned(),
        ),
        None => (
            format!(
                "## Data\n\nThe data are in the database whose address is the variable `{VARIABLE}`. {rights}. On this machine `.env` sets the variable; it has the password, and git \
                 ignores\nit. `.env.example` is for those who get the app without it.\n\n"
            ),
            format!("The Worker needs the address as a secret: `npx wrangler secret put {VARIABLE}`. On this machine, put the line of `.env` into `.dev.vars`, too.\n"),
            "The function gets the address as a parameter of `template.yaml`, for which `sam deploy --guided` asks. AWS must be able to reach the database.".to_owned(),
        ),
    };
    Project { example, seed: None, data, worker, lambda }
}
