//! An open database: guarded, with its prepared statements.

use std::{path::Path, sync::Arc, time::Duration};

use millrace_catalogue::SQLITE;
use millrace_core::{
    Error, ErrorKind, ErrorParts, Result,
    app::{Access, OnTooMany},
    ports::Query,
    value::{Rows, Value},
};
use rusqlite::{CachedStatement, Connection, Statement, Transaction, TransactionBehavior, config::DbConfig, limits::Limit};

use super::{
    authorizer::Authorizer,
    deadline,
    file::{self, OpenFile},
    functions,
    limits::{LONGEST_INDEXED_PATTERN, LONGEST_VALUE},
    location::DatabasePlace,
    mathematics, seed,
    setup::Setup,
    sqlite_error::{Phase, explain},
    statement_cache::StatementCache,
    value::{cell, cell_bytes},
};
#[cfg(feature = "describe")]
use crate::sqlite_text::description;
use crate::{
    shared::RowSink,
    sqlite_text::{self, SqliteValue},
};

/// The longest text in a statement with `MATCH`, in bytes: each word of a phrase is looked for at
/// each place of a text.
const LONGEST_SEARCH: usize = 1000;
/// The longest statement, in bytes.
const LONGEST_STATEMENT: i32 = 1_000_000;

/// An open database.
pub(super) struct Session {
    connection: Connection,
    authorizer: Arc<Authorizer>,
    known: StatementCache,
    read_only: bool,
    file: Option<OpenFile>,
}

impl Session {
    /// Opens the database, and makes it where it does not exist and may be made.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a file that is missing or cannot be opened
    /// and for a seed that fails; [`Busy`](ErrorKind::Busy) where the journal mode cannot be set
    /// because the database is locked.
    pub(super) fn open(setup: &Setup, now_ms: u64) -> Result<Self> {
        let (mut connection, file) = match &setup.location.place {
            DatabasePlace::Memory => (open_memory(setup)?, None),
            DatabasePlace::File { path, shown, has_variables } => {
                let opened = file::open(setup, path, shown, now_ms);
                let (connection, file) = opened.map_err(|error| if *has_variables { without_path(error, path, shown) } else { error })?;
                (connection, Some(file))
            }
        };
        if file.is_some() {
            set_journal_mode(&connection, setup)?;
        }
        let authorizer = Arc::new(Authorizer::default());
        guard(&mut connection, setup, &authorizer).map_err(|error| explain(error, Phase::Step))?;
        Ok(Self { connection, authorizer, known: StatementCache::new(setup.options.statement_cache), read_only: setup.read_only, file })
    }

    /// Whether the file of that name is still the one that is open.
    pub(super) fn is_current(&mut self, now_ms: u64) -> bool {
        self.file.as_mut().is_none_or(|file| file.is_current(now_ms))
    }

    /// Whether opening again can help. A database in memory would be lost with its connection.
    pub(super) const fn can_be_replaced(&self) -> bool {
        self.file.is_some()
    }

    /// Checks that the database answers and is one.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn ping(&self) -> Result<()> {
        // The schema is read from the file, which `SELECT 1` is not.
        let asked = self.connection.prepare_cached("SELECT count(*) FROM sqlite_schema");
        let answered = asked.and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)));
        answered.map(|_| ()).map_err(|error| explain(error, Phase::Step))
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// Any [`ErrorKind`] but `Cancelled`. Nothing is changed then: a statement that writes takes
    /// effect as a whole or not at all.
    pub(super) fn run(&self, query: &Query<'_>) -> Result<Rows> {
        self.with_prepared(query, |statement| self.run_prepared(statement, query))
    }

    /// Runs one of the driver's own statements.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn run_own(&self, query: &Query<'_>) -> Result<Rows> {
        self.with_own_prepared(query, |statement| self.run_prepared(statement, query))
    }

    /// Runs one of the driver's own statements within the transaction that is open.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn run_own_within(&self, query: &Query<'_>) -> Result<Rows> {
        self.with_own_prepared(query, |statement| self.step(statement, query))
    }

    /// Runs one statement within the transaction that is open.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn run_within(&self, query: &Query<'_>) -> Result<Rows> {
        self.with_prepared(query, |statement| self.step(statement, query))
    }

    /// Begins a transaction, which is rolled back unless it is committed.
    ///
    /// # Errors
    /// [`Busy`](ErrorKind::Busy) for one that writes, while another one does.
    pub(super) fn begin(&self, writes: bool) -> Result<OpenTransaction<'_>> {
        let behavior = if writes { TransactionBehavior::Immediate } else { TransactionBehavior::Deferred };
        self.authorizer.start();
        OpenTransaction::begin(&self.connection, &self.authorizer, behavior).map_err(|error| explain(error, Phase::Step))
    }

    /// Runs a prepared statement within the transaction that is open.
    fn step(&self, statement: &mut CachedStatement<'_>, query: &Query<'_>) -> Result<Rows> {
        self.bind(statement, query)?;
        if statement.column_count() == 0 {
            let affected = execute(&self.connection, statement).map_err(|error| refused(&self.authorizer, query, error, Phase::Step))?;
            return Ok(Rows { affected, ..Rows::default() });
        }
        let (rows, truncated) = read(statement, query, &self.authorizer)?;
        let (text, _) = query.statement(SQLITE.name)?;
        Ok(Rows { columns: self.known.names(text, statement), rows, truncated, ..Rows::default() })
    }

    /// The columns of the result of a statement, which does not run.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[cfg(feature = "describe")]
    pub(super) fn describe(&self, query: &Query<'_>) -> Result<Vec<millrace_core::ports::Column>> {
        let own = |error| explain(error, Phase::Step);
        let loose: i64 = self.connection.query_row(description::LOOSE_TABLES, [], |row| row.get(0)).map_err(own)?;
        self.with_prepared(query, |statement| {
            let (text, _) = query.statement(SQLITE.name)?;
            let declared: Vec<Option<String>> = statement.columns().map(|column| column.decl_type().map(str::to_owned)).collect();
            let names = self.known.names(text, statement);
            Ok(description::columns(text, loose == 0, names.iter().cloned().zip(declared)))
        })
    }

    /// Prepares the statement of a query, does `work` with it, and keeps it where it may be kept.
    fn with_prepared<T>(&self, query: &Query<'_>, work: impl FnOnce(&mut CachedStatement<'_>) -> Result<T>) -> Result<T> {
        let (text, values) = query.statement(SQLITE.name)?;
        let mut statement = self.prepare(text, query)?;
        let kept = self.known.keep(&self.connection, text, &statement, self.authorizer.searches());
        let searches = kept.unwrap_or_else(|| self.authorizer.searches());
        let outcome = if searches { check_search(values) } else { Ok(()) }.and_then(|()| work(&mut statement));
        let outcome = outcome.map_err(|error| sqlite_text::of_search(error, || searches));
        if kept.is_none() {
            statement.discard();
        }
        outcome
    }

    /// Prepares one of the driver's own statements and does `work` with it. They are few, and take
    /// no place of those that an app has.
    fn with_own_prepared(&self, query: &Query<'_>, work: impl FnOnce(&mut CachedStatement<'_>) -> Result<Rows>) -> Result<Rows> {
        work(&mut self.prepare(query.statement(SQLITE.name)?.0, query)?)
    }

    fn prepare(&self, text: &str, query: &Query<'_>) -> Result<CachedStatement<'_>> {
        sqlite_text::nul(text)?;
        self.authorizer.start();
        self.connection.prepare_cached(text).map_err(|error| refused(&self.authorizer, query, located(error, text), Phase::Prepare))
    }

    fn run_prepared(&self, statement: &mut CachedStatement<'_>, query: &Query<'_>) -> Result<Rows> {
        let reads = self.bind(statement, query)?;
        if statement.column_count() == 0 {
            let affected = execute(&self.connection, statement).map_err(|error| refused(&self.authorizer, query, error, Phase::Step))?;
            return Ok(Rows { affected, ..Rows::default() });
        }
        let (rows, truncated) = if reads {
            read(statement, query, &self.authorizer)?
        } else {
            let write = || write_and_read(&self.connection, statement, query, &self.authorizer);
            self.authorizer.with_own_transaction(write)?
        };
        let (text, _) = query.statement(SQLITE.name)?;
        let columns = self.known.names(text, statement);
        Ok(Rows { columns, rows, truncated, ..Rows::default() })
    }

    /// Binds the values of a statement that may run; whether it only reads.
    fn bind(&self, statement: &mut Statement<'_>, query: &Query<'_>) -> Result<bool> {
        let (text, values) = query.statement(SQLITE.name)?;
        // SQLite takes an explanation for what it explains.
        let reads = statement.readonly() || statement.is_explain() != 0;
        if (self.read_only || query.is_guarded()) && !reads {
            // Some of what is refused is refused at its first step only.
            sqlite_text::check(text, SQLITE.name)?;
            return Err(Error::new(ErrorKind::Denied, "the statement writes, and the adapter is read-only"));
        }
        bind(statement, values)?;
        Ok(reads)
    }
}

/// A transaction of the driver's own, rolled back unless it is committed. Statements between its
/// beginning and its end may not end it.
pub(super) struct OpenTransaction<'a> {
    transaction: Option<Transaction<'a>>,
    authorizer: &'a Authorizer,
}

impl<'a> OpenTransaction<'a> {
    fn begin(connection: &'a Connection, authorizer: &'a Authorizer, behavior: TransactionBehavior) -> rusqlite::Result<Self> {
        let begun = authorizer.with_own_transaction(|| Transaction::new_unchecked(connection, behavior))?;
        Ok(Self { transaction: Some(begun), authorizer })
    }

    /// Commits it.
    ///
    /// # Errors
    /// Nothing has taken effect then.
    pub(super) fn commit(mut self) -> Result<()> {
        let open = self.transaction.take();
        let committed = self.authorizer.with_own_transaction(|| open.map_or(Ok(()), Transaction::commit));
        committed.map_err(|error| explain(error, Phase::Step))
    }
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        let open = self.transaction.take();
        self.authorizer.with_own_transaction(|| drop(open));
    }
}

/// The same error, without the path in the words of SQLite and of the operating system.
fn without_path(mut error: Error, path: &Path, shown: &str) -> Error {
    let folder = path.parent().filter(|folder| folder.parent().is_some()).unwrap_or(path);
    let hide = |source: String| {
        let source = source.replace(&*path.to_string_lossy(), shown);
        if source.contains(&*folder.to_string_lossy()) { None } else { Some(source) }
    };
    error.source = error.source.take().and_then(hide);
    error
}

fn open_memory(setup: &Setup) -> Result<Connection> {
    if let Some(copy) = &setup.copy {
        return copy.open(setup.options.foreign_keys);
    }
    let connection = Connection::open_in_memory().map_err(|error| explain(error, Phase::Step))?;
    if let Some(text) = &setup.seed {
        seed::fill(&connection, ":memory:", text, setup.options.foreign_keys)?;
    }
    Ok(connection)
}

/// Sets the journal mode that the options ask for; SQLite stays with the old one, without an error,
/// where it cannot.
fn set_journal_mode(connection: &Connection, setup: &Setup) -> Result<()> {
    let Some(wanted) = setup.options.journal_mode else { return Ok(()) };
    // A lock is waited for by the connector.
    let asked = connection.busy_timeout(Duration::ZERO);
    let set = asked.and_then(|()| connection.pragma_update_and_check(None, "journal_mode", wanted, |row| row.get::<_, String>(0)));
    match set.map_err(|error| explain(error, Phase::Step))? {
        mode if mode == wanted => Ok(()),
        mode => {
            let message = format!("option `journal_mode` of connector `sqlite` cannot be set: the database stays in mode `{mode}`");
            Err(Error::new(ErrorKind::Configuration, message))
        }
    }
}

/// Sets what no statement may change.
fn guard(connection: &mut Connection, setup: &Setup, authorizer: &Arc<Authorizer>) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(StatementCache::capacity(setup.options.statement_cache));
    // A lock is waited for by the connector, not on the isolate's thread.
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, setup.options.foreign_keys)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT)?;
    let like_uses_index = setup.options.like_uses_index;
    let longest_pattern = if like_uses_index { LONGEST_INDEXED_PATTERN } else { functions::LONGEST_PATTERN };
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_pattern)?;
    functions::install(connection, like_uses_index)?;
    mathematics::install(connection)?;
    if setup.read_only {
        connection.pragma_update(None, "query_only", true)?;
    }
    connection.progress_handler(deadline::STEPS, Some(deadline::is_over))?;
    let judge = Arc::clone(authorizer);
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| judge.judge(context)))
}

fn refused(authorizer: &Authorizer, query: &Query<'_>, error: rusqlite::Error, phase: Phase) -> Error {
    let explained = explain(error, phase);
    let Some(what) = authorizer.take_refused() else { return explained };
    // In the words of every driver of the dialect, where they see it, too.
    let judged = query.statement(SQLITE.name).and_then(|(text, _)| sqlite_text::check(text, SQLITE.name));
    let judged = judged.err().unwrap_or_else(|| Error::new(ErrorKind::Denied, format!("connector `sqlite` does not run `{what}`")));
    let ErrorParts { kind, message, .. } = judged.into_parts();
    explained.with_kind(kind).with_message(message)
}

/// The same error, with the place counted from the start of the whole text: rusqlite trims it, and
/// looks at what follows a statement on its own.
fn located(error: rusqlite::Error, text: &str) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqlInputError { error, msg, sql, offset } => {
            let before = text.trim_end().len().saturating_sub(sql.len());
            let offset = offset.saturating_add(i32::try_from(before).unwrap_or(i32::MAX));
            rusqlite::Error::SqlInputError { error, msg, sql, offset }
        }
        other => other,
    }
}

/// Checks the values of a statement with `MATCH`: one of them is what is searched for.
fn check_search(params: &[Value]) -> Result<()> {
    let longest = params.iter().map(|value| if let Value::Text(text) = value { text.len() } else { 0 }).max().unwrap_or(0);
    if longest <= LONGEST_SEARCH {
        return Ok(());
    }
    let message =
        format!("a text of the statement with `MATCH` has {longest} bytes, and connector `sqlite` takes at most {LONGEST_SEARCH} there");
    Err(Error::new(ErrorKind::Data, message))
}

fn bind(statement: &mut Statement<'_>, params: &[Value]) -> Result<()> {
    let places = statement.parameter_count();
    if places != params.len() {
        let message = format!("the statement takes {places} values, and {} were given", params.len());
        return Err(Error::new(ErrorKind::Syntax, message));
    }
    for (index, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, SqliteValue::of(value)).map_err(|error| explain(error, Phase::Step))?;
    }
    Ok(())
}

/// Runs a statement without columns; how many rows it changed.
fn execute(connection: &Connection, statement: &mut Statement<'_>) -> rusqlite::Result<u64> {
    let before = connection.total_changes();
    statement.raw_execute()?;
    // After a statement that changes no rows, `changes` still tells of the one before.
    Ok(if connection.total_changes() == before { 0 } else { connection.changes() })
}

/// Runs `… RETURNING`, all of which is undone when its rows are too many: without a transaction it
/// would stay half reported.
fn write_and_read(
    connection: &Connection,
    statement: &mut Statement<'_>,
    query: &Query<'_>,
    authorizer: &Authorizer,
) -> Result<(Vec<Vec<Value>>, bool)> {
    let failed = |error| refused(authorizer, query, error, Phase::Step);
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(failed)?;
    let rows = read(statement, query, authorizer)?;
    transaction.commit().map_err(failed)?;
    Ok(rows)
}

/// The rows, and whether there are more.
fn read(statement: &mut Statement<'_>, query: &Query<'_>, authorizer: &Authorizer) -> Result<(Vec<Vec<Value>>, bool)> {
    let failed = |error| refused(authorizer, query, error, Phase::Step);
    let mut cursor = statement.raw_query();
    // What is too large is undone.
    let undone =
        Query { access: Access::Read, on_too_many: if query.cuts() { query.on_too_many } else { OnTooMany::Error }, ..query.clone() };
    let mut sink = RowSink::of(&undone);
    while let Some(row) = cursor.next().map_err(failed)? {
        if sink.leaves_out() {
            break;
        }
        // Asked here, because the first step compiles a statement anew when the schema changed.
        let width = row.as_ref().column_count();
        let (mut cells, mut bytes) = (Vec::with_capacity(width), 0_usize);
        for index in 0..width {
            let value = row.get_ref(index).map_err(failed)?;
            bytes = bytes.saturating_add(cell_bytes(value));
            if bytes > query.max_bytes {
                break;
            }
            cells.push(cell(value));
        }
        if sink.admits(bytes) {
            sink.push(cells);
        } else {
            break;
        }
    }
    sink.finish().map_err(|failure| failure.error)
}
