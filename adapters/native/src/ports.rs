//! Everything a native host gives the core.

use std::{path::PathBuf, rc::Rc};

use millrace_core::ports::{Clock, Env, HttpClient, Ports, Random, SecretStore};
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

/// The ports of one isolate: must be called on its thread. Opens nothing.
///
/// `base` is the folder that relative paths of databases are below; `cache` is where results of
/// cached tools are kept, and counters and records; what the core wants done after a response goes
/// to `tasks`.
#[must_use]
pub fn native(base: PathBuf, variables: Variables, cache: &CacheChoice, tasks: &Tasks) -> Ports {
    let clock: Rc<dyn Clock> = Rc::new(SystemClock);
    let http: Rc<dyn HttpClient> = Rc::new(NativeHttpClient::new(clock.clone()));
    let results = cache.open(base.clone(), clock.clone());
    let secrets = match SecretsChoice::of(&variables) {
        Ok(choice) => choice.open(&base, clock.clone()),
        Err(error) => Some(Rc::new(Refusing(error)) as Rc<dyn SecretStore>),
    };
    let random: Rc<dyn Random> = Rc::new(SystemRandom);
    let env: Rc<dyn Env> = Rc::new(variables);
    let (state, places) = state::open(&base, &*env, cache, clock.clone(), random.clone());
    Ports {
        tokens: Rc::new(JwtVerifier::new(http.clone(), results.clone(), clock.clone(), Rc::new(RingSignatures))),
        http,
        cache: results,
        state,
        places,
        connectors: Rc::new(NativeConnectors::new(base, clock.clone(), tasks).with_variables(env.clone())),
        scripts: Rc::new(Engine::new()),
        clock,
        random,
        env,
        secrets,
        wait_until: Rc::new(tasks.clone()),
        observer: None,
    }
}
