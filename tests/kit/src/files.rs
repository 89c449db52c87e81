//! Apps that tests write.

use std::{fs, path::Path};

/// Writes a file of an app, and its folders.
///
/// # Panics
/// Where that fails.
pub fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, text));
    written.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// Writes files into a folder of their own.
///
/// # Panics
/// Where that fails.
#[must_use]
pub fn app<T: AsRef<str>>(files: &[(&str, T)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    for (path, text) in files {
        write(folder.path(), path, text.as_ref());
    }
    folder
}
