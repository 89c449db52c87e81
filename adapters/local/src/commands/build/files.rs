//! Files of a build.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Writes a file unless it has these bytes already: whoever watches the folder starts anew at every write.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let unfinished = PathBuf::from(format!("{}.new", path.display()));
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, path)
}
