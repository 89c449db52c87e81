//! A connection that has logged in: commands out, rows in.

use std::{cell::Cell, rc::Rc};

use millrace_core::{Error, ErrorKind, ports::Query, value::Rows};
use millrace_redis::is_silent;

use super::{
    address::{MongoAddress, WriteConcern},
    bson::{Bson, Members, find},
    command::Prepared,
    rows,
    server_error::{self, Doing},
    wire::{MAX_VALUES, Wire},
};
use crate::shared::{Pooled, StatementFailure};
use millrace_languages::mongodb::Kind;

/// Room for what surrounds the documents of a reply, in bytes.
const ENVELOPE: usize = 1 << 16;
/// The most documents that are asked for at once.
const MAX_BATCH: usize = 10_001;

/// A connection that has logged in.
pub(super) struct Session {
    wire: Wire,
    /// It can be used for another command.
    is_usable: bool,
    /// How many elections there were, and had been when it was made.
    elections: Rc<Cell<u64>>,
    elections_before: u64,
    /// Its server is not the one to ask.
    pub(super) is_not_primary: bool,
}

impl Pooled for Session {
    async fn is_quiet(&mut self) -> bool {
        self.is_current() && is_silent(self.wire.stream()).await
    }

    async fn answers(&mut self) -> bool {
        self.ping().await.is_ok()
    }

    fn is_usable(&self) -> bool {
        self.is_usable
    }
}

/// A reply with documents, of which there may be more.
struct Batch {
    documents: Vec<Bson>,
    cursor: i64,
    database: String,
    collection: String,
}

impl Session {
    pub(super) fn new(wire: Wire, elections: Rc<Cell<u64>>) -> Self {
        Self { wire, is_usable: true, elections_before: elections.get(), elections, is_not_primary: false }
    }

    /// Whether no election was noticed since it was made.
    fn is_current(&self) -> bool {
        self.elections_before == self.elections.get()
    }

    /// Asks the server for a sign of life.
    pub(super) async fn ping(&mut self) -> Result<(), StatementFailure> {
        let ping = vec![("ping".to_owned(), Bson::Int32(1)), ("$db".to_owned(), Bson::Text("admin".to_owned()))];
        let reply = self.exchange(&ping, ENVELOPE, &mut { MAX_VALUES }).await.map_err(StatementFailure::unknown)?;
        let doing = Doing { command: "ping", reads: true, is_ordered: true, changes_many: false };
        server_error::of_reply(&reply, doing).map_or(Ok(()), Err)
    }

    /// Runs a command, which the server ends after `left_ms`.
    ///
    /// # Errors
    /// What the server said, and what that means for another attempt.
    pub(super) async fn run(
        &mut self,
        prepared: &Prepared,
        query: &Query<'_>,
        address: &MongoAddress,
        left_ms: u64,
    ) -> Result<Rows, StatementFailure> {
        let (doing, mut room) = (prepared.doing(), MAX_VALUES);
        let batch = i32::try_from(query.max_rows.saturating_add(1).min(MAX_BATCH)).unwrap_or(i32::MAX);
        let mut members = prepared.members.clone();
        // How long a batch is, is decided here.
        members.retain(|(key, _)| key != "cursor");
        let database = match find(&members, "$db") {
            Some(_) => None,
            None => Some(address.database().map_err(StatementFailure::last)?.to_owned()),
        };
        let mut add = |key: &str, value: Bson| members.push((key.to_owned(), value));
        match prepared.kind {
            Kind::Find => add("batchSize", Bson::Int32(batch)),
            Kind::Aggregate => add("cursor", Bson::Document(vec![("batchSize".to_owned(), Bson::Int32(batch))])),
            _ => {}
        }
        add("maxTimeMS", Bson::Int64(i64::try_from(left_ms).unwrap_or(i64::MAX).min(i64::from(i32::MAX))));
        if let Some(concern) = address.write_concern.as_ref().filter(|_| !prepared.reads) {
            let w = match concern {
                WriteConcern::Count(count) => Bson::Int32(*count),
                WriteConcern::Named(name) => Bson::Text(name.clone()),
            };
            add("writeConcern", Bson::Document(vec![("w".to_owned(), w)]));
        }
        if address.is_direct && prepared.reads {
            let mode = ("mode".to_owned(), Bson::Text("primaryPreferred".to_owned()));
            add("$readPreference", Bson::Document(vec![mode]));
        }
        if let Some(database) = database {
            add("$db", Bson::Text(database));
        }
        let most = query.max_bytes.saturating_add(ENVELOPE);
        let reply = self.exchange(&members, most, &mut room).await.map_err(|error| match error.kind {
            ErrorKind::Syntax => StatementFailure::last(error),
            ErrorKind::TooLarge if error.message.starts_with("the document") => StatementFailure::last(error),
            ErrorKind::TooLarge => StatementFailure::last(prepared.after_reply(error)),
            _ => StatementFailure::unknown(error),
        })?;
        self.look_at(&reply);
        if let Some(failure) = server_error::of_reply(&reply, doing) {
            return Err(failure);
        }
        if !prepared.reads
            && let Some(failure) = server_error::of_write(&reply, doing)
        {
            if server_error::write_codes(&reply).any(server_error::is_not_primary) {
                (self.is_usable, self.is_not_primary) = (false, true);
            }
            return Err(failure);
        }
        match prepared.kind {
            Kind::Find | Kind::Aggregate => {
                let documents = self.documents(prepared, reply, query, batch, room).await;
                documents.map_err(|failure| prepared.failed_after_reply(failure))
            }
            _ => rows::of_reply(prepared, &reply).map_err(|error| StatementFailure::last(prepared.after_reply(error))),
        }
    }

    /// Reads all documents of a cursor, up to the limits of the query; `room` is how many values
    /// they may still have.
    ///
    /// Where it stops before the end, the cursor is closed, if the connection still works. Where
    /// that broke, or had to be closed within a reply, the server closes the cursor after ten
    /// minutes.
    async fn documents(
        &mut self,
        prepared: &Prepared,
        reply: Members,
        query: &Query<'_>,
        size: i32,
        mut room: usize,
    ) -> Result<Rows, StatementFailure> {
        let mut batch = batch_of(reply, "firstBatch").map_err(StatementFailure::last)?;
        let (mut documents, mut bytes) = (Vec::new(), 0_usize);
        loop {
            for document in std::mem::take(&mut batch.documents) {
                let Bson::Document(members) = document else {
                    self.kill(&batch).await;
                    self.is_usable = false;
                    return Err(StatementFailure::last(Error::new(ErrorKind::Protocol, "MongoDB sent something else than documents")));
                };
                bytes = bytes.saturating_add(size_of(&members));
                documents.push(members);
            }
            let too_many = documents.len() > query.max_rows;
            if too_many || bytes > query.max_bytes {
                self.kill(&batch).await;
                if query.cuts() && bytes <= query.max_bytes {
                    documents.truncate(query.max_rows);
                    let rows = rows::of_documents(documents).map_err(StatementFailure::last)?;
                    return Ok(Rows { truncated: true, ..rows });
                }
                let message = match too_many {
                    true => format!("the result has more than `max_rows`, {} rows", query.max_rows),
                    false => format!("the result has more than {} bytes", query.max_bytes),
                };
                return Err(StatementFailure::last(Error::new(ErrorKind::TooLarge, message)));
            }
            if batch.cursor == 0 {
                return rows::of_documents(documents).map_err(StatementFailure::last);
            }
            let more = vec![
                ("getMore".to_owned(), Bson::Int64(batch.cursor)),
                ("collection".to_owned(), Bson::Text(batch.collection.clone())),
                ("batchSize".to_owned(), Bson::Int32(size)),
                ("$db".to_owned(), Bson::Text(batch.database.clone())),
            ];
            let most = query.max_bytes.saturating_sub(bytes).saturating_add(ENVELOPE);
            let reply = match self.exchange(&more, most, &mut room).await {
                Ok(reply) => reply,
                Err(error) => {
                    if self.is_usable {
                        self.kill(&batch).await;
                    }
                    return Err(match error.kind {
                        ErrorKind::TooLarge => StatementFailure::last(error),
                        _ => StatementFailure::unknown(error),
                    });
                }
            };
            self.look_at(&reply);
            let doing = Doing { command: "getMore", reads: true, ..prepared.doing() };
            if let Some(failure) = server_error::of_reply(&reply, doing) {
                return Err(failure);
            }
            batch = batch_of(reply, "nextBatch").map_err(StatementFailure::last)?;
            if batch.documents.is_empty() && batch.cursor != 0 {
                self.kill(&batch).await;
                let message = "MongoDB has more documents and sends none";
                return Err(StatementFailure::last(Error::new(ErrorKind::Protocol, message)));
            }
        }
    }

    /// Lets the server forget a cursor that nobody reads to its end.
    async fn kill(&mut self, batch: &Batch) {
        if batch.cursor == 0 {
            return;
        }
        let kill = vec![
            ("killCursors".to_owned(), Bson::Text(batch.collection.clone())),
            ("cursors".to_owned(), Bson::Array(vec![Bson::Int64(batch.cursor)])),
            ("$db".to_owned(), Bson::Text(batch.database.clone())),
        ];
        // Without it, the server forgets the cursor after ten minutes.
        drop(self.exchange(&kill, ENVELOPE, &mut { MAX_VALUES }).await);
    }

    /// Sends and receives. A connection on which anything failed is of no use, unless the reply was
    /// read to its end.
    async fn exchange(&mut self, members: &[(String, Bson)], most: usize, room: &mut usize) -> Result<Members, Error> {
        // Also where the call is given up meanwhile.
        let was_usable = std::mem::replace(&mut self.is_usable, false);
        let reply = self.wire.command(members, most, room).await;
        self.is_usable = was_usable && self.wire.is_in_step;
        reply
    }

    fn look_at(&mut self, reply: &[(String, Bson)]) {
        if server_error::code_of(reply).is_some_and(server_error::is_not_primary) {
            (self.is_usable, self.is_not_primary) = (false, true);
        }
    }
}

fn batch_of(reply: Members, name: &str) -> Result<Batch, Error> {
    let wrong = || Error::new(ErrorKind::Protocol, "the reply of MongoDB has no cursor");
    let cursor = reply.into_iter().find(|(key, _)| key == "cursor").map(|(_, cursor)| cursor);
    let Some(Bson::Document(cursor)) = cursor else { return Err(wrong()) };
    let id = find(&cursor, "id").and_then(Bson::integer).ok_or_else(wrong)?;
    // `database.collection`
    let place = find(&cursor, "ns").and_then(Bson::text).and_then(|place| place.split_once('.'));
    let (database, collection) = place.map(|(database, name)| (database.to_owned(), name.to_owned())).unwrap_or_default();
    match cursor.into_iter().find(|(key, _)| key == name) {
        Some((_, Bson::Array(documents))) => Ok(Batch { documents, cursor: id, database, collection }),
        _ => Err(wrong()),
    }
}

/// What a document holds, in bytes, about as BSON has it.
fn size_of(members: &[(String, Bson)]) -> usize {
    members.iter().map(|(key, value)| size_of_value(value).saturating_add(key.len() + 2)).fold(0, usize::saturating_add)
}

fn size_of_value(value: &Bson) -> usize {
    // A length, and the end or the kind.
    const AROUND: usize = 5;
    match value {
        Bson::Text(text) | Bson::Code(text) => AROUND + text.len(),
        Bson::Binary(_, bytes) => AROUND + bytes.len(),
        Bson::Document(members) => AROUND.saturating_add(size_of(members)),
        Bson::Array(elements) => elements.iter().map(size_of_value).fold(AROUND, usize::saturating_add),
        Bson::Regex(pattern, options) => AROUND + pattern.len() + options.len(),
        _ => 8,
    }
}
