//! Calls that cannot be stopped: they are answered for, and the next invocation finds a new environment.

use std::{
    fs,
    time::{Duration, Instant},
};

use millrace_tests::lambda::{self, Front, Function, Outcome};

use super::{app, call};

/// Compares four megabytes at each of four million places, within one function of SQLite, which nothing interrupts.
const ENDLESS: &str = "SELECT instr(replace(hex(zeroblob(4000000)), '0', 'a'), replace(hex(zeroblob(2000000)), '0', 'a') || 'b') AS place";

fn package() -> (tempfile::TempDir, std::path::PathBuf) {
    let endless = |timeout: &str| format!("use: main\nlimits: {{ timeout: {timeout} }}\nstatement: {ENDLESS}\n");
    let (short, long) = (endless("1s"), endless("60s"));
    let folder = app(&[
        ("millrace.yaml", "name: stuck\n"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: \":memory:\"\noptions: { timeout: 60s }\n"),
        ("app/tools/short/config.yaml", &short),
        ("app/tools/long/config.yaml", &long),
        ("app/tools/good/config.yaml", "use: main\nstatement: SELECT 42 AS answer\n"),
        ("app/tools/said/config.yaml", "description: Says something first.\nlimits: { timeout: 1s }\n"),
        (
            "app/tools/said/handler.ts",
            &format!(
                "export default async (_, ctx) => {{\n  ctx.progress(1, 2);\n  await new Promise((done) => setTimeout(done, 200));\n  \
                 await ctx.db(\"main\").query(\"{ENDLESS}\");\n}}\n"
            ),
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
        std::thread::sleep(Duration::from_millis(10));
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
    assert!(log.contains("this environment is given up") && log.contains("tool=\"short\"") && log.contains("request_id=\""), "{log}");
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
    gave_up(function, 1);
}
