//! Calls that a program asks for, one after the other: what is read is lines of JSON on standard
//! input, and each is answered with one.
//!
//! | asked | answered |
//! |---|---|
//! | `{ id, test }`: `test` has the keys of a file of tests with one test | `{ id, content, structured, result, error, notifications, audit, spans, rows }`; or `{ id, problem }`, where there is no such call |

use std::{
    io::{self, BufRead as _, Read as _, Write as _},
    rc::Rc,
};

use millrace_bundler::{AppTest, Diagnostic, Expectation, test_said};
use millrace_core::{Json, app::App, ports::ScriptEngine};
use millrace_native::isolate;
use millrace_script::Engine;
use serde_json::json;

use super::{
    exchange::text_of,
    judge,
    runner::{self, Called},
    seen::AuditEntries,
    world::Shared,
};
use crate::output::{CommandError, CommandResult};

/// The longest line, in bytes.
const LONGEST: u64 = 64 << 20;

/// Answers what is asked until standard input ends.
///
/// # Errors
/// A line is too long, or nobody reads the answers.
pub(crate) fn answer(app: &App, shared: &Shared) -> CommandResult {
    isolate::run(|| answer_all(app, shared)).map_err(CommandError::wrong)?
}

async fn answer_all(app: &App, shared: &Shared) -> CommandResult {
    let app = Rc::new(app.clone());
    let scripts: Rc<dyn ScriptEngine> = Rc::new(Engine::new());
    let audit = AuditEntries::default();
    let _kept = audit.keep();
    let mut input = io::stdin().lock();
    loop {
        let mut line = String::new();
        if input.by_ref().take(LONGEST).read_line(&mut line).map_err(CommandError::wrong)? == 0 {
            return Ok(());
        }
        if line.len() as u64 == LONGEST {
            return Err(CommandError::Wrong(format!("a call is longer than {} MB", LONGEST >> 20)));
        }
        let asked: Json = serde_json::from_str(&line).unwrap_or_default();
        let mut answer = match asked_for(&app, shared, &asked["test"]) {
            Ok(test) => match runner::call(&app, &test, shared, &scripts, &audit).await {
                Ok(called) => answered(&test, called).await,
                Err(problem) => json!({ "problem": problem }),
            },
            Err(problem) => json!({ "problem": problem }),
        };
        if let Some(members) = answer.as_object_mut() {
            members.insert("id".to_owned(), asked["id"].clone());
        }
        let mut output = io::stdout().lock();
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            return Err(CommandError::ReaderGone);
        }
    }
}

/// The test that is asked for.
fn asked_for(app: &App, shared: &Shared, test: &Json) -> Result<AppTest, String> {
    test_said(&shared.folder, app, &test.to_string()).map_err(|found| {
        let told = |Diagnostic { message, help, .. }: &Diagnostic| match help {
            Some(help) => format!("{message}. {help}"),
            None => message.clone(),
        };
        found.iter().map(told).collect::<Vec<_>>().join("\n")
    })
}

async fn answered(test: &AppTest, called: Called) -> Json {
    let mut problems: Vec<String> = called.strayed.unreached().into_iter().chain(called.strayed.unlisted()).collect();
    let mut rows = Vec::new();
    for expected in &test.expected {
        if let Expectation::Rows(_, expected) = expected {
            match judge::rows_of(expected, &called.watched.endpoint).await {
                Ok(found) => rows.push(found),
                Err(why) => problems.push(why),
            }
        }
    }
    let answer = match called.answer {
        Ok(answer) if problems.is_empty() => answer,
        Ok(_) => return json!({ "problem": problems.join("\n") }),
        Err(problem) => return json!({ "problem": problem }),
    };
    let (result, error) = match answer.result {
        Ok(result) => (Some(result), None),
        Err(failure) => {
            let error = json!({ "code": failure.code, "message": failure.message });
            (failure.result, Some(error))
        }
    };
    json!({
        "content": result.as_ref().map(text_of).unwrap_or_default(),
        "structured": result.as_ref().and_then(|result| result.get("structuredContent")),
        "result": result,
        "error": error,
        "notifications": answer.notifications,
        "audit": called.watched.audit,
        "spans": called.watched.spans,
        "rows": rows,
    })
}
