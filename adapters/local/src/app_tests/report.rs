//! What is written of tests: for people, and in the formats of JUnit, TAP and JSON.

use std::fmt::Write as _;

use millrace_bundler::{AppTest, TestSubject};
use millrace_core::Json;
use serde_json::json;

use super::{
    coverage::Coverage,
    outcome::{Outcome, Problem, Results, Verdict},
};
use crate::app::count;

/// For people: the files, what failed and why, and how many.
pub(crate) fn pretty(results: &Results<'_>) -> String {
    let mut lines = Vec::new();
    for (file, tests) in by_file(results) {
        let failed = tests.iter().any(|(_, outcome)| matches!(outcome.verdict, Verdict::Failed(_)));
        let ran = tests.iter().any(|(_, outcome)| !matches!(outcome.verdict, Verdict::Skipped(_)));
        let word = if failed {
            "FAIL"
        } else if ran {
            "ok"
        } else {
            "skip"
        };
        lines.push(format!("{word:<4} {file} ({})", count(tests.len(), "test")));
        for (test, outcome) in tests {
            match &outcome.verdict {
                Verdict::Passed => {}
                Verdict::Failed(problems) => {
                    lines.push(format!("  failed: {}", test.name));
                    lines.extend(problems.iter().map(|Problem { place, message }| format!("    {place}: {message}")));
                }
                Verdict::Skipped(why) => lines.push(format!("  skipped: {}: {why}", test.name)),
            }
        }
    }
    lines.push(summary(results));
    if let Some(untested) = untested(results) {
        lines.push(untested);
    }
    if let Some(coverage) = results.coverage.as_ref().filter(|_| results.tells_coverage) {
        lines.extend(coverage.lines());
    }
    lines.join("\n")
}

/// `3 tests: 2 passed, 1 failed, in 0.05 s`
pub(crate) fn summary(results: &Results<'_>) -> String {
    let counts = results.counts();
    let parts = [(counts.passed, "passed"), (counts.failed, "failed"), (counts.skipped, "skipped")];
    let parts: Vec<String> = parts.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")).collect();
    format!("{}: {}, in {:.2} s", count(results.tests.len(), "test"), parts.join(", "), results.took.as_secs_f64())
}

fn untested(results: &Results<'_>) -> Option<String> {
    let names: Vec<String> = results.untested.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("without a test: {}", names.join(", ")))
}

/// The format that CI servers read.
pub(crate) fn junit(results: &Results<'_>) -> String {
    let counts = results.counts();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3}\">\n",
        results.tests.len(),
        counts.failed,
        counts.skipped,
        results.took.as_secs_f64()
    );
    for (file, tests) in by_file(results) {
        let number = |is: fn(&Verdict) -> bool| tests.iter().filter(|(_, outcome)| is(&outcome.verdict)).count();
        let failed = number(|verdict| matches!(verdict, Verdict::Failed(_)));
        let skipped = number(|verdict| matches!(verdict, Verdict::Skipped(_)));
        let time: f64 = tests.iter().map(|(_, outcome)| outcome.took.as_secs_f64()).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{time:.3}\">",
            xml(file),
            tests.len()
        );
        for (test, outcome) in tests {
            let _ = write!(
                text,
                "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" time=\"{:.3}\"",
                xml(&test.name),
                xml(subject(test)),
                xml(file),
                outcome.took.as_secs_f64()
            );
            text += &match &outcome.verdict {
                Verdict::Passed => "/>\n".to_owned(),
                Verdict::Skipped(why) => format!(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml(why)),
                Verdict::Failed(problems) => {
                    let first = problems.first().map_or("", |problem| &problem.message);
                    format!(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", xml(first), xml(&told(problems)))
                }
            };
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>"
}

/// The Test Anything Protocol, version 14: <https://testanything.org/tap-version-14-specification>.
pub(crate) fn tap(results: &Results<'_>) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", results.tests.len());
    for (index, (test, outcome)) in results.tests.iter().enumerate() {
        let name = tap_text(&format!("{}: {}", test.file, test.name));
        let number = index + 1;
        text += &match &outcome.verdict {
            Verdict::Passed => format!("ok {number} - {name}\n"),
            Verdict::Skipped(why) => format!("ok {number} - {name} # SKIP {}\n", tap_text(why)),
            Verdict::Failed(problems) => {
                let list: Vec<Json> = problems.iter().map(problem_json).collect();
                // JSON is YAML.
                format!("not ok {number} - {name}\n  ---\n  problems: {}\n  ...\n", Json::from(list))
            }
        };
    }
    text.trim_end().to_owned()
}

/// For programs.
pub(crate) fn json(results: &Results<'_>) -> Json {
    let counts = results.counts();
    let tests = results.tests.iter().map(|(test, outcome)| {
        let (status, problems, reason) = match &outcome.verdict {
            Verdict::Passed => ("passed", Vec::new(), None),
            Verdict::Failed(problems) => ("failed", problems.iter().map(problem_json).collect(), None),
            Verdict::Skipped(why) => ("skipped", Vec::new(), Some(why)),
        };
        json!({
            "name": test.name,
            "file": test.file,
            "place": test.place,
            "calls": subject(test),
            "status": status,
            "reason": reason,
            "problems": problems,
            "ms": (outcome.took.as_secs_f64() * 1e6).round() / 1e3,
        })
    });
    json!({
        "ok": counts.failed == 0,
        "passed": counts.passed,
        "failed": counts.failed,
        "skipped": counts.skipped,
        "untested": results.untested,
        "coverage": results.coverage.as_ref().map(Coverage::json),
        "tests": tests.collect::<Vec<_>>(),
    })
}

/// The tests alone, for programs.
pub(crate) fn list_json(tests: &[AppTest], untested: &[String]) -> Json {
    let tests = tests.iter().map(|test| json!({ "name": test.name, "file": test.file, "place": test.place, "calls": subject(test) }));
    json!({ "untested": untested, "tests": tests.collect::<Vec<_>>() })
}

fn problem_json(problem: &Problem) -> Json {
    json!({ "place": problem.place, "message": problem.message })
}

/// The tests of each file, in order.
fn by_file<'r>(results: &'r Results<'_>) -> Vec<(&'r str, Vec<&'r (&'r AppTest, Outcome)>)> {
    let mut files: Vec<(&str, Vec<&(&AppTest, Outcome)>)> = Vec::new();
    for pair in &results.tests {
        match files.last_mut() {
            Some((file, tests)) if *file == pair.0.file => tests.push(pair),
            _ => files.push((&pair.0.file, vec![pair])),
        }
    }
    files
}

fn subject(test: &AppTest) -> &str {
    let (TestSubject::Tool(name) | TestSubject::Prompt(name) | TestSubject::Resource(name)) = &test.subject;
    name
}

fn told(problems: &[Problem]) -> String {
    problems.iter().map(|Problem { place, message }| format!("{place}: {message}")).collect::<Vec<_>>().join("\n")
}

/// Text of a description in TAP: one line, in which `#` begins no directive.
fn tap_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#").split(|character: char| character.is_control()).collect::<Vec<_>>().join(" ")
}

/// Text in XML, without the characters that XML 1.0 cannot have.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(xml("a<b>\"&\u{1}\n"), "a&lt;b&gt;&quot;&amp;\u{fffd}&#10;");
        assert_eq!(tap_text("a # TODO\nb \\"), "a \\# TODO b \\\\");
    }
}
