//! An API cannot lead an adapter to another address: by a redirect, by the URL of a next page, or
//! by what the adapter itself names.

use std::net::SocketAddr;

use millrace_core::{
    ErrorKind, Json,
    app::Access,
    ports::{Command, Query},
};
use millrace_tests::{
    database::{Database, connection, query},
    files,
    scripted::{Reply, Scripted},
};
use serde_json::json;
use tempfile::TempDir;

/// Where an API could lead to instead of `{}`, the place of another server, `127.0.0.1:PORT`.
const AWAY: [&str; 22] = [
    "http://{}/v1/x",
    "//{}/v1/x",
    "http://me@{}/v1/x",
    "http://127.0.0.1:1@{}/v1/x",
    "https://{}/v1/x",
    "HTTP://{}/v1/x",
    "http://localhost:{port}/v1/x",
    "http://2130706433:{port}/v1/x",
    "http://0x7f.1:{port}/v1/x",
    "http://0177.0.0.1:{port}/v1/x",
    "http://[::1]:{port}/v1/x",
    "http://[::ffff:7f00:1]:{port}/v1/x",
    "http:\\\\{}\\v1\\x",
    "/\\{}/v1/x",
    "\\\\{}/v1/x",
    "http:///{}/v1/x",
    "http://{}#@own/v1/x",
    "file:///etc/passwd",
    "data:application/json,[]",
    "javascript:x",
    "ftp://{}/v1/x",
    "http://{}\t/v1/x",
];
/// Places on the origin of the API that are not below its base path.
const BESIDE: [&str; 7] = ["/", "/v1x", "/v2/x", "/v1/../x", "/v1/%2e%2e/x", "../x", "/v1/a/..%2f..%2fx"];

/// Where an API could lead to; `other` is the place of another server.
fn places(other: SocketAddr) -> Vec<String> {
    let (port, other) = (other.port().to_string(), other.to_string());
    AWAY.iter().chain(&BESIDE).map(|place| place.replace("{port}", &port).replace("{}", &other)).collect()
}

/// Hosts that are not public.
const PRIVATE: [&str; 12] = [
    "127.0.0.1",
    "localhost",
    "a.localhost",
    "2130706433",
    "0x7f000001",
    "127.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
];

/// An app whose API leads to other places, and adapters with hosts that are not public.
pub(crate) struct Astray {
    own: Scripted,
    other: Scripted,
    /// How many places there are.
    count: usize,
    /// The folder of the app.
    pub(crate) folder: TempDir,
}

impl Astray {
    /// `adapter` is the text of the API's adapter, whose URL has the path `/v1`.
    pub(crate) fn start(adapter: &str) -> Self {
        let other = Scripted::with(vec![Reply::Whole(200, "application/json", "[\"of the other server\"]".to_owned())]);
        let port = other.address.port();
        let locations = places(other.address);
        let count = locations.len();
        let own = Scripted::start(move |_, request| {
            let path = request.line.split(' ').nth(1).unwrap_or_default();
            let (way, number) = path.trim_start_matches("/v1/").split_once('/').unwrap();
            let location = &locations[number.parse::<usize>().unwrap()];
            match way {
                "moved" => Reply::Fields(302, format!("location: {location}"), String::new()),
                _ => Reply::Whole(200, "application/json", json!({"items": [1], "next": location}).to_string()),
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| files::write(folder.path(), path, text);
        write("millrace.yaml", "name: far\n");
        write("app/adapters/far.yaml", adapter);
        for (tool, more) in [("moved", ""), ("linked", "result: /items\npage: { link: /next }\n")] {
            let request = format!("request: GET /{tool}/{{{{ inputs.n }}}}\n{more}");
            let text = format!("description: x\nuse: far\n{request}inputs: {{ n: {{ type: int }} }}\n");
            write(&format!("app/tools/{tool}/config.yaml"), &text);
        }
        for (number, host) in PRIVATE.iter().enumerate() {
            let adapter = format!("connector: http\nconnection_string: \"https://{host}:{port}/v1\"\n");
            write(&format!("app/adapters/p{number}.yaml"), &adapter);
            write(&format!("app/tools/p{number}/config.yaml"), &format!("description: x\nuse: p{number}\nrequest: GET /x\n"));
        }
        Self { own, other, count, folder }
    }

    /// The address of the API, `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.own.address)
    }

    /// Calls every tool with every place: nobody gets there. `call` gives the result of a tool.
    pub(crate) fn check(&self, call: impl Fn(&str, Json) -> Json) {
        for number in 0..self.count {
            for tool in ["moved", "linked"] {
                let before = self.own.count();
                let result = call(tool, json!({"n": number}));
                assert!(result["isError"] == true && self.own.count() == before + 1, "{tool} {number}: {result}");
            }
        }
        for (number, host) in PRIVATE.iter().enumerate() {
            let result = call(&format!("p{number}"), json!({}));
            let error = &result["_meta"]["millrace/error"];
            let is_refused = error["message"].as_str().is_some_and(|message| message.contains("does not have a public address"));
            assert!(error["code"] == "QUERY_REFUSED" && is_refused, "{host}: {result}");
        }
        assert!(self.other.count() == 0 && self.count >= 29, "{:?}", self.other.received());
    }
}

fn run(database: &Database, text: &str) -> Result<usize, ErrorKind> {
    let query = Query { access: Access::Read, command: Command::Statement { text, values: &[] }, ..query(text) };
    database.run_with(&query).map(|rows| rows.count()).map_err(|error| error.kind)
}

#[test]
fn nobody_is_led_elsewhere() {
    let other = Scripted::with(vec![Reply::Whole(200, "application/json", "[1]".to_owned())]);
    let mut attempts = 0;
    for location in places(other.address) {
        let link = location.replace('\\', "\\\\").replace('\t', "\\t");
        let ways = [
            (301, r#"{"method": "GET", "path": ["/a/b"]}"#),
            (307, r#"{"method": "GET", "path": ["/a/b"]}"#),
            (308, r#"{"method": "HEAD", "path": ["/a/b"]}"#),
            (302, r#"{"method": "POST", "path": ["/a/b"], "reads": true}"#),
            (0, r#"{"method": "GET", "path": ["/a/b"], "result": "/items", "page": {"link": "/next", "max": 9}}"#),
            (1, r#"{"method": "GET", "path": ["/a/b"], "page": {"link": true, "max": 9}}"#),
        ];
        for (status, text) in ways {
            let (location, link) = (location.clone(), link.clone());
            let own = Scripted::start(move |number, request| match (number, status) {
                (0, 0) => Reply::Whole(200, "application/json", format!(r#"{{"items": [1], "next": "{link}"}}"#)),
                (0, 1) => Reply::Fields(200, format!("link: <{location}>; rel=next"), "[1]".to_owned()),
                (0, status) => Reply::Fields(status, format!("location: {location}"), String::new()),
                _ => panic!("{location}: {request:?}"),
            });
            let url = format!("http://{}/v1", own.address);
            let database = Database::open(connection("http", &url, &[("allow_private", "a test"), ("bearer", "hunter2")]));
            let found = run(&database, text);
            // What is not a URL, or is the page itself, ends the pages.
            assert!(found.is_err(), "{status} {text}: {found:?}");
            assert_eq!(own.received().len(), 1, "{status} {text}");
            attempts += 1;
        }
    }
    assert!(other.received().is_empty() && attempts >= 80, "{attempts} {:?}", other.received());
}

#[test]
fn a_listed_origin_gets_no_credentials() {
    let other = Scripted::with(vec![Reply::Whole(200, "application/json", "[1, 2]".to_owned())]);
    let listed = format!("http://{}", other.address);
    let location = format!("location: {listed}/x?y");
    let own = Scripted::with(vec![Reply::Fields(302, location, String::new())]);
    let url = format!("http://{}/v1", own.address);
    let options = [("allow_private", "a test"), ("bearer", "hunter2"), ("headers", "X-Secret: hunter2"), ("redirects", listed.as_str())];
    let database = Database::open(connection("http", &url, &options));
    let text = r#"{"method": "GET", "path": ["/a"], "headers": [["x-own", "hunter2"]]}"#;
    assert_eq!(run(&database, text), Ok(2));
    let (own, other) = (own.received(), other.received());
    assert!(own[0].head.matches("hunter2").count() == 3, "{own:?}");
    assert!(other[0].line == "GET /x?y HTTP/1.1" && !other[0].head.contains("hunter2"), "{other:?}");
}

#[test]
fn addresses_that_are_not_public_are_refused() {
    let own = Scripted::with(vec![Reply::Whole(200, "application/json", "[1]".to_owned())]);
    let port = own.address.port();
    for host in PRIVATE {
        let url = format!("https://{host}:{port}/v1");
        let mut connection = connection("http", &url, &[]);
        let text = r#"{"method": "GET", "path": ["/a"]}"#;
        assert_eq!(run(&Database::open(connection.clone()), text), Err(ErrorKind::Denied), "{host}");
        // The server that gives tokens is held to the same.
        connection.connection_string = millrace_core::secret::Secret::new("https://api.example.com".to_owned());
        connection.options = [("oauth_token_url", url.as_str()), ("oauth_client_id", "a"), ("oauth_client_secret", "b")]
            .map(|(name, value)| (name.to_owned(), millrace_core::secret::Secret::new(value.to_owned())))
            .into();
        assert_eq!(run(&Database::open(connection), text), Err(ErrorKind::Denied), "{host}");
    }
    assert!(own.received().is_empty());
}
