//! `connector: mongodb`: MongoDB and what speaks its protocol (Atlas, DocumentDB, Cosmos DB), over
//! TCP.
//!
//! In goes one command as a document, with its values as leaves; out come rows, a document each.
//! Which commands, stages and operators there are for a tool is in the crate `millrace-catalogue`,
//! and looked at when the app is built and before anything is sent.
//!
//! # Servers
//!
//! A connection string names hosts, or a name for which DNS has them: module `srv`. Each is asked
//! what it is, until one takes writes: the primary of a replica set, a router, or a server alone.
//! Everything goes there; with `directConnection=true`, to the one host, whatever it is. Its place
//! is kept; a server that says that it is not the primary any more has done nothing, so that the
//! command is sent again to whoever is.
//!
//! # Connections
//!
//! As in connector `redis`: up to `max_connections` of an isolate are logged in once and used
//! again. In a Worker, each command has its own.
//!
//! # Time
//!
//! The server knows the deadline, `maxTimeMS`. At the deadline the connection is closed, by which
//! MongoDB ends what it was doing. What was not executed is sent again up to five times within
//! about three seconds, never past the deadline; a command that only reads once more after a broken
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
    shared::{Connections, Effect, Progress, Server, StatementFailure, check_roots, own_query, within, within_limits},
    sockets::Sockets,
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
    dialer: Rc<dyn Dialer>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    connections: Connections<Session>,
    resolver: Resolver,
    /// Who took writes last.
    primary: RefCell<Option<Host>>,
    salted: RefCell<Option<SaltedPassword>>,
    /// How often a server was found to be the primary no more. Connections of before are closed.
    elections: Rc<Cell<u64>>,
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

/// What is done on a connection.
enum Work {
    Command(Prepared),
    Ping,
}

impl Mongodb {
    /// Reads the settings of an adapter; connects to nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of
    /// MongoDB's, an unknown option or a wrong value of one, and for an adapter that names
    /// certificates to trust where the host trusts its own list only.
    pub fn open(connection: &Connection, sockets: &Sockets, ports: MongodbPorts) -> Result<Self> {
        let address = MongoAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        check_roots(connection, sockets, &address.roots)?;
        let MongodbPorts { http, clock, random } = ports;
        let server = Server {
            adapter: connection.adapter.clone(),
            name: "MongoDB",
            place: None,
            max_connections: address.max_connections,
            shared_connections: 0,
            connect_timeout_ms: address.connect_timeout_ms,
        };
        Ok(Self {
            connections: Connections::new(server, sockets.lifetime, clock.clone(), random.clone()),
            address,
            read_only: connection.read_only,
            dialer: sockets.dialer.clone(),
            resolver: Resolver::new(http, clock.clone()),
            clock,
            random,
            primary: RefCell::new(None),
            salted: RefCell::new(None),
            elections: Rc::default(),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = Prepared::of(query, MONGODB.name, &self.address.allow, self.read_only, &*self.random, self.clock.now_ms())?;
        let effect = prepared.effect();
        let rows = self.work(query, effect, &Work::Command(prepared)).await?;
        within_limits(rows, query, effect)
    }

    async fn work(&self, query: &Query<'_>, effect: Effect, work: &Work) -> Result<Rows> {
        let on_one = async |session: &mut Session, left_ms| {
            let outcome = match work {
                Work::Command(prepared) => session.run(prepared, query, &self.address, left_ms).await,
                Work::Ping => session.ping().await.map(|()| Rows::default()),
            };
            if session.is_not_primary {
                *self.primary.borrow_mut() = None;
                self.elections.set(self.elections.get() + 1);
            }
            outcome
        };
        let connect = async |until_ms| self.connect(until_ms).await;
        let attempt = async |progress: &Progress| self.connections.with_one(query, progress, connect, on_one).await;
        self.connections.run(query, effect, attempt).await
    }

    async fn connect(&self, until_ms: u64) -> Result<Session, StatementFailure> {
        self.find_primary(until_ms).await.map_err(|StatementFailure { error, outcome }| match error.kind {
            // It took all of the time that there is for a connection. The command was not sent, so
            // that nothing about it is unknown.
            ErrorKind::TimedOut => StatementFailure { error: error.with_kind(ErrorKind::Unavailable), outcome },
            _ => StatementFailure { error, outcome },
        })
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
        let mut search = Search::of(&named.hosts, self.primary.borrow().clone());
        while let Some(host) = search.next() {
            let now_ms = self.clock.now_ms();
            let share_ms = now_ms + until_ms.saturating_sub(now_ms) / search.left(&host);
            let greeted = within(&*self.clock, share_ms, login.greet(&host, share_ms)).await;
            let (mut wire, greeting) = match greeted {
                Some(Ok(greeted)) => greeted,
                Some(Err(failed)) => {
                    search.note(failed);
                    continue;
                }
                None => {
                    search.note(StatementFailure::not_executed(self.connections.not_connected()));
                    continue;
                }
            };
            if !greeting.is_primary && !self.address.is_direct {
                search.follow(greeting.primary);
                continue;
            }
            let mut kept = self.salted.borrow().clone();
            let logged_in = login.log_in(&mut wire, &greeting, &mut kept).await;
            *self.salted.borrow_mut() = kept;
            logged_in?;
            *self.primary.borrow_mut() = Some(host);
            return Ok(Session::new(wire, self.elections.clone()));
        }
        Err(search.failure())
    }

    /// Where the user is known.
    fn auth_source<'a>(&'a self, named: &'a Named) -> &'a str {
        let said = self.address.auth_source.as_deref().or(named.auth_source.as_deref());
        said.or(self.address.database.as_deref()).unwrap_or("admin")
    }
}

/// The search for the server that takes writes.
struct Search {
    waiting: Vec<Host>,
    tried: Vec<Host>,
    failure: Option<StatementFailure>,
}

impl Search {
    /// Among these servers, of which `primary` took writes last.
    fn of(hosts: &[Host], primary: Option<Host>) -> Self {
        let waiting = hosts.iter().rev().cloned().chain(primary).collect();
        Self { waiting, tried: Vec::new(), failure: None }
    }

    /// The next server that was not asked yet.
    fn next(&mut self) -> Option<Host> {
        loop {
            let host = self.waiting.pop()?;
            if !self.tried.contains(&host) && self.tried.len() < 2 * MAX_HOSTS {
                self.tried.push(host.clone());
                return Some(host);
            }
        }
    }

    /// How many servers there are to ask, with this one.
    fn left(&self, host: &Host) -> u64 {
        self.waiting.iter().filter(|other| !self.tried.contains(other) && *other != host).count() as u64 + 1
    }

    /// Notes why a server was not the one. What only the operator can mend is said, whatever became
    /// of the other servers.
    fn note(&mut self, found: StatementFailure) {
        match &self.failure {
            Some(known) if matches!(known.error.kind, ErrorKind::Denied | ErrorKind::Credentials | ErrorKind::Configuration) => {}
            _ => self.failure = Some(found),
        }
    }

    /// Goes on with the server that another one names, where it names any.
    fn follow(&mut self, primary: Option<Result<Host, &'static str>>) {
        match primary {
            Some(Ok(primary)) => self.waiting.push(primary),
            Some(Err(why)) => {
                let message =
                    format!("MongoDB names a primary to which the connector does not connect: {why}; name it in the connection string");
                self.note(StatementFailure::last(Error::new(ErrorKind::Configuration, message)));
            }
            None => {}
        }
    }

    fn failure(self) -> StatementFailure {
        self.failure.unwrap_or_else(|| {
            StatementFailure::not_executed(Error::new(ErrorKind::Unavailable, "no server of the replica set of MongoDB is its primary"))
        })
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
