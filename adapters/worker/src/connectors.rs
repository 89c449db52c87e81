//! The connectors that a Worker has.

use std::rc::Rc;

use millrace_connectors::{
    d1::{D1, Rest},
    libsql::Libsql,
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Connector, Connectors, HttpClient, Random},
};
use worker::Env;

use crate::d1::Binding;

/// Their names, as `connector:` of an adapter has them; `millrace build --target worker` refuses any other.
const NAMES: &str = if cfg!(feature = "postgres") { "d1, libsql, postgres" } else { "d1, libsql" };

/// Opens connections of one isolate.
pub(crate) struct WorkerConnectors {
    pub(crate) env: Env,
    pub(crate) http: Rc<dyn HttpClient>,
    pub(crate) clock: Rc<dyn Clock>,
    pub(crate) random: Rc<dyn Random>,
}

impl Connectors for WorkerConnectors {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        let ports = || (self.http.clone(), self.clock.clone(), self.random.clone());
        match connection.connector.as_str() {
            "d1" if is_rest(&connection) => {
                let (http, clock, random) = ports();
                Ok(Rc::new(D1::new(Rest::open(&connection, http)?, connection.read_only, clock, random)))
            }
            "d1" => {
                let binding = Binding::find(&connection, &self.env)?;
                Ok(Rc::new(D1::new(binding, connection.read_only, self.clock.clone(), self.random.clone())))
            }
            "libsql" => {
                let (http, clock, random) = ports();
                Ok(Rc::new(Libsql::open(&connection, http, clock, random)?))
            }
            #[cfg(feature = "postgres")]
            "postgres" => Ok(Rc::new(crate::postgres::open(connection, &self.env, self.clock.clone(), self.random.clone())?)),
            other => Err(Error::new(
                ErrorKind::Configuration,
                format!("adapter `{}` needs the connector `{other}`, which a Worker does not have; it has: {NAMES}", connection.adapter),
            )),
        }
    }
}

/// Whether the adapter means D1's REST API: a database of another account, say.
fn is_rest(connection: &Connection) -> bool {
    connection.connection_string.expose().trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("d1://"))
}
