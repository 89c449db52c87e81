//! `millrace doctor` on servers with one planted fault each, and on healthy ones.

use std::{fs, net::TcpListener, path::Path, sync::Arc, time::Duration};

use rcgen::{CertificateParams, DnType, Issuer, KeyPair, date_time_ymd};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value as Json, json};

use crate::{
    fault_server::{FaultServer, How, Plant, Request, Response, Settings, TOKEN, tool},
    support::{CommandOutput, binary, run},
};

const OPEN: Settings = Settings { is_protected: false, tls: None };
const PROTECTED: Settings = Settings { is_protected: true, tls: None };

fn doctor_with(arguments: &[&str], env: &[(&str, &str)]) -> CommandOutput {
    let mut command = binary();
    command.env_remove("MILLRACE_TOKEN").arg("doctor").args(arguments).envs(env.iter().copied());
    let output = command.output().unwrap();
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn doctor(arguments: &[&str], env: &[(&str, &str)]) -> (Option<i32>, Json) {
    let output = doctor_with(&[arguments, &["--json"]].concat(), env);
    assert!(output.err.is_empty(), "{}", output.err);
    (output.code, output.json())
}

/// The findings as `severity id side`.
fn found(report: &Json) -> Vec<String> {
    let text = |finding: &Json, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| ["severity", "id", "side"].map(|key| text(finding, key)).join(" ")).collect()
}

#[test]
fn a_healthy_server_has_no_finding() {
    let server = FaultServer::start(OPEN, |_, response, _| response);
    let (code, report) = doctor(&[&server.url()], &[]);
    assert_eq!((code, found(&report)), (Some(0), vec![]), "{report:#}");
    assert_eq!(report["revisions"], json!(["2026-07-28", "2025-11-25"]));
    assert_eq!(report["server"], json!({ "name": "healthy", "version": "1.0.0" }));
    assert_eq!((&report["sign_in"], &report["call"]["tool"]), (&json!("none"), &json!("count-notes")));
    let lists = report["lists"].as_array().unwrap().iter().map(|list| (list["list"].as_str().unwrap(), list["entries"].as_u64().unwrap()));
    assert_eq!(lists.collect::<Vec<_>>(), [("tools", 2), ("prompts", 0), ("resources", 1), ("resourceTemplates", 0)]);
    let tools = &report["lists"][0];
    assert!(tools["bytes"].as_u64().unwrap() > 500 && tools["tokens"].as_u64() == Some(tools["bytes"].as_u64().unwrap().div_ceil(4)));
    // One call, and as few requests as a client that looks at everything.
    let calls = server.seen.lock().unwrap().iter().filter(|request| request.asks() == "tools/call").count();
    assert!(calls == 1 && report["requests"].as_array().unwrap().len() < 20, "{report:#}");

    let streams =
        FaultServer::start(
            OPEN,
            |request, response, _| {
                if request.asks().is_empty() || response.body.is_empty() { response } else { response.into_stream() }
            },
        );
    let (code, report) = doctor(&[&streams.url(), "--origin", "https://app.example.com"], &[]);
    assert_eq!((code, found(&report)), (Some(0), vec![]), "{report:#}");

    let (code, report) = doctor(&[&server.url(), "--no-call"], &[]);
    assert_eq!((code, &report["call"]), (Some(0), &Json::Null));
    let people = doctor_with(&[&server.url()], &[]);
    assert!(people.out.contains("\nhealthy: 0 faults, 0 warnings, 0 notes; "), "{}", people.out);
}

#[test]
fn a_healthy_server_that_demands_a_token_has_no_finding() {
    let server = FaultServer::start(PROTECTED, |_, response, _| response);
    let (code, report) = doctor(&[&server.url()], &[("MILLRACE_TOKEN", TOKEN)]);
    assert_eq!((code, found(&report)), (Some(0), vec![]), "{report:#}");
    let login = format!("{}/login", server.origin);
    assert_eq!((&report["sign_in"], &report["authorization_servers"]), (&json!("required"), &json!([login])));
    assert_eq!(report["call"]["tool"], "count-notes");
    let (code, report) = doctor(&[&server.url()], &[]);
    assert_eq!((code, found(&report)), (Some(0), vec!["note token-needed client".to_owned()]), "{report:#}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    for (arguments, env) in [
        (vec!["--token".to_owned(), format!("@{}", file.display())], vec![]),
        (vec!["--header".to_owned(), "Authorization: env:HERE".to_owned()], vec![("HERE", format!("Bearer {TOKEN}"))]),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (code, report) = doctor(&[&[server.url().as_str()], arguments.as_slice()].concat(), &env);
        assert_eq!((code, found(&report)), (Some(0), vec![]), "{report:#}");
    }
}

/// A fault, and as what it must be found.
struct Planted {
    settings: Settings,
    expected: &'static str,
    plant: Box<Plant>,
}

fn planted(
    settings: Settings,
    expected: &'static str,
    plant: impl Fn(&Request, Response, &str) -> Response + Send + Sync + 'static,
) -> Planted {
    Planted { settings, expected, plant: Box::new(plant) }
}

/// Changes the answers to a method.
fn answers(method: &'static str, expected: &'static str, change: impl Fn(&mut Json) + Send + Sync + 'static) -> Planted {
    planted(OPEN, expected, move |request, response, _| {
        if request.asks() == method && response.status == 200 { response.change(|message| change(message)) } else { response }
    })
}

/// Changes the first tool.
fn tools(expected: &'static str, change: impl Fn(&mut Json) + Send + Sync + 'static) -> Planted {
    answers("tools/list", expected, move |message| change(&mut message["result"]["tools"][0]))
}

/// Replaces the answers to a method.
fn replaced(method: &'static str, expected: &'static str, replace: impl Fn(Response) -> Response + Send + Sync + 'static) -> Planted {
    planted(OPEN, expected, move |request, response, _| if request.asks() == method { replace(response) } else { response })
}

/// Changes a document behind `/.well-known`.
fn document(part: &'static str, expected: &'static str, change: impl Fn(&mut Json, &str) + Send + Sync + 'static) -> Planted {
    planted(
        PROTECTED,
        expected,
        move |request, response, origin| {
            if request.path.contains(part) { response.change(|document| change(document, origin)) } else { response }
        },
    )
}

fn check(planted: Planted) {
    let expected = planted.expected;
    let server = FaultServer::start(planted.settings.clone(), planted.plant);
    let env: &[(&str, &str)] = if planted.settings.is_protected { &[("MILLRACE_TOKEN", TOKEN)] } else { &[] };
    // Only where an answer never comes is it waited for.
    let timeout = if expected.contains("time-out") || expected.contains("get-hangs") { "4" } else { "60" };
    let (code, report) = doctor(&[&server.url(), "--timeout", timeout], env);
    assert!(found(&report).iter().any(|finding| finding == expected), "{expected}: {:?}\n{report:#}", found(&report));
    let finding = report["findings"].as_array().unwrap().iter().find(|finding| expected.contains(finding["id"].as_str().unwrap())).unwrap();
    assert!(finding["remedy"].as_str().is_some_and(|remedy| remedy.len() > 8), "{finding}");
    assert_eq!(code, Some(i32::from(expected.starts_with("fault"))), "{expected}\n{report:#}");
    assert!(report["requests"].as_array().unwrap().len() <= 40, "{report:#}");
}

#[test]
fn faults_of_the_url_are_found() {
    for planted in [
        planted(OPEN, "fault endpoint-not-found client", |request, response, _| {
            if request.path == "/mcp" { Response::new(404, "text/html", "<h1>Not Found</h1>") } else { response }
        }),
        planted(OPEN, "fault endpoint-not-found client", |request, response, _| {
            let error = json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "not here" } });
            if request.path == "/mcp" { Response::json(404, &error) } else { response }
        }),
        planted(OPEN, "fault post-refused client", |_, response, _| Response { status: 405, body: String::new(), ..response }),
        planted(OPEN, "warning redirect client", |request, response, origin| moved(307, request, response, origin)),
        planted(OPEN, "fault redirect client", |request, response, origin| moved(301, request, response, origin)),
    ] {
        check(planted);
    }
    // The path is another one, and the right one is named.
    let server = FaultServer::start(OPEN, |_, response, _| response);
    let (code, report) = doctor(&[&server.origin], &[]);
    assert_eq!((code, found(&report)), (Some(1), vec!["fault endpoint-not-found client".to_owned()]), "{report:#}");
    assert!(report["findings"][0]["remedy"].as_str().unwrap().contains(&server.url()), "{report:#}");
}

/// The endpoint has a slash at its end.
fn moved(status: u16, request: &Request, response: Response, origin: &str) -> Response {
    match request.path.as_str() {
        "/mcp" => Response::new(status, "", "").with("location", &format!("{origin}/mcp/")),
        "/mcp/" => open(&Request { path: "/mcp".to_owned(), ..request.clone() }),
        _ => response,
    }
}

/// What another server answers to a message.
fn forwarded(server: &FaultServer, request: &Request) -> Response {
    use std::io::{Read as _, Write as _};
    let mut socket = std::net::TcpStream::connect(server.origin.trim_start_matches("http://")).unwrap();
    let body = if request.body.is_null() { String::new() } else { request.body.to_string() };
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    for (name, value) in request.headers.iter().filter(|(name, _)| name != "content-length") {
        head += &format!("{name}: {value}\r\n");
    }
    write!(socket, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers = fields.filter(|(name, _)| *name == "content-type").map(|(name, value)| (name.to_owned(), value.to_owned()));
    Response { status, headers: headers.collect(), body: body.to_owned(), how: How::Whole }
}

#[test]
fn faults_of_the_protocol_are_found() {
    for planted in [
        answers("initialize", "fault protocol-version server", |message| message["result"]["protocolVersion"] = json!("1.0")),
        answers("initialize", "fault protocol-version server", |message| message["result"]["protocolVersion"] = json!("2026-07-28")),
        answers("initialize", "fault server-info-missing server", |message| message["result"]["serverInfo"] = Json::Null),
        answers("initialize", "fault capabilities-missing server", |message| message["result"]["capabilities"] = Json::Null),
        answers("server/discover", "fault result-type-missing server", |message| message["result"]["resultType"] = Json::Null),
        answers("tools/call", "fault result-type-missing server", |message| message["result"]["resultType"] = Json::Null),
        answers("tools/list", "fault cache-hints-missing server", |message| message["result"]["ttlMs"] = Json::Null),
        answers("prompts/list", "fault cache-hints-missing server", |message| message["result"]["cacheScope"] = json!("shared")),
        answers("tools/list", "fault id-not-echoed server", |message| message["id"] = json!("1")),
        planted(OPEN, "fault version-not-refused server", |request, response, _| {
            if response.status != 400 {
                return response;
            }
            Response::json(200, &json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": { "resultType": "complete" } }))
        }),
        planted(OPEN, "fault no-handshake server", |_, response, _| Response::json(400, &json!({ "oops": response.status }))),
        planted(
            OPEN,
            "note modern-missing server",
            |request, response, _| if request.is_modern() { refused(request, 404) } else { response },
        ),
        planted(OPEN, "warning legacy-missing server", |request, response, _| {
            if request.is_modern() || request.body["id"].is_null() { response } else { refused(request, 400) }
        }),
        replaced("notifications/initialized", "fault notification-answered server", |_| Response::json(200, &json!({ "jsonrpc": "2.0" }))),
        replaced("notifications/initialized", "warning notification-status server", |_| Response::new(200, "", "")),
        replaced("notifications/initialized", "fault notification-rejected server", |_| Response::new(400, "", "")),
        planted(OPEN, "fault origin-accepted server", |request, response, _| {
            if request.header("origin").is_none() {
                return response;
            }
            let headers = request.headers.iter().filter(|(name, _)| name != "origin").cloned().collect();
            open(&Request { headers, ..request.clone() })
        }),
        planted(OPEN, "fault get-hangs server", |request, response, _| {
            if request.method == "GET" && request.path == "/mcp" { Response { how: How::Never, ..response } } else { response }
        }),
        planted(OPEN, "warning get-answer server", |request, response, _| {
            if request.method == "GET" && request.path == "/mcp" { Response::new(200, "text/html", "<p>hello") } else { response }
        }),
    ] {
        check(planted);
    }
}

fn refused(request: &Request, status: u16) -> Response {
    Response::json(status, &json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": { "code": -32601, "message": "no" } }))
}

#[test]
fn faults_of_answers_are_found() {
    for planted in [
        replaced("tools/list", "fault body-not-json server", |_| Response::new(200, "text/html", "<!doctype html><title>Sign in</title>")),
        replaced("tools/list", "fault body-not-json server", |_| Response::new(200, "application/json", "{\"jsonrpc\":\"2.0\",")),
        replaced("tools/list", "fault body-not-json server", |_| Response::new(200, "application/json", "[".repeat(100_000))),
        replaced("tools/list", "fault stream-cut-off server", |response| {
            let response = response.into_stream();
            Response { body: response.body.trim_end().to_owned(), ..response }
        }),
        replaced("tools/list", "fault stream-cut-off server", |response| Response { how: How::Cut(9), ..response.into_stream() }),
        replaced("tools/list", "fault body-cut-off network", |response| Response { how: How::Cut(9), ..response }),
        replaced("tools/list", "fault answer-endless server", |response| Response {
            how: How::Endless,
            body: "x".repeat(1 << 16),
            ..response
        }),
        replaced("tools/list", "fault answer-endless server", |_| {
            let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n".repeat(1_000);
            Response { how: How::Endless, ..Response::new(200, "text/event-stream", event) }
        }),
        replaced("tools/list", "fault time-out server", |response| Response { how: How::Never, ..response }),
        replaced("tools/call", "warning slow server", |response| Response { how: How::After(Duration::from_millis(3_100)), ..response }),
        replaced("tools/list", "fault content-encoding server", |_| {
            Response::new(200, "application/json", "\u{1f}\u{8b}".repeat(1_000)).with("content-encoding", "gzip")
        }),
        replaced("tools/list", "fault content-type server", |response| response.with("content-type", "text/plain")),
        replaced("tools/list", "fault no-response server", |_| Response::new(202, "", "")),
        replaced("tools/list", "fault server-error server", |_| Response::new(502, "text/html", "<h1>Bad Gateway</h1>")),
        replaced("tools/list", "fault list-failed server", |response| response.change(|message| message["result"]["tools"] = json!({}))),
        replaced("tools/list", "warning rate-limited server", |_| Response::new(429, "", "")),
        planted(OPEN, "fault not-http network", |_, response, _| response.with("x-huge", &"x".repeat(2 << 20))),
    ] {
        check(planted);
    }
}

#[test]
fn faults_of_lists_and_tools_are_found() {
    let cursor = std::sync::atomic::AtomicU64::new(0);
    for planted in [
        answers("tools/list", "fault duplicate-names server", |message| message["result"]["tools"][1] = tool("count-notes")),
        answers("tools/list", "fault pagination-endless server", |message| message["result"]["nextCursor"] = json!("again")),
        answers("resources/list", "fault pagination-endless server", move |message| {
            let next = cursor.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            message["result"]["nextCursor"] = json!(next.to_string());
        }),
        answers("resources/list", "fault list-entry server", |message| message["result"]["resources"][0]["uri"] = json!(7)),
        tools("fault tool-name server", |tool| tool["name"] = json!("count notes")),
        tools("fault tool-name-long server", |tool| tool["name"] = json!("n".repeat(70))),
        tools("fault schema-properties server", |tool| tool["inputSchema"] = json!({ "type": "object" })),
        tools("fault schema-key server", |tool| tool["inputSchema"]["properties"]["due date"] = json!({ "type": "string" })),
        tools("fault schema-items server", |tool| tool["inputSchema"]["properties"]["tags"] = json!({ "type": "array" })),
        tools("fault schema-choice server", |tool| tool["inputSchema"]["anyOf"] = json!([{}])),
        tools("fault schema-type server", |tool| tool["inputSchema"] = Json::Null),
        tools("warning schema-type-list server", |tool| tool["inputSchema"]["properties"]["topic"]["type"] = json!(["string", "null"])),
        tools("warning schema-ref server", |tool| tool["outputSchema"]["properties"]["next"] = json!({ "$ref": "#" })),
        tools("warning tool-hints server", |tool| tool["annotations"]["openWorldHint"] = Json::Null),
        tools("note tool-title server", |tool| tool["title"] = Json::Null),
        answers("tools/call", "fault output-missing server", |message| {
            drop(message["result"].as_object_mut().and_then(|result| result.remove("structuredContent")));
        }),
        answers("tools/call", "fault output-schema server", |message| message["result"]["structuredContent"]["count"] = json!("three")),
        tools("fault output-schema server", |tool| tool["outputSchema"] = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] })),
        answers("tools/call", "fault content-missing server", |message| message["result"]["content"] = Json::Null),
        answers("tools/call", "warning call-failed server", |message| message["result"]["isError"] = json!(true)),
        replaced("tools/call", "fault call-refused server", |_| Response::json(200, &json!({ "id": 0, "error": { "code": -32603 } }))),
    ] {
        check(planted);
    }
}

#[test]
fn faults_of_sign_in_are_found() {
    for planted in [
        planted(PROTECTED, "fault challenge-missing server", |_, response, _| response.without("www-authenticate")),
        planted(PROTECTED, "fault challenge-missing server", |_, response, _| {
            if response.status == 401 { response.with("www-authenticate", "Basic realm=\"x\"") } else { response }
        }),
        planted(PROTECTED, "warning challenge-metadata server", |_, response, _| {
            if response.status == 401 { response.with("www-authenticate", "Bearer error=\"invalid_token\"") } else { response }
        }),
        planted(PROTECTED, "fault metadata-missing server", |request, response, _| {
            if request.path.contains("protected-resource") { Response::new(404, "", "") } else { response }
        }),
        planted(PROTECTED, "fault challenge-metadata server", |_, response, origin| {
            let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{origin}/elsewhere\"");
            if response.status == 401 { response.with("www-authenticate", &challenge) } else { response }
        }),
        document("protected-resource", "fault metadata-resource server", |document, _| {
            document["resource"] = json!("https://other.example.com/mcp")
        }),
        document("protected-resource", "warning metadata-resource server", |document, origin| document["resource"] = json!(origin)),
        document("protected-resource", "fault authorization-servers-missing server", |document, _| {
            document["authorization_servers"] = json!([])
        }),
        document("protected-resource", "fault authorization-server-url server", |document, _| {
            document["authorization_servers"] = json!(["file:///etc/passwd"]);
        }),
        document("protected-resource", "fault authorization-server-unreachable authorization_server", |document, _| {
            document["authorization_servers"] = json!([format!("http://127.0.0.1:{}", closed_port())]);
        }),
        planted(PROTECTED, "fault authorization-server-metadata authorization_server", |request, response, _| {
            if request.path.contains("authorization-server") { Response::new(404, "", "") } else { response }
        }),
        document("authorization-server", "fault pkce authorization_server", |document, _| {
            document["code_challenge_methods_supported"] = json!(["plain"]);
        }),
        document("authorization-server", "fault issuer authorization_server", |document, _| {
            document["issuer"] = json!("https://evil.example.com")
        }),
        document("authorization-server", "fault authorization-endpoints authorization_server", |document, _| {
            document["token_endpoint"] = Json::Null;
        }),
        document("authorization-server", "warning registration authorization_server", |document, _| {
            document["client_id_metadata_document_supported"] = json!(false);
        }),
        document("authorization-server", "warning scopes authorization_server", |document, _| {
            document["scopes_supported"] = json!(["write"])
        }),
        planted(PROTECTED, "fault invalid-token-accepted server", |request, response, _| accepts_anything(request, response)),
        planted(PROTECTED, "fault invalid-token-status server", |request, response, _| {
            if response.status == 401 && request.header("authorization").is_some() {
                Response { status: 400, ..response }
            } else {
                response
            }
        }),
        planted(PROTECTED, "warning invalid-token-error server", |_, response, origin| {
            let challenge = format!("Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"");
            if response.status == 401 { response.with("www-authenticate", &challenge) } else { response }
        }),
        planted(PROTECTED, "fault credentials-rejected client", |request, response, _| {
            if request.asks().is_empty() || request.path != "/mcp" {
                return response;
            }
            Response::new(401, "", "").with("www-authenticate", "Bearer error=\"invalid_token\"")
        }),
        planted(PROTECTED, "fault scopes-missing client", |request, response, _| {
            if request.asks() == "tools/call" { Response { status: 403, ..response } } else { response }
        }),
        // The handshake and the lists are open, and the calls are not.
        planted(PROTECTED, "fault sign-in-late server", |request, response, _| {
            if response.status == 401 && request.asks() != "tools/call" && request.header("authorization").is_none() {
                return open(request);
            }
            response
        }),
        planted(OPEN, "fault sign-in-late server", |request, response, _| {
            if ["tools/list", "tools/call"].contains(&request.asks()) { Response::new(401, "", "") } else { response }
        }),
    ] {
        check(planted);
    }
}

#[test]
fn a_tool_that_alone_needs_a_key_is_no_fault() {
    let server = FaultServer::start(OPEN, |request, response, _| {
        let is_called = request.asks() == "tools/call" && request.body["params"]["name"] == "count-notes";
        if is_called { Response::new(401, "", "").with("www-authenticate", "Bearer realm=\"notes\"") } else { response }
    });
    let (code, report) = doctor(&[&server.url()], &[]);
    assert_eq!((code, found(&report)), (Some(0), vec!["note token-needed client".to_owned()]), "{report:#}");
}

fn open(request: &Request) -> Response {
    let server = FaultServer::start(OPEN, |_, response, _| response);
    forwarded(&server, request)
}

/// What looks like a token is one.
fn accepts_anything(request: &Request, response: Response) -> Response {
    if response.status == 401 && request.header("authorization").is_some() { open(request) } else { response }
}

fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn faults_of_a_web_page_are_found() {
    let server = FaultServer::start(OPEN, |request, response, _| {
        if request.method == "OPTIONS" { response.with("access-control-allow-headers", "content-type") } else { response }
    });
    let (code, report) = doctor(&[&server.url(), "--origin", "https://app.example.com"], &[]);
    assert_eq!((code, found(&report)), (Some(1), vec!["fault cors-preflight server".to_owned()]), "{report:#}");
    let (code, report) = doctor(&[&server.url(), "--origin", "https://other.example.com"], &[]);
    assert_eq!((code, found(&report)), (Some(1), vec!["fault own-origin-refused server".to_owned()]), "{report:#}");
}

/// A certificate of an authority, and how long it is valid.
fn certificate(
    names: &[&str],
    issuer: Option<&Issuer<'_, KeyPair>>,
    change: impl FnOnce(&mut CertificateParams),
) -> (Arc<ServerConfig>, String) {
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "a server of the tests");
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let cert = match issuer {
        Some(issuer) => params.signed_by(&key, issuer).unwrap(),
        None => params.self_signed(&key).unwrap(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let private = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    (Arc::new(config.with_single_cert(vec![cert.der().clone()], private).unwrap()), cert.pem())
}

#[test]
fn faults_of_certificates_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("trusted.pem");
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "an authority of the tests");
    let key = KeyPair::generate().unwrap();
    fs::write(&trusted, params.self_signed(&key).unwrap().pem()).unwrap();
    let authority = Issuer::new(params, key);
    let look = |tls: Arc<ServerConfig>| {
        let server = FaultServer::start(Settings { is_protected: false, tls: Some(tls) }, |_, response, _| response);
        let (code, report) = doctor(&[&server.url()], &[("SSL_CERT_FILE", trusted.to_str().unwrap())]);
        (code, found(&report), report["reached"].as_bool().unwrap())
    };
    let one = |finding: &str, code| (Some(code), vec![finding.to_owned()], true);
    assert_eq!(look(certificate(&["127.0.0.1"], Some(&authority), |_| {}).0), (Some(0), vec![], true));
    assert_eq!(look(certificate(&["127.0.0.1"], None, |_| {}).0), one("fault certificate-untrusted network", 1));
    assert_eq!(look(certificate(&["other.example.com"], Some(&authority), |_| {}).0), one("fault certificate-name network", 1));
    let expired = certificate(&["127.0.0.1"], Some(&authority), |params| params.not_after = date_time_ymd(2020, 1, 1));
    assert_eq!(look(expired.0), one("fault certificate-expired network", 1));
    let future = certificate(&["127.0.0.1"], Some(&authority), |params| params.not_before = date_time_ymd(2900, 1, 1));
    assert_eq!(look(future.0), one("fault certificate-not-yet-valid network", 1));
    let soon = certificate(&["127.0.0.1"], Some(&authority), |params| {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();
        params.not_after = date_time_ymd(1970, 1, 1) + now + Duration::from_secs(5 * 24 * 60 * 60);
    });
    assert_eq!(look(soon.0), one("warning certificate-expires network", 0));
    // The port speaks no TLS.
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", plain.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut socket in plain.incoming().map_while(Result::ok) {
            drop(std::io::Write::write_all(&mut socket, b"HTTP/1.1 400 X\r\ncontent-length: 0\r\n\r\n"));
            // Its handshake is read, so that the answer is not lost.
            drop(std::io::Read::read(&mut socket, &mut [0; 4096]));
        }
    });
    let (code, report) = doctor(&[&url], &[("SSL_CERT_FILE", trusted.to_str().unwrap())]);
    assert_eq!((code, found(&report)), (Some(1), vec!["fault tls network".to_owned()]), "{report:#}");
}

#[test]
fn a_server_that_does_not_answer_is_not_looked_at() {
    let url = format!("http://127.0.0.1:{}/mcp", closed_port());
    let (code, report) = doctor(&[&url], &[]);
    assert_eq!((code, found(&report)), (Some(2), vec!["fault unreachable network".to_owned()]), "{report:#}");
    let (code, report) = doctor(&["http://nowhere.invalid/mcp"], &[]);
    assert_eq!((code, found(&report)), (Some(2), vec!["fault dns network".to_owned()]), "{report:#}");
    let people = doctor_with(&[&url], &[]);
    assert!(people.code == Some(2) && people.out.contains("could not look: 1 fault"), "{}", people.out);
}

#[test]
fn arguments_that_are_wrong_are_refused_and_not_repeated() {
    let here = Path::new(".");
    for arguments in [
        &["notes"][..],
        &["https://ada:the-secret@h/mcp"],
        &["https://h/mcp", "--header", "the-secret"],
        &["https://h/mcp", "--header", "X-Key: the-secret\u{1}"],
        &["https://h/mcp", "--header", "Bad Name: the-secret"],
        &["https://h/mcp", "--token", "the-secret", "--header", "Authorization: x"],
        &["https://h/mcp", "--token", "env:NOT_SET_ANYWHERE"],
        &["https://h/mcp", "--token", "@no-such-file"],
        &["https://h/mcp", "--call", "greet", "the-secret"],
        &["https://h/mcp", "--origin", "h"],
    ] {
        let output = run(here, &[&["doctor"], arguments].concat());
        assert!(output.code == Some(2) && output.out.is_empty(), "{arguments:?}: {}{}", output.out, output.err);
        assert!(output.err.starts_with("error: ") && !output.err.contains("the-secret"), "{arguments:?}: {}", output.err);
    }
}

#[test]
fn a_tool_is_called_only_where_that_is_safe_or_wanted() {
    let calls = |server: &FaultServer| -> Vec<Json> {
        let seen = server.seen.lock().unwrap();
        seen.iter().filter(|request| request.asks() == "tools/call").map(|request| request.body["params"].clone()).collect()
    };
    let unsafe_tools = |request: &Request, response: Response, _: &str| {
        if request.asks() != "tools/list" {
            return response;
        }
        response.change(|message| {
            message["result"]["tools"][0]["annotations"]["readOnlyHint"] = json!(false);
            message["result"]["tools"][1]["inputSchema"]["required"] = json!(["topic"]);
        })
    };
    let server = FaultServer::start(OPEN, unsafe_tools);
    let (_, report) = doctor(&[&server.url()], &[]);
    assert_eq!((found(&report), calls(&server).len()), (vec!["note no-safe-tool client".to_owned()], 0));
    let (code, report) = doctor(&[&server.url(), "--call", "count-notes", r#"{"topic":"tea"}"#], &[]);
    assert_eq!((code, found(&report)), (Some(0), vec![]), "{report:#}");
    assert!(calls(&server).len() == 1 && calls(&server)[0]["arguments"] == json!({ "topic": "tea" }), "{:?}", calls(&server));
    let (code, report) = doctor(&[&server.url(), "--call", "drop-notes", "{}"], &[]);
    assert_eq!((code, found(&report), calls(&server).len()), (Some(1), vec!["fault call-unknown-tool client".to_owned()], 1));
}

#[test]
fn credentials_stay_with_their_origin_and_are_not_shown() {
    let other = FaultServer::start(OPEN, |_, response, _| response);
    let target = other.url();
    let server =
        FaultServer::start(
            OPEN,
            move |request, response, _| {
                if request.path == "/mcp" { Response::new(308, "", "").with("location", &target) } else { response }
            },
        );
    let (code, report) = doctor(&[&server.url()], &[("MILLRACE_TOKEN", TOKEN)]);
    assert!(code == Some(1) && found(&report).contains(&"fault redirect client".to_owned()), "{report:#}");
    let seen = other.seen.lock().unwrap();
    assert!(seen.len() > 5 && seen.iter().all(|request| !format!("{:?}", request.headers).contains(TOKEN)), "{seen:?}");

    // A server that says back what it was sent.
    let echo = FaultServer::start(OPEN, |request, response, _| {
        let token = request.header("authorization").unwrap_or_default().to_owned();
        response.change(|message| {
            message["result"]["tools"][0]["name"] = json!(format!("{token} {token}"));
            message["result"]["protocolVersion"] = json!(token);
        })
    });
    let key = format!("X-Key: {TOKEN}");
    for arguments in [&[echo.url().as_str(), "--json"][..], &[echo.url().as_str()], &[echo.url().as_str(), "--header", &key]] {
        let output = doctor_with(arguments, &[("MILLRACE_TOKEN", TOKEN)]);
        assert!(!format!("{}{}", output.out, output.err).contains(TOKEN), "{}", output.out);
    }
}
