//! The tests of the app on the page: which there are, and what comes of them.
//!
//! `millrace test` runs them, as a process of its own: whatever a test does, the isolate that
//! answers the page goes on.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use millrace_core::{
    Json,
    headers::Headers,
    protocol::{Body, Request, Response},
};
use serde_json::{from_slice, json};

/// The path of the tests: `GET` lists them, `POST` runs them.
pub(crate) const TESTS_PATH: &str = "/page-tests.json";

/// How long a run may take.
const LONGEST: Duration = Duration::from_secs(600);
/// How often is looked whether it has ended.
const PAUSE: Duration = Duration::from_millis(10);
/// The most that is read of a report, in bytes.
const MAX_REPORT: u64 = 16 << 20;
/// The most that is read of what a run says besides, in bytes.
const MAX_TOLD: u64 = 64 << 10;

/// What the page asks for.
enum Wanted {
    List,
    /// All of them, or those that a text fits, as `--filter` says.
    Run(Option<String>),
}

/// The answer to a request of [`TESTS_PATH`]: the report of `millrace test`, or `{ "error" }`.
/// `None` for a method that has no meaning here.
pub(crate) async fn answer(folder: &Path, request: &Request) -> Option<Response> {
    // A page of others can make a browser ask, as for a picture, though it cannot read the answer.
    if matches!(request.headers.first("sec-fetch-site"), Some("cross-site" | "same-site")) {
        return Some(response(403, &json!({ "error": "the tests are for the page of this server" })));
    }
    let wanted = match request.method.as_str() {
        "GET" => Wanted::List,
        "POST" => match filter(request) {
            Ok(filter) => Wanted::Run(filter),
            Err(error) => return Some(response(400, &json!({ "error": error }))),
        },
        _ => return None,
    };
    let folder = folder.to_owned();
    let report = tokio::task::spawn_blocking(move || report(&folder, &wanted)).await;
    Some(match report {
        Ok(Ok(report)) => response(200, &report),
        Ok(Err(error)) => response(200, &json!({ "error": error })),
        Err(error) => response(500, &json!({ "error": error.to_string() })),
    })
}

/// The text that says which tests run.
fn filter(request: &Request) -> Result<Option<String>, &'static str> {
    // A form of another page cannot send this type, and a script of one has to ask before.
    if request.headers.first("content-type") != Some("application/json") {
        return Err("the type of the body must be `application/json`");
    }
    let Body::Whole(body) = &request.body else { return Err("the body is too long") };
    let body: Json = from_slice(body).map_err(|_| "the body is not JSON")?;
    Ok(body["filter"].as_str().map(str::to_owned))
}

/// Runs the command. Several requests are served one after another.
fn report(folder: &Path, wanted: &Wanted) -> Result<Json, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(program().map_err(cannot)?);
    command.args(["test", "--reporter", "json"]);
    match wanted {
        Wanted::List => {
            command.arg("--list");
        }
        Wanted::Run(Some(filter)) => {
            command.arg(format!("--filter={filter}"));
        }
        Wanted::Run(None) => {}
    }
    let (report, told) = output(command.arg("--").arg(folder)).map_err(cannot)?;
    from_slice(&report).map_err(|_| match String::from_utf8_lossy(&told).trim() {
        "" => "`millrace test` ended without a report; run it in a terminal".to_owned(),
        told => told.to_owned(),
    })
}

fn cannot(error: impl std::fmt::Display) -> String {
    format!("the tests cannot be run: {error}; run `millrace test` in a terminal")
}

/// This command, also where its file was replaced since it started.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// What a command writes to its two outputs.
fn output(command: &mut Command) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (report, told) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(report.try_clone()?).stderr(told.try_clone()?);
    let mut child = command.spawn()?;
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other(format!("they took longer than {} minutes", LONGEST.as_secs() / 60)));
        }
        thread::sleep(PAUSE);
    }
    Ok((written(report, MAX_REPORT)?, written(told, MAX_TOLD)?))
}

/// The first bytes of a file.
fn written(mut file: File, most: u64) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn response(status: u16, body: &Json) -> Response {
    let headers = [("content-type", "application/json"), ("x-content-type-options", "nosniff"), ("cache-control", "no-store")];
    Response { status, headers: headers.into_iter().collect::<Headers>(), body: body.to_string().into_bytes().into() }
}
