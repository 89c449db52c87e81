//! The app as a Cloudflare Worker, in real workerd.

use std::sync::Mutex;

use millrace_tests::{Case, Exchange, Group, groups, worker};

/// How many workerd run at a time: starting one is mostly waiting.
const AT_A_TIME: usize = 3;

/// The differences of every group, whichever thread ran it.
fn differences(check: impl Fn(&Group) -> Vec<String> + Sync) -> Vec<String> {
    // A Worker has no connector `postgres`.
    let left = Mutex::new(groups().into_iter().filter(|group| group.postgres.is_none()));
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let Some(group) = left.lock().unwrap().next() else { break };
                    let differences = check(&group);
                    found.lock().unwrap().extend(differences);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

#[test]
fn the_worker_answers_the_same() {
    let differences = differences(|group| {
        let answers = worker::run(group);
        let check = |(case, answers): (&Case, Vec<String>)| case.check("worker", &answers).err();
        group.cases.iter().zip(answers).filter(|(case, _)| case.runs_on("worker")).filter_map(check).collect()
    });
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
}

/// The most that `wrangler` may say of the sample app's upload, gzipped, in KiB: what it says now, and some room.
const MOST_KIB: f64 = 1600.0;

#[test]
fn the_sample_app_can_be_deployed_and_is_small() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let folder = sample.install();
    let out = folder.path().join("upload");
    // Its own `wrangler.toml` builds the app.
    let run = worker::wrangler().args(["deploy", "--dry-run", "--outdir"]).arg(&out).current_dir(folder.path()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
    let line = said.lines().find(|line| line.contains("Total Upload")).unwrap_or_else(|| panic!("{said}"));
    println!("{line}");
    let gzipped = line.split("gzip: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok()).unwrap();
    assert!(gzipped < MOST_KIB, "{line}: more than {MOST_KIB} KiB");
    for binding in ["env.DB", "env.MILLRACE_CACHE"] {
        assert!(said.contains(binding), "{said}");
    }
}

#[test]
fn a_second_build_makes_nothing_anew() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let folder = sample.install();
    let _ = worker::build(folder.path());
    let wasm = folder.path().join("dist/runtime/index_bg.wasm");
    let made = std::fs::metadata(&wasm).unwrap().modified().unwrap();
    let _ = worker::build(folder.path());
    assert_eq!(std::fs::metadata(&wasm).unwrap().modified().unwrap(), made);
}

#[test]
fn after_a_panic_the_next_request_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("millrace.yaml", "name: greedy\n"),
        ("app/tools/eat/config.yaml", "description: Takes more memory than there is\nhandler: ./handler.ts\n"),
        // More than a wasm module can have: the allocation panics.
        (
            "app/tools/eat/handler.ts",
            "export default () => { const all = []; for (let i = 0; i < 100; i++) all.push('x'.repeat(2 ** 28 + i)); return all.length; };\n",
        ),
        ("app/tools/ok/config.yaml", "description: Answers\nhandler: ./handler.ts\n"),
        ("app/tools/ok/handler.ts", "export default () => 42;\n"),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let worker = worker::Worker::dev(&worker::build(folder.path()), &[]);
    let call = |tool: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#);
        let headers = [("content-type", "application/json"), ("mcp-protocol-version", "2025-06-18")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        worker.send(&Exchange { method: "POST".into(), path: "/mcp".into(), headers, body })
    };
    for _ in 0..2 {
        assert!(call("ok").contains("42"));
        let failed = call("eat");
        assert!(failed.starts_with("HTTP 500") && failed.contains("-32603"), "{failed}");
    }
    assert!(call("ok").contains("42"));
}
