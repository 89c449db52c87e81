//! `NAME.test.yaml`: tests of a tool, a prompt or a resource, beside its file.
//!
//! They are no part of the app: a bundle has none of them. What a test says is read here, whole, so
//! that whoever runs it ([`AppTest`]) reads no file of the app again but a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use millrace_catalogue::SQLITE;
use millrace_core::app::App;
use serde_json::{Map, Value as Json};

use crate::{
    compiler::Compiler,
    field::{CheckMode, Field, Named, Record, Shape, check},
    names::{is_header_token, is_variable, meant},
    source::Source,
    tree::{is_config, is_test, parent, stem},
    yaml::{Data, Document, Node},
};

mod answer;
mod database;
mod expected;
mod tested;

pub use answer::HttpAnswer;
pub use database::{TestDatabase, TestTable};
pub use expected::{Expectation, ExpectedError, ExpectedRows, TextPattern};
pub use tested::TestSubject;

use tested::TestedApp;

const DATABASES: Shape = Shape::Map(&Shape::Record(&database::GIVEN));
const ANSWERS: Shape = Shape::List(&Shape::Record(&answer::ANSWER));

/// What a test has, or all tests of a file.
const AS: Field = Field::new(
    "as",
    Shape::OneOf(&[Shape::Text, Shape::Map(&Shape::Any)]),
    "Who calls: the name of a key of `auth.policy.keys`, or the claims of a token, which nobody verifies: `{ sub: u1 }`.",
);
const HEADERS: Field = Field::new("headers", Shape::Map(&Shape::Scalar), "Header fields of the request.");
const ENV: Field = Field::new(
    "env",
    Shape::Map(&Shape::Scalar),
    "The variables that the app sees. It sees no others, neither those of the process nor those of `.env`.",
);
const NOW: Field = Field::new(
    "now",
    Shape::Text,
    "What time it is: `2026-03-01T12:00:00Z`. The clock moves only where something waits. SQLite's own functions, such as \
     `CURRENT_TIMESTAMP`, read the machine's clock.",
)
.default("the machine's clock");
const RANDOM: Field = Field::new(
    "random",
    Shape::Int(0, i64::MAX),
    "A number that all random numbers and identifiers are made from, so that each run has the same.",
)
.default("the machine's randomness");
const GIVEN: Field = Field::new(
    "given",
    DATABASES,
    "What is in the databases before the call, by the adapter. Each test has a SQLite database of its own in memory: made from the adapter's \
     `seed`, else a copy of its file.",
)
.keys(Named::Adapter);
const HTTP: Field = Field::new("http", ANSWERS, "What APIs answer. A request that no entry answers is sent nowhere, and fails the test.");

/// `app/**/*.test.yaml`
pub(crate) static TEST_FILE: Record = Record {
    name: "test_file",
    noun: "a file of tests",
    doc: "Tests of the tool whose `config.yaml` is in the same folder, or of the prompt in the file of the same name. A key beside `tests` \
          holds for each test that does not have it.",
    fields: &[
        Field::new("tool", Shape::Text, "The tool, by its name.").names(Named::Tool).default("that of the same folder"),
        Field::new("prompt", Shape::Text, "The prompt, by its name, in place of a tool.")
            .names(Named::Prompt)
            .default("that of the file of the same name"),
        Field::new("resource", Shape::Text, "The URI of a resource, in place of a tool."),
        AS,
        HEADERS,
        ENV,
        NOW,
        RANDOM,
        GIVEN,
        HTTP,
        Field::new("tests", Shape::List(&Shape::Record(&TEST)), "The tests.").required(),
    ],
};

static TEST: Record = Record {
    name: "test",
    noun: "a test",
    doc: "One call, and what is expected of it. Without `error` in `expect`, the call must succeed.",
    fields: &[
        Field::new("name", Shape::Text, "What is tested; no other test of the file has it.").required(),
        Field::new("inputs", Shape::Map(&Shape::Any), "The inputs of the tool, or the arguments of the prompt.").keys(Named::Input),
        Field::new(
            "answers",
            Shape::OneOf(&[Shape::Word(&ACTIONS), Shape::Map(&Shape::Any)]),
            "What the caller answers to what the tool asks: one word for all questions, or an object for each key of a request.",
        ),
        AS,
        HEADERS,
        ENV,
        NOW,
        RANDOM,
        GIVEN,
        HTTP,
        Field::new("expect", Shape::Record(&expected::EXPECT), "What the call must give, and leave behind.").required(),
    ],
};

/// What can be done with a question.
const ACTIONS: [&str; 3] = ["accept", "decline", "cancel"];

/// What a test that a program says is called.
const SAID: &str = "call";

/// The most tests of an app.
const MAX_TESTS: usize = 10_000;

/// One test, as its file says.
#[derive(Clone, Debug)]
pub struct AppTest {
    /// Its file below the app's folder.
    pub file: String,
    /// Where it stands: `app/tools/x/x.test.yaml:4:5`.
    pub place: String,
    /// Its name, which no other test of the file has.
    pub name: String,
    /// What it calls.
    pub subject: TestSubject,
    /// Who calls.
    pub caller: Option<TestCaller>,
    /// The inputs.
    pub inputs: Map<String, Json>,
    /// What the caller answers to questions.
    pub answers: Option<TestAnswers>,
    /// Header fields of the request.
    pub headers: Vec<(String, String)>,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// What time it is, in milliseconds since the Unix epoch.
    pub now_ms: Option<u64>,
    /// What random numbers are made from.
    pub random: Option<u64>,
    /// What is in the databases.
    pub databases: Vec<TestDatabase>,
    /// What APIs answer.
    pub http: Vec<HttpAnswer>,
    /// What is expected.
    pub expected: Vec<Expectation>,
    /// Where `snapshot: true` stands, if it does.
    pub snapshot: Option<String>,
}

impl AppTest {
    /// The tool that it calls, where it calls one.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        if let TestSubject::Tool(name) = &self.subject { Some(name) } else { None }
    }
}

/// Who makes the call of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum TestCaller {
    /// The one who has the key of this name.
    Key(String),
    /// One with these claims.
    Claims(Map<String, Json>),
}

/// What the caller of a test answers to questions.
#[derive(Clone, Debug, PartialEq)]
pub enum TestAnswers {
    /// `accept`, `decline` or `cancel`, to all of them.
    All(&'static str),
    /// By the keys of the requests.
    Each(Map<String, Json>),
}

/// Reads every test below some folders. `app` is as far as it could be read.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, folders: &[String], app: &App) -> Vec<AppTest> {
    let mut tests = Vec::new();
    // Nobody runs them where the app is built for a host without the databases that they are for.
    if !compiler.options.connectors.iter().any(|name| name == SQLITE.name) {
        return tests;
    }
    let files = folders.iter().flat_map(|folder| compiler.tree.walk(folder)).filter(|file| is_test(&file.name));
    let files: BTreeSet<String> = files.map(|file| file.path).collect();
    if files.is_empty() {
        return tests;
    }
    let tools = compiler.tool_files.iter().map(|(tool, file)| (parent(file).to_owned(), tool.clone())).collect();
    let app = TestedApp { app, is_whole: !compiler.findings.has_errors(), tools: &tools };
    for path in files {
        if let Some(document) = compiler.document(&path, &TEST_FILE) {
            read(compiler, app, &document, &mut tests);
        }
    }
    tests
}

/// Reads a test that a program says: a file of tests with one test, which is no file of the app.
/// Paths in it are relative to the app's folder.
pub(crate) fn read_said(compiler: &mut Compiler<'_>, app: &App, text: &str) -> Option<AppTest> {
    let mut document = Document::parse(Source::new(SAID, text), &mut compiler.findings)?;
    check(&mut document, &TEST_FILE, CheckMode::strict(false), &mut compiler.findings);
    let mut tests = Vec::new();
    let app = TestedApp { app, is_whole: true, tools: &BTreeMap::new() };
    read(compiler, app, &document, &mut tests);
    tests.pop()
}

fn read(compiler: &mut Compiler<'_>, app: TestedApp<'_>, document: &Document, tests: &mut Vec<AppTest>) {
    let Some(subject) = subject(compiler, app, document) else { return };
    let Some(list) = document.root.at("tests") else { return };
    if list.items().is_empty() {
        compiler.error(document, list.range.clone(), "`tests` is empty", "Write a test: `- { name: …, inputs: { … }, expect: { … } }`.");
    }
    let mut names = BTreeSet::new();
    for node in list.items() {
        let Some(name) = node.at("name").and_then(|name| Some((name.text()?, name.range.clone()))) else { continue };
        if name.0.trim().is_empty() {
            compiler.error(document, name.1, "the `name` of a test is empty", "Say what is tested.");
            continue;
        }
        if !names.insert(name.0.to_owned()) {
            compiler.error(document, name.1, format!("there are two tests `{}`", name.0), "Give one of them another `name`.");
            continue;
        }
        if tests.len() == MAX_TESTS {
            compiler.error(document, name.1, format!("the app has more than {MAX_TESTS} tests"), "Remove some.");
            return;
        }
        let reading = TestReader { app, document, file: &document.root, test: node };
        let test = reading.read(compiler, name.0, document.source.place(name.1.start), subject.clone());
        tests.push(test);
    }
}

/// What the tests of a file call. `None` where that is wrong, which has been said.
fn subject(compiler: &mut Compiler<'_>, app: TestedApp<'_>, document: &Document) -> Option<TestSubject> {
    let mut named = ["tool", "prompt", "resource"].into_iter().filter_map(|key| Some((key, document.root.entry(key)?)));
    let Some((key, entry)) = named.next() else { return beside(compiler, app, document) };
    if let Some((other, entry)) = named.next() {
        let message = format!("the file has both `{key}` and `{other}`");
        compiler.error(document, entry.key_range.clone(), message, "Keep one of them: the tests of a file call one thing.");
        return None;
    }
    let name = entry.value.text()?;
    let TestedApp { app, is_whole, .. } = app;
    let unknown = |known: Vec<&str>, what: &str| {
        (is_whole && !known.contains(&name))
            .then(|| (format!("the {what} `{name}` does not exist"), meant(name, &known, &format!("The {what}s are"))))
    };
    let (subject, wrong) = match key {
        "tool" => (TestSubject::Tool(name.to_owned()), unknown(app.tools.iter().map(|tool| tool.name.as_str()).collect(), "tool")),
        "prompt" => {
            (TestSubject::Prompt(name.to_owned()), unknown(app.prompts.iter().map(|prompt| prompt.name.as_str()).collect(), "prompt"))
        }
        _ => (TestSubject::Resource(name.to_owned()), None),
    };
    if let Some((message, help)) = wrong {
        compiler.error(document, entry.value.range.clone(), message, help);
        return None;
    }
    Some(subject)
}

/// What stands beside a file of tests.
fn beside(compiler: &mut Compiler<'_>, app: TestedApp<'_>, document: &Document) -> Option<TestSubject> {
    let path = document.source.path.clone();
    let folder = parent(&path);
    if let Some(tool) = app.tools.get(folder) {
        return Some(TestSubject::Tool(tool.clone()));
    }
    // `NAME.test.yaml`
    let name = stem(stem(path.rsplit('/').next().unwrap_or_default()));
    if app.app.prompts.iter().any(|prompt| prompt.name == name) {
        return Some(TestSubject::Prompt(name.to_owned()));
    }
    if compiler.tree.list(folder).iter().any(|item| is_config(&item.name)) && !app.is_whole {
        return None;
    }
    let help = "Put it beside the `config.yaml` of a tool, or say `tool: NAME`, `prompt: NAME` or `resource: URI`.";
    compiler.error(document, 0..0, "the file does not say what its tests call", help);
    None
}

/// What one test is read with.
struct TestReader<'a> {
    app: TestedApp<'a>,
    document: &'a Document,
    /// The whole file.
    file: &'a Node,
    test: &'a Node,
}

impl<'a> TestReader<'a> {
    /// The value of a key: the test's, else the file's.
    fn at(&self, key: &str) -> Option<&'a Node> {
        self.test.at(key).or_else(|| self.file.at(key))
    }

    fn read(&self, compiler: &mut Compiler<'_>, name: &str, place: String, subject: TestSubject) -> AppTest {
        let expect = self.test.at("expect");
        AppTest {
            file: self.document.source.path.clone(),
            place,
            name: name.to_owned(),
            caller: self.caller(compiler),
            inputs: self.test.at("inputs").map(object).unwrap_or_default(),
            answers: self.answers(),
            headers: self.pairs(compiler, "headers", "header field", is_header_token),
            variables: self.pairs(compiler, "env", "variable", is_variable),
            now_ms: self.now_ms(compiler),
            random: self.at("random").and_then(|node| if let Data::Int(value) = node.data { u64::try_from(value).ok() } else { None }),
            databases: self.at("given").map(|given| database::read(compiler, self.document, given, self.app)).unwrap_or_default(),
            http: self
                .at("http")
                .map(|list| list.items().iter().filter_map(|node| answer::read(compiler, self.document, node)).collect())
                .unwrap_or_default(),
            expected: expect.map(|node| expected::read(compiler, self.document, node, &subject, self.app)).unwrap_or_default(),
            snapshot: expect
                .and_then(|node| node.entry("snapshot"))
                .filter(|entry| entry.value.bool() == Some(true))
                .map(|entry| self.document.source.place(entry.key_range.start)),
            subject,
        }
    }

    fn caller(&self, compiler: &mut Compiler<'_>) -> Option<TestCaller> {
        let node = self.at("as")?;
        if let Some(key) = node.text() {
            return Some(TestCaller::Key(key.to_owned()));
        }
        if node.text_at("sub").is_none_or(str::is_empty) {
            let help = "Name the caller: `as: { sub: u1 }`.";
            compiler.error(self.document, node.range.clone(), "the claims of `as` have no `sub`, a text", help);
        }
        Some(TestCaller::Claims(object(node)))
    }

    fn answers(&self) -> Option<TestAnswers> {
        let node = self.test.at("answers")?;
        Some(match node.text().and_then(|word| ACTIONS.into_iter().find(|action| *action == word)) {
            Some(action) => TestAnswers::All(action),
            None => TestAnswers::Each(object(node)),
        })
    }

    fn now_ms(&self, compiler: &mut Compiler<'_>) -> Option<u64> {
        let node = self.at("now")?;
        let parsed = node.text()?.parse::<jiff::Timestamp>().ok().and_then(|time| u64::try_from(time.as_millisecond()).ok());
        if parsed.is_none() {
            let help = "Write date, time and zone: `2026-03-01T12:00:00Z`.";
            compiler.error(self.document, node.range.clone(), "`now` is not a time after 1970", help);
        }
        parsed
    }

    /// A map of names and texts.
    fn pairs(&self, compiler: &mut Compiler<'_>, key: &str, what: &str, is_name: fn(&str) -> bool) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for entry in self.at(key).map(Node::entries).unwrap_or_default() {
            if !is_name(&entry.key) {
                let message = format!("`{}` is not a name of a {what}", entry.key);
                compiler.error(self.document, entry.key_range.clone(), message, "Use letters of ASCII, digits, `-` and `_`.");
            } else if let Some(value) = entry.value.written(&self.document.source) {
                pairs.push((entry.key.clone(), value));
            }
        }
        pairs
    }
}

/// A map as JSON.
fn object(node: &Node) -> Map<String, Json> {
    node.entries().iter().map(|entry| (entry.key.clone(), entry.value.json())).collect()
}
