//! The tests of the sample shop notice what changes it: the app is changed in one place at a time,
//! and one of its own tests has to fail.
//!
//! Whether a change is one of behaviour is not for its tests to say: calls that they do not know
//! are made of both apps, and their answers, audit entries and rows are compared. A description, a
//! time that a result is cached, or a limit of many calls changes none of these.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::*;

/// Changes of what callers rely on, with their classes.
const CLASSED: &str = include_str!("../../../bundler/tests/surface.txt");
/// Changes of statements and scripts.
const OWN: &str = include_str!("shop-mutations.txt");
const PROBES: &str = include_str!("shop-probes.txt");
/// The least share of changes that a test notices, in percent.
const BAR: usize = 90;
/// One in so many is tried, unless `MILLRACE_TESTS` is `all`: for each, the app is compiled and its
/// tests run.
const STEP: usize = 17;

struct Mutation {
    file: &'static str,
    from: String,
    to: String,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// `millrace check` reports it.
    Refused,
    Noticed,
    /// It changes behaviour, and no test fails.
    Missed,
    SameBehaviour,
}

fn mutations() -> Vec<Mutation> {
    let mut all = Vec::new();
    for (table, skipped) in [(CLASSED, 1), (OWN, 0)] {
        let mut file = "";
        for line in table.lines().filter(|line| !line.starts_with("# ") && !line.is_empty()) {
            if let Some(name) = line.strip_prefix("== ") {
                file = name;
                continue;
            }
            let mut parts = line.split('\t').skip(skipped).map(unescaped);
            let (Some(from), Some(to)) = (parts.next(), parts.next()) else { panic!("{line}") };
            // What a model reads is no behaviour of a call.
            if !(skipped == 1 && line.starts_with("seen")) {
                all.push(Mutation { file, from, to });
            }
        }
    }
    all
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
}

/// The shop with its database as a file, which is quicker to copy than to make.
fn shop() -> tempfile::TempDir {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap().install();
    let app = sample.path();
    let database = rusqlite::Connection::open(app.join("shop.db")).unwrap();
    database.execute_batch(&fs::read_to_string(app.join("app/adapters/shop.sql")).unwrap()).unwrap();
    let adapter = app.join("app/adapters/shop.yaml");
    let text = fs::read_to_string(&adapter).unwrap();
    fs::write(&adapter, text.replacen("  seed: ./shop.sql\n", "", 1)).unwrap();
    sample
}

/// What the calls of the probes give: answers, entries and rows.
fn behaviour(app: &Path) -> Vec<Json> {
    let calls = PROBES.lines().filter(|line| !line.starts_with("# ")).enumerate().map(|(id, line)| {
        let mut parts = line.splitn(3, ' ');
        let (caller, tool, inputs) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let rows =
            ["SELECT order_id, amount_cents, reason, booked_by FROM refunds", "SELECT status, count(*) AS n FROM orders GROUP BY status"];
        let rows: Vec<Json> = rows.iter().map(|sql| json!({ "sql": sql, "equals": [] })).collect();
        let inputs: Json = serde_json::from_str(inputs).unwrap();
        let mut test = json!({ "name": "probe", "inputs": inputs, "expect": { "result": {}, "rows": rows } });
        if caller != "-" {
            test["as"] = caller.into();
        }
        format!("{}\n", json!({ "id": id, "test": { "tool": tool, "tests": [test] } }))
    });
    let calls: String = calls.collect();
    let mut command = Command::new(binary());
    command.arg("test").arg(app).arg("--calls").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writing = thread::spawn(move || input.write_all(calls.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    answers
        .lines()
        .map(|line| {
            let mut answer: Json = serde_json::from_str(line).unwrap();
            if let Some(result) = answer["result"].as_object_mut() {
                result.remove("_meta");
            }
            for entry in answer["audit"].as_array_mut().into_iter().flatten() {
                entry.as_object_mut().unwrap().retain(|name, _| !matches!(name.as_str(), "ms" | "request_id"));
            }
            answer.as_object_mut().unwrap().remove("spans");
            answer
        })
        .collect()
}

fn fate(app: &Path, mutation: &Mutation, original: &[Json]) -> Fate {
    let file = app.join(mutation.file);
    let text = fs::read_to_string(&file).unwrap_or_default();
    assert!(text.contains(&mutation.from) && text.is_empty() == mutation.from.is_empty(), "{}: {:?}", mutation.file, mutation.from);
    write(app, mutation.file, &if mutation.from.is_empty() { mutation.to.clone() } else { text.replacen(&mutation.from, &mutation.to, 1) });
    let output = run(app, &["--reporter", "json"], &[("CI", "1")]);
    let report: Option<Json> = serde_json::from_slice(&output.stdout).ok();
    let fate = match report {
        // What a test calls or expects is not in the app any more.
        None if String::from_utf8_lossy(&output.stderr).contains(".test.yaml") => Fate::Noticed,
        None => Fate::Refused,
        Some(report) if report["failed"] != 0 => Fate::Noticed,
        Some(_) if behaviour(app) == original => Fate::SameBehaviour,
        Some(_) => Fate::Missed,
    };
    if text.is_empty() {
        fs::remove_file(&file).unwrap();
    } else {
        fs::write(&file, text).unwrap();
    }
    fate
}

#[test]
fn the_tests_of_the_shop_notice_what_changes_it() {
    let full = std::env::var_os("MILLRACE_TESTS").is_some_and(|value| value == "all");
    let chosen: Vec<Mutation> = mutations().into_iter().enumerate().filter(|(at, _)| full || at % STEP == 0).map(|(_, one)| one).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let app = shop();
        let original = behaviour(app.path());
        assert!(original.len() > 100 && original.iter().all(|answer| answer.get("problem").is_none()), "{original:#?}");
        let mut fates = Vec::new();
        while let Some(mutation) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let fate = fate(app.path(), mutation, &original);
            println!("{fate:?} {}: {:?}", mutation.file, mutation.to);
            fates.push((mutation, fate));
        }
        fates
    };
    let fates: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let count = |wanted: Fate| fates.iter().filter(|(_, fate)| *fate == wanted).count();
    let (noticed, missed) = (count(Fate::Noticed), count(Fate::Missed));
    let told: Vec<String> = fates
        .iter()
        .filter(|(_, fate)| *fate == Fate::Missed)
        .map(|(mutation, _)| format!("{}: {:?} → {:?}", mutation.file, mutation.from, mutation.to))
        .collect();
    let told = format!(
        "{noticed} noticed, {missed} missed, {} of the same behaviour, {} refused\n{}",
        count(Fate::SameBehaviour),
        count(Fate::Refused),
        told.join("\n")
    );
    println!("{told}");
    assert!(noticed > chosen.len() / 3 && noticed * 100 >= (noticed + missed) * BAR, "{told}");
}
