//! The part of `docs/clients.md` that is made here, so that it says what the command prints.

use std::{env, fmt::Write as _, fs, path::Path};

use clap::ValueEnum as _;

use super::{Client, Connection, Key, Server, entry::Format, place::Platform};

const BEGIN: &str =
    "<!-- Made by a test; `UPDATE_EXPECT=1 cargo test --workspace --bin millrace the_page_of_clients` writes it anew. -->\n";
const END: &str = "<!-- The end of what is made. -->\n";

fn made() -> String {
    let mut text = String::from("| client | starts a command | addresses | sends a key |\n|---|---|---|---|\n");
    for client in Client::value_variants() {
        let abilities = client.abilities();
        let starts = if abilities.starts_command { "yes" } else { "no" };
        writeln!(text, "| {} (`{}`) | {starts} | {} | {} |", abilities.name, client.id(), abilities.address, abilities.key).unwrap();
    }
    let key = Key { field: "X-API-Key".into(), variable: "NOTES_API_KEY".into(), file: "/home/ada/.millrace/notes.headers".into() };
    let by_command = |key: Option<&Key>| Server::Command {
        program: "npx".into(),
        arguments: ["-y", "millrace", "run", "/home/ada/notes"].map(str::to_owned).into(),
        key: key.cloned(),
    };
    let by_address = Server::Address { url: "https://notes.example.com/mcp".into(), key: Some(key.clone()) };
    for client in Client::value_variants() {
        let abilities = client.abilities();
        writeln!(text, "\n## {}\n", abilities.name.trim_matches('`')).unwrap();
        if let Some(files) = files(*client) {
            writeln!(text, "{files}\n").unwrap();
        }
        if abilities.starts_command {
            text.push_str("It starts the app itself:\n\n");
            shown(&mut text, &client.connection("notes", &by_command(None)));
            let with_key = client.connection("notes", &by_command(Some(&key)));
            if *client != Client::ClaudeDesktop {
                text.push_str("\nThe same, with a key:\n\n");
                shown(&mut text, &with_key);
            }
            let general = client.connection("notes", &by_command(None)).notes;
            for note in with_key.notes.iter().filter(|note| !general.contains(note)) {
                writeln!(text, "\n{note}").unwrap();
            }
            text.push_str("\nFor an app that is served, with a key:\n\n");
        }
        let connection = client.connection("notes", &by_address);
        shown(&mut text, &connection);
        for note in &connection.notes {
            writeln!(text, "\n{note}").unwrap();
        }
    }
    text
}

fn files(client: Client) -> Option<String> {
    let user = |platform| {
        let variable = |name: &str| match name {
            "HOME" => Some("~".into()),
            "USERPROFILE" => Some("%USERPROFILE%".into()),
            "APPDATA" => Some("%APPDATA%".into()),
            _ => None,
        };
        client.user_file(platform, &variable).map(|path| {
            let text = path.to_string_lossy().replace('\\', "/");
            if platform == Platform::Windows { text.replace('/', "\\") } else { text }
        })
    };
    let project = client.project_file().map(|file| format!("`{file}` in a project's folder"));
    let user = match [Platform::Mac, Platform::Windows, Platform::Linux].map(user) {
        [Some(mac), Some(windows), Some(linux)] if mac == linux => Some(format!("`{mac}` (on Windows `{windows}`)")),
        [Some(mac), Some(windows), Some(linux)] => Some(format!("`{mac}` on macOS, `{windows}` on Windows, `{linux}` on Linux")),
        _ => None,
    };
    match (user, project) {
        (Some(user), Some(project)) => Some(format!("File: {user}, or {project}.")),
        (Some(one), None) | (None, Some(one)) => Some(format!("File: {one}.")),
        (None, None) => None,
    }
}

fn shown(text: &mut String, connection: &Connection) {
    for (at, step) in connection.steps.iter().enumerate() {
        writeln!(text, "{}. {step}", at + 1).unwrap();
    }
    let mut parts = Vec::new();
    if let Some(entry) = &connection.entry {
        let language = if entry.format == Format::Json { "json" } else { "toml" };
        parts.push(format!("```{language}\n{}```\n", entry.text().unwrap()));
    }
    if let Some(command) = connection.typed_command(false) {
        parts.push(format!("```sh\n{command}\n```\n"));
    }
    if !connection.steps.is_empty() && !parts.is_empty() {
        text.push('\n');
    }
    text.push_str(&parts.join("\nThe same as a command:\n\n"));
}

#[test]
fn the_page_of_clients_has_what_the_command_prints() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let page = fs::read_to_string(&file).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    let made = made();
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, format!("{before}{BEGIN}{made}\n{END}{after}")).unwrap();
    } else {
        assert!(
            found.trim_end() == made.trim_end(),
            "docs/clients.md is not what `millrace connect` prints; UPDATE_EXPECT=1 writes it anew"
        );
    }
}
