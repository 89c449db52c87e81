//! What an isolate keeps: its app until the first request, then its endpoint.

use std::{cell::RefCell, rc::Rc};

use js_sys::Function;
use millrace_connectors::DriverPorts;
#[cfg(feature = "databases")]
use millrace_connectors::{Lifetime, Sockets};
use millrace_core::{
    Endpoint,
    app::App,
    ports::{Clock, HttpClient, Ports, Random},
};
use millrace_tokens::JwtVerifier;
use wasm_bindgen::prelude::*;
use worker::Env;

#[cfg(feature = "databases")]
use crate::dialer::SocketDialer;
use crate::{
    cache,
    clock::WorkerClock,
    connectors::{self, WorkerConnectors},
    env::Variables,
    http_client::FetchClient,
    logging,
    random::WorkerRandom,
    scripts,
    secrets::Bindings,
    signatures::WebCryptoSignatures,
    state, telemetry, wait_until,
};

enum State {
    /// The runtime has no app yet.
    Empty,
    /// The app is decoded; variables and bindings come with the first request.
    Decoded(Box<App>),
    /// Requests are answered.
    Ready(Rc<Endpoint>),
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::Empty) };
}

/// Takes over the app's bundle, and the script engine's module where the runtime has one. Called
/// once when the isolate starts, and again after a panic in a new instance. `died` is called with
/// no arguments when a panic ends this instance.
///
/// # Errors
/// The bytes are no bundle of this version, or their app needs a part that this runtime was made
/// without.
#[wasm_bindgen]
pub fn start(bundle: &[u8], engine: &JsValue, died: Function) -> Result<(), JsError> {
    logging::init(died);
    let app = App::from_bundle(bundle).map_err(|error| JsError::new(&error.to_string()))?;
    if let Some(refusal) = scripts::refusal(&app).or_else(|| connectors::refusal(&app)) {
        return Err(JsError::new(&refusal));
    }
    scripts::set_module(engine);
    STATE.set(State::Decoded(Box::new(app)));
    Ok(())
}

/// The endpoint; made at the first request.
pub(crate) fn endpoint(env: &Env) -> Option<Rc<Endpoint>> {
    STATE.with_borrow_mut(|state| {
        if let State::Decoded(_) = state
            && let State::Decoded(app) = std::mem::replace(state, State::Empty)
        {
            let mut ports = ports(env);
            if let Some(missing) = app.missing_state_key(&*ports.env) {
                tracing::warn!("{missing}");
            }
            for missing in app.missing(&*ports.env, None) {
                tracing::warn!("{missing}");
            }
            if let Some(problem) = app.sign_in_problem(&*ports.env) {
                tracing::warn!("{problem}");
            }
            telemetry::observe(&app, &mut ports);
            *state = State::Ready(Rc::new(Endpoint::new(*app, ports)));
        }
        match state {
            State::Ready(endpoint) => Some(endpoint.clone()),
            _ => None,
        }
    })
}

/// The longest body of a request, in bytes.
pub(crate) fn limit() -> u32 {
    STATE.with_borrow(|state| match state {
        State::Empty => 0,
        State::Decoded(app) => app.server.body_limit,
        State::Ready(endpoint) => endpoint.app().server.body_limit,
    })
}

fn ports(env: &Env) -> Ports {
    let variables = Variables::new(env.clone());
    logging::configure(&variables);
    let clock: Rc<dyn Clock> = Rc::new(WorkerClock);
    let http: Rc<dyn HttpClient> = Rc::new(FetchClient);
    let random: Rc<dyn Random> = Rc::new(WorkerRandom);
    let drivers = DriverPorts {
        http: http.clone(),
        // A socket cannot outlive its request, so each statement has a connection of its own. The
        // platform verifies by its own list.
        #[cfg(feature = "databases")]
        sockets: Sockets { dialer: Rc::new(SocketDialer), lifetime: Lifetime::Call, own_roots: false },
        clock: clock.clone(),
        random: random.clone(),
        wait_until: Rc::new(wait_until::RequestWaitUntil),
        #[cfg(feature = "databases")]
        login_tokens: None,
        #[cfg(feature = "databases")]
        aws_variables: None,
    };
    let connectors = WorkerConnectors { env: env.clone(), ports: drivers };
    let results = cache::open(env, clock.clone());
    Ports {
        tokens: Rc::new(JwtVerifier::new(http.clone(), results.clone(), clock.clone(), Rc::new(WebCryptoSignatures))),
        connectors: Rc::new(connectors),
        cache: results,
        state: state::open(env, clock.clone()),
        places: None,
        scripts: scripts::engine(),
        http,
        clock,
        random,
        env: Rc::new(variables),
        secrets: Some(Rc::new(Bindings(env.clone()))),
        wait_until: Rc::new(wait_until::RequestWaitUntil),
        observer: None,
    }
}
