//! AWS Secrets Manager and the Parameter Store as the Python package `moto` implements them,
//! installed by `scripts/setup`: it checks signatures and the rights of the user.

use std::{fs, process::Command};

use millrace_core::Json;

use crate::{
    case::root,
    process::{Process, tool},
};

/// A running server with secrets below `shop/prod/` and parameters below `/shop/`; ends with the
/// value.
pub struct AwsSecretsServer {
    /// The server.
    pub process: Process,
    keys: Json,
}

impl AwsSecretsServer {
    /// Starts and fills a server.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = folder.path().join("keys.json");
        let (python, script, written) = (tool("servers-venv/bin/python"), root().join("tests/servers/aws_secrets.py"), file.clone());
        let process = Process::start(move |_, port| {
            let mut command = Command::new(&python);
            command.arg(&script).arg(port.to_string()).arg(&written);
            command
        });
        crate::wait::until("the server of secrets is not filled", || file.exists());
        let keys = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self { process, keys: keys.unwrap_or_else(|| panic!("the server of secrets names no keys")) }
    }

    /// The variables of a deployment whose secrets are in `store` of this server; `user` is
    /// `reader` or `stranger`.
    ///
    /// # Panics
    /// Where there is no such user.
    #[must_use]
    pub fn env(&self, store: &str, user: &str) -> Vec<(String, String)> {
        let key = |name: &str| self.keys[user][name].as_str().unwrap_or_else(|| panic!("the user `{user}` does not exist"));
        let address = format!("http://127.0.0.1:{}", self.process.port);
        let variables = [
            ("MILLRACE_SECRETS", store),
            ("AWS_ENDPOINT_URL", &address),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", key("id")),
            ("AWS_SECRET_ACCESS_KEY", key("secret")),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }
}
