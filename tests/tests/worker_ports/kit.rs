//! The app in one workerd for all tests of this file, one test at a time, and the servers that it
//! talks to.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use millrace_core::ErrorKind;
use millrace_tests::{
    Exchange, Group,
    case::{body, root},
    d1_api,
    scripted::{Reply, Script, Scripted},
    sqld::Sqld,
    worker::{Worker, build},
};
use serde_json::{Value as Json, json};

/// A secret of the app; no answer and no log line may have it.
pub(crate) const TOKEN: &str = "t.o.k-of-the-app";
/// A path of the server that is never answered, whatever its script.
pub(crate) const NEVER: &str = "/never";
/// What the tables begin with.
const SQL: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five');";

static KIT: Mutex<Weak<Mutex<Kit>>> = Mutex::new(Weak::new());

/// The app as it is served, and what it talks to.
pub(crate) struct Kit {
    worker: Option<Worker>,
    folder: tempfile::TempDir,
    /// What scripts may fetch from, and where the lame database server and the lame API are; it
    /// answers by [`script`](Self::script).
    pub(crate) server: Scripted,
    pub(crate) script: Script,
    _sqld: Sqld,
    _api: Scripted,
    /// A port of this machine where nobody listens.
    pub(crate) closed: u16,
}

/// Runs a test with the kit to itself; whoever is first starts it, and it ends with the last that
/// waits.
pub(crate) fn with_kit(test: impl FnOnce(&mut Kit)) {
    let shared = {
        let mut known = KIT.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = known.upgrade().unwrap_or_else(|| Arc::new(Mutex::new(Kit::start())));
        *known = Arc::downgrade(&shared);
        shared
    };
    let mut kit: MutexGuard<'_, Kit> = shared.lock().unwrap_or_else(PoisonError::into_inner);
    kit.stand_in(&json!({"cache": "real", "database": [], "clock": "real", "ahead_ms": 0}));
    test(&mut kit);
    let log = kit.worker().log();
    assert!(!log.contains(TOKEN) && !log.contains("of-the-script"), "a secret is logged:\n{log}");
}

/// Copies the app; `allowed` and `closed` are the ports that its scripts may fetch from.
pub(crate) fn install(allowed: u16, closed: u16) -> tempfile::TempDir {
    let app = root().join("tests/worker/app");
    let folder = Group { name: "ports".into(), app, ..Group::default() }.install();
    let settings = folder.path().join("millrace.yaml");
    let text = fs::read_to_string(&settings).unwrap().replace("ALLOWED", &allowed.to_string()).replace("CLOSED", &closed.to_string());
    fs::write(&settings, text).unwrap();
    folder
}

/// The code of a connector's error.
pub(crate) const fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Configuration => "CONFIGURATION",
        ErrorKind::Syntax => "QUERY_INVALID",
        ErrorKind::Constraint => "CONSTRAINT",
        ErrorKind::Data => "DATA_INVALID",
        ErrorKind::Denied | ErrorKind::Credentials => "QUERY_REFUSED",
        ErrorKind::TimedOut => "TIMEOUT",
        ErrorKind::Unavailable => "DATABASE_UNAVAILABLE",
        ErrorKind::Busy => "DATABASE_BUSY",
        ErrorKind::TooLarge => "RESULT_TOO_LARGE",
        ErrorKind::Protocol => "DATABASE_ERROR",
        ErrorKind::Expectation => "EXPECTATION_FAILED",
        ErrorKind::Cancelled => "CANCELLED",
    }
}

/// Waits for something that must come.
#[track_caller]
pub(crate) fn wait_for(condition: impl Fn() -> bool) {
    millrace_tests::wait::until("it does not come", condition);
}

impl Kit {
    fn start() -> Self {
        let script = Script::default();
        let by = script.clone();
        let server = Scripted::start(move |_, request| if request.line.contains(NEVER) { Reply::Silence } else { by.next() });
        let (sqld, api) = (Sqld::start(None), d1_api::stand_in());
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = install(server.address.port(), closed);
        let base = |server: &Scripted| format!("http://{}/client/v4", server.address);
        let variables = [
            ("MILLRACE_LOG", "debug".to_owned()),
            ("TOKEN", TOKEN.to_owned()),
            ("LIBSQL", format!("http://127.0.0.1:{}", sqld.port)),
            ("LAME_LIBSQL", format!("http://{}", server.address)),
            ("API", base(&api)),
            ("LAME_API", base(&server)),
            ("NOWHERE", format!("http://127.0.0.1:{closed}")),
            ("UNBOUND", "d1:UNBOUND".to_owned()),
        ];
        let text: String = variables.iter().map(|(name, value)| format!("{name}=\"{value}\"\n")).collect();
        let variables: Vec<(String, String)> = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        fs::write(folder.path().join(".dev.vars"), text).unwrap();
        let worker = Worker::dev(&build(folder.path()), &variables);
        worker.fill("DB", SQL);
        Self { worker: Some(worker), folder, server, script, _sqld: sqld, _api: api, closed }
    }

    /// Ends workerd and starts it again: what was in memory is gone, what was stored is not.
    pub(crate) fn restart(&mut self) {
        self.worker = None;
        let variables = fs::read_to_string(self.path().join(".dev.vars")).unwrap();
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()));
        self.worker = Some(Worker::dev(self.path(), &variables.lines().filter_map(pair).collect::<Vec<_>>()));
    }

    pub(crate) fn worker(&self) -> &Worker {
        self.worker.as_ref().unwrap()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder that was built.
    pub(crate) fn built(&self) -> PathBuf {
        self.path().join("dist")
    }

    /// Sets what the stand-ins do; gives what happened since the last time.
    pub(crate) fn stand_in(&self, settings: &Json) -> Vec<String> {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let request = Exchange { method: "POST".into(), path: "/stand-in".into(), headers, body: settings.to_string() };
        let answer = self.worker().send(&request);
        serde_json::from_value(body(&answer)).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// Calls a tool; gives `result`.
    pub(crate) fn call(&self, tool: &str, arguments: &Json) -> Json {
        let answer = self.worker().send(&Exchange::call(tool, arguments));
        assert!(!answer.contains(TOKEN), "a secret in an answer: {answer}");
        body(&answer)["result"].clone()
    }

    /// Calls a tool that succeeds; gives its value.
    pub(crate) fn value(&self, tool: &str, arguments: &Json) -> Json {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        serde_json::from_str(text).unwrap_or_else(|_| Json::from(text))
    }

    /// Calls a tool that fails; gives the code and the message.
    pub(crate) fn failure(&self, tool: &str, arguments: &Json) -> (String, String) {
        let result = self.call(tool, arguments);
        let error = &result["_meta"]["millrace/error"];
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{tool} {arguments}: {result}")).to_owned();
        (text("code"), text("message"))
    }

    /// A URL of the server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address)
    }
}
