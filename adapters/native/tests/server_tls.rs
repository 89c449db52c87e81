//! The server with TLS: what is said in a handshake, and what keeps a handshake from holding up
//! anybody.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end where it fails")]

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use millrace_native::{http::Limits, server_tls::ServerTls};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion, version};

use crate::server::{Running, start_with};

type Secured = StreamOwned<ClientConnection, TcpStream>;

/// A certificate for `localhost`, the server with it, and the certificate that clients have to
/// trust.
fn certificate() -> (ServerTls, RootCertStore) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    (ServerTls::new(cert.pem().as_bytes(), signing_key.serialize_pem().as_bytes()).unwrap(), roots)
}

fn client(server: &Running, roots: &RootCertStore, version: &'static SupportedProtocolVersion, protocols: &[&[u8]]) -> Secured {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
    let mut config = config.with_root_certificates(roots.clone()).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let session = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(session, server.connect())
}

/// Asks on a connection that is closed after it, and gives all of the response.
fn ask(stream: &mut (impl std::io::Read + std::io::Write)) -> std::io::Result<String> {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_request_is_answered_over_both_versions() {
    let (tls, roots) = certificate();
    let server = start_with(2, Limits::default(), Some(tls));
    for (version, protocols) in [(&version::TLS13, &[&b"h2"[..], b"http/1.1"][..]), (&version::TLS12, &[])] {
        let mut stream = client(&server, &roots, version, protocols);
        // The end is said by TLS too, or reading to it would fail.
        let text = ask(&mut stream).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("first"), "{text}");
        assert_eq!(stream.conn.alpn_protocol(), protocols.last().copied());
    }
    // Nothing in common is a failure of the handshake, not another protocol.
    assert!(ask(&mut client(&server, &roots, &version::TLS13, &[b"h2"])).is_err());
}

#[test]
fn a_client_without_tls_is_told_so() {
    let (tls, _) = certificate();
    let server = start_with(1, Limits::default(), Some(tls));
    let text = ask(&mut server.connect()).unwrap();
    assert!(text.starts_with("HTTP/1.1 400 ") && text.contains("this port speaks TLS only"), "{text}");
}

/// The beginning of a handshake message that would be as long as they get.
const LONG_HELLO: &[u8] = b"\x16\x03\x01\x40\x00\x01\x00\xff\xff\x03\x03";

#[test]
fn a_handshake_that_does_not_go_on_is_let_go_and_counts_as_a_connection_until_then() {
    let (tls, roots) = certificate();
    let limits = Limits { handshake_timeout: Duration::from_millis(200), connections: 3, ..Limits::default() };
    let server = start_with(1, limits, Some(tls));
    let mut slow: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    // One says nothing, one the beginning, and one something that is never TLS.
    slow[1].write_all(&LONG_HELLO[..7]).unwrap();
    slow[2].write_all(b"\0").unwrap();
    // This one waits until one of them is let go.
    let text = ask(&mut client(&server, &roots, &version::TLS13, &[])).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    for mut socket in slow {
        drop(socket.read_to_end(&mut Vec::new()));
    }
}

#[test]
fn a_handshake_has_a_length() {
    let (tls, roots) = certificate();
    // Long enough for the test to fail by it.
    let limits = Limits { handshake_timeout: Duration::from_secs(600), ..Limits::default() };
    let server = start_with(1, limits, Some(tls));
    let mut socket = server.connect();
    let mut record = LONG_HELLO.to_vec();
    record.resize(5 + 0x4000, 0);
    let mut next = b"\x16\x03\x01\x40\x00".to_vec();
    next.resize(5 + 0x4000, 0);
    drop([record, next.clone(), next].iter().try_for_each(|bytes| socket.write_all(bytes)));
    // It is closed, or reset with what it has not read.
    drop(socket.read_to_end(&mut Vec::new()));
    let text = ask(&mut client(&server, &roots, &version::TLS13, &[])).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}

#[test]
fn a_server_that_ends_does_not_wait_for_handshakes() {
    let (tls, _) = certificate();
    // Longer than the test may take.
    let limits = Limits { handshake_timeout: Duration::from_secs(600), grace: Duration::from_secs(600), ..Limits::default() };
    let mut server = start_with(1, limits, Some(tls));
    let mut socket = server.connect();
    socket.write_all(&LONG_HELLO[..7]).unwrap();
    server.stop();
    drop(socket.read_to_end(&mut Vec::new()));
}
