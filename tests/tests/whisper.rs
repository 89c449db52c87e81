//! Values with characters that nobody sees, on every way to a model: none arrives. The app is that
//! of the group `whisper` of the corpus.

use std::fmt::Write as _;

use millrace_core::Json;
use millrace_tests::{
    Case, Group,
    case::{Exchange, groups},
    direct, tries,
};
use serde_json::json;

/// How many values are sent: in all suites, and in a sample.
const VALUES: [usize; 2] = [1000, 150];

/// What values are made of: what nobody sees, and what is seen around it. None of it stands where a
/// script or an emoji needs it.
const HIDDEN: [&str; 40] = [
    "\u{e0001}",
    "\u{e0041}",
    "\u{e007f}",
    "\u{e0020}",
    "\u{202a}",
    "\u{202b}",
    "\u{202c}",
    "\u{202d}",
    "\u{202e}",
    "\u{2066}",
    "\u{2067}",
    "\u{2068}",
    "\u{2069}",
    "\u{200e}",
    "\u{200f}",
    "\u{61c}",
    "\u{200b}",
    "\u{200c}",
    "\u{200d}",
    "\u{2060}",
    "\u{feff}",
    "\u{180e}",
    "\u{ad}",
    "\u{fe00}",
    "\u{fe0f}",
    "\u{fe0e}",
    "\u{e0100}",
    "\u{e01ef}",
    "\u{fff9}",
    "\u{fffa}",
    "\u{fffb}",
    "\u{1}",
    "\u{1b}",
    "\u{7f}",
    "\u{80}",
    "\u{9b}",
    "\u{3164}",
    "\u{2063}",
    "\u{206f}",
    "\u{180b}",
];
const SEEN: [&str; 16] = ["a", "Z", "7", " ", "ß", "漢", "<b>", "&", "\"", "\\", "'", "{", "|", "\n", "`", "😀\u{e0100}"];

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn value(&mut self) -> String {
        let mut text = String::from("x");
        for _ in 0..1 + self.below(30) {
            let of: &[&str] = if self.below(2) == 0 { &HIDDEN } else { &SEEN };
            text.push_str(of[self.below(of.len())]);
        }
        text.push_str(HIDDEN[self.below(HIDDEN.len())]);
        text
    }
}

fn is_hidden(character: char) -> bool {
    HIDDEN.iter().any(|hidden| hidden.starts_with(character))
}

/// Joiners and a variant where they belong, in a row of the database and in a notice of ours.
const BELONGING: [&str; 3] = ["👩\u{200d}👩\u{200d}👧", "می\u{200c}خ", "⚠\u{fe0f}"];

/// What of an answer is hidden, in its texts as a client sees them. JSON in a text is seen as it is
/// written.
fn hidden_in(value: &Json, found: &mut String) {
    match value {
        Json::String(text) if text.contains(is_hidden) => {
            // Writing to a string does not fail.
            let _ = writeln!(found, "{text:?}");
        }
        Json::Array(elements) => elements.iter().for_each(|element| hidden_in(element, found)),
        Json::Object(members) => members.iter().for_each(|(name, member)| {
            hidden_in(&name.as_str().into(), found);
            hidden_in(member, found);
        }),
        _ => {}
    }
}

/// A request of MCP 2026-07-28 whose caller hears everything and can be asked.
fn request(method: &str, name: &str, mut params: Json) -> Exchange {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        "io.modelcontextprotocol/logLevel": "debug",
        "progressToken": 1,
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    let mut headers: Vec<(String, String)> = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    headers.extend((!name.is_empty()).then(|| ("mcp-name".to_owned(), name.to_owned())));
    Exchange { method: "POST".to_owned(), path: "/mcp".to_owned(), headers, body: body.to_string() }
}

fn call(tool: &str, arguments: &Json) -> Exchange {
    request("tools/call", tool, json!({ "name": tool, "arguments": arguments }))
}

#[test]
fn no_value_whispers_to_a_model() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let tools = [
        "bound",
        "bound-presented",
        "bound-toon",
        "said",
        "valued",
        "declared-object",
        "built",
        "fails",
        "throws",
        "confirmed",
        "told",
        "empty",
        "ruled",
    ];
    let mut requests: Vec<Exchange> = Vec::new();
    let values = tries(VALUES[0], VALUES[1]);
    for _ in 0..values {
        let text = numbers.value();
        requests.extend(tools.map(|tool| call(tool, &json!({ "text": text }))));
        // What does not fit is repeated, and so are names.
        requests.push(call("checked", &json!({ "word": text, text.as_str(): text })));
        let uri: String = text.bytes().fold(String::from("letter://"), |uri, byte| uri + &format!("%{byte:02X}"));
        requests.push(request("resources/read", &uri, json!({ "uri": uri })));
        requests.push(request("prompts/get", "write", json!({ "name": "write", "arguments": { "text": text } })));
        requests.push(request("prompts/get", "write", json!({ "name": "write", "arguments": { text.as_str(): text } })));
    }
    let completes = json!({ "ref": { "type": "ref/prompt", "name": "write" }, "argument": { "name": "text", "value": "" } });
    requests
        .extend([request("resources/read", "note://all", json!({ "uri": "note://all" })), request("completion/complete", "", completes)]);
    requests.extend(["rows", "pivoted", "presented", "toon", "mapped"].map(|tool| call(tool, &json!({}))));
    let sent = requests.len();
    let group = groups().into_iter().find(|group| group.name == "whisper").expect("the group `whisper`");
    let case = Case { name: "values".to_owned(), expected: std::path::PathBuf::new(), requests };
    let group = Group { cases: vec![case], env: [("MILLRACE_STATE_KEY".to_owned(), "k".repeat(64))].into(), ..group };
    let answers = direct::run(&group).remove(0);
    assert_eq!(answers.len(), sent);
    let (mut problems, mut escapes) = (String::new(), 0);
    for (request, answer) in group.cases[0].requests.iter().zip(&answers) {
        let answer = BELONGING.iter().fold(answer.clone(), |answer, belonging| answer.replace(belonging, ""));
        let messages: Vec<Json> = answer
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok())
            .filter(Json::is_object)
            .collect();
        assert!(!messages.is_empty(), "{}\n{answer}", request.body);
        for message in &messages {
            let mut found = String::new();
            hidden_in(message, &mut found);
            if !found.is_empty() {
                problems += &format!("{}\n{found}\n", request.body);
            }
            escapes += message.to_string().matches("[U+").count();
        }
    }
    assert!(problems.is_empty(), "{}", problems.chars().take(4000).collect::<String>());
    // They arrive, only not hidden.
    assert!(escapes > 20 * values, "{escapes}");
}
