//! A group through the real `bootstrap`: built by `millrace build --target lambda`, started as
//! Lambda starts it, at a Runtime API of our own.
//!
//! A [`Front`] is what stands before a function: it makes events of requests and answers of what
//! the function gives back, as AWS documents it.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{OnceLock, mpsc},
    time::Duration,
};

use serde_json::Value;

use crate::{
    case::{Case, Exchange, Group, root},
    local::binary,
    process::tool,
};

mod front_end;
mod runtime_api;
pub mod watch;

pub use front_end::Front;
pub use runtime_api::{Invocation, Outcome, RuntimeApi};

/// How long a function may take to answer. Far beyond what any needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tool of `scripts/setup`.
///
/// # Panics
/// Where it is not installed.
#[must_use]
pub fn installed(name: &str) -> PathBuf {
    let tools = std::env::var_os("MILLRACE_TEST_TOOLS").map_or_else(|| root().join("target/tools"), PathBuf::from);
    let file = tools.join("lambda/bin").join(name);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

/// What runs programs for Lambda's other processor here, and the folder of their C library. Where
/// `scripts/setup` could not install it, says so past the test's own output: a test that passes
/// shows none.
#[must_use]
pub fn arm64_emulator() -> Option<(PathBuf, PathBuf)> {
    let (emulator, libraries) = (PathBuf::from("/usr/bin/qemu-aarch64-static"), PathBuf::from("/usr/aarch64-linux-gnu"));
    if emulator.exists() && libraries.join("lib/ld-linux-aarch64.so.1").exists() {
        return Some((emulator, libraries));
    }
    not_tested("the binary for arm64 is made and not run, because qemu-aarch64-static and libc6-arm64-cross are not installed");
    None
}

/// Whether `scripts/setup` could add the target of Lambda's other processor. Where it could not,
/// says so of `what`, as [`arm64_emulator`] does.
///
/// # Panics
/// Where it did not try.
#[must_use]
pub fn arm64_is_there(what: &str) -> bool {
    let file = tool("arm64");
    let is_there = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).trim() == "rustup";
    if !is_there {
        not_tested(&format!("{what}, because rustup cannot fetch aarch64-unknown-linux-gnu"));
    }
    is_there
}

fn not_tested(what: &str) {
    writeln!(io::stderr(), "NOT TESTED: {what}").unwrap_or_else(|error| panic!("{error}"));
}

/// Builds an app for Lambda into its folder `dist`; gives that folder.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn build(app: &Path) -> PathBuf {
    build_with(app, &[])
}

/// The same, with variables that say where databases are.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn build_with(app: &Path, env: &[(String, String)]) -> PathBuf {
    // One cargo at a time: they would wait for each other anyway, and each would say so.
    static RUNTIME: OnceLock<PathBuf> = OnceLock::new();
    let out = app.join("dist");
    let mut command = Command::new(binary());
    command.arg("build").arg(app).args(["--target", "lambda", "--out"]).arg(&out).envs(env.iter().cloned());
    if let Some(runtime) = RUNTIME.get() {
        command.env("MILLRACE_LAMBDA_RUNTIME", runtime);
    }
    let built = command.output().unwrap_or_else(|error| panic!("millrace: {error}"));
    assert!(built.status.success(), "{}: {}", app.display(), String::from_utf8_lossy(&built.stderr));
    RUNTIME.get_or_init(|| {
        // The first package of a process stays after its folder is gone.
        let kept = root().join("target/lambda-test");
        fs::create_dir_all(&kept).unwrap_or_else(|error| panic!("{error}"));
        let unfinished = kept.join(format!("{}.new", std::process::id()));
        fs::copy(out.join("bootstrap"), &unfinished).unwrap_or_else(|error| panic!("{error}"));
        // A build knows the runtime by its time.
        let made = fs::metadata(out.join("bootstrap")).and_then(|data| data.modified());
        let kept_as = fs::File::options().write(true).open(&unfinished);
        made.and_then(|made| kept_as.and_then(|file| file.set_modified(made))).unwrap_or_else(|error| panic!("{error}"));
        let file = kept.join("bootstrap");
        fs::rename(unfinished, &file).unwrap_or_else(|error| panic!("{error}"));
        file
    });
    out
}

/// A running function; ends with the value.
pub struct Function {
    child: Child,
    api: RuntimeApi,
    _scratch: tempfile::TempDir,
}

impl Function {
    /// Starts `bootstrap` of a package with these variables of its own.
    ///
    /// # Panics
    /// Where it cannot be started.
    #[must_use]
    pub fn start(package: &Path, env: &[(String, String)]) -> Self {
        Self::start_logging(package, env, Stdio::null())
    }

    /// The same, with its standard error going somewhere.
    ///
    /// # Panics
    /// Where it cannot be started.
    #[must_use]
    pub fn start_logging(package: &Path, env: &[(String, String)], log: Stdio) -> Self {
        Self::spawn(package, env, Stdio::null(), log)
    }

    /// The same, with its standard output going somewhere.
    ///
    /// # Panics
    /// Where it cannot be started.
    #[must_use]
    pub fn start_printing(package: &Path, env: &[(String, String)], output: Stdio) -> Self {
        Self::spawn(package, env, output, Stdio::null())
    }

    fn spawn(package: &Path, env: &[(String, String)], output: Stdio, log: Stdio) -> Self {
        let api = RuntimeApi::start();
        let scratch = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let child = command(package, &api.address(), scratch.path())
            .envs(env.iter().cloned())
            .stdout(output)
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", package.display()));
        Self { child, api, _scratch: scratch }
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The Runtime API that it asks.
    #[must_use]
    pub fn api(&self) -> &RuntimeApi {
        &self.api
    }

    /// One invocation with half a minute of time.
    ///
    /// # Panics
    /// Where no answer comes.
    #[must_use]
    pub fn invoke(&self, event: &Value) -> Outcome {
        self.invoke_within(event, Duration::from_secs(30))
    }

    /// One invocation.
    ///
    /// # Panics
    /// Where no answer comes.
    #[must_use]
    pub fn invoke_within(&self, event: &Value, time: Duration) -> Outcome {
        self.begin(event, time).recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("an invocation is not answered: {event}"))
    }

    /// Queues an invocation; its outcome comes later.
    pub fn begin(&self, event: &Value, time: Duration) -> mpsc::Receiver<Outcome> {
        self.api.queue(Invocation { event: event.to_string().into_bytes(), time })
    }

    /// Sends one request through a front end; gives the answer as a client sees it.
    ///
    /// # Panics
    /// Where the function fails.
    #[must_use]
    pub fn send(&self, front: Front, request: &Exchange) -> String {
        front.answer(request, self.invoke(&front.event(request)))
    }

    /// Whether the process still runs.
    ///
    /// # Panics
    /// Where the system does not say.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap_or_else(|error| panic!("{error}")).is_none()
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `bootstrap` as Lambda starts it: with these variables and no others.
#[must_use]
pub fn command(package: &Path, api: &str, scratch: &Path) -> Command {
    let mut command = Command::new(package.join("bootstrap"));
    command.env_clear().envs([
        ("AWS_LAMBDA_RUNTIME_API", api),
        ("AWS_LAMBDA_FUNCTION_NAME", "millrace"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
        ("AWS_REGION", "eu-central-1"),
        ("MILLRACE_LOG", "off"),
    ]);
    command.env("LAMBDA_TASK_ROOT", package).env("TMPDIR", scratch);
    command.current_dir(package).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// The answers of every case of a group, case by case, through one kind of front end; none of a
/// case that cannot run here.
///
/// # Panics
/// Where the app does not build or the function fails.
#[must_use]
pub fn run(group: &Group, front: Front) -> Vec<Vec<String>> {
    run_logging(group, front, &group.env, Stdio::null())
}

/// The same with other variables and its standard error going somewhere.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_logging(group: &Group, front: Front, env: &[(String, String)], log: Stdio) -> Vec<Vec<String>> {
    let folder = group.install();
    let function = Function::start_logging(&build_with(folder.path(), &group.env), env, log);
    let run = |case: &Case| case.requests.iter().filter(|_| case.runs_on("lambda")).map(|request| function.send(front, request)).collect();
    group.cases.iter().map(run).collect()
}
