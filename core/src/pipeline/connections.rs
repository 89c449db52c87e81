//! The connections of an isolate: one connector an adapter, made at its first use and kept.

use alloc::{format, rc::Rc, vec::Vec};
use core::cell::OnceCell;

use super::{env, signal::Signal};
use crate::{
    Error, ErrorKind, Result,
    app::{Adapter, App},
    cancel::Cancel,
    ports::{Connection, Connector, Env, Ports},
};

/// The most bytes of cells that one statement may read.
pub(super) const MAX_CELL_BYTES: usize = 16 << 20;

/// The connectors by adapter.
pub(super) struct Connections(Vec<OnceCell<Rc<dyn Connector>>>);

impl Connections {
    pub(super) fn of(adapters: usize) -> Self {
        Self((0..adapters).map(|_| OnceCell::new()).collect())
    }

    /// The adapter and its connector. An attempt that failed is made again at the next call.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a variable that is not set; else as [`Connectors::open`](crate::ports::Connectors::open).
    pub(super) fn open<'a>(&'a self, app: &'a App, ports: &Ports, index: usize) -> Result<(&'a Adapter, &'a Rc<dyn Connector>)> {
        let (Some(adapter), Some(slot)) = (app.adapters.get(index), self.0.get(index)) else {
            return Err(Error::new(ErrorKind::Configuration, format!("the app has no adapter number {index}")));
        };
        if let Some(connector) = slot.get() {
            return Ok((adapter, connector));
        }
        let connector = ports.connectors.open(connection(&*ports.env, adapter)?)?;
        Ok((adapter, slot.get_or_init(|| connector)))
    }

    pub(super) async fn ping(&self, app: &App, ports: &Ports, index: usize) -> Result<()> {
        let (adapter, connector) = self.open(app, ports, index)?;
        let cancel = Cancel::new();
        let signal = Signal::new(&*ports.clock, &cancel, None, adapter.timeout_ms);
        signal.race(connector.ping(signal.deadline_ms())).await.unwrap_or_else(|_| {
            let message = format!("the adapter `{}` did not answer within {} ms", adapter.name, adapter.timeout_ms);
            Err(Error::new(ErrorKind::TimedOut, message))
        })
    }
}

fn connection(env: &dyn Env, adapter: &Adapter) -> Result<Connection> {
    let fill = |template| {
        env::fill(template, env).map_err(|env::UnsetVariable(name)| {
            let message = format!("the environment variable `{name}`, which the adapter `{}` needs, is not set", adapter.name);
            Error::new(ErrorKind::Configuration, message)
        })
    };
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
