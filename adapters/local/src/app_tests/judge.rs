//! Whether an answer is what a test expects.

use millrace_bundler::{AppTest, Expectation, ExpectedError, ExpectedRows};
use millrace_core::{Endpoint, ErrorParts, Json};

use super::{
    compare::{Comparison, differences, shown, text_difference},
    exchange::{Answer, Failure, text_of},
    outcome::Problem,
};

/// What is known of a call beside its answer, where this process answered it.
pub(super) struct Watched {
    pub(super) endpoint: Endpoint,
    pub(super) audit: Vec<Json>,
    pub(super) spans: Vec<Json>,
}

/// What is otherwise than the test expects, in the order in which it says so.
pub(super) async fn judge(test: &AppTest, answer: &Answer, watched: Option<&Watched>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let expects_failure = test.expected.iter().any(|expected| matches!(expected, Expectation::Error(..)));
    if let (Err(failure), false) = (&answer.result, expects_failure) {
        problems.push(Problem::new(&test.place, format!("the call fails: {}", told(failure))));
    }
    for expected in &test.expected {
        match (expected, &answer.result) {
            (Expectation::Error(place, error), result) => {
                problems.extend(failure_problem(error, result).map(|why| Problem::new(place, why)))
            }
            (Expectation::Notifications(place, wanted), _) => {
                let found = Json::from(answer.notifications.clone());
                problems.extend(differ(place, "notifications", &wanted.clone().into(), &found, Comparison::Has));
            }
            (Expectation::Rows(..) | Expectation::Audit(..) | Expectation::Spans(..), _) => {
                if let Some(watched) = watched {
                    problems.extend(beside(expected, watched).await);
                }
            }
            (expected, Ok(result)) => problems.extend(of_result(expected, result)),
            // A text that a model sees of a failure.
            (expected, Err(Failure { result: Some(result), .. })) if expects_failure => problems.extend(of_result(expected, result)),
            (expected, Err(failure)) if expects_failure => {
                let why = format!("the call fails without a result that could have it: {}", told(failure));
                problems.push(Problem::new(place_of(expected), why));
            }
            // The failure has been told.
            (_, Err(_)) => {}
        }
    }
    problems
}

const fn place_of(expected: &Expectation) -> &str {
    match expected {
        Expectation::Text(place, _)
        | Expectation::Contains(place, _)
        | Expectation::Json(place, _)
        | Expectation::Matches(place, _)
        | Expectation::Structured(place, _)
        | Expectation::StructuredEquals(place, _)
        | Expectation::Result(place, _)
        | Expectation::Error(place, _)
        | Expectation::Notifications(place, _)
        | Expectation::Audit(place, _)
        | Expectation::Spans(place, _)
        | Expectation::Rows(place, _) => place.as_str(),
    }
}

fn told(failure: &Failure) -> String {
    format!("{} ({})", failure.message, if failure.code.is_empty() { "without a code" } else { &failure.code })
}

fn failure_problem(expected: &ExpectedError, result: &Result<serde_json::Map<String, Json>, Failure>) -> Option<String> {
    match result {
        Ok(_) => Some(format!("the call succeeds and should fail with `{}`", expected.code)),
        Err(failure) if failure.code != expected.code => {
            Some(format!("the call fails with {} and should with `{}`", told(failure), expected.code))
        }
        Err(failure) => {
            let text = expected.message.as_ref().filter(|text| !failure.message.contains(text.as_str()))?;
            Some(format!("the message {} does not contain {}", shown(&failure.message.as_str().into()), shown(&text.as_str().into())))
        }
    }
}

fn differ(place: &str, path: &str, expected: &Json, found: &Json, comparison: Comparison) -> Vec<Problem> {
    differences(path, expected, found, comparison).into_iter().map(|difference| Problem::new(place, difference)).collect()
}

fn of_result(expected: &Expectation, result: &serde_json::Map<String, Json>) -> Vec<Problem> {
    let structured = |place: &str, wanted: &Json, comparison| match result.get("structuredContent") {
        Some(found) => differ(place, "structured", wanted, found, comparison),
        None => vec![Problem::new(place, "the result has no structured content: the tool declares no `output`")],
    };
    match expected {
        Expectation::Text(place, text) => text_difference(text, &text_of(result)).map(|why| Problem::new(place, why)).into_iter().collect(),
        Expectation::Contains(place, part) => {
            let text = text_of(result);
            let missing = !text.contains(part.as_str());
            let why = || format!("the text {} does not contain {}", shown(&text.as_str().into()), shown(&part.as_str().into()));
            missing.then(|| Problem::new(place, why())).into_iter().collect()
        }
        Expectation::Json(place, wanted) => match serde_json::from_str(&text_of(result)) {
            Ok(found) => differ(place, "content", wanted, &found, Comparison::Has),
            Err(_) => vec![Problem::new(place, format!("the text {} is not JSON", shown(&text_of(result).into())))],
        },
        Expectation::Matches(place, pattern) => {
            let text = text_of(result);
            let why = || format!("the text {} does not match `{}`", shown(&text.as_str().into()), pattern.as_str());
            (!pattern.fits(&text)).then(|| Problem::new(place, why())).into_iter().collect()
        }
        Expectation::Structured(place, wanted) => structured(place, wanted, Comparison::Has),
        Expectation::StructuredEquals(place, wanted) => structured(place, wanted, Comparison::Equals),
        Expectation::Result(place, wanted) => differ(place, "result", wanted, &result.clone().into(), Comparison::Has),
        Expectation::Error(..)
        | Expectation::Notifications(..)
        | Expectation::Audit(..)
        | Expectation::Spans(..)
        | Expectation::Rows(..) => Vec::new(),
    }
}

/// What is otherwise of what the call left behind.
async fn beside(expected: &Expectation, watched: &Watched) -> Vec<Problem> {
    match expected {
        Expectation::Rows(place, rows) => rows_differ(place, rows, &watched.endpoint).await,
        Expectation::Audit(place, wanted) => differ(place, "audit", &wanted.clone().into(), &watched.audit.clone().into(), Comparison::Has),
        Expectation::Spans(place, wanted) => spans_missing(place, wanted, &watched.spans),
        _ => Vec::new(),
    }
}

/// The first span that is expected and not there, after those before it.
fn spans_missing(place: &str, wanted: &[Json], found: &[Json]) -> Vec<Problem> {
    let mut left = found.iter();
    for (index, span) in wanted.iter().enumerate() {
        if left.any(|found| differences("span", span, found, Comparison::Has).is_empty()) {
            continue;
        }
        let why = format!("`spans[{index}]` is missing: {}", shown(span));
        // One of the same name is likely the one that was meant.
        let same = found.iter().find(|found| found["name"] == span["name"]);
        let told = match same {
            Some(same) => differ(place, &format!("spans[{index}]"), span, same, Comparison::Has),
            None => {
                let names: Vec<&str> = found.iter().filter_map(|span| span["name"].as_str()).collect();
                vec![Problem::new(place, format!("the spans are {}", shown(&names.into())))]
            }
        };
        return [vec![Problem::new(place, why)], told].concat();
    }
    Vec::new()
}

async fn rows_differ(place: &str, expected: &ExpectedRows, endpoint: &Endpoint) -> Vec<Problem> {
    match rows_of(expected, endpoint).await {
        Ok(found) => {
            let mut problems = differ(place, "rows", &expected.rows.clone().into(), &found, Comparison::Has);
            if !problems.is_empty() {
                problems.push(Problem::new(place, format!("the rows are {}", shown(&found))));
            }
            problems
        }
        Err(why) => vec![Problem::new(place, why)],
    }
}

/// What a statement returns after the call.
///
/// # Errors
/// It fails, as a sentence.
pub(super) async fn rows_of(expected: &ExpectedRows, endpoint: &Endpoint) -> Result<Json, String> {
    match endpoint.pipeline().look_up(expected.adapter, &expected.sql, &[]).await {
        Ok(rows) => Ok(serde_json::to_value(rows.json()).unwrap_or_default()),
        Err(error) => {
            let ErrorParts { message, source, .. } = error.into_parts();
            Err(format!("the statement fails: {}", source.unwrap_or(message)))
        }
    }
}

/// What a snapshot of an answer has: the result without `_meta`, or how the call failed.
pub(super) fn snapshot(answer: &Answer) -> Json {
    match &answer.result {
        Ok(result) => {
            let parts = result.iter().filter(|(key, _)| !matches!(key.as_str(), "_meta" | "resultType"));
            Json::Object(parts.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        Err(failure) => serde_json::json!({ "error": { "code": failure.code, "message": failure.message } }),
    }
}
