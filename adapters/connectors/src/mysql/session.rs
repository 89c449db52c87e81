//! A connection that has logged in: statements out, rows in.
//!
//! A statement is prepared once for a connection, and then sent with its values; the most recent
//! ones stay prepared.

use std::rc::Rc;

use bytes::Bytes;
use millrace_core::{
    Error, ErrorKind,
    ports::Query,
    value::{Rows, Value},
};

use super::{
    bind,
    cell::Column,
    packet::{Packets, Reader, ReceiveError, unknown},
    results::{Columns, ENVELOPE, Results, Server, status_of},
    server_error,
};
use crate::{
    mysql_text::{NO_STATEMENT_LEFT, Transaction, UNKNOWN_SETTING, UNKNOWN_STATEMENT, number_of},
    shared::{Execution, Pooled, ReadOnly, StatementFailure, own_query},
};

/// How many statements stay prepared. The server's own limit, for all connections together, is
/// 16,382.
const PREPARED: usize = 32;

/// A packet of this length is smaller than any server's limit by default.
const LARGE: usize = 1 << 20;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;

/// A transaction is open.
const IN_TRANSACTION: u16 = 1;
/// What holds for every statement, whatever the server's own defaults are, beside the
/// [`sql_mode`](super::mode). `DEFAULT` would be the server's value.
const SETTINGS: &str = "@@SESSION.time_zone = '+00:00', @@SESSION.autocommit = 1, @@SESSION.completion_type = 0, \
                        @@SESSION.sql_select_limit = 18446744073709551615, @@SESSION.sql_auto_is_null = 0";

/// A connection that has logged in.
pub(super) struct Session {
    packets: Packets,
    pub(super) server: Server,
    /// The `sql_mode`, until it is set.
    sql_mode: String,
    usable: bool,
    /// A call may have left something behind.
    has_traces: bool,
    /// What the server has been told to end a statement after, in milliseconds; `None` before it
    /// was told anything.
    limit_ms: Option<u64>,
    /// It can be told so.
    takes_limits: bool,
    /// The longest packet that the server takes; `None` before that mattered.
    longest: Option<usize>,
    /// The most recently used one is the last.
    prepared: Vec<Prepared>,
    /// Of the last answer.
    status: u16,
    /// How many warnings the last command had.
    warnings: u16,
}

/// A statement that is prepared.
struct Prepared {
    text: String,
    statement: Statement,
    /// The columns of its result, as the server described them last.
    columns: Option<Rc<Columns>>,
}

/// What the server calls a prepared statement, and how many values it takes.
#[derive(Clone, Copy)]
struct Statement {
    number: u32,
    values: usize,
}

impl Session {
    /// `packets` has just logged in.
    pub(super) const fn new(packets: Packets, server: Server, sql_mode: String) -> Self {
        Self {
            packets,
            server,
            sql_mode,
            usable: true,
            has_traces: false,
            limit_ms: None,
            takes_limits: true,
            longest: None,
            prepared: Vec::new(),
            status: 0,
            warnings: 0,
        }
    }

    /// Notes who says that what is sent from now on must not write, and that it may leave something
    /// behind.
    pub(super) const fn guard(&mut self, read_only: ReadOnly, leaves_traces: bool) {
        self.server.read_only = read_only;
        self.has_traces |= leaves_traces;
    }

    /// Runs a statement, which the server ends after `limit_ms`.
    ///
    /// # Errors
    /// What the server said, and what that means for another attempt. The connection may not be
    /// usable afterwards.
    pub(super) async fn run(
        &mut self,
        text: &str,
        values: &[Value],
        query: &Query<'_>,
        transaction: Transaction,
        limit_ms: u64,
    ) -> Result<Rows, StatementFailure> {
        // Until everything is answered, the connection is in the middle of something; the future
        // may be dropped there.
        self.usable = false;
        self.limit(limit_ms).await?;
        if transaction == Transaction::ReadOnly {
            self.command("START TRANSACTION READ ONLY").await.map_err(StatementFailure::before_the_end)?;
        }
        let outcome = match self.ready(text, values).await {
            Ok((number, packet)) => self.execute(number, &packet, query).await.map_err(|failure| match failure.outcome {
                // What came before it in the procedure is committed.
                Execution::NotExecuted if transaction == Transaction::Several => StatementFailure::unknown(failure.error),
                _ => failure,
            }),
            Err(failure) => Err(failure),
        };
        if !self.usable {
            return outcome;
        }
        self.usable = false;
        match transaction {
            Transaction::ReadOnly => self.command("COMMIT").await?,
            Transaction::Implied | Transaction::Several if outcome.is_ok() && self.status & IN_TRANSACTION != 0 => {
                self.command("ROLLBACK").await?;
                self.usable = true;
                let message = "the statement leaves a transaction open, which was rolled back";
                return Err(StatementFailure::last(Error::new(ErrorKind::Denied, message)));
            }
            Transaction::Open if outcome.is_ok() && self.status & IN_TRANSACTION == 0 => {
                self.usable = true;
                return Err(StatementFailure::last(Error::new(ErrorKind::Denied, "the statement ends the transaction that it runs in")));
            }
            Transaction::Implied | Transaction::Several | Transaction::Open => {}
        }
        self.usable = true;
        outcome
    }

    /// Refuses a packet that is longer than the server takes: sent, it would cost the connection,
    /// and nobody would know why.
    async fn check_length(&mut self, length: usize) -> Result<(), StatementFailure> {
        if self.longest.is_none() {
            const LONGEST: &str = "SELECT @@max_allowed_packet";
            let query = own_query(LONGEST, 0);
            let Statement { number, .. } = self.prepare(LONGEST).await?;
            let packet = bind::execute(number, &[]).map_err(StatementFailure::last)?;
            self.packets.command(&packet).await.map_err(StatementFailure::not_executed)?;
            let results = self.results(number, &query).await.map_err(StatementFailure::before_the_end)?;
            let rows = results.into_rows().map_err(StatementFailure::before_the_end)?;
            let found = rows.rows.first().and_then(|row| row.first());
            self.longest = Some(if let Some(Value::I64(most)) = found { usize::try_from(*most).unwrap_or(LARGE) } else { LARGE });
        }
        if self.longest.is_some_and(|longest| length <= longest) {
            return Ok(());
        }
        self.usable = true;
        let message = "the statement and its values are larger than MySQL accepts (`max_allowed_packet`)";
        Err(StatementFailure::last(Error::new(ErrorKind::TooLarge, message)))
    }

    /// Prepares a statement, unless it is; its number, and the packet that runs it. The connection
    /// is usable after an error if all was answered.
    async fn ready(&mut self, text: &str, values: &[Value]) -> Result<(u32, Vec<u8>), StatementFailure> {
        let Statement { number, values: expected } = self.prepare(text).await?;
        if expected != values.len() {
            self.usable = true;
            let message = "the statement expects a different number of values";
            return Err(StatementFailure::last(Error::new(ErrorKind::Syntax, message)));
        }
        let packet = bind::execute(number, values).map_err(|error| {
            self.usable = true;
            StatementFailure::last(error)
        })?;
        if packet.len() >= LARGE {
            self.check_length(packet.len()).await?;
        }
        Ok((number, packet))
    }

    /// What the server answers to a prepared statement that was sent.
    async fn results<'a>(&mut self, number: u32, query: &'a Query<'a>) -> Result<Results<'a>, StatementFailure> {
        let prepared = self.prepared.iter_mut().rev().find(|prepared| prepared.statement.number == number);
        let mut known = prepared.map(|prepared| &mut prepared.columns);
        let mut results = Results::new(query, self.server, known.as_deref().cloned().flatten());
        results.read(&mut self.packets).await?;
        if let Some(known) = &mut known {
            **known = results.described.take();
        }
        Ok(results)
    }

    /// Runs a statement. The connection is usable afterwards if all was answered.
    async fn execute(&mut self, number: u32, packet: &[u8], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.packets.command(packet).await.map_err(StatementFailure::unknown)?;
        let results = self.results(number, query).await?;
        self.status = results.status;
        let truncated = results.truncated;
        let outcome = results.into_rows();
        // What the server says is prepared and what is prepared here are two things from then on.
        self.usable = !truncated && !outcome.as_ref().is_err_and(|failure| number_of(&failure.error) == Some(UNKNOWN_STATEMENT));
        outcome
    }

    /// The columns that a statement returns, which does not run.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[cfg(feature = "describe")]
    pub(super) async fn describe(&mut self, text: &str, limit_ms: u64) -> Result<Rc<Columns>, StatementFailure> {
        self.limit(limit_ms).await?;
        self.prepare(text).await?;
        let columns = self.prepared.last().and_then(|prepared| prepared.columns.clone());
        columns.ok_or_else(|| StatementFailure::last(unknown("a column of an unknown type")))
    }

    /// Prepares a statement, unless it is.
    async fn prepare(&mut self, text: &str) -> Result<Statement, StatementFailure> {
        if let Some(at) = self.prepared.iter().rposition(|prepared| prepared.text == text) {
            self.prepared[at..].rotate_left(1);
            return Ok(self.prepared[self.prepared.len() - 1].statement);
        }
        if self.prepared.len() >= PREPARED {
            self.forget(1).await?;
        }
        let packet = loop {
            self.packets.command(&[&[COM_STMT_PREPARE], text.as_bytes()].concat()).await.map_err(StatementFailure::not_executed)?;
            let packet = self.answer().await.map_err(StatementFailure::not_executed)?;
            if packet.first() != Some(&0xff) {
                break packet;
            }
            let failure = server_error::of_statement(&packet, self.server.read_only).before_the_end();
            if number_of(&failure.error) != Some(NO_STATEMENT_LEFT) || self.prepared.is_empty() {
                self.usable = true;
                return Err(failure);
            }
            // The limit is that of all connections together: this one gives back what it has.
            self.forget(self.prepared.len()).await?;
        };
        let broken = |what: &str| StatementFailure::last(unknown(what));
        let mut reader = Reader(&packet);
        let read = (|| (reader.byte()? == 0).then_some((reader.u32()?, reader.u16()?, reader.u16()?)))();
        let (number, columns, values) = read.ok_or_else(|| broken("a prepared statement"))?;
        let mut definitions = Vec::new();
        for (described, are_columns) in [(values, false), (columns, true)].into_iter().filter(|(count, _)| *count > 0) {
            for place in 0..u32::from(described) + u32::from(self.server.has_eof) {
                let packet = self.answer().await.map_err(StatementFailure::not_executed)?;
                if are_columns && place < u32::from(described) {
                    definitions.push(Column::of(&packet, self.server.has_extended_types));
                }
            }
        }
        // One of an unknown type is an error where the statement has rows.
        let columns = definitions.into_iter().collect::<Option<_>>().map(|columns| Rc::new(Columns::of(columns)));
        let statement = Statement { number, values: values.into() };
        self.prepared.push(Prepared { text: text.to_owned(), statement, columns });
        Ok(statement)
    }

    /// Lets the server forget so many of the statements that were not used for longest.
    async fn forget(&mut self, count: usize) -> Result<(), StatementFailure> {
        for Prepared { statement, .. } in self.prepared.drain(..count) {
            // Nothing is answered.
            let close = [&[COM_STMT_CLOSE][..], &statement.number.to_le_bytes()].concat();
            self.packets.command(&close).await.map_err(StatementFailure::not_executed)?;
        }
        Ok(())
    }

    /// Tells the server when to end a statement, and what waits for a lock, unless it has been told
    /// so; with the first telling, what holds for every statement.
    async fn limit(&mut self, limit_ms: u64) -> Result<(), StatementFailure> {
        if self.limit_ms == Some(limit_ms) || (self.limit_ms.is_some() && !self.takes_limits) {
            return Ok(());
        }
        let is_first = self.limit_ms.is_none();
        let settings = match is_first {
            true => format!("SET NAMES utf8mb4, @@SESSION.sql_mode = {}, {SETTINGS}", std::mem::take(&mut self.sql_mode)),
            false => String::new(),
        };
        let start = if is_first { format!("{settings}, ") } else { "SET ".to_owned() };
        match self.command(&format!("{start}{}", self.limits(limit_ms))).await {
            Ok(()) => {}
            // A server that knows no such limit; this one keeps the time alone.
            Err(failure) if is_first && number_of(&failure.error) == Some(UNKNOWN_SETTING) => {
                self.takes_limits = false;
                self.command(&settings).await.map_err(StatementFailure::before_the_end)?;
            }
            Err(failure) => return Err(failure.before_the_end()),
        }
        if is_first && self.server.read_only == ReadOnly::Adapter {
            // MariaDB ends a transaction that only reads where a statement commits by itself; this
            // holds for what comes then.
            self.command("SET SESSION TRANSACTION READ ONLY").await.map_err(StatementFailure::before_the_end)?;
        }
        self.limit_ms = Some(limit_ms);
        Ok(())
    }

    fn limits(&self, limit_ms: u64) -> String {
        let limit_ms = limit_ms.clamp(1, 1_000_000_000);
        let statement = if self.server.is_mariadb {
            format!("max_statement_time = {}.{:03}", limit_ms / 1000, limit_ms % 1000)
        } else {
            format!("max_execution_time = {limit_ms}")
        };
        format!("@@SESSION.{statement}, @@SESSION.innodb_lock_wait_timeout = {}", limit_ms.div_ceil(1000))
    }

    /// Sends a command of the driver's own, which has no rows.
    ///
    /// # Errors
    /// What the server said. Where all was answered, the connection is in step.
    pub(super) async fn command(&mut self, text: &str) -> Result<(), StatementFailure> {
        self.packets.command(&[&[COM_QUERY], text.as_bytes()].concat()).await.map_err(StatementFailure::unknown)?;
        let packet = self.answer().await.map_err(StatementFailure::unknown)?;
        match packet.first() {
            Some(0x00) => {
                (self.status, self.warnings) = status_of(&packet).ok_or_else(|| StatementFailure::unknown(unknown("an answer")))?;
                Ok(())
            }
            Some(0xff) => Err(server_error::of_statement(&packet, self.server.read_only)),
            _ => Err(StatementFailure::unknown(unknown("no answer to a command"))),
        }
    }

    /// Ends the transaction that is open, after a failure in it. Where the server says that it
    /// could not undo everything, because a table has no transactions, the failure is final and
    /// says so.
    pub(super) async fn undo(&mut self, failure: StatementFailure) -> StatementFailure {
        self.warnings = 0;
        self.roll_back().await;
        if self.warnings == 0 {
            return failure;
        }
        let message = failure.error.message.trim_end_matches("; nothing was changed");
        let message = format!("{message}; changes to tables without transactions, such as those of MyISAM and Aria, were not undone");
        StatementFailure::last(failure.error.with_kind(ErrorKind::Protocol).with_message(message))
    }

    /// Ends the transaction that is open, if the connection still works.
    pub(super) async fn roll_back(&mut self) {
        if std::mem::replace(&mut self.usable, false) {
            self.usable = self.command("ROLLBACK").await.is_ok();
        }
    }

    /// Begins a transaction, which [`run`](Self::run) takes part in as [`Open`](Transaction::Open).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn begin(&mut self, limit_ms: u64, read_only: bool) -> Result<(), StatementFailure> {
        self.usable = false;
        self.limit(limit_ms).await?;
        let begin = if read_only { "START TRANSACTION READ ONLY" } else { "START TRANSACTION" };
        self.command(begin).await.map_err(StatementFailure::before_the_end)?;
        self.usable = true;
        Ok(())
    }

    /// Lets the server forget which number it gave to the last row that it was to number.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn forget_inserted(&mut self) -> Result<(), StatementFailure> {
        self.usable = false;
        self.command("DO LAST_INSERT_ID(0)").await?;
        self.usable = true;
        Ok(())
    }

    /// Commits it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn commit(&mut self) -> Result<(), StatementFailure> {
        self.usable = false;
        self.command("COMMIT").await?;
        self.usable = true;
        Ok(())
    }

    async fn answer(&mut self) -> Result<Bytes, Error> {
        match self.packets.next(ENVELOPE).await {
            Ok(packet) => Ok(packet),
            Err(ReceiveError::Broken(error)) => Err(error),
            Err(ReceiveError::TooLong) => Err(unknown("a packet is too long")),
        }
    }
}

impl Pooled for Session {
    async fn is_quiet(&mut self) -> bool {
        self.packets.is_quiet().await
    }

    async fn answers(&mut self) -> bool {
        self.packets.command(&[COM_PING]).await.is_ok() && self.answer().await.is_ok_and(|packet| packet.first() == Some(&0))
    }

    fn is_usable(&self) -> bool {
        self.usable && !self.has_traces
    }

    async fn close(mut self) {
        if self.usable && self.packets.command(&[COM_QUIT]).await.is_ok() {
            self.packets.shutdown().await;
        }
    }
}
