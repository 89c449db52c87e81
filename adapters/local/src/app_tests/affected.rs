//! Which tests a change of the app concerns: the others have the outcome that they had.
//!
//! A test depends on itself, on its tool and that tool's scripts, and on everything that is not a
//! tool or a script. What was compiled is compared, so nothing has to be known of files.

use std::collections::BTreeMap;

use millrace_bundler::{AppTest, TestSubject};
use millrace_catalogue::SQLITE;
use millrace_core::app::{App, Auth, Identity, Script, Tool};

use super::outcome::{Outcome, Verdict};

/// An app and what came of its tests.
pub(crate) struct Before {
    /// The app without tools and scripts.
    rest: App,
    tools: BTreeMap<String, Tool>,
    scripts: Vec<Script>,
    /// The outcomes by the tests, whole.
    outcomes: BTreeMap<String, Outcome>,
}

impl Before {
    /// What is known after a run.
    pub(crate) fn of(app: &App, results: &[(&AppTest, Outcome)]) -> Self {
        let outcomes = results.iter().map(|(test, outcome)| (key(test), outcome.clone())).collect();
        let tools = app.tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect();
        Self { rest: rest(app), tools, scripts: app.scripts.clone(), outcomes }
    }

    /// The outcomes of the tests that a new app does not concern, by their places. Tests that
    /// failed run again.
    pub(crate) fn unconcerned(&self, app: &App, tests: &[AppTest]) -> BTreeMap<usize, Outcome> {
        // A file may have changed without the app.
        let is_made = |app: &App| app.adapters.iter().all(|adapter| adapter.connector != SQLITE.name || adapter.seed.is_some());
        if !is_made(app) || self.rest != rest(app) {
            return BTreeMap::new();
        }
        let tools: BTreeMap<&str, &Tool> = app.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        let is_same = |test: &AppTest| match &test.subject {
            TestSubject::Tool(name) => match tools.get(name.as_str()).zip(self.tools.get(name)) {
                Some((new, old)) if !new.path.is_empty() => self.is_same(app, new, old),
                _ => false,
            },
            // Both may call any tool, and so may the tools of a search, which have no path.
            TestSubject::Prompt(_) | TestSubject::Resource(_) => false,
        };
        let outcome = |test: &AppTest| self.outcomes.get(&key(test)).filter(|outcome| !matches!(outcome.verdict, Verdict::Failed(_)));
        let known = tests.iter().enumerate().filter_map(|(place, test)| Some((place, outcome(test)?.clone())).filter(|_| is_same(test)));
        known.collect()
    }

    fn is_same(&self, app: &App, new: &Tool, old: &Tool) -> bool {
        let shared = |scripts: &[Script]| scripts.iter().find(|script| script.is_shared()).cloned();
        let own = |tool: &Tool, scripts: &[Script]| -> Vec<Option<Script>> {
            let auth = tool
                .auth
                .iter()
                .flat_map(Auth::entries)
                .filter_map(|entry| if let Auth::Script { script, .. } = entry { Some(script) } else { None });
            tool.scripts().chain(auth).map(|script| scripts.get(script.script as usize).cloned()).collect()
        };
        new == old && own(new, &app.scripts) == own(old, &self.scripts) && shared(&app.scripts) == shared(&self.scripts)
    }
}

fn rest(app: &App) -> App {
    App { tools: Vec::new(), scripts: Vec::new(), identity: Identity::default(), ..app.clone() }
}

/// A test as its file says, with its place.
fn key(test: &AppTest) -> String {
    format!("{test:?}")
}
