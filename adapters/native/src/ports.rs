//! Everything a native host gives the core.

use std::{path::PathBuf, rc::Rc};

use millrace_core::ports::{Clock, Env, HttpClient, Ports, Random, ScriptEngine, SecretStore};
use millrace_script::Engine;
use millrace_tokens::JwtVerifier;

use crate::{
    cache::CacheChoice,
    clock::SystemClock,
    connectors::NativeConnectors,
    env::Variables,
    http_client::NativeHttpClient,
    random::SystemRandom,
    secrets::{Refusing, SecretsChoice},
    signatures::RingSignatures,
    state,
    wait_until::Tasks,
};

/// What an isolate has of the world outside.
pub struct Outside {
    /// Outgoing HTTP.
    pub http: Rc<dyn HttpClient>,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// The script engine, which several endpoints of one app may share.
    pub scripts: Rc<dyn ScriptEngine>,
}

impl Outside {
    /// The network, the clock and the randomness of this machine, and an engine of its own.
    #[must_use]
    pub fn of_machine() -> Self {
        let clock: Rc<dyn Clock> = Rc::new(SystemClock);
        let http: Rc<dyn HttpClient> = Rc::new(NativeHttpClient::new(clock.clone()));
        Self { http, clock, random: Rc::new(SystemRandom), scripts: Rc::new(Engine::new()) }
    }
}

/// The ports of one isolate: must be called on its thread. Opens nothing.
///
/// `base` is the folder that relative paths of databases are below; `cache` is where results of
/// cached tools are kept, and counters and records; what the core wants done after a response goes
/// to `tasks`.
#[must_use]
pub fn native(base: PathBuf, variables: Variables, cache: &CacheChoice, tasks: &Tasks) -> Ports {
    over(Outside::of_machine(), base, variables, cache, tasks)
}

/// The same over a world of the caller's.
#[must_use]
pub fn over(outside: Outside, base: PathBuf, variables: Variables, cache: &CacheChoice, tasks: &Tasks) -> Ports {
    let Outside { http, clock, random, scripts } = outside;
    let results = cache.open(base.clone(), clock.clone());
    let secrets = match SecretsChoice::of(&variables) {
        Ok(choice) => choice.open(&base, clock.clone()),
        Err(error) => Some(Rc::new(Refusing(error)) as Rc<dyn SecretStore>),
    };
    let env: Rc<dyn Env> = Rc::new(variables);
    let (state, places) = state::open(&base, &*env, cache, clock.clone(), random.clone());
    Ports {
        tokens: Rc::new(JwtVerifier::new(http.clone(), results.clone(), clock.clone(), Rc::new(RingSignatures))),
        http,
        cache: results,
        state,
        places,
        connectors: Rc::new(NativeConnectors::new(base, clock.clone(), tasks).with_variables(env.clone())),
        scripts,
        clock,
        random,
        env,
        secrets,
        wait_until: Rc::new(tasks.clone()),
        observer: None,
    }
}
