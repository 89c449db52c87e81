//! An app with tools on a database, in real workerd.

use std::{io::Write as _, net::TcpStream, path::Path, thread};

use millrace_core::Json;
use millrace_tests::{
    Exchange, case,
    workerd::{Surroundings, Workerd},
};
use serde_json::json;

/// A Worker between a caller and a server; no log of it may have a password.
pub(crate) struct Kit {
    pub(crate) workerd: Workerd,
    secret: &'static str,
    /// What the tools `ask-…` are given where nothing else is said.
    arguments: Json,
    _folder: tempfile::TempDir,
}

impl Kit {
    /// Serves a copy of an app that was built: workerd's configuration lies beside it.
    pub(crate) fn start(built: &Path, surroundings: &Surroundings<'_>, secret: &'static str, arguments: Json) -> Self {
        let folder = tempfile::tempdir().unwrap();
        case::copy(built, folder.path());
        let workerd = Workerd::start_with(folder.path(), surroundings).unwrap_or_else(|said| panic!("{said}"));
        Self { workerd, secret, arguments, _folder: folder }
    }

    /// The one row of the tool `ask-…`.
    pub(crate) fn ask(&self, adapter: &str) -> Json {
        self.ask_with(adapter, &self.arguments)
    }

    pub(crate) fn ask_with(&self, adapter: &str, arguments: &Json) -> Json {
        serde_json::from_str::<Json>(&self.workerd.text(&format!("ask-{adapter}"), arguments)).unwrap()[0].clone()
    }

    /// The code and the message of a tool that fails.
    pub(crate) fn failure(&self, tool: &str) -> (String, String) {
        let arguments = if tool.starts_with("ask") { self.arguments.clone() } else { json!({}) };
        self.workerd.failure_with(tool, &arguments)
    }

    /// A client that asks, and goes away as soon as its statement runs.
    pub(crate) fn leave(&self, tool: &str, runs: impl Fn() -> bool) {
        let request = Exchange::parse(&format!("CALL {tool}"));
        let fields: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\n{fields}content-length: {}\r\n\r\n{}", request.body.len(), request.body);
        let mut client = TcpStream::connect(("127.0.0.1", self.workerd.port)).unwrap();
        client.write_all(head.as_bytes()).unwrap();
        wait_for("the statement runs", runs);
        let runtime = millrace_tests::database::runtime();
        let _inside = runtime.enter();
        client.set_nonblocking(true).unwrap();
        tokio::net::TcpStream::from_std(client).unwrap().set_zero_linger().unwrap();
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        let log = self.workerd.log();
        let is_told = log.contains(self.secret) || log.contains("correct%20horse");
        assert!(thread::panicking() || !is_told, "a secret is logged:\n{log}");
    }
}

#[track_caller]
pub(crate) fn wait_for(what: &str, condition: impl FnMut() -> bool) {
    millrace_tests::wait::until_else(|| format!("it does not come: {what}"), condition);
}
