//! Everything a native host gives the core.

use std::{path::PathBuf, rc::Rc};

use millrace_core::ports::{Clock, Ports};
use millrace_script::Engine;

use crate::{
    cache::CacheChoice, clock::SystemClock, connectors::NativeConnectors, env::Variables, http_client::NativeHttpClient,
    random::SystemRandom, wait_until::Tasks,
};

/// The ports of one isolate: must be called on its thread. Opens nothing.
///
/// `base` is the folder that relative paths of databases are below; `cache` is where results of cached tools are kept, and counters and records; what the core wants
/// done after a response goes to `tasks`.
#[must_use]
pub fn native(base: PathBuf, variables: Variables, cache: &CacheChoice, tasks: &Tasks) -> Ports {
    let clock: Rc<dyn Clock> = Rc::new(SystemClock);
    Ports {
        http: Rc::new(NativeHttpClient::new(clock.clone())),
        cache: cache.open(base.clone(), clock.clone()),
        state: cache.open_state(base.clone(), clock.clone()),
        connectors: Rc::new(NativeConnectors::new(base, clock.clone())),
        scripts: Rc::new(Engine::new()),
        clock,
        random: Rc::new(SystemRandom),
        env: Rc::new(variables),
        wait_until: Rc::new(tasks.clone()),
        observer: None,
    }
}
