//! The header fields that mirror the body: what a gateway read must be what the server does.

use millrace_core::protocol::QUIRKS;
use serde_json::{Value as Json, json};

use super::fakes::{Ask, endpoint, shop};

fn check(cases: impl IntoIterator<Item = (&'static str, Ask, bool)>) {
    let endpoint = endpoint(shop());
    for (what, ask, passes) in cases {
        let seen = ask.send(&endpoint);
        let expected = if passes { (200, None) } else { (400, Some(-32020)) };
        assert_eq!((seen.status, seen.code()), expected, "{what}: {}", seen.text);
    }
}

#[test]
fn names() {
    let call = |name: &str| Ask::modern("tools/call", json!({"name": "echo"})).set("mcp-name", name);
    let greet = Ask::modern("prompts/get", json!({"name": "greet", "arguments": {"name": "x"}}));
    let read = Ask::modern("resources/read", json!({"uri": "docs://manual"}));
    check([
        ("equal", call("echo"), true),
        ("blanks", call("  echo "), true),
        ("missing", call("").without("mcp-name"), false),
        ("empty", call(""), false),
        ("other case", call("Echo"), false),
        ("other", call("locked"), false),
        ("twice", call("echo").with("Mcp-Name", "echo"), true),
        ("twice, different", call("echo").with("Mcp-Name", "locked"), false),
        ("joined", call("echo, echo"), true),
        ("joined without a blank", call("echo,echo ,\techo"), true),
        ("joined, different", call("echo, locked"), false),
        ("joined with nothing", call("echo,"), false),
        ("joined with its own beginning", call("echo, ec"), false),
        ("joined, base64", call("=?base64?ZWNobw==?=, =?base64?ZWNobw==?="), true),
        ("joined, base64 of another", call("=?base64?bG9ja2Vk?=, =?base64?bG9ja2Vk?="), false),
        ("joined, base64 and plain", call("=?base64?ZWNobw==?=, echo"), false),
        ("twice, base64 and plain", call("=?base64?ZWNobw==?=").with("mcp-name", "echo"), false),
        ("base64", call("=?base64?ZWNobw==?="), true),
        ("base64 of another", call("=?base64?bG9ja2Vk?="), false),
        ("base64 in capitals", call("=?BASE64?ZWNobw==?="), false),
        ("no padding", call("=?base64?ZWNobw?="), false),
        ("web alphabet", call("=?base64?_-8=?="), false),
        ("blank inside", call("=?base64?ZWNo bw==?="), false),
        ("spare bits", call("=?base64?ZWNobx==?="), false),
        ("no UTF-8", call("=?base64?//8=?="), false),
        ("nothing", call("=?base64??="), false),
        ("prompt", greet.clone(), true),
        ("prompt, missing", greet.without("mcp-name"), false),
        ("resource", read.clone(), true),
        ("resource, other", read.set("mcp-name", "docs://logo"), false),
        ("a name that the body has not", Ask::modern("tools/call", json!({})).with("mcp-name", "echo"), false),
        ("no name needed", Ask::modern("tools/list", json!({})).with("mcp-name", "echo"), true),
    ]);
}

#[test]
fn params() {
    let call = |arguments: Json| Ask::modern("tools/call", json!({"name": "echo", "arguments": arguments}));
    let region = |region: &str| call(json!({"region": "eu west"})).with("mcp-param-region", region);
    let count = |count: Json, field: &str| call(json!({"count": count})).with("mcp-param-count", field);
    check([
        ("equal", region("eu west"), true),
        ("other case of the name", call(json!({"region": "eu"})).with("MCP-PARAM-REGION", "eu"), true),
        ("base64", region("=?base64?ZXUgd2VzdA==?="), true),
        ("bad base64", region("=?base64?ZXUgd2VzdA?="), false),
        ("other", region("us"), false),
        ("missing", call(json!({"region": "eu"})), false),
        ("twice", region("eu west").with("mcp-param-region", "eu west"), true),
        ("joined", region("eu west, eu west"), true),
        ("joined, different", region("eu west, us"), false),
        ("a text with a comma", call(json!({"region": "a, a"})).with("mcp-param-region", "a, a"), true),
        ("a text with a comma, once", call(json!({"region": "a, a"})).with("mcp-param-region", "a"), false),
        ("a text with a comma, joined", call(json!({"region": "a, a"})).with("mcp-param-region", "a, a, a, a"), true),
        ("twice, the second wrong", region("eu west").with("mcp-param-region", "us"), false),
        ("a text that looks encoded", call(json!({"region": "=?base64?eA==?="})).with("mcp-param-region", "=?base64?eA==?="), false),
        ("absent", call(json!({})), true),
        ("null", call(json!({"region": null})), true),
        ("field without a value", call(json!({})).with("mcp-param-region", "eu"), false),
        ("field with null", call(json!({"region": null})).with("mcp-param-region", "eu"), false),
        ("unknown field", call(json!({})).with("mcp-param-other", "eu"), true),
        ("integer", count(json!(42), "42"), true),
        ("integer, joined", count(json!(42), "42, 42"), true),
        ("integer, joined with another", count(json!(42), "42, 43"), false),
        ("integer as a float", count(json!(42), "42.0"), true),
        ("float as an integer", count(json!(42.0), "42"), true),
        ("other integer", count(json!(42), "43"), false),
        ("no number", count(json!(42), "x"), false),
        ("integer as text", count(json!("42"), "42"), true),
        ("beyond 2^53", count(json!(9_007_199_254_740_993_u64), "9007199254740993"), true),
        ("beyond 2^53, its neighbour", count(json!(9_007_199_254_740_993_u64), "9007199254740992"), false),
        ("beyond 2^53, its neighbour as a float", count(json!(9_007_199_254_740_993_u64), "9007199254740992.0"), false),
        ("true", call(json!({"flag": true})).with("mcp-param-flag", "true"), true),
        ("true as 1", call(json!({"flag": true})).with("mcp-param-flag", "1"), false),
        ("nested", call(json!({"to": {"zip": "8001"}})).with("mcp-param-zip", "8001"), true),
        ("nested, other", call(json!({"to": {"zip": "8001"}})).with("mcp-param-zip", "8002"), false),
        ("nested, missing", call(json!({"to": {"zip": "8001"}})), false),
        ("nested in text", call(json!({"to": r#"{"zip":"8001"}"#})).with("mcp-param-zip", "8001"), true),
        ("nested in text, other", call(json!({"to": r#"{"zip":"8001"}"#})).with("mcp-param-zip", "8002"), false),
        ("nested in text, missing", call(json!({"to": r#"{"zip":"8001"}"#})), false),
        ("arguments as text, missing", Ask::modern("tools/call", json!({"name": "echo", "arguments": r#"{"region":"eu"}"#})), false),
        (
            "arguments as text",
            Ask::modern("tools/call", json!({"name": "echo", "arguments": r#"{"region":"eu"}"#})).with("mcp-param-region", "eu"),
            true,
        ),
        ("a list, left to validation", call(json!({"region": ["eu"]})), true),
        ("a list with a field", call(json!({"region": ["eu"]})).with("mcp-param-region", "eu"), false),
    ]);
}

#[test]
fn a_transport_of_another_revision_may_leave_fields_out_and_not_contradict() {
    let call = || Ask::modern("tools/call", json!({"name": "echo", "arguments": {"region": "eu"}}));
    let bare = |version: &str| call().without("mcp-method").without("mcp-name").set("mcp-protocol-version", version);
    let legacy =
        || Ask::legacy("tools/call", json!({"name": "echo", "arguments": {"region": "eu"}})).with("mcp-protocol-version", "2026-07-28");
    check([
        ("no field", bare("2025-11-25"), true),
        ("no field, modern", bare("2026-07-28"), false),
        ("other method", bare("2025-11-25").with("mcp-method", "tools/list"), false),
        ("other name", bare("2025-11-25").with("mcp-name", "locked"), false),
        ("other parameter", bare("2025-11-25").with("mcp-param-region", "us"), false),
        ("its parameter", bare("2025-11-25").with("mcp-param-region", "eu"), true),
        ("a legacy message, no field", legacy(), true),
        ("a legacy message, its fields", legacy().with("mcp-method", "tools/call").with("mcp-name", "echo"), true),
        ("a legacy message, other method", legacy().with("mcp-method", "tools/list"), false),
        ("a legacy message, other name", legacy().with("mcp-name", "locked"), false),
        ("a legacy message, other parameter", legacy().with("mcp-param-region", "us"), false),
    ]);
}

#[test]
fn known_clients_leave_fields_out_and_may_not_contradict() {
    let call = |client: &str| {
        let info = json!({"io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"}});
        Ask::modern("tools/call", json!({"name": "echo", "arguments": {"region": "eu"}, "_meta": info}))
    };
    let bare = |client: &str| call(client).without("mcp-method").without("mcp-name").without("mcp-protocol-version");
    for quirk in QUIRKS {
        let omits = |field: &str| quirk.omits.iter().any(|known| field.starts_with(known));
        let all = ["mcp-protocol-version", "mcp-method", "mcp-name"];
        let without = all.iter().filter(|field| omits(field)).fold(call(quirk.client), |ask, field| ask.without(field));
        check([
            (quirk.client, without, true),
            ("contradicts", call(quirk.client).set("mcp-name", "locked"), false),
            ("contradicts with a parameter", call(quirk.client).with("mcp-param-region", "us"), false),
        ]);
        // A product's name has no slash.
        if !quirk.client.contains('/') {
            let without = all.iter().filter(|field| omits(field)).fold(call("someone"), |ask, field| ask.without(field));
            check([(quirk.client, without.with("user-agent", &format!("{}/1.2 (x)", quirk.client)), true)]);
        }
    }
    check([
        ("somebody else", bare("someone"), false),
        ("another spelling", bare("Claude-Code"), false),
        ("a longer name", bare("claude-code-router"), false),
        ("only parameters", bare("mcp"), false),
        ("only parameters, the rest is there", call("mcp"), true),
        ("somebody else's parameters", call("someone"), false),
    ]);
}

#[test]
fn the_legacy_era_does_not_mirror() {
    let endpoint = endpoint(shop());
    let ask = Ask::legacy("tools/call", json!({"name": "echo", "arguments": {"region": "eu"}})).with("mcp-param-region", "us");
    let seen = ask.send(&endpoint);
    assert_eq!((seen.status, seen.code()), (200, None), "{}", seen.text);
}

#[test]
fn the_request_id() {
    let endpoint = endpoint(shop());
    let trace = |digit: &str| format!("00-{}-b7ad6b7169203331-01", digit.repeat(32));
    let id_of = |ask: Ask| {
        let seen = ask.send(&endpoint);
        let text = seen.body["result"]["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Json>(text).unwrap()
    };
    let call = |meta: Json| Ask::legacy("tools/call", json!({"name": "request", "_meta": meta}));
    assert_eq!(id_of(call(json!({})))["id"], "ab".repeat(16));
    assert_eq!(id_of(call(json!({})).with("traceparent", &trace("1")))["id"], "1".repeat(32));
    assert_eq!(id_of(call(json!({"traceparent": trace("2")})).with("traceparent", &trace("1")))["id"], "2".repeat(32));
    assert_eq!(id_of(call(json!({"traceparent": "x"})).with("traceparent", &trace("1")))["id"], "1".repeat(32));
    assert_eq!(id_of(call(json!({})).with("traceparent", &trace("0")))["id"], "ab".repeat(16));

    assert_eq!(id_of(call(json!({})))["protocol"], "2025-03-26");
    assert_eq!(id_of(call(json!({})).with("mcp-protocol-version", "2025-11-25"))["protocol"], "2025-11-25");
    assert_eq!(id_of(Ask::modern("tools/call", json!({"name": "request"})))["protocol"], "2026-07-28");
}
