//! The folder of a new app: no file that is there is ever written over.

use std::{
    fs,
    io::{self, Write as _},
    path::{Component, Path},
};

use crate::output::{CommandError, CommandResult};

/// A folder that was empty, or not there.
pub(in crate::commands) struct AppFolder<'a> {
    /// Where it is.
    pub(in crate::commands) path: &'a Path,
    /// The app's name.
    pub(in crate::commands) name: &'a str,
}

impl<'a> AppFolder<'a> {
    /// Checks that an app can be made here; writes nothing.
    ///
    /// # Errors
    /// The path names no app, or something is there.
    pub(in crate::commands) fn new(path: &'a Path) -> CommandResult<Self> {
        let name = name_of(path)?;
        if has_parent_after_name(path) {
            return Err(CommandError::Usage(format!("`{}` has `..` after a folder's name; write the path without it", path.display())));
        }
        if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
            return Err(CommandError::Usage(format!("`{}` exists already and is not empty; choose another name", path.display())));
        }
        Ok(Self { path, name })
    }

    /// Writes a file that is not there yet.
    ///
    /// # Errors
    /// It is there, or cannot be written.
    pub(in crate::commands) fn write(&self, file: &str, text: &str) -> CommandResult {
        self.write_as(file, text, fs::OpenOptions::new().write(true).create_new(true))
    }

    /// The same, for a file that only its owner may read.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(in crate::commands) fn write_private(&self, file: &str, text: &str) -> CommandResult {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.write_as(file, text, &options)
    }

    fn write_as(&self, file: &str, text: &str, options: &fs::OpenOptions) -> CommandResult {
        let path = self.path.join(file);
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent).and_then(|()| options.open(&path)).and_then(|mut file| file.write_all(text.as_bytes())).map_err(
            |error| match error.kind() {
                io::ErrorKind::AlreadyExists => CommandError::Wrong(format!("`{}` exists already; it was not changed", path.display())),
                _ => CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())),
            },
        )
    }
}

/// The name of the app that a folder makes.
fn name_of(folder: &Path) -> CommandResult<&str> {
    folder.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)).ok_or_else(|| {
        let rule = "a name has small letters, digits, `-` and `_`, and begins with a letter";
        CommandError::Usage(format!("`{}` cannot be an app's name: {rule}", folder.display()))
    })
}

/// What such a path names depends on folders that may not be there yet.
fn has_parent_after_name(folder: &Path) -> bool {
    folder.components().skip_while(|part| *part == Component::ParentDir).any(|part| part == Component::ParentDir)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}
