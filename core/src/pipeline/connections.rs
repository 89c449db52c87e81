//! The connections of an isolate: one connector an adapter, or one for each of its databases, made at its first use and kept. One whose
//! secrets have changed is made anew; what runs on the old one ends there.

use alloc::{format, rc::Rc, vec::Vec};
use core::cell::RefCell;

use super::{deployment::Deployment, signal::Signal};
use crate::{
    Error, ErrorKind, Result,
    app::{Adapter, App},
    cancel::Cancel,
    ports::{Clock, Connection, Connector, Connectors, Ports},
};

/// The most bytes of cells that one statement may read.
pub(super) const MAX_CELL_BYTES: usize = 16 << 20;
/// The most databases of one adapter that are connected at a time. The one that was used longest ago goes first.
const MAX_DATABASES: usize = 32;

/// The connectors by adapter.
pub(super) struct Connections {
    app: Rc<App>,
    connectors: Rc<dyn Connectors>,
    deployment: Rc<Deployment>,
    /// By adapter; those that were used last are last.
    opened: Vec<RefCell<Vec<Opened>>>,
}

/// A connector, and what it was opened with.
struct Opened {
    /// The name of the database, where the adapter has several.
    database: Option<Rc<str>>,
    connector: Rc<dyn Connector>,
    connection: Connection,
    /// The version of the deployment's secrets that the connection was compared with last.
    version: u64,
}

impl Connections {
    pub(super) fn new(app: Rc<App>, ports: &Ports, deployment: Rc<Deployment>) -> Self {
        let opened = app.adapters.iter().map(|_| RefCell::default()).collect();
        Self { app, connectors: Rc::clone(&ports.connectors), deployment, opened }
    }

    /// The adapter and the connector of one of its databases, or of its only one. An attempt that failed is made again at the next call.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a variable that is not set or a secret that there is not; else as
    /// [`Connectors::open`](crate::ports::Connectors::open).
    pub(super) fn open(&self, index: usize, database: Option<&str>) -> Result<(&Adapter, Rc<dyn Connector>)> {
        let (Some(adapter), Some(slot)) = (self.app.adapters.get(index), self.opened.get(index)) else {
            return Err(Error::new(ErrorKind::Configuration, format!("the app has no adapter number {index}")));
        };
        let version = self.deployment.version();
        let mut opened = slot.borrow_mut();
        let known = opened.iter().position(|known| known.database.as_deref() == database);
        if let Some(known) = known {
            // The connections that were used last are last.
            opened[known..].rotate_left(1);
            if let Some(known) = opened.last_mut() {
                if known.version == version {
                    return Ok((adapter, Rc::clone(&known.connector)));
                }
                let connection = connection(&self.deployment, adapter, database)?;
                if known.connection != connection {
                    known.connector = self.connectors.open(connection.clone())?;
                    known.connection = connection;
                }
                known.version = version;
                return Ok((adapter, Rc::clone(&known.connector)));
            }
        }
        let connection = connection(&self.deployment, adapter, database)?;
        let connector = self.connectors.open(connection.clone())?;
        if opened.len() >= MAX_DATABASES {
            opened.remove(0);
        }
        opened.push(Opened { database: database.map(Rc::from), connector: Rc::clone(&connector), connection, version });
        Ok((adapter, connector))
    }

    /// Whether a database answers.
    pub(super) async fn ping(&self, clock: &dyn Clock, index: usize, database: Option<&str>) -> Result<()> {
        let (adapter, connector) = self.open(index, database)?;
        let cancel = Cancel::new();
        let signal = Signal::new(clock, &cancel, None, adapter.timeout_ms);
        signal.race(connector.ping(signal.deadline_ms())).await.unwrap_or_else(|_| {
            let message = format!("the adapter `{}` did not answer within {} ms", adapter.name, adapter.timeout_ms);
            Err(Error::new(ErrorKind::TimedOut, message))
        })
    }
}

fn connection(deployment: &Deployment, adapter: &Adapter, database: Option<&str>) -> Result<Connection> {
    let fill = |template| {
        deployment.fill_for(template, database).map_err(|unfilled| unfilled.needed_by(&format!("the adapter `{}`", adapter.name)))
    };
    let options = adapter.options.iter().map(|(name, value)| Ok((name.clone(), fill(value)?)));
    Ok(Connection {
        adapter: adapter.name.clone(),
        connector: adapter.connector.clone(),
        connection_string: fill(&adapter.connection_string)?,
        shown: match database {
            None => format!("{}", adapter.connection_string),
            Some(name) => format!("{}", adapter.connection_string.of_database(name)),
        },
        options: options.collect::<Result<_>>()?,
        read_only: adapter.read_only,
        seed: adapter.seed.clone(),
    })
}
