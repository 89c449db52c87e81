//! The connectors that a native host has.

use std::{path::PathBuf, rc::Rc};

use millrace_connectors::sqlite::Sqlite;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Connector, Connectors},
};

/// Their names, as `connector:` of an adapter has them.
pub const NAMES: &[&str] = &["sqlite"];

/// Opens connections of one isolate.
pub struct NativeConnectors {
    base: PathBuf,
    clock: Rc<dyn Clock>,
}

impl NativeConnectors {
    /// `base` is the folder that a relative path of a database is below.
    #[must_use]
    pub fn new(base: PathBuf, clock: Rc<dyn Clock>) -> Self {
        Self { base, clock }
    }
}

impl Connectors for NativeConnectors {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        match connection.connector.as_str() {
            "sqlite" => Ok(Rc::new(Sqlite::open(connection, &self.base, self.clock.clone())?)),
            other => Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "adapter `{}` needs the connector `{other}`, which this host does not have; it has: {}",
                    connection.adapter,
                    NAMES.join(", ")
                ),
            )),
        }
    }
}
