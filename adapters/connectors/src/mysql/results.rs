//! What a statement answers: rows, or how many rows it changed.

use std::rc::Rc;

use bytes::Bytes;
use millrace_core::{
    Error, ErrorKind,
    ports::Query,
    value::{Rows, unique_names},
};

use super::{
    cell::{self, Column},
    packet::{Packets, Reader, ReceiveError, unknown},
    server_error,
};
use crate::shared::{ReadOnly, RowSink, StatementFailure, broken_off, too_large};

/// Room for what surrounds the cells of a row, and for packets that are not rows, in bytes.
pub(super) const ENVELOPE: usize = 1 << 20;
/// Another result follows.
const MORE_RESULTS: u16 = 8;
/// The most columns that a table or a result can have.
const MOST_COLUMNS: u64 = 4_096;
/// What a cell counts besides its bytes, so that one without any is not free.
const CELL: usize = 4;
/// The length from which a packet that begins as the end of rows is one.
const LONGEST_END: usize = 0xff_ffff;

/// What is known of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    pub(super) is_mariadb: bool,
    /// The number of the connection's thread.
    pub(super) thread: u32,
    /// It says where the columns end.
    pub(super) has_eof: bool,
    /// Its columns say more of their types.
    pub(super) has_extended_types: bool,
    /// It describes the columns of a prepared statement's result again only where they are not what
    /// they were.
    pub(super) caches_metadata: bool,
    /// Who says that what is sent must not write.
    pub(super) read_only: ReadOnly,
}

/// The columns of a result.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) columns: Vec<Column>,
    /// Their names, no two the same.
    pub(super) names: Rc<[String]>,
}

impl Columns {
    pub(super) fn of(columns: Vec<Column>) -> Self {
        let names = unique_names(columns.iter().map(|column| column.name.as_str())).into();
        Self { columns, names }
    }
}

/// What came back so far.
pub(super) struct Results<'a> {
    query: &'a Query<'a>,
    server: Server,
    /// The columns of the statement, as the server described them last.
    pub(super) described: Option<Rc<Columns>>,
    /// Those of the first list of rows.
    columns: Option<Rc<Columns>>,
    /// A result that is too large is read to its end where the statement may have written.
    sink: RowSink<'a>,
    affected: u64,
    /// There was more than one list of rows.
    several: bool,
    /// There are more rows than the query takes. They were not read, so the connection is in the
    /// middle of something.
    pub(super) truncated: bool,
    failure: Option<StatementFailure>,
    /// Of the last part.
    pub(super) status: u16,
}

impl<'a> Results<'a> {
    /// `described` are the columns that the server described before.
    pub(super) const fn new(query: &'a Query<'a>, server: Server, described: Option<Rc<Columns>>) -> Self {
        Self {
            query,
            server,
            described,
            columns: None,
            sink: RowSink::of(query),
            affected: 0,
            several: false,
            truncated: false,
            failure: None,
            status: 0,
        }
    }

    /// Reads everything that the server answers to one statement.
    ///
    /// # Errors
    /// Where not all was read. What the server refused is among the results.
    pub(super) async fn read(&mut self, packets: &mut Packets) -> Result<(), StatementFailure> {
        loop {
            let packet = self.next(packets, ENVELOPE).await?;
            match packet.first() {
                Some(0xff) => {
                    self.failure = Some(server_error::of_statement(&packet, self.server.read_only));
                    return Ok(());
                }
                Some(0x00) => self.changed(&packet)?,
                Some(0xfb) => {
                    let message = "the server asks for a file of this host (`LOCAL INFILE`), which it does not get";
                    return Err(StatementFailure::last(Error::new(ErrorKind::Denied, message)));
                }
                _ => self.list(packets, &packet).await?,
            }
            if self.failure.is_some() || self.truncated || self.status & MORE_RESULTS == 0 {
                return Ok(());
            }
        }
    }

    /// How many rows were changed.
    fn changed(&mut self, packet: &[u8]) -> Result<(), StatementFailure> {
        let mut reader = Reader(packet);
        reader.byte();
        let affected = reader.number();
        let (Some(affected), Some(status)) = (affected, status_of(packet).map(|(status, _)| status)) else {
            return Err(broken("an answer"));
        };
        // A procedure ends with one, after its results.
        if self.columns.is_none() {
            self.affected = affected;
        }
        self.status = status;
        Ok(())
    }

    /// A list of rows; `packet` says how many columns it has.
    async fn list(&mut self, packets: &mut Packets, packet: &[u8]) -> Result<(), StatementFailure> {
        let mut reader = Reader(packet);
        let count = reader.number().filter(|count| (1..=MOST_COLUMNS).contains(count)).ok_or_else(|| broken("a number of columns"))?;
        let are_described = !self.server.caches_metadata || reader.byte().ok_or_else(|| broken("a number of columns"))? != 0;
        if are_described {
            self.described = Some(Rc::new(self.columns(packets, count).await?));
        }
        let columns = self.described.clone().filter(|columns| columns.columns.len() as u64 == count);
        let columns = columns.ok_or_else(|| broken("rows without a description of their columns"))?;
        let is_first = self.columns.is_none();
        self.several |= !is_first;
        if is_first {
            self.columns = Some(columns);
        }
        loop {
            let packet = self.next(packets, self.query.max_bytes.saturating_add(ENVELOPE)).await?;
            match packet.first() {
                Some(0xff) => {
                    self.failure = Some(server_error::of_statement(&packet, self.server.read_only));
                    return Ok(());
                }
                Some(0xfe) if packet.len() < LONGEST_END => {
                    self.status = if self.server.has_eof {
                        let mut reader = Reader(&packet);
                        (|| {
                            reader.bytes(3)?;
                            reader.u16()
                        })()
                    } else {
                        status_of(&packet).map(|(status, _)| status)
                    }
                    .ok_or_else(|| broken("an end of rows"))?;
                    return Ok(());
                }
                // The rest is not waited for, as in `row`.
                _ if is_first && self.sink.leaves_out() => {
                    self.truncated = true;
                    return Ok(());
                }
                _ if is_first => self.row(&packet)?,
                _ => {}
            }
        }
    }

    /// The definitions of so many columns.
    async fn columns(&self, packets: &mut Packets, count: u64) -> Result<Columns, StatementFailure> {
        let mut columns = Vec::new();
        let mut room = ENVELOPE;
        for _ in 0..count {
            let packet = self.next(packets, ENVELOPE).await?;
            room = room.checked_sub(packet.len()).ok_or_else(|| broken("descriptions of columns that are too long"))?;
            columns.push(Column::of(&packet, self.server.has_extended_types).ok_or_else(|| broken("a column of an unknown type"))?);
        }
        if self.server.has_eof {
            self.next(packets, ENVELOPE).await?;
        }
        Ok(Columns::of(columns))
    }

    fn row(&mut self, packet: &Bytes) -> Result<(), StatementFailure> {
        let columns = self.columns.as_deref().map(|columns| &*columns.columns).unwrap_or_default();
        let head = 1 + (columns.len() + 9) / 8;
        if self.sink.admits(packet.len().saturating_sub(head) + CELL * columns.len()) {
            self.sink.push(cell::row(packet, columns).ok_or_else(|| broken("a row"))?);
        }
        // The rest is not waited for: the connection is closed, and the server notices when it
        // sends the next rows. The end of what may have written must be seen: closed before it, a
        // write would be undone, or not.
        if self.query.access.reads() { self.sink.check() } else { Ok(()) }
    }

    async fn next(&self, packets: &mut Packets, limit: usize) -> Result<Bytes, StatementFailure> {
        match packets.next(limit).await {
            Ok(packet) => Ok(packet),
            Err(ReceiveError::Broken(error)) => Err(StatementFailure::unknown(error)),
            Err(ReceiveError::TooLong) => Err(broken_off(self.query)),
        }
    }

    /// The rows, or what was refused.
    ///
    /// # Errors
    /// What the server said; [`TooLarge`](ErrorKind::TooLarge).
    pub(super) fn into_rows(self) -> Result<Rows, StatementFailure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.sink.check()?;
        if self.several {
            let StatementFailure { error, outcome } = too_large("the procedure returns more than one list of rows".to_owned(), self.query);
            return Err(StatementFailure { error: error.with_kind(ErrorKind::Denied), outcome });
        }
        match self.columns {
            Some(columns) => self.sink.into_rows(columns.names.clone()),
            None => Ok(Rows { affected: self.affected, ..Rows::default() }),
        }
    }
}

fn broken(what: &str) -> StatementFailure {
    StatementFailure::unknown(unknown(what))
}

/// The status and the number of warnings in a packet that says that all went well.
pub(super) fn status_of(packet: &[u8]) -> Option<(u16, u16)> {
    let mut reader = Reader(packet);
    reader.byte()?;
    reader.number()?;
    reader.number()?;
    Some((reader.u16()?, reader.u16().unwrap_or_default()))
}
