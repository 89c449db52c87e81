//! How the state files of this process are, read from them when somebody looks.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags};

use super::{folder, levels, step::number};

/// How long a look may wait for a lock: whoever writes does not wait for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// How a file is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileReading {
    /// Where it is.
    pub file: PathBuf,
    /// How long it is, with its log, in bytes.
    pub size_bytes: u64,
    /// What counters and records take, as it is counted for the shares of callers, in bytes.
    pub used_bytes: u64,
    /// What they may take.
    pub max_bytes: u64,
    /// How many there are.
    pub entries: u64,
    /// How long the oldest one whose time is over has been kept since, in milliseconds.
    pub overdue_ms: u64,
    /// The gates that calls of this process came to.
    pub gates: Vec<GateReading>,
}

/// How many calls hold a place of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateReading {
    /// Its name.
    pub gate: String,
    /// Calls that run.
    pub used: u64,
    /// Calls that wait.
    pub waiting: u64,
    /// How many may run.
    pub max: u32,
}

/// Looks at the files that this process has opened, on a connection of its own: for a thread that
/// no call waits for. A file that cannot be read now has no reading.
#[must_use]
pub fn look() -> Vec<FileReading> {
    levels::files().iter().filter_map(|(file, capacity)| of_file(file, *capacity).ok()).collect()
}

fn of_file(file: &Path, capacity: u64) -> rusqlite::Result<FileReading> {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    // One statement sees one state.
    let query = "SELECT (SELECT bytes FROM whole), (SELECT count(*) FROM entries), \
                 (SELECT min(expires_ms) FROM entries)";
    let (used, entries, first) =
        connection.query_row(query, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?)))?;
    let overdue_ms = first.map_or(0, |first| number(now_ms).saturating_sub(first).max(0));
    let length = |path: &Path| fs::metadata(path).map_or(0, |data| data.len());
    Ok(FileReading {
        file: file.to_owned(),
        size_bytes: length(file) + length(&folder::beside(file, "-wal")),
        used_bytes: used.try_into().unwrap_or(0),
        max_bytes: capacity,
        entries: entries.try_into().unwrap_or(0),
        overdue_ms: overdue_ms.try_into().unwrap_or(0),
        gates: gates(&connection, now_ms)?,
    })
}

fn gates(connection: &Connection, now_ms: u64) -> rusqlite::Result<Vec<GateReading>> {
    let known = levels::gates();
    let mut query = connection
        .prepare("SELECT count(*) FILTER (WHERE runs), count(*) FILTER (WHERE NOT runs) FROM places WHERE gate = ?1 AND until_ms > ?2")?;
    let mut readings = Vec::with_capacity(known.len());
    for (gate, max) in known {
        let counted = query.query_row((&gate, number(now_ms)), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        let (used, waiting) = (counted.0.try_into().unwrap_or(0), counted.1.try_into().unwrap_or(0));
        readings.push(GateReading { gate, used, waiting, max });
    }
    Ok(readings)
}
