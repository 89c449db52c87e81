//! The connector `postgres` on real servers, and on a pooler in front of one; and the connectors
//! `neon` and `rds-data`, over stand-ins for the APIs of Neon and of RDS in front of the same
//! servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use millrace_core::ports::Connection;
use millrace_tests::{
    database::{Database, connection},
    neon,
    postgres::Postgres,
    rds_data,
};

use crate::contract::{self, Site};

/// A connector, and its way to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Postgres,
    Neon,
    RdsData,
}

impl Way {
    /// The adapter's settings for the database `postgres`.
    fn settings(self, server: &Postgres, options: &[(&str, &str)]) -> Connection {
        self.settings_of(server, &server.url("postgres"), options)
    }

    /// The adapter's settings for a URL of the server.
    fn settings_of(self, server: &Postgres, url: &str, options: &[(&str, &str)]) -> Connection {
        match self {
            Self::Postgres => connection("postgres", url, options),
            Self::Neon => {
                let base_url = format!("http://{}", neon::start(server.port).address);
                connection("neon", url, &[&[("base_url", base_url.as_str())], options].concat())
            }
            Self::RdsData => rds_data::settings(&format!("http://{}", rds_data::start(server.port).address), url, options),
        }
    }

    /// A database on the server that tests share.
    fn site(self) -> Site {
        Site::of(match self {
            Self::Postgres => &contract::postgres::SERVER,
            Self::Neon => &contract::neon::SERVER,
            Self::RdsData => &contract::rds_data::SERVER,
        })
    }

    fn open(self, server: &Postgres) -> Database {
        Database::open(self.settings(server, &[]))
    }
}

/// Makes tests of functions: one for each connector.
macro_rules! for_each_way {
    ($($name:ident)+) => { $(
        mod $name {
            #[test]
            fn of_postgres() {
                super::$name(crate::postgres::Way::Postgres);
            }

            #[test]
            fn of_neon() {
                super::$name(crate::postgres::Way::Neon);
            }

            #[test]
            fn of_rds_data() {
                super::$name(crate::postgres::Way::RdsData);
            }
        }
    )+ };
}

mod callers;
mod iam;
mod life;
mod login;
mod neon_api;
mod neon_faults;
mod pooler;
mod rotation;
mod sessions;
mod values;
