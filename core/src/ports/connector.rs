use alloc::{boxed::Box, format, rc::Rc, string::String, vec::Vec};
use core::fmt;

use sha2::{Digest as _, Sha256};

use super::{BoundTransaction, Column, LocalFuture};
use crate::{
    Error, ErrorKind, Result,
    app::{Access, OnTooMany},
    cancel::Cancel,
    hex,
    secret::Secret,
    value::{Rows, Value},
};

/// What an adapter of the app says about its connection, variables and secrets filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The adapter's name, for messages.
    pub adapter: String,
    /// The connector's name: `sqlite`, `postgres`, …
    pub connector: String,
    /// Where to connect, credentials included.
    pub connection_string: Secret<String>,
    /// The connection string with the names of variables and secrets in place of their values,
    /// `file:{{ env.SHOP_DB }}`: what messages and logs may show.
    pub shown: String,
    /// The connector's own options, as text. `timeout`, `max_rows` and `read_only` are read by the
    /// core or the bundler and are fields of their own.
    pub options: Vec<(String, Secret<String>)>,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// The SQL that fills a database which does not exist yet.
    pub seed: Option<String>,
}

/// What a connector runs, in the form that its server takes. In each form the values are apart from
/// what the author wrote.
#[derive(Clone, Copy, Debug)]
pub enum Command<'a> {
    /// A statement of SQL.
    Statement {
        /// The text in the connector's placeholder style. Contains no value.
        text: &'a str,
        /// The values in the order of the placeholders.
        values: &'a [Value],
    },
    /// Several statements of SQL, all or none of which take effect.
    Transaction(BoundTransaction<'a>),
    /// A command and its arguments, such as `SET`, `name` and `Ada`. Each is one argument, whatever
    /// characters it has.
    Arguments(&'a [Value]),
    /// A document, such as `{"find": "items", "filter": {"id": 7}}`, or
    /// `{"from": "items", "where": {"id": {"eq": 7}}}`. The first member names the command, so
    /// members keep their order.
    Document(&'a [(String, Node)]),
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A leaf. It is never read as anything but a value: an object in it has no operators.
    Value(Value),
    /// Members in order.
    Members(Vec<(String, Self)>),
    /// Elements in order.
    List(Vec<Self>),
}

impl<'a> Command<'a> {
    /// The statement and its values, for a connector that takes nothing else.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a command of another form: the app uses the
    /// connector for what it is not.
    pub fn statement(&self, connector: &str) -> Result<(&'a str, &'a [Value])> {
        match self {
            Self::Statement { text, values } => Ok((text, values)),
            other => {
                let message = format!("connector `{connector}` takes statements, and the tool has {}", other.form());
                Err(Error::new(ErrorKind::Configuration, message))
            }
        }
    }

    /// What it is, for messages.
    #[must_use]
    pub const fn form(&self) -> &'static str {
        match self {
            Self::Statement { .. } => "a statement",
            Self::Transaction(_) => "a transaction",
            Self::Arguments(_) => "a list of arguments",
            Self::Document(_) => "a document",
        }
    }
}

/// A command and its limits.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// What to run.
    pub command: Command<'a>,
    /// What is set in the database while the command runs, and not any longer. A connector that
    /// cannot do so refuses the query.
    pub session: &'a [SessionSetting],
    /// Whether the command only reads: only such a command may be sent twice. For one that is
    /// [declared](Access::Declared) so, a connector has the database refuse a write, or refuses the
    /// command.
    pub access: Access,
    /// When to give up, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// The most rows to read; one more is [`TooLarge`](crate::ErrorKind::TooLarge), or left out
    /// where the query [`cuts`](Self::cuts).
    pub max_rows: usize,
    /// What becomes of a result with more rows.
    pub on_too_many: OnTooMany,
    /// The most bytes of cells to read; one more is [`TooLarge`](crate::ErrorKind::TooLarge).
    pub max_bytes: usize,
    /// Whoever waits for the answer, where somebody does: a connector that holds the isolate's
    /// thread while the command runs [looks](Cancel::look) whether they are still there, and ends
    /// with [`Cancelled`](crate::ErrorKind::Cancelled) where they are not. One that awaits its
    /// server is dropped instead.
    pub caller: Option<&'a Cancel>,
}

/// A setting of an adapter's session, with its value in one call.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionSetting {
    /// Its name: `app.tenant`, [`SESSION_ROLE`](crate::app::SESSION_ROLE) or
    /// [`SESSION_TOKEN`](crate::app::SESSION_TOKEN).
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Without the value, which may be a token.
impl fmt::Debug for SessionSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSetting").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Query<'a> {
    /// A command that only reads, without a session, whose result has at most so many rows and
    /// bytes of cells. What is different of a query is written over this one, so that a new member
    /// has one default.
    #[must_use]
    pub const fn reading(command: Command<'a>, deadline_ms: u64, max_rows: usize, max_bytes: usize) -> Self {
        Self { command, session: &[], access: Access::Read, deadline_ms, max_rows, on_too_many: OnTooMany::Error, max_bytes, caller: None }
    }

    /// Whether rows beyond [`max_rows`](Self::max_rows) are left out, and the result is marked as
    /// truncated. A result of a command that writes is never cut: what it changed should not be
    /// half reported.
    #[must_use]
    pub fn cuts(&self) -> bool {
        self.on_too_many == OnTooMany::Cut && self.access.reads()
    }

    /// Whether the database has to refuse the command where it writes.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.access == Access::Declared
    }

    /// 64 hexadecimal digits that are different for different sessions, and say nothing of their
    /// values; `None` without one.
    #[must_use]
    pub fn session_digest(&self) -> Option<String> {
        let mut digest = Sha256::new();
        for text in self.session.iter().flat_map(|SessionSetting { name, value }| [name, value]) {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        (!self.session.is_empty()).then(|| hex::encode(&digest.finalize()))
    }

    /// The statement and its values, for a connector that takes nothing else and has no session.
    ///
    /// # Errors
    /// As [`Command::statement`]; and [`Configuration`](ErrorKind::Configuration) where something
    /// is to be set: nothing is run without it.
    pub fn statement(&self, connector: &str) -> Result<(&'a str, &'a [Value])> {
        self.without_session(connector)?;
        self.command.statement(connector)
    }

    /// Refuses a query that something is to be set for, where the connector cannot.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): nothing is run without it.
    pub fn without_session(&self, connector: &str) -> Result<()> {
        if self.session.is_empty() {
            return Ok(());
        }
        let message = format!("connector `{connector}` cannot set what the adapter's `session` demands");
        Err(Error::new(ErrorKind::Configuration, message))
    }
}

/// The table in which connectors keep the records of calls that must happen once.
pub const CALL_RECORDS: &str = "millrace_calls";
/// How many expired records one write removes at most, so that the table cannot grow for ever and
/// no call pays for many others.
pub const SWEPT_RECORDS: u32 = 100;

/// The record of a call that must happen once, for the table [`CALL_RECORDS`].
#[derive(Clone, Copy, Debug)]
pub struct CallRecord<'a> {
    /// 64 hexadecimal digits. Calls with the same key are the same call, sent again.
    pub key: &'a str,
    /// The time now, in seconds since the Unix epoch: a record that expires then or before is not
    /// there any more.
    pub now_s: i64,
    /// When the record expires, in seconds since the Unix epoch.
    pub expires_s: i64,
}

/// What became of a write with a [`CallRecord`].
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedWrite {
    /// It was made now; record and change were committed together.
    Made(Rows),
    /// An earlier call made it, with this result. Nothing was done now.
    MadeBefore(Rows),
    /// An earlier call made it, and its result is not known. Nothing was done now.
    MadeBeforeUnknown,
    /// Another call with the same key has not ended. Nothing was done now.
    Running,
}

/// Opens connections: the map from connector names to drivers of a host.
pub trait Connectors {
    /// Makes a connector for an adapter. Called once per adapter and isolate, at its first use;
    /// opening may still be put off to the first query.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) where the host has no such connector or
    /// an option is wrong.
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>>;
}

/// A connection to one database, good for one isolate.
pub trait Connector {
    /// Runs one command. Values are bound, never written into the text. A connector that takes no
    /// command of that form says so.
    ///
    /// A connection that broke is replaced at the next call. A command whose outcome is unknown is
    /// never sent again unless it only reads.
    ///
    /// # Errors
    /// Any [`ErrorKind`](crate::ErrorKind); the database's own words are the error's `source`.
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>>;

    /// Runs one command that writes, unless the database has a record of the same call; then
    /// nothing is written. Record and change are committed together or not at all: whatever breaks,
    /// the same call sent again finds out what became of the first one. So a connector may send it
    /// again itself where it does not know.
    ///
    /// The table is made where it is missing and the connection may do so. A result that cannot be
    /// kept does not fail the call.
    ///
    /// # Errors
    /// As [`query`](Self::query), and [`Configuration`](ErrorKind::Configuration) where there is no
    /// table, and by default: a connector that cannot keep records says so in the catalogue, and no
    /// app gets here.
    fn write_once<'a>(&'a self, _query: Query<'a>, _record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(core::future::ready(Err(cannot_record())))
    }

    /// Whether [`Rows::affected`] of a write is how many rows it changed. Where it is not, a write
    /// that says 0 may have changed some.
    fn counts_changes(&self) -> bool {
        true
    }

    /// Describes the result of a statement, which does not run, for `millrace check --connect`: its
    /// columns, none where it returns no rows. `None` where its database cannot describe it, and by
    /// default.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    fn describe<'a>(&'a self, _query: Query<'a>) -> LocalFuture<'a, Result<Option<Vec<Column>>>> {
        Box::pin(core::future::ready(Ok(None)))
    }

    /// Makes the table of records where it is missing, for `millrace check --connect`.
    ///
    /// # Errors
    /// As [`write_once`](Self::write_once). Where the table cannot be made, the source of the error
    /// is the SQL that makes it.
    fn prepare_records(&self, _deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(core::future::ready(Err(cannot_record())))
    }

    /// Checks that the database answers, for `/readyz` and `millrace check --connect`.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>>;
}

fn cannot_record() -> Error {
    Error::new(ErrorKind::Configuration, "the connector cannot keep the records that `idempotency` needs")
}
