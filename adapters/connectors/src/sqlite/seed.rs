//! Makes a database from the SQL of its adapter, whole or not at all.
//!
//! The database is built in a temporary file beside its place, written through to the disk, and
//! then given its name, unless that name is taken by now. So of several isolates or processes one
//! wins, the others open what it made, and nobody sees half a database.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

use millrace_core::{Error, ErrorKind, Result};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// The first half of a [`mark`]: `MR`.
const MARK: u32 = 0x4d52 << 16;

/// Makes the file at `path`, whose folders are made, too. Does nothing where another was faster.
///
/// The seed is the operator's text: it may be several statements, and no deadline bounds it.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration), with the words of SQLite or of the operating system
/// as `source`. No file is left.
pub(super) fn create(path: &Path, shown: &str, seed: &str, foreign_keys: bool) -> Result<()> {
    let cannot_create = |error: io::Error| {
        Error::new(ErrorKind::Configuration, format!("database file `{shown}` cannot be created")).with_source(error.to_string())
    };
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(cannot_create)?;
    let draft = draft(folder).map_err(cannot_create)?;

    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(draft.path(), flags).map_err(|error| refused(shown, &error))?;
    // Nothing has to survive a crash before the file has its name.
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF").map_err(|error| refused(shown, &error))?;
    fill(&connection, shown, seed, foreign_keys)?;
    sign(&connection, seed).map_err(|error| refused(shown, &error))?;
    connection.close().map_err(|(_, error)| refused(shown, &error))?;

    draft.as_file().sync_all().map_err(cannot_create)?;
    match draft.persist_noclobber(path) {
        Ok(_) => {}
        Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(failed) => return Err(cannot_create(failed.error)),
    }
    // The name is written through where a folder can be; where it cannot, the file is there all the
    // same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Whether the database file at `path` was created from this seed, and not from an earlier version
/// of it; `None` where that is unknown.
#[must_use]
pub fn is_of_seed(path: &Path, seed: &str) -> Option<bool> {
    // The application id is in the header: <https://sqlite.org/fileformat2.html#application_id>.
    let mut header = [0; 72];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let id = u32::from_be_bytes(*header.last_chunk()?);
    (header.starts_with(b"SQLite format 3\0") && id & (0xffff << 16) == MARK).then(|| id == mark(seed))
}

/// What a database has of its seed: two letters, and two bytes of its hash.
fn mark(seed: &str) -> u32 {
    let digest = Sha256::digest(seed);
    MARK | digest.first_chunk().map_or(0, |bytes| u32::from(u16::from_be_bytes(*bytes)))
}

/// Puts the mark into the file, as SQLite's application id, unless the seed has set one of its own.
fn sign(connection: &Connection, seed: &str) -> rusqlite::Result<()> {
    let own: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if own != 0 {
        return Ok(());
    }
    connection.pragma_update(None, "application_id", mark(seed))
}

/// Runs the seed on an empty database.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration), with SQLite's words as `source`.
pub(super) fn fill(connection: &Connection, shown: &str, seed: &str, foreign_keys: bool) -> Result<()> {
    let run = || {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, foreign_keys)?;
        connection.execute_batch(seed)
    };
    run().map_err(|error| refused(shown, &error))?;
    if connection.is_autocommit() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Configuration, format!("the seed of database `{shown}` leaves a transaction open; end it with `COMMIT`")))
}

/// An empty temporary file with the permissions of any new file.
fn draft(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".seed-").suffix(".db");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    builder.tempfile_in(folder)
}

fn refused(shown: &str, error: &rusqlite::Error) -> Error {
    // SQLite repeats the whole seed in the message of a syntax error.
    let source = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    Error::new(ErrorKind::Configuration, format!("the seed of database `{shown}` fails")).with_source(source)
}
