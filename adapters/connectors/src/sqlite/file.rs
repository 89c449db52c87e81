//! The file of a database: found, made or refused, opened, and looked after while it is open.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use millrace_core::{Error, ErrorKind, Result, url::percent_coded_except};
use rusqlite::{Connection, OpenFlags};

use super::{seed, setup::Setup};

/// How often to look whether the file is still the one that was opened, in milliseconds.
const LOOK_EVERY_MS: u64 = 1000;

/// What tells a file from another one of the same name: device and inode.
type Identity = (u64, u64);

/// A file that was opened.
pub(super) struct OpenFile {
    path: PathBuf,
    identity: Option<Identity>,
    looked_ms: u64,
}

impl OpenFile {
    /// Whether the file of that name is still the one that is open.
    pub(super) fn is_current(&mut self, now_ms: u64) -> bool {
        if now_ms.abs_diff(self.looked_ms) < LOOK_EVERY_MS {
            return true;
        }
        self.looked_ms = now_ms;
        fs::metadata(&self.path).is_ok_and(|metadata| identity(&metadata) == self.identity)
    }
}

/// Opens the file, and makes it where it does not exist and there is a seed or leave to do so.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) for a file that is missing, is none or cannot be
/// opened, and for a seed that fails.
pub(super) fn open(setup: &Setup, path: &Path, shown: &str, now_ms: u64) -> Result<(Connection, OpenFile)> {
    let may_create = (setup.options.create || setup.location.create) && !setup.read_only;
    // Looked at in this order, a log without a file is a left-over: the file is always made before
    // its log.
    let log = ["-wal", "-journal"].into_iter().find(|suffix| with_suffix(path, suffix).exists());
    let mut found = look(path, shown)?;
    if found.is_none() {
        if let Some(suffix) = log {
            let message =
                format!("database file `{shown}` does not exist, and its log `{shown}{suffix}` does; remove it or restore the database");
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        if let Some(text) = &setup.seed {
            seed::create(path, shown, text, setup.options.foreign_keys)?;
            // The file is not named: its name may come from a variable.
            tracing::info!(adapter = setup.adapter, "database created from its seed");
            found = look(path, shown)?;
        } else if !may_create {
            let message = format!("database file `{shown}` does not exist");
            return Err(Error::new(ErrorKind::Configuration, message).with_source(path.display().to_string()));
        }
    }
    let mode = match (setup.read_only, may_create) {
        (true, _) => OpenFlags::SQLITE_OPEN_READ_ONLY,
        (false, false) => OpenFlags::SQLITE_OPEN_READ_WRITE,
        (false, true) => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = if setup.location.immutable {
        Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
    } else {
        Connection::open_with_flags(path, flags)
    };
    let connection = opened.map_err(|error| {
        Error::new(ErrorKind::Configuration, format!("database file `{shown}` cannot be opened")).with_source(error.to_string())
    })?;
    // A file that SQLite itself made just now.
    let identity = match found {
        Some(identity) => identity,
        None => look(path, shown)?.flatten(),
    };
    Ok((connection, OpenFile { path: path.to_owned(), identity, looked_ms: now_ms }))
}

/// Looks for the file: `None` where there is none, else what tells it from others.
fn look(path: &Path, shown: &str) -> Result<Option<Option<Identity>>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(identity(&metadata))),
        Ok(_) => Err(Error::new(ErrorKind::Configuration, format!("database file `{shown}` is not a file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Error::new(ErrorKind::Configuration, format!("database file `{shown}` cannot be opened")).with_source(error.to_string()))
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Where files have no such number, a replaced file shows only by its errors.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<Identity> {
    None
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn immutable_uri(path: &Path) -> String {
    format!("file:{}?immutable=1", percent_coded_except(path.as_os_str().as_encoded_bytes(), b"/.-_"))
}
