//! Calls that cannot be stopped: they are answered for, and the next invocation finds a new
//! environment.

use std::{
    fs,
    time::{Duration, Instant},
};

use millrace_tests::lambda::{self, Front, Function, Outcome};

use super::{app, call};

/// A seed that never ends: it is the operator's own text, which no deadline bounds, and holds the
/// isolate that opens the database.
const ENDLESS: &str = "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n";

fn package() -> (tempfile::TempDir, std::path::PathBuf) {
    let endless = |timeout: &str| format!("use: endless\nlimits: {{ timeout: {timeout} }}\nstatement: SELECT 1\n");
    let (short, long) = (endless("1s"), endless("60s"));
    let folder = app(&[
        ("millrace.yaml", "name: stuck\n"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n"),
        ("app/adapters/endless.yaml", "connector: sqlite\nconnection_string: \":memory:\"\noptions: { seed: ./endless.sql }\n"),
        ("app/adapters/endless.sql", ENDLESS),
        ("app/tools/short/config.yaml", &short),
        ("app/tools/long/config.yaml", &long),
        ("app/tools/good/config.yaml", "use: main\nstatement: SELECT 42 AS answer\n"),
        ("app/tools/slow/config.yaml", "description: Sleeps.\n"),
        (
            "app/tools/slow/handler.ts",
            "export default async () => {\n  await new Promise((done) => setTimeout(done, 2500));\n  return \"slept\";\n}\n",
        ),
        ("app/tools/said/config.yaml", "description: Says something first.\nlimits: { timeout: 1s }\n"),
        (
            "app/tools/said/handler.ts",
            "export default async (_, ctx) => {\n  ctx.progress(1, 2);\n  await new Promise((done) => setTimeout(done, 200));\n  \
                 await ctx.db(\"endless\").query(\"SELECT 1\");\n}\n",
        ),
    ]);
    let package = lambda::build(folder.path());
    (folder, package)
}

/// Waits for the end of the process; nothing was asked for after `asked` invocations.
fn gave_up(mut function: Function, asked: usize) {
    let began = Instant::now();
    while function.runs() {
        assert!(began.elapsed() < Duration::from_secs(60), "the environment is not given up");
        millrace_tests::wait::moment();
    }
    assert_eq!(function.api().asked(), asked, "an invocation was asked for that would find the stuck isolate");
}

#[test]
fn a_stuck_call_is_answered_after_its_deadline_and_the_environment_is_given_up() {
    let (folder, package) = package();
    let log = folder.path().join("log");
    let env = [("MILLRACE_LOG".to_owned(), "error".to_owned())];
    let function = Function::start_logging(&package, &env, fs::File::create(&log).unwrap().into());
    assert!(function.send(Front::Url, &call("good", "{}")).contains("42"));
    let began = Instant::now();
    let answer = function.send(Front::Url, &call("short", "{}"));
    println!("answered after {:?}", began.elapsed());
    assert!(answer.starts_with("HTTP 504\n"), "{answer}");
    assert!(answer.contains("-32603") && answer.contains("the call of the tool `short` did not end at its deadline"), "{answer}");
    // Half a minute was left.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    gave_up(function, 2);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("this environment ends") && log.contains("tool=\"short\"") && log.contains("request_id=\""), "{log}");
}

#[test]
fn a_stuck_call_is_answered_before_its_invocations_time_is_over() {
    let (_folder, package) = package();
    let function = Function::start(&package, &[]);
    let request = call("long", "{}");
    let time = Duration::from_secs(3);
    let began = Instant::now();
    let answer = Front::Rest.answer(&request, function.invoke_within(&Front::Rest.event(&request), time));
    println!("answered {:?} of {time:?}", began.elapsed());
    assert!(answer.starts_with("HTTP 504\n") && answer.contains("the call of the tool `long` did not end"), "{answer}");
    gave_up(function, 1);
}

#[test]
fn a_stream_whose_call_gets_stuck_is_broken_off() {
    let (_folder, package) = package();
    let function = Function::start(&package, &[("MILLRACE_RESPONSE".to_owned(), "stream".to_owned())]);
    let mut request = call("said", "{}");
    request.headers.push(("accept".into(), "application/json, text/event-stream".into()));
    request.body = request.body.replace("\"arguments\"", "\"_meta\":{\"progressToken\":1},\"arguments\"");
    let outcome = function.invoke(&Front::Url.event(&request));
    let Outcome::Stream(chunks, _) = &outcome else { panic!("{outcome:?}") };
    let text = String::from_utf8_lossy(&chunks.concat()).into_owned();
    assert!(text.contains("notifications/progress") && !text.contains("\"result\""), "{text}");
    // Why is said in trailers, which are for Lambda and not for the caller.
    assert!(!text.to_lowercase().contains("function-error"), "{text}");
    gave_up(function, 1);
}

#[test]
fn with_managed_concurrency_what_is_on_its_way_is_answered_before_the_end() {
    let (_folder, package) = package();
    let function = Function::start(&package, &[("AWS_LAMBDA_MAX_CONCURRENCY".to_owned(), "4".to_owned())]);
    let event = |tool: &str| Front::Url.event(&call(tool, "{}"));
    let stuck = function.begin(&event("short"), Duration::from_secs(30));
    let others: Vec<_> = (0..3).map(|_| function.begin(&event("slow"), Duration::from_secs(30))).collect();
    for other in others {
        let answer = Front::Url.answer(&call("slow", "{}"), other.recv_timeout(Duration::from_secs(60)).unwrap());
        // Those that share the isolate of the stuck one are answered for.
        assert!(answer.contains("slept") || answer.contains("the call of the tool `short` did not end"), "{answer}");
    }
    let answer = Front::Url.answer(&call("short", "{}"), stuck.recv_timeout(Duration::from_secs(60)).unwrap());
    assert!(answer.starts_with("HTTP 504\n") && answer.contains("`short`"), "{answer}");
    gave_up(function, 4);
}
