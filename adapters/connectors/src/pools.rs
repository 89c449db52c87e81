//! How full the pools of connections of this process are.
//!
//! A pool has levels under the name of its adapter, which all pools of that name share: those of a
//! tenant's databases, and those of the isolates of a process. They are numbers that it keeps
//! beside its own, and [`read`] looks at them when somebody asks. Only how long calls wait is told
//! when it happens, to whoever has asked for it by [`observe_waits`].

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// How many names have levels. An app has some adapters; who has more than this sees the first.
const MOST_NAMES: usize = 1000;

static POOLS: Mutex<BTreeMap<String, Arc<Levels>>> = Mutex::new(BTreeMap::new());
static WAITS: OnceLock<WaitObserver> = OnceLock::new();

/// Is told of each call that got a connection: the name of the pool, and how long it took.
pub type WaitObserver = fn(&str, Duration);

/// What the pools of a name came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolReading {
    /// The name of the adapter.
    pub name: String,
    /// Connections that calls use or make.
    pub used: usize,
    /// Connections that wait for a call.
    pub idle: usize,
    /// The most connections.
    pub max: usize,
    /// Calls that wait for a connection.
    pub waiting: usize,
    /// Calls that waited until their deadline, so far.
    pub timeouts: usize,
}

/// Has an observer told of waits from now on. The first one stays.
pub fn observe_waits(observer: WaitObserver) {
    let _ = WAITS.set(observer);
}

/// How full the pools of this process are, by their names.
#[must_use]
pub fn read() -> Vec<PoolReading> {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let reading = |(name, levels): (&String, &Arc<Levels>)| PoolReading {
        name: name.clone(),
        used: levels.used.load(Relaxed),
        idle: levels.idle.load(Relaxed),
        max: levels.max.load(Relaxed),
        waiting: levels.waiting.load(Relaxed),
        timeouts: levels.timeouts.load(Relaxed),
    };
    pools.iter().map(reading).collect()
}

/// The numbers of the pools of a name.
#[derive(Debug, Default)]
struct Levels {
    used: AtomicUsize,
    idle: AtomicUsize,
    max: AtomicUsize,
    waiting: AtomicUsize,
    timeouts: AtomicUsize,
}

/// What one pool adds to the levels of its name; taken back when it is dropped.
pub(crate) struct PoolLevels {
    name: String,
    of_name: Arc<Levels>,
    max: usize,
}

impl PoolLevels {
    /// A pool of at most so many connections.
    pub(crate) fn of(name: &str, max: usize) -> Self {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let of_name = match pools.get(name) {
            Some(known) => known.clone(),
            None if pools.len() < MOST_NAMES => pools.entry(name.to_owned()).or_default().clone(),
            None => Arc::default(),
        };
        of_name.max.fetch_add(max, Relaxed);
        Self { name: name.to_owned(), of_name, max }
    }

    /// A connection is in use, or is made.
    pub(crate) fn taken(&self) {
        self.of_name.used.fetch_add(1, Relaxed);
    }

    /// It is in use no more.
    pub(crate) fn released(&self) {
        self.of_name.used.fetch_sub(1, Relaxed);
    }

    /// A connection waits for a call.
    pub(crate) fn kept(&self) {
        self.of_name.idle.fetch_add(1, Relaxed);
    }

    /// So many do so no more.
    pub(crate) fn picked(&self, count: usize) {
        self.of_name.idle.fetch_sub(count, Relaxed);
    }

    /// A call waits.
    pub(crate) fn queued(&self) {
        self.of_name.waiting.fetch_add(1, Relaxed);
    }

    /// It waits no more.
    pub(crate) fn left(&self) {
        self.of_name.waiting.fetch_sub(1, Relaxed);
    }

    /// A call waited in vain.
    pub(crate) fn timed_out(&self) {
        self.of_name.timeouts.fetch_add(1, Relaxed);
    }

    /// The time, where somebody wants to know how long calls wait.
    pub(crate) fn start(&self) -> Option<Instant> {
        WAITS.get().map(|_| Instant::now())
    }

    /// A call that came then has its connection.
    pub(crate) fn got(&self, since: Option<Instant>) {
        if let (Some(observer), Some(since)) = (WAITS.get(), since) {
            observer(&self.name, since.elapsed());
        }
    }
}

impl Drop for PoolLevels {
    fn drop(&mut self) {
        self.of_name.max.fetch_sub(self.max, Relaxed);
    }
}
