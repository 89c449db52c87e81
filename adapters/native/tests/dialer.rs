//! The dialer against servers that repeat what they are told, with and without TLS.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end where it fails")]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    rc::Rc,
    sync::Arc,
    thread,
};

use millrace_core::{
    ErrorKind::{self, Configuration, Denied, TimedOut, Unavailable},
    Result,
    ports::{ByteStream, Clock as _, Dialer as _, Roots, Tls, Verify},
};
use millrace_native::{clock::SystemClock, dialer::NativeDialer, isolate};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};

/// Longer than anything here takes.
const PATIENCE_MS: u64 = 60_000;
/// More than any buffer between the two holds.
const MUCH: usize = 3 << 20;

/// Repeats `length` bytes on each connection, and closes it. Gives the port.
fn server(length: usize, tls: Option<Arc<ServerConfig>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (socket, tls) = (socket.unwrap(), tls.clone());
            thread::spawn(move || match tls {
                None => repeat(socket, length),
                Some(config) => repeat(StreamOwned::new(ServerConnection::new(config).unwrap(), socket), length),
            });
        }
    });
    port
}

/// A handshake that the client breaks off is no failure of the server's.
fn repeat(mut stream: impl std::io::Read + std::io::Write, length: usize) {
    let mut bytes = vec![0; length];
    if stream.read_exact(&mut bytes).is_ok() {
        drop(stream.write_all(&bytes).and_then(|()| stream.flush()));
    }
}

/// A certificate for `name` by an authority of its own, whose certificate it gives, too.
fn certified(name: &str) -> (Arc<ServerConfig>, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    (Arc::new(config.with_single_cert(vec![certificate.der().clone()], key).unwrap()), authority.pem())
}

/// Sends bytes and reads until the end.
async fn repeated(mut stream: Box<dyn ByteStream>, bytes: &[u8]) -> Result<Vec<u8>> {
    stream.write_all(bytes).await?;
    let (mut answer, mut buffer) = (Vec::new(), vec![0; 1000]);
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(answer),
            count => answer.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Dials, goes on with TLS where it is asked for, and has `bytes` repeated.
fn exchange(base: &Path, port: u16, tls: Option<Tls>, timeout_ms: u64, bytes: &[u8]) -> Result<Vec<u8>> {
    isolate::run(|| async {
        let deadline_ms = SystemClock.now_ms() + timeout_ms;
        let dialer = NativeDialer::new(base.to_path_buf(), Rc::new(SystemClock));
        let mut stream = dialer.dial("127.0.0.1", port, deadline_ms).await?;
        if let Some(tls) = tls {
            stream = stream.start_tls(tls, deadline_ms).await?;
        }
        repeated(stream, bytes).await
    })
    .unwrap()
}

fn tls(server_name: &str, roots: Roots, verify: Verify) -> Option<Tls> {
    Some(Tls { server_name: server_name.to_owned(), roots, verify })
}

#[test]
fn bytes_go_both_ways() {
    let bytes: Vec<u8> = (0..MUCH).map(|at| (at % 251) as u8).collect();
    let port = server(MUCH, None);
    assert!(exchange(Path::new("/"), port, None, PATIENCE_MS, &bytes).unwrap() == bytes);
}

#[test]
fn bytes_go_both_ways_under_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (config, authority) = certified("db.example");
    fs::write(folder.path().join("ca.pem"), &authority).unwrap();
    let port = server(MUCH, Some(config));
    let bytes: Vec<u8> = (0..MUCH).map(|at| (at % 251) as u8).collect();
    for (name, roots, verify) in [
        ("db.example", Roots::Pem(authority.clone()), Verify::Full),
        ("db.example", Roots::File("ca.pem".into()), Verify::Full),
        ("other.example", Roots::Pem(authority.clone()), Verify::Chain),
        ("127.0.0.1", Roots::Host, Verify::Nothing),
    ] {
        let shown = format!("{name} {verify:?}");
        let answer = exchange(folder.path(), port, tls(name, roots, verify), PATIENCE_MS, &bytes);
        assert!(answer.unwrap() == bytes, "{shown}");
    }
}

#[test]
fn who_is_not_trusted_is_told_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.pem"), "no certificate").unwrap();
    let (config, authority) = certified("db.example");
    let (_, stranger) = certified("db.example");
    let port = server(4, Some(config));
    let cases: [(&str, Roots, Verify, ErrorKind); 9] = [
        ("other.example", Roots::Pem(authority.clone()), Verify::Full, Denied),
        ("127.0.0.1", Roots::Pem(authority.clone()), Verify::Full, Denied),
        ("db.example", Roots::Pem(stranger.clone()), Verify::Full, Denied),
        ("db.example", Roots::Pem(stranger), Verify::Chain, Denied),
        ("db.example", Roots::Host, Verify::Full, Denied),
        ("db.example", Roots::Host, Verify::Chain, Denied),
        ("db.example", Roots::Pem("hunter2".into()), Verify::Full, Configuration),
        ("db.example", Roots::File("absent.pem".into()), Verify::Full, Configuration),
        ("db.example", Roots::File("empty.pem".into()), Verify::Full, Configuration),
    ];
    for (name, roots, verify, kind) in cases {
        let shown = format!("{name} {roots:?} {verify:?}");
        let error = exchange(folder.path(), port, tls(name, roots, verify), PATIENCE_MS, b"ping").unwrap_err();
        assert_eq!(error.kind, kind, "{shown}: {error:?}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[test]
fn nobody_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = exchange(Path::new("/"), free, None, PATIENCE_MS, b"").unwrap_err();
    assert_eq!((error.kind, error.message.clone()), (Unavailable, "could not connect to the server".to_owned()));
    let error = isolate::run(|| async {
        let dialer = NativeDialer::new("/".into(), Rc::new(SystemClock));
        dialer.dial("no-such-host.invalid", 5432, SystemClock.now_ms() + PATIENCE_MS).await.map(|_| ())
    });
    assert_eq!(error.unwrap().unwrap_err().kind, Unavailable);
}

#[test]
fn a_server_that_speaks_no_tls_is_not_waited_for_beyond_the_deadline() {
    // One that says nothing, and one that says something else.
    let silent = server(1 << 20, None);
    let error = exchange(Path::new("/"), silent, tls("db.example", Roots::Host, Verify::Nothing), 300, b"").unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TimedOut, "the server did not finish the TLS handshake in time"));
    let parrot = server(16, None);
    let error = exchange(Path::new("/"), parrot, tls("db.example", Roots::Host, Verify::Nothing), PATIENCE_MS, b"").unwrap_err();
    assert_eq!(error.kind, Unavailable, "{error:?}");
}

#[test]
fn a_connection_that_breaks_is_an_error_or_an_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut socket, _): (TcpStream, _) = listener.accept().unwrap();
        socket.read_exact(&mut [0; 4]).unwrap();
        socket.write_all(b"half").unwrap();
    });
    assert_eq!(exchange(Path::new("/"), port, None, PATIENCE_MS, b"ping").unwrap(), b"half");
}
