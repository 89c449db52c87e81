//! A cache as an isolate of a native host opens it, and the app of the corpus' group `cache` on the
//! real process.

use std::{fs, path::PathBuf, rc::Rc};

use millrace_core::{Json, Result, ports::KvCache};
use millrace_native::{cache::CacheChoice, clock::SystemClock, env::Variables};
use millrace_tests::{case::Exchange, database::runtime, groups, local::Host};

pub(crate) type Env = Vec<(String, String)>;

pub(crate) fn env(variables: &[(&str, &str)]) -> Env {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The cache of one isolate.
pub(crate) struct Isolate {
    cache: Rc<dyn KvCache>,
    runtime: tokio::runtime::Runtime,
}

impl Isolate {
    pub(crate) fn new(env: &Env) -> Self {
        let choice = CacheChoice::of(&env.iter().cloned().collect::<Variables>()).unwrap();
        Self { cache: choice.open(PathBuf::from("/"), Rc::new(SystemClock)), runtime: runtime() }
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.runtime.block_on(self.cache.get(key))
    }

    pub(crate) fn put(&self, key: &str, value: &[u8], ttl_s: u32) -> Result<()> {
        self.runtime.block_on(self.cache.put(key, value.to_vec(), ttl_s))
    }
}

/// The app with a counter in a database of its own process: a number that another process counted
/// can only come from the cache.
pub(crate) struct Process {
    host: Host,
    folder: tempfile::TempDir,
}

impl Process {
    pub(crate) fn start(env: &Env) -> Self {
        let group = groups().into_iter().find(|group| group.name == "cache").unwrap();
        let folder = group.install();
        let variables = group.env.into_iter().chain(env.iter().cloned()).collect::<Vec<_>>();
        let host = Host::dev_logging(folder.path(), &variables, "debug", &folder.path().join("stderr.log"));
        Self { host, folder }
    }

    /// The counter, as a tool says it.
    pub(crate) fn read(&self, tool: &str) -> i64 {
        let answer = self.call(tool);
        let rows: Json = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        rows[0]["v"].as_i64().unwrap()
    }

    pub(crate) fn bump(&self) {
        assert_eq!(self.call("bump")["result"]["content"][0]["text"], r#"{"affected_rows":1}"#);
    }

    /// Calls a tool: its name, and after a blank its arguments.
    pub(crate) fn call(&self, tool: &str) -> Json {
        let answer = self.host.send(&Exchange::parse(&format!("CALL {tool}")));
        let (head, body) = answer.split_once("\n\n").unwrap();
        assert!(head.starts_with("HTTP 200\n"), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap()
    }

    pub(crate) fn wait_for_log(&self, text: &str) {
        eventually(text, || self.log().contains(text));
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("stderr.log")
    }
}

/// Waits for something that happens by itself.
pub(crate) fn eventually(what: &str, happened: impl FnMut() -> bool) {
    millrace_tests::wait::until_else(|| format!("it does not happen: {what}"), happened);
}
