//! Calls that nobody waits for any more, and what observes the end of a call when the time of its
//! invocation is over: it is told all the same.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use millrace_tests::{
    Exchange,
    lambda::{self, Front, Function},
};

use super::{app, call};

const PATIENCE: Duration = Duration::from_secs(60);

/// An app with audits, whose tools take longer than their callers wait.
fn package() -> (tempfile::TempDir, PathBuf) {
    const FOREVER: &str = "await new Promise((done) => setTimeout(done, 600_000));";
    // That a stream broke is noticed when the next event is to be sent.
    let speaks = "export default async (_, ctx) => {\n  for (let i = 1; ; i++) {\n    ctx.progress(i);\n    await new Promise((done) => \
                  setTimeout(done, 100));\n  }\n};\n";
    let waits = format!("export default async () => {{ {FOREVER} }};\n");
    let after = format!("export async function after() {{ {FOREVER} }}\n");
    let folder = app(&[
        ("millrace.yaml", "name: audited\nmiddleware:\n  - audit: {}\n"),
        ("app/adapters/endless.yaml", "connector: sqlite\nconnection_string: \":memory:\"\noptions: { seed: ./endless.sql }\n"),
        (
            "app/adapters/endless.sql",
            "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n",
        ),
        ("app/tools/waits/config.yaml", "description: Says something again and again.\nlimits: { timeout: 120s }\n"),
        ("app/tools/waits/handler.ts", speaks),
        ("app/tools/late/config.yaml", "description: What observes it waits.\nmiddleware: [./after.ts]\nlimits: { timeout: 120s }\n"),
        ("app/tools/late/handler.ts", &waits),
        ("app/tools/late/after.ts", &after),
        ("app/tools/stuck/config.yaml", "description: What observes it is stuck.\nmiddleware: [./after.ts]\n"),
        ("app/tools/stuck/handler.ts", "export default () => 1;\n"),
        (
            "app/tools/stuck/after.ts",
            "export async function after(_, ctx) {\n  await new Promise((done) => setTimeout(done, 300));\n  \
             await ctx.db(\"endless\").query(\"SELECT 1\");\n}\n",
        ),
    ]);
    let package = lambda::build(folder.path());
    (folder, package)
}

/// Starts the function as it is deployed, apart from where its log goes.
fn start(package: &Path, log: &Path, response: &str) -> Function {
    let env = [("MILLRACE_LOG", "warn"), ("MILLRACE_RESPONSE", response)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    Function::start_logging(package, &env, fs::File::create(log).unwrap().into())
}

fn wait_for(log: &Path, parts: &[&str]) {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(log).unwrap();
        if text.lines().any(|line| parts.iter().all(|part| line.contains(part))) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "no line with {parts:?}:\n{text}");
        millrace_tests::wait::moment();
    }
}

/// A call that may be answered by a stream.
fn ask(tool: &str) -> Exchange {
    let mut request = call(tool, "{}");
    request.headers.push(("accept".into(), "application/json, text/event-stream".into()));
    request.body = request.body.replace("\"arguments\":{}", "\"arguments\":{},\"_meta\":{\"progressToken\":1}");
    request
}

#[test]
fn whoever_observes_a_call_is_told_whatever_became_of_its_caller() {
    let (folder, package) = package();
    let log = folder.path().join("log");
    let audit = |tool: &'static str| format!("millrace::audit: audit subject=\"\" tool=\"{tool}\" decision=\"allowed\" outcome=\"error\"");

    // Nobody takes the rest of a stream.
    let function = start(&package, &log, "stream");
    function.api().break_at("progress");
    let _outcome = function.begin(&Front::Url.event(&ask("waits")), Duration::from_secs(120));
    wait_for(&log, &[&audit("waits"), "code=\"CANCELLED\""]);
    drop(function);

    // The time of the invocation is over while somebody still observes.
    let function = start(&package, &log, "buffer");
    let request = call("late", "{}");
    let answer = Front::Url.answer(&request, function.invoke_within(&Front::Url.event(&request), Duration::from_secs(2)));
    assert!(answer.contains("TIMEOUT") || answer.contains("did not end before the time-out"), "{answer}");
    wait_for(&log, &[&audit("late"), "code=\"TIMEOUT\""]);
    drop(function);

    // It holds the isolate, and is named.
    let function = start(&package, &log, "buffer");
    let request = call("stuck", "{}");
    let answer = Front::Url.answer(&request, function.invoke_within(&Front::Url.event(&request), Duration::from_secs(60)));
    assert!(answer.contains("the call of the tool `stuck` did not end at its deadline and cannot be stopped"), "{answer}");
    wait_for(&log, &["this environment ends", "tool=\"stuck\""]);
}
