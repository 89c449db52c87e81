//! The cache's table: shared by environments, filled before a freeze, and never the reason that a
//! call fails.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use millrace_core::Json;
use millrace_tests::{
    dynalite::Dynalite,
    lambda::{self, Front, Function},
    scripted::{Reply, Scripted},
};

use super::{app, call};

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(60);
const TABLE: &str = "millrace-cache";
const KEY_ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "FwoGZXIvYXdzEXAMPLE//token==";

/// An environment: an app that counts rows of a database that no other environment sees.
struct Environment {
    function: Function,
    log: PathBuf,
    calls: usize,
}

impl Environment {
    fn start(package: &Package, port: u16) -> Self {
        let name = package.started.get();
        package.started.set(name + 1);
        let log = package.folder.path().join(format!("{name}.log"));
        // What Lambda and the template set.
        let env = [
            ("MILLRACE_CACHE", format!("dynamodb:{TABLE}")),
            ("MILLRACE_LOG", "warn".to_owned()),
            ("AWS_ACCESS_KEY_ID", KEY_ID.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
            ("AWS_SESSION_TOKEN", TOKEN.to_owned()),
            ("AWS_ENDPOINT_URL_DYNAMODB", format!("http://127.0.0.1:{port}")),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        let file = fs::File::create(&log).unwrap();
        Self { function: Function::start_logging(&package.built, &env, file.into()), log, calls: 0 }
    }

    fn call(&mut self, tool: &str, arguments: &str) -> String {
        self.calls += 1;
        let answer = self.function.send(Front::Url, &call(tool, arguments));
        assert!(answer.starts_with("HTTP 200\n") && answer.contains("\"isError\":false"), "{answer}");
        answer
    }

    /// How many rows the environment has, as a cached tool says it; every `id` is a key of its own.
    fn count(&mut self, id: u32) -> Json {
        let answer = self.call("count", &format!("{{\"id\":{id}}}"));
        let body: Json = serde_json::from_str(answer.split_once("\n\n").unwrap().1).unwrap();
        let rows: Json = serde_json::from_str(body["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(rows[0]["id"], id);
        rows[0]["rows"].clone()
    }

    /// Waits until the environment could freeze: it has answered, and asked for the next
    /// invocation.
    fn freeze(&self) {
        self.function.api().wait_for_next(self.calls + 1);
    }

    fn log(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap();
        for secret in [SECRET, TOKEN] {
            assert!(!log.contains(secret), "{log}");
        }
        log
    }
}

struct Package {
    folder: tempfile::TempDir,
    built: PathBuf,
    started: std::cell::Cell<usize>,
}

fn package() -> Package {
    let folder = app(&[
        ("millrace.yaml", "name: counts\n"),
        ("app/adapters/own.yaml", "connector: sqlite\nconnection_string: own.db\noptions: { seed: ./own.sql }\n"),
        ("app/adapters/own.sql", "CREATE TABLE n (v INTEGER);"),
        ("app/tools/add/config.yaml", "description: Adds\nuse: own\nstatement: INSERT INTO n VALUES (1)\n"),
        (
            "app/tools/count/config.yaml",
            "description: Counts\nuse: own\nstatement: \"SELECT {{ inputs.id }} AS id, count(*) AS \\\"rows\\\" FROM n\"\n\
             inputs: { id: { type: int } }\ncache: { enabled: true, ttl: 600 }\n",
        ),
    ]);
    let built = lambda::build(folder.path());
    Package { folder, built, started: std::cell::Cell::new(0) }
}

/// Tries with one key after the other: a table that takes longer than a second counts as failed for
/// a while, which a busy machine may see.
fn eventually(what: &str, logs: impl Fn() -> String, mut happened: impl FnMut(u32) -> bool) {
    let started = Instant::now();
    for id in 0.. {
        if happened(id) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "it does not happen: {what}\n{}", logs());
        millrace_tests::wait::moment();
    }
}

#[test]
fn environments_share_the_table_and_it_is_filled_before_a_freeze() {
    let server = Dynalite::start();
    server.create(TABLE, "S");
    // It computes each signature again, from the credentials that Lambda gives.
    let door = server.door("eu-central-1", KEY_ID, SECRET, TOKEN);
    let package = package();
    let (mut first, mut second) = (Environment::start(&package, door.port), Environment::start(&package, door.port));
    first.call("add", "{}");
    let logs = || {
        format!(
            "{}{}",
            fs::read_to_string(package.folder.path().join("0.log")).unwrap(),
            fs::read_to_string(package.folder.path().join("1.log")).unwrap()
        )
    };
    let mut stored = 0;
    eventually("another environment answers from the table", logs, |id| {
        assert_eq!(first.count(id), 1);
        first.freeze();
        // Nobody waits here: what is stored at all is there by now.
        let items = server.items(TABLE).len();
        let is_stored = items > stored;
        stored = items;
        is_stored && second.count(id) == 1
    });
    let id = 1_000_000;
    assert_eq!(second.count(id), 0, "its own database has no row");
    first.log();
    second.log();
}

#[test]
fn a_table_that_dies_in_the_middle_fails_no_call() {
    let mut server = Dynalite::start();
    server.create(TABLE, "S");
    let package = package();
    let mut environment = Environment::start(&package, server.process.port);
    for id in 0..20 {
        assert_eq!(environment.count(id), 0);
    }
    server.process.kill();
    for id in 20..40 {
        assert_eq!(environment.count(id), 0);
    }
    environment.freeze();
    // A connection that was open breaks, or a new one is refused. What is asked first, the epochs
    // or the results, depends on how old the epochs are that the environment knows.
    let log = environment.log();
    assert!(log.contains("the cache cannot be") || log.contains("the epochs of cached results cannot be read"), "{log}");
    server.process.restart();
    let before = server.items(TABLE).len();
    let log = environment.log.clone();
    eventually(
        "the table is used again",
        || fs::read_to_string(&log).unwrap(),
        |id| {
            assert_eq!(environment.count(40 + id), 0);
            environment.freeze();
            server.items(TABLE).len() > before
        },
    );
}

#[test]
fn expired_credentials_throttling_and_a_missing_table_fail_no_call() {
    let fault = |kind: &str, words: &str| {
        let body = format!(r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{kind}","message":"{words}"}}"#);
        Reply::Whole(400, "application/x-amz-json-1.0", body)
    };
    // What DynamoDB says of credentials can quote them.
    let quoting = |kind: &str| fault(kind, &format!("The security token {TOKEN} included in the request is not good"));
    let fault = |kind: &str| fault(kind, "words");
    let table = [
        (quoting("ExpiredTokenException"), "the credentials of the `AWS_…` variables have expired"),
        (quoting("UnrecognizedClientException"), "the credentials of the `AWS_…` variables are"),
        (fault("AccessDeniedException"), "they need `dynamodb:GetItem`, `BatchGetItem`, `PutItem`, `UpdateItem` and `DeleteItem`"),
        (fault("ProvisionedThroughputExceededException"), "is throttled"),
        (fault("ThrottlingException"), "is throttled"),
        (fault("ResourceNotFoundException"), "the DynamoDB table `millrace-cache` does not exist in region `eu-central-1`"),
        (Reply::Whole(500, "text/html", "<html>".to_owned()), "cannot answer (status 500)"),
        (Reply::Raw(b""), "closed the connection"),
        (Reply::Silence, "cannot be read"),
    ];
    let package = package();
    for (reply, warning) in table {
        let server = Scripted::with(vec![reply.clone()]);
        let mut environment = Environment::start(&package, server.address.port());
        environment.call("add", "{}");
        for id in 0..20 {
            assert_eq!(environment.count(id), 1, "{reply:?}");
            assert_eq!(environment.count(id), 1, "{reply:?}");
        }
        // A line that is written is there when the next invocation is asked for.
        environment.freeze();
        assert!(environment.log().contains(warning), "{reply:?}: {}", environment.log());
        assert!(!server.received().is_empty());
    }
}
