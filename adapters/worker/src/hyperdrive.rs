//! `connector: postgres` by a Hyperdrive, which keeps connections near the database. Only the way
//! to it is special.

use std::rc::Rc;

use js_sys::Reflect;
use millrace_connectors::{
    DriverPorts, Lifetime,
    hyperdrive::{self, HyperdriveLogin},
    postgres::Postgres,
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Connection, Connector, Dialer},
    secret::Secret,
};
use wasm_bindgen::{JsCast as _, JsValue};
use worker::{Env, worker_sys::Hyperdrive};

use crate::dialer::HyperdriveDialer;

/// Opens a connector; connects to nothing.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) where the Worker has no such Hyperdrive; else as
/// [`Postgres::open`].
pub(crate) fn open(connection: Connection, name: &str, env: &Env, ports: &DriverPorts) -> Result<Rc<dyn Connector>> {
    let (binding, login) = find(name, &connection.adapter, env)?;
    let connection = hyperdrive::connection(connection, name, &login)?;
    let dialer: Rc<dyn Dialer> = Rc::new(HyperdriveDialer { binding, name: name.to_owned() });
    let postgres = Postgres::open(&connection, Lifetime::Call, dialer, ports.clock.clone(), ports.random.clone(), None)?;
    Ok(Rc::new(postgres.on_a_private_way()))
}

/// A Hyperdrive that is bound to the Worker, and who logs in there.
fn find(name: &str, adapter: &str, env: &Env) -> Result<(Hyperdrive, HyperdriveLogin)> {
    let of = |object: &JsValue, property: &str| Reflect::get(object, &JsValue::from_str(property)).unwrap_or(JsValue::UNDEFINED);
    let binding = of(env, name);
    let is_one = of(&binding, "connect").is_function() && of(&binding, "connectionString").is_string();
    if !is_one {
        let message = format!("the Hyperdrive `{name}`, which the adapter `{adapter}` needs, does not exist; add it to `wrangler.toml`");
        return Err(Error::new(ErrorKind::Configuration, message));
    }
    let text = |property: &str| of(&binding, property).as_string().unwrap_or_default();
    let login = HyperdriveLogin { user: text("user"), password: Secret::new(text("password")), database: text("database") };
    Ok((binding.unchecked_into(), login))
}
