//! What came of tests.

use std::time::Duration;

use millrace_bundler::AppTest;
use millrace_core::Json;

use super::coverage::{Coverage, Parts};

/// What came of a test.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    /// What the snapshot of the test is compared with; `None` where it has none, or no result.
    pub(crate) snapshot: Option<Json>,
    /// What of the app ran.
    pub(crate) parts: Parts,
}

/// Whether a test passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed(Vec<Problem>),
    /// It did not run, and why.
    Skipped(String),
}

/// What is otherwise than expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where that is expected: `app/tools/x/x.test.yaml:7:7`.
    pub(crate) place: String,
    /// A sentence.
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(place: &str, message: impl Into<String>) -> Self {
        Self { place: place.to_owned(), message: message.into() }
    }
}

impl Outcome {
    /// The outcome of a test that has these problems.
    pub(crate) fn of(problems: Vec<Problem>) -> Self {
        let verdict = if problems.is_empty() { Verdict::Passed } else { Verdict::Failed(problems) };
        Self { verdict, took: Duration::ZERO, snapshot: None, parts: Parts::default() }
    }

    /// The outcome of a test that did not run.
    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped(why.into()), took: Duration::ZERO, snapshot: None, parts: Parts::default() }
    }

    /// Adds a problem.
    pub(crate) fn fail(&mut self, problem: Problem) {
        match &mut self.verdict {
            Verdict::Failed(problems) => problems.push(problem),
            _ => self.verdict = Verdict::Failed(vec![problem]),
        }
    }
}

/// Tests with their outcomes, in the order of their files.
pub(crate) struct Results<'a> {
    pub(crate) tests: Vec<(&'a AppTest, Outcome)>,
    /// The tools that no test of the app calls.
    pub(crate) untested: Vec<String>,
    /// Which parts of the app ran; `None` where that is not seen.
    pub(crate) coverage: Option<Coverage>,
    /// Whether people are told of it.
    pub(crate) tells_coverage: bool,
    pub(crate) took: Duration,
}

impl Results<'_> {
    /// How many passed, failed and were skipped.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (_, outcome) in &self.tests {
            match outcome.verdict {
                Verdict::Passed => counts.passed += 1,
                Verdict::Failed(_) => counts.failed += 1,
                Verdict::Skipped(_) => counts.skipped += 1,
            }
        }
        counts
    }
}

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}
