//! `connector: mongodb`: MongoDB and what speaks its protocol (Atlas, DocumentDB, Cosmos DB), over TCP.
//!
//! In goes one command as a document, with its values as leaves; out come rows, a document each. Which commands, stages and operators there are for
//! a tool is in the crate `millrace-catalogue`, and looked at when the app is built and before anything is sent.
//!
//! # Servers
//!
//! A connection string names hosts, or a name for which DNS has them: module `srv`. Each is asked what it is, until one takes writes: the primary of
//! a replica set, a router, or a server alone. Everything goes there; with `directConnection=true`, to the one host, whatever it is. Its place is kept; a server that says that it is not the primary any more has
//! done nothing, so that the command is sent again to whoever is.
//!
//! # Connections
//!
//! As in connector `redis`: up to `max_connections` of an isolate are logged in once and used again. In a Worker, each command has its own.
//!
//! # Time
//!
//! The server knows the deadline, `maxTimeMS`. At the deadline the connection is closed, by which MongoDB ends what it was doing. What was not executed
//! is sent again up to five times within about three seconds, never past the deadline; a command that only reads once more after a broken
//! connection; a write of unknown outcome never.
//!
//! Protocol: <https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>.

mod address;
mod bson;
mod command;
mod decimal;
mod extended;
mod login;
mod rows;
mod scram;
mod script;
mod server_error;
mod session;
mod srv;
mod time;
mod wire;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use millrace_catalogue::MONGODB;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Connector, Dialer, HttpClient, LocalFuture, Query, Random},
    value::Rows,
};

use crate::{
    shared::{Effect, Pool, Retry, StatementFailure, check_roots, own_query, timed_out, within, within_limits},
    sockets::{Lifetime, Sockets},
};
use address::{Host, MAX_HOSTS, MongoAddress, Seeds};
use command::Prepared;
use login::Login;
use scram::SaltedPassword;
use session::Session;
use srv::{Named, Resolver};

/// A database of MongoDB.
pub struct Mongodb {
    address: MongoAddress,
    read_only: bool,
    lifetime: Lifetime,
    dialer: Rc<dyn Dialer>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    retry: Retry,
    pool: Pool<Session>,
    resolver: Resolver,
    /// Who took writes last.
    primary: RefCell<Option<Host>>,
    salted: RefCell<Option<SaltedPassword>>,
    /// How often a server was found to be the primary no more. Connections of before are closed.
    elections: Cell<u64>,
}

/// What a host gives the driver.
#[derive(Clone)]
pub struct MongodbPorts {
    /// Outgoing HTTP, for questions to DNS.
    pub http: Rc<dyn HttpClient>,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
}

/// What a call is doing, for the message of a deadline.
#[derive(Clone, Copy)]
enum Phase {
    Waiting,
    Connecting,
    Running,
}

/// What is done on a connection.
enum Work {
    Command(Prepared),
    Ping,
}

impl Mongodb {
    /// Reads the settings of an adapter; connects to nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of MongoDB's, an unknown option or a wrong value of one,
    /// and for an adapter that names certificates to trust where the host trusts its own list only.
    pub fn open(connection: &Connection, sockets: &Sockets, ports: MongodbPorts) -> Result<Self> {
        let address = MongoAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        check_roots(connection, sockets, &address.roots)?;
        let MongodbPorts { http, clock, random } = ports;
        Ok(Self {
            pool: Pool::of(address.max_connections),
            address,
            read_only: connection.read_only,
            lifetime: sockets.lifetime,
            dialer: sockets.dialer.clone(),
            retry: Retry::new(clock.clone(), random.clone()),
            resolver: Resolver::new(http, clock.clone()),
            clock,
            random,
            primary: RefCell::new(None),
            salted: RefCell::new(None),
            elections: Cell::new(0),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = Prepared::of(query, MONGODB.name, &self.address.allow, self.read_only, &*self.random, self.clock.now_ms())?;
        let effect = prepared.effect();
        let rows = self.work(query, effect, &Work::Command(prepared)).await?;
        within_limits(rows, query, effect)
    }

    async fn work(&self, query: &Query<'_>, effect: Effect, work: &Work) -> Result<Rows> {
        let phase = Cell::new(Phase::Waiting);
        let attempts = self.retry.run(query, effect, async || self.attempt(query, &phase, work).await);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(phase.get())))
    }

    async fn attempt(&self, query: &Query<'_>, phase: &Cell<Phase>, work: &Work) -> Result<Rows, StatementFailure> {
        phase.set(Phase::Waiting);
        let slot = match self.lifetime {
            Lifetime::Isolate => Some(self.pool.slot().await),
            Lifetime::Call => None,
        };
        phase.set(Phase::Connecting);
        let idle = loop {
            match &slot {
                Some(slot) => match slot.idle(&*self.clock, query.deadline_ms).await {
                    Some(session) if session.elections != self.elections.get() => {}
                    idle => break idle,
                },
                None => break None,
            }
        };
        let mut session = match idle {
            Some(session) => session,
            None => self.connect(query.deadline_ms).await?,
        };
        phase.set(Phase::Running);
        let left_ms = query.deadline_ms.saturating_sub(self.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let outcome = match work {
            Work::Command(prepared) => session.run(prepared, query, &self.address, left_ms).await,
            Work::Ping => session.ping().await.map(|()| Rows::default()),
        };
        if session.is_not_primary {
            *self.primary.borrow_mut() = None;
            self.elections.set(self.elections.get() + 1);
        }
        if let Some(slot) = slot.filter(|_| session.is_usable) {
            slot.keep(session, self.clock.now_ms());
        }
        outcome
    }

    async fn connect(&self, deadline_ms: u64) -> Result<Session, StatementFailure> {
        let until_ms = deadline_ms.min(self.clock.now_ms().saturating_add(self.address.connect_timeout_ms));
        match within(&*self.clock, until_ms, self.find_primary(until_ms)).await {
            Some(Err(StatementFailure { error, outcome })) if error.kind == ErrorKind::TimedOut => {
                // It took all of the time that there is for a connection. The command was not sent, so that nothing about it is unknown.
                Err(StatementFailure { error: Error { kind: ErrorKind::Unavailable, ..error }, outcome })
            }
            Some(outcome) => outcome,
            None => Err(StatementFailure::not_executed(self.too_late(Phase::Connecting))),
        }
    }

    /// Asks one server after the other what it is, and logs in to the one that takes writes.
    async fn find_primary(&self, until_ms: u64) -> Result<Session, StatementFailure> {
        let named = match &self.address.seeds {
            Seeds::Hosts(hosts) => Rc::new(Named { hosts: hosts.clone(), ..Named::default() }),
            Seeds::Name(name) => {
                let asked = self.resolver.resolve(&self.address.dns, name, until_ms).await;
                asked.map_err(|error| match error.kind {
                    ErrorKind::Unavailable => StatementFailure::not_executed(error),
                    _ => StatementFailure::last(error),
                })?
            }
        };
        let login = Login {
            address: &self.address,
            auth_source: self.auth_source(&named),
            replica_set: self.address.replica_set.as_deref().or(named.replica_set.as_deref()),
            seeds: &named.hosts,
            dialer: &*self.dialer,
            random: &*self.random,
        };
        let mut waiting: Vec<Host> = named.hosts.iter().rev().cloned().collect();
        waiting.extend(self.primary.borrow().clone());
        let mut tried: Vec<Host> = Vec::new();
        let mut failure: Option<StatementFailure> = None;
        // What only the operator can mend is said, whatever became of the other servers.
        let mut note = |found: StatementFailure| match &failure {
            Some(known) if matches!(known.error.kind, ErrorKind::Denied | ErrorKind::Credentials | ErrorKind::Configuration) => {}
            _ => failure = Some(found),
        };
        while let Some(host) = waiting.pop() {
            if tried.contains(&host) || tried.len() >= 2 * MAX_HOSTS {
                continue;
            }
            let left = waiting.iter().filter(|other| !tried.contains(other) && **other != host).count() as u64 + 1;
            let now_ms = self.clock.now_ms();
            let share_ms = now_ms + until_ms.saturating_sub(now_ms) / left;
            tried.push(host.clone());
            let greeted = within(&*self.clock, share_ms, login.greet(&host, share_ms)).await;
            let (mut wire, greeting) = match greeted {
                Some(Ok(greeted)) => greeted,
                Some(Err(failed)) => {
                    note(failed);
                    continue;
                }
                None => {
                    note(StatementFailure::not_executed(self.too_late(Phase::Connecting)));
                    continue;
                }
            };
            if !greeting.is_primary && !self.address.is_direct {
                match greeting.primary {
                    Some(Ok(primary)) => waiting.push(primary),
                    Some(Err(why)) => {
                        let message = format!(
                            "MongoDB names a primary to which the connector does not connect: {why}; name it in the connection string"
                        );
                        note(StatementFailure::last(Error::new(ErrorKind::Configuration, message)));
                    }
                    None => {}
                }
                continue;
            }
            let mut kept = self.salted.borrow().clone();
            let logged_in = login.log_in(&mut wire, &greeting, &mut kept).await;
            *self.salted.borrow_mut() = kept;
            logged_in?;
            *self.primary.borrow_mut() = Some(host);
            return Ok(Session::new(wire, self.elections.get()));
        }
        Err(failure.unwrap_or_else(|| {
            StatementFailure::not_executed(Error::new(ErrorKind::Unavailable, "no server of the replica set of MongoDB is its primary"))
        }))
    }

    /// Where the user is known.
    fn auth_source<'a>(&'a self, named: &'a Named) -> &'a str {
        let said = self.address.auth_source.as_deref().or(named.auth_source.as_deref());
        said.or(self.address.database.as_deref()).unwrap_or("admin")
    }

    fn too_late(&self, phase: Phase) -> Error {
        match phase {
            Phase::Waiting => {
                let most = self.address.max_connections;
                Error::new(ErrorKind::Busy, format!("all {most} connections to MongoDB were in use until the deadline"))
            }
            Phase::Connecting => Error::new(ErrorKind::Unavailable, "MongoDB did not accept the connection in time"),
            Phase::Running => timed_out(),
        }
    }
}

impl Connector for Mongodb {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let effect = Effect { reads: true, returns: true };
            self.work(&own_query("", deadline_ms), effect, &Work::Ping).await.map(drop)
        })
    }
}
