//! The connections of an isolate: one connector an adapter, made at its first use and kept. One whose secrets have changed is made anew;
//! what runs on the old one ends there.

use alloc::{format, rc::Rc, vec::Vec};
use core::cell::RefCell;

use super::{deployment::Deployment, runtime::Pipeline, signal::Signal};
use crate::{
    Error, ErrorKind, Result,
    app::Adapter,
    cancel::Cancel,
    ports::{Connection, Connector},
};

/// The most bytes of cells that one statement may read.
pub(super) const MAX_CELL_BYTES: usize = 16 << 20;

/// The connectors by adapter.
pub(super) struct Connections(Vec<RefCell<Option<Opened>>>);

/// A connector, and what it was opened with.
struct Opened {
    connector: Rc<dyn Connector>,
    connection: Connection,
    /// The version of the deployment's secrets that the connection was compared with last.
    version: u64,
}

impl Connections {
    pub(super) fn of(adapters: usize) -> Self {
        Self((0..adapters).map(|_| RefCell::default()).collect())
    }

    /// The adapter and its connector. An attempt that failed is made again at the next call.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a variable that is not set or a secret that there is not; else as
    /// [`Connectors::open`](crate::ports::Connectors::open).
    pub(super) fn open<'a>(&self, pipeline: &'a Pipeline, index: usize) -> Result<(&'a Adapter, Rc<dyn Connector>)> {
        let (Some(adapter), Some(slot)) = (pipeline.app.adapters.get(index), self.0.get(index)) else {
            return Err(Error::new(ErrorKind::Configuration, format!("the app has no adapter number {index}")));
        };
        let version = pipeline.deployment.version();
        let mut slot = slot.borrow_mut();
        if let Some(opened) = &*slot
            && opened.version == version
        {
            return Ok((adapter, Rc::clone(&opened.connector)));
        }
        let connection = connection(&pipeline.deployment, adapter)?;
        if let Some(opened) = &mut *slot
            && opened.connection == connection
        {
            opened.version = version;
            return Ok((adapter, Rc::clone(&opened.connector)));
        }
        let connector = pipeline.ports.connectors.open(connection.clone())?;
        *slot = Some(Opened { connector: Rc::clone(&connector), connection, version });
        Ok((adapter, connector))
    }

    pub(super) async fn ping(&self, pipeline: &Pipeline, index: usize) -> Result<()> {
        let (adapter, connector) = self.open(pipeline, index)?;
        let cancel = Cancel::new();
        let signal = Signal::new(&*pipeline.ports.clock, &cancel, None, adapter.timeout_ms);
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
