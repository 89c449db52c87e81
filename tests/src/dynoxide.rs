//! DynamoDB with PartiQL as the crate `dynoxide-rs` implements it, installed by `scripts/setup`.

use std::{
    ffi::OsStr,
    net::TcpStream,
    path::Path,
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use millrace_core::{Json, ports::Connection};
use serde_json::json;

use crate::{
    database::connection,
    dynalite,
    process::{Process, WatchedProcess, free_port, tool},
};

/// The region of every test.
pub const REGION: &str = "eu-central-1";

/// A running server whose tables outlive it; ends with the value.
pub struct Dynoxide {
    /// The server.
    pub process: Process,
}

impl Dynoxide {
    /// Starts a server without tables.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start() -> Self {
        let program = tool("dynoxide/bin/dynoxide");
        let process = Process::start(move |folder, port| {
            let mut command = Command::new(&program);
            command.args(["serve", "--port"]).arg(port.to_string()).arg("--db-path").arg(folder.join("tables.db"));
            command
        });
        Self { process }
    }

    /// Makes a table with the key `id`, a text.
    ///
    /// # Panics
    /// Where that fails.
    pub fn create(&self, table: &str) {
        let made = self.call(
            "CreateTable",
            &json!({
                "TableName": table, "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
                "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
            }),
        );
        assert_eq!(made["TableDescription"]["TableName"], table, "{made}");
    }

    /// Every item of a table.
    ///
    /// # Panics
    /// Where that fails.
    #[must_use]
    pub fn items(&self, table: &str) -> Vec<Json> {
        let answer = self.call("Scan", &json!({ "TableName": table }));
        answer["Items"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Calls the server's API.
    ///
    /// # Panics
    /// Where it gives no JSON.
    #[must_use]
    pub fn call(&self, operation: &str, body: &Json) -> Json {
        dynalite::call(self.process.port, operation, body)
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.process.port)
    }

    /// The settings of an adapter on it.
    #[must_use]
    pub fn connection(&self) -> Connection {
        at(&self.endpoint())
    }
}

/// The settings of an adapter on a server with DynamoDB's protocol.
#[must_use]
pub fn at(endpoint: &str) -> Connection {
    let options = [("endpoint", endpoint), ("access_key_id", "AKIDEXAMPLE"), ("secret_access_key", "hunter2hunter2")];
    connection("dynamodb", &format!("dynamodb://{REGION}"), &options)
}

/// The tables of a group, each with a name of its own on a server that the groups of this process
/// share.
pub struct LazyTables {
    suffix: usize,
    /// What makes them: a request of the API in each line, `{"CreateTable": {…}}`. `@` stands
    /// behind the name of a table.
    requests: String,
}

impl LazyTables {
    /// Tables that these requests make.
    #[must_use]
    pub fn new(requests: String) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self { suffix: COUNT.fetch_add(1, Ordering::Relaxed), requests }
    }

    /// The variables that an app finds them by.
    #[must_use]
    pub fn variables(&self) -> [(String, String); 2] {
        [
            ("DYNAMODB".to_owned(), format!("http://127.0.0.1:{}", shared())),
            ("SHOWN_ORDERS".to_owned(), format!("orders{}", self.name_end())),
        ]
    }

    fn name_end(&self) -> String {
        format!("-{}", self.suffix)
    }

    /// Makes them, anew where they were made before.
    ///
    /// # Panics
    /// Where that fails.
    pub fn make(&self) {
        for line in self.requests.replace('@', &self.name_end()).lines() {
            let request: Json = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            for (operation, body) in request.as_object().into_iter().flatten() {
                if operation == "CreateTable" {
                    let _ = dynalite::call(shared(), "DeleteTable", &json!({ "TableName": body["TableName"] }));
                }
                let answer = dynalite::call(shared(), operation, body);
                assert!(answer.get("__type").is_none(), "{answer}: {line}");
            }
        }
    }
}

/// The port of a server in memory, which ends with this process.
fn shared() -> u16 {
    static SHARED: OnceLock<(WatchedProcess, u16)> = OnceLock::new();
    let start = || {
        let (program, port) = (tool("dynoxide/bin/dynoxide"), free_port());
        let text = port.to_string();
        let command = [program.as_os_str(), OsStr::new("serve"), OsStr::new("--port"), OsStr::new(&text)];
        let process = WatchedProcess::start(Command::new("/bin/sh"), "KILL", &command, Path::new("/dev/null"));
        crate::wait::until("dynoxide does not come up", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        (process, port)
    };
    SHARED.get_or_init(start).1
}
