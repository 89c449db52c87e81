//! A step: what is done with the open file, and how it can fail.

use std::{
    cell::Cell,
    fs, io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use millrace_core::{Error, ErrorKind};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior::Immediate};

use super::levels::{self, Refusal};

/// How long another process's step is waited for on the thread itself: most take less than one of
/// these.
pub(super) const MOMENT: Duration = Duration::from_micros(100);
const MOMENTS: i32 = 20;

/// The open file.
pub(super) struct StateFile {
    pub(super) connection: Connection,
    /// Which file it is, where the system tells.
    pub(super) identity: Option<(u64, u64)>,
    /// Whether a commit waits for the disk.
    pub(super) is_durable: Cell<bool>,
}

/// Why a step did not succeed.
pub(super) enum Failure {
    /// Another process is at work.
    Locked,
    /// SQLite says so.
    Sqlite(rusqlite::Error),
    /// This store says so.
    Own(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            _ => Self::Sqlite(error),
        }
    }
}

impl Failure {
    /// What it is counted as.
    pub(super) fn refusal(&self) -> Refusal {
        match self {
            Self::Locked => Refusal::Lock,
            Self::Own(error) if error.kind == ErrorKind::Busy => Refusal::Share,
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Refusal::Disk,
            Self::Sqlite(_) | Self::Own(_) => Refusal::File,
        }
    }
}

pub(super) type Step<T> = std::result::Result<T, Failure>;

/// Whether what a transaction changes is on the disk when it is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    Process,
    Disk,
}

impl StateFile {
    /// A transaction that nobody else can come between.
    pub(super) fn change<T>(&mut self, durability: Durability, work: impl FnOnce(&Transaction<'_>) -> Step<T>) -> Step<T> {
        let is_durable = durability == Durability::Disk;
        if self.is_durable.get() != is_durable {
            self.connection.pragma_update(None, "synchronous", if is_durable { "FULL" } else { "NORMAL" })?;
            self.is_durable.set(is_durable);
        }
        let transaction = self.connection.transaction_with_behavior(Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// As SQLite has it.
pub(super) fn number(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// What is said of a file that is damaged.
pub(super) fn damaged(file: &Path) -> String {
    format!(
        "the state file `{}` is damaged, and nothing is done that needs it; move it away to begin a new one: what it recorded is not known \
         then, and calls that are sent again may happen again",
        file.display()
    )
}

/// Waits a moment for a step of another process.
pub(super) fn wait_a_moment(tries: i32) -> bool {
    if tries == 0 {
        levels::waits();
    }
    let began = Instant::now();
    thread::sleep(MOMENT);
    levels::waited(began.elapsed());
    tries < MOMENTS
}

/// Removes a file, which may be absent.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
