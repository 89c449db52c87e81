//! An MCP server of both eras that is healthy, except for the fault that a test plants.
//!
//! It is written from the specification and shares no code with Millrace.

use std::{
    io::{BufRead, BufReader, Read as _, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value as Json, json};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Json,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The method of the message; empty where it is none.
    pub(crate) fn asks(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_modern(&self) -> bool {
        !self.body["params"]["_meta"].is_null()
    }
}

/// How an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    Whole,
    /// Without its last bytes; then the connection ends.
    Cut(usize),
    /// After a while.
    After(Duration),
    /// Never.
    Never,
    /// The body again and again, until the client goes.
    Endless,
}

#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) how: How,
}

impl Response {
    pub(crate) fn new(status: u16, kind: &str, body: impl Into<String>) -> Self {
        let headers = if kind.is_empty() { Vec::new() } else { vec![("content-type".to_owned(), kind.to_owned())] };
        Self { status, headers, body: body.into(), how: How::Whole }
    }

    pub(crate) fn json(status: u16, body: &Json) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(field, _)| field != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(field, _)| field != name);
        self
    }

    /// The same with a changed message; an answer without one stays as it is.
    pub(crate) fn change(mut self, change: impl FnOnce(&mut Json)) -> Self {
        if let Ok(mut message) = serde_json::from_str(&self.body) {
            change(&mut message);
            self.body = message.to_string();
        }
        self
    }

    /// The same as an event stream.
    pub(crate) fn into_stream(mut self) -> Self {
        self.body = format!(": hello\n\nevent: message\ndata: {}\n\n", self.body);
        self.with("content-type", "text/event-stream")
    }
}

/// The token that the server accepts where it demands one.
pub(crate) const TOKEN: &str = "the-token-of-ada-for-this-server";

/// What the server is.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Every message needs the token.
    pub(crate) is_protected: bool,
    pub(crate) tls: Option<Arc<ServerConfig>>,
}

/// Changes what the healthy server would answer.
pub(crate) type Plant = dyn Fn(&Request, Response, &str) -> Response + Send + Sync;

/// A server that is running until the end of the tests.
pub(crate) struct FaultServer {
    /// Scheme, host and port.
    pub(crate) origin: String,
    pub(crate) seen: Arc<Mutex<Vec<Request>>>,
}

impl FaultServer {
    /// Starts one. `plant` is told the request, the healthy answer, and the origin.
    pub(crate) fn start(settings: Settings, plant: impl Fn(&Request, Response, &str) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        let origin = format!("{scheme}://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let plant: Arc<Plant> = Arc::new(plant);
        let server = Self { origin: origin.clone(), seen: seen.clone() };
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (settings, plant, origin, seen) = (settings.clone(), plant.clone(), origin.clone(), seen.clone());
                thread::spawn(move || connection(socket, &settings, &*plant, &origin, &seen));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }
}

fn connection(socket: TcpStream, settings: &Settings, plant: &Plant, origin: &str, seen: &Mutex<Vec<Request>>) {
    match &settings.tls {
        None => drop(exchange(socket, settings, plant, origin, seen)),
        Some(tls) => {
            let session = ServerConnection::new(tls.clone()).unwrap();
            // A client that does not trust the certificate goes.
            drop(exchange(StreamOwned::new(session, socket), settings, plant, origin, seen));
        }
    }
}

fn exchange<S: std::io::Read + Write>(
    stream: S,
    settings: &Settings,
    plant: &Plant,
    origin: &str,
    seen: &Mutex<Vec<Request>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let first: Vec<&str> = lines[0].split(' ').collect();
    let fields = lines[1..].iter().filter_map(|line| line.split_once(':'));
    let headers: Vec<(String, String)> = fields.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
    let mut request = Request { method: first[0].to_owned(), path: first[1].to_owned(), headers, body: Json::Null };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = serde_json::from_slice(&body).unwrap_or(Json::Null);
    seen.lock().unwrap().push(request.clone());
    let response = plant(&request, healthy(&request, settings, origin), origin);
    send(reader.get_mut(), &response)
}

fn send(stream: &mut impl Write, response: &Response) -> std::io::Result<()> {
    match response.how {
        How::After(time) => thread::sleep(time),
        // Until the client has gone, and longer than any client waits.
        How::Never => thread::sleep(Duration::from_secs(60)),
        _ => {}
    }
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", response.status);
    for (name, value) in &response.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if response.how == How::Endless {
        stream.write_all((head + "\r\n").as_bytes())?;
        loop {
            stream.write_all(response.body.as_bytes())?;
        }
    }
    if response.status != 204 {
        head += &format!("content-length: {}\r\n", response.body.len());
    }
    let bytes = (head + "\r\n" + &response.body).into_bytes();
    let end = if let How::Cut(count) = response.how { bytes.len() - count } else { bytes.len() };
    stream.write_all(&bytes[..end])?;
    stream.flush()
}

/// What a server without fault answers.
fn healthy(request: &Request, settings: &Settings, origin: &str) -> Response {
    let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
    if settings.is_protected {
        if request.path.starts_with("/.well-known/oauth-protected-resource") {
            let document = json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [format!("{origin}/login")], "scopes_supported": ["read"] });
            return Response::json(200, &document);
        }
        if request.path == "/.well-known/oauth-authorization-server/login" {
            let issuer = format!("{origin}/login");
            return Response::json(
                200,
                &json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"),
                    "code_challenge_methods_supported": ["S256"],
                    "client_id_metadata_document_supported": true,
                    "scopes_supported": ["read", "write"],
                }),
            );
        }
    }
    if request.path != "/mcp" {
        return Response::new(404, "text/plain", "not found");
    }
    if let Some(page) = request.header("origin") {
        if page != "https://app.example.com" {
            return Response::new(403, "", "");
        }
        if request.method == "OPTIONS" {
            let asked = request.header("access-control-request-headers").unwrap_or_default().to_owned();
            let allowed = Response::new(204, "", "").with("access-control-allow-origin", page).with("access-control-allow-methods", "POST");
            return allowed.with("access-control-allow-headers", &asked);
        }
    }
    if request.method != "POST" {
        return Response::new(405, "", "").with("allow", "POST");
    }
    if settings.is_protected && request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        let error = if request.header("authorization").is_some() { "error=\"invalid_token\", " } else { "" };
        let challenge = format!("Bearer {error}resource_metadata=\"{metadata}\", scope=\"read\"");
        return Response::json(401, &json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "sign in" } }))
            .with("www-authenticate", &challenge);
    }
    if request.body["id"].is_null() {
        return Response::new(202, "", "");
    }
    let mut response = answered(request);
    if let Some(page) = request.header("origin") {
        response = response.with("access-control-allow-origin", page);
    }
    response
}

fn answered(request: &Request) -> Response {
    let id = &request.body["id"];
    let error = |status: u16, code: i64, data: Json| {
        Response::json(status, &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no", "data": data } }))
    };
    let is_modern = request.is_modern();
    let version = request.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    if is_modern && version != Some("2026-07-28") {
        return error(400, -32022, json!({ "supported": ["2026-07-28", "2025-11-25"], "requested": version }));
    }
    if is_modern && (request.header("mcp-method") != Some(request.asks()) || request.header("mcp-protocol-version") != version) {
        return error(400, -32020, Json::Null);
    }
    let info = json!({ "name": "healthy", "version": "1.0.0" });
    let capabilities = json!({ "tools": {}, "prompts": {}, "resources": {} });
    let mut result = match (request.asks(), is_modern) {
        ("server/discover", true) => json!({ "supportedVersions": ["2026-07-28", "2025-11-25"], "capabilities": capabilities }),
        ("initialize", false) => json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info }),
        ("tools/list", _) => json!({ "tools": [tool("count-notes"), tool("list-notes")] }),
        ("prompts/list", _) => json!({ "prompts": [] }),
        ("resources/list", _) => json!({ "resources": [{ "uri": "note://1", "name": "one" }] }),
        ("resources/templates/list", _) => json!({ "resourceTemplates": [] }),
        ("tools/call", _) if request.body["params"]["name"] == "count-notes" => {
            json!({ "content": [{ "type": "text", "text": "{\"count\":3}" }], "structuredContent": { "count": 3 } })
        }
        ("tools/call", _) => return error(200, -32602, Json::Null),
        _ => return error(if is_modern { 404 } else { 200 }, -32601, Json::Null),
    };
    if is_modern {
        result["resultType"] = json!("complete");
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info });
        if request.asks() != "tools/call" {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
    }
    Response::json(200, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// A tool that every client takes.
pub(crate) fn tool(name: &str) -> Json {
    json!({
        "name": name,
        "title": "Notes",
        "description": "Something about all notes.",
        "inputSchema": { "type": "object", "properties": { "topic": { "type": "string" } } },
        "outputSchema": { "type": "object", "properties": { "count": { "type": "integer" } }, "required": ["count"] },
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
    })
}
