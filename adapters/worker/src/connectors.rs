//! The connectors that a Worker has: those of every host, and what is bound to the Worker.

use std::rc::Rc;

use millrace_catalogue::{BindingKind, find};
use millrace_connectors::{DriverPorts, d1::D1, open};
use millrace_core::{
    Result,
    app::App,
    ports::{Connection, Connector, Connectors},
};
use worker::Env;

use crate::d1::Binding;

/// Opens connections of one isolate.
pub(crate) struct WorkerConnectors {
    pub(crate) env: Env,
    pub(crate) ports: DriverPorts,
}

impl Connectors for WorkerConnectors {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        let DriverPorts { clock, random, .. } = &self.ports;
        let row = find(&connection.connector);
        let bound = row.and_then(|row| Some((row.binding?.kind, row.binding_in(connection.connection_string.expose())?.ok()?)));
        match bound {
            Some((BindingKind::D1, name)) => {
                let binding = Binding::find(&connection, name, &self.env)?;
                Ok(Rc::new(D1::new(binding, connection.read_only, clock.clone(), random.clone())))
            }
            #[cfg(feature = "databases")]
            Some((BindingKind::Hyperdrive, name)) => {
                let name = name.to_owned();
                crate::hyperdrive::open(connection, &name, &self.env, &self.ports)
            }
            _ => open(connection, &self.ports),
        }
    }
}

/// Why this runtime cannot serve an app: a connector needs a part that it was made without. `None`
/// where it can.
pub(crate) fn refusal(app: &App) -> Option<String> {
    let lacks = |connector: &str| find(connector).is_some_and(|row| row.worker_part.is_some() && !cfg!(feature = "databases"));
    let adapter = app.adapters.iter().find(|adapter| lacks(&adapter.connector))?;
    Some(format!(
        "the app has an adapter of connector `{}` (`{}`), and this runtime was made without the connector; build the app again with \
         `millrace build --target worker`",
        adapter.connector, adapter.name
    ))
}
