//! Hostile values through every kind of place of a request: what a server receives never differs in
//! host, shape of the path, names of fields or shape of the body, and each value arrives to the
//! byte. What arrived is read by a library that is not ours.

use std::path::Path;

use millrace_core::Json;
use millrace_tests::{
    database::runtime,
    files::write,
    sample,
    scripted::{Received, Reply, Scripted},
};
use serde_json::json;
use url::{Url, form_urlencoded::parse};

use crate::in_process::{call, endpoint_in, hostile_values};

/// The tool that has each kind of place.
const ALL: &str = "description: x
use: far
request: POST /a/{{ inputs.s }}/b-{{ inputs.s }}.json?q={{ inputs.s }}&again={{ inputs.list }}&joined={{ inputs.list | csv }}&framed=(%22{{ inputs.s }}%22)
headers: { X-Value: \"{{ inputs.h }}\", X-Framed: \"<{{ inputs.h }}>\" }
body: { value: \"{{ inputs.s }}\", framed: \"<{{ inputs.s }}>\", list: \"{{ inputs.list }}\", any: \"{{ inputs.any }}\", deep: [ { \"k\": \"{{ inputs.s }}\" } ] }
inputs:
  s: { type: string }
  h: { type: string, optional: true }
  list: { type: array, items: { type: string } }
  any: { type: json }
";
/// The tool with a form.
const FORM: &str = "description: x
use: far
request: POST /form
form: { value: \"{{ inputs.s }}\", again: \"{{ inputs.list }}\", framed: \"a={{ inputs.s }}&b\" }
inputs:
  s: { type: string }
  list: { type: array, items: { type: string } }
";
/// What a request has beside `host` and `content-length`, which are the client's.
const FIELDS: [&str; 8] = ["accept", "accept-encoding", "authorization", "connection", "content-type", "user-agent", "x-framed", "x-value"];

/// Writes an app with both tools and this adapter.
pub(crate) fn app(folder: &Path, adapter: &str) {
    write(folder, "millrace.yaml", "name: far\n");
    write(folder, "app/adapters/far.yaml", adapter);
    write(folder, "app/tools/all/config.yaml", ALL);
    write(folder, "app/tools/form/config.yaml", FORM);
}

/// So many values: those of the table, and made-up ones of parts that have a meaning somewhere.
pub(crate) fn values(count: usize) -> Vec<String> {
    const PARTS: [&str; 24] = [
        "/",
        "\\",
        "..",
        ".",
        "%2e",
        "%2f",
        "%00",
        "%",
        "?",
        "#",
        "&",
        "=",
        "+",
        ";",
        ",",
        ":",
        "@",
        "\"",
        "'",
        "\r\n",
        "\0",
        "ü🙂",
        " ",
        "//evil.example",
    ];
    let mut values = hostile_values();
    values.extend(PARTS.map(str::to_owned));
    // The same in each run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let known = values.clone();
    while values.len() < count {
        let length = 1 + next(5);
        let made = (0..length).map(|_| if next(6) == 0 { known[next(known.len())].as_str() } else { PARTS[next(PARTS.len())] });
        let made: String = made.collect();
        values.push(made.chars().take(400).collect());
    }
    values.truncate(count);
    values
}

/// A server that records what arrives, and knows what should.
pub(crate) struct Recorded {
    server: Scripted,
    /// `http://127.0.0.1:PORT/base`
    pub(crate) url: String,
}

impl Recorded {
    pub(crate) fn start() -> Self {
        let server = Scripted::start(|_, _| Reply::Whole(200, "application/json", "{\"arrived\":true}".to_owned()));
        Self { url: format!("http://{}/base", server.address), server }
    }

    /// Calls both tools with a value, and looks at what arrives.
    pub(crate) fn check(&self, value: &str, call: impl Fn(&str, Json) -> Json) {
        let (host, authority) = (self.server.address.to_string(), self.url.clone());
        let list = json!([value, "one", value]);
        let header = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')).then_some(value);
        let mut arguments = json!({"s": value, "list": list, "any": {value: [value, {"a.b$": value}]}});
        if let Some(header) = header {
            arguments["h"] = header.into();
        }
        let before = self.server.count();
        let result = call("all", arguments.clone());
        let arrived = self.server.received_after(before);
        // It stands in the path and the query eight times, which may be too long.
        let coded: usize = value.bytes().map(|byte| if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) { 1 } else { 3 }).sum();
        if 8 * coded > 47_800 || value.is_empty() || value.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
            assert!(result["isError"] == true && arrived.is_empty(), "{value:?}: {result}");
        } else {
            assert!(result["isError"] != true, "{value:?}: {result}");
            let [arrived] = arrived.as_slice() else { panic!("{value:?}: {arrived:?}") };
            looks_as_written(arrived, &host, header);
            let url = url_of(arrived, &authority);
            let segments: Vec<String> = url.path_segments().unwrap().map(decoded).collect();
            assert_eq!(segments, ["base", "a", value, &format!("b-{value}.json")], "{arrived:?}");
            let framed = format!("(\"{value}\")");
            let expected = [("q", value), ("again", value), ("again", "one"), ("again", value), ("joined", ""), ("framed", &framed)];
            let found: Vec<_> = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
            assert_eq!(found.len(), expected.len(), "{arrived:?}");
            for (place, ((name, found), (expected_name, expected))) in found.iter().zip(expected).enumerate() {
                let expected = if place == 4 { format!("{value},one,{value}") } else { expected.to_owned() };
                assert_eq!((name.as_str(), found.as_str()), (expected_name, expected.as_str()), "{arrived:?}");
            }
            // A comma of the value is not one of the list.
            let raw = url.query().unwrap().split('&').nth(4).unwrap();
            assert_eq!(raw.matches(',').count(), 2, "{raw}");
            let body: Json = serde_json::from_str(&arrived.body).unwrap();
            let framed = format!("<{value}>");
            let expected =
                json!({"value": value, "framed": framed, "list": list, "any": {value: [value, {"a.b$": value}]}, "deep": [{"k": value}]});
            assert_eq!(body, expected);
        }
        let before = self.server.count();
        let result = call("form", json!({"s": value, "list": list}));
        let arrived = self.server.received_after(before);
        let [arrived] = arrived.as_slice() else { panic!("{value:?}: {result} {arrived:?}") };
        assert_eq!(url_of(arrived, &authority).path(), "/base/form");
        let framed = format!("a={value}&b");
        let expected = [("value", value), ("again", value), ("again", "one"), ("again", value), ("framed", &framed)];
        let found: Vec<_> = parse(arrived.body.as_bytes()).collect();
        assert_eq!(found.iter().map(|(name, value)| (&**name, &**value)).collect::<Vec<_>>(), expected, "{arrived:?}");
    }
}

/// Method, version, host and the set of header fields are what the author wrote.
fn looks_as_written(arrived: &Received, host: &str, header: Option<&str>) {
    assert!(arrived.line.starts_with("POST /base/a/") && arrived.line.ends_with(" HTTP/1.1"), "{arrived:?}");
    assert_eq!(arrived.line.matches(' ').count(), 2, "{arrived:?}");
    let fields: Vec<(String, &str)> = arrived
        .head
        .lines()
        .map(|line| line.split_once(':').unwrap_or_else(|| panic!("{arrived:?}")))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let only = |name: &str| {
        let found: Vec<&str> = fields.iter().filter(|(known, _)| known == name).map(|(_, value)| *value).collect();
        let [value] = found.as_slice() else { panic!("{name}: {arrived:?}") };
        *value
    };
    assert_eq!((only("host"), only("content-length")), (host, arrived.body.len().to_string().as_str()));
    let framed = format!("<{}>", header.unwrap_or_default());
    assert_eq!(only("x-framed"), framed);
    assert_eq!(only("content-type"), "application/json");
    if let Some(header) = header {
        assert_eq!(only("x-value"), header.trim());
    }
    // Those of the client; a Worker's says that no cache may answer.
    const CLIENTS: [&str; 4] = ["host", "content-length", "cache-control", "pragma"];
    for (name, _) in &fields {
        let is_known = FIELDS.contains(&name.as_str()) || CLIENTS.contains(&name.as_str());
        assert!(is_known && (name != "x-value" || header.is_some()), "{name}: {arrived:?}");
    }
}

/// The URL of a request, as a library reads it.
fn url_of(arrived: &Received, base: &str) -> Url {
    let target = arrived.line.split(' ').nth(1).unwrap();
    let base = Url::parse(base).unwrap();
    let url = base.join(target).unwrap();
    assert_eq!((url.origin(), url.fragment(), url.username()), (base.origin(), None, ""), "{arrived:?}");
    // The library changes nothing of it: no step leads up, and no character needed a code.
    assert_eq!(&url[url::Position::BeforePath..], target);
    url
}

/// A segment without its percent codes. It has no `+`, `&` or `=` of its own.
fn decoded(segment: &str) -> String {
    assert!(!segment.contains(['+', '&', '=']), "{segment}");
    parse(segment.as_bytes()).next().map(|(text, _)| text.into_owned()).unwrap_or_default()
}

#[test]
fn hostile_values_stay_in_their_places() {
    let server = Recorded::start();
    let folder = tempfile::tempdir().unwrap();
    let adapter =
        format!("connector: http\nconnection_string: {}\noptions: {{ allow_private: the API of a test, bearer: t.o.k }}\n", server.url);
    app(folder.path(), &adapter);
    let endpoint = endpoint_in(folder.path());
    let runtime = runtime();
    let values = values(10_000);
    assert!(values.len() == 10_000 && hostile_values().iter().all(|value| values.contains(value)));
    for value in sample(values, 10) {
        server.check(&value, |tool, arguments| {
            let result = tokio::task::LocalSet::new().block_on(&runtime, call(&endpoint, tool, arguments));
            json!({"isError": result.is_error})
        });
    }
}
