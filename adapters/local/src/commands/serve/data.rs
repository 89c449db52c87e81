//! `serve --user-data DIR`: databases in a folder of the user's, where no update of the bundle
//! touches them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use millrace_native::folder::copy_files;

use crate::output::{CommandError, CommandResult};

/// The folder beside a bundle whose files belong to the user once they are copied.
pub(in crate::commands) const DATA: &str = "data";
/// The folder beside a bundle whose files every version brings anew.
pub(in crate::commands) const READ_ONLY: &str = "read-only";

/// Makes the folder and copies what lies beside the bundle: a file of [`DATA`] where there is none
/// of its name yet, one of [`READ_ONLY`] where it is another.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn prepare(bundle: &Path, data: &Path) -> CommandResult {
    let failed = |error: io::Error| CommandError::Wrong(format!("the data folder `{}` cannot be written: {error}", data.display()));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(data).map_err(failed)?;
    copy_files(&bundle.join(DATA), data, &keep).map_err(failed)?;
    copy_files(&bundle.join(READ_ONLY), data, &renew).map_err(failed)
}

/// Copies a file unless there is one. Of two processes that start at the same time, one copies, and
/// what it writes afterwards stays.
fn keep(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Ok(());
    }
    let unfinished = unfinished(to);
    fs::copy(from, &unfinished)?;
    // Unlike a new name, a link never replaces a file.
    let linked = fs::hard_link(&unfinished, to);
    fs::remove_file(&unfinished)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // A file system without links.
        Err(_) => match fs::OpenOptions::new().write(true).create_new(true).open(to) {
            Ok(mut new) => io::copy(&mut fs::File::open(from)?, &mut new).map(drop),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        },
        Ok(()) => Ok(()),
    }
}

/// Copies a file unless it is there; its size and time tell.
fn renew(from: &Path, to: &Path) -> io::Result<()> {
    let data = fs::metadata(from)?;
    if fs::metadata(to).is_ok_and(|found| found.len() == data.len() && found.modified().ok() == data.modified().ok()) {
        return Ok(());
    }
    let unfinished = unfinished(to);
    fs::copy(from, &unfinished)?;
    fs::File::options().write(true).open(&unfinished)?.set_modified(data.modified()?)?;
    fs::rename(&unfinished, to)
}

fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_has_stays_and_what_is_read_only_is_renewed() {
        let folder = tempfile::tempdir().unwrap();
        let (bundle, data) = (folder.path().join("bundle"), folder.path().join("user/data"));
        let version = |own: &str, read_only: &str| {
            for (name, text) in [("data/a/own.db", own), ("read-only/known.db", read_only)] {
                let file = bundle.join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            prepare(&bundle, &data).unwrap();
        };
        let found = || ["a/own.db", "known.db"].map(|name| fs::read_to_string(data.join(name)).unwrap());
        version("one", "one");
        assert_eq!(found(), ["one", "one"]);
        fs::write(data.join("a/own.db"), "mine").unwrap();
        version("other", "other one");
        assert_eq!(found(), ["mine", "other one"]);
        assert_eq!(fs::read_dir(&data).unwrap().count(), 2, "nothing unfinished is left");
        prepare(&folder.path().join("no-bundle"), &data).unwrap();
    }
}
