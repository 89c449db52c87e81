//! How clients reach an app of this machine: by the command that starts it, and by the key that its
//! tools take.

use std::{
    env,
    path::{Component, Path, PathBuf, absolute},
};

use millrace_core::app::{App, Auth};

use super::{Key, Server, npx};
use crate::output::{CommandError, CommandResult};

/// The field that the plugin `api_key` reads.
pub(crate) const KEY_FIELD: &str = "X-API-Key";
/// The longest name of a server.
pub(crate) const MAX_NAME: usize = 64;

/// Whether a name may have it: letters, digits, `-` and `_`, which all clients take.
pub(crate) fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_".contains(character)
}

/// An app's or a host's name as one that all clients take.
pub(crate) fn server_name(name: &str) -> String {
    let name: String = name.chars().map(|character| if is_of_name(character) { character } else { '-' }).take(MAX_NAME).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "millrace".to_owned() } else { name.to_owned() }
}

/// The command that starts the app in `folder`: this program by its path, or the package where that
/// is how this program came here.
///
/// # Errors
/// A path is not known, or is not UTF-8.
pub(crate) fn command(folder: &Path, wants_npx: bool, key: Option<Key>) -> CommandResult<Server> {
    let folder = absolute_folder(folder)?;
    let this = env::current_exe().map_err(|error| CommandError::Wrong(format!("this program's own path is not known: {error}")))?;
    let of_package = this.components().any(|part| part.as_os_str() == "node_modules");
    if wants_npx || of_package {
        let (program, arguments) = npx(&["-y", "millrace", "run", &folder].map(str::to_owned), cfg!(windows));
        return Ok(Server::Command { program, arguments, key });
    }
    match this.to_str() {
        Some(this) => Ok(Server::Command { program: this.to_owned(), arguments: vec!["run".to_owned(), folder], key }),
        None => Err(CommandError::Wrong("this program's own path is not UTF-8; use `--npx`".into())),
    }
}

fn absolute_folder(folder: &Path) -> CommandResult<String> {
    let is_winding = folder.components().any(|part| part == Component::ParentDir);
    let found = if is_winding { folder.canonicalize() } else { absolute(folder) };
    let found = found.map_err(|error| CommandError::Wrong(format!("`{}` cannot be found: {error}", folder.display())))?;
    // Without a slash at the end.
    let found: PathBuf = found.components().collect();
    found.to_str().map(str::to_owned).ok_or_else(|| CommandError::Wrong("the path of the app's folder is not UTF-8".into()))
}

/// Whether a tool of the app takes a key in [`KEY_FIELD`].
pub(crate) fn takes_key(app: &App) -> bool {
    app.tools.iter().flat_map(|tool| &tool.auth).flat_map(Auth::entries).any(|entry| matches!(entry, Auth::ApiKey(_)))
}

/// The key of a server of that name, whose file is in the home of the user where that is known.
pub(crate) fn key(name: &str, home: Option<&Path>) -> Key {
    let file = format!("{name}.headers");
    let file = match home {
        Some(home) => home.join(".millrace").join(file).to_string_lossy().into_owned(),
        None => format!("/path/to/{file}"),
    };
    Key { field: KEY_FIELD.to_owned(), variable: variable_of(name), file }
}

/// The home of the user.
pub(crate) fn home() -> Option<PathBuf> {
    env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// `my-notes` has its key in `MY_NOTES_API_KEY`.
fn variable_of(name: &str) -> String {
    let name: String =
        name.chars().map(|character| if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' }).collect();
    let start = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    format!("{start}{name}_API_KEY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_all_clients_take() {
        for (name, expected) in [("my-notes", "my-notes"), ("Shop & more", "Shop---more"), ("ü", "millrace"), ("", "millrace")] {
            assert_eq!(server_name(name), expected);
        }
        assert_eq!(server_name(&"a".repeat(100)).len(), MAX_NAME);
        assert_eq!((variable_of("my-notes"), variable_of("2nd")), ("MY_NOTES_API_KEY".into(), "_2ND_API_KEY".into()));
    }
}
