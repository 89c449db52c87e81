//! A connection that has logged in: batches of messages out, rows in.

use std::ops::Range;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use millrace_core::{
    Error, ErrorKind,
    ports::{Query, SessionSetting},
    value::{Rows, Value, unique_names},
};
use postgres_protocol::{
    IsNull, Oid,
    message::{
        backend::{DataRowBody, Message, RowDescriptionBody},
        frontend,
    },
};

use super::{
    message_stream::{ReceiveError, Wire, unknown},
    server_error,
};
use crate::{
    postgres_text::{
        Kind, Parameter, blame_session, is_of_statement,
        types::{ELEMENTS_OF_TYPES, KnownTypes, MAX_ANSWER, MOST_ASKED, UnclearColumns},
    },
    shared::{FailedEnd, Pooled, ReadOnly, RowSink, Statement, StatementFailure, broken_off, own_query},
};

/// Room for what surrounds the cells of a row, and for messages that are not rows, in bytes.
const ENVELOPE: usize = 1 << 20;
/// What `ReadyForQuery` says where no transaction is open.
const IDLE: u8 = b'I';
/// What it says where one is open, and nothing in it has failed.
pub(super) const IN_TRANSACTION: u8 = b'T';

/// A statement as messages, up to its deadline.
pub(super) struct Batch<'a> {
    /// Everything after the deadline has been set.
    statement: BytesMut,
    transaction: Transaction,
    /// What is set for the time of the transaction.
    settings: &'a [SessionSetting],
}

/// Whether a batch begins and ends its transaction itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    /// It does not: the messages up to `Sync` are one, or one is open.
    Implied,
    /// It does, so that the statement cannot end it, and what is set with it.
    Own,
    /// It does, and nothing may write.
    ReadOnly,
}

/// A connection that has logged in.
pub(super) struct Session {
    wire: Wire,
    usable: bool,
    /// A transaction is open, and nothing is on its way.
    is_open: bool,
    /// Who says that what is sent next must not write.
    read_only: ReadOnly,
    /// The statement of the last batch got its values, and may have run.
    has_run: bool,
    types: KnownTypes,
}

impl Transaction {
    const fn begin(self) -> Option<&'static str> {
        match self {
            Self::Implied => None,
            Self::Own => Some("BEGIN"),
            Self::ReadOnly => Some("BEGIN READ ONLY"),
        }
    }
}

impl<'a> Batch<'a> {
    /// Writes a statement with its values.
    ///
    /// # Errors
    /// [`Syntax`](ErrorKind::Syntax) for more values than a statement can have.
    pub(super) fn of(text: &str, values: &[Value], transaction: Transaction, query: &Query<'_>) -> Result<Self, Error> {
        // One more than is kept, which shows that there are more.
        let rows = if query.cuts() { i32::try_from(query.max_rows.saturating_add(1)).unwrap_or_default() } else { 0 };
        let params: Vec<Parameter> = values.iter().map(Parameter::of).collect();
        let mut statement = BytesMut::with_capacity(text.len() + 64 + 16 * params.len());
        let written = frontend::parse("", text, params.iter().map(|param| param.oid), &mut statement)
            .and_then(|()| bind(&params, &mut statement))
            .and_then(|()| frontend::describe(b'P', "", &mut statement))
            .and_then(|()| frontend::execute("", rows, &mut statement))
            .and_then(|()| if transaction.begin().is_some() { command("COMMIT", &mut statement) } else { Ok(()) });
        frontend::sync(&mut statement);
        written.map_err(|error| {
            let message = "the statement or its values are larger than PostgreSQL accepts";
            Error::new(ErrorKind::Syntax, message).with_source(error.to_string())
        })?;
        Ok(Self { statement, transaction, settings: &[] })
    }

    /// A statement that is not to run: the server describes its result.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(super) fn describing(text: &str, values: &[Value]) -> Result<Self, Error> {
        let mut statement = BytesMut::new();
        let types = values.iter().map(|value| Parameter::of(value).oid);
        let written = frontend::parse("", text, types, &mut statement).and_then(|()| frontend::describe(b'S', "", &mut statement));
        frontend::sync(&mut statement);
        written.map_err(|error| unknown(&error.to_string()))?;
        Ok(Self { statement, transaction: Transaction::Implied, settings: &[] })
    }

    /// The same, with what is set before the statement and holds until the transaction ends.
    pub(super) fn with_settings(self, settings: &'a [SessionSetting]) -> Self {
        Self { settings, ..self }
    }

    /// The whole batch, and the place of the statement among its commands.
    fn with_deadline(&self, left_ms: u64) -> Result<(BytesMut, usize), Error> {
        let mut batch = BytesMut::with_capacity(self.statement.len() + 128);
        // The server's own limit is that of a signed number.
        let timeout = left_ms.clamp(1, i32::MAX as u64).to_string();
        let mut text = String::from("SELECT set_config('statement_timeout', $1, true)");
        let mut params = vec![Parameter { oid: TEXT, value: Some(timeout) }];
        for SessionSetting { name, value } in self.settings {
            let number = params.len() + 1;
            text.push_str(&format!(", set_config(${number}, ${}, true)", number + 1));
            params.extend([name, value].map(|text| Parameter { oid: TEXT, value: Some(text.clone()) }));
        }
        let begin = self.transaction.begin();
        let written = begin
            .map_or(Ok(()), |begin| command(begin, &mut batch))
            .and_then(|()| frontend::parse("", &text, params.iter().map(|param| param.oid), &mut batch))
            .and_then(|()| bind(&params, &mut batch))
            .and_then(|()| frontend::execute("", 0, &mut batch));
        written.map_err(|error| unknown(&error.to_string()))?;
        batch.extend_from_slice(&self.statement);
        Ok((batch, if begin.is_some() { 2 } else { 1 }))
    }
}

impl Session {
    /// `wire` has just said that it is ready for a query.
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, usable: true, is_open: false, read_only: ReadOnly::Database, has_run: false, types: KnownTypes::default() }
    }

    /// Notes who says that what is sent from now on must not write.
    pub(super) const fn guard(&mut self, read_only: ReadOnly) {
        self.read_only = read_only;
    }

    /// Whether the statement that was last sent may have run: the server took its values.
    pub(super) const fn has_run(&self) -> bool {
        self.has_run
    }

    /// Notes that a statement was not sent.
    pub(super) const fn sends_nothing(&mut self) {
        self.has_run = false;
    }

    /// Runs a statement, which the server ends after `left_ms`.
    ///
    /// # Errors
    /// What the server said, and what that means for another attempt. The connection may not be
    /// usable afterwards.
    pub(super) async fn run(&mut self, batch: &Batch<'_>, query: &Query<'_>, left_ms: u64) -> Result<Rows, StatementFailure> {
        let (bytes, place) = batch.with_deadline(left_ms).map_err(StatementFailure::last)?;
        let (mut answer, status) = self.exchange(&bytes, place, query).await?;
        answer.blame_settings(batch);
        if status != IDLE {
            self.roll_back().await?;
        }
        self.usable = true;
        if status != IDLE && answer.failure.is_none() {
            let message = "the statement leaves a transaction open, which was rolled back";
            return Err(StatementFailure::last(Error::new(ErrorKind::Denied, message)));
        }
        let unclear = std::mem::take(&mut answer.unclear);
        let mut rows = answer.into_rows()?;
        self.read_arrays(&unclear, &mut rows, query).await?;
        Ok(rows)
    }

    /// The unique names and the types of the columns that a [described](Batch::describing)
    /// statement returns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[cfg(feature = "describe")]
    pub(super) async fn describe(
        &mut self,
        batch: &Batch<'_>,
        query: &Query<'_>,
        left_ms: u64,
    ) -> Result<Vec<(String, crate::postgres_text::Oid)>, StatementFailure> {
        let (bytes, place) = batch.with_deadline(left_ms).map_err(StatementFailure::last)?;
        let (mut answer, status) = self.exchange(&bytes, place, query).await?;
        answer.blame_settings(batch);
        self.usable = status == IDLE;
        if let Some(failure) = answer.failure {
            return Err(failure);
        }
        let columns = answer.columns.unwrap_or_default();
        let names = unique_names(columns.iter().map(|column| column.name.as_str()));
        Ok(names.into_iter().zip(columns.iter().map(|column| column.oid)).collect())
    }

    /// The types of the parameters of a [described](Batch::describing) statement. `is_within` the
    /// transaction that is open, it stays open; an error ends it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn describe_parameters(
        &mut self,
        batch: &Batch<'_>,
        query: &Query<'_>,
        left_ms: u64,
        is_within: bool,
    ) -> Result<Vec<Oid>, StatementFailure> {
        let (bytes, place) = batch.with_deadline(left_ms).map_err(StatementFailure::last)?;
        let (mut answer, status) = self.exchange(&bytes, place, query).await?;
        answer.blame_settings(batch);
        if let Some(failure) = answer.failure {
            if status != IDLE {
                self.roll_back().await?;
            }
            self.usable = true;
            return Err(failure);
        }
        self.usable = !is_within && status == IDLE;
        self.is_open = is_within && status == IN_TRANSACTION;
        Ok(answer.parameters)
    }

    /// Runs a batch within the transaction that is open, and leaves it open; where the batch fails,
    /// the transaction is rolled back.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn run_within(&mut self, batch: &Batch<'_>, query: &Query<'_>, left_ms: u64) -> Result<Rows, StatementFailure> {
        let (bytes, place) = batch.with_deadline(left_ms).map_err(StatementFailure::last)?;
        let (mut answer, status) = self.exchange(&bytes, place, query).await?;
        answer.blame_settings(batch);
        self.expect(answer, status, IN_TRANSACTION, query).await
    }

    /// Sends messages that end with `Sync`, for the answer of the command at `place`. Then a
    /// transaction must be open, or none, as `expected` says; else what is open is rolled back.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) async fn step(&mut self, bytes: &[u8], place: usize, query: &Query<'_>, expected: u8) -> Result<Rows, StatementFailure> {
        let (answer, status) = self.exchange(bytes, place, query).await?;
        self.expect(answer, status, expected, query).await
    }

    async fn expect(&mut self, mut answer: BatchReply<'_>, status: u8, expected: u8, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let unclear = std::mem::take(&mut answer.unclear);
        let rows = answer.into_rows();
        if status != IDLE && (rows.is_err() || status != expected) {
            self.roll_back().await?;
        }
        let mut rows = rows?;
        if status != expected {
            return Err(StatementFailure::last(Error::new(ErrorKind::Denied, "the statement ends the transaction that it runs in")));
        }
        self.usable = status == IDLE;
        self.is_open = status == IN_TRANSACTION;
        self.read_arrays(&unclear, &mut rows, query).await?;
        Ok(rows)
    }

    /// Makes lists of the texts that are arrays. The server is asked about types that are not known
    /// yet; where it does not answer, what has been written stays so, with texts as they are.
    ///
    /// # Errors
    /// As [`run`](Self::run), where nothing has been written for good.
    async fn read_arrays(&mut self, unclear: &UnclearColumns, rows: &mut Rows, query: &Query<'_>) -> Result<(), StatementFailure> {
        if let Some(numbers) = unclear.question(&self.types) {
            let is_done = !self.is_open && !query.access.reads();
            match self.ask(ELEMENTS_OF_TYPES, numbers, query).await {
                Ok(answer) => self.types.learn(&answer),
                Err(_) if is_done => {}
                Err(failure) => return Err(failure),
            }
        }
        unclear.read(&self.types, rows);
        Ok(())
    }

    /// Asks a question of the driver's own, in the transaction that is open, or in none; where it
    /// fails, the transaction is rolled back.
    async fn ask(&mut self, text: &'static str, value: Value, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let own = Query { max_rows: MOST_ASKED, max_bytes: MAX_ANSWER, ..own_query(text, query.deadline_ms) };
        let batch = Batch::of(text, &[value], Transaction::Implied, &own).map_err(StatementFailure::last)?;
        let is_open = self.is_open;
        let (answer, _) = self.exchange(&batch.statement, 0, &own).await?;
        let rows = answer.into_rows();
        if rows.is_err() && is_open {
            self.roll_back().await?;
        } else {
            (self.usable, self.is_open) = (!is_open, is_open);
        }
        rows
    }

    /// Sends messages that end with a `COMMIT` in this place, and `Sync`.
    ///
    /// # Errors
    /// As [`run`](Self::run), with the place of the command that failed; where it is not known,
    /// that of the `COMMIT`.
    pub(super) async fn end(&mut self, bytes: &[u8], commit: usize, query: &Query<'_>) -> Result<(), FailedEnd> {
        let (answer, status) = self.exchange(bytes, commit, query).await.map_err(|failure| FailedEnd { place: commit, failure })?;
        let place = answer.done.min(commit);
        self.expect(answer, status, IDLE, query).await.map(drop).map_err(|failure| FailedEnd { place, failure })
    }

    /// Rolls back the transaction, where one is open.
    ///
    /// # Errors
    /// Where the connection broke, which rolls it back, too.
    pub(super) async fn give_up(&mut self) -> Result<(), StatementFailure> {
        if self.is_open { self.roll_back().await } else { Ok(()) }
    }

    /// Sends messages that end with `Sync`, and reads all that is answered: the answer of the
    /// command at `place`, and whether a transaction is open.
    async fn exchange<'q>(&mut self, bytes: &[u8], place: usize, query: &'q Query<'q>) -> Result<(BatchReply<'q>, u8), StatementFailure> {
        // Until the server is ready again, the connection is in the middle of something; the future
        // may be dropped there.
        (self.usable, self.is_open) = (false, false);
        self.has_run = true;
        self.wire.send(bytes).await.map_err(StatementFailure::unknown)?;
        let mut answer = BatchReply::of(place, query);
        loop {
            let message = match self.wire.next(query.max_bytes.saturating_add(ENVELOPE)).await {
                Ok(message) => message,
                Err(ReceiveError::Broken(error)) => return Err(answer.failure.unwrap_or_else(|| StatementFailure::unknown(error))),
                Err(ReceiveError::LongRow) => return Err(broken_off(query)),
            };
            match message {
                Message::ReadyForQuery(body) => {
                    self.has_run = answer.bound > answer.place;
                    return Ok((answer, body.status()));
                }
                message => answer.take(message, query, self.read_only)?,
            }
        }
    }

    async fn roll_back(&mut self) -> Result<(), StatementFailure> {
        self.is_open = false;
        let mut bytes = BytesMut::new();
        frontend::query("ROLLBACK", &mut bytes).map_err(|error| StatementFailure::last(unknown(&error.to_string())))?;
        self.wire.send(&bytes).await.map_err(StatementFailure::unknown)?;
        self.until_ready().await.map_err(StatementFailure::unknown)?;
        self.usable = true;
        Ok(())
    }

    async fn until_ready(&mut self) -> Result<(), Error> {
        loop {
            match self.wire.next(ENVELOPE).await {
                Ok(Message::ReadyForQuery(body)) if body.status() == IDLE => return Ok(()),
                Ok(Message::ErrorResponse(body)) => return Err(server_error::of_statement(&body, self.read_only).error),
                Ok(_) => {}
                Err(ReceiveError::Broken(error)) => return Err(error),
                Err(ReceiveError::LongRow) => return Err(unknown("a row where none was asked for")),
            }
        }
    }
}

impl Pooled for Session {
    async fn is_quiet(&mut self) -> bool {
        self.wire.is_quiet().await
    }

    async fn answers(&mut self) -> bool {
        let mut sync = BytesMut::new();
        frontend::sync(&mut sync);
        self.wire.send(&sync).await.is_ok() && self.until_ready().await.is_ok()
    }

    fn is_usable(&self) -> bool {
        self.usable
    }

    async fn close(mut self) {
        let mut farewell = BytesMut::new();
        frontend::terminate(&mut farewell);
        if self.wire.send(&farewell).await.is_ok() {
            self.wire.shutdown().await;
        }
    }
}

const TEXT: Oid = 25;

/// What came back of a batch so far.
struct BatchReply<'q> {
    /// How many commands come before the statement.
    place: usize,
    /// How many commands got their values.
    bound: usize,
    /// How many commands are done.
    done: usize,
    /// The types of the values that the statement takes, where they are described.
    parameters: Vec<Oid>,
    columns: Option<Vec<Column>>,
    /// A result that is too large is read to its end where the statement may have written.
    sink: RowSink<'q>,
    affected: u64,
    is_empty: bool,
    failure: Option<StatementFailure>,
    unclear: UnclearColumns,
}

struct Column {
    name: String,
    oid: crate::postgres_text::Oid,
    kind: Kind,
}

impl<'q> BatchReply<'q> {
    /// Nothing yet, of a batch whose statement has this place.
    fn of(place: usize, query: &'q Query<'q>) -> Self {
        Self {
            place,
            bound: 0,
            done: 0,
            parameters: Vec::new(),
            columns: None,
            sink: RowSink::of(query),
            affected: 0,
            is_empty: false,
            failure: None,
            unclear: UnclearColumns::default(),
        }
    }

    /// Says that it was the settings of the session, and not the statement, that the server
    /// refused. Whatever has no bearing on them (a lost connection, the deadline) stays what it is.
    fn blame_settings(&mut self, batch: &Batch<'_>) {
        if batch.settings.is_empty() || self.done >= self.place {
            return;
        }
        self.failure = self.failure.take().map(|failure| match failure {
            StatementFailure { error, outcome } if is_of_statement(&error) => StatementFailure { error: blame_session(error), outcome },
            other => other,
        });
    }

    fn take(&mut self, message: Message, query: &Query<'_>, read_only: ReadOnly) -> Result<(), StatementFailure> {
        match message {
            Message::ParameterDescription(body) => {
                self.parameters = body.parameters().collect().map_err(|error| StatementFailure::unknown(unknown(&error.to_string())))?;
            }
            Message::BindComplete => self.bound += 1,
            Message::RowDescription(body) => self.columns = Some(columns(&body).map_err(StatementFailure::unknown)?),
            Message::DataRow(body) if self.done == self.place => self.row(&body, query)?,
            Message::CommandComplete(body) => {
                if self.done == self.place {
                    // `INSERT 0 3`, `UPDATE 3`, `CREATE TABLE`
                    let tag = body.tag().unwrap_or_default();
                    self.affected = tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
                }
                self.done += 1;
            }
            // The server stops after the rows that it was asked for.
            Message::PortalSuspended => self.done += 1,
            Message::EmptyQueryResponse => {
                self.is_empty = true;
                self.done += 1;
            }
            Message::ErrorResponse(body) => {
                // The first error is the cause of those that follow it.
                self.failure.get_or_insert_with(|| server_error::of_statement(&body, read_only));
            }
            Message::CopyInResponse(_) | Message::CopyOutResponse(_) => {
                let message = "connector `postgres` does not run `COPY`";
                return Err(StatementFailure::last(Error::new(ErrorKind::Denied, message)));
            }
            _ => {}
        }
        Ok(())
    }

    fn row(&mut self, body: &DataRowBody, query: &Query<'_>) -> Result<(), StatementFailure> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let cells: Vec<Option<Range<usize>>> =
            body.ranges().collect().map_err(|error| StatementFailure::unknown(unknown(&error.to_string())))?;
        if cells.len() != columns.len() {
            return Err(StatementFailure::unknown(unknown("a row has another number of cells than there are columns")));
        }
        if self.sink.admits(cells.iter().flatten().map(Range::len).sum()) {
            let unclear = &mut self.unclear;
            let cell = |(at, (column, range)): (usize, (&Column, Option<Range<usize>>))| match range {
                Some(range) => {
                    let bytes = body.buffer().get(range).unwrap_or_default();
                    unclear.look(at, column.oid, bytes);
                    column.kind.value(bytes)
                }
                None => Value::Null,
            };
            self.sink.push(columns.iter().zip(cells).enumerate().map(cell).collect());
        }
        // The rest is not waited for: the connection is closed, and the server notices when it
        // sends the next rows. The end of what may have written must be seen: closed before it, a
        // write would be undone, or not.
        if query.access.reads() { self.sink.check() } else { Ok(()) }
    }

    fn into_rows(self) -> Result<Rows, StatementFailure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.sink.check()?;
        if self.is_empty {
            return Err(StatementFailure::last(Error::new(ErrorKind::Syntax, "the query contains no statement")));
        }
        match self.columns {
            Some(columns) if !columns.is_empty() => {
                let names = unique_names(columns.iter().map(|column| column.name.as_str()));
                self.sink.into_rows(names.into())
            }
            _ => Ok(Rows { affected: self.affected, ..Rows::default() }),
        }
    }
}

fn columns(body: &RowDescriptionBody) -> Result<Vec<Column>, Error> {
    let columns = body
        .fields()
        .map(|field| {
            let (name, oid) = (field.name().to_owned(), field.type_oid());
            Ok(Column { name, oid, kind: Kind::of(oid) })
        })
        .collect();
    columns.map_err(|error| unknown(&error.to_string()))
}

/// Commands in one go, without descriptions of their results, up to `Sync`.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for more than the protocol takes.
pub(super) fn commands(commands: &[Statement<'_>]) -> Result<BytesMut, Error> {
    let mut bytes = BytesMut::new();
    let write = |Statement { text, values }: &Statement<'_>, bytes: &mut BytesMut| {
        let params: Vec<Parameter> = values.iter().map(Parameter::of).collect();
        frontend::parse("", text, params.iter().map(|param| param.oid), bytes)?;
        bind(&params, bytes)?;
        frontend::execute("", 0, bytes)
    };
    commands.iter().try_for_each(|command| write(command, &mut bytes)).map_err(|error| unknown(&error.to_string()))?;
    frontend::sync(&mut bytes);
    Ok(bytes)
}

/// A statement without values, and without a description of its result.
fn command(text: &str, buffer: &mut BytesMut) -> std::io::Result<()> {
    frontend::parse("", text, [], buffer)?;
    bind(&[], buffer)?;
    frontend::execute("", 0, buffer)
}

/// Values and results as text.
fn bind(params: &[Parameter], buffer: &mut BytesMut) -> std::io::Result<()> {
    const AS_TEXT: i16 = 0;
    let value = |param: &Parameter, buffer: &mut BytesMut| {
        Ok(match &param.value {
            Some(text) => {
                buffer.extend_from_slice(text.as_bytes());
                IsNull::No
            }
            None => IsNull::Yes,
        })
    };
    frontend::bind("", "", [AS_TEXT], params, value, [AS_TEXT], buffer).map_err(|error| match error {
        frontend::BindError::Conversion(error) => std::io::Error::other(error),
        frontend::BindError::Serialization(error) => error,
    })
}
