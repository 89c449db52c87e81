//! Event streams over a real connection: events come before the call is over, and closing the
//! stream ends the call.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use millrace_tests::files::write;
use millrace_tests::local::Host;

/// An app whose one tool says something, and then waits for an upstream.
fn app(upstream: u16) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: String| {
        write(folder.path(), path, &text);
    };
    write("millrace.yaml", format!("name: waits\nfetch: {{ allow: [\"127.0.0.1:{upstream}\"] }}\n"));
    write("app/tools/ask/config.yaml", "description: Asks far away.\nkind: query\nlimits: { timeout: 120s }\n".into());
    let handler = format!(
        "export default async function (_, ctx) {{\n  ctx.progress(1, 2, \"asking\");\n  \
         const answer = await fetch(\"http://127.0.0.1:{upstream}/\");\n  ctx.progress(2, 2);\n  return answer.text();\n}}\n"
    );
    write("app/tools/ask/handler.ts", handler);
    folder
}

/// Calls the tool, and reads until it has said that it asks.
fn call(port: u16) -> (TcpStream, String) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":"t"}}}"#;
    let head = "content-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25";
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        client,
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    while !text.contains("asking") {
        let mut buffer = [0; 1024];
        let count = client.read(&mut buffer).unwrap();
        assert!(count > 0, "the response ended early: {text}");
        text += &String::from_utf8_lossy(&buffer[..count]);
    }
    (client, text)
}

fn head_of_request(upstream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        upstream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
}

#[test]
fn events_come_while_the_call_waits() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let folder = app(listener.local_addr().unwrap().port());
    let host = Host::dev(folder.path(), &[]);
    let (mut client, mut text) = call(host.port);
    assert!(text.contains("text/event-stream") && !text.contains("\"result\""), "{text}");
    // Only now the upstream answers.
    let (mut upstream, _) = listener.accept().unwrap();
    head_of_request(&mut upstream);
    upstream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhere").unwrap();
    client.read_to_string(&mut text).unwrap();
    let order: Vec<usize> =
        ["\"progress\":1", "\"progress\":2", "\"text\":\"here\"", "\r\n0\r\n\r\n"].iter().map(|part| text.find(part).unwrap()).collect();
    assert!(order.is_sorted(), "{text}");
}

#[test]
fn a_closed_stream_ends_its_call() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let folder = app(listener.local_addr().unwrap().port());
    let host = Host::dev(folder.path(), &[]);
    let (client, _) = call(host.port);
    let (mut upstream, _) = listener.accept().unwrap();
    head_of_request(&mut upstream);
    drop(client);
    // The call's own request ends with it, and not with the two minutes that the call may take.
    upstream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut rest = Vec::new();
    upstream.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    // The isolate serves on.
    let (client, _) = call(host.port);
    drop((client, listener.accept().unwrap()));
}
