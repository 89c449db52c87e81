//! Every case through every host: the answers of the core are the expected ones, twice, and every
//! host gives the same bytes.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    fs,
};

use millrace_core::protocol::QUIRKS;
use millrace_tests::{
    Exchange, Group, direct, far_group::Far, groups, is_everything_run, is_everything_selected, libsql_group::LibsqlGroup, local, sample,
    selected_groups, stdio, tries,
};

use crate::telemetry::exported::Exported;

/// Runs all groups on one host and panics with every difference.
fn check(host: &str, run: impl Fn(&Group) -> Vec<Vec<String>>) {
    check_groups(host, selected_groups(), 300, run);
}

/// The same for these groups, which have at least so many cases.
fn check_groups(host: &str, groups: Vec<Group>, least: usize, run: impl Fn(&Group) -> Vec<Vec<String>>) {
    let mut differences = Vec::new();
    let mut count = 0;
    for group in groups {
        for (case, answers) in group.answered(run(&group)) {
            count += 1;
            differences.extend(case.check(host, &answers).err());
        }
    }
    assert!(count >= least || !is_everything_selected(), "only {count} cases were found");
    assert!(differences.is_empty(), "{} of {count} cases differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn the_core_answers_as_expected() {
    check("core", direct::run);
}

/// A sample: the hosts answer once more, too, with the same core.
#[test]
fn the_core_answers_the_same_again() {
    check_groups("core, second run", sample(selected_groups(), 5), tries(300, 70), direct::run);
}

#[test]
fn the_local_host_answers_the_same_and_logs_and_exports_no_secret() {
    let exported = Exported::start();
    let lines = Cell::new(0);
    check("local host", |group| {
        let (answers, log) = local::run_logging(group, &exported.env(), |host, answers| exported.wait(group, host, answers));
        lines.set(lines.get() + group.check_log("local host", &log));
        answers
    });
    assert!(lines.get() > 100 || !is_everything_selected(), "only {} lines were logged: the test has nothing to read", lines.get());
    let spans = exported.check(&selected_groups());
    assert!(spans > 500 || !is_everything_selected(), "only {spans} spans were exported: the test has nothing to read");
}

#[test]
fn standard_input_and_output_answer_the_same() {
    let needed = RefCell::new([0; stdio::REASONS.len()]);
    // What ends a script knows nothing of how its call came.
    let is_run = |group: &Group| group.name != "script-limits" || is_everything_run();
    let groups = selected_groups().into_iter().filter(is_run).collect();
    check_groups("stdio", groups, 300, |group| stdio::run(group, &mut needed.borrow_mut()));
    for ((reason, _), needed) in stdio::REASONS.iter().zip(needed.into_inner()) {
        println!("{needed} answers differ: {reason}");
        assert!(needed > 0 || !is_everything_selected(), "no answer differs because {reason}: remove the reason");
    }
}

/// Runs the groups that another server can have on this machine, each by what makes it there and
/// tells its cases and their differences.
fn check_far(least: usize, run: impl Fn(Group) -> Option<(usize, Vec<String>)>) {
    let (mut count, mut differences) = (0, Vec::new());
    for (cases, found) in selected_groups().into_iter().filter_map(run) {
        count += cases;
        differences.extend(found);
    }
    assert!(count >= least || !is_everything_selected(), "only {count} cases were found");
    assert!(differences.is_empty(), "{} of {count} cases differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn the_local_host_answers_the_same_from_a_libsql_server() {
    check_far(65, |group| LibsqlGroup::of(group).map(|far| (far.group.cases.len(), far.differences("local host", local::run(&far.group)))));
}

fn through(far: Far) {
    check_far(far.least(), |group| far.group(group).map(|moved| (moved.group.cases.len(), moved.differences(local::run(&moved.group)))));
}

#[test]
fn the_local_host_answers_the_same_through_neons_api() {
    through(Far::Neon);
}

#[test]
fn the_local_host_answers_the_same_through_upstashs_api() {
    through(Far::Upstash);
}

#[test]
fn the_local_host_answers_the_same_through_planetscales_api() {
    through(Far::Planetscale);
}

#[test]
fn the_local_host_answers_the_same_through_the_rds_data_api() {
    through(Far::RdsData);
}

#[test]
fn every_known_client_has_a_case() {
    let handshakes = groups().into_iter().find(|group| group.name == "handshakes").unwrap();
    for quirk in QUIRKS {
        let name = format!("quirk-{}", quirk.client.replace('/', "-").to_lowercase());
        let case = handshakes.cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("the case `{name}` does not exist"));
        let names_client = |request: &Exchange| {
            let in_body = request.body.contains(&format!("\"name\":\"{}\"", quirk.client));
            in_body || request.headers.iter().any(|(name, value)| name == "user-agent" && value == quirk.client)
        };
        assert!(case.requests.iter().all(names_client), "`{name}` is another client's");
        let text = fs::read_to_string(case.expected.with_extension("http")).unwrap();
        assert!(text.lines().next().is_some_and(|line| line.contains(quirk.source)), "`{name}` does not say {}", quirk.source);
        let answers = fs::read_to_string(&case.expected).unwrap();
        assert!(answers.starts_with("HTTP 200") && answers.contains("-32020"), "`{name}` shows neither what is served nor what is not");
    }
}

#[test]
fn every_handshake_says_where_it_comes_from() {
    let handshakes = groups().into_iter().find(|group| group.name == "handshakes").unwrap();
    let mut recorded = 0;
    for case in &handshakes.cases {
        let text = fs::read_to_string(case.expected.with_extension("http")).unwrap();
        let first = text.lines().next().unwrap_or_default();
        assert!(
            ["# Recorded: ", "# Shape: ", "# Known by ", "# What only"].iter().any(|start| first.starts_with(start)),
            "{}: {first}",
            case.name
        );
        recorded += usize::from(first.starts_with("# Recorded: "));
    }
    assert!(recorded >= 40, "only {recorded} recorded handshakes");
}

#[test]
fn no_answer_carries_a_secret() {
    for group in groups() {
        for case in &group.cases {
            let expected = fs::read_to_string(&case.expected).unwrap_or_default();
            for secret in group.secrets() {
                assert!(!expected.contains(secret), "{} carries `{secret}`", case.expected.display());
            }
        }
    }
}

#[test]
fn every_expected_answer_belongs_to_a_case() {
    let cases = groups().into_iter().flat_map(|group| group.cases);
    let expected: BTreeSet<_> = cases.map(|case| case.expected).collect();
    let folder = millrace_tests::case::root().join("tests/cases");
    for group in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(group.path()).unwrap().flatten().map(|entry| entry.path()) {
            if file.extension().is_some_and(|extension| extension == "out") {
                // An exception, `NAME.HOST.out`, belongs to `NAME.out`.
                let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
                let file = file.with_file_name(format!("{}.out", stem.split('.').next().unwrap()));
                assert!(expected.contains(&file), "{} has no case", file.display());
            }
        }
    }
}
