//! Counters, records and places in a SQLite file, which all isolates of a machine share: those of
//! one server, and those of several servers that have the same folder.
//!
//! ```text
//! FOLDER/state.db, -wal, -shm   the entries; made at the first use, whole or not at all
//! FOLDER/.lock                  held while the file is made
//! FOLDER/.NAME.isolate          held by an isolate for as long as it lives
//! FOLDER/.gitignore             leaves all of it out
//! ```
//!
//! A step is a transaction on the isolate's own thread, of some tens of microseconds; the lock of
//! another one is waited for without holding the isolate, as in the driver of SQLite.
//!
//! # What survives
//! | | |
//! |---|---|
//! | a process that is killed | loses nothing: what was committed is the system's by then |
//! | a machine that loses power | keeps each record that was made where there was none, which is written through to the disk before the step is over. What came after it may be lost: a counter, or the answer in its place |
//!
//! # How long it gets
//! What counters and records take is bounded, and so is the file. What has expired is removed by
//! the steps that make something new, and space that is free is given back to the disk by some of
//! them. SQLite's log is cut to 8 MiB. [`levels`] and [`look`] say how all of that is.
//!
//! # What fails
//! A file that is damaged, that another version wrote, or that cannot be written is an error of
//! each step, never an empty store: whoever asks decides what a call without the store does.
//! Whoever removes the file begins a new one, and the log says so.
//!
//! # Who still lives
//! An isolate holds a lock on a file of its own, which the system takes back when its process ends,
//! however it does. So nobody has to tell a process from another one with its number.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    path::PathBuf,
    rc::Rc,
    time::Duration,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Counted, Entered, Exactness, LocalFuture, Places, Random, StateStore},
};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, params};

use crate::share;

mod folder;
mod holder;
pub mod levels;
pub mod look;
mod places;
mod step;

use holder::Holder;
use levels::Refusal;
use step::{Durability, Failure, StateFile, Step, damaged, number};

/// How many bytes of counters and records are kept at the most; the file may be some three times as
/// long.
pub const DEFAULT_FILE_BYTES: u64 = 512 << 20;

/// The longest record, in bytes.
const LONGEST_RECORD: usize = 4 << 20;
/// How long a step waits for those of others, in milliseconds, whatever the attempts themselves
/// take: one that a call without the store can do without, and one that it cannot.
const PATIENCE_TO_COUNT_MS: u64 = 1000;
const PATIENCE_MS: u64 = 5000;
/// The longest pause between two attempts.
const LONGEST_PAUSE_MS: u64 = 8;
/// How long a file that cannot be used is not tried again, in milliseconds.
const REST_MS: u64 = 1000;
/// How many entries whose time is over a new one removes: more than one, so that they become fewer;
/// and one that finds no room.
const SWEEP: u32 = 4;
const SWEEP_FOR_ROOM: u32 = 64;
/// After how many new entries the file is looked at for space to give back, how many free pages it
/// keeps, and how many it gives back at a time: a millisecond or two.
const COMPACT_EVERY: u32 = 16;
const SPARE_PAGES: i64 = 256;
const COMPACT_PAGES: u32 = 128;
/// How often a place is given back at once; after that, with a later step.
const ATTEMPTS_TO_LEAVE: u32 = 20;

/// The store of one isolate.
pub struct FileState {
    folder: PathBuf,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    capacity: u64,
    file: RefCell<Option<StateFile>>,
    holder: RefCell<Option<Holder>>,
    /// Why the file cannot be used, and until when it is not tried again.
    failed: RefCell<Option<(u64, Error)>>,
    /// Places that could not be given back yet.
    left: RefCell<Vec<i64>>,
    /// The gates whose places others are told of.
    gates: RefCell<BTreeSet<String>>,
    /// How many entries were made since the file was looked at for space that it can give back.
    made: Cell<u32>,
}

impl FileState {
    /// A store in this folder, which keeps at most `capacity` bytes. Touches no file before its
    /// first use.
    #[must_use]
    pub fn new(folder: PathBuf, capacity: u64, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Self {
        let (file, holder, failed, left) = Default::default();
        Self { folder, clock, random, capacity, file, holder, failed, left, gates: RefCell::default(), made: Cell::new(0) }
    }

    /// Opens the file, makes it where it is absent, and looks whether it is sound.
    ///
    /// # Errors
    /// It cannot be used. The message names the file, and what to do.
    pub fn probe(&self) -> Result<()> {
        self.attempt(|file, _| {
            // Whether it can be written shows only then.
            file.change(Durability::Process, |transaction| Ok(transaction.execute("UPDATE whole SET bytes = bytes", [])?))
        })
        .map(drop)
        .or_else(|failure| match failure {
            // Somebody is at work, so it can be used.
            Failure::Locked => Ok(()),
            failure => Err(self.error(failure)),
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(folder::FILE)
    }

    /// Does a step, again and again while another process is at work.
    async fn patiently<T>(&self, patience_ms: u64, step: impl Fn(&mut StateFile, u64) -> Step<T>) -> Result<T> {
        let until_ms = self.clock.now_ms().saturating_add(patience_ms);
        let mut pause_ms = 1;
        loop {
            match self.attempt(&step) {
                Ok(done) => return Ok(done),
                Err(Failure::Locked) if self.clock.now_ms() < until_ms => {
                    self.clock.sleep(pause_ms).await;
                    levels::waited(Duration::from_millis(pause_ms));
                    pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
                }
                Err(failure) => return Err(self.error(failure)),
            }
        }
    }

    /// Does a step once. The file is opened where it is not open, or is not the one any more that
    /// others open.
    fn attempt<T>(&self, step: impl FnOnce(&mut StateFile, u64) -> Step<T>) -> Step<T> {
        let now_ms = self.clock.now_ms();
        let mut slot = self.file.borrow_mut();
        if slot.as_ref().is_some_and(|file| file.identity != folder::identity(&self.path())) {
            tracing::warn!(
                file = %self.path().display(),
                "the state file was removed or replaced: what it recorded is not known any more, and calls that are sent again may happen again"
            );
            *slot = None;
            self.holder.take();
        }
        if let Some((until_ms, error)) = &*self.failed.borrow()
            && now_ms < *until_ms
        {
            return Err(Failure::Own(error.clone()));
        }
        let file = match &mut *slot {
            Some(file) => file,
            empty => empty.insert(folder::open(&self.folder, self.capacity, &*self.random)?),
        };
        self.give_back(file);
        step(file, now_ms)
    }

    /// Gives back what could not be given back before.
    fn give_back(&self, file: &mut StateFile) {
        let mut left = self.left.borrow_mut();
        if !left.is_empty() && file.change(Durability::Process, |transaction| places::leave(transaction, &left)).is_ok() {
            left.clear();
        }
    }

    /// What a failure means. One that is the file's closes it.
    fn error(&self, failure: Failure) -> Error {
        levels::refused(failure.refusal());
        let path = self.path();
        let shown = path.display();
        let error = match failure {
            Failure::Own(error) if error.kind == ErrorKind::Busy => return error,
            Failure::Own(error) => error,
            Failure::Locked => {
                let message = format!("the state file `{shown}` is locked by another process for too long");
                return Error::new(ErrorKind::Unavailable, message);
            }
            Failure::Sqlite(error) => {
                let message = match error.sqlite_error_code() {
                    // What is there can be read all the same.
                    Some(ErrorCode::DiskFull) => {
                        let message = format!("the disk has no space left for the state file `{shown}`, or its limit is reached");
                        return Error::new(ErrorKind::Unavailable, message).with_source(error.to_string());
                    }
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(&path),
                    Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                        format!("the state file `{shown}` cannot be written")
                    }
                    _ => format!("the state file `{shown}` does not work"),
                };
                Error::new(ErrorKind::Unavailable, message).with_source(error.to_string())
            }
        };
        // A step may report it while it has the file.
        if let Ok(mut slot) = self.file.try_borrow_mut() {
            *slot = None;
        }
        // What is told again while it rests must not make the rest longer.
        let (now_ms, mut failed) = (self.clock.now_ms(), self.failed.borrow_mut());
        if failed.as_ref().is_none_or(|(until_ms, _)| *until_ms <= now_ms) {
            *failed = Some((now_ms.saturating_add(REST_MS), error.clone()));
        }
        error
    }

    /// The name that this isolate is known by.
    fn name(&self) -> Result<String> {
        if let Some(holder) = &*self.holder.borrow() {
            return Ok(holder.name.clone());
        }
        // The folder is made with the file.
        self.attempt(|_, _| Ok(())).map_err(|failure| self.error(failure))?;
        let holder = Holder::new(&self.folder, &*self.random).map_err(|error| folder::unwritable(&self.folder, &error))?;
        Ok(self.holder.borrow_mut().insert(holder).name.clone())
    }

    /// Makes an entry. Whether its owner has room for it.
    fn insert(&self, transaction: &Transaction<'_>, now_ms: u64, entry: NewEntry<'_>) -> Step<bool> {
        let NewEntry { key, owner, total, value, ttl_s } = entry;
        transaction.prepare_cached("DELETE FROM entries WHERE key = ?1")?.execute([key])?;
        sweep(transaction, now_ms, SWEEP)?;
        if !self.fits(transaction, now_ms, share::Kind::New, owner, cost(key, value))? {
            return Ok(false);
        }
        let mut insert =
            transaction.prepare_cached("INSERT INTO entries (key, owner, expires_ms, total, value) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        insert.execute(params![key, owner, expiry(now_ms, ttl_s), total, value])?;
        let made = self.made.get() + 1;
        self.made.set(made % COMPACT_EVERY);
        if made >= COMPACT_EVERY {
            compact(transaction)?;
        }
        Ok(true)
    }

    /// Has others told of the places of a gate.
    fn came_to(&self, gate: &places::Gate<'_>) {
        if !self.gates.borrow().contains(gate.name) {
            levels::came_to(gate.name, gate.max);
            self.gates.borrow_mut().insert(gate.name.to_owned());
        }
    }

    /// Whether an owner has room for so many bytes more. What has expired makes some; what is
    /// removed for that stays removed where it does not suffice.
    fn fits(&self, transaction: &Transaction<'_>, now_ms: u64, kind: share::Kind, owner: &[u8], more: u64) -> Step<bool> {
        Ok(self.has_room(transaction, kind, owner, more)?
            || (sweep(transaction, now_ms, SWEEP_FOR_ROOM)? > 0 && self.has_room(transaction, kind, owner, more)?))
    }

    fn has_room(&self, transaction: &Transaction<'_>, kind: share::Kind, owner: &[u8], more: u64) -> Step<bool> {
        let mut query = transaction.prepare_cached("SELECT (SELECT bytes FROM owners WHERE owner = ?1), bytes FROM whole")?;
        let (owned, bytes) = query.query_row([owner], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, i64>(1)?)))?;
        let after = |bytes: i64| u64::try_from(bytes).unwrap_or(0).saturating_add(more);
        Ok(share::fits(kind, after(owned.unwrap_or(0)), after(bytes), self.capacity))
    }

    /// What the owner of an entry is told for which there is no room.
    fn full(&self) -> Failure {
        let message = format!("the caller's share of the state file `{}` is full", self.path().display());
        Failure::Own(Error::new(ErrorKind::Busy, message))
    }

    fn too_long(&self, value: &[u8]) -> Result<()> {
        match value.len() {
            0..=LONGEST_RECORD => Ok(()),
            bytes => {
                levels::refused(Refusal::Record);
                let message = format!("a record of {bytes} bytes is too large for the state file `{}`", self.path().display());
                Err(Error::new(ErrorKind::TooLarge, message))
            }
        }
    }
}

struct NewEntry<'a> {
    key: &'a str,
    owner: &'a [u8],
    total: Option<i64>,
    value: Option<&'a [u8]>,
    ttl_s: u32,
}

fn cost(key: &str, value: Option<&[u8]>) -> u64 {
    (share::OVERHEAD + key.len() + value.map_or(0, <[u8]>::len)) as u64
}

fn expiry(now_ms: u64, ttl_s: u32) -> i64 {
    number(now_ms.saturating_add(u64::from(ttl_s) * 1000))
}

/// Removes entries whose time is over, the oldest first; how many.
fn sweep(transaction: &Transaction<'_>, now_ms: u64, most: u32) -> rusqlite::Result<usize> {
    let mut delete = transaction
        .prepare_cached("DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_ms <= ?1 ORDER BY expires_ms LIMIT ?2)")?;
    delete.execute(params![number(now_ms), most])
}

/// Gives space that is free within the file back to the disk, some of it at a time. A file of an
/// earlier version keeps its length, and uses the space again.
fn compact(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let free = transaction.prepare_cached("PRAGMA freelist_count")?.query_row([], |row| row.get::<_, i64>(0))?;
    if free <= SPARE_PAGES {
        return Ok(());
    }
    let before = pages(transaction)?;
    // A row for each page.
    let mut give_back = transaction.prepare_cached(&format!("PRAGMA incremental_vacuum({COMPACT_PAGES})"))?;
    let mut given = give_back.query([])?;
    while given.next()?.is_some() {}
    if pages(transaction)? < before {
        levels::compacted();
    }
    Ok(())
}

fn pages(transaction: &Transaction<'_>) -> rusqlite::Result<i64> {
    transaction.prepare_cached("PRAGMA page_count")?.query_row([], |row| row.get(0))
}

/// The total of a counter that lives.
fn total(connection: &Connection, key: &str, now_ms: u64) -> rusqlite::Result<Option<i64>> {
    let mut query = connection.prepare_cached("SELECT total FROM entries WHERE key = ?1 AND expires_ms > ?2")?;
    Ok(query.query_row(params![key, number(now_ms)], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten())
}

/// A record that lives.
fn record(connection: &Connection, key: &str, now_ms: u64) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut query = connection.prepare_cached("SELECT value FROM entries WHERE key = ?1 AND expires_ms > ?2")?;
    Ok(query.query_row(params![key, number(now_ms)], |row| row.get::<_, Option<Vec<u8>>>(0)).optional()?.flatten())
}

impl StateStore for FileState {
    fn add<'a>(&'a self, key: &'a str, owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(self.patiently(PATIENCE_TO_COUNT_MS, move |file, now_ms| {
            // A total that is too high already, and a question, need no lock.
            let before = total(&file.connection, key, now_ms)?.unwrap_or(0);
            if by == 0 || before.saturating_add(by) > most {
                return Ok(Counted { added: by == 0 && before <= most, total: before });
            }
            let counted = file.change(Durability::Process, |transaction| {
                let before = total(transaction, key, now_ms)?;
                let after = before.unwrap_or(0).saturating_add(by);
                if after > most {
                    return Ok(Some(Counted { added: false, total: before.unwrap_or(0) }));
                }
                let fits = match before {
                    None => self.insert(transaction, now_ms, NewEntry { key, owner, total: Some(after), value: None, ttl_s })?,
                    Some(_) => {
                        transaction.prepare_cached("UPDATE entries SET total = ?2 WHERE key = ?1")?.execute(params![key, after])?;
                        true
                    }
                };
                Ok(fits.then_some(Counted { added: true, total: after }))
            });
            counted?.ok_or_else(|| self.full())
        }))
    }

    fn put_if_absent<'a>(&'a self, key: &'a str, owner: &'a [u8], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            self.too_long(value)?;
            self.patiently(PATIENCE_MS, |file, now_ms| {
                if let Some(there) = record(&file.connection, key, now_ms)? {
                    return Ok(Some(there));
                }
                let (there, fits) = file.change(Durability::Disk, |transaction| match record(transaction, key, now_ms)? {
                    Some(there) => Ok((Some(there), true)),
                    None => {
                        let entry = NewEntry { key, owner, total: None, value: Some(value), ttl_s };
                        Ok((None, self.insert(transaction, now_ms, entry)?))
                    }
                })?;
                if fits { Ok(there) } else { Err(self.full()) }
            })
            .await
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(self.patiently(PATIENCE_MS, move |file, now_ms| Ok(record(&file.connection, key, now_ms)?)))
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.too_long(value)?;
            self.patiently(PATIENCE_MS, |file, now_ms| {
                let fits = file.change(Durability::Process, |transaction| {
                    let mut query = transaction.prepare_cached("SELECT owner, coalesce(length(value), 0) FROM entries WHERE key = ?1")?;
                    let there = query.query_row([key], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?))).optional()?;
                    let Some((owner, length)) = there else {
                        return self.insert(transaction, now_ms, NewEntry { key, owner: b"", total: None, value: Some(value), ttl_s });
                    };
                    let more = (value.len() as u64).saturating_sub(u64::try_from(length).unwrap_or(0));
                    if more > 0 && !self.fits(transaction, now_ms, share::Kind::Answer, &owner, more)? {
                        return Ok(false);
                    }
                    let mut update =
                        transaction.prepare_cached("UPDATE entries SET value = ?2, total = NULL, expires_ms = ?3 WHERE key = ?1")?;
                    update.execute(params![key, value, expiry(now_ms, ttl_s)])?;
                    Ok(true)
                });
                if fits? { Ok(()) } else { Err(self.full()) }
            })
            .await
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.patiently(PATIENCE_MS, move |file, _| {
            file.change(Durability::Process, |transaction| {
                transaction.prepare_cached("DELETE FROM entries WHERE key = ?1")?.execute([key])?;
                Ok(())
            })
        }))
    }

    fn holder(&self) -> Result<Option<String>> {
        self.name().map(Some)
    }

    fn may_run(&self, holder: &str) -> bool {
        holder::may_run(&self.folder, holder)
    }

    /// Each look into a cache would take longer by more than half.
    fn exactness(&self) -> Exactness {
        Exactness::Isolate
    }
}

impl Places for FileState {
    fn enter<'a>(&'a self, gate: &'a str, max: u32, queue: u32, until_ms: u64) -> LocalFuture<'a, Result<Entered>> {
        Box::pin(async move {
            let name = self.name()?;
            let asked = places::Gate { name: gate, max, folder: &self.folder, own: &name };
            self.came_to(&asked);
            self.patiently(PATIENCE_TO_COUNT_MS, |file, now_ms| {
                file.change(Durability::Process, |transaction| places::enter(transaction, &asked, queue, now_ms, number(until_ms)))
            })
            .await
        })
    }

    fn advance<'a>(&'a self, gate: &'a str, max: u32, turn: i64) -> LocalFuture<'a, Result<Entered>> {
        Box::pin(async move {
            let name = self.name()?;
            let asked = places::Gate { name: gate, max, folder: &self.folder, own: &name };
            self.patiently(PATIENCE_TO_COUNT_MS, |file, now_ms| {
                // Where nothing has changed, no lock is needed.
                match places::look(&file.connection, &asked, turn, now_ms)? {
                    Some(entered) => Ok(entered),
                    None => file.change(Durability::Process, |transaction| places::advance(transaction, &asked, turn, now_ms)),
                }
            })
            .await
        })
    }

    fn leave(&self, turn: i64) {
        for _ in 0..ATTEMPTS_TO_LEAVE {
            match self.attempt(|file, _| file.change(Durability::Process, |transaction| places::leave(transaction, &[turn]))) {
                Ok(()) => return,
                Err(Failure::Locked) => {}
                Err(failure) => {
                    drop(self.error(failure));
                    break;
                }
            }
        }
        self.left.borrow_mut().push(turn);
    }
}

#[cfg(test)]
mod tests;
