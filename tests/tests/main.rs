//! Everything that runs against whole hosts, real servers and real clients, a module each.

mod audit;
mod caches;
mod catalogue;
mod clients;
mod conformance;
mod corpus;
mod d1_rest;
mod hostile_values;
mod invariants;
mod lambda;
mod libsql;
mod once;
mod page;
mod postgres;
mod readme;
mod spoilt;
mod sqlite_text;
mod streams;
mod telemetry;
mod tenants;
mod unfriendly;
mod worker;
mod worker_load;
mod worker_ports;
mod worker_postgres;
mod worker_state;
