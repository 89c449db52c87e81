//! `millrace new`: an app that runs at once.

use std::{
    fs,
    io::{self, Write as _},
    path::{Component, Path},
};

use crate::{
    cli::New,
    output::{CommandError, CommandResult, print},
};

/// The files of a new app. `{{name}}` in `millrace.yaml` is its name.
const FILES: [(&str, &str); 9] = [
    ("millrace.yaml", include_str!("../../template/millrace.yaml")),
    (".gitignore", include_str!("../../template/gitignore")),
    ("app/adapters/notes.yaml", include_str!("../../template/notes.yaml")),
    ("app/adapters/notes.sql", include_str!("../../template/notes.sql")),
    ("app/presenters/note.yaml", include_str!("../../template/note.yaml")),
    ("app/tools/find-notes/config.yaml", include_str!("../../template/find-notes.yaml")),
    ("app/tools/add-note/config.yaml", include_str!("../../template/add-note.yaml")),
    ("app/tools/greet/config.yaml", include_str!("../../template/greet.yaml")),
    ("app/tools/greet/handler.ts", include_str!("../../template/greet.ts")),
];

pub(super) fn run(arguments: &New) -> CommandResult {
    let folder = &arguments.name;
    let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)).ok_or_else(|| {
        let rule = "a name has small letters, digits, `-` and `_`, and begins with a letter";
        CommandError::Usage(format!("`{}` cannot be an app's name: {rule}", folder.display()))
    })?;
    // What such a path names depends on folders that may not be there yet.
    if folder.components().skip_while(|part| *part == Component::ParentDir).any(|part| part == Component::ParentDir) {
        return Err(CommandError::Usage(format!("`{}` has `..` after a folder's name; write the path without it", folder.display())));
    }
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) || folder.is_file() {
        return Err(CommandError::Usage(format!("`{}` exists already and is not empty; choose another name", folder.display())));
    }
    for (path, text) in FILES {
        write(&folder.join(path), &text.replace("{{name}}", name))?;
    }
    print(format_args!("created `{name}`; start it with `millrace dev {}`", folder.display()))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

fn write(path: &Path, text: &str) -> CommandResult {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::OpenOptions::new().write(true).create_new(true).open(path))
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => CommandError::Wrong(format!("`{}` exists already; it was not changed", path.display())),
            _ => CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())),
        })
}
