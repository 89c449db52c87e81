//! The world that one test runs in: databases of its own, and nothing of this machine but what its
//! user named.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

use millrace_bundler::{AppTest, TestDatabase};
use millrace_catalogue::{HTTP, SQLITE};
use millrace_connectors::sqlite::{AddedRow, Original, Sqlite};
use millrace_core::{
    Error, ErrorKind, Result,
    app::STATE_KEY,
    ports::{Clock, Connection, Connector, Connectors, Env, HttpClient, Ports, Random, ScriptEngine},
    secret::Secret,
};
use millrace_native::{
    cache::CacheChoice,
    clock::SystemClock,
    connectors::NativeConnectors,
    env::Variables,
    http_client::NativeHttpClient,
    ports::{self, Outside},
    random::SystemRandom,
    state,
    wait_until::Tasks,
};

use super::outside::{ListedAnswers, RepeatedRandom, StandingClock};

/// The most databases that copies are made of.
const MAX_ORIGINALS: usize = 64;

/// The key of tests for tools that ask: 32 bytes.
const TEST_KEY: &str = "test:dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHQ=";

/// The databases that copies are made of, each made once for a run. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Originals(Arc<Mutex<BTreeMap<String, Original>>>);

impl Originals {
    /// Forgets the files: they may have changed. What a seed makes stays.
    pub(crate) fn forget_files(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| key.starts_with("seed\0"));
    }

    fn get(&self, settings: &Connection, base: &Path) -> Result<Original> {
        let key = match &settings.seed {
            Some(seed) => format!("seed\0{}\0{seed}", settings.adapter),
            None => format!("file\0{}\0{}", settings.adapter, settings.connection_string.expose()),
        };
        // Whoever needs it waits for the first who does.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(original) = known.get(&key) {
            return Ok(original.clone());
        }
        if known.len() >= MAX_ORIGINALS {
            known.clear();
        }
        let original = Original::of(settings, base)?;
        known.insert(key, original.clone());
        Ok(original)
    }
}

/// What the tests of a run share.
#[derive(Clone)]
pub(crate) struct Shared {
    /// The app's folder.
    pub(crate) folder: PathBuf,
    /// The variables of the machine, for adapters that are used as they are.
    pub(crate) variables: Variables,
    /// The adapters that are used as they are.
    pub(crate) allowed: Arc<BTreeSet<String>>,
    pub(crate) originals: Originals,
}

/// What a test did that it may not.
#[derive(Clone, Default)]
pub(crate) struct Strayed {
    /// An adapter that has no database for tests, and its connector.
    pub(super) adapter: Rc<RefCell<Option<(String, String)>>>,
    /// Requests that the test lists no answer to.
    pub(super) unlisted: Rc<RefCell<Vec<String>>>,
}

impl Strayed {
    /// The adapter that the call needs and a test does not reach, as a sentence.
    pub(crate) fn unreached(&self) -> Option<String> {
        self.adapter.borrow().as_ref().map(|(adapter, connector)| {
            format!(
                "it needs the adapter `{adapter}`, and a database of `{connector}` is not made anew for each test; `--database {adapter}` uses the one that there is"
            )
        })
    }

    /// The requests that the test lists no answer to: `GET https://api.example.com/rates`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.unlisted.borrow().clone()
    }

    /// The same, each as a sentence.
    pub(super) fn unlisted(&self) -> Vec<String> {
        self.requests().iter().map(|request| format!("`{request}` was sent, and `http` lists no answer to it")).collect()
    }
}

/// The variables of a test: its own, and those of the machine where an adapter is used as it is.
pub(super) fn variables(shared: &Shared, test: &AppTest) -> Variables {
    let machine = if shared.allowed.is_empty() { Variables::default() } else { shared.variables.clone() };
    let mut variables = machine.with(state::VARIABLE, Secret::new("memory".to_owned()));
    for (name, value) in &test.variables {
        variables = variables.with(name, Secret::new(value.clone()));
    }
    if variables.var(STATE_KEY).is_none() {
        variables = variables.with(STATE_KEY, Secret::new(TEST_KEY.to_owned()));
    }
    variables
}

/// The ports of a test.
pub(super) fn ports(
    shared: &Shared,
    test: &AppTest,
    variables: Variables,
    scripts: Rc<dyn ScriptEngine>,
    tasks: &Tasks,
    strayed: &Strayed,
) -> Ports {
    let clock: Rc<dyn Clock> = match test.now_ms {
        Some(now_ms) => Rc::new(StandingClock::at(now_ms)),
        None => Rc::new(SystemClock),
    };
    let random: Rc<dyn Random> = match test.random {
        Some(seed) => Rc::new(RepeatedRandom::of(seed)),
        None => Rc::new(SystemRandom),
    };
    let http: Rc<dyn HttpClient> = Rc::new(ListedAnswers::of(test.http.clone(), strayed.unlisted.clone()));
    let env: Rc<dyn Env> = Rc::new(variables.clone());
    let connectors = |http: Rc<dyn HttpClient>| {
        NativeConnectors::new(shared.folder.clone(), clock.clone(), tasks).with_variables(env.clone()).with_http(http)
    };
    let connectors = TestConnectors {
        shared: shared.clone(),
        given: test.databases.clone(),
        clock: clock.clone(),
        listed: connectors(http.clone()),
        real: connectors(Rc::new(NativeHttpClient::new(Rc::new(SystemClock)))),
        strayed: strayed.clone(),
    };
    let outside = Outside { http, clock, random, scripts };
    let ports = ports::over(outside, shared.folder.clone(), variables, &CacheChoice::Memory, tasks);
    Ports { connectors: Rc::new(connectors), secrets: None, ..ports }
}

/// Opens a copy of a SQLite database, an API whose answers are listed, or what the user named.
struct TestConnectors {
    shared: Shared,
    given: Vec<TestDatabase>,
    clock: Rc<dyn Clock>,
    /// Sends requests to the answers of the test.
    listed: NativeConnectors,
    /// Reaches what there is.
    real: NativeConnectors,
    strayed: Strayed,
}

impl Connectors for TestConnectors {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        if self.shared.allowed.contains(&connection.adapter) {
            return self.real.open(connection);
        }
        if connection.connector == SQLITE.name {
            return self.copy(connection);
        }
        if connection.connector == HTTP.name {
            return self.listed.open(connection);
        }
        let message = format!("a test does not reach the adapter `{}`", connection.adapter);
        *self.strayed.adapter.borrow_mut() = Some((connection.adapter, connection.connector));
        Err(Error::new(ErrorKind::Configuration, message))
    }
}

impl TestConnectors {
    fn copy(&self, mut connection: Connection) -> Result<Rc<dyn Connector>> {
        let given = self.given.iter().find(|given| given.adapter == connection.adapter);
        if let Some(seed) = given.and_then(|given| given.seed.clone()) {
            connection.seed = Some(seed);
        }
        let original = self.shared.originals.get(&connection, &self.shared.folder)?;
        let tables = given.into_iter().flat_map(|given| &given.tables);
        let rows = tables.flat_map(|table| table.rows.iter().map(|cells| AddedRow { table: table.name.clone(), cells: cells.clone() }));
        Ok(Rc::new(Sqlite::open_copy(connection, &self.shared.folder, self.clock.clone(), original, rows.collect())?))
    }
}
