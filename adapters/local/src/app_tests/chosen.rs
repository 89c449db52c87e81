//! Which tests run, and which do not, and why.

use std::collections::BTreeSet;

use millrace_bundler::{AppTest, Expectation, TestCaller, TestSubject};
use millrace_core::{
    Json,
    app::{Access, App, Tool},
};

/// The tests whose name, file or subject has one of these texts, or whose place is one; all of them
/// without any.
pub(crate) fn chosen(tests: Vec<AppTest>, filters: &[String]) -> Vec<AppTest> {
    let mut tests = tests;
    tests.retain(|test| {
        let (TestSubject::Tool(subject) | TestSubject::Prompt(subject) | TestSubject::Resource(subject)) = &test.subject;
        let has = |filter: &String| {
            test.place == *filter || [&test.name, &test.file, subject].into_iter().any(|text| text.contains(filter.as_str()))
        };
        filters.is_empty() || filters.iter().any(has)
    });
    tests
}

/// The tools of the app's author that no test calls.
pub(crate) fn untested(app: &App, tests: &[AppTest]) -> Vec<String> {
    let tested: BTreeSet<&str> = tests.iter().filter_map(AppTest::tool).collect();
    // The tools of a search have no file.
    let own = app.tools.iter().filter(|tool| !tool.path.is_empty());
    own.map(|tool| &tool.name).filter(|name| !tested.contains(name.as_str())).cloned().collect()
}

/// Why a test cannot run against a server that somebody else started; `None` where it can.
pub(crate) fn not_for_server(app: &App, test: &AppTest, writes: bool) -> Option<String> {
    let own = [
        ("given", !test.databases.is_empty()),
        ("now", test.now_ms.is_some()),
        ("random", test.random.is_some()),
        ("http", !test.http.is_empty()),
        ("env", !test.variables.is_empty()),
        ("rows", test.expected.iter().any(|expected| matches!(expected, Expectation::Rows(..)))),
        ("audit", test.expected.iter().any(|expected| matches!(expected, Expectation::Audit(..)))),
        ("spans", test.expected.iter().any(|expected| matches!(expected, Expectation::Spans(..)))),
        ("as", matches!(test.caller, Some(TestCaller::Claims(_)))),
    ];
    if let Some((key, _)) = own.into_iter().find(|(_, is_there)| *is_there) {
        return Some(match key {
            "rows" | "audit" | "spans" => format!("`{key}` cannot be asked of a server that runs already"),
            "as" => "the claims of `as` have no effect on a server that runs already".to_owned(),
            _ => format!("`{key}` has no effect on a server that runs already"),
        });
    }
    let TestSubject::Tool(name) = &test.subject else { return None };
    let reads = app.tools.iter().any(|tool| tool.name == *name && reads(tool));
    (!reads && !writes).then(|| format!("the tool `{name}` may write; `--writes` runs it"))
}

/// Whether a tool only reads, as its statement or its hint says.
pub(crate) fn reads(tool: &Tool) -> bool {
    let hint = || serde_json::from_str::<Json>(&tool.descriptor).is_ok_and(|descriptor| descriptor["annotations"]["readOnlyHint"] == true);
    tool.execute.access().map_or_else(hint, Access::reads)
}
