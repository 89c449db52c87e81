//! What the page says of clients: the lines that `millrace connect` prints, for the app that is
//! served.

use std::path::Path;

use clap::ValueEnum as _;
use millrace_core::app::App;
use serde_json::{Value as Json, json};

use crate::clients::{
    Client, Connection, Server,
    place::Platform,
    server::{command, home, key, server_name, takes_key},
};

/// What stands for the address, which only the browser knows.
const URL: &str = "{{url}}";

/// The clients. `folder` is the app's, where the page belongs to a person at this machine: clients
/// can then start the app.
pub(super) fn connections(app: &App, folder: Option<&Path>) -> Json {
    let name = server_name(&app.name);
    let home = folder.and_then(|_| home());
    let key = takes_key(app).then(|| key(&name, home.as_deref()));
    let by_address = Server::Address { url: URL.to_owned(), key: key.clone() };
    // Without a path that is text, only the address is left.
    let by_command = folder.and_then(|folder| command(folder, false, key.clone()).ok());
    let of_client = |client: &Client| {
        let abilities = client.abilities();
        let started = by_command.as_ref().filter(|_| abilities.starts_command).map(|server| client.connection(&name, server));
        let file =
            folder.and_then(|_| client.user_file(Platform::HERE, &|name| std::env::var_os(name))).map(|path| path.display().to_string());
        json!({
            "id": client.id(),
            "name": abilities.name.trim_matches('`'),
            "addresses": abilities.address,
            "key": abilities.key,
            "file": file.or_else(|| client.project_file().map(str::to_owned)),
            "command": started.map(shown),
            "address": shown(client.connection(&name, &by_address)),
        })
    };
    Client::value_variants().iter().map(of_client).collect()
}

fn shown(connection: Connection) -> Json {
    json!({
        "configuration": connection.entry.as_ref().and_then(|entry| entry.text().ok()),
        "command": connection.typed_command(cfg!(windows)),
        "steps": connection.steps,
        "notes": connection.notes,
    })
}
