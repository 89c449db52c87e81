//! Opens the driver that every host has, on a socket of the platform or behind a Hyperdrive.
//!
//! A socket cannot outlive its request, so each statement has a connection of its own. A Hyperdrive makes that cheap: it keeps the
//! connections to the database, near it.

use std::rc::Rc;

use js_sys::Reflect;
use millrace_connectors::postgres::{
    Lifetime, Postgres,
    hyperdrive::{self, Login},
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Random},
    secret::Secret,
};
use wasm_bindgen::{JsCast as _, JsValue};
use worker::{Env, worker_sys::Hyperdrive};

use crate::dialer::{HyperdriveDialer, SocketDialer};

/// Opens a connector; connects to nothing.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) where the Worker has no such Hyperdrive, or cannot trust whom the adapter wants to be
/// trusted; else as
/// [`Postgres::open`].
pub(crate) fn open(connection: Connection, env: &Env, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Postgres> {
    let binding = hyperdrive::binding(connection.connection_string.expose()).transpose()?.map(str::to_owned);
    let Some(name) = binding else {
        let postgres = Postgres::open(&connection, Lifetime::Call, Rc::new(SocketDialer), clock, random)?;
        return if postgres.trusts_as_its_host() { Ok(postgres) } else { Err(own_certificates(&connection.adapter)) };
    };
    let (binding, login) = find(&name, &connection.adapter, env)?;
    let connection = hyperdrive::connection(connection, &name, &login)?;
    let dialer = Rc::new(HyperdriveDialer { binding, name });
    Ok(Postgres::open(&connection, Lifetime::Call, dialer, clock, random)?.on_a_private_way())
}

/// A Hyperdrive that is bound to the Worker, and who logs in there.
fn find(name: &str, adapter: &str, env: &Env) -> Result<(Hyperdrive, Login)> {
    let of = |object: &JsValue, property: &str| Reflect::get(object, &JsValue::from_str(property)).unwrap_or(JsValue::UNDEFINED);
    let binding = of(env, name);
    let is_one = of(&binding, "connect").is_function() && of(&binding, "connectionString").is_string();
    if !is_one {
        let message = format!("the Hyperdrive `{name}`, which the adapter `{adapter}` needs, is not there; add it to `wrangler.toml`");
        return Err(Error::new(ErrorKind::Configuration, message));
    }
    let text = |property: &str| of(&binding, property).as_string().unwrap_or_default();
    let login = Login { user: text("user"), password: Secret::new(text("password")), database: text("database") };
    Ok((binding.unchecked_into(), login))
}

fn own_certificates(adapter: &str) -> Error {
    let message = format!(
        "the adapter `{adapter}` brings root certificates, and a Worker trusts whom the platform trusts, and nobody else; remove `ca_certificate` and \
         `sslrootcert`, or give them to a Hyperdrive and connect through it"
    );
    Error::new(ErrorKind::Configuration, message)
}
