//! The connectors that a native host has.

use std::{path::PathBuf, rc::Rc};

use millrace_connectors::{
    d1::{D1, Rest},
    libsql::Libsql,
    postgres::{Lifetime, Postgres},
    sqlite::Sqlite,
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Connector, Connectors, Dialer, HttpClient, Random},
};

use crate::{dialer::NativeDialer, http_client::NativeHttpClient, random::SystemRandom};

/// Their names, as `connector:` of an adapter has them.
pub const NAMES: &[&str] = &["sqlite", "libsql", "d1", "postgres"];

/// Opens connections of one isolate.
pub struct NativeConnectors {
    base: PathBuf,
    http: Rc<dyn HttpClient>,
    dialer: Rc<dyn Dialer>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
}

impl NativeConnectors {
    /// `base` is the folder that a relative path of a database is below.
    #[must_use]
    pub fn new(base: PathBuf, clock: Rc<dyn Clock>) -> Self {
        // A client of its own: what scripts fetch does not take the databases' connections.
        let http = Rc::new(NativeHttpClient::new(clock.clone()));
        let dialer = Rc::new(NativeDialer::new(base.clone(), clock.clone()));
        Self { base, http, dialer, clock, random: Rc::new(SystemRandom) }
    }
}

impl Connectors for NativeConnectors {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        match connection.connector.as_str() {
            "sqlite" => Ok(Rc::new(Sqlite::open(connection, &self.base, self.clock.clone())?)),
            "libsql" => Ok(Rc::new(Libsql::open(&connection, self.http.clone(), self.clock.clone(), self.random.clone())?)),
            "d1" => {
                let rest = Rest::open(&connection, self.http.clone())?;
                Ok(Rc::new(D1::new(rest, connection.read_only, self.clock.clone(), self.random.clone())))
            }
            "postgres" => {
                let (dialer, clock, random) = (self.dialer.clone(), self.clock.clone(), self.random.clone());
                Ok(Rc::new(Postgres::open(&connection, Lifetime::Isolate, dialer, clock, random)?))
            }
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
