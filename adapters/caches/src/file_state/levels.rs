//! How the state files of this process are: what their steps came to is counted here, and the rest
//! is read from the file when somebody looks. Steps pay for what goes wrong only.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags};

use super::{folder, step::number};

/// How many files and gates are looked at.
const MOST_FILES: usize = 64;
const MOST_GATES: usize = 10_000;
/// How long a look may wait for a lock: whoever writes does not wait for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why a step was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The caller's share is full.
    Share,
    /// The record is too long.
    Record,
    /// Another process held the file for too long.
    Lock,
    /// The disk is full, or the file's limit is reached.
    Disk,
    /// The file is damaged, of another version, or cannot be read or written.
    File,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Share, Self::Record, Self::Lock, Self::Disk, Self::File];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Share => "share_full",
            Self::Record => "record_too_large",
            Self::Lock => "locked",
            Self::Disk => "disk_full",
            Self::File => "file_unusable",
        }
    }
}

/// What steps of this process came to.
static REFUSED: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];
static WAITS: AtomicU64 = AtomicU64::new(0);
static WAITED_NS: AtomicU64 = AtomicU64::new(0);
static COMPACTIONS: AtomicU64 = AtomicU64::new(0);
/// The files that were opened, with how many bytes each may keep.
static FILES: Mutex<BTreeMap<PathBuf, u64>> = Mutex::new(BTreeMap::new());
/// The gates that calls came to, with how many places each has.
static GATES: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

pub(super) fn refused(why: Refusal) {
    if let Some(count) = REFUSED.get(why as usize) {
        count.fetch_add(1, Relaxed);
    }
}

/// A step waits for another process.
pub(super) fn waits() {
    WAITS.fetch_add(1, Relaxed);
}

/// It has waited so long.
pub(super) fn waited(time: Duration) {
    WAITED_NS.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
}

pub(super) fn compacted() {
    COMPACTIONS.fetch_add(1, Relaxed);
}

pub(super) fn opened(file: &Path, capacity: u64) {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if files.len() >= MOST_FILES {
        files.retain(|file, _| file.exists());
    }
    if files.len() < MOST_FILES || files.contains_key(file) {
        files.insert(file.to_owned(), capacity);
    }
}

pub(super) fn came_to(gate: &str, max: u32) {
    let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
    if gates.len() < MOST_GATES || gates.contains_key(gate) {
        gates.insert(gate.to_owned(), max);
    }
}

/// What the steps of this process came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCounts {
    /// How many were refused, in the order of [`Refusal::ALL`].
    pub refused: [u64; 5],
    /// How often one waited for another process.
    pub waits: u64,
    /// How long they waited together.
    pub waited: Duration,
    /// How often one gave space back to the disk.
    pub compactions: u64,
}

/// What the steps of this process came to. `None` where it has opened no file.
#[must_use]
pub fn counts() -> Option<StepCounts> {
    let has_file = !FILES.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
    let counts = || StepCounts {
        refused: REFUSED.each_ref().map(|count| count.load(Relaxed)),
        waits: WAITS.load(Relaxed),
        waited: Duration::from_nanos(WAITED_NS.load(Relaxed)),
        compactions: COMPACTIONS.load(Relaxed),
    };
    (has_file || refused_any()).then(counts)
}

fn refused_any() -> bool {
    REFUSED.iter().any(|count| count.load(Relaxed) > 0)
}

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
    let files = FILES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    files.iter().filter_map(|(file, capacity)| of_file(file, *capacity).ok()).collect()
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
    let known = GATES.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
