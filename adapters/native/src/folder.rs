//! Folders of files that are copied where they can be written.

use std::{fs, io, path::Path};

/// Calls `copy` with each file below `from` and its place below `to`, whose folders are made.
/// Nothing is copied where there is no `from`.
///
/// # Errors
/// A folder cannot be read or made, or `copy` fails.
pub fn copy_files(from: &Path, to: &Path, copy: &dyn Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_files(&entry.path(), &target, copy)?,
            false => copy(&entry.path(), &target)?,
        }
    }
    Ok(())
}
