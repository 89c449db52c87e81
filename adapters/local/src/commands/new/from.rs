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
    project::{Example, Project},
};
use crate::{
    app::count,
    output::{CommandError, CommandResult, note, print},
};

mod mysql;
pub(in crate::commands) mod names;
mod postgres;
mod reader;
mod schema;
mod source;
mod sqlite;
mod table_tools;
pub(in crate::commands) mod yaml;

use reader::Reader;
use schema::Table;
use source::{Source, VARIABLE};
use table_tools::TableTools;

/// How many tables get tools where nobody chose: a model reads the list of all tools.
const MOST_TABLES: usize = 20;

/// A table, and the number by which PostgreSQL's catalogue knows it.
type NumberedTable = (Table, i64);

/// A schema, as far as tools are made from it.
struct Found {
    tables: Vec<Table>,
    /// The tables and views that nobody chose.
    others: Vec<String>,
    /// Those that could not be read, and why.
    unreadable: Vec<(String, String)>,
}

/// Writes the app's own files.
///
/// # Errors
/// The database cannot be read, or a file cannot be written. Nothing is written before the database
/// was read.
pub(super) fn write(folder: &AppFolder<'_>, database: &str, wanted: &[String], write: bool) -> CommandResult<Project> {
    let source = Source::parse(database, folder.path)?;
    let wanted: Vec<String> = wanted.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    let (connector, file, address) = (source.connector.name, source.file.clone(), source.address.clone());
    let Some(dialect) = source.connector.language.dialect() else {
        return Err(unread(connector));
    };
    let adapter = names::of_tools(&source.name, &[]);
    let adapter = if names::of_tools("", &[]) == adapter { "main".to_owned() } else { adapter };
    let found = isolate::run(move || read(source, dialect, wanted)).map_err(CommandError::wrong)??;
    let named = name_all(&found.tables);
    let name_of = |schema: Option<&str>, name: &str| {
        let is_it = |table: &Table| {
            table.schema.as_deref() == schema
                && (table.name == name || (dialect.facts().ignores_capitals && table.name.eq_ignore_ascii_case(name)))
        };
        named.iter().find(|(table, _)| is_it(table)).map(|(_, name)| names::in_words(name))
    };
    let planned: Vec<TableTools<'_>> =
        named.iter().filter_map(|(table, name)| TableTools::new(table, name.clone(), &adapter, dialect, name_of)).collect();
    // A table whose name needs no quotes makes the examples easier to read.
    let Some(first) = planned.iter().find(|table| !table.table_name().contains(['"', '`'])).or(planned.first()) else {
        let problem = "the database of `--from` has no table or view that tools can be made for; its user finds only what it may read";
        return Err(CommandError::Wrong(problem.to_owned()));
    };
    let instructions = format!("Data of the database `{adapter}`{}.", if write { "" } else { ", to read" });
    let (name, instructions) = (yaml::word(folder.name), yaml::quoted(&instructions));
    folder.write("millrace.yaml", &format!("name: {name}\nversion: 0.1.0\ninstructions: {instructions}\n"))?;
    folder.write(&format!("app/adapters/{adapter}.yaml"), &adapter_file(connector, file.as_deref(), write))?;
    if file.is_none() {
        folder.write_private(".env", &env_file(&address)?)?;
        if std::env::var_os(VARIABLE).is_some() {
            note(format_args!("note: the variable `{VARIABLE}` is set here; commands take it before the one in `.env`"));
        }
        folder.write(".env.example", &format!("# Copy this to `.env`, which git ignores.\n{VARIABLE}={}\n", example_address(connector)))?;
    }
    let mut report = Vec::new();
    let mut tools = 0;
    for table in &planned {
        folder.write(&format!("app/presenters/{}.yaml", table.name), &table.presenter())?;
        let files = table.files(write);
        tools += files.len();
        let verbs: Vec<&str> = files.iter().map(|file| file.verb).collect();
        let why = table.why_not_created().filter(|_| write).map(|why| format!(" (no create: {why})")).unwrap_or_default();
        report.push(format!("  {}: {}{why}", table.name, verbs.join(", ")));
        for file in files {
            folder.write(&format!("app/tools/{}/{}/config.yaml", table.name, file.verb), &file.text)?;
        }
    }
    print(format_args!("wrote {} for {}:\n{}", count(tools, "tool"), count(planned.len(), "table"), report.join("\n")))?;
    tell_what_is_missing(&found, write)?;
    Ok(project(first, &adapter, dialect, file.as_deref(), write))
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
async fn read(source: Source, dialect: Dialect, wanted: Vec<String>) -> CommandResult<Found> {
    let reader = Reader::open(&source)?;
    let all: Vec<NumberedTable> = match dialect {
        Dialect::Sqlite => sqlite::names(&reader).await?.into_iter().map(|table| (table, 0)).collect(),
        Dialect::Postgres => postgres::names(&reader).await?,
        Dialect::MySql => mysql::names(&reader).await?.into_iter().map(|table| (table, 0)).collect(),
        _ => return Err(unread(source.connector.name)),
    };
    let (chosen, others) = choose(all, &wanted)?;
    let mut found = Found { tables: Vec::new(), others, unreadable: Vec::new() };
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
    Ok(found)
}

/// The tables that were asked for, or the first; and the names of the others.
fn choose(all: Vec<NumberedTable>, wanted: &[String]) -> CommandResult<(Vec<NumberedTable>, Vec<String>)> {
    if wanted.is_empty() {
        // Those outside of the search path are chosen by name only.
        let (own, far): (Vec<_>, Vec<_>) = all.into_iter().partition(|(table, _)| table.schema.is_none());
        let mut own = own.into_iter();
        let chosen = own.by_ref().take(MOST_TABLES).collect();
        return Ok((chosen, own.chain(far).map(|(table, _)| table.shown()).collect()));
    }
    let mut places = Vec::new();
    for name in wanted {
        let exact = all.iter().position(|(table, _)| table.shown() == *name);
        let mut similar = all.iter().enumerate().filter(|(_, (table, _))| table.shown().eq_ignore_ascii_case(name)).map(|(at, _)| at);
        let place = exact.or_else(|| similar.next().filter(|_| similar.next().is_none())).ok_or_else(|| {
            let names: Vec<String> = all.iter().take(MOST_TABLES).map(|(table, _)| yaml::in_comment(&table.shown())).collect();
            let more = if all.len() > MOST_TABLES { ", …" } else { "" };
            CommandError::Usage(format!("the database has no table or view `{name}`; it has: {}{more}", names.join(", ")))
        })?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut all: Vec<Option<NumberedTable>> = all.into_iter().map(Some).collect();
    let chosen = places.into_iter().filter_map(|place| all.get_mut(place)?.take()).collect();
    Ok((chosen, all.into_iter().flatten().map(|(table, _)| table.shown()).collect()))
}

fn tell_what_is_missing(found: &Found, write: bool) -> CommandResult {
    for (table, why) in &found.unreadable {
        print(format_args!("left out {}: {why}", yaml::in_comment(table)))?;
    }
    if !found.others.is_empty() {
        let names: Vec<String> = found.others.iter().take(MOST_TABLES).map(|name| yaml::in_comment(name)).collect();
        let more = if found.others.len() > MOST_TABLES { ", …" } else { "" };
        print(format_args!(
            "left out {}: {}{more}; choose with `--tables NAME,NAME`",
            count(found.others.len(), "other table"),
            names.join(", ")
        ))?;
    }
    if !write {
        print("the tools only read; with `--write` there are tools that create and update rows, too")?;
    }
    Ok(())
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
        noun: first.noun(),
        table: first.table_name(),
        script_table: first.table_name().replace("{{ '{{' }}", "{{").replace('\\', "\\\\").replace('"', "\\\""),
        column: first.a_text(),
        parameter: dialect.parameter(1),
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
