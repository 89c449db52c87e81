//! `connector: redis`: a Redis server, or one that speaks its protocol (Valkey, ElastiCache,
//! KeyDB).
//!
//! In go the arguments of one command; out come rows. Each value is one argument, whatever
//! characters it has, because the protocol sends the length of each. What a command may do, and
//! what its reply means, is in the crate `millrace-catalogue`: blocking, administrative and
//! scripting commands are refused before anything is sent, and so is what changes the connection.
//!
//! # Protocol
//!
//! RESP3 where the server has it, else RESP2. What a command's reply means comes from the table of
//! commands, so that one statement has one answer, whatever is spoken; types that only RESP3 has
//! are read as RESP2 has them, and as `upstash` gives them. Commands of modules are not in the
//! table, and may reply with something else in RESP3: an adapter that allows one speaks RESP2.
//!
//! `HELLO` goes out together with the login. A connection for one command that needs no login
//! speaks RESP2, which spares a round trip. The isolate remembers a server that does not know
//! `HELLO`, or with which no connection came about after it.
//!
//! # Connections
//!
//! As in connector `postgres`: up to `max_connections` of an isolate are logged in once and used
//! again, and looked at before that. A connection on which anything failed, or whose call was given
//! up, is closed: its reply would be taken for another's. In a Worker, each command has its own.
//!
//! Commands that only read share one of these connections, and what many calls ask at the same time
//! goes out together: module `shared_reads`. A command that may write never shares, so that nothing
//! that happens to another call makes its outcome unknown.
//!
//! # Time
//!
//! Redis knows no deadlines: at the deadline the connection is closed, and the server may still
//! carry the command out. What was not executed (no connection, a server that loads its data) is
//! sent again up to five times within about three seconds, never past the deadline. A command that
//! only reads is sent once more after a broken connection. A write whose reply got lost is never
//! sent again, and its error says so.
//!
//! Protocol: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

mod settings;
mod shared_reads;

use std::{cell::Cell, rc::Rc};

use millrace_catalogue::REDIS;
use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{Clock, Command, Connection, Connector, Dialer, LocalFuture, Query, Random, Roots},
    value::{Rows, Value},
};
use millrace_redis::{KnownServer, Limits, Link, LoginError, REDIS_SERVER, RedisAddress, Reply, SharedFailure, Use, connect};

use crate::{
    redis_commands::{ErrorPlace, PING, Prepared, failure_of, rows_of},
    shared::{Connections, Pooled, Progress, Server, StatementFailure, own_query, within_limits},
    sockets::{Lifetime, Sockets},
};
use settings::RedisSettings;
use shared_reads::SharedReads;

/// A database of a Redis server.
pub struct Redis {
    address: RedisAddress,
    settings: RedisSettings,
    read_only: bool,
    lifetime: Lifetime,
    dialer: Rc<dyn Dialer>,
    clock: Rc<dyn Clock>,
    known: KnownServer,
    connections: Connections<Link>,
    /// `None` where every command has a connection to itself.
    reads: Option<SharedReads>,
}

impl Pooled for Link {
    async fn is_quiet(&mut self) -> bool {
        self.is_silent().await
    }

    async fn answers(&mut self) -> bool {
        let reply = self.exchange(&[PING.as_bytes()], Limits { bytes: 0, lists: false }).await;
        reply.is_ok_and(|reply| reply == Reply::Status("PONG".to_owned()))
    }

    fn is_usable(&self) -> bool {
        self.is_in_step()
    }
}

/// A command on its way to the server.
struct Sent<'a> {
    words: Vec<&'a [u8]>,
    limits: Limits,
    prepared: &'a Prepared,
    query: &'a Query<'a>,
    progress: &'a Progress,
}

impl Redis {
    /// Reads the settings of an adapter; connects to nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of Redis',
    /// an unknown option or a wrong value of one, and for an adapter that names certificates to
    /// trust where the host trusts its own list only.
    pub fn open(connection: &Connection, sockets: &Sockets, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        let (address, settings) = settings::read(connection.connection_string.expose().trim(), &connection.options)?;
        if !sockets.own_roots && address.roots != Roots::Host {
            let message = format!(
                "the adapter `{}` brings root certificates, and a Worker trusts only what the platform trusts; remove `ca_certificate` and \
                 `ca_file`",
                connection.adapter
            );
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        // One of the connections is for what shares it.
        let shares = sockets.lifetime == Lifetime::Isolate && settings.max_connections > 1;
        let server = Server {
            adapter: connection.adapter.clone(),
            name: REDIS_SERVER,
            place: Some(address.place()),
            max_connections: settings.max_connections,
            shared_connections: usize::from(shares),
            connect_timeout_ms: settings.connect_timeout_ms,
        };
        Ok(Self {
            connections: Connections::new(server, sockets.lifetime, clock.clone(), random),
            reads: shares.then(SharedReads::default),
            address,
            settings,
            read_only: connection.read_only,
            lifetime: sockets.lifetime,
            dialer: sockets.dialer.clone(),
            clock,
            known: KnownServer::default(),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = Prepared::of(query, REDIS.name, &self.settings.allow, self.read_only)?;
        let may_share = Cell::new(prepared.effect().reads && query.access == Access::Read);
        let attempt = async |progress: &Progress| {
            let words = prepared.words.iter().map(Vec::as_slice).collect();
            let limits = Limits { bytes: query.max_bytes, lists: true };
            self.attempt(&Sent { words, limits, prepared: &prepared, query, progress }, &may_share).await
        };
        let rows = self.connections.run(query, prepared.effect(), attempt).await?;
        within_limits(rows, query, prepared.effect())
    }

    async fn attempt(&self, sent: &Sent<'_>, may_share: &Cell<bool>) -> Result<Rows, StatementFailure> {
        let reads = self.reads.as_ref().filter(|_| may_share.get());
        let shared = match reads {
            Some(reads) => self.together(reads, sent).await,
            None => Ok(None),
        };
        // What goes wrong with a connection that is shared may be because of another call: the next
        // attempt does not depend on any.
        let shared = shared.inspect_err(|_| may_share.set(false))?;
        let reply = match shared {
            Some(reply) => reply,
            None => self.alone(sent).await?,
        };
        let prepared = sent.prepared;
        let (place, words) = match reply {
            Reply::Error(words) => (ErrorPlace::Reply, words),
            reply => match rows_of(prepared, reply, sent.query.max_rows) {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(words)) => (ErrorPlace::Element, words),
                Err(error) => return Err(StatementFailure::last(prepared.after_reply(error))),
            },
        };
        Err(failure_of(prepared, place, REDIS_SERVER, &words))
    }

    /// Sends a command over a connection that no other call uses meanwhile.
    async fn alone(&self, sent: &Sent<'_>) -> Result<Reply, StatementFailure> {
        let connect = async |until_ms| self.connect(sent.prepared, until_ms).await;
        let work = async |link: &mut Link, _| link.exchange(&sent.words, sent.limits).await.map_err(|error| of_reply(sent.prepared, error));
        self.connections.with_one(sent.query, sent.progress, connect, work).await
    }

    /// Sends a command over the connection that reads share. `None` where it has to go alone.
    async fn together(&self, reads: &SharedReads, sent: &Sent<'_>) -> Result<Option<Reply>, StatementFailure> {
        loop {
            let found = reads.link(&*self.clock, sent.query.deadline_ms).await;
            let is_new = found.is_none();
            let link = match found {
                Some(link) => link,
                None => {
                    let Some(opening) = reads.open() else { return Ok(None) };
                    let connect = async |until_ms| self.connect(sent.prepared, until_ms).await;
                    let made = self.connections.connect(sent.query.deadline_ms, sent.progress, connect).await?;
                    opening.done(made, self.clock.now_ms())
                }
            };
            self.connections.begin(sent.query, sent.progress)?;
            match link.exchange(&sent.words, sent.limits).await {
                Ok(reply) => return Ok(Some(reply)),
                // The server closed it while nobody used it: another one is made.
                Err(SharedFailure::NotSent(_)) if !is_new => {}
                Err(SharedFailure::NotSent(_)) => return Ok(None),
                Err(SharedFailure::Unknown(error) | SharedFailure::Reply(error)) => return Err(of_reply(sent.prepared, error)),
            }
        }
    }

    async fn connect(&self, prepared: &Prepared, until_ms: u64) -> Result<Link, StatementFailure> {
        let purpose = match self.lifetime {
            Lifetime::Isolate => Use::Many,
            Lifetime::Call => Use::One,
        };
        connect(&self.address, &self.known, purpose, &*self.dialer, until_ms).await.map_err(|error| match error {
            LoginError::Refused(words) => self.not_let_in(prepared, &words),
            LoginError::Failed(error) => match error.kind {
                ErrorKind::Unavailable => StatementFailure::not_executed(error),
                // It took all of the time that there is for a connection. The command was not sent,
                // so that nothing about it is unknown.
                ErrorKind::TimedOut => StatementFailure::last(error.with_kind(ErrorKind::Unavailable)),
                _ => StatementFailure::last(error),
            },
        })
    }

    /// What an error at the login means: of the command nothing has been sent.
    fn not_let_in(&self, prepared: &Prepared, words: &str) -> StatementFailure {
        let said = |part: &str| words.contains(part);
        let last = |kind, what: &str| {
            // The words may quote the password.
            let error = Error::new(kind, format!("{REDIS_SERVER} {what}")).with_source(words.split(' ').next().unwrap_or_default());
            StatementFailure::last(error.at(&self.address.place()))
        };
        if said("without any password configured") || said("invalid password") {
            return last(ErrorKind::Credentials, "does not accept the password");
        }
        if said("DB index") || said("out of range") {
            return last(ErrorKind::Configuration, "has no database of that number");
        }
        if words.starts_with("NOPERM") {
            return last(ErrorKind::Denied, "forbids the user `SELECT`");
        }
        match failure_of(prepared, ErrorPlace::Login, REDIS_SERVER, words) {
            failure if matches!(failure.error.kind, ErrorKind::Constraint | ErrorKind::Data | ErrorKind::Syntax) => {
                last(ErrorKind::Protocol, "rejected the login")
            }
            StatementFailure { error, outcome } => StatementFailure { error: error.at(&self.address.place()), outcome },
        }
    }
}

/// What it means that the reply to a command is no reply, or too large.
fn of_reply(prepared: &Prepared, error: Error) -> StatementFailure {
    match error.kind {
        ErrorKind::TooLarge => StatementFailure::last(prepared.after_reply(error)),
        _ => StatementFailure::unknown(error),
    }
}

impl Connector for Redis {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let words = [Value::Text(PING.to_owned())];
            self.run(&Query { command: Command::Arguments(&words), ..own_query("", deadline_ms) }).await.map(|_| ())
        })
    }
}
