//! What the steps of state files in this process came to, and which files and gates there are, for
//! who looks at them. Steps pay for what goes wrong only.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// How many files and gates are looked at.
const MOST_FILES: usize = 64;
const MOST_GATES: usize = 10_000;

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

/// The files that this process has opened, with how many bytes each may keep.
pub(super) fn files() -> BTreeMap<PathBuf, u64> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The gates that calls of this process came to, with how many places each has.
pub(super) fn gates() -> BTreeMap<String, u32> {
    GATES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
