//! A client's configuration file, changed in one step.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::output::{CommandError, CommandResult};

/// The largest file that is changed.
const MAX_BYTES: u64 = 16 << 20;

/// The most links, one after another, that are followed to it.
const MAX_LINKS: usize = 40;

/// What became of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    Created,
    Changed {
        /// The file as it was.
        backup: PathBuf,
    },
    Unchanged,
}

/// Gives a file the text that `merged` makes of it, which is empty for one that does not exist. A
/// reader sees the old text or the new one. The old one is kept beside the file.
///
/// # Errors
/// `merged` fails, which then says what is wrong with the file; the file cannot be read or written,
/// or somebody else writes it now.
pub(super) fn merge(file: &Path, merged: impl FnOnce(&str) -> Result<String, String>) -> CommandResult<Change> {
    let real = target(file);
    let failed = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be written: {error}", file.display()));
    let before = read(&real)?;
    let text = match &before {
        None => "",
        Some(bytes) => std::str::from_utf8(bytes)
            .map_err(|_| CommandError::Wrong(format!("`{}` is not UTF-8, and was not changed", file.display())))?,
    };
    let after = merged(text).map_err(|reason| CommandError::Wrong(format!("`{}` {reason}", file.display())))?;
    if before.as_deref() == Some(after.as_bytes()) {
        return Ok(Change::Unchanged);
    }
    if let Some(folder) = real.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let backup = beside(&real, ".before-millrace");
    if before.is_some() {
        fs::copy(&real, &backup).map_err(failed)?;
    }
    let unfinished = beside(&real, &format!(".{}.new", std::process::id()));
    let outcome = replace(&real, &unfinished, before.as_deref(), after.as_bytes());
    if outcome.is_err() {
        drop(fs::remove_file(&unfinished));
    }
    match outcome.map_err(failed)? {
        false => Err(CommandError::Wrong(format!("`{}` was changed by another program just now; run this again", file.display()))),
        true if before.is_some() => Ok(Change::Changed { backup }),
        true => Ok(Change::Created),
    }
}

/// The file itself: a link stays a link, also where it leads to a file that does not exist yet.
fn target(file: &Path) -> PathBuf {
    let mut target = file.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    fs::canonicalize(&target).unwrap_or(target)
}

fn replace(file: &Path, unfinished: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut new = options.open(unfinished)?;
    if before.is_some() {
        new.set_permissions(fs::metadata(file)?.permissions())?;
    }
    new.write_all(after)?;
    new.sync_all()?;
    drop(new);
    let now = match fs::read(file) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if now.as_deref() != before {
        fs::remove_file(unfinished)?;
        return Ok(false);
    }
    fs::rename(unfinished, file)?;
    Ok(true)
}

fn read(file: &Path) -> CommandResult<Option<Vec<u8>>> {
    let unreadable = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be read: {error}", file.display()));
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error)),
        Ok(data) if !data.is_file() => Err(CommandError::Wrong(format!("`{}` is not a file", file.display()))),
        Ok(data) if data.len() > MAX_BYTES => {
            Err(CommandError::Wrong(format!("`{}` has more than {} MB, and was not changed", file.display(), MAX_BYTES >> 20)))
        }
        Ok(_) => fs::read(file).map(Some).map_err(unreadable),
    }
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_file_is_made_then_changed_then_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b.json");
        let to = |text: &str| {
            let text = text.to_owned();
            merge(&file, move |_| Ok(text))
        };
        assert_eq!(to("1").unwrap(), Change::Created);
        let backup = folder.path().join("a/b.json.before-millrace");
        assert_eq!(to("2").unwrap(), Change::Changed { backup: fs::canonicalize(&file).unwrap().with_file_name("b.json.before-millrace") });
        assert_eq!(to("2").unwrap(), Change::Unchanged);
        assert_eq!((fs::read(&file).unwrap(), fs::read(&backup).unwrap()), (b"2".into(), b"1".into()));
        assert_eq!(names(&folder.path().join("a")), ["b.json", "b.json.before-millrace"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_rights_stay_as_they_are() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
        fs::write(&real, "1").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        assert!(matches!(merge(&link, |text| Ok(format!("{text}2"))).unwrap(), Change::Changed { .. }));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read(&real).unwrap(), fs::metadata(&real).unwrap().permissions().mode() & 0o777), (b"12".into(), 0o640));
        let new = folder.path().join("new.json");
        let (dangling, further) = (folder.path().join("dangling.json"), folder.path().join("further.json"));
        symlink("further.json", &dangling).unwrap();
        symlink(&new, &further).unwrap();
        assert_eq!(merge(&dangling, |_| Ok("1".into())).unwrap(), Change::Created);
        assert!([dangling, further].iter().all(|link| fs::symlink_metadata(link).unwrap().is_symlink()));
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_wrong_or_changes_meanwhile_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        for bytes in [b"\xff".as_slice(), b"mine"] {
            fs::write(&file, bytes).unwrap();
            assert!(merge(&file, |_| Err("is wrong".into())).is_err());
            assert_eq!(fs::read(&file).unwrap(), bytes);
        }
        assert_eq!(names(folder.path()), ["a.json"]);
        let other = file.clone();
        let Err(CommandError::Wrong(said)) = merge(&file, |_| {
            fs::write(&other, "theirs").unwrap();
            Ok("ours".into())
        }) else {
            panic!("it was written")
        };
        assert!(said.contains("another program"), "{said}");
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        assert!(matches!(merge(folder.path(), |_| Ok(String::new())), Err(CommandError::Wrong(said)) if said.contains("is not a file")));
    }
}
