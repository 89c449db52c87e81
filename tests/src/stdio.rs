//! A group against the real `millrace run`, a client's lines on its standard input.
//!
//! What a case says of HTTP is translated: the version in a header field is agreed on by
//! `initialize` first, other fields are variables of the process, so that there is one process for
//! each set of them, and the body is a line. Of the expected answer the body counts, and of an
//! event stream its messages. An answer that differs needs a reason: [`REASONS`].

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    case::{Case, Exchange, Group},
    local::binary,
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that has a client on standard input and output; ends with the value.
pub struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl Pipe {
    /// Starts `millrace run FOLDER`, with more arguments; its log is `log`'s.
    ///
    /// # Panics
    /// Where it cannot be started.
    #[must_use]
    pub fn run(folder: &Path, arguments: &[&str], env: &[(String, String)], log: Stdio) -> Self {
        let mut command = Command::new(binary());
        command.arg("run").arg(folder).args(arguments);
        Self::spawn(command.env_clear().envs(env.iter().cloned()).stderr(log))
    }

    /// Starts a command.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap_or_else(|| panic!("no stdout")));
        Self { child, input, lines: lines_of(output) }
    }

    /// Writes a line.
    ///
    /// # Panics
    /// Where the process takes none.
    pub fn send(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Writes bytes.
    ///
    /// # Panics
    /// Where the process takes none.
    pub fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap_or_else(|| panic!("the input has ended"));
        input.write_all(bytes).and_then(|()| input.flush()).unwrap_or_else(|error| panic!("{error}"));
    }

    /// The next line; `None` at the end of the output.
    ///
    /// # Panics
    /// Where none comes.
    pub fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("no line came"),
        }
    }

    /// The next line as JSON.
    ///
    /// # Panics
    /// Where none comes, or not JSON.
    #[must_use]
    pub fn message(&self) -> Value {
        let line = self.line().unwrap_or_else(|| panic!("the output has ended"));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request, and gives its answer, and what came before it.
    ///
    /// # Panics
    /// Where none comes.
    pub fn ask(&mut self, request: &Value) -> (Vec<Value>, Value) {
        self.send(&request.to_string());
        let mut before = Vec::new();
        loop {
            let message = self.message();
            if is_answer(&message) {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// Ends the input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Ends the input, and waits for the end of the process. Gives what it still said.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn end(mut self) -> (Vec<String>, ExitStatus) {
        self.end_input();
        let rest: Vec<String> = std::iter::from_fn(|| self.line()).collect();
        (rest, self.child.wait().unwrap_or_else(|error| panic!("{error}")))
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines beside everything else, so that a process is never kept by a full pipe.
fn lines_of(output: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}

/// Whether it is the last message for a request: a result, an error, or the answers of a batch.
fn is_answer(message: &Value) -> bool {
    message.is_array() || message.get("result").is_some() || message.get("error").is_some()
}

/// Of which requests and expected answers a reason is true.
type Applies = fn(&Exchange, &str) -> bool;

/// Why an answer may be another one than over HTTP. Each is needed by a case.
pub const REASONS: [(&str, Applies); 9] = [
    ("only POST to `/mcp` exists", |request, _| request.method != "POST" || request.path != "/mcp"),
    ("an empty line is nothing", |request, _| request.body.trim().is_empty()),
    ("the form of the body is not agreed on", |_, expected| ["HTTP 415", "HTTP 406"].iter().any(|status| expected.starts_with(status))),
    ("messages have neither a `Host` nor an `Origin`", |request, expected| {
        has(request, &["host", "origin"]) && (expected.starts_with("HTTP 403") || expected.contains("access-control-"))
    }),
    ("there are no header fields that have to equal the body", |_, expected| expected.contains("\"code\":-32020")),
    ("the version is in the message, or agreed on before", |request, expected| {
        has(request, &["mcp-protocol-version"]) && (expected.contains("\"code\":-32022") || expected.contains("\"code\":-32602"))
    }),
    ("nobody is asked to sign in before a call", |request, expected| {
        expected.contains("\nwww-authenticate: ") && !request.body.contains("\"tools/call\"")
    }),
    ("a refused call has no challenge in its result", |_, expected| expected.contains("\"mcp/www_authenticate\"")),
    ("there are no header fields of a single message", |request, expected| {
        expected.starts_with("HTTP 431") || has(request, &["traceparent"]) || is_repeated(request)
    }),
];

fn has(request: &Exchange, fields: &[&str]) -> bool {
    request.headers.iter().any(|(name, _)| fields.contains(&name.to_ascii_lowercase().as_str()))
}

fn is_repeated(request: &Exchange) -> bool {
    let names = || request.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
    names().enumerate().any(|(place, name)| names().take(place).any(|before| before == name))
}

/// The answers of every case of a group as the corpus has them: the expected one where the messages
/// are the same, or where they may differ. `needed` counts how often each reason was needed.
///
/// # Panics
/// Where the process does not answer.
pub fn run(group: &Group, needed: &mut [usize; REASONS.len()]) -> Vec<Vec<String>> {
    let folder = group.install();
    let mut clients = Clients { group, folder: folder.path(), clients: BTreeMap::new() };
    let mut answers = Vec::new();
    for case in &group.cases {
        let expected = expected(case);
        // Each token is a process of its own; that tokens get there at all takes few.
        if group.has_issuers && case.name != "scopes" {
            answers.push(expected);
            continue;
        }
        assert_eq!(expected.len(), case.requests.len(), "{}", case.expected.display());
        let found = case.requests.iter().zip(expected).map(|(request, expected)| {
            let lines = clients.lines(request, &expected);
            if lines == messages(&expected) {
                return expected;
            }
            let reason = REASONS.iter().position(|(_, applies)| applies(request, &expected));
            match reason {
                Some(reason) => {
                    needed[reason] += 1;
                    expected
                }
                None => format!("stdio\n\n{}", lines.join("\n")),
            }
        });
        answers.push(found.collect());
    }
    answers
}

fn expected(case: &Case) -> Vec<String> {
    let text = std::fs::read_to_string(&case.expected).unwrap_or_default();
    text.trim_end_matches('\n').split("\n###\n").map(str::to_owned).collect()
}

/// The messages of an expected answer.
fn messages(answer: &str) -> Vec<String> {
    let (head, body) = answer.split_once("\n\n").unwrap_or((answer, ""));
    if head.contains("content-type: text/event-stream") {
        return body.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect();
    }
    if body.is_empty() { Vec::new() } else { vec![body.to_owned()] }
}

/// A process for each set of header fields.
struct Clients<'g> {
    group: &'g Group,
    folder: &'g Path,
    clients: BTreeMap<Vec<(String, String)>, (Pipe, String)>,
}

/// Header fields that are no variables of the process.
const OF_A_MESSAGE: [&str; 15] = [
    "accept",
    "accept-encoding",
    "access-control-request-headers",
    "access-control-request-method",
    "cache-control",
    "connection",
    "content-encoding",
    "content-type",
    "host",
    "last-event-id",
    "origin",
    "sec-fetch-mode",
    "traceparent",
    "tracestate",
    "user-agent",
];

impl Clients<'_> {
    /// What comes for a request.
    fn lines(&mut self, request: &Exchange, expected: &str) -> Vec<String> {
        if request.method != "POST" {
            return Vec::new();
        }
        let (pipe, version) = self.client(request);
        let wanted = version_of(request);
        if *version != wanted && wanted != "2026-07-28" {
            let params = json!({ "protocolVersion": wanted, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
            let (_, answer) = pipe.ask(&json!({ "jsonrpc": "2.0", "id": "agree", "method": "initialize", "params": params }));
            let agreed = answer["result"]["protocolVersion"].as_str().unwrap_or_default();
            *version = agreed.to_owned();
        }
        if request.body.contains("\"initialize\"") {
            "another".clone_into(version);
        }
        pipe.send(&request.body.replace('\n', " "));
        // The answer to what wants none is that of the request after it.
        pipe.send(r#"{"jsonrpc":"2.0","id":"after","method":"ping"}"#);
        let is_silent = messages(expected).is_empty();
        let (mut lines, mut is_after, mut is_answered) = (Vec::new(), false, is_silent);
        while !is_after || !is_answered {
            let line = pipe.line().unwrap_or_else(|| panic!("the output ended at {request:?}"));
            if line == r#"{"jsonrpc":"2.0","id":"after","result":{}}"# {
                is_after = true;
                // What is no message at all and what wants no answer has none here, and may have
                // one over HTTP.
                is_answered |= request.body.trim().is_empty() || !request.body.contains("\"id\"");
                continue;
            }
            is_answered |= serde_json::from_str(&line).is_ok_and(|message| is_answer(&message));
            lines.push(line);
        }
        // Over HTTP, this client would not have heard of them.
        if !request.headers.iter().any(|(name, value)| name.eq_ignore_ascii_case("accept") && value.contains("text/event-stream")) {
            lines.retain(|line| serde_json::from_str(line).is_ok_and(|message| is_answer(&message)));
        }
        lines.iter().map(|line| crate::case::comparable(line)).collect()
    }

    fn client(&mut self, request: &Exchange) -> &mut (Pipe, String) {
        let is_own = |name: &str| !OF_A_MESSAGE.contains(&name) && !name.starts_with("mcp-");
        let fields = request.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        let mut fields: Vec<(String, String)> = fields.filter(|(name, _)| is_own(name)).collect();
        fields.sort();
        let (group, folder) = (self.group, self.folder);
        self.clients.entry(fields).or_insert_with_key(|fields| {
            let fields = fields.iter().map(|(name, value)| {
                let variable = format!("MILLRACE_HEADER_{}", name.to_uppercase().replace('-', "_"));
                (variable, value.clone())
            });
            // Without it, `run` would make a key, and answer other than a deployment without one.
            let no_key = ("MILLRACE_STATE_KEY".to_owned(), String::new());
            let env: Vec<_> = std::iter::once(no_key).chain(group.env.iter().cloned()).chain(fields).collect();
            (Pipe::run(folder, &["--log", "off"], &env, Stdio::null()), String::new())
        })
    }
}

/// The version that a request names, or that is assumed.
fn version_of(request: &Exchange) -> String {
    if request.body.contains("io.modelcontextprotocol/protocolVersion") {
        return "2026-07-28".to_owned();
    }
    let named = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-protocol-version"));
    named.map_or("2025-03-26", |(_, version)| version.trim()).to_owned()
}
