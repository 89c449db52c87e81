//! `millrace connect`: what connects a client to an app, printed or written into the client's
//! configuration.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use clap::ValueEnum as _;
use millrace_core::app::{App, Auth};
use serde_json::{Value as Json, json};

use super::build::needs;
use crate::{
    app,
    cli::Connect,
    clients::{
        Client, Connection, Key, Server,
        entry::{Entry, Format, MergeError},
        is_public,
        place::Platform,
        server::{MAX_NAME, command, home, is_of_name, key, server_name, takes_key},
    },
    output::{CommandError, CommandResult, note, print, print_json},
};

mod file;

use file::Change;

pub(super) fn run(arguments: &Connect) -> CommandResult {
    let Some(client) = arguments.client else { return list(arguments.json) };
    let mut target = Target::of(client, arguments)?;
    let mut connection = client.connection(&target.name, &target.server);
    connection.notes.append(&mut target.notes);
    let file = file_of(client, arguments)?;
    let written = if arguments.write { Some(write(client, &connection, file.as_deref(), arguments.force)?) } else { None };
    if arguments.json {
        return print_json(&for_programs(client, &target, &connection, file.as_deref(), written.as_ref())?);
    }
    let shown = file.as_deref().map(|file| file.display().to_string()).unwrap_or_default();
    let name = client.abilities().name;
    match &written {
        Some(Change::Unchanged) => print(format_args!("`{shown}` has `{}` already", target.name))?,
        Some(Change::Created) => print(format_args!("created `{shown}` with `{}`", target.name))?,
        Some(Change::Changed { backup }) => {
            print(format_args!("wrote `{}` to `{shown}`; the file as it was is `{}`", target.name, backup.display()))?;
        }
        None => {
            let command = connection.typed_command(cfg!(windows));
            match (&connection.entry, &command) {
                (Some(entry), command) => {
                    match file {
                        Some(_) => note(format_args!("for `{shown}` ({name}); `--write` puts it there:")),
                        None => note(format_args!("for a client that starts commands:")),
                    }
                    print(text(entry)?.trim_end())?;
                    if let Some(command) = command {
                        note(format_args!("the same as a command: {command}"));
                    }
                }
                (None, Some(command)) => print(command)?,
                (None, None) => {
                    for (at, step) in connection.steps.iter().enumerate() {
                        print(format_args!("{}. {step}", at + 1))?;
                    }
                }
            }
        }
    }
    if connection.entry.is_some() {
        connection.steps.iter().for_each(note);
    }
    connection.notes.iter().for_each(|text| note(format_args!("note: {text}")));
    Ok(())
}

/// What a client is connected to.
struct Target {
    name: String,
    server: Server,
    notes: Vec<String>,
}

impl Target {
    fn of(client: Client, arguments: &Connect) -> CommandResult<Self> {
        let folder = arguments.app.as_deref().or_else(|| arguments.url.is_none().then_some(Path::new(".")));
        let app = folder.map(app::load).transpose()?.map(|loaded| loaded.app);
        let mut notes = Vec::new();
        let starts = client.abilities().starts_command && arguments.url.is_none();
        let url = match &arguments.url {
            Some(url) => checked_url(url, app.as_ref(), &mut notes)?,
            None => app.as_ref().map(|app| format!("http://127.0.0.1:{}{}", app.server.port, app.server.path)).unwrap_or_default(),
        };
        let name = name_of(arguments, app.as_ref(), &url)?;
        let server = match (starts, folder, &app) {
            (true, Some(folder), Some(app)) => {
                notes.extend(notes_on_start(folder, app));
                command(folder, arguments.npx, key_of(arguments, &name, Some(app))?)?
            }
            _ => {
                if arguments.url.is_none() && !is_public(&url) && !client.abilities().needs_public_https {
                    notes.push(format!("`{url}` answers while `millrace dev` runs; `--url` names another address."));
                }
                Server::Address { url, key: key_of(arguments, &name, app.as_ref())? }
            }
        };
        Ok(Self { name, server, notes })
    }
}

/// The address, if it is one that a client takes. The place where credentials could be is refused:
/// they would be written down.
fn checked_url(url: &str, app: Option<&App>, notes: &mut Vec<String>) -> CommandResult<String> {
    let wrong = |what: &str| CommandError::Usage(format!("the value of `--url` {what}"));
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return Err(wrong("does not begin with `https://` or `http://`"));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty()
        || rest.chars().any(|character| character.is_whitespace() || character.is_control() || "\"'`\\<>{}$".contains(character))
    {
        return Err(wrong("is not a URL"));
    }
    if authority.contains('@') {
        return Err(wrong("contains credentials, which would be written down; name the variable that holds a key with `--key`"));
    }
    if authority.len() < rest.len() {
        return Ok(url.to_owned());
    }
    let path = app.map_or("/mcp", |app| app.server.path.as_str());
    notes.push(format!("The address has no path: `{path}` was added."));
    Ok(format!("{url}{path}"))
}

/// The name that the client gives the server: letters, digits, `-` and `_`, which all clients take.
fn name_of(arguments: &Connect, app: Option<&App>, url: &str) -> CommandResult<String> {
    if let Some(name) = &arguments.name {
        return match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_of_name) {
            true => Ok(name.clone()),
            false => {
                Err(CommandError::Usage(format!("the value of `--name` has letters, digits, `-` and `_`, and at most {MAX_NAME} of them")))
            }
        };
    }
    let of_host = || {
        let host = url.split("://").nth(1).unwrap_or_default().split(['/', ':', '[']).next().unwrap_or_default();
        let is_name = host.contains(|character: char| character.is_ascii_alphabetic()) && !host.eq_ignore_ascii_case("localhost");
        if is_name {
            host.split('.').find(|label| !["www", "mcp", "api"].contains(label)).unwrap_or(host).to_owned()
        } else {
            String::new()
        }
    };
    let found = app.map_or_else(of_host, |app| app.name.clone());
    Ok(server_name(&found))
}

/// What a client that starts the app does not give it.
fn notes_on_start(folder: &Path, app: &App) -> Vec<String> {
    let path = folder.join(app::ENV_FILE);
    let file = fs::read_to_string(&path).unwrap_or_default();
    let set: Vec<&str> =
        file.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim().trim_start_matches("export ").trim()).collect();
    let needs = needs::of(app);
    let missing: Vec<String> =
        needs.variables.keys().filter(|name| !set.contains(&name.as_str())).map(|name| format!("`{name}`")).collect();
    let mut notes = Vec::new();
    if !missing.is_empty() {
        let names = missing.join(", ");
        notes.push(format!("The app needs {names}: put them into `{}`, since clients pass few variables on.", path.display()));
    }
    let reads_fields = |entry: &Auth| matches!(entry, Auth::Script { .. } | Auth::Jwt(_));
    if app.tools.iter().flat_map(|tool| &tool.auth).flat_map(Auth::entries).any(reads_fields) {
        let text = "Tools with `jwt` or an authentication script read header fields, which the client gives the process as variables `MILLRACE_HEADER_…`.";
        notes.push(text.to_owned());
    }
    notes
}

/// The key that the client sends: what the command line says, or one for an app that has tools with
/// keys.
fn key_of(arguments: &Connect, name: &str, app: Option<&App>) -> CommandResult<Option<Key>> {
    let is_variable = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let known = key(name, home().as_deref());
    let variable = match &arguments.key {
        // What is given may be the key itself: it is not repeated.
        Some(given) if !is_variable(given) => {
            return Err(CommandError::Usage(
                "`--key` takes the name of the variable that holds the key, not the key: letters, digits and `_`".into(),
            ));
        }
        Some(given) => given.clone(),
        None if app.is_some_and(takes_key) => known.variable.clone(),
        None if arguments.key_header.is_some() => return Err(CommandError::Usage("`--key-header` belongs to `--key`".into())),
        None => return Ok(None),
    };
    let field = arguments.key_header.clone().unwrap_or_else(|| known.field.clone());
    let is_field = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^|~".contains(&byte));
    if !is_field {
        return Err(CommandError::Usage("the value of `--key-header` is not the name of a header field".into()));
    }
    Ok(Some(Key { field, variable, ..known }))
}

fn file_of(client: Client, arguments: &Connect) -> CommandResult<Option<PathBuf>> {
    if let Some(file) = &arguments.file {
        return Ok(Some(file.clone()));
    }
    let in_project = client.project_file().map(PathBuf::from);
    if arguments.project {
        return match in_project {
            Some(file) => Ok(Some(file)),
            None => Err(CommandError::Usage(format!("{} reads no file of a project", client.abilities().name))),
        };
    }
    Ok(client.user_file(Platform::HERE, &|name| env::var_os(name)).or(in_project))
}

fn write(client: Client, connection: &Connection, file: Option<&Path>, replaces: bool) -> CommandResult<Change> {
    let name = client.abilities().name;
    let (Some(entry), Some(file)) = (&connection.entry, file) else {
        return Err(CommandError::Usage(format!("{name} has no file for `--write`; without it, the command prints what to do")));
    };
    file::merge(file, |text| {
        entry.merged(text, replaces).map_err(|error| match error {
            MergeError::Unreadable(reason) => format!("cannot be read, and was not changed: {reason}"),
            MergeError::Differs(members) => {
                let members = members.iter().map(|member| format!("`{member}`")).collect::<Vec<_>>().join(", ");
                format!(
                    "has another `{}` (different: {members}); choose another name with `--name`, or replace it with `--force`",
                    entry.name
                )
            }
        })
    })
}

fn text(entry: &Entry) -> CommandResult<String> {
    entry.text().map_err(|_| CommandError::Wrong(format!("`{}` cannot be written down", entry.name)))
}

fn for_programs(
    client: Client,
    target: &Target,
    connection: &Connection,
    file: Option<&Path>,
    written: Option<&Change>,
) -> CommandResult<Json> {
    let entry = connection.entry.as_ref();
    Ok(json!({
        "client": client.id(),
        "name": target.name,
        "transport": if matches!(target.server, Server::Command { .. }) { "stdio" } else { "http" },
        "file": file.filter(|_| entry.is_some()),
        "format": entry.map(|entry| if entry.format == Format::Json { "json" } else { "toml" }),
        "configuration": entry.map(text).transpose()?,
        "section": entry.map(|entry| entry.section),
        "server": entry.map(|entry| &entry.server),
        "inputs": entry.map(|entry| &entry.inputs),
        "command": connection.command,
        "steps": connection.steps,
        "notes": connection.notes,
        "written": written.map(|change| match change {
            Change::Created => "created",
            Change::Changed { .. } => "changed",
            Change::Unchanged => "unchanged",
        }),
        "backup": match written { Some(Change::Changed { backup }) => Some(backup), _ => None },
    }))
}

/// The clients, and what each can.
fn list(as_json: bool) -> CommandResult {
    let clients = Client::value_variants();
    if as_json {
        let rows = clients.iter().map(|client| {
            let abilities = client.abilities();
            json!({
                "client": client.id(),
                "name": abilities.name.trim_matches('`'),
                "startsCommand": abilities.starts_command,
                "needsPublicHttps": abilities.needs_public_https,
                "addresses": abilities.address,
                "key": abilities.key,
                "file": client.user_file(Platform::HERE, &|name| env::var_os(name)),
                "projectFile": client.project_file(),
            })
        });
        return print_json(&rows.collect());
    }
    let plain = |text: &str| text.replace(['`', '*'], "");
    print(format_args!("{:<16}{:<7}{:<55}{}", "CLIENT", "STARTS", "ADDRESSES", "SENDS A KEY"))?;
    for client in clients {
        let abilities = client.abilities();
        let starts = if abilities.starts_command { "yes" } else { "no" };
        print(format_args!("{:<16}{starts:<7}{:<55}{}", client.id(), plain(abilities.address), plain(abilities.key)))?;
    }
    note("`millrace connect CLIENT [APP]` prints what connects a client, `--write` writes it; `--url` is for an app that is served");
    Ok(())
}
