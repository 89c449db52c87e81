//! Tests that are written with the tools of a new app: one for each tool that only reads, with what
//! its call gives now. A test that does not pass at once is not written.
//!
//! Of what a database holds, only keys get into a file: the values that other tools of the same
//! folder ask for. An API is not asked: what it answers is made of its specification.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::Path,
    rc::Rc,
    sync::Arc,
};

use millrace_bundler::{AppTest, Report, test_said};
use millrace_core::{
    Json,
    app::{App, Tool},
    ports::ScriptEngine,
};
use millrace_native::{env::Variables, isolate};
use millrace_script::Engine;
use serde_json::{Map, json};
use tracing::{Dispatch, dispatcher};

use super::new::from::yaml;
use crate::{
    app::{self, count},
    app_tests::{
        chosen::reads,
        exchange::text_of,
        outcome::Verdict,
        runner::{self, Called, Originals, Shared},
        seen::AuditEntries,
    },
    output::{CommandError, CommandResult, print},
};

/// How often a call is made anew with answers to the requests that it was found to send.
const MOST_REQUESTS: usize = 5;
/// The longest expectation, in bytes of JSON: a longer one says nothing to its reader.
const LONGEST: usize = 4_000;
/// The most rows whose keys other calls take.
const MOST_ROWS: usize = 200;
/// The input that says how many rows are returned.
const LIMIT: &str = "limit";
/// The name of each test.
const NAME: &str = "answers as it did when it was written";

/// What is known of an app whose tests are written.
#[derive(Default)]
pub(super) struct Known {
    /// The variables that its adapters read, with values for tests.
    pub(super) variables: Vec<(String, String)>,
    /// What the API answers to a tool's request, by the tool's name.
    pub(super) answers: BTreeMap<String, Json>,
    /// Whether only the tools in `answers` get a test: the others are their author's.
    pub(super) only_answered: bool,
}

/// Writes the tests, and says how many.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(folder: &Path, known: &Known) -> CommandResult {
    let written = write_all(folder, known)?;
    if written > 0 {
        print(format_args!("wrote {}: `millrace test` runs them", count(written, "test")))?;
    }
    Ok(())
}

fn write_all(folder: &Path, known: &Known) -> CommandResult<usize> {
    let mut report = app::compile(folder);
    let Some(app) = report.app.take() else { return Ok(0) };
    let shared = Shared {
        folder: folder.to_owned(),
        variables: Variables::default(),
        allowed: Arc::new(BTreeSet::new()),
        originals: Originals::default(),
    };
    let passing = isolate::run(|| passing(&app, &report, &shared, known)).map_err(CommandError::wrong)?;
    let mut written = 0;
    for draft in passing {
        let Some(file) = report.tool_files.get(&draft.tool).and_then(|file| test_file(file)) else { continue };
        let path = folder.join(&file);
        let made = fs::OpenOptions::new().write(true).create_new(true).open(&path);
        // One that is there is its author's.
        let Ok(mut made) = made else { continue };
        made.write_all(draft.text().as_bytes())
            .map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())))?;
        written += 1;
    }
    Ok(written)
}

/// `app/tools/x/config.yaml` → `app/tools/x/x.test.yaml`
fn test_file(config: &str) -> Option<String> {
    let (folder, _) = config.rsplit_once('/')?;
    let name = folder.rsplit('/').next()?;
    Some(format!("{folder}/{name}.test.yaml"))
}

/// A test on its way.
struct Draft {
    tool: String,
    /// The folder of tools that it belongs to.
    folder: String,
    inputs: Map<String, Json>,
    variables: Map<String, Json>,
    http: Vec<Json>,
    expect: Map<String, Json>,
}

impl Draft {
    fn json(&self) -> Json {
        let expect = if self.expect.is_empty() { json!({ "result": {} }) } else { self.expect.clone().into() };
        let test = json!({ "name": NAME, "inputs": self.inputs, "env": self.variables, "http": self.http, "expect": expect });
        json!({ "tool": self.tool, "tests": [test] })
    }

    /// Its file.
    fn text(&self) -> String {
        let mut text = "# Written with the tool, and yours to change.\ntests:\n".to_owned();
        text += &format!("  - name: {NAME}\n");
        let mut line = |key: &str, value: Json| text += &format!("    {key}: {}\n", yaml::flow(&value));
        for (key, map) in [("inputs", &self.inputs), ("env", &self.variables)] {
            if !map.is_empty() {
                line(key, map.clone().into());
            }
        }
        if !self.http.is_empty() {
            line("http", self.http.clone().into());
        }
        line("expect", self.expect.clone().into());
        text
    }
}

/// What calls are made with.
struct Caller<'a> {
    app: Rc<App>,
    shared: &'a Shared,
    scripts: Rc<dyn ScriptEngine>,
    audit: AuditEntries,
    known: &'a Known,
}

/// The tests that pass.
async fn passing(app: &App, report: &Report, shared: &Shared, known: &Known) -> Vec<Draft> {
    // A call that fails on trial is nobody's business.
    let _silence = dispatcher::set_default(&Dispatch::none());
    let (scripts, audit) = (Rc::new(Engine::new()), AuditEntries::default());
    let caller = Caller { app: Rc::new(app.clone()), shared, scripts, audit, known };
    let mut passing = Vec::new();
    for draft in caller.drafts(report).await {
        let Ok(test) = test_said(&shared.folder, app, &draft.json().to_string()) else { continue };
        let outcome = runner::here(&caller.app, &test, shared, &caller.scripts, &caller.audit).await;
        if outcome.verdict == Verdict::Passed {
            passing.push(draft);
        }
    }
    passing
}

/// What a call gave.
enum Found {
    Result { text: String, structured: Option<Json> },
    Failure { code: String },
}

impl Caller<'_> {
    /// The tests that may be written.
    async fn drafts(&self, report: &Report) -> Vec<Draft> {
        let tested: BTreeSet<&str> = report.tests.iter().filter_map(AppTest::tool).collect();
        let is_wanted = |tool: &Tool| {
            let is_known = !self.known.only_answered || self.known.answers.contains_key(&tool.name);
            is_known && !tested.contains(tool.name.as_str())
        };
        let tools: Vec<&Tool> = self.app.tools.iter().filter(|tool| !tool.path.is_empty() && reads(tool) && is_wanted(tool)).collect();
        let mut tried = Vec::new();
        for tool in &tools {
            let mut draft = self.draft(tool);
            let answer = self.answer(&mut draft).await;
            tried.push((draft, answer));
        }
        let rows = rows(&tried);
        let mut drafts = Vec::new();
        for (tool, (mut draft, mut answer)) in tools.iter().zip(tried) {
            let required = required(tool);
            // A row of another tool has the values of a key together.
            if let Some(row) = rows.iter().find(|row| row.folder == draft.folder && row.has(&required)).filter(|_| !required.is_empty()) {
                let keys = required.iter().filter_map(|name| Some((name.clone(), row.cells.get(name)?.clone())));
                let mut other = Draft { inputs: draft.inputs.clone(), http: Vec::new(), ..self.draft(tool) };
                other.inputs.extend(keys);
                let found = self.answer(&mut other).await;
                if matches!(found, Some(Found::Result { .. })) {
                    (draft, answer) = (other, found);
                }
            }
            let keys: BTreeSet<String> =
                tools.iter().filter(|other| folder_of(other) == draft.folder).flat_map(|tool| self::required(tool)).collect();
            let keys = if draft.http.is_empty() { Some(&keys) } else { None };
            if let Some(expect) = answer.and_then(|answer| answer.expected(tool, keys)) {
                draft.expect = expect;
                drafts.push(draft);
            }
        }
        drafts
    }

    /// A test of a tool with values that its inputs take.
    fn draft(&self, tool: &Tool) -> Draft {
        let schema = input_schema(tool);
        let properties = schema["properties"].as_object();
        let required = required(tool);
        let mut inputs: Map<String, Json> = Map::new();
        for (name, property) in properties.into_iter().flatten() {
            if required.contains(name) {
                inputs.insert(name.clone(), sample(property, 0));
            } else if name == LIMIT && property["type"] == "integer" && !self.known.answers.contains_key(&tool.name) {
                inputs.insert(name.clone(), 1.into());
            }
        }
        let variables = self.known.variables.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let (tool, folder) = (tool.name.clone(), folder_of(tool));
        Draft { tool, folder, inputs, variables, http: Vec::new(), expect: Map::new() }
    }

    /// What its call gives. Requests that it sends are answered as the API would.
    async fn answer(&self, draft: &mut Draft) -> Option<Found> {
        for _ in 0..=MOST_REQUESTS {
            let test = test_said(&self.shared.folder, &self.app, &draft.json().to_string()).ok()?;
            let called = runner::call(&self.app, &test, self.shared, &self.scripts, &self.audit).await.ok()?;
            let requests = called.strayed.requests();
            if requests.is_empty() {
                return found(called);
            }
            let answer = self.known.answers.get(&draft.tool)?;
            for request in requests {
                draft.http.push(match answer {
                    Json::Null => json!({ "request": request, "status": 204 }),
                    answer => json!({ "request": request, "json": answer }),
                });
            }
        }
        None
    }
}

fn found(called: Called) -> Option<Found> {
    if called.strayed.unreached().is_some() {
        return None;
    }
    Some(match called.answer.ok()?.result {
        Ok(result) => Found::Result { text: text_of(&result), structured: result.get("structuredContent").cloned() },
        Err(failure) => Found::Failure { code: failure.code },
    })
}

impl Found {
    /// What a test expects. With `keys`, only these values of rows.
    fn expected(self, tool: &Tool, keys: Option<&BTreeSet<String>>) -> Option<Map<String, Json>> {
        let mut expect = Map::new();
        let kept = |value: Json| keys.map_or(Some(value.clone()), |keys| only_keys(&value, keys)).filter(is_short);
        match self {
            Self::Failure { code } if tool.errors.on.iter().any(|rule| rule.code == code) => {
                drop(expect.insert("error".into(), code.into()))
            }
            Self::Failure { .. } => return None,
            Self::Result { text, structured } => {
                let json = serde_json::from_str::<Json>(&text).ok().filter(|json| json.is_object() || json.is_array());
                match (structured.and_then(kept), json.and_then(kept)) {
                    (Some(structured), _) => drop(expect.insert("structured".into(), structured)),
                    (None, Some(json)) => drop(expect.insert("content".into(), json!({ "json": json }))),
                    (None, None) => drop(expect.insert("result".into(), json!({ "isError": false }))),
                }
            }
        }
        Some(expect)
    }
}

fn is_short(value: &Json) -> bool {
    value.to_string().len() <= LONGEST
}

/// A value with the cells of rows that are keys. `None` where a list has other things than rows:
/// it could only be expected as a whole.
fn only_keys(value: &Json, keys: &BTreeSet<String>) -> Option<Json> {
    match value {
        Json::Object(members) => {
            let kept = members.iter().filter_map(|(name, value)| match value {
                Json::Object(_) | Json::Array(_) => Some((name.clone(), only_keys(value, keys)?)),
                _ => keys.contains(name).then(|| (name.clone(), value.clone())),
            });
            Some(Json::Object(kept.collect()))
        }
        Json::Array(rows) => rows.iter().map(|row| if row.is_object() { only_keys(row, keys) } else { None }).collect(),
        _ => None,
    }
}

/// A row that some tool returned.
struct Row {
    folder: String,
    cells: Map<String, Json>,
}

impl Row {
    fn has(&self, names: &BTreeSet<String>) -> bool {
        names.iter().all(|name| self.cells.get(name).is_some_and(|cell| !cell.is_null()))
    }
}

/// The rows of answers.
fn rows(tried: &[(Draft, Option<Found>)]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (draft, found) in tried {
        let Some(Found::Result { text, structured }) = found else { continue };
        let value = structured.clone().or_else(|| serde_json::from_str(text).ok());
        collect(&value.unwrap_or_default(), &draft.folder, &mut rows);
    }
    rows
}

fn collect(value: &Json, folder: &str, rows: &mut Vec<Row>) {
    if rows.len() >= MOST_ROWS {
        return;
    }
    match value {
        Json::Object(cells) => {
            rows.push(Row { folder: folder.to_owned(), cells: cells.clone() });
            cells.values().for_each(|cell| collect(cell, folder, rows));
        }
        Json::Array(list) => list.iter().for_each(|value| collect(value, folder, rows)),
        _ => {}
    }
}

fn folder_of(tool: &Tool) -> String {
    tool.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}

fn input_schema(tool: &Tool) -> Json {
    let descriptor: Json = serde_json::from_str(&tool.descriptor).unwrap_or_default();
    descriptor["inputSchema"].clone()
}

fn required(tool: &Tool) -> BTreeSet<String> {
    let schema = input_schema(tool);
    schema["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// A value that fits a schema, as far as one can be made. The same schema gives the same value.
pub(super) fn sample(schema: &Json, level: usize) -> Json {
    /// How deep values are made.
    const DEEPEST: usize = 5;
    let first = |key: &str| schema[key].as_array().and_then(|values| values.first());
    if let Some(value) =
        first("examples").or_else(|| schema.get("example")).or_else(|| schema.get("default")).filter(|value| !value.is_null())
    {
        return value.clone();
    }
    if let Some(value) = schema.get("const").or_else(|| first("enum")) {
        return value.clone();
    }
    let kind = schema["type"].as_str().or_else(|| first("type").and_then(Json::as_str)).unwrap_or("string");
    match kind {
        _ if level >= DEEPEST => Json::Null,
        "integer" | "number" => {
            let bound = |key: &str| schema[key].as_i64();
            let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound.saturating_add(1)));
            least.unwrap_or_else(|| bound("maximum").unwrap_or(1).min(1)).into()
        }
        "boolean" => true.into(),
        "array" => Json::from(vec![sample(&schema["items"], level + 1)]),
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, property)| (name.clone(), sample(property, level + 1))).collect::<Map<_, _>>().into()
        }
        "null" => Json::Null,
        _ => sample_text(schema).into(),
    }
}

fn sample_text(schema: &Json) -> String {
    let text = match schema["format"].as_str() {
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("email") => "ada@example.com",
        Some("uri") => "https://example.com/",
        Some("hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "a",
    };
    let least = schema["minLength"].as_u64().and_then(|least| usize::try_from(least).ok()).unwrap_or(0).min(1_000);
    let missing = least.saturating_sub(text.chars().count());
    text.to_owned() + &"a".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_fits_its_schema() {
        let of = |schema: &Json| sample(schema, 0);
        assert_eq!(of(&json!({ "type": "integer", "minimum": 7 })), 7);
        assert_eq!(of(&json!({ "type": "integer", "maximum": -3 })), -3);
        assert_eq!(of(&json!({ "type": "string", "enum": ["open"], "default": "paid" })), "paid");
        assert_eq!(of(&json!({ "type": "string", "minLength": 3 })), "aaa");
        assert_eq!(of(&json!({ "type": ["string", "null"], "format": "date" })), "2026-01-31");
        assert_eq!(
            of(&json!({ "type": "object", "properties": { "a": { "type": "array", "items": { "type": "boolean" } } } })),
            json!({ "a": [true] })
        );
    }

    #[test]
    fn of_rows_only_keys_stay() {
        let keys = BTreeSet::from(["id".to_owned()]);
        let found = json!([{ "id": 1, "email": "ada@example.com", "items": [{ "id": 2, "secret": "x" }], "tags": ["a"] }]);
        assert_eq!(only_keys(&found, &keys), Some(json!([{ "id": 1, "items": [{ "id": 2 }] }])));
        assert_eq!(only_keys(&json!(["ada@example.com"]), &keys), None);
    }
}
