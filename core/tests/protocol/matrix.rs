//! Every row of the answer matrix, and the order of the ladder's steps.

use millrace_core::{app::App, protocol::Body};
use serde_json::{Value as Json, json};

use super::fakes::{Ask, META_CAPABILITIES, META_VERSION, adapter, empty_app, endpoint, shop};

/// Checks `(what, request, status, code)`.
fn check(cases: impl IntoIterator<Item = (&'static str, Ask, u16, Option<i64>)>) {
    let endpoint = endpoint(shop());
    for (what, ask, status, code) in cases {
        let seen = ask.send(&endpoint);
        assert_eq!((seen.status, seen.code()), (status, code), "{what}: {}", seen.text);
        let again = ask.send(&endpoint);
        assert_eq!(seen.text, again.text, "{what}");
    }
}

fn ping() -> Ask {
    Ask::legacy("ping", json!({}))
}

fn discover() -> Ask {
    Ask::modern("server/discover", json!({}))
}

fn meta(meta: &Json) -> Ask {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    Ask::post(format!("{body}"))
}

#[test]
fn http_comes_first() {
    let refused = Some(-32600);
    check([
        ("ping", ping(), 200, None),
        ("discover", discover(), 200, None),
        ("unknown path", Ask::new("GET", "/"), 404, refused),
        ("path below", Ask::new("POST", "/mcp/x"), 404, refused),
        ("two slashes", Ask::new("POST", "/mcp//"), 404, refused),
        ("a slash before", Ask::new("POST", "//mcp"), 404, refused),
        ("a slash at the end", ping().at("/mcp/"), 200, None),
        ("a slash at the end, GET", Ask::new("GET", "/mcp/"), 405, refused),
        ("a slash at the end, OPTIONS", Ask::new("OPTIONS", "/mcp/"), 204, None),
        ("a slash after another path", Ask::new("GET", "/livez/"), 404, refused),
        ("GET", Ask::new("GET", "/mcp"), 405, refused),
        ("GET, modern", Ask::new("GET", "/mcp").with("mcp-protocol-version", "2026-07-28"), 405, refused),
        ("DELETE", Ask::new("DELETE", "/mcp").with("mcp-session-id", "x"), 405, refused),
        ("PUT", Ask::new("PUT", "/mcp"), 405, refused),
        ("OPTIONS", Ask::new("OPTIONS", "/mcp"), 204, None),
        ("no type", ping().without("content-type"), 415, refused),
        ("other type", ping().set("content-type", "text/plain"), 415, refused),
        ("type twice", ping().with("content-type", "application/json"), 200, None),
        ("type joined", ping().set("content-type", "application/json, application/json; charset=utf-8"), 200, None),
        ("two types", ping().with("content-type", "text/plain"), 415, refused),
        ("two types joined", ping().set("content-type", "application/json, text/plain"), 415, refused),
        ("type and nothing", ping().set("content-type", "application/json,"), 415, refused),
        ("charset", ping().set("content-type", "Application/JSON; charset=\"UTF-8\""), 200, None),
        ("other charset", ping().set("content-type", "application/json; charset=utf-16"), 415, refused),
        ("compressed", ping().with("content-encoding", "gzip"), 415, refused),
        ("no Accept", ping().without("accept"), 200, None),
        ("any Accept", ping().set("accept", "text/html, */*;q=0.1"), 200, None),
        ("reversed Accept", ping().set("accept", "text/event-stream, application/json"), 200, None),
        ("empty Accept", ping().set("accept", ""), 200, None),
        ("Accept streams", ping().set("accept", "text/event-stream"), 406, refused),
        ("Accept all but JSON", ping().set("accept", "*/*, application/json;q=0"), 406, refused),
        ("Accept only JSON", ping().set("accept", "*/*;q=0, application/json"), 200, None),
        ("session", ping().with("mcp-session-id", "gone").with("last-event-id", "7"), 200, None),
        ("too large", Ask::post(vec![b' '; 4097]), 413, refused),
        ("type before size", Ask::post(vec![b' '; 4097]).without("content-type"), 415, refused),
        (
            "host stopped reading",
            Ask({
                let mut ask = ping().0;
                ask.body = Body::TooLarge;
                ask
            }),
            413,
            refused,
        ),
        ("long header", ping().with("x", &"y".repeat(70_000)), 431, refused),
        ("many headers", (0..130).fold(ping(), |ask, _| ask.with("x", "y")), 431, refused),
    ]);
}

#[test]
fn origins_and_hosts() {
    let local = || ping().loopback("localhost:8080");
    let from = |origin: &str| ping().with("origin", origin);
    let refused = Some(-32600);
    check([
        ("listed", from("https://chat.example.com"), 200, None),
        ("listed, default port", from("HTTPS://CHAT.example.com:443"), 200, None),
        ("listed with port", from("http://tools.example.com:8081"), 200, None),
        ("other scheme", from("http://chat.example.com"), 403, refused),
        ("other port", from("https://chat.example.com:444"), 403, refused),
        ("other host", from("https://chat.example.com.evil.com"), 403, refused),
        ("below", from("https://a.chat.example.com"), 403, refused),
        ("null", from("null"), 403, refused),
        ("empty", from(""), 403, refused),
        ("with a path", from("https://chat.example.com/"), 403, refused),
        ("with a user", from("https://x@chat.example.com"), 403, refused),
        ("two in one", from("https://chat.example.com, https://chat.example.com"), 403, refused),
        ("twice", from("https://chat.example.com").with("origin", "https://chat.example.com"), 403, refused),
        ("every path", Ask::new("GET", "/livez").with("origin", "null"), 403, refused),
        ("before the method", Ask::new("OPTIONS", "/mcp").with("origin", "https://evil.example.com"), 403, refused),
        ("loopback origin elsewhere", from("http://localhost:8080").with("host", "localhost:8080"), 403, refused),
        ("local", local(), 200, None),
        ("local, v4", ping().loopback("127.0.0.1"), 200, None),
        ("local, v6", ping().loopback("[::1]:8080"), 200, None),
        ("local, same origin", local().with("origin", "http://localhost:8080"), 200, None),
        ("local, port 80", ping().loopback("localhost").with("origin", "http://localhost"), 200, None),
        ("local, other port", local().with("origin", "http://localhost:9090"), 403, refused),
        ("local, other name", local().with("origin", "http://127.0.0.1:8080"), 403, refused),
        ("local, listed", local().with("origin", "https://chat.example.com"), 200, None),
        ("a public name", ping().loopback("MCP.example.com"), 200, None),
        ("a public name, with a port", ping().loopback("mcp.example.com:8443"), 200, None),
        ("a public name, its own page", ping().loopback("mcp.example.com").with("origin", "https://mcp.example.com"), 200, None),
        ("a public name, another page", ping().loopback("mcp.example.com").with("origin", "https://evil.example.com"), 403, refused),
        ("over TLS, its own page", local().over_tls().with("origin", "https://localhost:8080"), 200, None),
        ("over TLS, port 443", ping().loopback("localhost").over_tls().with("origin", "https://localhost"), 200, None),
        (
            "over TLS, a page without TLS",
            ping().loopback("mcp.example.com").over_tls().with("origin", "http://mcp.example.com"),
            403,
            refused,
        ),
        ("without TLS, a page with TLS", local().with("origin", "https://localhost:8080"), 403, refused),
        ("rebound", ping().loopback("evil.example.com").with("origin", "http://evil.example.com"), 403, refused),
        ("rebound, no origin", ping().loopback("evil.example.com:8080"), 403, refused),
        ("like the loopback", ping().loopback("localhost.evil.com"), 403, refused),
        ("user in host", ping().loopback("localhost:1@evil.com"), 403, refused),
        ("no host", local().without("host"), 403, refused),
        ("host twice", local().with("host", "localhost:8080"), 403, refused),
        ("a bad port", ping().loopback("localhost:99999"), 403, refused),
    ]);
}

#[test]
fn bodies() {
    let (parse, shape) = (Some(-32700), Some(-32600));
    let message = |members: &str| Ask::post(format!(r#"{{"jsonrpc":"2.0",{members}}}"#));
    check([
        ("empty", Ask::post(""), 400, parse),
        ("blank", Ask::post(" \r\n"), 400, parse),
        ("cut", Ask::post(r#"{"jsonrpc":"2.0""#), 400, parse),
        ("more after it", Ask::post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}x"#), 400, parse),
        ("two", Ask::post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{}"#), 400, parse),
        ("no UTF-8", Ask::post(&b"{\"a\":\"\xff\"}"[..]), 400, parse),
        ("no UTF-8 in an ignored member", Ask::post(&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xc3\"}"[..]), 400, parse),
        ("half a surrogate", Ask::post(r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#), 400, parse),
        ("mark", Ask::post("\u{feff}{}"), 400, parse),
        ("deep", Ask::post(format!("{}{}", "[".repeat(1000), "]".repeat(1000))), 400, parse),
        ("deep in params", message(&format!(r#""id":1,"method":"ping","params":{}{}"#, "[".repeat(200), "]".repeat(200))), 400, parse),
        (
            "deep in an ignored member, which is not kept",
            message(&format!(r#""id":1,"method":"ping","x":{}{}"#, "[".repeat(200), "]".repeat(200))),
            200,
            None,
        ),
        ("a number beyond all", message(r#""id":1,"method":"ping","params":{"x":1e999}"#), 400, parse),
        ("null", Ask::post("null"), 400, shape),
        ("string", Ask::post("\"x\""), 400, shape),
        ("no version", Ask::post(r#"{"id":1,"method":"ping"}"#), 400, shape),
        ("version 1", Ask::post(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#), 400, shape),
        ("version as a number", Ask::post(r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#), 400, shape),
        ("no method", message(r#""id":1"#), 400, shape),
        ("method as a number", message(r#""id":1,"method":1"#), 400, shape),
        ("method null", message(r#""id":1,"method":null"#), 400, shape),
        ("id null", message(r#""id":null,"method":"ping""#), 400, shape),
        ("id a fraction", message(r#""id":1.5,"method":"ping""#), 400, shape),
        ("id an exponent", message(r#""id":1e3,"method":"ping""#), 400, shape),
        ("id an object", message(r#""id":{},"method":"ping""#), 400, shape),
        ("id true", message(r#""id":true,"method":"ping""#), 400, shape),
        ("id twice", message(r#""id":1,"id":2,"method":"ping""#), 400, shape),
        ("method twice", message(r#""id":1,"method":"ping","method":"tools/list""#), 400, shape),
        ("method twice, escaped", message(r#""id":1,"method":"ping","\u006dethod":"tools/list""#), 400, shape),
        ("params twice", message(r#""id":1,"method":"ping","params":{},"params":{}"#), 400, shape),
        ("response", message(r#""id":1,"result":{}"#), 400, shape),
        ("error response", message(r#""id":1,"error":{"code":1,"message":"x"}"#), 400, shape),
        ("request and response", message(r#""id":1,"method":"ping","result":{}"#), 400, shape),
        ("unknown members", message(r#""id":1,"method":"ping","x":{"id":2}"#), 200, None),
        ("notification", message(r#""method":"notifications/initialized""#), 202, None),
        ("unknown notification", message(r#""method":"x","params":[1]"#), 202, None),
        ("notification of a request", message(r#""method":"tools/call","params":{"name":"fail-hard"}"#), 202, None),
        ("notification, other version", message(r#""method":"notifications/cancelled""#).with("mcp-protocol-version", "x"), 202, None),
        ("bad notification", message(r#""method":7"#), 400, shape),
    ]);
}

#[test]
fn ids_come_back_as_they_were_sent() {
    let endpoint = endpoint(shop());
    let ids = ["0", "-1", "9007199254740993", "18446744073709551615", "-9223372036854775808", "123456789012345678901234567890", "-0"];
    let ids = ids.into_iter().chain([r#""""#, r#""a\"b\\""#, r#""é€\n""#]);
    for id in ids {
        for (method, start) in [("ping", r#""result":{"#), ("nope", r#""error":{"#)] {
            let seen = Ask::post(format!(r#"{{"params":{{"id":5}},"method":"{method}","id":{id},"jsonrpc":"2.0"}}"#)).send(&endpoint);
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},{start}"#);
            assert!(seen.text.starts_with(&expected), "{} instead of {expected}", seen.text);
        }
    }
    let cases = [
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Json::Null),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Json::Null),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Json::Null),
    ];
    for (body, id) in cases {
        let seen = Ask::post(body).send(&endpoint);
        assert_eq!(seen.body.get("id"), (!id.is_null()).then_some(&id), "{}", seen.text);
    }
}

#[test]
fn a_member_of_params_that_appears_twice_is_refused_at_every_depth() {
    let endpoint = endpoint(shop());
    let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#);
    let cases = [
        (r#"{"name":"echo","name":"prot"}"#, "`name` appears more than once in `params`"),
        (r#"{"name":"echo","na\u006de":"prot"}"#, "`name` appears more than once in `params`"),
        (r#"{"name":"echo","arguments":{},"arguments":{}}"#, "`arguments` appears more than once in `params`"),
        (r#"{"name":"echo","_meta":{"progressToken":1,"progressToken":1}}"#, "`progressToken` appears more than once in `params._meta`"),
        (r#"{"name":"echo","arguments":{"region":"a","region":"b"}}"#, "`region` appears more than once in `params.arguments`"),
        (
            r#"{"name":"echo","arguments":{"to":[0,{"a":{"zip":"1","zip":"2"}}]}}"#,
            "`zip` appears more than once in `params.arguments.to[1].a`",
        ),
        // The first that is complete is named; a later one changes nothing.
        (r#"{"a":{"x":1,"x":2},"a":3}"#, "`x` appears more than once in `params.a`"),
        (r#"[{"x":1,"x":2}]"#, "`x` appears more than once in `params[0]`"),
    ];
    for (params, problem) in cases {
        let seen = Ask::post(call(params)).send(&endpoint);
        assert_eq!((seen.status, seen.code()), (400, Some(-32600)), "{params}: {}", seen.text);
        assert_eq!(seen.body["id"], 7);
        assert_eq!(seen.body["error"]["message"], format!("Invalid request: the member {problem}"));
        let seen = Ask::post(format!("[{}]", call(params))).send(&endpoint);
        assert_eq!((seen.status, seen.code()), (400, Some(-32600)), "in a batch, {params}: {}", seen.text);
    }
    // A name may come again in another object, and long names are cut.
    let good = r#"{"name":"echo","arguments":{"to":{"zip":"1"},"more":[{"zip":"1"},{"zip":"1"}],"name":"x"}}"#;
    assert_eq!(Ask::post(call(good)).send(&endpoint).status, 200);
    let long = "n".repeat(1500);
    let seen = Ask::post(call(&format!(r#"{{"{long}":{{"{long}":1,"{long}":2}}}}"#))).send(&endpoint);
    assert_eq!(seen.code(), Some(-32600));
    assert!(seen.text.len() < 600, "{}", seen.text);
}

#[test]
fn batches() {
    let one = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
    let batch = |messages: &[&str]| Ask::post(format!("[{}]", messages.join(",")));
    let modern = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{{"{META_VERSION}":"2026-07-28"}}}}}}"#);
    let shape = Some(-32600);
    check([
        ("batch", batch(&[one, note]), 200, None),
        ("named version", batch(&[one]).with("mcp-protocol-version", "2025-03-26"), 200, None),
        ("named version, joined", batch(&[one]).with("mcp-protocol-version", "2025-03-26, 2025-03-26"), 200, None),
        ("two versions", batch(&[one]).with("mcp-protocol-version", "2025-03-26, 2025-06-18"), 400, shape),
        ("notifications", batch(&[note, note]), 202, None),
        ("responses", batch(&[answer]), 202, None),
        ("empty", batch(&[]), 400, shape),
        ("later version", batch(&[one]).with("mcp-protocol-version", "2025-06-18"), 400, shape),
        ("modern version", batch(&[one]).with("mcp-protocol-version", "2026-07-28"), 400, shape),
        ("modern claim", batch(&[one, &modern]), 400, shape),
        ("initialize", batch(&[one, r#"{"jsonrpc":"2.0","id":2,"method":"initialize"}"#]), 400, shape),
        ("no message", batch(&[one, "1"]), 400, shape),
        ("nested", batch(&[one, "[]"]), 400, shape),
        ("bad message", batch(&[one, r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#]), 400, shape),
        ("too many", batch(&[note; 101]).body(format!("[{}]", vec![r#"{"jsonrpc":"2.0","method":""}"#; 101].join(","))), 400, shape),
    ]);

    let endpoint = endpoint(shop());
    let locked = r#"{"jsonrpc":"2.0","id":340282366920938463463374607431768211456,"method":"tools/call","params":{"name":"locked"}}"#;
    let seen = batch(&[note, one, r#"{"jsonrpc":"2.0","id":"b","method":"nope"}"#]).send(&endpoint);
    assert_eq!(
        seen.text,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"Method not found: `nope`"}}]"#
    );
    let seen = batch(&[one, locked]).send(&endpoint);
    assert_eq!((seen.status, seen.headers.first("www-authenticate")), (401, Some(r#"Bearer realm="shop""#)));
    assert!(seen.text.contains(r#""id":340282366920938463463374607431768211456,"error""#), "{}", seen.text);
}

#[test]
fn the_modern_ladder() {
    let (params, header, version, method) = (Some(-32602), Some(-32020), Some(-32022), Some(-32601));
    let at = |field: &str| Ask::modern("tools/list", json!({})).with("mcp-protocol-version", field);
    let named = |field: &str| Ask::modern("tools/list", json!({})).set("mcp-protocol-version", field);
    let no_meta = Ask::legacy("tools/list", json!({})).with("mcp-protocol-version", "2026-07-28");
    let v999 = json!({META_VERSION: "v999", META_CAPABILITIES: {}});
    check([
        // a: what the legacy era has as well is served as one of its requests
        ("header, no _meta", no_meta.clone(), 200, None),
        (
            "header, no params",
            Ask::post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).with("mcp-protocol-version", "2026-07-28"),
            200,
            None,
        ),
        (
            "header, a token in _meta",
            Ask::legacy("tools/list", json!({"_meta": {"progressToken": 1}})).with("mcp-protocol-version", "2026-07-28"),
            200,
            None,
        ),
        ("header, ping", ping().with("mcp-protocol-version", "2026-07-28"), 200, None),
        ("header, ping, with its name", ping().with("mcp-protocol-version", "2026-07-28").with("mcp-method", "ping"), 200, None),
        ("header, ping, with another name", ping().with("mcp-protocol-version", "2026-07-28").with("mcp-method", "x"), 400, header),
        ("header, unknown method, no _meta", Ask::legacy("nope", json!({})).with("mcp-protocol-version", "2026-07-28"), 200, method),
        (
            "header, discover, _meta without a version",
            Ask::legacy("server/discover", json!({"_meta": {"progressToken": 1}})).with("mcp-protocol-version", "2026-07-28"),
            400,
            params,
        ),
        ("header, discover, no _meta", Ask::legacy("server/discover", json!({})).with("mcp-protocol-version", "2026-07-28"), 400, params),
        (
            "header, params array",
            Ask::post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#).with("mcp-protocol-version", "2026-07-28"),
            400,
            params,
        ),
        ("later header, no _meta", no_meta.set("mcp-protocol-version", "2027-01-01"), 400, version),
        ("_meta is text", Ask::legacy("tools/list", json!({"_meta": "x"})).with("mcp-protocol-version", "2026-07-28"), 400, params),
        ("no version", meta(&json!({META_CAPABILITIES: {}})).with("mcp-protocol-version", "2026-07-28"), 400, params),
        ("version is a number", meta(&json!({META_VERSION: 1, META_CAPABILITIES: {}})), 400, params),
        ("version is null", meta(&json!({META_VERSION: null, META_CAPABILITIES: {}})), 400, params),
        ("no capabilities", meta(&json!({META_VERSION: "2026-07-28"})).with("mcp-protocol-version", "2026-07-28"), 400, params),
        ("capabilities is a list", meta(&json!({META_VERSION: "2026-07-28", META_CAPABILITIES: []})), 400, params),
        // b before c, a before b
        ("header and _meta differ, both served", named("2025-11-25"), 200, None),
        ("header and _meta differ, one not served", named("2027-01-01"), 400, header),
        ("header modern, _meta v999", meta(&v999).with("mcp-protocol-version", "2026-07-28"), 400, header),
        ("header legacy, _meta v999", meta(&v999).with("mcp-protocol-version", "2025-11-25"), 400, header),
        ("header modern, _meta legacy", meta(&json!({META_VERSION: "2025-11-25"})).with("mcp-protocol-version", "2026-07-28"), 200, None),
        ("header twice", at("2026-07-28"), 200, None),
        ("header joined", named("2026-07-28, 2026-07-28"), 200, None),
        ("header joined without blanks", named("2026-07-28,2026-07-28"), 200, None),
        ("two headers that are served", at("2025-11-25"), 200, None),
        ("two headers, one not served", at("v999"), 400, header),
        ("header joined with nothing", named("2026-07-28,"), 400, header),
        ("a before b", meta(&json!({META_VERSION: "v999"})).with("mcp-protocol-version", "2026-07-28"), 400, params),
        // c before d
        ("both v999", meta(&v999).with("mcp-protocol-version", "v999"), 400, version),
        ("_meta v999, no header", meta(&v999), 400, version),
        ("legacy version in _meta", meta(&json!({META_VERSION: "2025-11-25", META_CAPABILITIES: {}})), 200, None),
        (
            "legacy version in _meta of discover",
            Ask::legacy("server/discover", json!({"_meta": {META_VERSION: "2025-11-25"}})),
            400,
            version,
        ),
        // d
        ("no version header", discover().without("mcp-protocol-version"), 400, header),
        // e before f
        ("no Mcp-Method", discover().without("mcp-method"), 400, header),
        ("other Mcp-Method", discover().set("mcp-method", "tools/list"), 400, header),
        ("other case", discover().set("mcp-method", "Server/Discover"), 400, header),
        ("Mcp-Method twice", discover().with("mcp-method", "server/discover"), 200, None),
        ("Mcp-Method joined", discover().set("mcp-method", "server/discover, server/discover"), 200, None),
        ("two of Mcp-Method", discover().with("mcp-method", "tools/list"), 400, header),
        ("two of Mcp-Method joined", discover().set("mcp-method", "server/discover, tools/list"), 400, header),
        ("no Mcp-Method, header legacy", discover().without("mcp-method").set("mcp-protocol-version", "2025-11-25"), 200, None),
        ("other Mcp-Method, header legacy", discover().set("mcp-method", "x").set("mcp-protocol-version", "2025-11-25"), 400, header),
        ("no Mcp-Method, two headers", discover().without("mcp-method").with("mcp-protocol-version", "2025-11-25"), 400, header),
        ("blanks around", discover().set("mcp-method", " server/discover\t"), 200, None),
        ("unknown method, no Mcp-Method", Ask::modern("nope", json!({})).without("mcp-method"), 400, header),
        // f
        ("unknown method", Ask::modern("nope", json!({})), 404, method),
        ("initialize", Ask::modern("initialize", json!({"protocolVersion": "2025-11-25"})), 404, method),
        ("ping", Ask::modern("ping", json!({})), 404, method),
        ("setLevel", Ask::modern("logging/setLevel", json!({"level": "info"})), 404, method),
        ("subscribe", Ask::modern("resources/subscribe", json!({"uri": "docs://manual"})), 404, method),
        ("unsubscribe", Ask::modern("resources/unsubscribe", json!({"uri": "docs://manual"})), 404, method),
        ("listen", Ask::modern("subscriptions/listen", json!({})), 404, method),
        ("tasks", Ask::modern("tasks/get", json!({})), 404, method),
        // g before h
        ("g before h", Ask::modern("tools/call", json!({"name": "echo", "arguments": {"region": "eu"}, "requestState": "x"})), 400, header),
        // h
        ("no name", Ask::modern("tools/call", json!({})), 200, params),
        ("name is a number", Ask::modern("tools/call", json!({"name": 1})), 200, params),
        ("arguments is a list", Ask::modern("tools/call", json!({"name": "echo", "arguments": []})), 200, params),
        ("arguments is JSON text", Ask::modern("tools/call", json!({"name": "echo", "arguments": "{}"})), 200, None),
        ("arguments is text", Ask::modern("tools/call", json!({"name": "echo", "arguments": "region"})), 200, params),
        ("arguments is JSON text of a list", Ask::modern("tools/call", json!({"name": "echo", "arguments": "[]"})), 200, params),
        ("bad cursor", Ask::modern("tools/list", json!({"cursor": "x"})), 200, params),
        ("cursor is a number", Ask::modern("tools/list", json!({"cursor": 1})), 200, params),
        ("bad log level", Ask::modern("tools/list", json!({"_meta": {"io.modelcontextprotocol/logLevel": "loud"}})), 200, params),
        ("log level", Ask::modern("tools/list", json!({"_meta": {"io.modelcontextprotocol/logLevel": "info"}})), 200, None),
        ("forged state", Ask::modern("tools/call", json!({"name": "echo", "requestState": "x"})), 200, params),
        ("state where it means nothing", Ask::modern("tools/list", json!({"requestState": "x"})), 200, None),
        ("bad responses", Ask::modern("tools/call", json!({"name": "echo", "inputResponses": []})), 200, params),
        ("unknown tool", Ask::modern("tools/call", json!({"name": "nope"})), 200, method),
        ("unknown prompt", Ask::modern("prompts/get", json!({"name": "nope"})), 200, params),
        ("no resource", Ask::modern("resources/read", json!({"uri": "docs://nope"})), 200, params),
        ("a call", Ask::modern("tools/call", json!({"name": "echo"})), 200, None),
        ("a tool that fails", Ask::modern("tools/call", json!({"name": "fail"})), 200, None),
        ("protocol style", Ask::modern("tools/call", json!({"name": "fail-hard"})), 200, Some(-32000)),
        ("bad arguments", Ask::modern("tools/call", json!({"name": "echo", "arguments": {"x": 1}})), 200, None),
        ("no key", Ask::modern("tools/call", json!({"name": "locked"})), 401, Some(-32000)),
        ("wrong key", Ask::modern("tools/call", json!({"name": "locked"})).with("x-api-key", "x"), 401, Some(-32000)),
        ("key", Ask::modern("tools/call", json!({"name": "locked"})).with("x-api-key", "open sesame"), 200, None),
    ]);
}

#[test]
fn the_legacy_ladder() {
    let (params, method) = (Some(-32602), Some(-32601));
    let list = |version: &str| Ask::legacy("tools/list", json!({})).with("mcp-protocol-version", version);
    let initialize = Ask::legacy("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
    check([
        ("no header", Ask::legacy("tools/list", json!({})), 200, None),
        ("2025-11-25", list("2025-11-25"), 200, None),
        ("2025-06-18", list("2025-06-18"), 200, None),
        ("2025-03-26", list("2025-03-26"), 200, None),
        ("2024-11-05", list("2024-11-05"), 200, None),
        ("other version", list("2023-01-01"), 400, Some(-32022)),
        ("v999", list("v999"), 400, Some(-32022)),
        ("empty", list(""), 400, Some(-32022)),
        ("twice", list("2025-06-18").with("mcp-protocol-version", "2025-06-18"), 200, None),
        ("joined", list("2025-11-25, 2025-11-25"), 200, None),
        ("twice, different", list("2025-06-18").with("mcp-protocol-version", "2025-11-25"), 400, Some(-32022)),
        ("joined, different", list("2025-06-18, 2025-11-25"), 400, Some(-32022)),
        ("joined, not served", list("v1, v1"), 400, Some(-32022)),
        ("twice, one modern", list("2025-06-18").with("mcp-protocol-version", "2026-07-28"), 400, Some(-32022)),
        ("initialize, any header", initialize.clone().with("mcp-protocol-version", "v999"), 200, None),
        ("initialize, modern header", initialize.with("mcp-protocol-version", "2026-07-28"), 200, None),
        ("mirrors are not read", Ask::legacy("ping", json!({})).with("mcp-method", "x").with("mcp-name", "y"), 200, None),
        ("version before method", Ask::legacy("nope", json!({})).with("mcp-protocol-version", "v1"), 400, Some(-32022)),
        ("unknown method", Ask::legacy("nope", json!({})), 200, method),
        ("modern method", Ask::legacy("server/discover", json!({})), 200, method),
        ("params are a list", Ask::legacy("tools/list", json!([])), 200, params),
        ("params are null", Ask::legacy("tools/list", Json::Null), 200, None),
        ("no version asked", Ask::legacy("initialize", json!({})), 200, params),
        ("setLevel", Ask::legacy("logging/setLevel", json!({"level": "info"})), 200, None),
        ("bad level", Ask::legacy("logging/setLevel", json!({"level": "loud"})), 200, params),
        ("subscribe", Ask::legacy("resources/subscribe", json!({"uri": "docs://manual"})), 200, None),
        ("subscribe to nothing", Ask::legacy("resources/subscribe", json!({"uri": "docs://nope"})), 200, Some(-32002)),
        ("state is not a parameter", Ask::legacy("tools/call", json!({"name": "echo", "requestState": "x"})), 200, None),
        ("unknown tool", Ask::legacy("tools/call", json!({"name": "nope"})), 200, method),
        ("no name", Ask::legacy("tools/call", json!({})), 200, params),
        ("unknown prompt", Ask::legacy("prompts/get", json!({"name": "nope"})), 200, params),
        ("no resource", Ask::legacy("resources/read", json!({"uri": "docs://nope"})), 200, Some(-32002)),
        ("bad cursor", Ask::legacy("resources/list", json!({"cursor": "x"})), 200, params),
        ("a call", Ask::legacy("tools/call", json!({"name": "echo", "arguments": {"region": "eu"}})), 200, None),
        ("a call with text", Ask::legacy("tools/call", json!({"name": "echo", "arguments": r#"{"region":"eu"}"#})), 200, None),
        ("a prompt with text", Ask::legacy("prompts/get", json!({"name": "greet", "arguments": r#"{"name":"x"}"#})), 200, None),
        ("protocol style", Ask::legacy("tools/call", json!({"name": "fail-hard"})), 200, Some(-32000)),
        ("no key", Ask::legacy("tools/call", json!({"name": "locked"})), 401, Some(-32000)),
    ]);
}

#[test]
fn the_message_decides_its_revision() {
    let endpoint = endpoint(shop());
    let protocol = |ask: Ask| {
        let seen = ask.send(&endpoint);
        let text = seen.body["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", seen.text));
        (serde_json::from_str::<Json>(text).unwrap()["protocol"].clone(), seen.body["result"].get("resultType").is_some())
    };
    let legacy = |meta: Json| Ask::legacy("tools/call", json!({"name": "request", "_meta": meta}));
    let modern = || Ask::modern("tools/call", json!({"name": "request"}));
    assert_eq!(protocol(modern().set("mcp-protocol-version", "2025-11-25")), (json!("2026-07-28"), true));
    assert_eq!(protocol(modern().set("mcp-protocol-version", "2024-11-05")), (json!("2026-07-28"), true));
    assert_eq!(protocol(legacy(json!({})).with("mcp-protocol-version", "2026-07-28")), (json!("2025-11-25"), false));
    assert_eq!(
        protocol(legacy(json!({META_VERSION: "2025-06-18"})).with("mcp-protocol-version", "2026-07-28")),
        (json!("2025-06-18"), false)
    );
    assert_eq!(
        protocol(legacy(json!({META_VERSION: "2025-06-18"})).with("mcp-protocol-version", "2025-11-25")),
        (json!("2025-06-18"), false)
    );
    assert_eq!(protocol(legacy(json!({})).with("mcp-protocol-version", "2025-06-18, 2025-06-18")), (json!("2025-06-18"), false));
}

#[test]
fn what_an_app_has_not_is_no_method() {
    let endpoint = endpoint(App { scripts: vec![], ..empty_app() });
    let methods = ["prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read", "completion/complete"];
    for method in methods {
        let params = json!({"name": "x", "uri": "x://y"});
        let seen = Ask::legacy(method, params.clone()).send(&endpoint);
        assert_eq!((seen.status, seen.code()), (200, Some(-32601)), "{method}");
        let seen = Ask::modern(method, params).send(&endpoint);
        assert_eq!((seen.status, seen.code()), (404, Some(-32601)), "{method}");
    }
    let seen = Ask::modern("tools/list", json!({})).send(&endpoint);
    assert_eq!(seen.body["result"]["tools"], json!([]));
    let seen = discover().send(&endpoint);
    assert_eq!(seen.body["result"]["capabilities"], json!({"tools": {}}));
}

#[test]
fn errors_say_what_to_do() {
    let endpoint = endpoint(shop());
    let modern = meta(&json!({META_VERSION: "v999", META_CAPABILITIES: {}})).send(&endpoint);
    let versions = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(modern.body["error"]["data"], json!({"supported": versions, "requested": "v999"}));
    assert_eq!(modern.body["id"], 1);
    let listed = discover().send(&endpoint);
    assert_eq!(listed.body["result"]["supportedVersions"], versions);

    let missing = Ask::legacy("resources/read", json!({"uri": "docs://nope"})).send(&endpoint);
    assert_eq!(missing.body["error"]["data"]["uri"], "docs://nope");
    let missing = Ask::modern("resources/read", json!({"uri": "docs://nope"})).send(&endpoint);
    assert_eq!(missing.body["error"]["data"]["uri"], "docs://nope");

    let refused = Ask::new("GET", "/mcp").send(&endpoint);
    assert_eq!(refused.headers.first("allow"), Some("POST, OPTIONS"));
    assert_eq!(refused.body.get("id"), None);
    let deep = Ask::post(format!("{}1{}", "[".repeat(300), "]".repeat(300))).send(&endpoint);
    assert!(deep.text.contains("recursion limit exceeded"), "{}", deep.text);

    let locked = Ask::modern("tools/call", json!({"name": "locked"})).with("authorization", "Bearer guess").send(&endpoint);
    assert_eq!(locked.headers.first("www-authenticate"), Some(r#"Bearer realm="shop", error="invalid_token""#));
    assert_eq!(locked.body["id"], 1);
    assert!(!locked.text.contains("guess") && !locked.text.contains("sesame"));
}

#[test]
fn browsers() {
    let endpoint = endpoint(shop());
    let origin = "https://chat.example.com";
    let asked = "Content-Type, mcp-method, Mcp-Param-Region, x-evil, mcp-param-a b";
    let seen = Ask::new("OPTIONS", "/mcp").with("origin", origin).with("access-control-request-headers", asked).send(&endpoint);
    assert_eq!((seen.status, seen.text.as_str()), (204, ""));
    let field = |name| seen.headers.first(name);
    assert_eq!(field("access-control-allow-origin"), Some(origin));
    assert_eq!(field("access-control-allow-methods"), Some("POST, OPTIONS"));
    assert_eq!(field("access-control-allow-headers"), Some("content-type, mcp-method, mcp-param-region"));
    assert_eq!(field("vary"), Some("Origin"));

    let seen = ping().with("origin", origin).send(&endpoint);
    assert_eq!(seen.headers.first("access-control-allow-origin"), Some(origin));
    assert_eq!(seen.headers.first("access-control-expose-headers"), Some("WWW-Authenticate"));
    for ask in [ping(), Ask::new("OPTIONS", "/mcp"), ping().with("origin", "https://evil.example.com")] {
        assert_eq!(ask.send(&endpoint).headers.first("access-control-allow-origin"), None);
    }
}

#[test]
fn health() {
    let mut app = empty_app();
    app.adapters = vec![adapter("a", "up"), adapter("b", "down"), adapter("c", "none")];
    let sick = endpoint(app);
    for path in ["/livez", "/heartbeat"] {
        let seen = Ask::new("GET", path).send(&sick);
        assert_eq!((seen.status, seen.text.as_str()), (200, r#"{"status":"ok"}"#));
        let seen = Ask::new("HEAD", path).send(&sick);
        assert_eq!((seen.status, seen.text.as_str()), (200, ""));
        let seen = Ask::new("POST", path).send(&sick);
        assert_eq!((seen.status, seen.headers.first("allow")), (405, Some("GET, HEAD")));
    }
    let ready = || Ask::new("GET", "/readyz");
    let seen = ready().on_this_machine().send(&sick);
    let adapters = json!([
        {"name": "a", "status": "ok"},
        {"name": "b", "status": "error", "kind": "unavailable"},
        {"name": "c", "status": "error", "kind": "configuration"},
    ]);
    assert_eq!((seen.status, seen.body), (503, json!({"status": "unavailable", "adapters": adapters})));
    let passed_on = ready().on_this_machine().with("x-forwarded-for", "192.0.2.1");
    let by_name = ready().on_this_machine().set("host", "mcp.example.com");
    let with_key = ready().with("x-api-key", "a key");
    for others in [ready(), ready().set("host", "127.0.0.1:8080"), passed_on, by_name, with_key] {
        let seen = others.send(&sick);
        assert_eq!((seen.status, seen.text.as_str()), (503, r#"{"status":"unavailable"}"#));
    }
    let seen = ready().on_this_machine().send(&endpoint(empty_app()));
    assert_eq!((seen.status, seen.text), (200, String::from(r#"{"status":"ok"}"#)));
}

#[test]
fn who_has_a_key_learns_which_database_does_not_answer() {
    let mut app = shop();
    app.adapters = vec![adapter("b", "down")];
    let sick = endpoint(app);
    for (key, is_told) in [("open sesame", true), ("another", false), ("", false)] {
        let seen = Ask::new("GET", "/readyz").with("x-api-key", key).send(&sick);
        assert_eq!((seen.status, seen.text.contains(r#""name":"b""#)), (503, is_told), "{key}: {}", seen.text);
    }
}
