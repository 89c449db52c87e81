//! What the outside implements for the core, one trait a file.
//!
//! Futures stay on their isolate: nothing here is `Send`. A host builds one [`Ports`] per isolate.

use alloc::rc::Rc;

mod clock;
mod connector;
mod description;
mod dialer;
mod env;
mod future;
mod http_client;
mod kv_cache;
mod login_tokens;
mod observer;
mod random;
mod script_engine;
mod script_loader;
pub mod script_value;
mod secret_store;
mod state_store;
mod token_verifier;
mod transaction;
mod wait_until;

pub use clock::Clock;
pub use connector::{
    CALL_RECORDS, CallRecord, Command, Connection, Connector, Connectors, Node, Query, RecordedWrite, SWEPT_RECORDS, SessionSetting,
};
pub use description::{Column, ColumnKind};
pub use dialer::{ByteStream, Dialer, Roots, Tls, Verify};
pub use env::Env;
pub use future::LocalFuture;
pub(crate) use future::join_all;
pub use http_client::{HttpClient, HttpRequest, HttpResponse};
pub use kv_cache::KvCache;
pub use login_tokens::LoginTokens;
pub use observer::{
    AUDIT_TARGET, CallEvent, CallObserver, CallOutcome, CallStart, HandledRequest, Observer, RunningCall, observers, stage_names,
};
pub use random::Random;
pub use script_engine::{
    CallStore, Fetched, Invocation, LogLevel, LogReader, Redirect, Reply, Returned, ScriptEngine, ScriptFault, ScriptHost, Thrown,
    ToolErrorReply,
};
pub use script_loader::{Ambient, LoadCost, LoadFault, ScriptLoad, ScriptLoader, TakenAtLoad};
pub use secret_store::SecretStore;
pub use state_store::{Counted, Entered, Exactness, Places, StateStore};
pub use token_verifier::{Claims, Introspection, TokenKeys, TokenPolicy, TokenRefusal, TokenVerifier, claim_at};
pub use transaction::{BoundStep, BoundTransaction, Parameter, StepValue, TextPiece};
pub use wait_until::WaitUntil;

/// Everything an isolate gives the core.
#[derive(Clone)]
pub struct Ports {
    /// Outgoing HTTP.
    pub http: Rc<dyn HttpClient>,
    /// Opens connections to what the app's adapters name.
    pub connectors: Rc<dyn Connectors>,
    /// Where results of cached tools are kept.
    pub cache: Rc<dyn KvCache>,
    /// Where counters and records are that calls agree by.
    pub state: Rc<dyn StateStore>,
    /// The places that calls on all isolates of the machine share; `None` where each isolate counts
    /// its own.
    pub places: Option<Rc<dyn Places>>,
    /// Verifies the tokens of callers. Not touched by an app without `jwt`.
    pub tokens: Rc<dyn TokenVerifier>,
    /// Runs the app's scripts. Not touched by an app without scripts.
    pub scripts: Rc<dyn ScriptEngine>,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// Environment variables.
    pub env: Rc<dyn Env>,
    /// Where the deployment keeps its secrets; `None` where they are variables.
    pub secrets: Option<Rc<dyn SecretStore>>,
    /// Work that may outlive the response.
    pub wait_until: Rc<dyn WaitUntil>,
    /// Is told of the calls; `None` where nobody wants to know. [`observers`] makes one of several.
    pub observer: Option<Rc<dyn Observer>>,
}
