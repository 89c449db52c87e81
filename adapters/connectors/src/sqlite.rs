//! `connector: sqlite`: the embedded engine, on a file or in memory.
//!
//! In go a statement in SQLite's placeholder style (`?1`, `?2`) and its values; out come rows, or
//! the number of rows that it changed. Nothing else of SQLite can be reached: a query is exactly
//! one statement, and `ATTACH`, transactions, temporary objects, extensions and every `PRAGMA` that
//! is not a mere question are refused.
//!
//! # Why rusqlite
//!
//! It offers a progress handler, `sqlite3_limit`, the authorizer and cached statements through a
//! safe interface. So a running statement ends at its deadline on the isolate's own thread, which
//! the crate `libsql` does not offer: there the statement runs on, and only the waiting ends.
//!
//! # Time
//!
//! A statement runs on the isolate's thread and is not awaited: SQLite is fast, and the deadline
//! bounds what is not. While it runs, the host is asked every 10 ms whether the caller is still
//! there; without one the statement ends. A locked database *is* awaited: the statement is tried
//! again after 1, 2, 4, … 32 ms, and other calls of the isolate go on meanwhile. This is safe for
//! statements that write, too: one that met a lock has changed nothing.
//!
//! # Values
//!
//! SQLite has integers, reals, text and blobs, and no booleans, decimals or dates. Going in: `Bool`
//! is 0 or 1; `Decimal`, `Timestamp` and a `U64` beyond `i64` are text; `Json` and `Array` are JSON
//! text, for `json_each(?1)`; a NaN is `NULL`. Coming out: a column declared `BOOLEAN` gives the
//! integer that is stored, and text that is not UTF-8 comes as bytes, because nothing else keeps it
//! whole.
//!
//! One text or blob may have 8 MiB; a longer one is refused. A pattern of `LIKE` and `GLOB` may
//! have 1,000 bytes.
//!
//! # Files
//!
//! A file that does not exist is made from the adapter's `seed`, whole or not at all; without one
//! it is an error. A file that is replaced or removed is noticed within a second, and a connection
//! that failed is opened anew at the next call. A database in WAL mode inside a folder that cannot
//! be written, such as a Lambda package, opens with `file:shop.db?immutable=1` and
//! `read_only: true`.
//!
//! # Options
//!
//! | option | default | |
//! |---|---|---|
//! | `busy_timeout` | `5s` | how long a locked database is waited for, never past the deadline |
//! | `create` | `false` | make an empty database where there is neither a file nor a `seed` |
//! | `foreign_keys` | `true` | enforce foreign keys |
//! | `journal_mode` | as the file is | `delete`, `persist`, `truncate` or `wal`; with `wal` a short read takes half the time, and none waits for a write |
//! | `like_uses_index` | `false` | `LIKE` and `GLOB` are SQLite's own, which look up a prefix in an index, and take patterns of 50 bytes only |
//! | `statement_cache` | `128` | how many prepared statements are kept, 8 MiB of them at most |
//!
//! `seed`, `read_only`, `timeout` and `max_rows` are options of every adapter and come as fields of
//! their own.
//!
//! Protocol: <https://sqlite.org/c3ref/intro.html>. Guarded as <https://sqlite.org/security.html>
//! advises.

mod authorizer;
mod copy;
mod deadline;
mod file;
mod functions;
mod limits;
mod location;
mod mathematics;
mod options;
mod pattern;
mod seed;
mod session;
mod setup;
mod sqlite_error;
mod statement_cache;
mod value;
mod work;

pub use copy::{AddedRow, Original};
pub use seed::is_of_seed;

use std::{cell::RefCell, path::Path, rc::Rc};

use millrace_catalogue::SQLITE;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, LocalFuture, Query, RecordedWrite},
    value::{Rows, Value},
};

use crate::{
    shared::{Call, ReadOnly, SessionDriver, StatementNotes, StatementPlace, connector_over_sessions},
    sqlite_text::{check, records::RECORDS},
};
use copy::Copy;
use deadline::Until;
use location::{DatabasePlace, Location};
use options::Options;
use session::Session;
use setup::Setup;
use work::{Work, outcome};

/// The longest pause between two attempts at a locked database.
const LONGEST_PAUSE_MS: u64 = 32;

/// A SQLite database, opened at its first query.
pub struct Sqlite {
    setup: Setup,
    busy_timeout_ms: u64,
    clock: Rc<dyn Clock>,
    session: RefCell<Option<Session>>,
}

impl Sqlite {
    /// Reads the settings of an adapter; touches no file.
    ///
    /// The connection string is a path, `file:` URI, `sqlite:path`, `sqlite://path` or `:memory:`.
    /// A relative path starts at `base`. The URIs may carry `?mode=ro|rw|rwc|memory`,
    /// `cache=private` and, for a database that is only read, `immutable=1`. A database in memory
    /// belongs to one isolate and is gone with it.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string of another database, an
    /// unknown option or a wrong value of one.
    pub fn open(connection: Connection, base: &Path, clock: Rc<dyn Clock>) -> Result<Self> {
        let location = Location::parse(connection.connection_string.expose(), base)?.shown_as(&connection.shown, base);
        let read_only = connection.read_only || location.read_only;
        if location.immutable && !read_only {
            let message = "`immutable=1` needs `read_only: true`: a database that is written cannot be immutable";
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        let options = Options::parse(&connection.options, read_only)?;
        Ok(Self {
            busy_timeout_ms: options.busy_timeout_ms,
            setup: Setup { adapter: connection.adapter, location, options, read_only, seed: connection.seed, copy: None },
            clock,
            session: RefCell::new(None),
        })
    }

    /// A copy of a database in memory, with the settings of an adapter.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_copy(settings: Connection, base: &Path, clock: Rc<dyn Clock>, original: Original, added: Vec<AddedRow>) -> Result<Self> {
        let mut sqlite = Self::open(settings, base, clock)?;
        // Its own options stay: who may not write to the file may not write to the copy.
        sqlite.setup.location.place = DatabasePlace::Memory;
        sqlite.setup.copy = Some(Copy::of(original, added));
        Ok(sqlite)
    }

    /// Does `work` on the open database, again and again while the database is locked.
    async fn patiently<T>(&self, until: Until<'_>, work: impl Fn(&mut Session) -> Result<T>) -> Result<T> {
        let deadline_ms = until.deadline_ms;
        let mut now_ms = self.clock.now_ms();
        if now_ms >= deadline_ms {
            return Err(sqlite_error::timed_out());
        }
        let patience_ms = self.busy_timeout_ms.min(deadline_ms - now_ms);
        let mut waited_ms = 0;
        let mut pause_ms = 1;
        loop {
            let outcome = self.attempt(now_ms, &until, &work);
            let is_busy = outcome.as_ref().is_err_and(|error| error.kind == ErrorKind::Busy);
            if !is_busy || waited_ms >= patience_ms {
                return outcome;
            }
            let next_ms = pause_ms.min(patience_ms - waited_ms);
            self.clock.sleep(next_ms).await;
            waited_ms += next_ms;
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
            now_ms = self.clock.now_ms();
            if now_ms >= deadline_ms {
                return outcome;
            }
        }
    }

    /// Does `work` once, opening the database where it is not open, and closing it after a failure
    /// that may be the connection's.
    fn attempt<T>(&self, now_ms: u64, until: &Until<'_>, work: impl Fn(&mut Session) -> Result<T>) -> Result<T> {
        let mut slot = self.session.borrow_mut();
        if slot.as_mut().is_some_and(|session| !session.is_current(now_ms)) {
            *slot = None;
        }
        let session = match &mut *slot {
            Some(session) => session,
            empty => empty.insert(Session::open(&self.setup, now_ms)?),
        };
        let (outcome, is_abandoned) = deadline::watched(&self.clock, now_ms, until, || work(session));
        if is_abandoned && outcome.is_err() {
            return Err(Error::new(ErrorKind::Cancelled, "the statement was stopped, because its caller went away"));
        }
        if outcome.as_ref().is_err_and(sqlite_error::is_of_connection) && session.can_be_replaced() {
            *slot = None;
        }
        outcome
    }
}

impl SessionDriver for Sqlite {
    const NAME: &'static str = SQLITE.name;

    fn is_read_only(&self) -> bool {
        self.setup.read_only
    }

    fn check(&self, text: &str, _values: &[Value], query: &Query<'_>, place: StatementPlace) -> Result<StatementNotes> {
        query.without_session(SQLITE.name)?;
        // Some of what is refused is refused at its first step only, where the transaction would
        // hide why. By itself, the authorizer sees it.
        if place != StatementPlace::Alone {
            check(text, SQLITE.name)?;
        }
        if place == (StatementPlace::Step { writes: true }) && self.setup.read_only {
            return Err(ReadOnly::Adapter.refuse());
        }
        Ok(StatementNotes::default())
    }

    async fn attempt(&self, call: Call<'_>) -> Result<RecordedWrite> {
        let attempt = |session: &mut Session| outcome(call.on(&mut Work::new(session, &self.clock), &RECORDS));
        self.patiently(Until::of(&call.query), attempt).await
    }

    #[cfg(feature = "describe")]
    async fn describe_columns(&self, query: &Query<'_>) -> Result<Option<Vec<millrace_core::ports::Column>>> {
        self.patiently(Until::of(query), |session| session.describe(query)).await.map(Some)
    }

    async fn ask(&self, deadline_ms: u64) -> Result<()> {
        self.patiently(Until { deadline_ms, caller: None }, |session| session.ping()).await
    }
}

connector_over_sessions!(Sqlite);
