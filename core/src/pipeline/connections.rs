//! The connections of an isolate: one connector an adapter, made at its first use and kept. One whose secrets have changed is made anew;
//! what runs on the old one ends there.

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

/// The connectors by adapter.
pub(super) struct Connections {
    app: Rc<App>,
    connectors: Rc<dyn Connectors>,
    deployment: Rc<Deployment>,
    opened: Vec<RefCell<Option<Opened>>>,
}

/// A connector, and what it was opened with.
struct Opened {
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

    /// The adapter and its connector. An attempt that failed is made again at the next call.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a variable that is not set or a secret that there is not; else as
    /// [`Connectors::open`](crate::ports::Connectors::open).
    pub(super) fn open(&self, index: usize) -> Result<(&Adapter, Rc<dyn Connector>)> {
        let (Some(adapter), Some(slot)) = (self.app.adapters.get(index), self.opened.get(index)) else {
            return Err(Error::new(ErrorKind::Configuration, format!("the app has no adapter number {index}")));
        };
        let version = self.deployment.version();
        let mut slot = slot.borrow_mut();
        if let Some(opened) = &*slot
            && opened.version == version
        {
            return Ok((adapter, Rc::clone(&opened.connector)));
        }
        let connection = connection(&self.deployment, adapter)?;
        if let Some(opened) = &mut *slot
            && opened.connection == connection
        {
            opened.version = version;
            return Ok((adapter, Rc::clone(&opened.connector)));
        }
        let connector = self.connectors.open(connection.clone())?;
        *slot = Some(Opened { connector: Rc::clone(&connector), connection, version });
        Ok((adapter, connector))
    }

    pub(super) async fn ping(&self, clock: &dyn Clock, index: usize) -> Result<()> {
        let (adapter, connector) = self.open(index)?;
        let cancel = Cancel::new();
        let signal = Signal::new(clock, &cancel, None, adapter.timeout_ms);
        signal.race(connector.ping(signal.deadline_ms())).await.unwrap_or_else(|_| {
            let message = format!("the adapter `{}` did not answer within {} ms", adapter.name, adapter.timeout_ms);
            Err(Error::new(ErrorKind::TimedOut, message))
        })
    }
}

fn connection(deployment: &Deployment, adapter: &Adapter) -> Result<Connection> {
    let fill = |template| deployment.fill(template).map_err(|unfilled| unfilled.needed_by(&format!("the adapter `{}`", adapter.name)));
    let options = adapter.options.iter().map(|(name, value)| Ok((name.clone(), fill(value)?)));
    Ok(Connection {
        adapter: adapter.name.clone(),
        connector: adapter.connector.clone(),
        connection_string: fill(&adapter.connection_string)?,
        shown: format!("{}", adapter.connection_string),
        options: options.collect::<Result<_>>()?,
        read_only: adapter.read_only,
        seed: adapter.seed.clone(),
    })
}
