//! The folder of the state file: made at the first use, and the file in it whole or not at all.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
};

use millrace_core::{Error, ErrorKind, ports::Random};
use rusqlite::{Connection, OpenFlags};

use super::{
    holder::{self, UNFINISHED},
    levels,
    step::{Failure, MOMENT, StateFile, Step, damaged, remove_file, wait_a_moment},
};

/// The file's name.
pub(super) const FILE: &str = "state.db";
/// Held while the file is made.
const LOCK: &str = ".lock";
/// What the file says of itself: "MRst", and the version of its tables.
const APPLICATION: i32 = 0x4d52_7374;
const VERSION: i32 = 1;
const PAGE_BYTES: u64 = 4096;
/// The longest file whose structure is looked at when it is opened, in bytes: some 50 milliseconds.
const LONGEST_LOOK: u64 = 32 << 20;

/// An entry is a counter (`total`) or a record (`value`). What each owner has, and all have
/// together, is kept by triggers.
const TABLES: &str = "
CREATE TABLE entries (key TEXT PRIMARY KEY, owner BLOB NOT NULL, expires_ms INTEGER NOT NULL, total INTEGER, value BLOB) WITHOUT ROWID;
CREATE INDEX by_expiry ON entries (expires_ms);
CREATE TABLE owners (owner BLOB PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE whole (bytes INTEGER NOT NULL);
INSERT INTO whole VALUES (0);
CREATE TRIGGER entry_made AFTER INSERT ON entries BEGIN
  INSERT INTO owners VALUES (new.owner, 128 + length(new.key) + coalesce(length(new.value), 0))
    ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
  UPDATE whole SET bytes = bytes + 128 + length(new.key) + coalesce(length(new.value), 0);
END;
CREATE TRIGGER entry_changed AFTER UPDATE OF value ON entries BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(new.value), 0) - coalesce(length(old.value), 0) WHERE owner = old.owner;
  UPDATE whole SET bytes = bytes + coalesce(length(new.value), 0) - coalesce(length(old.value), 0);
END;
CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
  UPDATE owners SET bytes = bytes - 128 - length(old.key) - coalesce(length(old.value), 0) WHERE owner = old.owner;
  DELETE FROM owners WHERE owner = old.owner AND bytes <= 0;
  UPDATE whole SET bytes = bytes - 128 - length(old.key) - coalesce(length(old.value), 0);
END;
CREATE TABLE places (turn INTEGER PRIMARY KEY AUTOINCREMENT, gate TEXT NOT NULL, holder TEXT NOT NULL, runs INTEGER NOT NULL, until_ms INTEGER NOT NULL);
CREATE INDEX by_gate ON places (gate, runs);
INSERT INTO sqlite_sequence (name, seq) VALUES ('places', abs(random()) >> 20);
";

/// How long SQLite's log stays when what it has is in the file, in bytes.
const LONGEST_LOG: u64 = 8 << 20;

/// How often the lock of the one who makes the file is tried, with a moment between two.
const ATTEMPTS_TO_LOCK: i32 = 500;

/// Opens the file in a folder, and makes both where they are absent.
pub(super) fn open(folder: &Path, capacity: u64, random: &dyn Random) -> Step<StateFile> {
    let path = folder.join(FILE);
    let io = |error: io::Error| Failure::Own(unwritable(folder, &error));
    let lock = prepare(folder).map_err(io)?;
    // One isolate at a time: whoever finds the file finds all of it. Given back when it is closed.
    // A process that holds it and is stopped must not stop this one, too.
    let mut attempts = 0..ATTEMPTS_TO_LOCK;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if attempts.next().is_some() => thread::sleep(MOMENT),
            Err(TryLockError::WouldBlock) => return Err(Failure::Locked),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
    }
    holder::clear(folder);
    let exists = path.try_exists().map_err(io)?;
    if !exists {
        make(folder, &path, random)?;
    }
    drop(lock);
    // A file that is replaced from here on has another identity than the one that is open.
    let identity = identity(&path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)?;
    connection.busy_handler(Some(wait_a_moment))?;
    let said = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let length = fs::metadata(&path).map_or(0, |data| data.len());
    // An empty file is a database for SQLite, and none of ours.
    if length == 0 || said("application_id")? != APPLICATION {
        return Err(Failure::Own(Error::new(ErrorKind::Unavailable, damaged(&path))));
    }
    let version = said("user_version")?;
    if version != VERSION {
        let message = format!(
            "the state file `{}` is of another version of Millrace ({version}); name another folder with `MILLRACE_STATE`",
            path.display()
        );
        return Err(Failure::Own(Error::new(ErrorKind::Unavailable, message)));
    }
    let most_pages = capacity.saturating_mul(3) / PAGE_BYTES + 64;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA max_page_count = {most_pages}; \
         PRAGMA journal_size_limit = {LONGEST_LOG};"
    ))?;
    if length <= LONGEST_LOOK {
        let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(Failure::Own(Error::new(ErrorKind::Unavailable, damaged(&path)).with_source(found)));
        }
    }
    connection.set_prepared_statement_cache_capacity(40);
    levels::opened(&path, capacity);
    Ok(StateFile { connection, identity, is_durable: false.into() })
}

/// Makes the folder; its lock.
fn prepare(folder: &Path) -> io::Result<File> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match private().create(folder) {
        Ok(()) => fs::write(folder.join(".gitignore"), "*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    File::options().create(true).truncate(false).write(true).open(folder.join(LOCK))
}

/// Makes folders that only their user can enter, where the system has that.
#[cfg(unix)]
fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(not(unix))]
fn private() -> DirBuilder {
    DirBuilder::new()
}

/// What SQLite keeps beside a file.
pub(super) fn beside(of: &Path, ending: &str) -> PathBuf {
    let mut name = of.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Makes the file, and puts it into its place once it is whole.
fn make(folder: &Path, path: &Path, random: &dyn Random) -> Step<()> {
    let unfinished = folder.join(format!(".{}.{UNFINISHED}", holder::new_name(random)));
    let io = |error: io::Error| Failure::Own(unwritable(folder, &error));
    // What another file has left would be taken for this one's.
    for ending in ["-wal", "-shm"] {
        let left = beside(path, ending);
        if left.exists() {
            tracing::warn!(file = %path.display(), "the state file was removed: what it recorded is not known, and calls that are sent again may happen again");
            remove_file(&left).map_err(io)?;
        }
    }
    let made = (|| {
        let connection = Connection::open(&unfinished)?;
        // Before the first table: what is removed can be given back to the disk then.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            let message = format!("the file system of `{}` cannot be shared by processes", folder.display());
            return Err(Failure::Own(Error::new(ErrorKind::Unavailable, message)));
        }
        connection
            .execute_batch(&format!("BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"))?;
        connection.close().map_err(|(_, error)| Failure::from(error))?;
        #[cfg(unix)]
        fs::set_permissions(&unfinished, std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(io)?;
        fs::rename(&unfinished, path).map_err(io)?;
        // Its name has to be on the disk before anything that it promises to keep.
        #[cfg(unix)]
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
        Ok(())
    })();
    if made.is_err() {
        for ending in ["", "-wal", "-shm"] {
            drop(remove_file(&beside(&unfinished, ending)));
        }
    }
    made
}

/// Which file stands at a path; nothing where none does, or where the system does not tell.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// An open file cannot be removed there.
#[cfg(not(unix))]
pub(super) fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// A folder that cannot be used.
pub(super) fn unwritable(folder: &Path, error: &io::Error) -> Error {
    let message = format!("the state folder `{}` cannot be written; name another one with `MILLRACE_STATE`", folder.display());
    Error::new(ErrorKind::Unavailable, message).with_source(error.to_string())
}
