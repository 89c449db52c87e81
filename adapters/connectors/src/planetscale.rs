//! `connector: planetscale`: a MySQL database of PlanetScale, over its HTTP API, which is Vitess'.
//!
//! In go a statement with `?` for its values, and the values; out come the rows that connector
//! `mysql` has for the same statement. Which statements are refused, what a value is, what cells
//! are made of and what an error means is decided in one place for both.
//!
//! # Values
//!
//! The API takes a text and nothing beside it. So each value is written where its `?` stands, in a
//! form that is nothing but a literal, and ends nothing that it might stand in: digits, or
//! hexadecimal digits. Module `literal` has the rules.
//!
//! # Sessions
//!
//! What must hold for several statements, a transaction, is in a session: an object that each
//! answer brings, and that the next request takes along. It is kept as long as the call, and not
//! looked into. A statement of its own is one request without a session.
//!
//! # Time
//!
//! A `SELECT` tells the server when to end it, by an optimizer hint. What nobody waits for any
//! more, a transaction among them, is ended by the server when its own limit passes, and is asked
//! to roll back before. Sending again is as in connector `mysql`.
//!
//! Protocol: <https://github.com/planetscale/database-js>. Types and errors are those of <https://github.com/vitessio/vitess>.

mod address;
mod cell;
mod literal;
mod names;
mod reply;
mod server_error;
mod session;

use std::rc::Rc;

use millrace_catalogue::PLANETSCALE;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, HttpClient, LocalFuture, Query, Random, RecordedWrite, WaitUntil},
    value::{Rows, Value},
};

use crate::{
    mysql_text::{RECORDS, check_in},
    shared::{Call, ReadOnly, Retry, SessionDriver, StatementFailure, StatementNotes, StatementPlace, connector_over_sessions, timed_out},
};
use address::PlanetscaleAddress;
use session::{Api, Session};

/// What the server's limit is rounded up to, in milliseconds: a text of its own for each call would
/// be planned anew.
const LIMIT_STEP_MS: u64 = 1000;

/// A database of PlanetScale.
pub struct Planetscale {
    api: Rc<Api>,
    read_only: bool,
    retry: Retry,
}

/// What a driver of this connector is made with.
#[derive(Clone)]
pub struct PlanetscalePorts {
    /// Outgoing HTTP.
    pub http: Rc<dyn HttpClient>,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// Work that outlives a call.
    pub wait_until: Rc<dyn WaitUntil>,
}

impl Planetscale {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of
    /// PlanetScale's, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, ports: PlanetscalePorts) -> Result<Self> {
        let address = PlanetscaleAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        let PlanetscalePorts { http, clock, random, wait_until } = ports;
        Ok(Self {
            read_only: connection.read_only,
            retry: Retry::new(clock.clone(), random),
            api: Rc::new(Api { address, http, clock, wait_until }),
        })
    }
}

/// Refuses a lock that lasts as long as a session: nobody has that session after the call.
fn keeps_no_lock(text: &str) -> Result<()> {
    if !crate::mysql_text::calls_function(text, "GET_LOCK") {
        return Ok(());
    }
    let message = format!("connector `{}` does not run `GET_LOCK()`: nothing could release the lock after the call", PLANETSCALE.name);
    Err(Error::new(ErrorKind::Denied, message))
}

impl SessionDriver for Planetscale {
    const NAME: &'static str = PLANETSCALE.name;

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn check(&self, text: &str, _values: &[Value], query: &Query<'_>, place: StatementPlace) -> Result<StatementNotes> {
        let notes = check_in(PLANETSCALE.name, text, ReadOnly::of(query, self.read_only), query, place)?;
        keeps_no_lock(text)?;
        Ok(notes)
    }

    async fn attempt(&self, call: Call<'_>) -> Result<RecordedWrite> {
        let attempt = async || {
            let left_ms = call.query.deadline_ms.saturating_sub(self.api.clock.now_ms());
            if left_ms == 0 {
                return Err(StatementFailure::last(timed_out()));
            }
            // A statement with a record ends at the deadline, so that it is told in time.
            let limit_ms = if call.is_recorded() { left_ms } else { left_ms.next_multiple_of(LIMIT_STEP_MS) };
            call.on(&mut Session::new(&self.api, &call, self.read_only, limit_ms), &RECORDS).await
        };
        self.retry.run(&call.query, call.effect(), attempt).await
    }
}

connector_over_sessions!(Planetscale);
