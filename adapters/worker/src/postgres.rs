//! `connector: postgres`, in a runtime that has it.
//!
//! The feature `postgres` leaves it out for an app without it, as `scripts` does with the script engine. A runtime without it refuses an
//! app that needs it when the isolate starts.

use millrace_core::app::App;

#[cfg(feature = "postgres")]
mod connect;

#[cfg(feature = "postgres")]
pub(crate) use connect::open;

/// Why this runtime cannot serve an app; `None` where it can.
pub(crate) fn refusal(app: &App) -> Option<String> {
    let adapter = app.adapters.iter().find(|adapter| !cfg!(feature = "postgres") && adapter.connector == "postgres")?;
    Some(format!(
        "the app has an adapter on PostgreSQL (`{}`), and this runtime was made without the connector; build the app again with \
         `millrace build --target worker`",
        adapter.name
    ))
}
