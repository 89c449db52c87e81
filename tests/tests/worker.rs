//! The app as a Cloudflare Worker, in real workerd.

use std::sync::Mutex;

use millrace_tests::{Case, Group, groups, worker};

/// How many workerd run at a time: starting one is mostly waiting.
const AT_A_TIME: usize = 3;

/// The differences of every group, whichever thread ran it.
fn differences(check: impl Fn(&Group) -> Vec<String> + Sync) -> Vec<String> {
    let left = Mutex::new(groups().into_iter());
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
