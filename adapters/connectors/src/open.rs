//! From a connector's name to its driver: the one list of drivers, for every host.

use std::rc::Rc;

use millrace_catalogue as catalogue;
#[cfg(feature = "databases")]
use millrace_core::ports::{Env, LoginTokens};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Connector, HttpClient, Random, WaitUntil},
};

#[cfg(feature = "sqlite")]
use crate::sqlite::Sqlite;
#[cfg(feature = "databases")]
use crate::{
    aws_server::AwsPorts,
    clickhouse::ClickHouse,
    dynamodb::DynamoDb,
    http::Http,
    mongodb::{Mongodb, MongodbPorts},
    mysql,
    neon::Neon,
    planetscale::{Planetscale, PlanetscalePorts},
    postgres,
    postgrest::Postgrest,
    rds_data::RdsData,
    redis::Redis,
    sockets::Sockets,
    upstash::Upstash,
};
use crate::{
    d1::{D1, Rest},
    libsql::Libsql,
};

/// What a host gives its drivers.
#[derive(Clone)]
pub struct DriverPorts {
    /// Outgoing HTTP.
    pub http: Rc<dyn HttpClient>,
    /// Sockets.
    #[cfg(feature = "databases")]
    pub sockets: Sockets,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// Work that outlives a call: what ends a statement on its server.
    pub wait_until: Rc<dyn WaitUntil>,
    /// Passwords that the platform makes for each login; `None` where it makes none.
    #[cfg(feature = "databases")]
    pub login_tokens: Option<Rc<dyn LoginTokens>>,
    /// The variables with the host's own credentials at AWS; `None` where it has none.
    #[cfg(feature = "databases")]
    pub aws_variables: Option<Rc<dyn Env>>,
    /// The folder that a relative path of a database is below.
    #[cfg(feature = "sqlite")]
    pub folder: std::path::PathBuf,
}

/// Makes a driver of an adapter's settings; connects to nothing.
type Open = fn(Connection, &DriverPorts) -> Result<Rc<dyn Connector>>;

/// The drivers that were compiled.
static DRIVERS: &[(&catalogue::Connector, Open)] = &[
    #[cfg(feature = "sqlite")]
    (&catalogue::SQLITE, |connection, ports| Ok(Rc::new(Sqlite::open(connection, &ports.folder, ports.clock.clone())?))),
    (&catalogue::LIBSQL, |connection, ports| {
        Ok(Rc::new(Libsql::open(&connection, ports.http.clone(), ports.clock.clone(), ports.random.clone())?))
    }),
    (&catalogue::D1, |connection, ports| {
        let rest = Rest::open(&connection, ports.http.clone())?;
        Ok(Rc::new(D1::new(rest, connection.read_only, ports.clock.clone(), ports.random.clone())))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::POSTGRES, |connection, ports| {
        Ok(Rc::new(postgres::open(&connection, &ports.sockets, ports.clock.clone(), ports.random.clone(), ports.login_tokens.clone())?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::NEON, |connection, ports| {
        Ok(Rc::new(Neon::open(&connection, ports.http.clone(), ports.clock.clone(), ports.random.clone())?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::MYSQL, |connection, ports| {
        let DriverPorts { sockets, clock, random, wait_until, .. } = ports.clone();
        let Sockets { dialer, lifetime, .. } = sockets;
        let own = mysql::MysqlPorts { dialer, lifetime, clock, random, wait_until };
        Ok(Rc::new(mysql::open(&connection, &ports.sockets, own)?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::PLANETSCALE, |connection, ports| {
        let DriverPorts { http, clock, random, wait_until, .. } = ports.clone();
        Ok(Rc::new(Planetscale::open(&connection, PlanetscalePorts { http, clock, random, wait_until })?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::REDIS, |connection, ports| {
        Ok(Rc::new(Redis::open(&connection, &ports.sockets, ports.clock.clone(), ports.random.clone())?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::UPSTASH, |connection, ports| {
        Ok(Rc::new(Upstash::open(&connection, ports.http.clone(), ports.clock.clone(), ports.random.clone())?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::MONGODB, |connection, ports| {
        let DriverPorts { http, clock, random, .. } = ports.clone();
        Ok(Rc::new(Mongodb::open(&connection, &ports.sockets, MongodbPorts { http, clock, random })?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::POSTGREST, |connection, ports| {
        Ok(Rc::new(Postgrest::open(&connection, ports.http.clone(), ports.clock.clone(), ports.random.clone())?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::CLICKHOUSE, |connection, ports| {
        Ok(Rc::new(ClickHouse::open(&connection, ports.http.clone(), ports.clock.clone(), ports.random.clone())?))
    }),
    #[cfg(feature = "databases")]
    (&catalogue::DYNAMODB, |connection, ports| Ok(Rc::new(DynamoDb::open(&connection, aws_ports(ports))?))),
    #[cfg(feature = "databases")]
    (&catalogue::RDS_DATA, |connection, ports| Ok(Rc::new(RdsData::open(&connection, aws_ports(ports), ports.wait_until.clone())?))),
    #[cfg(feature = "databases")]
    (&catalogue::HTTP, |connection, ports| {
        Ok(Rc::new(Http::open(&connection, ports.http.clone(), ports.clock.clone(), ports.random.clone())?))
    }),
];

#[cfg(feature = "databases")]
fn aws_ports(ports: &DriverPorts) -> AwsPorts {
    let DriverPorts { http, clock, random, aws_variables, .. } = ports.clone();
    AwsPorts { http, clock, random, variables: aws_variables }
}

/// Opens the connector of an adapter.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) for a connector that the host does not have; else
/// what the driver says of the settings.
pub fn open(connection: Connection, ports: &DriverPorts) -> Result<Rc<dyn Connector>> {
    let Some((_, open)) = DRIVERS.iter().find(|(row, _)| row.name == connection.connector) else {
        let names = DRIVERS.iter().map(|(row, _)| row.name).collect::<Vec<_>>().join(", ");
        let message = format!(
            "adapter `{}` needs the connector `{}`, which this host does not have; it has: {names}",
            connection.adapter, connection.connector
        );
        return Err(Error::new(ErrorKind::Configuration, message));
    };
    open(connection, ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connector_of_the_catalogue_has_a_driver() {
        let names: Vec<_> = DRIVERS.iter().map(|(row, _)| row.name).collect();
        let expected: Vec<_> = catalogue::CONNECTORS.iter().map(|row| row.name).collect();
        assert_eq!(names, expected);
    }
}
